"""Measure how much two texts or two elements are alike, and pair those that are clearly alike.

Every threshold of the project is in this module. The likeness of documents is measured by their
lines, and the likeness of elements by their leaves, never by position alone. A leaf is a scalar or
an empty collection, with the keys that lead to it. The indexes of list elements are not part of a
leaf, so an added or removed element does not change the leaves of the other elements.
"""

from __future__ import annotations

from kmerge_git.tree.nodes import Alias, Collection, Mapping, Node, Scalar
from kmerge_git.tree.same import meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection as Names
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from typing import Protocol, TypeVar

    class Lined(Protocol):
        """Describe an object whose lines can be counted."""

        @property
        def lines(self) -> dict[str, int]:
            """Return how often each line occurs; see `bag`."""

    T = TypeVar("T", bound=Lined)
    K = TypeVar("K", bound=Hashable)
    Leaf = tuple[tuple[str, ...], Hashable]


# -- documents, by their lines

# The share of common lines of a document and its renamed version. People rename and edit at the
# same time, and another resource of the same kind has fewer lines in common.
RENAMED = 0.6
# The share of common lines of two documents without a name. Documents with fewer common lines
# are paired in the order of the file.
RELATED = 0.5
# The likeness of a partner must exceed the likeness of the second best partner by this much.
CLEARLY = 0.1
# The share of common lines of the only documents of a file that both sides added. The share is low
# because the documents have the file name in common, and because the lines that differ are kept or
# are a conflict.
NEW_FILE = 0.25

# The share of common lines of a removed file and a new file that count as a move, as in git.
MOVED_FILE = 0.5

# -- elements and entries, by their leaves

# The share of equal leaves of an element and its renamed version, as a fraction. A rename with
# one edit in three or five leaves is found, and two elements of one template are kept apart.
RENAMED_LEAVES = (2, 3)
# The least number of leaves of an element: fewer leaves are alike by chance unless a leaf is long.
FEW_LEAVES = 3
LONG_LEAF = 20
# The share of equal leaves of the only elements that both sides added to a new list, if these are
# the same element under two names.
SAME_THING = (1, 2)
# The least number of leaves of two new elements that are one thing if only their names differ.
# Smaller elements often repeat one shape: two services in a values file, two mounts of a volume.
MANY_LEAVES = 8
# The share of equal lines of two versions of an element without a key at the same index.
SAME_PLACE = 0.5
# The fields that name an element of a list without keys; the first that two elements have counts.
NAMING = ("id", "name", "key", "alert", "record", "channel", "host", "src", "path")
# The share of equal leaves of an element without a key and its edited version.
EDITED = (1, 2)
# The share of equal lines of two short elements that begin with the same line and are shown as one
# changed element.
SAME_SHORT = 0.7
# The likeness of a pair that may be shown as one changed element without any common line.
BETTER_THAN_NONE = 0.01

# The most comparisons in one group. In a larger group no document counts as renamed, and elements
# are a conflict.
MOST_COMPARISONS = 2500


def bag(text: str) -> dict[str, int]:
    """Return how often each line with content occurs, without the indentation.

    Omit comments, lines that only open a block, and the lines `apiVersion` and `kind`, which
    any two resources of a kind share.
    """
    lines = (line for line in text.split("\n") if not line.startswith(("apiVersion:", "kind:")))
    bare = (line.strip(" \t\r-") for line in lines)
    return counted(line for line in bare if line and line[-1] != ":" and line[0] != "#")


def stripped_lines(text: str) -> dict[str, int]:
    """Return how often each line of a text occurs, without the indentation."""
    return counted(filter(None, map(str.strip, text.split("\n"))))


def counted(things: Iterable[K]) -> dict[K, int]:
    """Return how often each thing occurs."""
    counts: dict[K, int] = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def share_lines(one: str, other: str) -> bool:
    """Return whether two elements at the same index share enough lines to be the same one."""
    lines, others = (
        counted(line.strip(" -") for line in text.split("\n")) for text in (one, other)
    )
    most = max(sum(lines.values()), sum(others.values()))
    return _shared(lines, others) >= SAME_PLACE * most


