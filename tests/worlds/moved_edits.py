"""Compute what a merge may come to if one side arranges a list anew and the other edits an element.

The truth is computed from the tokens of the sides (see `listings`): the world knows which element
an edit was made of. Where nobody could know it from the two texts (the edited element shares too
little with the old one, or a second one is as much like it), the answer is a conflict or, where the
other side did not touch the element, both readings are lawful.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations, product

from worlds.listings import Listing, Token, Tokens, Value, done, who

NAMING = ("id", "name", "key", "alert", "record", "channel", "host", "src", "path")
Orders = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Answers:
    """Hold the lists that a merge may come to, and whether a conflict is an answer too.

    `edits` are the results with every edit where it belongs, also where the texts do not show it.
    """

    lawful: frozenset[Tokens]
    edits: frozenset[Tokens]
    may_conflict: bool = False


# -- longest common orders


@lru_cache(None)
def orders(base: Tokens, side: Tokens) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Find all longest common orders of two lists, as pairs of places."""
    best: list[tuple[tuple[int, int], ...]] = [()]
    for size in range(min(len(base), len(side)), 0, -1):
        best = [
            tuple(zip(old, new, strict=True))
            for old in combinations(range(len(base)), size)
            for new in combinations(range(len(side)), size)
            if all(base[i] == side[j] for i, j in zip(old, new, strict=True))
        ]
        if best:
            return tuple(best)
    return ((),)


def moved(base: Tokens, side: Tokens, token: Token) -> set[bool]:
    """Say if a side moved an element that it has: one answer, or two if the orders differ."""
    at = base.index(token)
    return {all(i != at for i, _ in order) for order in orders(base, side)}


def _gap(order: Sequence[tuple[int, int]], side: int, place: int) -> int:
    return sum(pair[side] < place for pair in order)


# -- alike


def leaves(value: Value, path: tuple = (), *, places: bool = False) -> list[tuple]:
    """List the scalars of a value with their paths; a place in a list counts if asked for."""
    if isinstance(value, dict):
        found = [leaves(v, (*path, k), places=places) for k, v in value.items()]
    elif isinstance(value, list):
        found = [
            leaves(v, (*path, i if places else None), places=places) for i, v in enumerate(value)
        ]
    else:
        return [(path, value)]
    return [leaf for child in found for leaf in child]


def option(text: str) -> str:
    """Return the name of an option, or nothing."""
    if not (text.startswith("-") or "=" in text):
        return ""
    if "=" in text:
        return text[: text.index("=")]
    for at, letter in enumerate(text):
        if letter == ":" and text[at + 1 : at + 2] != "/" and not text[at + 1 : at + 2].isdigit():
            return text[:at]
    return text.rpartition(" ")[0]


def _common(one: list[tuple], other: list[tuple]) -> int:
    rest = list(other)
    return sum(1 for leaf in one if leaf in rest and not rest.remove(leaf))


@lru_cache(None)
def alike(listing: Listing, one: Token, other: Token) -> bool | None:
    """Say if two elements are alike; None if it depends on how leaves are counted."""
    x, y = listing.value(one), listing.value(other)
    if listing.size > 1:
        return x[0] == y[0]
    if isinstance(x, str) and isinstance(y, str):
        return bool(option(x)) and option(x) == option(y)
    named = [name for name in NAMING if isinstance(x, dict) and name in x]
    if isinstance(y, dict) and any(x[name] == y.get(name) for name in named):
        return True
    shares = []
    for places in (False, True):
        mine, yours = leaves(x, places=places), leaves(y, places=places)
        common = _common(mine, yours)
        shares += [common / max(len(mine), len(yours)), common / min(len(mine), len(yours))]
    return True if min(shares) >= 0.5 else False if max(shares) < 0.5 else None


def _own_leaf(listing: Listing, old: Token, new: Token, others: set[Token]) -> bool:
    """Say if both have a leaf that no other element has."""
    if isinstance(listing.value(old), str):
        return False
    taken = [leaf for other in others for leaf in leaves(listing.value(other))]
    mine, yours = leaves(listing.value(old)), leaves(listing.value(new))
    return any(leaf in yours and leaf not in taken for leaf in mine)


