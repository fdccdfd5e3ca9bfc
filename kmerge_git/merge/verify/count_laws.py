"""Check how often values occur in a merge result, and in which order.

Values are identified by their content. They are counted in base, ours, theirs and the result, over
the whole file, without pairing resources or elements.
"""

from __future__ import annotations

from operator import eq

from kmerge_git.merge.verify import sites
from kmerge_git.merge.verify.sites import RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.verify.sites import Site
    from kmerge_git.tree.same import Meaning

    Place = tuple[int, Path]  # the number of a document (-1 for none), the path of a collection
    # how often something occurs in base, ours, theirs and the result
    Count = list[int]
    Tally = dict[Place, Count]
    Keys = list[Hashable]
    K = TypeVar("K", bound=Hashable)
    T = TypeVar("T")


class Tallies:
    """Count keys by the pattern of their path, and values by the name of their field."""

    __slots__ = ("keys", "values")

    def __init__(self) -> None:
        self.keys: dict[tuple[str, Hashable], Tally] = {}
        self.values: dict[tuple[str, Meaning], Tally] = {}

    def count(self, site: Site, key: Hashable, count: Count, is_fresh: bool) -> None:
        """Add how often a key occurs in a collection of base, ours, theirs and the result."""
        if is_fresh:  # the common part of both additions counts as base
            count = [min(count[1], count[2]), *count[1:]]
        tally = self.keys.setdefault((site.pattern, key), {})
        known = tally.setdefault((site.number, site.path), [0, 0, 0, 0])
        for side, number in enumerate(count):
            known[side] += number

    def one(self, site: Site, key: Hashable, side: int) -> None:
        """Count one occurrence of a key in base, ours, theirs or the result."""
        self.count(site, key, [int(side == which) for which in range(4)], False)

    def forget_parts(self, site: Site) -> None:
        """Remove the counts of the parts of a key that were counted at a site."""
        for pattern, key in [*self.keys]:
            if pattern == site.pattern and isinstance(key, tuple):
                del self.keys[pattern, key]

    def value(self, site: Site, around: Site, value: Meaning, side: int) -> None:
        """Count one occurrence of a value in base, ours, theirs or the result."""
        tally = self.values.setdefault((site.pattern.rpartition(".")[2], value), {})
        tally.setdefault((around.number, around.path), [0, 0, 0, 0])[side] += 1

    def wrong(self, perhaps: Tallies) -> Iterator[tuple[tuple[str, Hashable], Place, str]]:
        """Yield the keys with a wrong count in the result, each with its place and a message.

        `perhaps` counts further keys that base may have.
        """
        for which, tally in self.keys.items():
            base, ours, theirs, made = _sums(tally)
            more = _sums(perhaps.keys.get(which, {}))[0]
            allowed = [bounds(base, ours, theirs), bounds(base + more, ours, theirs)]
            if not any(low <= made <= high for low, high in allowed):
                yield which, _place(tally), sites.miscounted(which[1], made, *allowed[0])

    def lost(self, perhaps: Tallies) -> Iterator[tuple[Meaning, Place]]:
        """Yield the values that only one side added and the result lacks, each with its place.

        A value in `perhaps` may come from base, so it is not counted as added.
        """
        for (name, value), tally in self.values.items():
            base, ours, theirs, made = _sums(tally)
            if base or made or (ours > 0) == (theirs > 0):
                continue
            if (name, value) not in perhaps.values:
                yield value, _place(tally)


def _sums(tally: Tally) -> Count:
    return [sum(count[side] for count in tally.values()) for side in range(4)]


def _place(tally: Tally) -> Place:
    """Return the place whose count is most likely wrong; prefer a place in the result."""
    wrong = []
    for place, (base, ours, theirs, made) in tally.items():
        low, high = bounds(base, ours, theirs)
        if not low <= made <= high:
            wrong.append(place)
    in_result = [place for place in wrong or tally if place[0] >= 0]
    return next((p for p in in_result if tally[p][RESULT]), in_result[0] if in_result else (-1, ()))


_MOST = 300  # in longer lists the order is not checked, to save time