def _shared(a: dict[K, int], b: dict[K, int]) -> int:
    """Return how many items two collections have in common."""
    if len(b) < len(a):
        a, b = b, a
    common = 0
    for thing, count in a.items():
        there = b.get(thing, 0)
        common += count if count < there else there
    return common


def likeness(a: dict[str, int], b: dict[str, int]) -> float:
    """Return the share of common lines (Dice); if there are no lines, return 1.0."""
    total = sum(a.values()) + sum(b.values())
    return 2 * _shared(a, b) / total if total else 1.0


def match(mine: Sequence[T], yours: Sequence[T], least: float) -> list[tuple[T, T]]:
    """Return the pairs whose likeness is at least `least` and clearly the best for both items.

    Items with exactly the same lines are paired in order, because they are interchangeable.
    """
    pairs, left, right = _equal(mine, yours)
    if not left or not right or len(left) * len(right) > MOST_COMPARISONS:
        return pairs
    table = [[likeness(a.lines, b.lines) for b in right] for a in left]
    for number, row in enumerate(table):
        column = _clear_best(row, least)
        if column >= 0 and _clear_best([other[column] for other in table], least) == number:
            pairs.append((left[number], right[column]))
    return pairs


def _equal(mine: Sequence[T], yours: Sequence[T]) -> tuple[list[tuple[T, T]], list[T], list[T]]:
    """Return the pairs with exactly the same lines, and the remaining items of each side."""
    waiting: dict[frozenset[tuple[str, int]], list[T]] = {}
    for b in reversed(yours):
        waiting.setdefault(frozenset(b.lines.items()), []).append(b)
    pairs, left = [], []
    for a in mine:
        twins = waiting.get(frozenset(a.lines.items())) if a.lines else None
        if twins:
            pairs.append((a, twins.pop()))
        else:
            left.append(a)
    used = {id(b) for _, b in pairs}
    return pairs, left, [b for b in yours if id(b) not in used]


def _clear_best(row: list[float], least: float) -> int:
    """Return the index of the value that is clearly the best, or -1 if there is none."""
    best = max(row)
    at = row.index(best)
    second = max((value for i, value in enumerate(row) if i != at), default=-1.0)
    return at if best >= least and best - second >= CLEARLY else -1


# the fields that identify a resource
IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


class Leaves:
    """Count the leaves of a list element, without the leaves that make its key."""

    __slots__ = ("counts", "total")

    def __init__(self, node: Node | None, without: Names[tuple[str, ...]] = ()) -> None:
        leaves = _leaves(node, ()) if node is not None else ()
        self.counts = counted(leaf for leaf in leaves if leaf[0] not in without)
        self.total = sum(self.counts.values())

    def shared(self, other: Leaves) -> int:
        """Return how many leaves two list elements have in common."""
        return _shared(self.counts, other.counts)


def is_alike(old: Leaves, new: Leaves) -> bool:
    """Return whether a new element has most of the leaves of an old element of another key."""
    part, whole = RENAMED_LEAVES
    if whole * old.shared(new) < part * max(old.total, new.total):
        return False
    return min(old.total, new.total) >= FEW_LEAVES or any(map(_is_long, in_common(old, new)))


def found_in_none(leaves: set[Leaf], others: Iterable[Node]) -> set[Leaf]:
    """Return the leaves that no other element has.

    Only paths that lead to these leaves are followed, because a list may be long.
    """
    left = set(leaves)
    ways: set[tuple[str, ...]] = set()
    for node in others:
        if not left:
            break
        ways = ways or {path[:n] for path, _ in left for n in range(len(path) + 1)}
        found = left.intersection(_leaves(node, (), ways))
        if found:
            left -= found
            ways.clear()
    return left


