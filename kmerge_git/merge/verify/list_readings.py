"""Find what the sides did to a list without keys: common additions, and edited elements.

Two additions with the same value are one addition if they have the same neighbour before them or
behind them. A neighbour is the element next to the addition, or the next element that neither side
moved or deleted. An element is moved if it is not in a longest common order of base and that side.
If there are several longest common orders, each of them is one reading of the side.

An element of base that a side lacks is edited on that side if the side has a new element that is
alike (see `kube.likeness.is_edit`), and if no other element can be meant: no other element that is
gone or new on that side is alike with one of the two, or both are alone in one gap.
"""

from __future__ import annotations

from bisect import bisect_left

from kmerge_git.kube.likeness import is_edit
from kmerge_git.merge.three import is_part
from kmerge_git.merge.verify.sites import RESULT, bounds
from kmerge_git.tree.nodes import Alias, has_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.merge.verify.sites import Count, Keys
    from kmerge_git.tree.nodes import Node

    Counts = dict[Hashable, Count]
    Positions = list[int]
    Pair = tuple[int, int]  # the positions of one element in base and in a side

_MOST_PAIRS = 400  # the most pairs of equal additions that are compared in a list
_MOST_COMPARISONS = 400  # the most elements of which one may be an edit of the other
_MOST_CELLS = 10_000  # the size of the table in which longest common orders are searched
_MOST_READINGS = 8

START, END = -1, -2  # the neighbours of the first and of the last element


class CommonOrder:
    """Hold which elements of a side are which elements of base, in one longest common order."""

    __slots__ = ("partners", "stayed")

    def __init__(self, base: Keys, side: Keys, common: list[Pair]) -> None:
        self.stayed = dict(common)  # base position -> position in the side
        # position in the side -> base position; moved elements are paired in the order of base
        self.partners = {there: old for old, there in common}
        moved: dict[Hashable, list[int]] = {}
        for n in reversed(range(len(base))):
            if n not in self.stayed:
                moved.setdefault(base[n], []).append(n)
        for there, key in enumerate(side):
            if there not in self.partners and moved.get(key):
                self.partners[there] = moved[key].pop()


def readings(base: Keys, side: Keys) -> list[CommonOrder]:
    """Return one reading for each longest common order, but at most a few.

    Return nothing if the lists are too long to compare.
    """
    places = {key: n for n, key in enumerate(side)}
    if len(places) == len(side) and len(set(base)) == len(base):
        common = [(n, places[key]) for n, key in enumerate(base) if key in places]
        if [n for _, n in common] == sorted(n for _, n in common):
            return [CommonOrder(base, side, common)]
    if len(base) * len(side) > _MOST_CELLS:
        return []
    found: list[CommonOrder] = []
    for common in _longest_orders(base, side):
        found.append(CommonOrder(base, side, common))
        if len(found) == _MOST_READINGS:
            break
    return found


def _longest_orders(base: Keys, side: Keys) -> Iterator[list[Pair]]:
    """Yield every longest common order of two lists."""
    length = [[0] * (len(side) + 1) for _ in range(len(base) + 1)]
    for i in reversed(range(len(base))):
        for j in reversed(range(len(side))):
            if base[i] == side[j]:
                length[i][j] = length[i + 1][j + 1] + 1
            else:
                length[i][j] = max(length[i + 1][j], length[i][j + 1])

    def orders(i: int, j: int) -> Iterator[list[Pair]]:
        rest = length[i][j]
        if not rest:
            yield []
        while rest and length[i][j] == rest:
            for k in range(j, len(side)):
                if base[i] == side[k] and length[i + 1][k + 1] == rest - 1:
                    for order in orders(i + 1, k + 1):
                        yield [(i, k), *order]
            i += 1

    return orders(0, 0)


