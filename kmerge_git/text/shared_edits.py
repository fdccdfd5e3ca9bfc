"""Align three lists where both sides may have made the same edit next to items that repeat.

Two comparisons with base, each the best one for itself, may put one insertion at two places: next
to a `}`, a new `}` may be the first or the second one. A merge would then have it twice. Here all
three lists are aligned at once. What both sides inserted, deleted or replaced counts as one edit,
and the alignment with the fewest edits wins. Equal items are matched as early as possible, so that
what is inserted or deleted slides down to one place.
"""

from __future__ import annotations

from itertools import pairwise

from kmerge_git.text.diff3 import Region, ThreeLists, changes, kind_of, regions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from kmerge_git.text.diff3 import Hunk

    Items = Sequence[Hashable]
    Hunks = list[Hunk]
    State = tuple[int, int, int]  # how many items of base, ours and theirs are aligned

MOST_STATES = 20_000  # states of one search; beyond it, the two comparisons stand as they are
_MOST_TOGETHER = 240  # items of three lists that are searched as a whole, not in windows
_MOST_EDITS = 200  # edits between two lists that are counted
# What edits cost. A replacement is one edit, and costs a little more than an insertion, because two
# insertions explain more than a replacement that happens to give an item that is there already.
_ONE, _REPLACED = 10, 11


def diff3_once(
    base: Items, ours: Items, theirs: Items, *, adjacent_ok: bool = False
) -> list[Region]:
    """Return the regions as `diff3` does, with an edit that both sides made there once."""
    at = ThreeLists(base, ours, theirs)
    mine, yours = changes(base, ours), changes(base, theirs)
    if not (mine and yours and _may_share(mine, yours, at)):
        return regions_of(mine, yours, at, adjacent_ok=adjacent_ok)
    is_short = sum(at.behind) <= _MOST_TOGETHER
    regions: list[Region] = []
    for window, here, there in [(at, mine, yours)] if is_short else _windows(mine, yours, at):
        found: list[Region] = []
        if is_short or _may_share(here, there, at):
            found = _aligned(window, adjacent_ok=adjacent_ok)
        regions += found or regions_of(here, there, window, adjacent_ok=adjacent_ok)
    return regions


def distance(one: Items, other: Items) -> int | None:
    """Return the least number of items to delete and insert, or None if it is large (Myers)."""
    n, m = len(one), len(other)
    furthest = {1: 0}
    for edits in range(_MOST_EDITS + 1):
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < n and x - k < m and one[x] == other[x - k]:
                x += 1
            furthest[k] = x
            if x >= n and x - k >= m:
                return edits
    return None


def _may_share(mine: Hunks, yours: Hunks, at: ThreeLists) -> bool:
    """Return whether both sides may have made one edit that the two comparisons do not show."""
    base, ours, theirs = at.base, at.ours, at.theirs
    both = set(mine).intersection(yours)
    alike = {h for h in both if ours[h[2] : h[3]] == theirs[h[2] : h[3]]}
    here, there = ([h for h in hunks if h not in alike] for hunks in (mine, yours))
    added, added_there = _added(here, ours), _added(there, theirs)
    if not here or not there or not added.isdisjoint(added_there):
        return bool(here and there)
    changed = added | added_there | {x for h in (*here, *there) for x in base[h[0] : h[1]]}
    if all(_are_unique(changed, version) for version in (base, ours, theirs)):
        return False
    # Sides that share no edit differ by all edits of both.
    start, stop = _changed(base, ours, theirs)
    least = distance(ours[start : len(ours) - stop], theirs[start : len(theirs) - stop])
    return least is not None and least < _size(mine) + _size(yours)


def _added(hunks: Hunks, side: Items) -> set[Hashable]:
    return {item for _, _, start, stop in hunks for item in side[start:stop]}


def _are_unique(items: set[Hashable], version: Items) -> bool:
    there = [x for x in version if x in items]
    return len(there) == len(set(there))


def _changed(*versions: Items) -> tuple[int, int]:
    """Return how many items all versions begin with, and how many they end with."""
    most = min(map(len, versions))
    start = stop = 0
    while start < most and len({version[start] for version in versions}) == 1:
        start += 1
    while stop < most - start and len({version[-1 - stop] for version in versions}) == 1:
        stop += 1
    return start, stop


def _size(hunks: Hunks) -> int:
    return sum(b1 - b0 + s1 - s0 for b0, b1, s0, s1 in hunks)


