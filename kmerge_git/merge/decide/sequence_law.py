"""What a merge of lists without keys must obey: an element's count, and the order of two.

Count: an element that one side alone added or removed follows that side; what both added stands
there once if it stands in one gap, else once or twice. Order: two elements that all versions have
stand as on the side that changed their order.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import TypeVar

    T = TypeVar("T")
    Keys = list[Hashable]


def is_lawful(at: Three[Keys], result: Keys) -> bool:
    """Whether a list is a merge of three."""
    counts, there = at.map(counted), counted(result)
    gaps = Gaps(at, counts)
    for key in {**counts.base, **counts.ours, **counts.theirs, **there}:
        how_often = under(counts, key).map(lambda count: count or 0)
        low, high = _bounds(how_often, key not in counts.base and gaps.is_one(key))
        if not low <= there.get(key, 0) <= high:
            return False
    return _is_in_order(at, gaps.stay, there, result)


def counted(keys: Iterable[T]) -> dict[T, int]:
    """How often each key is there."""
    counts: dict[T, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return counts


class Gaps:
    """Between what stays: where each side has what it added."""

    __slots__ = ("_counts", "_orders", "_places", "_sets", "stay")

    def __init__(self, at: Three[Keys], counts: Three[dict[Hashable, int]]) -> None:
        self._counts = counts
        # what each version has once, in the order of base
        self.stay = [k for k in at.base if all(count.get(k) == 1 for count in counts.each())]
        members = set(self.stay)
        self._orders = at.map(lambda keys: [k for k in keys if k in members])
        self._places = at.map(lambda keys: _places(keys, members))
        self._sets: dict[tuple[str, int], frozenset[Hashable]] = {}

    def is_one(self, key: Hashable) -> bool:
        """Whether both sides have a new element once, behind the same elements that stay."""
        if not self._counts.ours.get(key) == self._counts.theirs.get(key) == 1:
            return False
        if self._orders.ours == self._orders.theirs:
            return self._places.ours[key] == self._places.theirs[key]
        return self.behind("ours", key) == self.behind("theirs", key)

    def behind(self, side: str, key: Hashable) -> frozenset[Hashable]:
        """What stays and stands in front of an element."""
        place: tuple[str, int] = side, self._places.side(side)[key]
        if place not in self._sets:
            self._sets[place] = frozenset(self._orders.side(side)[: place[1]])
        return self._sets[place]


def _places(keys: Keys, members: set[Hashable]) -> dict[Hashable, int]:
    """How many of some stand in front of each key, where it comes first."""
    places: dict[Hashable, int] = {}
    before = 0
    for key in keys:
        places.setdefault(key, before)
        before += key in members
    return places


def _bounds(counts: Three[int], is_one: bool) -> tuple[int, int]:
    """How often an element may be there."""
    base, ours, theirs = counts.each()
    total = ours + theirs - base
    if base in (ours, theirs):
        return total, total
    if ours < base and theirs < base:
        return max(0, total), min(ours, theirs)
    if ours > base and theirs > base:
        most = max(ours, theirs)
        return most, most if is_one else total
    return max(0, total), max(0, total)


def _is_in_order(at: Three[Keys], stay: Keys, there: dict[Hashable, int], result: Keys) -> bool:
    members = {key for key in stay if there.get(key) == 1}
    orders = at.map(lambda keys: [k for k in keys if k in members])
    found = [k for k in result if k in members]
    if orders.ours == orders.base or orders.theirs in (orders.base, orders.ours):
        side = orders.theirs if orders.ours == orders.base else orders.ours
        return found == side
    from kmerge_git.merge.decide.order import arranged

    return found == arranged(*orders.each())
