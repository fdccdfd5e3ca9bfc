"""Whether two nodes are the same: as text, as meaning, or but for a comment."""

from __future__ import annotations

from kmerge_git.text.undecided import UNDECIDED
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar
from kmerge_git.tree.scalars import meaning, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    # by the node's id, which it keeps as long as it lives; by its text and column
    Known = dict[Hashable, tuple[Node, Hashable]]


def same_text(a: Node, b: Node) -> bool:
    """Return whether two nodes have the same characters at the same column."""
    if a.end - a.start != b.end - b.start or a.raw != b.raw:
        return False
    return a.text.find("\n", a.start, a.end) < 0 or _column(a) == _column(b)


def same_lines(a: Node, b: Node) -> bool:
    """Return whether two nodes have the same text and, of block collections, the same comments."""
    if isinstance(a, Collection) and isinstance(b, Collection) and not a.flow and not b.flow:
        ours, theirs = min(a.start, a.top), min(b.start, b.top)
        return a.column == b.column and a.text[ours : a.bottom] == b.text[theirs : b.bottom]
    return same_text(a, b)


def same_entry_text(a: Entry, b: Entry) -> bool:
    """Return whether two entries have the same lines, comments included."""
    if a.end - a.lead != b.end - b.lead or a.start - a.line != b.start - b.line:
        return False
    return a.value.text[a.lead : a.end] == b.value.text[b.lead : b.end]


def same_bare(a: Entry, b: Entry) -> bool:
    """Return whether two entries have the same lines at other columns, with the same meaning."""
    if a.value.text.count("\n", a.lead, a.end) != b.value.text.count("\n", b.lead, b.end):
        return False
    return _bare_lines(a) == _bare_lines(b) and same_node(a.value, b.value)


def _bare_lines(entry: Entry) -> list[str]:
    return [line.lstrip(" ") for line in entry.value.text[entry.lead : entry.end].split("\n")]


def same_node(a: Node, b: Node) -> bool:
    """Return whether two nodes have the same value, anchors and tags, however they are spelled."""
    if same_text(a, b):
        return True
    if a.anchor != b.anchor:
        return False
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return same(a, b)
    if type(a) is not type(b) or a.tag != b.tag:
        return False
    if isinstance(a, Alias) and isinstance(b, Alias):
        return a.name == b.name
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return _same_mapping(a, b)
    return isinstance(a, Collection) and isinstance(b, Collection) and _same_items(a, b)


def _same_mapping(a: Mapping, b: Mapping) -> bool:
    if len(a.entries) != len(b.entries):
        return False
    there = b.index()
    if len(there) != len(b.entries):  # repeated keys: only in the same order
        return all(
            x.name == y.name and same_node(x.value, y.value)
            for x, y in zip(a.entries, b.entries, strict=True)
        )
    for entry in a.entries:
        other = there.get(entry.name)
        if other is None or not same_node(entry.value, other.value):
            return False
    return len(a.index()) == len(a.entries)


def _same_items(a: Collection, b: Collection) -> bool:
    return len(a.entries) == len(b.entries) and all(
        same_node(x.value, y.value) for x, y in zip(a.entries, b.entries, strict=True)
    )


def canon(node: Node, known: Known | None = None) -> Hashable:
    """Return a key that two nodes share if and only if they are `same_node`.

    `known` has the keys of collections that were asked for before, for lists inside of lists.
    """
    if isinstance(node, Scalar):
        return (node.anchor, meaning(node))
    if not isinstance(node, Collection):
        return ("*", node.raw)
    if known is not None and id(node) in known:
        return known[id(node)][1]
    made: Hashable
    if isinstance(node, Mapping):
        pairs = [(e.name, canon(e.value, known)) for e in node.entries]
        order_free = frozenset(pairs) if len(node.index()) == len(pairs) else tuple(pairs)
        made = (node.anchor, node.tag, "map", order_free)
    else:
        made = (node.anchor, node.tag, "list", tuple([canon(e.value, known) for e in node.entries]))
    if known is not None:
        known[id(node)] = node, made
    return made


def canon_of(node: Node, known: Known) -> Hashable:
    """Return the same for an element; versions share most, and the same text has one key."""
    if not isinstance(node, Collection):
        return canon(node)
    if id(node) in known:
        return known[id(node)][1]
    text = node.raw
    place = text, _column(node) if "\n" in text else -1
    if place not in known:
        known[place] = node, canon(node, known)
    known[id(node)] = node, known[place][1]
    return known[place][1]


def is_undecided(node: Node | None) -> bool:
    """Return whether a node is a placeholder of an inner merge; no side has its equal."""
    return isinstance(node, Mapping) and UNDECIDED in node.index()


def same_comments(a: Entry, b: Entry) -> bool:
    """Return whether two entries of the same meaning carry the same comments."""
    return comments(a.value.text[a.attached : a.end]) == comments(b.value.text[b.attached : b.end])


def comments(text: str) -> list[str]:
    """Return the comments of a text, roughly: to miss one only makes a conflict less."""
    if "#" not in text:
        return []
    found = []
    for line in text.split("\n"):
        at = 0 if line.startswith("#") else line.find(" #") + 1
        if at or line.startswith("#"):
            found.append(line[at:].strip())
        elif line.lstrip("\t").startswith("#"):
            found.append(line.strip())
    return found


def _column(node: Node) -> int:
    return node.start - (node.text.rfind("\n", 0, node.start) + 1)
