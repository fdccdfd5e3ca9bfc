"""Find the paths of fields that differ between two versions, and the value at a path."""

from __future__ import annotations

from kmerge_git.kube.listkeys import ListKeys, field_text
from kmerge_git.kube.renamed_keys import key_changes, labelled, renamed
from kmerge_git.tree.nodes import Mapping, Sequence
from kmerge_git.tree.same import same_node, same_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Element, Path, Step
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.kube.renamed_keys import Table
    from kmerge_git.tree.nodes import Entry, Node

    # the step of an entry in a path, its old value, its new value, and its place in the tables
    Pair = tuple[Path, Node | None, Node | None, Where]
    Place = tuple[Element, int, int]  # a key, and the places in both lists or -1


def differing(old: Node, new: Node, where: Where) -> list[Path]:
    """Return the paths below two nodes that were changed, added or removed.

    If the nodes themselves differ, return an empty path. If the nodes mean the same, return no
    path.
    """
    if same_text(old, new):
        return []
    pairs = _pairs(old, new, where) or []
    # if both mappings have all the names, it is enough to compare what is below them
    is_below = isinstance(old, Mapping) and all(a and b for _, a, b, _ in pairs)
    if not (pairs and is_below) and same_node(old, new):
        return []
    paths: list[Path] = []
    for step, before, after, inner in pairs:
        if before is None or after is None:
            paths.append(step)
        else:
            paths += [(*step, *path) for path in differing(before, after, inner)]
    return paths or ([] if pairs and is_below and same_node(old, new) else [()])


def _pairs(old: Node, new: Node, where: Where) -> list[Pair] | None:
    """Return the entries of two collections in pairs, without those of the same text.

    Return None if the entries cannot be paired.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        place = where.at(new)
        return [
            ((name,), a.value if a else None, b.value if b else None, place.child(name))
            for name, a, b in _entries(old, new)
            if not (a and b and same_text(a.value, b.value))
        ]
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        return _elements(old, new, where)
    return None


def _entries(old: Mapping, new: Mapping) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yield each name with its entries; a renamed entry is a change of its name and its values."""
    old_names = renamed_entries(old, new)
    mine, yours = old.index(), new.index()
    for name, entry in yours.items():
        before = old_names.get(name, name)
        if before != name:
            yield before, mine[before], None
        yield before, mine.get(before), entry
    gone = {*mine}.difference(yours, old_names.values())
    yield from ((name, entry, None) for name, entry in mine.items() if name in gone)


def renamed_entries(old: Mapping, new: Mapping) -> dict[str, str]:
    """Return the new names of renamed entries of a mapping, each with the old name."""
    mine: Table = dict(old.index().items())
    yours: Table = dict(new.index().items())
    return {str(name): str(before) for name, before in renamed(mine, yours).items()}


def _elements(old: Sequence, new: Sequence, where: Where) -> list[Pair] | None:
    if where.list_rule().kind == "set":
        return None
    paired = paired_elements(old, new, where)
    if paired is None:
        return _only_one(old, new, where)
    mine, yours, inner = old.entries, new.entries, where.items()
    return [
        ((step,), None if i < 0 else mine[i].value, None if j < 0 else yours[j].value, inner)
        for step, i, j in paired
        if i < 0 or j < 0 or not same_text(mine[i].value, yours[j].value)
    ]


def paired_elements(old: Sequence, new: Sequence, where: Where) -> list[Place] | None:
    """Pair the elements of two versions of a list by key; return None if the keys are not unique.

    Each result has the step of an element in a path, its index in the old version, and its index in
    the new version. An index is -1 if the version does not have the element.
    """
    rule = where.list_rule()
    keys = ListKeys(rule, [old.entries, new.entries])
    before, after = (keys.table(sequence.entries) for sequence in (old, new))
    if before is None or after is None:
        return None
    for changed in key_changes(rule):
        after = labelled(after, changed(before, after, before))
    after = labelled(after, renamed(before, after, keys.paths))
    mine, yours = ({key: n for n, key in enumerate(table)} for table in (before, after))
    order = [*yours, *(key for key in mine if key not in yours)]
    return [(keys.step(key), mine.get(key, -1), yours.get(key, -1)) for key in order]


def _only_one(old: Sequence, new: Sequence, where: Where) -> list[Pair] | None:
    """Return the only pair of list elements that differs, or None if several pairs differ.

    The elements have no keys, so they are paired by index.
    """
    if len(old.entries) != len(new.entries):
        return None
    pairs = zip(old.entries, new.entries, strict=True)
    values = [(n, a.value, b.value) for n, (a, b) in enumerate(pairs)]
    changed: list[Pair] = [((n,), a, b, where.items()) for n, a, b in values if not same_node(a, b)]
    return changed if len(changed) == 1 else None


# -- the value at a path


def found_at(node: Node | None, path: Path) -> Node | None:
    """Return the value at a path, or None if the path fits no element or more than one element."""
    for step in path:
        node = _below(node, step)
    return node


def _below(node: Node | None, step: Step) -> Node | None:
    if isinstance(step, str):
        return node.get(step) if isinstance(node, Mapping) else None
    if not isinstance(node, Sequence):
        return None
    if isinstance(step, int):
        return node.entries[step].value if 0 <= step < len(node.entries) else None
    meant = [entry.value for entry in node.entries if _is_meant(entry.value, step)]
    return meant[0] if len(meant) == 1 else None


def _is_meant(node: Node, step: Element) -> bool:
    """Return whether an element has these keys, or is the resource with this name."""
    for part in step:
        if isinstance(part, str):
            from kmerge_git.kube.identity import describe, identity

            known = identity(node)
            if known is None or describe(known) != part:
                return False
        elif field_text(node, part[0]) not in (part[1], None):
            return False  # a missing field matches, because it has its default value
    return bool(step)