def _windows(
    mine: Hunks, yours: Hunks, at: ThreeLists
) -> Iterator[tuple[ThreeLists, Hunks, Hunks]]:
    """Yield the parts between items that occur once in each list and that no side moved."""
    versions = at.base, at.ours, at.theirs
    once = set.intersection(*map(_once, versions))
    start = (0, 0, 0)
    i = j = 0
    for cut in [*(n for n, item in enumerate(at.base) if item in once), len(at.base)]:
        last_i, last_j = _behind(mine, i, cut), _behind(yours, j, cut)
        if any(
            last < len(hunks) and hunks[last][0] <= cut < hunks[last][1]
            for hunks, last in ((mine, last_i), (yours, last_j))
        ):
            continue
        o = cut + (mine[last_i - 1][3] - mine[last_i - 1][1] if last_i else 0)
        t = cut + (yours[last_j - 1][3] - yours[last_j - 1][1] if last_j else 0)
        window = ThreeLists(*versions, start, (cut, o, t))
        yield window, mine[i:last_i], yours[j:last_j]
        start, i, j = (cut, o, t), last_i, last_j


def _behind(hunks: Hunks, first: int, cut: int) -> int:
    """Return the index of the first hunk that does not end at or before an item of base."""
    while first < len(hunks) and hunks[first][1] <= cut:
        first += 1
    return first


def _once(items: Items) -> set[Hashable]:
    seen: set[Hashable] = set()
    again: set[Hashable] = set()
    for item in items:
        (again if item in seen else seen).add(item)
    return seen - again


def _aligned(at: ThreeLists, *, adjacent_ok: bool) -> list[Region]:
    """Return the regions of the best alignment, or nothing if the search is too long.

    The order of the sides makes no difference: the search begins with the side whose items come
    first by their places.
    """
    orders = _orders(at)
    if orders[0] <= orders[1]:
        states = _search(at)
    else:
        turned = [(place[0], place[2], place[1]) for place in (at.start, at.behind)]
        states = _search(ThreeLists(at.base, at.theirs, at.ours, *turned))
        states = [(i, j, k) for i, k, j in states]
    regions = _regions(states, at, adjacent_ok=adjacent_ok)
    if _is_long_way(states, at):
        changed = [n for n, region in enumerate(regions) if region.kind != "same"]
        first, last = changed[0], changed[-1] + 1
        regions[first:last] = [_joined(regions[first:last], at)]
    return regions


def _is_long_way(states: list[State], at: ThreeLists) -> bool:
    """Return whether a side alone would be compared with base in another, a shorter way.

    Then it is not certain which edits the sides have in common.
    """
    base, *sides = (
        version[n:m]
        for version, n, m in zip((at.base, at.ours, at.theirs), at.start, at.behind, strict=True)
    )
    least = [distance(base, side) for side in sides]
    made = 0
    for (b0, *s0), (b1, *s1) in pairwise(states):
        for side, n, m in zip((at.ours, at.theirs), s0, s1, strict=True):
            if at.base[b0:b1] != side[n:m]:
                made += b1 - b0 + m - n
    return None in least or made > sum(n for n in least if n is not None)


def _orders(at: ThreeLists) -> list[list[tuple[list[int], list[list[int]]]]]:
    """Return for each item of both sides where it is, whichever side is ours."""
    versions = (at.base, at.ours, at.theirs)
    parts = [v[n:m] for v, n, m in zip(versions, at.start, at.behind, strict=True)]
    places: list[dict[Hashable, list[int]]] = [{}, {}, {}]
    for found, part in zip(places, parts, strict=True):
        for n, item in enumerate(part):
            found.setdefault(item, []).append(n)
    base, ours, theirs = places
    return [
        [(base.get(x, []), sorted((ours.get(x, []), theirs.get(x, [])))) for x in part]
        for part in parts[1:]
    ]


def _search(at: ThreeLists) -> list[State]:
    """Return the states that the fewest edits lead through, or nothing if there are too many."""
    # no item is None
    base, ours, theirs = (
        [*version[:end], None]
        for version, end in zip((at.base, at.ours, at.theirs), at.behind, strict=True)
    )
    before: dict[State, State] = {}  # each state that was reached, and the state before it
    waiting: list[list[tuple[State, State]]] = [[] for _ in range(2 * _REPLACED + 1)]
    waiting[0].append((at.start, at.start))
    while len(before) <= MOST_STATES:
        for state, last in waiting[0]:
            if state in before:
                continue
            before[state] = last
            i, j, k = here = state
            while base[i] is not None and base[i] == ours[j] == theirs[k]:
                i, j, k = i + 1, j + 1, k + 1
                if (i, j, k) in before:
                    break
                before[i, j, k] = here
                here = i, j, k
            if here == at.behind:
                states = [here]
                while states[-1] != at.start:
                    states.append(before[states[-1]])
                return states[::-1]
            for cost, following in _edits(here, base[i], ours[j], theirs[k]):
                waiting[cost].append((following, here))
        waiting = [*waiting[1:], []]
    return []