# -- who is who on a side


def ties(listing: Listing, base: Tokens, side: Tokens) -> dict[str, str]:
    """Say if the texts show which element was edited: `sure`, `unsure`, `open` or `loose`."""
    return {
        who(token): _tie(listing, base, side, who(token), token)
        for token in side
        if done(token) and who(token) in base
    }


@lru_cache(None)
def _tie(listing: Listing, base: Tokens, side: Tokens, old: Token, new: Token) -> str:
    if listing.keyed:
        return "sure"  # by its key, or by all leaves but the key
    if listing.value(old) == listing.value(new):
        return "sure"  # the comment alone differs
    gone = [x for x in base if x not in side and x != old and not _only_comment(listing, x, side)]
    come = [x for x in side if x not in base and x != new and not _only_comment(listing, x, base)]
    near = [
        order
        for order in orders(base, side)
        if _gap(order, 0, base.index(old)) == _gap(order, 1, side.index(new))
    ]
    is_alike = alike(listing, old, new)
    if not near:
        rivals = [
            alike(listing, one, other)
            for one, others in ((new, gone), (old, gone), (old, come), (new, come))
            for other in others
        ]
        if is_alike is False:
            return "loose"
        if is_alike is None or (not any(rivals) and None in rivals):
            return "open"
        return "unsure" if any(rivals) else "sure"
    found = {_near(listing, base, side, old, new, gone, come, order) for order in near}
    return found.pop() if len(found) == 1 else "open"


def _only_comment(listing: Listing, token: Token, others: Tokens) -> bool:
    return any(who(x) == who(token) and listing.value(x) == listing.value(token) for x in others)


def _near(
    listing: Listing,
    base: Tokens,
    side: Tokens,
    old: Token,
    new: Token,
    gone: list[Token],
    come: list[Token],
    order: tuple[tuple[int, int], ...],
) -> str:
    """Say the same of an element in its old gap, by one longest common order."""
    gap = _gap(order, 0, base.index(old))
    gone = [x for x in gone if _gap(order, 0, base.index(x)) == gap]
    come = [x for x in come if _gap(order, 1, side.index(x)) == gap]
    is_alike = alike(listing, old, new)
    second = [alike(listing, old, x) for x in come]
    other = [alike(listing, x, new) for x in gone]
    if is_alike:
        if True in second:
            return "unsure"
        return "open" if None in second or other != [False] * len(other) else "sure"
    if is_alike is None:
        return "open"
    others = {x for x in (*base, *side) if x not in (old, new)}
    if True in second:
        return "open"  # the texts say that the other one is it
    return "unsure" if _own_leaf(listing, old, new, others) else "loose"


# -- the laws


def answers(listing: Listing, base: Tokens, ours: Tokens, theirs: Tokens) -> Answers:
    """Compute what a merge may come to."""
    sides = ours, theirs
    known = [ties(listing, base, side) for side in sides]
    everything = frozenset(_results(listing, base, ours, theirs, (frozenset(), frozenset()))[0])
    may_conflict = any("open" in tie.values() for tie in known) or listing.size > 1
    for tie, other in ((known[0], theirs), (known[1], ours)):
        for x, kind in tie.items():
            if kind == "unsure" and x in other and moved(base, other, x) == {True}:
                return Answers(frozenset(), everything, may_conflict=True)
            if kind == "unsure" and x in other and True in moved(base, other, x):
                may_conflict = True
            if kind != "sure" and x not in other:
                may_conflict = True
    lawful: set[Tokens] = set()
    readings = [
        {"sure": [True], "loose": [False]}.get(kind, [True, False])
        for tie in known
        for kind in tie.values()
    ]
    names = [(at, x) for at, tie in enumerate(known) for x in tie]
    for reading in product(*readings):
        loose = tuple(
            frozenset(
                x
                for (side, x), paired in zip(names, reading, strict=True)
                if side == at and not paired
            )
            for at in range(2)
        )
        found, doubt = _results(listing, base, ours, theirs, loose)
        lawful |= found
        may_conflict |= doubt or not found
    return Answers(frozenset(lawful), everything, may_conflict and bool(lawful))


