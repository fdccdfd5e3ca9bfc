"""Measure how much two texts, or two elements, are alike, and pair what clearly belongs together.

Every threshold of the project is here. Likeness is by content, never by position alone: by the
lines of documents, by the leaves of elements. A leaf is a scalar, or an empty collection, with the
keys that lead to it. The leaves of a list are one group: one more or one less does not make the
others differ.
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
        """This is anything with a bag of lines."""

        @property
        def lines(self) -> dict[str, int]:
            """Return the bag; see `bag`."""

    T = TypeVar("T", bound=Lined)
    K = TypeVar("K", bound=Hashable)
    Leaf = tuple[tuple[str, ...], Hashable]


# -- documents, by their lines

# Lines that a document shares with one under a new name, of all their lines: people rename and
# edit in one go, and another resource of the same kind shares less.
RENAMED = 0.6
# Lines that documents without a name share; where even that fails they pair by place.
RELATED = 0.5
# A partner must be more alike than the next best one by this much.
CLEARLY = 0.1
# Lines that the only documents of a file that is new on both sides share, to be one: they have the
# file's name in common, and what they do not share stays or is a conflict.
NEW_FILE = 0.25

# Lines that a removed file and a new one share, to be one file that moved: git's share.
MOVED_FILE = 0.5

# -- elements and entries, by their leaves

# Equal leaves of an element and what it was renamed to: so many of so many. A rename with one
# edit among three leaves, or five, is seen; two elements of one template are not taken for one.
RENAMED_LEAVES = (2, 3)
# Leaves that an element must have: fewer are alike by chance, unless one of them is long.
FEW_LEAVES = 3
LONG_LEAF = 20
# Equal leaves of the only elements that both sides put into one new list: one thing, two names.
SAME_THING = (1, 2)
# Equal lines of two versions of an element without a key that are at one place as well.
SAME_PLACE = 0.5
# Equal leaves of two elements without a key that a comparison shows as one, changed.
SAME_ELEMENT = 0.5
# Equal lines of two short elements that begin with the same line, and are shown as one.
SAME_SHORT = 0.7
# The likeness of a pair that may be shown as one, though it has no line in common.
BETTER_THAN_NONE = 0.01

# Comparisons in one group. Beyond that no document is a rename, and elements are a conflict.
MOST_COMPARISONS = 2500


def bag(text: str) -> dict[str, int]:
    """Return the lines with content, without their indentation, and how often each occurs.

    Comments are left out, lines that only open a block, and lines that any two of a kind share.
    """
    lines = (line for line in text.split("\n") if not line.startswith(("apiVersion:", "kind:")))
    bare = (line.strip(" \t\r-") for line in lines)
    return _counted(line for line in bare if line and line[-1] != ":" and line[0] != "#")


def stripped_lines(text: str) -> dict[str, int]:
    """Return how often each line of any text is there, without its indentation."""
    return _counted(filter(None, map(str.strip, text.split("\n"))))


def _counted(things: Iterable[K]) -> dict[K, int]:
    counts: dict[K, int] = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def share_lines(one: str, other: str) -> bool:
    """Return whether two elements at one place have enough lines in common to be one."""
    lines, others = (
        _counted(line.strip(" -") for line in text.split("\n")) for text in (one, other)
    )
    most = max(sum(lines.values()), sum(others.values()))
    return _shared(lines, others) >= SAME_PLACE * most


def _shared(a: dict[K, int], b: dict[K, int]) -> int:
    """Return how many things two bags have in common."""
    if len(b) < len(a):
        a, b = b, a
    common = 0
    for thing, count in a.items():
        there = b.get(thing, 0)
        common += count if count < there else there
    return common


def likeness(a: dict[str, int], b: dict[str, int]) -> float:
    """Return the share of common lines (Dice); two empty bags are the same."""
    total = sum(a.values()) + sum(b.values())
    return 2 * _shared(a, b) / total if total else 1.0


def match(mine: Sequence[T], yours: Sequence[T], least: float) -> list[tuple[T, T]]:
    """Return pairs that are at least so alike, each clearly the best choice for the other.

    Of things with the same lines the first pairs with the first: they are interchangeable.
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
    """Return pairs with the very same lines, and what is left of each side."""
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
    """Return the index of the one clearly best value, or -1."""
    best = max(row)
    at = row.index(best)
    second = max((value for i, value in enumerate(row) if i != at), default=-1.0)
    return at if best >= least and best - second >= CLEARLY else -1


# what makes a resource the one it is
IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


class Leaves:
    """This counts the leaves of an element, but for those that are its key."""

    __slots__ = ("counts", "total")

    def __init__(self, node: Node | None, without: Names[tuple[str, ...]] = ()) -> None:
        leaves = _leaves(node, ()) if node is not None else ()
        self.counts = _counted(leaf for leaf in leaves if leaf[0] not in without)
        self.total = sum(self.counts.values())

    def shared(self, other: Leaves) -> int:
        """Return how many leaves two elements have in common."""
        return _shared(self.counts, other.counts)


def is_alike(old: Leaves, new: Leaves) -> bool:
    """Return whether an element holds what an old one held, under another key."""
    part, whole = RENAMED_LEAVES
    if whole * old.shared(new) < part * max(old.total, new.total):
        return False
    return min(old.total, new.total) >= FEW_LEAVES or any(map(_is_long, _in_common(old, new)))


def leaves_of(resource: Node | None) -> Leaves:
    """Return the leaves of a resource without those that are its name."""
    return Leaves(resource, IDENTITY)


def tells(old: Leaves, new: Leaves, elsewhere: set[Leaf]) -> bool:
    """Return whether two elements share a leaf that no other element has."""
    return not _in_common(old, new) <= elsewhere


def _in_common(a: Leaves, b: Leaves) -> set[Leaf]:
    return a.counts.keys() & b.counts.keys()


def is_one_thing(ours: Leaves, theirs: Leaves) -> bool:
    """Return whether what both sides put into a new list is one thing under two names."""
    part, whole = SAME_THING
    if min(ours.total, theirs.total) < FEW_LEAVES:
        return False
    return whole * ours.shared(theirs) >= part * max(ours.total, theirs.total)


def _is_long(leaf: Leaf) -> bool:
    value = leaf[1]
    return isinstance(value, tuple) and isinstance(value[-1], str) and len(value[-1]) > LONG_LEAF


def _leaves(node: Node, path: tuple[str, ...]) -> Iterator[Leaf]:
    if isinstance(node, Collection) and node.entries:
        for entry in node.entries:
            step = entry.name if isinstance(node, Mapping) else "[]"
            yield from _leaves(entry.value, (*path, step))
    elif isinstance(node, Scalar):
        yield path, meaning(node)
    else:
        yield path, ("*", node.name) if isinstance(node, Alias) else type(node).__name__
