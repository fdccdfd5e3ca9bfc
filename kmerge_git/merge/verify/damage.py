"""Damage that a line merge can do: what no input had, and no reader wants.

Repeated keys, repeated elements of keyed lists, repeated resources, elements that stand twice in
an unkeyed list. What does not parse (an undefined alias too) raises.
"""

from __future__ import annotations

from kmerge_git.kube.identity import identity
from kmerge_git.kube.listkeys import Where, start
from kmerge_git.merge.decide.keyed import segment_keys
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import Document, Stream
from kmerge_git.tree.nodes import Collection, Mapping, Node, Sequence


def new_damage(result: Stream, inputs: Three[Stream], path: str) -> set[str]:
    """The damage of a result that neither ours nor theirs has."""
    known = {d.content for s in (inputs.ours, inputs.theirs) for d in s.documents}
    found = damage(result.documents, path, known)
    if not found:
        return found
    return found - damage(inputs.ours.documents, path) - damage(inputs.theirs.documents, path)


def damage(
    documents: tuple[Document, ...], path: str = "", known: set[str] | None = None
) -> set[str]:
    """Every damage, as a line that says what and where; `known` texts are not looked into."""
    found: set[str] = set()
    seen: set[object] = set()
    for document in documents:
        root = document.root
        if root is None:
            continue
        key = identity(root)
        if key is not None and key.name:
            if key in seen:
                found.add(f"resource twice: {key}")
            seen.add(key)
        if known is None or document.content not in known:
            _walk(root, start(root, path), (str(key),), found)
    return found


def _walk(node: Node, where: Where, path: tuple[str, ...], found: set[str]) -> None:
    if not isinstance(node, Collection):
        return
    if isinstance(node, Mapping):
        where = where.at(node)
        names = [e.name for e in node.entries]
        for name in (
            {n for n in names if names.count(n) > 1} if len(set(names)) < len(names) else ()
        ):
            found.add(f"key twice: {'/'.join(path)} {name}")
        for entry in node.entries:
            _walk(entry.value, where.child(entry.name), (*path, entry.name), found)
    elif isinstance(node, Sequence):
        rule = where.list_rule()
        inner = where.items()
        keys = segment_keys(node, rule)
        for index, key in enumerate(keys):
            if key is not None and key in keys[:index]:
                found.add(f"element twice: {'/'.join(path)} {key}")
        for entry in node.entries:
            _walk(entry.value, inner, (*path, "[]"), found)
