"""Compare two or three lists of hashable items, and find the common ends of texts.

`diff` finds the common parts of two lists. It matches the equal ends first, then the items that
occur once on both sides (patience diff), and finds Myers' shortest edit for the rest. A limit on
the search keeps the time near linear.

`diff3` combines the comparisons of base with ours and with theirs. For each region, it returns
which side changed something. `uncommon` narrows texts down to the lines between their common ends,
character by character.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    Block = tuple[int, int, int, int]
    Hunk = tuple[int, int, int, int]

# After this many edits, Myers' search takes its furthest path and starts again from that end.
_MOST_EDITS = 64
# The number of items that may be compared again after a new start. Beyond this number the rest
# counts as different: such lists are long, and the same few items repeat in them.
_MOST_WORK = 6_000_000
_MANY = 256  # how many items are compared at once at the ends of two lists


class Region:
    """Hold the bounds of a region in three lists: base[b0:b1], ours[o0:o1] and theirs[t0:t1].

    `kind` is 'same' (no side changed the region), 'ours' or 'theirs' (only that side changed it),
    'both' (both sides made the same change), or else the sides made different changes.
    """

    __slots__ = ("b0", "b1", "kind", "o0", "o1", "t0", "t1")

    def __init__(self, kind: str, b0: int, b1: int, o0: int, o1: int, t0: int, t1: int) -> None:
        self.kind = kind
        self.b0 = b0
        self.b1 = b1
        self.o0 = o0
        self.o1 = o1
        self.t0 = t0
        self.t1 = t1


def diff3(
    base: Sequence[Hashable],
    ours: Sequence[Hashable],
    theirs: Sequence[Hashable],
    *,
    adjacent_ok: bool = False,
) -> list[Region]:
    """Return the regions of a three-way merge in order; together they cover all three lists.

    Without `adjacent_ok`, two changes that touch are one conflict, as in git's line merge. With
    `adjacent_ok`, changes of neighbouring items are separate regions. But if both sides insert
    items at the same position, this is a conflict in both cases, because their order is unknown.
    """
    at = ThreeLists(base, ours, theirs)
    return regions_of(changes(base, ours), changes(base, theirs), at, adjacent_ok=adjacent_ok)


class ThreeLists:
    """Hold three lists, or the parts of three lists that are compared."""

    __slots__ = ("base", "behind", "ours", "start", "theirs")

    def __init__(
        self,
        base: Sequence[Hashable],
        ours: Sequence[Hashable],
        theirs: Sequence[Hashable],
        start: tuple[int, int, int] = (0, 0, 0),
        behind: tuple[int, int, int] | None = None,
    ) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.start = start
        self.behind = behind or (len(base), len(ours), len(theirs))


def regions_of(
    mine: list[Hunk], yours: list[Hunk], at: ThreeLists, *, adjacent_ok: bool
) -> list[Region]:
    """Return the regions for the hunks of both sides."""
    ours, theirs = at.ours, at.theirs
    regions: list[Region] = []
    b, o, t = at.start
    i = j = 0
    while i < len(mine) or j < len(yours):
        first_i, first_j = i, j
        i, j = _group(mine, yours, i, j, adjacent_ok)
        group = mine[first_i:i] + yours[first_j:j]
        b0, b1 = min(h[0] for h in group), max(h[1] for h in group)
        if b0 > b:
            regions.append(Region("same", b, b0, o, o + b0 - b, t, t + b0 - b))
            o, t, b = o + b0 - b, t + b0 - b, b0
        o1 = o + (b1 - b0) + _growth(mine, first_i, i)
        t1 = t + (b1 - b0) + _growth(yours, first_j, j)
        if first_j == j:
            kind = "ours"
        elif first_i == i:
            kind = "theirs"
        else:
            kind = "both" if list(ours[o:o1]) == list(theirs[t:t1]) else "clash"
        regions.append(Region(kind, b0, b1, o, o1, t, t1))
        b, o, t = b1, o1, t1
    if b < at.behind[0]:
        regions.append(Region("same", b, at.behind[0], o, at.behind[1], t, at.behind[2]))
    return regions


def refine(
    regions: list[Region],
    base: Sequence[Hashable],
    ours: Sequence[Hashable],
    theirs: Sequence[Hashable],
) -> list[Region]:
    """Return the regions; split off the items that both sides of a conflict begin or end with.

    If what remains of one side is what base has, only the other side changed something.
    """
    result: list[Region] = []
    for r in regions:
        if r.kind != "clash":
            result.append(r)
            continue
        most = min(r.o1 - r.o0, r.t1 - r.t0)
        head = 0
        while head < most and ours[r.o0 + head] == theirs[r.t0 + head]:
            head += 1
        tail = 0
        while tail < most - head and ours[r.o1 - 1 - tail] == theirs[r.t1 - 1 - tail]:
            tail += 1
        o0, o1, t0, t1 = r.o0 + head, r.o1 - tail, r.t0 + head, r.t1 - tail
        if head:
            result.append(Region("both", r.b0, r.b0, r.o0, o0, r.t0, t0))
        kind = "clash"
        if head or tail:
            kind = kind_of(base[r.b0 : r.b1], ours[o0:o1], theirs[t0:t1])
        result.append(Region(kind, r.b0, r.b1, o0, o1, t0, t1))
        if tail:
            result.append(Region("both", r.b1, r.b1, o1, r.o1, t1, r.t1))
    return result


def kind_of(base: Sequence[Hashable], ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> str:
    """Return the kind of a region."""
    if ours == theirs:
        return "same" if base == ours else "both"
    if base == theirs:
        return "ours"
    return "theirs" if base == ours else "clash"


def diff(a: Sequence[Hashable], b: Sequence[Hashable], most_work: int = _MOST_WORK) -> list[Block]:
    """Return the longest blocks `(i1, i2, j1, j2)` with a[i1:i2] == b[j1:j2], in order.

    Without `most_work`, what is between unique items counts as different, unless it is equal.
    """
    blocks: list[Block] = []
    todo = [(0, len(a), 0, len(b))]
    work = 0
    while todo:
        i0, i1, j0, j1 = _trim(a, b, todo.pop(), blocks)
        if i0 == i1 or j0 == j1 or set(a[i0:i1]).isdisjoint(b[j0:j1]):
            continue
        anchors = _anchors(a, b, i0, i1, j0, j1)
        if anchors:
            for i, j in anchors:
                todo.append((i0, i, j0, j))
                blocks.append((i, i + 1, j, j + 1))
                i0, j0 = i + 1, j + 1
        else:
            work += i1 - i0 + j1 - j0
            if work > most_work:
                continue
            i0, j0 = _myers(a, b, (i0, i1, j0, j1), blocks)
        todo.append((i0, i1, j0, j1))
    return _joined(blocks)


def kept_indexes(base: Sequence[Hashable], side: Sequence[Hashable]) -> dict[int, int]:
    """Map the index of each item of base that a side kept to its index on that side."""
    return {i + n: j + n for i, stop, j, _ in diff(base, side) for n in range(stop - i)}


def changes(
    base: Sequence[Hashable], side: Sequence[Hashable], most_work: int = _MOST_WORK
) -> list[Hunk]:
    """Return the parts between the blocks of `diff`."""
    hunks: list[Hunk] = []
    b = s = 0
    for b0, b1, s0, s1 in [
        *diff(base, side, most_work),
        (len(base), len(base), len(side), len(side)),
    ]:
        if b0 > b or s0 > s:
            hunks.append((b, b0, s, s0))
        b, s = b1, s1
    return hunks


def _group(
    mine: list[Hunk], yours: list[Hunk], i: int, j: int, adjacent_ok: bool
) -> tuple[int, int]:
    """Return where the next group of hunks that touch each other ends: one index for each side.

    Hunks of one side never touch each other. So it is enough to check whether the next hunk touches
    the last hunk of the other side.
    """
    at = [i, j]
    last: list[Hunk | None] = [None, None]
    while at[0] < len(mine) or at[1] < len(yours):
        is_mine = at[1] == len(yours) or (at[0] < len(mine) and mine[at[0]][:2] <= yours[at[1]][:2])
        side, hunks = (0, mine) if is_mine else (1, yours)
        hunk, other = hunks[at[side]], last[1 - side]
        if any(last) and not (other and _meet(other, hunk, adjacent_ok)):
            break
        last[side] = hunk
        at[side] += 1
    return at[0], at[1]


def _meet(first: Hunk, second: Hunk, adjacent_ok: bool) -> bool:
    if second[0] != first[1]:
        return second[0] < first[1]
    # The hunks touch. With `adjacent_ok` they only clash if both of them add items.
    return not adjacent_ok or (_grows(first) and _grows(second))


def _grows(hunk: Hunk) -> bool:
    return hunk[3] - hunk[2] > hunk[1] - hunk[0]


def _growth(hunks: list[Hunk], start: int, stop: int) -> int:
    return sum((h[3] - h[2]) - (h[1] - h[0]) for h in hunks[start:stop])


def _trim(
    a: Sequence[Hashable], b: Sequence[Hashable], window: Block, blocks: list[Block]
) -> Block:
    """Return the window without the equal items at both ends, and add these items to `blocks`."""
    i0, i1, j0, j1 = window
    start = i0
    while i0 <= i1 - _MANY and j0 <= j1 - _MANY and a[i0 : i0 + _MANY] == b[j0 : j0 + _MANY]:
        i0 += _MANY
        j0 += _MANY
    while i0 < i1 and j0 < j1 and a[i0] == b[j0]:
        i0 += 1
        j0 += 1
    if i0 > start:
        blocks.append((start, i0, j0 - (i0 - start), j0))
    stop = i1
    while i0 <= i1 - _MANY and j0 <= j1 - _MANY and a[i1 - _MANY : i1] == b[j1 - _MANY : j1]:
        i1 -= _MANY
        j1 -= _MANY
    while i0 < i1 and j0 < j1 and a[i1 - 1] == b[j1 - 1]:
        i1 -= 1
        j1 -= 1
    if i1 < stop:
        blocks.append((i1, stop, j1, j1 + stop - i1))
    return i0, i1, j0, j1


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], i0: int, i1: int, j0: int, j1: int
) -> list[tuple[int, int]]:
    """Pair the items that occur once in each window; return the longest list of pairs in order."""
    once = _once(a, i0, i1)
    once_there = _once(b, j0, j1)
    pairs = [(i, once_there[thing]) for thing, i in once.items() if once_there.get(thing, -1) >= 0]
    return longest_increasing([p for p in pairs if p[0] >= 0])


def _once(things: Sequence[Hashable], start: int, stop: int) -> dict[Hashable, int]:
    """Return the index of each item, or -1 if the item occurs more than once."""
    where: dict[Hashable, int] = {}
    for index in range(start, stop):
        thing = things[index]
        where[thing] = -1 if thing in where else index
    return where


def longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs in which the second members increase.

    The first members of `pairs` must increase already.
    """
    if all(pairs[n][1] < pairs[n + 1][1] for n in range(len(pairs) - 1)):
        return pairs
    from bisect import bisect_left

    tops: list[int] = []  # the smallest last member of a chain of each length
    owners: list[int] = []  # the index of the pair that ends this chain
    before: list[int] = []  # for each pair, the index of the previous pair in its chain
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        before.append(owners[length - 1] if length else -1)
        if length == len(tops):
            tops.append(j)
            owners.append(index)
        else:
            tops[length] = j
            owners[length] = index
    chain: list[tuple[int, int]] = []
    at = owners[-1] if owners else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    chain.reverse()
    return chain


