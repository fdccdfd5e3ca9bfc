"""Where two sides of a conflict really differ: runs of lines that both have are cut out of it.

Two lists of units are laid side by side: what is the same stays outside; an entry, an element or a
document that both sides have in different versions is looked into. Text only: nothing is decided.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import MOST_COMPARISONS, SAME_PLACE, bag, likeness
from kmerge_git.merge.write.units import can_open
from kmerge_git.text.diff3 import diff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.merge.write.units import Unit, Version

    Units = list[Unit]
    Pair = tuple[Unit, Unit]


class Cut:
    """A run of lines that differs: our lines o0 to o1, theirs t0 to t1."""

    __slots__ = ("o0", "o1", "t0", "t1")

    def __init__(self, o0: int, o1: int, t0: int, t1: int) -> None:
        self.o0 = o0
        self.o1 = o1
        self.t0 = t0
        self.t1 = t1

    def swapped(self) -> Cut:
        """The same seen from the other side."""
        return Cut(self.t0, self.t1, self.o0, self.o1)


def differences(ours: Version, theirs: Version, within: Cut) -> list[Cut]:
    """What differs within a run of lines; the same when the sides are swapped."""
    mine, yours = ours.units(within.o0, within.o1), theirs.units(within.t0, within.t1)
    if [unit.text for unit in yours] < [unit.text for unit in mine]:
        return [cut.swapped() for cut in _differences(theirs, ours, yours, mine, within.swapped())]
    return _differences(ours, theirs, mine, yours, within)


def _differences(
    ours: Version, theirs: Version, mine: Units, yours: Units, within: Cut
) -> list[Cut]:
    """The differences of two lists of units, which tile the two sides of a run of lines."""
    found: list[Cut] = []
    o0, t0 = within.o0, within.t0
    for one, other in _pairs(mine, yours):
        found.append(Cut(o0, one.start, t0, other.start))
        if one.text != other.text:
            inside = Cut(one.start, one.end, other.start, other.end)
            parts = ours.inside(one), theirs.inside(other)
            found += _differences(ours, theirs, *parts, inside)
        o0, t0 = one.end, other.end
    found.append(Cut(o0, within.o1, t0, within.t1))
    return [cut for cut in found if cut.o0 < cut.o1 or cut.t0 < cut.t1]


def _pairs(mine: Units, yours: Units) -> list[Pair]:
    """Units that are the same, and between them those that are two versions of one thing."""
    pairs: list[Pair] = []
    for i0, i1, j0, j1, is_same in _laid(_texts(mine), _texts(yours)):
        left, right = mine[i0:i1], yours[j0:j1]
        pairs += zip(left, right, strict=True) if is_same else _namesakes(left, right)
    return pairs


def _namesakes(mine: Units, yours: Units) -> list[Pair]:
    """Two versions of one thing: by name, and between those by likeness."""
    pairs: list[Pair] = []
    for i0, i1, j0, j1, is_same in _laid(_names(mine), _names(yours)):
        left, right = mine[i0:i1], yours[j0:j1]
        if is_same:
            pairs += [pair for pair in zip(left, right, strict=True) if _is_divided(*pair)]
        else:
            pairs += _alike(left, right)
    return pairs


def _laid(mine: list[Hashable], yours: list[Hashable]) -> Iterator[tuple[int, int, int, int, bool]]:
    """Two lists in runs (i0, i1, j0, j1): those that are the same, and those between them."""
    i = j = 0
    for i0, i1, j0, j1 in [*diff(mine, yours), (len(mine), len(mine), len(yours), len(yours))]:
        if i < i0 or j < j0:
            yield i, i0, j, j0, False
        if i0 < i1:
            yield i0, i1, j0, j1, True
        i, j = i1, j1


def _texts(units: Units) -> list[Hashable]:
    return [unit.text for unit in units]


def _names(units: Units) -> list[Hashable]:
    return [object() if unit.name is None else unit.name for unit in units]


def _is_divided(mine: Unit, yours: Unit) -> bool:
    """Whether two versions may differ in a part of them.

    Who accepts both sides then has that part twice. Of a short element this makes another element
    or none, so it is not divided; the entries of a mapping are known by their keys.
    """
    is_known = mine.name == yours.name and (mine.is_keyed or mine.is_document)
    return (is_known or (mine.is_long and yours.is_long)) and can_open(mine, yours)


def _alike(mine: Units, yours: Units) -> list[Pair]:
    """The pairs, in order, that are most alike; the only long ones of each side in any case."""
    left, right = ([u for u in units if u.is_long] for units in (mine, yours))
    if len(left) == len(right) == 1:
        return [(left[0], right[0])] if _is_divided(left[0], right[0]) else []
    if len(left) * len(right) > MOST_COMPARISONS:
        return []
    bags = [bag(unit.text) for unit in right]
    # best[j]: the most likeness of the units so far with the first j of the others, and the pairs
    best: list[tuple[float, list[Pair]]] = [(0.0, [])] * (len(right) + 1)
    for one in left:
        row = [best[0]]
        for j, other in enumerate(right):
            here = max(best[j + 1], row[j], key=_worth)
            value = likeness(bag(one.text), bags[j]) if _is_divided(one, other) else 0.0
            if value >= SAME_PLACE and best[j][0] + value > here[0]:
                here = best[j][0] + value, [*best[j][1], (one, other)]
            row.append(here)
        best = row
    return best[-1][1]


def _worth(found: tuple[float, list[Pair]]) -> float:
    return found[0]