class Newcomers:
    """Hold the three versions of a list, and find the additions that both sides made."""

    __slots__ = ("_base", "_readings", "_sides")

    def __init__(self, base: Keys, ours: Keys, theirs: Keys) -> None:
        self._base = set(base)
        self._sides = ours, theirs
        self._readings = [readings(base, side) for side in self._sides]

    def allowed(
        self, key: Hashable, counts: tuple[int, int, int], *, is_word: bool, is_open: bool
    ) -> tuple[int, int]:
        """Return the least and the greatest count that an element of a list may have in the result.

        Each pair of additions that are one addition occurs once, and so does each addition without
        a partner. A word (`-f`) may occur for each side if the sides also added different elements
        in its gap (`-f a` and `-f b`). If `is_open` is true, an addition may count as one with any
        addition of the other side.
        """
        low, high = bounds(*counts)
        if counts[0] or not 0 < counts[1] * counts[2] <= _MOST_PAIRS:
            return low, high
        pairs = self._pairs(key)
        perhaps: set[Pair] = set()
        most = 0
        for places in self._places():
            one = {pair for pair in pairs if places.is_one(*pair)}
            perhaps |= one if not self._may_hide_versions(key) else one | places.doubtful(pairs)
            most = max(most, _matched(places.fitting(one) if is_word else one))
        if not is_open and all(0 < len(found) < _MOST_READINGS for found in self._readings):
            low = max(low, high - _matched(perhaps))
        return low, high - most

    def is_disputed(self, key: Hashable, *, is_word: bool) -> bool:
        """Return whether an addition may be one with two additions in different gaps of a side.

        Nothing shows which of the two the other side means.
        """
        pairs = self._pairs(key)
        if not 1 < len(pairs) <= _MOST_PAIRS:
            return False
        partners: set[Pair] = set()
        for places in self._places():
            one = {pair for pair in pairs if places.is_one(*pair)}
            partners |= places.fitting(one) if is_word else one
        gaps = [
            [sum(k in self._base for k in side[:n]) for n in range(len(side))]
            for side in self._sides
        ]
        mine = {(m, gaps[0][n]) for n, m in partners}
        yours = {(n, gaps[1][m]) for n, m in partners}
        return any(len({n for n, _ in found}) < len(found) for found in (mine, yours))

    def _pairs(self, key: Hashable) -> set[Pair]:
        """Return each position of an element in ours with each of its positions in theirs."""
        ours, theirs = ([n for n, k in enumerate(side) if k == key] for side in self._sides)
        return {(n, m) for n in ours for m in theirs}

    def _places(self) -> Iterator[_BothSides]:
        for mine in self._readings[0]:
            for yours in self._readings[1]:
                yield _BothSides(self._sides, mine, yours)

    def _may_hide_versions(self, key: Hashable) -> bool:
        """Return whether an element that is gone and a new one may be versions of one neighbour."""
        known = self._base | {key}
        return any(
            not self._base.issubset(side) and not known.issuperset(side) for side in self._sides
        )


class _BothSides:
    """Describe the positions of two sides in one reading of each side."""

    __slots__ = ("_both", "_partners", "_sides", "_stayed")

    def __init__(self, sides: tuple[Keys, Keys], mine: CommonOrder, yours: CommonOrder) -> None:
        self._sides = sides
        self._partners = mine.partners, yours.partners
        both = mine.stayed.keys() & yours.stayed.keys()
        self._stayed = [sorted(r.stayed[old] for old in both) for r in (mine, yours)]
        self._both = {*mine.partners.values()} & {*yours.partners.values(), START, END}
        self._both |= {START, END}

    def is_one(self, n: int, m: int) -> bool:
        """Return whether two additions have a common neighbour."""
        if self._gap(0, n) == self._gap(1, m):
            return True
        return any(a is not None and a == b for a, b in self._beside(n, m))

    def doubtful(self, pairs: set[Pair]) -> set[Pair]:
        """Return the additions at an element that may have another version at the other element."""
        return {
            pair
            for pair in pairs
            if any(a not in self._both or b not in self._both for a, b in self._beside(*pair))
        }

    def fitting(self, pairs: set[Pair]) -> set[Pair]:
        """Return the additions in whose gap a side added nothing that the other did not add."""
        return {(n, m) for n, m in pairs if self._fit(self._gap(0, n), self._gap(1, m))}

    def _fit(self, mine: int, yours: int) -> bool:
        runs = self._run(0, mine), self._run(1, yours)
        return is_part(*runs) or is_part(*reversed(runs))

    def _beside(self, n: int, m: int) -> Iterator[tuple[int | None, int | None]]:
        """Yield the elements of base before both positions, then those behind both positions."""
        for step in (-1, 1):
            yield self._neighbour(0, n + step), self._neighbour(1, m + step)

    def _neighbour(self, side: int, n: int) -> int | None:
        if n < 0:
            return START
        return END if n == len(self._sides[side]) else self._partners[side].get(n)

    def _gap(self, side: int, n: int) -> int:
        """Return how many elements that neither side moved or deleted precede a position."""
        return bisect_left(self._stayed[side], n)

    def _run(self, side: int, gap: int) -> Keys:
        """Return the elements that a side added in a gap."""
        known = self._partners[side]
        return [
            key
            for n, key in enumerate(self._sides[side])
            if n not in known and self._gap(side, n) == gap
        ]


