"""Every pair of edits of one element of a collection, and what the merge has to come to.

An element is known by who it is, which no file says: its key is a field that an edit may change.
So the truth is a merge of three small models, element by element and field by field, and knows
nothing of likeness, of lines, or of YAML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")
Leaves = tuple[tuple[str, str], ...]
Elements = tuple["Element", ...]


@dataclass(frozen=True)
class Element:
    """`who` it is, what it is called now, and what it holds."""

    who: str
    key: str
    leaves: Leaves


def element(who: str, size: int = 5) -> Element:
    """One with some leaves of its own; the third, and the last of many, are the same in all."""
    alike = {2} if size < 5 else {2, size - 1}
    values = (f"of-{who}" if at not in alike else "of-all" for at in range(size))
    return Element(who, who, tuple((str(at), f"{at}-{value}") for at, value in enumerate(values)))


# -- edits: of the collection, at the element that is called `who`

Edit = Callable[[Elements, str], Elements]


def _at(change: Callable[[Element], Element | None]) -> Edit:
    """The edit that changes the element itself; nothing: it goes."""

    def edit(elements: Elements, who: str) -> Elements:
        changed = (change(each) if each.who == who else each for each in elements)
        return tuple(each for each in changed if each is not None)

    return edit


def _renamed(number: int) -> Edit:
    return _at(lambda each: replace(each, key=f"{each.who}-{number}"))


def _edited(number: int) -> Edit:
    return _at(lambda each: _with(each, "0", f"{each.who}-{number}"))


def _with(each: Element, field: str, value: str) -> Element:
    return replace(each, leaves=tuple((n, value if n == field else v) for n, v in each.leaves))


def _dropped(each: Element) -> Element:
    return replace(each, leaves=tuple(leaf for leaf in each.leaves if leaf[0] != "1"))


def _moved(elements: Elements, who: str) -> Elements:
    """To the other end."""
    one = tuple(each for each in elements if each.who == who)
    rest = tuple(each for each in elements if each.who != who)
    return one + rest if elements[-1:] == one else rest + one


def _added(elements: Elements, who: str) -> Elements:
    return (*elements, element("new"))


def _copied(elements: Elements, who: str) -> Elements:
    """A second one that is like the first."""
    name = f"copy-{who}"
    return (*elements, *(Element(name, name, e.leaves) for e in elements if e.who == who))


def _replaced(number: int) -> Edit:
    """By one that is not like it."""

    def edit(elements: Elements, who: str) -> Elements:
        new = f"for-{who}-{number}"
        return tuple(element(new) if each.who == who else each for each in elements)

    return edit


def _both(first: Edit, second: Edit) -> Edit:
    return lambda elements, who: second(first(elements, who), who)


EDITS: dict[str, Edit] = {
    "keep": _at(lambda each: each),
    "rename one": _renamed(1),
    "rename two": _renamed(2),
    "edit one": _edited(1),
    "edit two": _edited(2),
    "drop": _at(_dropped),
    "delete": _at(lambda each: None),
    "add": _added,
    "move": _moved,
    "move and edit": _both(_moved, _edited(1)),
    "rename and edit": _both(_renamed(1), _edited(1)),
    "rename and drop": _both(_renamed(1), _at(_dropped)),
}
MORE: dict[str, Edit] = {
    **EDITS,
    "copy": _copied,
    "replace one": _replaced(1),
    "replace two": _replaced(2),
    "rename and move": _both(_renamed(1), _moved),
    "rename to a name that others want": _at(lambda each: replace(each, key="wanted")),
    "add under a name that others want": lambda elements, who: (*elements, element("wanted")),
}


# -- the truth


@dataclass(frozen=True)
class Truth:
    """What the merge has to come to; `elements` is nothing where it must be a conflict."""

    elements: Counter[tuple[str, Leaves]] | None
    orders: tuple[tuple[str, str], ...] = ()  # keys, the first of which stands before the second
    may_clash: bool = False  # a conflict will do as well

    def judge(self, found: list[tuple[str, Leaves]] | None) -> str:
        """`right`, `needless` (a conflict that is none) or `wrong`; nothing found: a conflict."""
        if found is None:
            return "right" if self.elements is None or self.may_clash else "needless"
        if self.elements is None or Counter(found) != self.elements:
            return "wrong"
        places = {key: at for at, (key, _) in enumerate(found)}
        return "right" if all(places[x] < places[y] for x, y in self.orders) else "wrong"


CLASH = Truth(None)


class _Clash(Exception):
    """Two changes of one thing."""


def truth(base: Elements, ours: Elements, theirs: Elements, *, ordered: bool, gaps: bool) -> Truth:
    """The merge by identity.

    `ordered`: the order of the elements means something. `gaps`: members that both sides replaced
    by different ones are a conflict; else a conflict will do.
    """
    versions = (base, ours, theirs)
    try:
        merged = {
            who: each
            for who in dict.fromkeys(each.who for version in versions for each in version)
            for each in [_element(*(_find(version, who) for version in versions))]
            if each is not None
        }
    except _Clash:
        return CLASH
    pairs = list(_orders(*versions)) if ordered else []
    meeting = _meeting(*versions)
    replaced = meeting & _gone(*versions)
    one_key = len({each.key for each in merged.values()}) < len(merged)
    if one_key or _is_ring(pairs) or (replaced and gaps):
        return CLASH
    lost = [each.who for each in base if each.who not in merged]
    moved = any(_is_moved(base, side, who) for side in (ours, theirs) for who in lost)
    return Truth(
        Counter((each.key, each.leaves) for each in merged.values()),
        tuple((merged[x].key, merged[y].key) for x, y in pairs),
        may_clash=bool(replaced) or moved or (ordered and bool(meeting)),
    )


def _find(elements: Elements, who: str) -> Element | None:
    return next((each for each in elements if each.who == who), None)


def _element(base: Element | None, ours: Element | None, theirs: Element | None) -> Element | None:
    if ours is None or theirs is None or base is None:
        return _one_of(base, ours, theirs)
    old, mine, yours = (dict(each.leaves) for each in (base, ours, theirs))
    leaves = {
        field: _one_of(old.get(field), mine.get(field), yours.get(field))
        for field in sorted({*old, *mine, *yours})
    }
    return Element(
        base.who,
        str(_one_of(base.key, ours.key, theirs.key)),
        tuple((field, value) for field, value in leaves.items() if value is not None),
    )


def _one_of(base: T | None, ours: T | None, theirs: T | None) -> T | None:
    """The three comparisons."""
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    raise _Clash


def _orders(base: Elements, ours: Elements, theirs: Elements) -> Iterator[tuple[str, str]]:
    """Who stands before whom, of those whom all versions have."""
    old, mine, yours = ([each.who for each in version] for version in (base, ours, theirs))
    for x, y in combinations([who for who in old if who in mine and who in yours], 2):
        first, second = (side.index(x) < side.index(y) for side in (mine, yours))
        yield (x, y) if first and second else (y, x)


def _is_ring(pairs: list[tuple[str, str]]) -> bool:
    """Whether no order has all these pairs, which are all pairs of some elements."""
    followers = Counter(x for x, _ in pairs)
    members = {who for pair in pairs for who in pair}
    return len({followers[who] for who in members}) < len(members)


def _is_moved(base: Elements, side: Elements, who: str) -> bool:
    """Whether it stands before what it stood behind, or the other way round."""
    old, new = ([each.who for each in version] for version in (base, side))
    return who in new and any(
        (old.index(who) < old.index(other)) != (new.index(who) < new.index(other))
        for other in old
        if other in new
    )


def _meeting(base: Elements, ours: Elements, theirs: Elements) -> set[str]:
    """The gaps, by what stands before them, in which each side has a newcomer of its own."""
    old, mine, yours = ([each.who for each in version] for version in (base, ours, theirs))
    kept = [who for who in old if who in mine and who in yours]
    fresh = [
        {_before(kept, side, who) for who in side if who not in old and who not in other}
        for side, other in ((mine, yours), (yours, mine))
    ]
    return fresh[0] & fresh[1]


def _gone(base: Elements, ours: Elements, theirs: Elements) -> set[str]:
    """The gaps that lost a member on both sides."""
    old, mine, yours = ([each.who for each in version] for version in (base, ours, theirs))
    kept = [who for who in old if who in mine and who in yours]
    return {_before(kept, old, who) for who in old if who not in mine and who not in yours}


def _before(kept: list[str], elements: list[str], who: str) -> str:
    """The nearest of the kept ones before it."""
    return next((x for x in reversed(elements[: elements.index(who)]) if x in kept), "")