def _results(
    listing: Listing, base: Tokens, ours: Tokens, theirs: Tokens, loose: tuple
) -> tuple[set[Tokens], bool]:
    """Find the lists that obey count, leaf and order, and if a conflict would do as well.

    An edited element that is `loose` on a side counts as gone there, and as a new one.
    """
    names = [
        {(t if who(t) in apart and done(t) else who(t)): t for t in side}
        for side, apart in zip((ours, theirs), loose, strict=True)
    ]
    mine, yours = names
    wanted: list[Token] = []
    doubt = False
    for x in dict.fromkeys([*base, *mine, *yours]):
        token: Token | None
        if x not in base:
            token = mine.get(x) or yours.get(x)
            doubt |= bool(set(mine) - set(base)) and bool(set(yours) - set(base))
        else:
            here, there = mine.get(x), yours.get(x)
            if here == there or there == x:
                token = here
            elif here == x:
                token = there
            elif here is None or there is None:
                return set(), True  # changed and deleted
            else:
                token, mirrored = _both(x, here, there), _both(x, there, here)
                if listing.shown(token) != listing.shown(mirrored):
                    return set(), True  # changed in two ways
                doubt = True
        if token is not None:
            wanted.append(token)
    known = {token: who(token) if token not in (*mine, *yours) else token for token in wanted}
    before = list(_before(base, list(mine), list(yours)))
    results = set()
    for result in permutations(wanted):
        place = {known[token]: at for at, token in enumerate(result)}
        if all(place[x] < place[y] for x, y in before if x in place and y in place):
            results.add(result)
    if not results and not listing.ordered:
        return set(permutations(wanted)), doubt
    return results, doubt


def _both(x: str, one: Token, other: Token) -> Token:
    """Return the element with the edits of both sides."""
    return x + ":" + "+".join(dict.fromkeys([*done(one), *done(other)]))


def _before(base: Tokens, ours: list[str], theirs: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of which the first stands before the second, of what all versions have."""
    for x, y in combinations([x for x in base if x in ours and x in theirs], 2):
        mine = ours.index(x) < ours.index(y)
        yours = theirs.index(x) < theirs.index(y)
        yield (x, y) if mine and yours else (y, x)


# -- the world

BASE: Tokens = ("a", "b", "c")
Pair = tuple[Tokens, Tokens]


def arranged_and_edited(
    listing: Listing, base: Tokens = BASE, *, alone: bool = False
) -> list[Pair]:
    """Let one side arrange, and the other edit an element and move, delete or add one as well."""
    arranged = [word for word in permutations(base) if word != base]
    edited: list[Tokens] = []
    for x in base:
        for edit in listing.edits:
            new = tuple(f"{x}:{edit}" if y == x else y for y in base)
            edited.append(new)
            if alone:
                continue
            edited += [word for word in permutations(new) if word != new]
            edited += [tuple(z for z in new if z != y) for y in base if y != x]
            edited += [(*new[:at], "n", *new[at:]) for at in range(len(new) + 1)]
    return list(product(arranged, edited))


def both_at_once(listing: Listing) -> list[Pair]:
    """Let both sides arrange, delete, and edit at most one element each, in two ways."""
    edits = list(listing.edits)
    words = [word for size in range(4) for word in permutations(BASE, size)]

    def sides(edit: str) -> list[Tokens]:
        found = list(words)
        for word in words:
            found += [tuple(f"{y}:{edit}" if y == x else y for y in word) for x in word]
        return found

    return list(product(sides(edits[0]), sides(edits[-1])))


def verdict(listing: Listing, answer: Answers, data: bytes | None) -> str:
    """Judge a clean result, or a conflict, which has no text.

    `bold` is a result that has the edits where they belong, although the texts do not show them.
    """
    if data is None:
        return "needless" if answer.lawful and not answer.may_conflict else "conflict"
    words = listing.read(data)
    if words in {tuple(map(listing.shown, tokens)) for tokens in answer.lawful}:
        return "right"
    if words in {tuple(map(listing.shown, tokens)) for tokens in answer.edits}:
        return "bold"
    return "wrong"