def _myers(
    a: Sequence[Hashable], b: Sequence[Hashable], window: Block, blocks: list[Block]
) -> tuple[int, int]:
    """Add the matches of the shortest edit to `blocks`; return where the search ended.

    The search ends at the end of the window, or earlier if it reaches the bound.
    """
    i0, i1, j0, j1 = window
    n, m = i1 - i0, j1 - j0
    furthest: dict[int, int] = {1: 0}  # diagonal -> how far into `a`
    trace: list[dict[int, int]] = []
    end = 0
    for edits in range(_MOST_EDITS + 1):
        trace.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and a[i0 + x] == b[j0 + y]:
                x += 1
                y += 1
            furthest[k] = x
            if x >= n and y >= m:
                return _walk_back(trace, k, x, i0, j0, blocks)
        end = edits
    inside = [k for k in range(-end, end + 1, 2) if furthest[k] <= n and furthest[k] - k <= m]
    best = max(inside, key=lambda k: (2 * furthest[k] - k, -abs(k), k))
    return _walk_back(trace, best, furthest[best], i0, j0, blocks)


def _walk_back(
    trace: list[dict[int, int]], k: int, x: int, i0: int, j0: int, blocks: list[Block]
) -> tuple[int, int]:
    reached = (i0 + x, j0 + x - k)
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        start = furthest[before] if down else furthest[before] + 1
        if edits == 0:
            start = 0
        if x > start:
            blocks.append((i0 + start, i0 + x, j0 + start - k, j0 + x - k))
        k, x = before, furthest[before]
    return reached


