"""How much two texts are alike, and which of two groups clearly belong together.

Every threshold of the project stands here. Likeness is by content, never by position alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, TypeVar

    class Lined(Protocol):
        """Something with a bag of lines."""

        @property
        def lines(self) -> dict[str, int]:
            """The bag; see `bag`."""

    T = TypeVar("T", bound=Lined)

# -- documents, by their lines

# Lines that a document shares with one under a new name, of all their lines: people rename and
# edit in one go, and another resource of the same kind shares less.
RENAMED = 0.6
# Lines that documents without a name share, if they do not pair by place: nothing else tells.
RELATED = 0.5
# A partner must be more alike than the next best one by this much.
CLEARLY = 0.1
# Lines that the only documents of a file that is new on both sides share, to be one: they have the
# file's name in common, and what they do not share stays or is a conflict.
NEW_FILE = 0.25

# What a file and another one that appeared as it went have in common, to be one: git's share.
MOVED_FILE = 0.5

# -- elements and entries, by their leaves (see `kube.leaves`)

# Equal leaves of an element and what it was renamed to: so many of so many. A rename with one
# edit among three leaves, or five, is seen; two elements of one template are not taken for one.
RENAMED_LEAVES = (2, 3)
# Leaves that an element must have: fewer are alike by chance, unless one is long enough to tell.
FEW_LEAVES = 3
LONG_LEAF = 20
# Equal leaves of the only elements that both sides put into one new list: one thing, two names.
SAME_THING = (1, 2)
# Equal lines of two versions of an element without a key, which stand at one place as well.
SAME_PLACE = 0.5
# Equal lines of two short elements that begin with the same line, and are shown as one.
SAME_SHORT = 0.7
# What any pair that may be shown as one is worth, if the two have no line in common.
BETTER_THAN_NONE = 0.01

# Comparisons in one group. Beyond that no document is a rename, and elements are a conflict.
MOST_COMPARISONS = 2500


def bag(text: str) -> dict[str, int]:
    """The lines that say something, without their indentation, and how often each stands there.

    Left out are comments, lines that only open a block, and what any two of a kind share.
    """
    counts: dict[str, int] = {}
    for line in text.split("\n"):
        if line.startswith(("apiVersion:", "kind:")):
            continue
        bare = line.strip(" \t\r-")
        if bare and bare[-1] != ":" and bare[0] != "#":
            counts[bare] = counts.get(bare, 0) + 1
    return counts


def likeness(a: dict[str, int], b: dict[str, int]) -> float:
    """The share of common lines (Dice); two bags with nothing in them are the same."""
    total = sum(a.values()) + sum(b.values())
    if not total:
        return 1.0
    if len(b) < len(a):
        a, b = b, a
    common = 0
    for line, count in a.items():
        there = b.get(line, 0)
        common += count if count < there else there
    return 2 * common / total


def match(mine: Sequence[T], yours: Sequence[T], least: float) -> list[tuple[T, T]]:
    """Pairs that are at least so alike, each clearly the best choice for the other.

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
    """Pairs with the very same lines, and what is left of each side."""
    waiting: dict[frozenset[tuple[str, int]], list[T]] = {}
    for b in reversed(yours):
        waiting.setdefault(frozenset(b.lines.items()), []).append(b)
    pairs, left = [], []
    for a in mine:
        found = waiting.get(frozenset(a.lines.items())) if a.lines else None
        if found:
            pairs.append((a, found.pop()))
        else:
            left.append(a)
    used = {id(b) for _, b in pairs}
    return pairs, left, [b for b in yours if id(b) not in used]


def _clear_best(row: list[float], least: float) -> int:
    """The index of the one clearly best value, or -1."""
    best = max(row)
    at = row.index(best)
    second = max((value for i, value in enumerate(row) if i != at), default=-1.0)
    return at if best >= least and best - second >= CLEARLY else -1