def _matched(pairs: set[Pair]) -> int:
    """Return how many pairs can be chosen so that no position is in two pairs."""
    taken: dict[int, int] = {}

    def take(n: int, tried: set[int]) -> bool:
        for a, b in pairs:
            if a == n and b not in tried:
                tried.add(b)
                if b not in taken or take(taken[b], tried):
                    taken[b] = n
                    return True
        return False

    return sum(take(n, set()) for n in {a for a, _ in pairs})


# -- edited elements


class Edit:
    """Hold the key of an edited element in base, and its keys on both sides.

    The key is None on a side that deleted the element.
    """

    __slots__ = ("old", "ours", "theirs")

    def __init__(self, old: Hashable, ours: Hashable, theirs: Hashable) -> None:
        self.old = old
        self.ours = ours  # equal to `old` if ours has not changed the element
        self.theirs = theirs

    @property
    def is_disputed(self) -> bool:
        """Return whether one side edited the element and the other side deleted it."""
        return self.ours is None or self.theirs is None

    @property
    def single(self) -> Hashable:
        """Return the key that the result must have, or None if the sides differ."""
        if self.theirs in (self.ours, self.old):
            return self.ours
        return self.theirs if self.ours == self.old else None


def edits(keys: list[Keys], nodes: list[list[Node]], counts: Counts) -> list[Edit]:
    """Return the elements of base that one side or both sides edited."""
    found = [_edited(keys, nodes, counts, side) for side in (1, 2)]
    result = []
    for old in {**found[0], **found[1]}:
        news = [pairs.get(old) for pairs in found]
        for side, new in enumerate(news, 1):
            if new is None and counts[old][side] == 1:
                news[side - 1] = old  # unchanged on this side
            elif new is None and not _only_deletes(counts, side):
                break  # a new element of this side may be a version that is not alike
        else:
            if all(new is None or _is_new(counts, old, new, news) for new in news):
                result.append(Edit(old, *news))
    return result


def _only_deletes(counts: Counts, side: int) -> bool:
    """Return whether a side added no element that the other side lacks."""
    return not any(count[side] > max(count[0], count[3 - side]) for count in counts.values())


def _is_new(counts: Counts, old: Hashable, new: Hashable, news: list[Hashable]) -> bool:
    """Return whether only the edited element can have this key in the three versions."""
    return new == old or counts[new][1:RESULT] == [int(each == new) for each in news]


def _edited(
    keys: list[Keys], nodes: list[list[Node]], counts: Counts, side: int
) -> dict[Hashable, Hashable]:
    """Return the edited elements of a side by their keys in base."""
    gone = [n for n, key in enumerate(keys[0]) if counts[key][side] < counts[key][0]]
    new = [n for n, key in enumerate(keys[side]) if counts[key][side] > counts[key][0]]
    if len(gone) * len(new) > _MOST_COMPARISONS:
        return {}
    alike = {(n, m) for n in gone for m in new if _is_version(nodes[0][n], nodes[side][m])}
    pairs = _unique(alike)
    if len(pairs) < len(alike):
        near = _alone_in_a_gap(keys, side, gone, new) & alike
        pairs |= {pair for pair in _unique(near) if not _is_taken(pair, pairs)}
    named = {keys[0][n]: keys[side][m] for n, m in pairs}
    return {x: y for x, y in named.items() if counts[x][0] == 1 and not counts[y][0]}


def _is_version(old: Node, new: Node) -> bool:
    if has_lines(old) or has_lines(new) or isinstance(old, Alias):
        return False
    return is_edit(old, new)


def _unique(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs of which neither part is in another pair."""
    olds, news = [n for n, _ in pairs], [m for _, m in pairs]
    return {(n, m) for n, m in pairs if olds.count(n) == 1 == news.count(m)}


def _is_taken(pair: tuple[int, int], pairs: set[tuple[int, int]]) -> bool:
    return any(pair[0] == n or pair[1] == m for n, m in pairs)


def _alone_in_a_gap(
    keys: list[Keys], side: int, gone: Positions, new: Positions
) -> set[tuple[int, int]]:
    """Return the pairs that are the only gone and the only new element of a gap, in any reading."""
    found = set()
    for reading in readings(keys[0], keys[side]):
        gaps: dict[int, tuple[Positions, Positions]] = {}
        stayed = reading.stayed
        for n in gone:
            gaps.setdefault(sum(old < n for old in stayed), ([], []))[0].append(n)
        for m in new:
            gaps.setdefault(sum(there < m for there in stayed.values()), ([], []))[1].append(m)
        found |= {(a[0], b[0]) for a, b in gaps.values() if len(a) == 1 == len(b)}
    return found