def _joined(found: list[Block]) -> list[Block]:
    found.sort()
    blocks: list[Block] = []
    for block in found:
        if blocks and blocks[-1][1] == block[0] and blocks[-1][3] == block[2]:
            last = blocks.pop()
            block = (last[0], block[1], last[2], block[3])  # noqa: PLW2901
        blocks.append(block)
    return blocks


def head(a: str, b: str) -> int:
    """Return the length of the common beginning of two texts.

    The search halves the range, because comparing strings is fast and indexing them is slow.
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.startswith(b[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def tail(a: str, b: str, most: int) -> int:
    """Return the length of the common end of two texts, at most `most` characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if a.endswith(b[len(b) - middle : len(b) - low], 0, len(a) - low):
            low = middle
        else:
            high = middle - 1
    return low


def uncommon(base: str, *sides: str) -> tuple[int, int]:
    """Return how many characters all texts begin with, and how many all texts end with.

    Only whole lines count, and the two parts do not overlap.
    """
    heads = [head(base, side) for side in sides]
    start = base.rfind("\n", 0, min(heads)) + 1
    stop = min(
        tail(base, side, min(len(base), len(side)) - same)
        for side, same in zip(sides, heads, strict=True)
    )
    line_end = base.find("\n", len(base) - stop)
    return start, len(base) - line_end - 1 if line_end >= 0 else 0


def lines_between(text: str, start: int, behind: int) -> list[str]:
    """Return the lines of a text without its first `start` and its last `behind` characters."""
    inside = text[start : len(text) - behind]
    if not behind:
        return inside.split("\n")
    return inside[:-1].split("\n") if inside else []


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their line ends; the last line may have none."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]