def _edits(here: State, b: Hashable, o: Hashable, t: Hashable) -> Iterator[tuple[int, State]]:
    """Yield what may follow a state at these items, each with the cost of its edits."""
    i, j, k = here
    if o is not None and o == t:
        yield _ONE, (i, j + 1, k + 1)
    if b is not None:
        if b == t:
            yield _ONE, (i + 1, j, k + 1)
        if b == o:
            yield _ONE, (i + 1, j + 1, k)
        if o is not None and t is not None:
            yield _REPLACED * (1 if b in (o, t) or o == t else 2), (i + 1, j + 1, k + 1)
        yield _ONE, (i + 1, j, k)
    if o is not None:
        yield _ONE, (i, j + 1, k)
    if t is not None:
        yield _ONE, (i, j, k + 1)


def _regions(states: list[State], at: ThreeLists, *, adjacent_ok: bool) -> list[Region]:
    """Return the regions of an alignment; changes of both sides that touch are a conflict.

    With `adjacent_ok` they are a conflict only if both of them add items.
    """
    steps: list[Region] = []
    for (b0, o0, t0), (b1, o1, t1) in pairwise(states):
        kind = kind_of(at.base[b0:b1], at.ours[o0:o1], at.theirs[t0:t1])
        last = (
            steps.pop() if steps and steps[-1].kind == kind else Region(kind, b0, 0, o0, 0, t0, 0)
        )
        last.b1, last.o1, last.t1 = b1, o1, t1
        steps.append(last)
    regions: list[Region] = []
    first: int | None = None  # the index of the last change of one side before a common part
    for step in steps:
        if step.kind == "same":
            first = None
        elif step.kind != "both":
            if first is not None and _touch(regions[first], step, adjacent_ok=adjacent_ok):
                step = _joined([*regions[first:], step], at)  # noqa: PLW2901
                del regions[first:]
            first = len(regions)
        regions.append(step)
    return _with_common_ends(regions, at)


def _with_common_ends(regions: list[Region], at: ThreeLists) -> list[Region]:
    """Return the regions; a common edit belongs to a change directly next to it, if in doubt.

    Additions of both sides belong to a conflict. A deletion of both belongs to what one side
    replaced, if that has the same items: perhaps the other side deleted just these.
    """
    result: list[Region] = []
    for region in regions:
        last = result[-1] if result else region
        common, other = (last, region) if last.kind == "both" else (region, last)
        if common.kind == "both" and other.kind not in ("both", "same"):
            more = common.o1 - common.o0 - (common.b1 - common.b0)
            if more > 0 if other.kind == "clash" else more < 0 and _are_alike(common, other, at):
                region = _joined([result.pop(), region], at)  # noqa: PLW2901
        result.append(region)
    return result


def _are_alike(deleted: Region, other: Region, at: ThreeLists) -> bool:
    """Return whether one side replaced items like those that both sides deleted."""
    side = (other.o0, other.o1) if other.kind == "ours" else (other.t0, other.t1)
    replaced = set(at.base[other.b0 : other.b1])
    return side[0] < side[1] and not replaced.isdisjoint(at.base[deleted.b0 : deleted.b1])


def _joined(regions: list[Region], at: ThreeLists) -> Region:
    first, last = regions[0], regions[-1]
    base = at.base[first.b0 : last.b1]
    kind = kind_of(base, at.ours[first.o0 : last.o1], at.theirs[first.t0 : last.t1])
    return Region(kind, first.b0, last.b1, first.o0, last.o1, first.t0, last.t1)


def _touch(one: Region, other: Region, *, adjacent_ok: bool) -> bool:
    """Return whether two changes, with nothing between them that stays, are one conflict."""
    return not adjacent_ok or "clash" in (one.kind, other.kind) or (_grows(one) and _grows(other))


def _grows(region: Region) -> bool:
    side = (region.o0, region.o1) if region.kind == "ours" else (region.t0, region.t1)
    return side[1] - side[0] > region.b1 - region.b0
