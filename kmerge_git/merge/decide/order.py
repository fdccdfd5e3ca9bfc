"""Order entries: follow the moves of both sides, and put our additions before theirs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection as Kept
    from collections.abc import Hashable, Iterable, Sequence
    from typing import TypeVar

    from kmerge_git.merge.decide.rules import Keys

    K = TypeVar("K", bound=Hashable)


MOST_ARRANGED = 400  # the merge looks at every pair


def weave(base: Keys, ours: Keys, theirs: Keys, kept: Kept[Hashable]) -> tuple[Keys, bool]:
    """Merge the order of the kept keys, and return whether both sides reordered them differently.

    The merge starts from our order unless only their side reordered the keys of the base. If only
    one side has a key, the key goes behind the key that it follows on that side. At the same place,
    our additions come first.
    """
    in_ours, in_theirs, in_base = set(ours), set(theirs), set(base)
    common = [k for k in base if k in in_ours and k in in_theirs]
    members = set(common)
    our_order = [k for k in ours if k in members]
    their_order = [k for k in theirs if k in members]
    we_moved, they_moved = our_order != common, their_order != common
    if they_moved and not we_moved:
        canvas = _with_gone(theirs, base, ours)
        result = inserted(canvas, set(canvas), ours, behind=set())
    else:
        canvas = _with_gone(ours, base, theirs)
        result = inserted(canvas, set(canvas), theirs, behind=in_ours - in_base - in_theirs)
    clash = we_moved and they_moved and our_order != their_order
    return [k for k in result if k in kept], clash


def weave_alike(base: Keys, ours: Keys, theirs: Keys, kept: Kept[Hashable]) -> tuple[Keys, bool]:
    """Do the same, but if both sides reordered the keys, start from the same order on both sides.

    This is the order that is nearer to the start of the base's order.
    """
    keys, clash = weave(base, ours, theirs, kept)
    if clash:
        places = {key: place for place, key in enumerate(base)}
        mine, yours = ([places[k] for k in side if k in places] for side in (ours, theirs))
        if yours < mine:
            keys, _ = weave(base, theirs, ours, kept)
    return keys, clash


def _with_gone(side: Keys, base: Keys, other: Keys) -> Keys:
    """Return a side's keys plus the keys that the side deleted, at their places in the base.

    The deleted keys are needed to place new keys that follow them on the other side. A key with
    which the side replaced a deleted key comes before the deleted key. If a side moved any key, the
    side's keys are returned unchanged.
    """
    there, old = set(side), set(base)
    if there.issuperset(old) or _has_moved(base, side) or _has_moved(base, other):
        return side
    gone: dict[Hashable, Keys] = {None: []}  # kept key -> the deleted keys behind it
    before = None
    for key in base:
        if key in there:
            before = key
            gone[key] = []
        else:
            gone[before].append(key)
    result: Keys = []
    waiting = gone[None]
    for key in side:
        if key in old:
            result += waiting
            waiting = gone[key]
        result.append(key)
    return result + waiting


def _has_moved(base: Keys, side: Keys) -> bool:
    there, old = set(side), set(base)
    return [key for key in side if key in old] != [key for key in base if key in there]


def inserted(
    canvas: Sequence[K], there: Kept[K], other: Sequence[K], *, behind: Kept[K]
) -> list[K]:
    """Add the keys that only `other` has to the canvas, each behind the key before it in `other`.

    `there` holds the keys of the canvas. If keys in `behind` follow at that place, the new keys go
    behind these, too.
    """
    if all(key in there for key in other):
        return list(canvas)
    first: Hashable = object()  # a sentinel in front of all keys
    follower: dict[Hashable, Hashable] = {}
    before = first
    for key in canvas:
        follower[before] = key
        before = key
    sibling: Hashable = None
    for key in other:
        if key not in there:
            before = first if sibling is None else sibling
            while before in follower and follower[before] in behind:
                before = follower[before]
            if before in follower:
                follower[key] = follower[before]
            follower[before] = key
        sibling = key
    result: list[K] = []
    at = follower.get(first, first)
    while at is not first:
        result.append(at)  # type: ignore[arg-type]  # all but the sentinel are keys
        at = follower.get(at, first)
    return result


def in_place(
    order: Keys, base: Keys, ours: Keys, theirs: Keys, only: Kept[Hashable] | None = None
) -> Keys:
    """Return a merged order with each addition where its side has it among the other keys.

    An addition stays where it is if there is no place behind all keys that are in front of it on
    its side, and before all others. An addition of both sides follows them where they agree. With
    `only`, all other additions stay where they are.
    """
    if not (_has_moved(base, ours) or _has_moved(base, theirs)):
        return order
    members, old = set(order), set(base)
    mine, yours = ([key for key in side if key in members] for side in (ours, theirs))
    new, others = set(mine) - old, set(yours) - old
    free = new | others if only is None else only
    line = [key for key in order if key not in new and key not in others]
    line = _placed(line, [k for k in order if k in new & others], (mine, yours), order, free)
    line = _placed(line, [k for k in mine if k in new - others], (mine,), order, free)
    theirs_alone = [k for k in yours if k in others - new]
    return _placed(line, theirs_alone, (yours,), order, free, new - others)


def _placed(
    line: Keys,
    keys: Keys,
    sides: Sequence[Keys],
    order: Keys,
    free: Kept[Hashable],
    behind: Kept[Hashable] = (),
) -> Keys:
    """Insert keys where all sides have them, or else where `order` has them.

    At the same place they go behind the keys in `behind`.
    """
    if not keys:
        return line
    places = {key: place for place, key in enumerate(line)}
    ranks = [{key: rank for rank, key in enumerate(side)} for side in sides]
    slots: list[Keys] = [[] for _ in range(len(line) + 1)]  # the new keys before each key of line
    least = 0
    for key in keys:
        ahead = reversed(order[: order.index(key)])
        place = next((places[k] + 1 for k in ahead if k in places and k not in behind), 0)
        first, last = _room(key, line, ranks)
        if key in free and first <= last:
            place = place if first <= place <= last else first
            least = place = max(place, least)
        else:
            last = len(line)
        while place < last and line[place] in behind:
            place += 1
        slots[place].append(key)
    return [key for slot, k in zip(slots, [*line, None], strict=True) for key in (*slot, k)][:-1]


def _room(key: Hashable, line: Keys, ranks: list[dict[Hashable, int]]) -> tuple[int, int]:
    """Return the first and the last place of a line where all sides that know a key have it."""
    first, last = 0, len(line)
    for place, other in enumerate(line):
        in_front = {rank[other] < rank[key] for rank in ranks if other in rank}
        if in_front == {True}:
            first = place + 1
        elif in_front == {False}:
            last = min(last, place)
    return first, last


def arranged(base: Keys, ours: Keys, theirs: Keys) -> Keys | None:
    """Return all keys in a merged order, or None if there is no such order.

    Every pair of keys follows the side that changed the order of the pair. Keys of all three
    versions are ordered first. Each other key goes behind the key before it on its own side, ours
    first. No version may have a key twice.
    """
    versions = ours, theirs, base
    mine, yours, old = ({key: n for n, key in enumerate(keys)} for keys in versions)
    stay = [key for key in base if key in mine and key in yours]
    if len(stay) > MOST_ARRANGED:
        return None

    def comes_first(a: Hashable, b: Hashable) -> bool:
        side = mine if (old[a] < old[b]) != (mine[a] < mine[b]) else yours
        return side[a] < side[b]

    # the number of keys in front of each key
    behind = {key: sum(comes_first(k, key) for k in stay if k != key) for key in stay}
    if len(set(behind.values())) < len(stay):
        return None
    line = sorted(stay, key=behind.__getitem__)
    added = {key for key in ours if key not in old}
    if not added.isdisjoint(yours):
        line = _with_shared(line, added, ours, theirs, old)
    line = inserted(line, set(line), ours, behind=set())
    return inserted(line, set(line), theirs, behind=added - set(theirs))


def _with_shared(
    line: Keys, added: set[Hashable], ours: Keys, theirs: Keys, old: dict[Hashable, int]
) -> Keys:
    """Insert the keys that both sides added where one of the sides has them.

    The choice between the sides does not depend on which side is ours.
    """
    side = min(ours, theirs, key=lambda keys: [old[key] for key in keys if key in old])
    there = set(line)
    shared = [key for key in side if key in there or (key in added and key in set(theirs))]
    return inserted(line, there, shared, behind=set())


def moved(base: Kept[Hashable], side: Kept[Hashable]) -> set[Hashable]:
    """Return the keys of the base that changed places with other keys on a side."""
    known, there = set(base), set(side)
    old, new = [key for key in base if key in there], [key for key in side if key in known]
    passed: set[Hashable] = set()
    ahead: set[Hashable] = set()  # keys seen in one order, and not yet in the other
    for one, other in zip(old, new, strict=True):
        if ahead or one != other:
            passed |= {one, other}
            ahead ^= {one} ^ {other}
    return passed


def may_stay(base: Keys, side: Keys, key: Hashable) -> bool:
    """Return whether a longest common order of the base and a side has a key that both have."""
    from kmerge_git.text.diff3 import diff  # few lists are moved and renamed at once

    def common(old: Keys, new: Keys) -> int:
        return sum(end - start for start, end, _, _ in diff(old, new))

    b, s = base.index(key), side.index(key)
    parts = common(base[:b], side[:s]) + 1 + common(base[b + 1 :], side[s + 1 :])
    return parts == common(base, side)


def as_sorted(keys: Keys, versions: Iterable[dict[Hashable, str]]) -> Keys:
    """Sort the keys if all versions have their texts sorted, so that a new key goes to its place.

    Both sides must have at least two keys, because a shorter version shows no order.
    """
    base, *sides = versions
    if any(len(side) < 2 for side in sides):
        return keys
    texts = {key: text for version in (base, *sides) for key, text in version.items()}
    for order in (str, str.casefold):
        if all([*v.values()] == sorted(v.values(), key=order) for v in (base, *sides)):
            return sorted(keys, key=lambda key: order(texts[key]))
    return keys


def insert_new(ours: Keys, theirs: Keys, *, at_end: bool, in_front: bool) -> Keys:
    """Return our keys plus the keys that only theirs has.

    With `at_end` the new keys go to the end; otherwise each goes behind its predecessor in theirs.
    With `in_front` a key without a predecessor goes to the front. Otherwise such a key goes before
    the nearest following key that ours has, or to the end.
    """
    known = set(ours)
    new = [key for key in theirs if key not in known]
    first = next((n for n, key in enumerate(theirs) if key in known), len(theirs))
    if at_end or (first == len(theirs) and not in_front):
        return ours + new
    ahead = theirs[:first]  # without a predecessor
    at = 0 if in_front else ours.index(theirs[first])
    canvas = [*ours[:at], *ahead, *ours[at:]]
    return inserted(canvas, set(canvas), theirs, behind=())
