"""Where two sides of a conflict really differ: runs of lines that both have are cut out of it.

Two lists of units are laid side by side: what is the same stays outside; an entry, an element or a
document that both sides have in different versions is looked into. Text only: nothing is decided.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import (
    BETTER_THAN_NONE,
    MOST_COMPARISONS,
    SAME_PLACE,
    SAME_SHORT,
    bag,
    likeness,
)
from kmerge_git.merge.write.units import are_one, can_open, share_first_line
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


def trimmed(ours: Version, theirs: Version, within: Cut) -> Cut:
    """A run of lines without the units that both sides begin and end with."""
    cut = Cut(within.o0, within.o1, within.t0, within.t1)
    mine, yours = ours.units(cut.o0, cut.o1), theirs.units(cut.t0, cut.t1)
    while True:
        while mine and yours and mine[0].text == yours[0].text:
            cut.o0, cut.t0 = mine.pop(0).end, yours.pop(0).end
        while mine and yours and mine[-1].text == yours[-1].text:
            cut.o1, cut.t1 = mine.pop().start, yours.pop().start
        if not (len(mine) == len(yours) == 1 and _pairs(mine, yours)):
            return cut
        mine, yours = ours.inside(mine[0]), theirs.inside(yours[0])


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
    """Two versions of one thing: entries and documents by name, and between those by likeness."""
    pairs: list[Pair] = []
    for i0, i1, j0, j1, is_same in _laid(_names(mine), _names(yours)):
        left, right = mine[i0:i1], yours[j0:j1]
        if is_same:
            found = zip(left, right, strict=True)
            pairs += [pair for pair in found if _may_part(*pair) and can_open(*pair)]
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


def _alike(mine: Units, yours: Units) -> list[Pair]:
    """The pairs, in order, that are most alike in all."""
    left, right = _comparable(mine, yours)
    bags = [bag(unit.text) for unit in right]
    least = SAME_PLACE if len(left) > 1 or len(right) > 1 else 0.0  # who else could it be
    # best[j]: how much all pairs of the units so far with the first j of the others are alike
    best: list[tuple[float, list[Pair]]] = [(0.0, [])] * (len(right) + 1)
    for one in left:
        row, lines = [best[0]], bag(one.text)
        for j, other in enumerate(right):
            here = max(best[j + 1], row[j], key=_worth)
            share = _share(one, other, likeness(lines, bags[j]), least)
            if best[j][0] + share > here[0] and can_open(one, other):
                here = best[j][0] + share, [*best[j][1], (one, other)]
            row.append(here)
        best = row
    return best[-1][1]


def _comparable(mine: Units, yours: Units) -> tuple[Units, Units]:
    """The units that may be alike: of very many only the long ones, or none."""
    found = [unit for unit in mine if unit.thing is not None]
    others = [unit for unit in yours if unit.thing is not None]
    if len(found) * len(others) > MOST_COMPARISONS:
        found = [unit for unit in found if unit.is_long]
        others = [unit for unit in others if unit.is_long]
    return (found, others) if len(found) * len(others) <= MOST_COMPARISONS else ([], [])


def _worth(found: tuple[float, list[Pair]]) -> float:
    return found[0]


def _share(one: Unit, other: Unit, share: float, least: float) -> float:
    """How much two units are versions of one thing; nothing where they may not be divided."""
    if one.is_bare and other.is_bare:
        return share + BETTER_THAN_NONE  # kept both, they are one document in any case
    is_one = one.is_element and other.is_element and are_one(one, other)
    if one.is_long and other.is_long:
        is_alike = share >= least
    else:  # a rule in two versions, but not two rules: these give more than both when they mix
        is_alike = is_one is None and share >= SAME_SHORT and _fields_apart(one, other) == 1
    if not (is_one or is_alike) or not _may_part(one, other):
        return 0.0
    return share + bool(is_one) + BETTER_THAN_NONE


def _may_part(one: Unit, other: Unit) -> bool:
    """Whether parts of two units may stand apart from what both have.

    Who accepts both sides has the parts that differ twice, below one first line. Of two short
    units that do not share it, neither would be left; of elements with fields in another order
    one would have a field in two places.
    """
    if one.is_long and other.is_long:
        return True
    return share_first_line(one, other) and not _are_crossed(one, other)


def _fields_apart(one: Unit, other: Unit) -> int:
    """How many fields of two elements are not the same text."""
    mine, yours = one.fields, other.fields
    return sum(mine.get(name) != yours.get(name) for name in mine | yours)


def _are_crossed(one: Unit, other: Unit) -> bool:
    """Whether two elements have the same fields in another order."""
    mine, yours = one.fields, other.fields
    return [name for name in mine if name in yours] != [name for name in yours if name in mine]
