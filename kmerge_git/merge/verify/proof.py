"""Check a result: parse its text again, and compare the value with the plan.

A result is called clean only after this check. If there are conflicts, the text is checked twice:
with every conflict resolved to ours, and to theirs.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unproved
from kmerge_git.merge.plan import Build, Clash, Keep, NewText, Plan, Take
from kmerge_git.merge.three import counted
from kmerge_git.text.pieces import side_text
from kmerge_git.tree.block_scalars import body_lines, flow_lines, header
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.same import canon, meaning, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.merge.merged import MergedFile
    from kmerge_git.tree.documents import Document, Stream, YamlText


def prove(merged: MergedFile, *sides: str) -> list[Document]:
    """Raise an error if a document that was merged field by field differs from its plan.

    Return the documents that were parsed.
    """
    read: dict[str, Document | None] = {}  # by the text, which is often the same for both sides
    for side in sides:
        for document in merged.documents:
            if document.plan is None:
                continue
            text = (document.opening or "---\n") + side_text(document.pieces, side)
            if text not in read:
                read[text] = _read(text)
            if not _is_proved(document.plan, read[text], side):
                name = document.name or "a document"
                raise Unproved(f"the merged text of {name} differs from the planned merge result")
    return [document for document in read.values() if document is not None]


def _read(text: str) -> Document | None:
    """Return the document of a text, or None if the text is not one valid document."""
    try:
        documents = split_text(text).documents
    except KmergeError:
        return None
    return documents[0] if len(documents) == 1 else None


def _is_proved(plan: Plan, made: Document | None, side: str) -> bool:
    try:
        return made is not None and agrees(plan, made.root, side)
    except KmergeError:
        return False


def agrees(plan: Plan, node: Node | None, side: str) -> bool:
    """Return whether a node has the value of the plan."""
    if node is None:
        return False
    if isinstance(plan, Take):
        return _agrees_taken(plan, node, side)
    if isinstance(plan, Keep):
        return same_node(plan.node, node)
    if isinstance(plan, NewText):
        return isinstance(node, Scalar) and _agrees_text(plan, node, side)
    if not isinstance(plan, Build) or not isinstance(node, Collection):
        return False
    if plan.properties is None and node.anchor != plan.ours.anchor:
        return False
    wanted = _decided(plan, side)
    is_alike = isinstance(plan.ours, Mapping) == isinstance(node, Mapping)
    if not is_alike or len(wanted) != len(node.entries):
        return False
    if isinstance(node, Mapping):
        return _agrees_mapping(wanted, node, side)
    pairs = zip(wanted, node.entries, strict=True)
    return all(agrees(part, entry.value, side) for (_, part), entry in pairs)


def _agrees_text(plan: NewText, node: Scalar, side: str) -> bool:
    if is_block_text(plan.ours):
        is_alike = header(node) == plan.header
        return is_alike and _trimmed(body_lines(node)) == _trimmed(plan.lines(side))
    return (
        node.style == plan.header
        and (node.anchor, node.tag) == (plan.ours.anchor, plan.ours.tag)
        and [line.strip(" \t\r") for line in flow_lines(node)] == plan.lines(side)
    )


def _agrees_taken(plan: Take, node: Node, side: str) -> bool:
    if plan.part is not None:
        return agrees(plan.part, node, side)
    if not plan.anchor:
        return same_node(plan.node, node)
    if not (isinstance(node, Scalar) and isinstance(plan.node, Scalar)):
        return False
    return node.anchor == plan.anchor and meaning(node) == meaning(plan.node)


def _agrees_mapping(wanted: list[tuple[str, Plan]], node: Mapping, side: str) -> bool:
    there = node.index()
    if len(there) < len(node.entries):  # repeated keys must have the same order
        pairs = zip(wanted, node.entries, strict=True)
        return all(name == e.name and agrees(part, e.value, side) for (name, part), e in pairs)
    return dict(wanted).keys() == there.keys() and all(
        agrees(part, there[name].value, side) for name, part in wanted
    )


def _decided(plan: Build, side: str) -> list[tuple[str, Plan]]:
    """Return the key and the plan of every entry, with every conflict resolved to one side."""
    entries: list[tuple[str, Plan]] = []
    for item in plan.items:
        own = item.ours or item.theirs if item.key is None else item.theirs
        if isinstance(item.plan, Clash):
            entries += [(entry.name, Keep(entry.value)) for entry in item.plan.at.side(side)]
        elif own is not None:
            entries.append((own.name, item.plan))
    return entries


def _trimmed(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def same_meaning(by_lines: YamlText, result: Stream) -> bool:
    """Return whether a line merge means the same as the result of kmerge."""
    try:
        some, others = by_lines.stream.documents, result.documents
        return len(some) == len(others) and all(map(_is_same_document, some, others))
    except KmergeError:
        return False


def _is_same_document(one: Document, other: Document) -> bool:
    if one.content == other.content:
        return True
    if one.root is None or other.root is None:
        return one.root is other.root
    return same_node(one.root, other.root)


def same_but_for_order(by_lines: YamlText, result: Stream) -> bool:
    """Return whether two texts have the same content, apart from order and empty documents.

    The order of documents, and of elements that are not scalars, must be the same.
    """
    try:
        one, other = ([*map(_without_order, each.roots)] for each in (by_lines.stream, result))
        return [*filter(None, one)] == [*filter(None, other)]
    except KmergeError:
        return False


def _without_order(node: Node) -> Hashable:
    """Return a value that is equal for two nodes that differ only in order."""
    if not isinstance(node, Collection):
        return canon(node)
    inside = [(entry.name, _without_order(entry.value)) for entry in node.entries]
    has_order = isinstance(node, Sequence) and any(
        isinstance(e.value, Collection) for e in node.entries
    )
    content = tuple(inside) if has_order else frozenset(counted(inside).items())
    return type(node).__name__, node.anchor, node.tag, content
