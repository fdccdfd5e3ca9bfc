"""Compute how often an element must be there that both sides add while they arrange the rest.

Two additions are one if they have a neighbour in common, before them or behind them. A neighbour is
the element that stands next to it in its side's text, or the next one that neither side moved or
took away; *moved* is what is not in a longest common order, and any such order will do. Where the
end of the list is all that they have in common, once and twice are both lawful, unless the same of
the elements that both sides keep stand before them (`sequences.counts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, permutations, product

from worlds.listings import Listing, Tokens
from worlds.moved_edits import BASE, Answers, Pair, orders
from worlds.sequences import lawful

NEW = "n"
WORDS: list[Tokens] = [word for size in range(4) for word in permutations(BASE, size)]


def with_new(word: Tokens, times: int = 1) -> list[Tokens]:
    """Put as many new ones into the list, at every place."""
    found = []
    for places in combinations_with_replacement(range(len(word) + 1), times):
        made = list(word)
        for place in reversed(places):
            made.insert(place, NEW)
        found.append(tuple(made))
    return list(dict.fromkeys(found))


def world() -> list[Pair]:
    """Arrange every part of the base with a new element, on both sides."""
    sides = [side for word in WORDS for side in with_new(word)]
    return list(product(sides, repeat=2))


def twice_world() -> list[Pair]:
    """Let one side add two that are equal, and the other one or two."""
    words = [tuple(word) for word in ("abc", "acb", "bac", "ab", "ac", "bc", "b")]
    twos = [side for word in words for side in with_new(word, 2)]
    ones = [side for word in WORDS for side in with_new(word)]
    return [*product(twos, ones), *product(twos, repeat=2)]


# -- how often


def _neighbours(base: Tokens, side: Tokens, at: int, kept: set[str]) -> tuple[set[str], set[str]]:
    """Find the next before and behind it, in the text, and of what both sides kept."""
    found = []
    for run in (side[:at][::-1], side[at + 1 :]):
        here = {x for x in run[:1] if x in base}
        far = {x for x in run if x in kept}
        found.append(here | ({next(x for x in run if x in kept)} if far else set()))
    return found[0], found[1]


def _kept(base: Tokens, ours: Tokens, theirs: Tokens) -> Iterator[set[str]]:
    """Yield what neither side moved or took away, for each choice of longest common orders."""
    for mine, yours in product(orders(base, ours), orders(base, theirs)):
        places = {i for i, _ in mine} & {i for i, _ in yours}
        yield {base[i] for i in places}


@lru_cache(None)
def partners(base: Tokens, ours: Tokens, theirs: Tokens) -> tuple[frozenset, frozenset]:
    """Find the pairs of additions that are one, and those that may be one."""
    sure, perhaps = set(), set()
    mine = [i for i, x in enumerate(ours) if x == NEW]
    yours = [j for j, x in enumerate(theirs) if x == NEW]
    for kept in _kept(base, ours, theirs):
        for i, j in product(mine, yours):
            here = _neighbours(base, ours, i, kept)
            there = _neighbours(base, theirs, j, kept)
            if any(one & other for one, other in zip(here, there, strict=True)):
                sure.add((i, j))
            same = [{x for x in side[:at] if x in kept} for side, at in ((ours, i), (theirs, j))]
            if same[0] == same[1]:
                perhaps.add((i, j))
    both = {x for x in base if x in ours and x in theirs}
    for i, j in product(mine, yours):
        alone = len(mine) == len(yours) == 1
        runs = [_run(side, at) for side, at in ((ours, i), (theirs, j))]
        same = [{x for x in side[:at] if x in both} for side, at in ((ours, i), (theirs, j))]
        if same[0] == same[1] and runs[0] == runs[1]:
            (sure if alone else perhaps).add((i, j))
        # beside an addition that is itself one of both sides
        if runs[0] > 1 or runs[1] > 1:
            perhaps.add((i, j))
    return frozenset(sure), frozenset(sure | perhaps)


def _run(side: Tokens, at: int) -> int:
    """Count the new ones without a break around one."""
    start = stop = at
    while start and side[start - 1] == NEW:
        start -= 1
    while stop < len(side) and side[stop] == NEW:
        stop += 1
    return stop - start


def _most(pairs: frozenset) -> int:
    """Count the pairs if each place has at most one partner."""
    if not pairs:
        return 0
    first = min(i for i, _ in pairs)
    rest = frozenset(pair for pair in pairs if pair[0] != first)
    choices = [frozenset(p for p in rest if p[1] != j) for i, j in pairs if i == first]
    return max(_most(rest), *(1 + _most(choice) for choice in choices))


def _undecided(pairs: frozenset, ours: Tokens, theirs: Tokens) -> bool:
    """Say if an addition has partners in two gaps of the other side's text."""
    for at, side, other in ((0, ours, theirs), (1, theirs, ours)):
        for place in range(len(side)):
            partners_of_it = {pair[1 - at] for pair in pairs if pair[at] == place}
            gaps = {tuple(x for x in other[:j] if x != NEW) for j in partners_of_it}
            if len(gaps) > 1:
                return True
    return False


def answers(listing: Listing, ours: Tokens, theirs: Tokens) -> Answers:
    """Compute what a merge may come to."""
    return _answers(ours, theirs, listing.keyed, listing.ordered)


@lru_cache(None)
def _answers(ours: Tokens, theirs: Tokens, keyed: bool, ordered: bool) -> Answers:
    if keyed:
        times, undecided = {1}, False
    else:
        sure, perhaps = partners(BASE, ours, theirs)
        most = ours.count(NEW) + theirs.count(NEW)
        if ours == theirs:
            return Answers(frozenset([ours]), frozenset([ours]))
        times = {most - _most(sure), most - _most(perhaps)}
        undecided = _undecided(perhaps, ours, theirs)
        if _undecided(sure, ours, theirs):
            return Answers(frozenset(), frozenset(), may_conflict=True)
    there = [x for x in BASE if x in ours and x in theirs]
    words = {word for n in times for word in permutations([*there, *[NEW] * n])}
    plain = [tuple(x for x in side if x != NEW) for side in (ours, theirs)]
    found = {
        word
        for word in words
        if lawful(*plain, tuple(x for x in word if x != NEW), keyed=keyed, ordered=True)
    }
    if not found and not ordered:
        found = words
    return Answers(frozenset(found), frozenset(found), undecided and bool(found))