def in_common(a: Leaves, b: Leaves) -> set[Leaf]:
    """Return the leaves that two elements have in common."""
    return a.counts.keys() & b.counts.keys()


def is_one_thing(ours: Leaves, theirs: Leaves) -> bool:
    """Return whether two elements with different names are the same element.

    Each side added one of the two elements, and no other element, to a list that is new.
    """
    part, whole = SAME_THING
    if min(ours.total, theirs.total) < FEW_LEAVES:
        return False
    return whole * ours.shared(theirs) >= part * max(ours.total, theirs.total)


def is_edit(old: Node, new: Node) -> bool:
    """Return whether an element of a list without keys may be an edited version of another.

    Two scalars must set the same option. Two collections must have the same name, use the same
    action of a workflow in any version, or have half of their leaves in common.
    """
    if isinstance(old, Scalar) or isinstance(new, Scalar):
        name = option_name(old)
        return bool(name) and name == option_name(new)
    if type(old) is not type(new):
        return False
    if is_named_alike(old, new) or _use_one_action(old, new):
        return True
    one, other = Leaves(old), Leaves(new)
    part, whole = EDITED
    return 0 < part * max(one.total, other.total) <= whole * one.shared(other)


def option_name(node: Node) -> str:
    """Return the name of the option that a scalar sets (`--v` of `--v=1`), or ''.

    A scalar sets an option if it begins with `-` or holds `=`. The name ends at the first `=`. If
    there is no `=`, the name ends at the first `:` that no `/` and no digit follows, or else at the
    last blank. A text without any of these (`--verbose`) is a name.
    """
    text = node.value if isinstance(node, Scalar) else ""
    if "=" in text:
        return text[: text.index("=")]
    if text[:1] != "-":
        return ""
    digits_or_path = (*"0123456789", "/")
    for place, character in enumerate(text):
        if character == ":" and not text.startswith(digits_or_path, place + 1):
            return text[:place]
    return text.rpartition(" ")[0] or text


def _use_one_action(one: Node, other: Node) -> bool:
    names = [node.get("uses") for node in (one, other) if isinstance(node, Mapping)]
    actions = [n.value.partition("@")[0] if isinstance(n, Scalar) else "" for n in names]
    return len(actions) == 2 and bool(actions[0]) and actions[0] == actions[1]


def is_named_alike(one: Node, other: Node, *, anywhere: bool = False) -> bool:
    """Return whether the first naming field that two elements have is the same in both.

    With `anywhere`, any naming field may be the same.
    """
    return any(a == b for a, b in _names(one, other)[: None if anywhere else 1])


def are_named_apart(one: Node, other: Node) -> bool:
    """Return whether two elements differ in a naming field that both have."""
    return any(a != b for a, b in _names(one, other))


def _names(one: Node, other: Node) -> list[tuple[Hashable, Hashable]]:
    """Return both values of each naming field that two elements have."""
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return []
    return [
        (meaning(a), meaning(b))
        for field in NAMING
        for a, b in [(one.get(field), other.get(field))]
        if isinstance(a, Scalar) and isinstance(b, Scalar)
    ]


def _is_long(leaf: Leaf) -> bool:
    value = leaf[1]
    return isinstance(value, tuple) and isinstance(value[-1], str) and len(value[-1]) > LONG_LEAF


def _leaves(
    node: Node, path: tuple[str, ...], ways: set[tuple[str, ...]] | None = None
) -> Iterator[Leaf]:
    """Yield the leaves below a node; if `ways` are given, only those that these paths lead to."""
    if isinstance(node, Collection) and node.entries:
        for entry in node.entries:
            below = (*path, entry.name if isinstance(node, Mapping) else "[]")
            if ways is None or below in ways:
                yield from _leaves(entry.value, below, ways)
    elif isinstance(node, Scalar):
        yield path, meaning(node)
    else:
        yield path, ("*", node.name) if isinstance(node, Alias) else type(node).__name__
