"""Pair the elements of three lists without keys: elements that stayed, were moved, edited or added.

Equal elements are one element, wherever they are. An element of base and its edited version on a
side are one element if the edited version is certain. Two equal additions are one element if they
have a common neighbour. If a pair is uncertain, a person must decide.

An element is *moved* by a side if it is not in a longest common order of base and that side. Where
several common orders are the longest, every one of them counts.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, islice, product

from kmerge_git.kube.likeness import MOST_COMPARISONS, Leaves, found_in_none, in_common, is_edit
from kmerge_git.merge.decide.rules import ElementPairs
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, counted, grouped
from kmerge_git.tree.nodes import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.merge.decide.rules import Keys
    from kmerge_git.tree.nodes import Entry

    Edits = dict[int, int]  # the index of a new element on a side -> the index in base
    Point = tuple[int, int]  # the indexes of one element in base and on a side, or on both sides
    Chain = tuple[Point, "Chain | None"]  # the last point of an order, and the points before it

_MOST_ORDERS = 24  # longest common orders of base and a side that are looked at
_MOST_POINTS = 40_000  # pairs of equal elements that are looked at


def pair(keys: Three[Keys], entries: Three[list[Entry]]) -> ElementPairs:
    """Pair the elements of three lists; `keys` has the content of each element."""
    mine, yours = _Order(keys.base, keys.ours), _Order(keys.base, keys.theirs)
    both = set(keys.ours).intersection(keys.theirs).difference(keys.base)
    sides = (
        _EditedSide(entries.base, entries.ours, mine, yours, _places_of(both, keys.ours)),
        _EditedSide(entries.base, entries.theirs, yours, mine, _places_of(both, keys.theirs)),
    )
    edits = _edits(sides[0]), _edits(sides[1])
    labels: Three[Keys] = Three(
        list(range(len(keys.base))),
        _labels("ours", keys.ours, mine, _without_replaced(*edits, sides[1])),
        _labels("theirs", keys.theirs, yours, _without_replaced(*edits[::-1], sides[0])),
    )
    unclear: set[Hashable] = {
        (name, j)
        for name, side, found in zip(("ours", "theirs"), sides, edits, strict=True)
        for j, rivals in side.rivals.items()
        if len(rivals) > 1 and j not in found
    }
    united, is_ambiguous = _with_shared_additions(labels, keys)
    doubts = [Why.MOVED_AND_GONE for s, e in zip(sides, edits, strict=True) if s.is_in_doubt(e)]
    return ElementPairs(united, unclear, *doubts[:1] or [Why.ADDED_APART if is_ambiguous else ""])


def _places_of(members: set[Hashable], keys: Keys) -> set[int]:
    return {n for n, key in enumerate(keys) if key in members}


def _labels(name: str, keys: Keys, order: _Order, edits: Edits) -> Keys:
    """Return the index in base of each element of a side, or a label that no other element has."""
    in_base = {j: i for i, j in order.places.items()} | edits
    return [in_base.get(j, (name, j)) for j in range(len(keys))]


# -- edited elements


class _EditedSide:
    """Hold the elements that are new on a side, and the similar elements of base that it lacks."""

    __slots__ = (
        "alike",
        "base",
        "gone",
        "moved",
        "new",
        "order",
        "other",
        "rivals",
        "side",
        "too_many",
    )

    def __init__(
        self, base: list[Entry], side: list[Entry], order: _Order, other: _Order, shared: set[int]
    ) -> None:
        self.base = base
        self.side = side
        self.order = order  # base and the side
        self.other = other  # base and the other side
        there = set(order.places.values())
        self.new = [j for j in range(len(side)) if j not in there]
        self.gone = [i for i in range(len(base)) if i not in order.places]
        self.moved = [i for i in self.gone if i in other.places and other.is_moved(i)]
        self.too_many = len(self.gone) * len(self.new) > MOST_COMPARISONS
        self.alike: list[Point] = [
            (i, j)
            for i in ([] if self.too_many else self.gone)
            for j in self.new
            # what both sides added is no edit of an element that one of them left alone
            if not (j in shared and i in other.places) and is_edit(base[i].value, side[j].value)
        ]
        self.rivals = grouped((j, i) for i, j in self.alike)

    def are_unlike_others(self, i: int, j: int) -> bool:
        """Return whether no other element that is gone, or new, is like one of the two."""
        gone, new = self.base[i].value, self.side[j].value
        return not any(is_edit(gone, self.base[n].value) for n in self.gone if n != i) and not any(
            is_edit(new, self.side[n].value) for n in self.new if n != j
        )

    def is_best(self, i: int, j: int) -> bool:
        """Return whether an element of base is more like a new element than its rivals are."""
        rivals = self.rivals[j]
        if len(rivals) == 1:
            return True
        new = Leaves(self.side[j].value)
        shared = {old: new.shared(Leaves(self.base[old].value)) for old in rivals}
        return all(shared[i] > shared[old] for old in rivals if old != i)

    def is_in_doubt(self, edits: Edits) -> bool:
        """Return whether an element that the other side moved may have an edited version."""
        left = [i for i in self.moved if i not in edits.values()]
        alike = {i for i, _ in self.alike}
        return any(self.too_many or i in alike or self._shares_a_leaf(i, edits) for i in left)

    def _shares_a_leaf(self, i: int, edits: Edits) -> bool:
        """Return whether an element of base has a leaf in common with a new element of its gap.

        No other element of base or of the side has this leaf.
        """
        near = [j for j in self.new if j not in edits and self.order.has_gap(i, j)]
        if not near or not isinstance(self.base[i].value, Collection):
            return False
        old = [e.value for n, e in enumerate(self.base) if n != i]
        gone = Leaves(self.base[i].value)
        for j in near:
            others = [*old, *(e.value for n, e in enumerate(self.side) if n != j)]
            if found_in_none(in_common(gone, Leaves(self.side[j].value)), others):
                return True
        return False


def _edits(side: _EditedSide) -> Edits:
    """Return the certain edits of a side.

    The edited version is in the gap of the old one, or no other element is alike with either. If
    the other side changed the element or took it away, the old one must also be the most alike.
    """
    near = _only_pairs([p for p in side.alike if side.order.has_gap(*p)])
    left = [(i, j) for i, j in side.alike if i not in near.values() and j not in near]
    certain = {j: i for j, i in near.items() if i in side.other.places or side.is_best(i, j)}
    elsewhere = {j: i for j, i in _only_pairs(left).items() if side.are_unlike_others(i, j)}
    return elsewhere | certain


def _without_replaced(edits: Edits, others: Edits, other: _EditedSide) -> Edits:
    """Return edits without those of elements that the other side may have replaced by unlike ones.

    `others` has the edits of the other side.
    """
    left = [j for j in other.new if j not in others]
    lost = {*edits.values()}.difference(other.order.places, others.values())
    replaced = {i for i in lost if any(other.order.has_gap(i, j) for j in left)}
    return {j: i for j, i in edits.items() if i not in replaced}


def _only_pairs(points: list[Point]) -> dict[int, int]:
    """Return the points that share no index with another point, as a table from side to base."""
    often = counted(i for i, _ in points), counted(j for _, j in points)
    return {j: i for i, j in points if often[0][i] == often[1][j] == 1}


# -- additions of both sides


def _with_shared_additions(labels: Three[Keys], keys: Three[Keys]) -> tuple[Three[Keys], bool]:
    """Give two additions that are one element the same label.

    Also return whether an addition may be one of two that are in different gaps of a side.
    """
    there = grouped((keys.theirs[j], j) for j in _added(labels.theirs))
    equal = [(i, j) for i in _added(labels.ours) for j in there.get(keys.ours[i], ())]
    if not equal:
        return labels, False
    choices = list(gap_choices(labels))
    related = [(i, j) for i, j in equal if share_gap(choices, i, j)]
    while True:
        united = labels.map(list)
        for j, i in _matched(grouped(related)).items():
            united.ours[i] = united.theirs[j] = ("both", i, j)
        more = [p for p in equal if p not in related and _are_beside_one(*p, united)]
        if not more:
            return united, _is_ambiguous(labels, related)
        related += more


def _is_ambiguous(labels: Three[Keys], related: list[Point]) -> bool:
    ours, theirs = _own_gaps(labels.ours), _own_gaps(labels.theirs)
    mine = grouped((i, theirs[j]) for i, j in related)
    yours = grouped((j, ours[i]) for i, j in related)
    return any(len(set(gaps)) > 1 for gaps in (*mine.values(), *yours.values()))


def _added(labels: Keys) -> list[int]:
    return [n for n, label in enumerate(labels) if not isinstance(label, int)]


def _are_beside_one(i: int, j: int, labels: Three[Keys]) -> bool:
    """Return whether the same element is directly before, or directly behind, two additions."""
    ours, theirs = labels.ours, labels.theirs
    before = i > 0 < j and ours[i - 1] == theirs[j - 1]
    return before or (ours[i + 1 : i + 2] == theirs[j + 1 : j + 2] != [])


def _own_gaps(labels: Keys) -> list[int]:
    """Return the number of elements of base in front of each element of a side."""
    return _numbers([isinstance(label, int) for label in labels])


def _numbers(counts: list[bool]) -> list[int]:
    return [0, *accumulate(counts)][: len(counts)]


def _matched(partners: dict[int, list[int]]) -> dict[int, int]:
    """Match as many elements of ours with their partners as possible."""
    matched: dict[int, int] = {}  # theirs -> ours

    def finds_partner(i: int, seen: set[int]) -> bool:
        for j in partners[i]:
            if j not in seen:
                seen.add(j)
                if j not in matched or finds_partner(matched[j], seen):
                    matched[j] = i
                    return True
        return False

    for i in partners:
        finds_partner(i, set())
    return matched


# -- orders and gaps


def share_gap(choices: list[Three[list[int]]], ours: int, theirs: int) -> bool:
    """Return whether an element of ours and one of theirs are in one gap by any choice of orders.

    A gap is between neighbours that neither side moved or took away.
    """
    return any(gaps.ours[ours] == gaps.theirs[theirs] for gaps in choices)


def gap_choices(labels: Three[Keys]) -> Iterator[Three[list[int]]]:
    """Yield the gap of each element, once for each choice of the longest common orders."""
    mine, yours = (
        _Order(labels.base, side).longest(_MOST_ORDERS) for side in (labels.ours, labels.theirs)
    )
    for one, other in product(mine, yours):
        steady = {i for i, _ in one}.intersection(i for i, _ in other)
        sides = [
            [j in there for j in range(len(side))]
            for side, order in ((labels.ours, one), (labels.theirs, other))
            for there in [{j for i, j in order if i in steady}]
        ]
        yield Three([], *map(_numbers, sides))


class _Order:
    """Compare the order of equal elements in base and on a side."""

    __slots__ = ("_ranked", "_size", "_steady", "places")

    def __init__(self, base: Keys, side: Keys) -> None:
        there = grouped((key, j) for j, key in enumerate(side))
        points = _points(base, there)
        ahead = _chains(points)
        behind = _chains([(-i, -j) for i, j in reversed(points)])[::-1]
        # each point, with the size of the longest common order that ends or begins with it
        self._ranked = list(zip(points, ahead, behind, strict=True))
        self._size = max(ahead, default=0)
        # the elements of base that every longest common order has
        self._steady = {
            found.pop()
            for found in ({i for i, _ in level} for level in self._levels())
            if len(found) == 1
        }
        # the index on the side of each element of base that the side has
        self.places: dict[int, int] = dict(self.longest(1)[0])
        taken = set(self.places.values())
        left = {key: iter([j for j in found if j not in taken]) for key, found in there.items()}
        for i, key in enumerate(base):
            place = -1 if i in self.places else next(left.get(key, iter(())), -1)
            if place >= 0:
                self.places[i] = place

    def is_moved(self, i: int) -> bool:
        """Return whether a longest common order leaves out an element of base."""
        return i not in self._steady

    def has_gap(self, i: int, j: int) -> bool:
        """Return whether index j of the side is in the gap of index i of base.

        If it is, the longest common order grows when these two count as one element.
        """
        ahead = max((a for (x, y), a, _ in self._ranked if x < i and y < j), default=0)
        behind = max((b for (x, y), _, b in self._ranked if x > i and y > j), default=0)
        return ahead + behind == self._size

    def longest(self, most: int) -> list[list[Point]]:
        """Return at most so many of the longest common orders, as points."""
        chains: list[Chain] = [((-1, -1), None)]
        for level in self._levels():
            pairs = (
                ((i, j), chain)
                for chain in chains
                for i, j in level
                if i > chain[0][0] and j > chain[0][1]
            )
            chains = list(islice(pairs, most))
        return [_as_list(chain) for chain in chains]

    def _levels(self) -> list[list[Point]]:
        """Return the points of all longest common orders, by their numbers in these orders."""
        levels: list[list[Point]] = [[] for _ in range(self._size)]
        for point, ahead, behind in self._ranked:
            if ahead + behind > self._size:
                levels[ahead - 1].append(point)
        return [sorted(level) for level in levels]


def _points(base: Keys, there: dict[Hashable, list[int]]) -> list[Point]:
    """Return the indexes of all equal elements, or only of unique ones if there are too many."""
    known = grouped((key, i) for i, key in enumerate(base))
    if sum(len(found) * len(there.get(key, ())) for key, found in known.items()) > _MOST_POINTS:
        there = {k: found for k, found in there.items() if len(found) == len(known.get(k, ())) == 1}
    return [(i, j) for i, key in enumerate(base) for j in reversed(there.get(key, ()))]


def _chains(points: list[Point]) -> list[int]:
    """Return the size of the longest ascending chain that ends with each point."""
    ends: list[int] = []
    sizes: list[int] = []
    for _, j in points:
        size = bisect_left(ends, j)
        ends[size : size + 1] = [j]
        sizes.append(size + 1)
    return sizes


def _as_list(chain: Chain) -> list[Point]:
    """Return the points of a chain from its start, without the point that all chains begin with."""
    points: list[Point] = []
    while chain[1] is not None:
        points.append(chain[0])
        chain = chain[1]
    return points[::-1]