def bounds(base: int, ours: int, theirs: int) -> tuple[int, int]:
    """Return the least and the greatest count that the result may have, from the input counts."""
    mine, yours = ours - base, theirs - base
    both = base + mine + yours
    if mine > 0 and yours > 0:
        return base + max(mine, yours), both
    if mine < 0 and yours < 0:
        return max(both, 0), base + min(mine, yours)
    return max(both, 0), max(both, 0)


def disordered(base: Keys, ours: Keys, theirs: Keys, result: Keys) -> tuple[Hashable, ...]:
    """Return two elements whose order in the result is wrong, or ().

    Only elements that occur exactly once in every version and in the result are compared.
    """
    once = {key for key, n in by_side([base, ours, theirs, result]).items() if n == [1, 1, 1, 1]}
    b, o, t, r = ([key for key in keys if key in once] for keys in (base, ours, theirs, result))
    if (t == b and r == o) or (o == b and r == t) or o == t == r or len(b) > _MOST:
        return ()
    places = [{key: n for n, key in enumerate(keys)} for keys in (o, t, r)]
    pairs = ((x, y) for n, x in enumerate(b) for y in b[n + 1 :])
    return next((pair for pair in pairs if _is_turned(*pair, places)), ())


def _is_turned(x: Hashable, y: Hashable, places: list[dict[Hashable, int]]) -> bool:
    """Return whether two elements have the wrong order in the result; base has `x` before `y`."""
    mine, yours, made = (place[x] < place[y] for place in places)
    return made != (mine and yours)


def replaced_twice(base: Keys, ours: Keys, theirs: Keys, result: Keys) -> tuple[Hashable, ...]:
    """Return two elements of the result that replace the same deleted elements, or ().

    Both sides deleted the same elements of a gap, each side added an element in this gap instead,
    and the result holds both added elements. An element that both sides added replaces one deleted
    element.
    """
    old, mine, yours, made = set(base), set(ours), set(theirs), set(result)
    known = old & mine & yours
    here, there = _gaps(ours, known), _gaps(theirs, known)
    for edge, gone in _gaps(base, known).items():
        new = [x for x in here.get(edge, ()) if x not in old]
        others = [x for x in there.get(edge, ()) if x not in old]
        if len({*gone} - mine - yours) > len({*new}.intersection(others)):
            twice = [[x for x in new if x not in yours], [x for x in others if x not in mine]]
            if all(made.intersection(found) for found in twice):
                return tuple(next(x for x in found if x in made) for found in twice)
    return ()


def _gaps(keys: Keys, known: set[Hashable]) -> dict[tuple[Hashable, Hashable], Keys]:
    """Return the elements in each gap between two elements in `known`."""
    gaps: dict[tuple[Hashable, Hashable], Keys] = {}
    run: Keys = []
    before: Hashable = None
    for key in (*keys, None):
        if key is None or key in known:
            gaps[before, key] = run
            before, run = key, []
        else:
            run.append(key)
    return gaps


def by_side(lists: Iterable[Iterable[K]]) -> dict[K, Count]:
    """Return how often each item occurs in base, ours, theirs and the result."""
    counts: dict[K, Count] = {}
    for side, things in enumerate(lists):
        for thing in things:
            counts.setdefault(thing, [0, 0, 0, 0])[side] += 1
    return counts


def unsettled(counts: dict[Hashable, Count]) -> dict[Hashable, Count]:
    """Return the counts that differ, without the elements that both sides replaced in the same way.

    If one side alone made all other changes, and the result has these changes, return nothing.
    """
    rest = {key: count for key, count in counts.items() if len(set(count)) > 1}
    gone = {key for key, count in rest.items() if count[0] and not any(count[1:])}
    new = {key for key, count in rest.items() if not count[0] and len(set(count[1:])) == 1}
    if sum(rest[key][0] for key in gone) == sum(rest[key][1] for key in new):
        rest = {key: count for key, count in rest.items() if key not in gone and key not in new}
    return {} if all(map(follows, rest.values())) else rest


def follows(four: Sequence[T], same: Callable[[T, T], bool] = eq) -> bool:
    """Return whether at most one side changed a value, and the result has that change."""
    base, ours, theirs, made = four
    return (same(base, theirs) and same(ours, made)) or (same(base, ours) and same(theirs, made))
