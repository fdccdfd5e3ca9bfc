"""How often things stand in base, ours, theirs and the result, all over a file, without pairing."""

from __future__ import annotations

from kmerge_git.merge.verify import elements
from kmerge_git.merge.verify.sequences import bounds
from kmerge_git.merge.verify.sites import RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.verify.sequences import Count
    from kmerge_git.merge.verify.sites import Site
    from kmerge_git.tree.scalars import Meaning

    Place = tuple[int, Path]  # a document of the result, or -1; a collection in it
    Tally = dict[Place, Count]


class Tallies:
    """Counts of keys by the pattern of their path, and of values by the name of their field."""

    __slots__ = ("keys", "values")

    def __init__(self) -> None:
        self.keys: dict[tuple[str, Hashable], Tally] = {}
        self.values: dict[tuple[str, Meaning], Tally] = {}

    def count(self, site: Site, key: Hashable, count: Count, is_fresh: bool) -> None:
        """Note how often a key stands in a collection of each of the four."""
        if is_fresh:  # what both sides added is the base of what each of them added to it
            count = [min(count[1], count[2]), *count[1:]]
        tally = self.keys.setdefault((site.pattern, key), {})
        known = tally.setdefault((site.number, site.path), [0, 0, 0, 0])
        for side, number in enumerate(count):
            known[side] += number

    def one(self, site: Site, key: Hashable, side: int) -> None:
        """Note that a key stands once in one of the four."""
        self.count(site, key, [int(side == which) for which in range(4)], False)

    def forget_parts(self, site: Site) -> None:
        """Leave out the parts of keys that were counted at a place."""
        for pattern, key in [*self.keys]:
            if pattern == site.pattern and isinstance(key, tuple):
                del self.keys[pattern, key]

    def value(self, site: Site, around: Site, value: Meaning, side: int) -> None:
        """Note a value of one of the four."""
        name = site.pattern.rpartition(".")[2]
        tally = self.values.setdefault((name, value), {})
        tally.setdefault((around.number, around.path), [0, 0, 0, 0])[side] += 1

    def wrong(self, perhaps: Tallies) -> Iterator[tuple[tuple[str, Hashable], Place, str]]:
        """Keys that stand too often or not often enough, where, and how often.

        `perhaps` are some more that base may have.
        """
        for which, tally in self.keys.items():
            base, ours, theirs, made = _sums(tally)
            more = _sums(perhaps.keys.get(which, {}))[0]
            allowed = [bounds(base, ours, theirs), bounds(base + more, ours, theirs)]
            if not any(low <= made <= high for low, high in allowed):
                yield which, _place(tally), elements.miscounted(which[1], made, *allowed[0])

    def lost(self, perhaps: Tallies) -> Iterator[tuple[Meaning, Place]]:
        """Values that one side alone brought and the result seems not to have, and where.

        What base has besides, `perhaps`, nobody brought.
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
    """The place where a count is most likely to be wrong; if it can be, one in the result."""
    wrong = []
    for place, (base, ours, theirs, made) in tally.items():
        low, high = bounds(base, ours, theirs)
        if not low <= made <= high:
            wrong.append(place)
    found = [place for place in wrong or tally if place[0] >= 0]
    return next((p for p in found if tally[p][RESULT]), found[0] if found else (-1, ()))
