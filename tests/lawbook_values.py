"""The laws of what a manifest says: documents, elements of lists, and values.

- *documents*: a resource that one side added or removed follows that side, in number;
- *count* and *order*: the two laws of `worlds.sequences`, for lists of scalars; order also for
  the keyed lists in which it means something;
- *leaf*: what one side alone changed has that side's value, and what both changed differently is
  no clean result, but for the later one of two timestamps that a program writes (`lawful_times`);
- *gone*: what one side deleted and the other left alone is gone;
- *gap*: a member of a set or a keyed list that both sides replaced by different ones is no clean
  result.

Resources, map entries and elements are the same in all versions if they are called the same; what
may have been renamed is not looked into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import lawful_times
from common_lines import common
from manifest_values import GONE, Folded, documents, said, same, show, text_of
from worlds.sequences import counts, orders
from yaml_places import Node, Unreadable

from kmerge_git.kube.listkeys import Where, start
from kmerge_git.tree.documents import whole_document

KEYS = ("mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort")
NAMES = (*KEYS, "port")  # the fields that may be the key of an element
LAWS = ("documents", "count", "order", "leaf", "gone", "gap")


@dataclass(frozen=True)
class Breach:
    """A law that does not hold, the place where, and what is wrong there."""

    law: str
    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.law}: {self.place}{': ' * bool(self.place)}{self.what}"


def bounds(old: int, mine: int, yours: int) -> tuple[int, int]:
    """How often a thing may be there, at least and at most, by how often each version has it."""
    allowed = counts("x" * old, "x" * mine, "x" * yours, "x")
    return allowed[0], allowed[-1]


def bounds_of_equal(
    there: set[int], kept: list[set[int]], mine: int, yours: int
) -> tuple[int, int]:
    """The same where it is known which of them, at these places of the base, each side kept.

    To take one away and add one elsewhere is not to leave both alone, though the number is the same.
    """
    low, high = bounds(len(there), mine, yours)
    left = len(there & kept[0] & kept[1])
    new = [mine - len(there & kept[0]), yours - len(there & kept[1])]
    return min(low, left + max(new)), max(high, left + sum(new))


class Five:
    """One place in the three versions and in the two ways to read the result."""

    def __init__(self, *values: object) -> None:
        self.all = values  # base, ours, theirs, and the result decided for ours and for theirs

    @property
    def is_settled(self) -> bool:
        """Whether it says the same however the conflicts are decided."""
        return same(self.all[3], self.all[4])

    @property
    def changed(self) -> tuple[bool, bool]:
        """Whether ours, and whether theirs, has something else than the base."""
        return not same(self.all[0], self.all[1]), not same(self.all[0], self.all[2])

    def at(self, key: object) -> Five:
        """A place below, in maps."""
        return Five(*(each.get(key, GONE) for each in self.all if isinstance(each, dict)))


def breaches(versions: list[str], result: str, other: str, path: str) -> Iterator[Breach]:
    """All that is against a law; nothing where a version is no sound manifest.

    `result` and `other` are the result, decided for ours and for theirs.
    """
    try:
        inputs = [documents(text) for text in versions]
    except Unreadable:
        return
    try:
        results = [documents(text) for text in (result, other)]
    except Unreadable as error:
        yield Breach("leaf", "", f"the result is no manifest: {error}")
        return
    found = [Counter(name for name, _ in file) for file in (*inputs, *results)]
    yield from _numbers(found)
    names = {name for number in found for name in number}
    once = {name for name in names if all(number[name] < 2 for number in found)}
    maps = [
        {name: said(root) for name, root in file if name in once} for file in (*inputs, *results)
    ]
    places = {name: _top(root, path) for file in inputs for name, root in file}
    renames = [found[0] - side and side - found[0] for side in found[1:3]]
    times = {*_later_times(Five(*maps), path)}
    for breach in _map(Five(*maps), "", places, [*map(bool, renames)]):
        if breach.place not in times:
            yield breach


def _later_times(files: Five, path: str) -> Iterator[str]:
    """The places at which the result has the later one of two times, as it should."""
    for name in {name for file in files.all for name in file}:
        document = files.at(name)
        for steps in (("metadata", "annotations", "createdAt"), ("generated",)):
            if all(lawful_times.is_place(path, steps, each) for each in document.all[1:3]):
                at, place = document, str(name)
                for step in steps:
                    if not all(isinstance(each, dict) for each in at.all[1:]):
                        break
                    base = at.all[0] if isinstance(at.all[0], dict) else {}
                    at, place = Five(base, *at.all[1:]).at(step), _step(place, step)
                base, ours, theirs = (None if each is GONE else each for each in at.all[:3])
                if at.is_settled and at.all[3] == lawful_times.later(base, ours, theirs):
                    yield place


def _top(root: Node, path: str) -> Where:
    """What the tables know of a resource: it is told by two fields."""
    return _top_of(text_of(root, "apiVersion"), text_of(root, "kind"), path)


@cache
def _top_of(version: str, kind: str, path: str) -> Where:
    return start(whole_document(f"apiVersion: {version!r}\nkind: {kind!r}\n").root, path)


def _numbers(found: list[Counter[str]]) -> Iterator[Breach]:
    """How often each name is there. One that both sides changed may be one that no version has."""
    base, ours, theirs, result, other = found
    melted = sum(((base - ours) & (base - theirs)).values())
    for name in base | ours | theirs:
        low, high = bounds(base[name], ours[name], theirs[name])
        if not name:
            high = max(high, ours[name] + theirs[name] - base[name])
        if high > base[name]:
            low -= melted
        if result[name] == other[name] and not low <= result[name] <= high:
            yield Breach("documents", name, f"{result[name]} times, not {low}..{high}")


def _map(
    at: Five, place: str, places: dict[object, Where], renames: list[bool] | None = None
) -> Iterator[Breach]:
    """The entries of maps, or of what has keys as they have.

    `renames`: whether ours, and whether theirs, may call one of them otherwise.
    """
    base, ours, theirs, result, other = at.all
    known = {**base, **ours, **theirs}
    if renames is None:
        renames = [bool(base.keys() - side and side.keys() - base) for side in (ours, theirs)]
    for key in known:
        if not _may_be_renamed(key, at, renames):
            yield from _value(at.at(key), _step(place, key), places[key])
    if not all(renames):
        for key in [key for key in result if key in other and key not in known]:
            yield Breach("gone", _step(place, key), "is in no version")


def _may_be_renamed(key: object, at: Five, renames: list[bool]) -> bool:
    """Whether an entry may be one that a side calls otherwise, and that the other changed too."""
    base, ours, theirs = at.all[:3]
    for side, other, may_rename in ((ours, theirs, renames[0]), (theirs, ours, renames[1])):
        lost = base.keys() - side
        touched = any(not same(base[each], other.get(each, GONE)) for each in lost)
        if may_rename and touched and (key in lost or key not in base):
            return True
        fresh = other.keys() - base - {key}
        if isinstance(key, tuple) and any({*key} & {*new} for new in fresh):
            return True  # which of the fields is the key, nobody said
    return False


def _step(place: str, key: object) -> str:
    if isinstance(key, tuple):
        return f"{place}[{', '.join(key)}]"
    return f"{place}.{key}" if place else f"{key}"


def _value(at: Five, place: str, where: Where) -> Iterator[Breach]:
    """A value: the three comparisons, and what is inside."""
    ours, theirs, result = at.all[1:4]
    mine, yours = at.changed
    if not mine or not yours or same(ours, theirs):
        wanted = ours if mine else theirs
        if at.is_settled and not same(result, wanted):
            law = "gone" if wanted is GONE else "leaf"
            yield Breach(law, place, f"{show(result)} where {show(wanted)} is due")
        elif not at.is_settled:
            yield from _inside(at, place, where)
        return
    if _is_all(dict, ours, theirs) or _is_all(list, ours, theirs):
        yield from _inside(at, place, where)
    elif at.is_settled and not _has_lines(ours, theirs):
        yield Breach("leaf", place, f"both changed it, and {show(result)} is no conflict")


def _is_all(kind: type, *values: object) -> bool:
    return all(isinstance(value, kind) for value in values)


def _has_lines(ours: object, theirs: object) -> bool:
    """Whether two texts are merged line by line."""
    if not isinstance(ours, str) or not isinstance(theirs, str):
        return False
    return "\n" in ours + theirs or (isinstance(ours, Folded) and isinstance(theirs, Folded))


def _inside(at: Five, place: str, where: Where) -> Iterator[Breach]:
    """Collections; where conflicts leave none of it on a side, there is nothing to look into."""
    base, *others = at.all
    if _is_all(dict, *others):
        at = Five(base if isinstance(base, dict) else {}, *others)
        places = {key: where.child(key) for each in at.all[:3] for key in each}
        yield from _map(at, place, places)
    elif _is_all(list, *others):
        yield from _list(Five(base if isinstance(base, list) else [], *others), place, where)
    elif at.is_settled and any(at.changed):
        yield Breach("leaf", place, f"{show(at.all[3])} is another kind of value")


# -- lists


def _list(at: Five, place: str, where: Where) -> Iterator[Breach]:
    rule = where.list_rule()
    keyed = [_by_key(each) for each in at.all]
    if None not in keyed:
        names = {name for elements in keyed for name in elements}
        yield from _map(Five(*keyed), place, dict.fromkeys(names, where.items()))
        members = [list(elements) for elements in keyed]
        if rule.ordered:
            yield from _order(members, place)
        if at.is_settled and rule.kind != "atomic":
            yield from _gaps(members, place)
        return
    if not at.is_settled:
        return
    lists = [[show(element) for element in each] for each in at.all]
    if any(_is_inside_out(element) for each in at.all for element in each):
        yield from _whole(lists, place)
        return
    is_set = rule.kind == "set" or rule.bag
    for text in dict.fromkeys(text for each in lists for text in each):
        allowed = counts(*lists[:3], text)
        if is_set:
            allowed = range(allowed[0], max(allowed[0], *(x.count(text) for x in lists[:3])) + 1)
        if lists[3].count(text) not in allowed:
            times = f"{allowed[0]}..{allowed[-1]}"
            yield Breach("count", place, f"{text} {lists[3].count(text)} times, not {times}")
    if rule.kind == "set":
        yield from _gaps([[(text,) for text in each] for each in lists], place)
    elif not is_set:
        yield from _order(lists, place)


def _by_key(elements: list[object]) -> dict[tuple[str, ...], object] | None:
    """The elements by all that could be a key of theirs; nothing where one has none, or it repeats."""
    found = {}
    for element in elements:
        fields = element if isinstance(element, dict) else {}
        name = tuple(
            f"{key}={show(fields[key])}" for key in NAMES if isinstance(fields.get(key), str)
        )
        if not name or name in found:
            return None
        found[name] = element
    return found


def _is_inside_out(element: object) -> bool:
    """Whether both sides may have changed what is inside an element."""
    return isinstance(element, dict | list | Folded) or "\n" in str(element)


def _order(lists: list[list[str]], place: str) -> Iterator[Breach]:
    result, other = lists[3:]
    for x, y in orders(*lists[:3]):
        found = [
            each.index(x) < each.index(y)
            for each in (result, other)
            if each.count(x) == each.count(y) == 1
        ]
        if found and not any(found):
            yield Breach("order", place, f"{y} before {x}")


def _gaps(lists: list[list[tuple[str, ...]]], place: str) -> Iterator[Breach]:
    """A gap lies between two neighbours that both sides keep; a part of a name is the same member.

    Where both put the same new member into the gap, it is this one that stands for what is gone.
    """
    base = lists[0]
    ours, theirs = ([_known(base, member) for member in each] for each in lists[1:3])
    old, mine, yours = ({part for member in each for part in member} for each in lists[:3])
    kept = [member for member in base if member in ours and member in theirs]
    gone = [member for member in base if not {*member} & (mine | yours)]
    fresh = [
        [member for member in side if not {*member} & (old | other)]
        for side, other in ((ours, yours), (theirs, mine))
    ]
    both = {_before(kept, ours, each) for each in ours if each in theirs and each not in base}
    for x, y, z in product(gone, *fresh):
        gaps = {_before(kept, base, x), _before(kept, ours, y), _before(kept, theirs, z)}
        if len(gaps - both) == len(gaps) == 1:
            names = [", ".join(member) for member in (y, z, x)]
            yield Breach("gap", place, "{} and {} both stand for {}".format(*names))


def _known(base: list[tuple[str, ...]], member: tuple[str, ...]) -> tuple[str, ...]:
    """The member of base that shares a part of its name, or the member itself."""
    return next((old for old in base if {*old} & {*member}), member)


def _before(kept: list[tuple[str, ...]], members: list[tuple[str, ...]], at: object) -> object:
    """The nearest of those kept that stands before a member."""
    before = members[: members.index(at)]  # type: ignore[arg-type]
    return next((each for each in reversed(before) if each in kept), None)


def _whole(lists: list[list[str]], place: str) -> Iterator[Breach]:
    """Elements in which both sides may have changed something: then none of the versions has it."""
    base, ours, theirs, result, _ = lists
    kept = [
        {at for start, stop, *_ in common(base, side) for at in range(start, stop)}
        for side in (ours, theirs)
    ]
    melted = len({*range(len(base))} - kept[0] - kept[1])
    for text in dict.fromkeys([*base, *ours, *theirs]):
        there = {at for at, each in enumerate(base) if each == text}
        low, high = bounds_of_equal(there, kept, ours.count(text), theirs.count(text))
        low, high = low - melted, high + melted
        if not low <= result.count(text) <= high:
            yield Breach("count", place, f"{text} {result.count(text)} times, not {low}..{high}")
