"""Every move of entries under a new parent, beside every edit of the other side, and the truth.

An entry is known by who it is, which no file says. So the truth of an edit inside a moved entry is
the same edit, made to the version of the side that moved the entry; a conflict will do as well.
This file knows nothing of likeness, of lines, or of how the merge is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product

Path = tuple[str, ...]


@dataclass(frozen=True)
class Field:
    """`who` it is, what it is called now, and what it holds; an element of a list has no key."""

    who: str
    key: str
    value: str | tuple[Field, ...]
    kind: str = "map"  # or `list`: how the fields in the value are held


Fields = tuple[Field, ...]


def leaf(who: str, value: str) -> Field:
    """A scalar, called by the last part of the name that it is known by."""
    return Field(who, who.rpartition(".")[2], value)


def element(who: str, *inside: Field) -> Field:
    """An element of a list, with its name."""
    return Field(who, "", (leaf(f"{who}.name", who), *inside))


# -- edits of a tree


def changed(fields: Fields, who: str, change: Callable[[Field], Field | None]) -> Fields:
    """The tree with one field changed, wherever it is; nothing: it goes."""
    result: list[Field] = []
    for each in fields:
        if each.who == who:
            new = change(each)
            result += [new] if new is not None else []
        elif isinstance(each.value, tuple):
            result.append(replace(each, value=changed(each.value, who, change)))
        else:
            result.append(each)
    return tuple(result)


def all_of(fields: Fields) -> Iterator[Field]:
    for each in fields:
        yield each
        yield from all_of(each.value) if isinstance(each.value, tuple) else ()


def find(fields: Fields, who: str) -> Field:
    return next(each for each in all_of(fields) if each.who == who)


@dataclass(frozen=True)
class Edit:
    """What the other side does: `what` to the field that is known as `who`."""

    what: str
    who: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.who}".strip()

    def of(self, fields: Fields) -> Fields:
        """The tree with this edit."""
        changes: dict[str, Callable[[Field], Field | None]] = {
            "edit": lambda each: replace(each, value=f"{each.value}9"),
            "delete": lambda each: None,
            "rename": _renamed,
            "add": lambda each: replace(each, value=(*each.value, _added(each.kind))),
        }
        return changed(fields, self.who, changes[self.what]) if self.what in changes else fields


def _renamed(each: Field) -> Field:
    if each.key:
        return replace(each, key=f"{each.key}New")
    name, *rest = each.value
    assert isinstance(name, Field)
    return replace(each, value=(replace(name, value=f"{name.value}-new"), *rest))


def _added(kind: str) -> Field:
    return (
        leaf("extra", "7") if kind == "map" else element("extra", leaf("extra.image", "busybox:1"))
    )


def edits(place: Fields, at: str) -> Iterator[Edit]:
    """What may be done to the entries of a place, and inside of them; `at` is the place itself."""
    yield Edit("keep")
    yield Edit("edit", "beside")
    yield Edit("add", at)
    for entry in place:
        inside = [entry, *(all_of(entry.value) if isinstance(entry.value, tuple) else ())]
        for each in inside:
            if not each.key and isinstance(each.value, str):  # an element of a list of scalars
                yield Edit("delete", each.who)
                continue
            if each.who.endswith(".name"):
                continue
            yield from (Edit("delete", each.who), Edit("rename", each.who))
            if isinstance(each.value, str):
                yield Edit("edit", each.who)
            elif not any(isinstance(i.value, str) and not i.key for i in each.value):
                yield Edit("add", each.who)


# -- moves


@dataclass(frozen=True)
class Move:
    """What the mover makes of the file: who was moved, and who of them it edited."""

    name: str
    fields: Fields
    moved: frozenset[str]
    empties: str = ""  # the place that has none of its entries any more


def truth(base: Fields, move: Move, edit: Edit) -> tuple[Fields | None, bool]:
    """What the merge has to come to, and whether a conflict will do as well.

    Nothing: it must be a conflict.
    """
    version = edit.of(base)
    if version == base:
        return move.fields, False
    inside = {who for top in move.moved for who in _below(base, top)}
    if edit.what in ("delete", "rename") and edit.who in inside:
        gone = edit.what == "delete" and edit.who not in {e.who for e in all_of(move.fields)}
        return (move.fields, False) if gone else (None, False)
    if edit.what == "add" and edit.who == move.empties:
        return None, False
    mine = {each.who: each for each in all_of(move.fields)}
    if edit.who not in mine:  # the mover deleted it
        return None, False
    old = find(base, edit.who)
    if edit.what == "edit" and mine[edit.who].value != old.value:
        return None, False
    return edit.of(move.fields), edit.who in inside


def _below(fields: Fields, who: str) -> list[str]:
    top = find(fields, who)
    inside = all_of(top.value) if isinstance(top.value, tuple) else ()
    return [who, *(each.who for each in inside)]


ENTRIES = {
    "port": leaf("port", "80"),
    "timeout": leaf("timeout", "5s"),
    "resources": Field(
        "resources",
        "resources",
        (
            Field("requests", "requests", (leaf("cpu", "100m"), leaf("memory", "64Mi"))),
            Field("limits", "limits", (leaf("storage", "1Gi"), leaf("pids", "400"))),
        ),
    ),
    "hosts": Field(
        "hosts",
        "hosts",
        (element("web", leaf("web.path", "/"), leaf("web.port", "81")),),
        kind="list",
    ),
}
PLACES = [
    ("port",),
    ("resources",),
    ("port", "timeout"),
    ("resources", "port"),
    ("hosts", "timeout", "resources"),
    ("port", "timeout", "resources", "hosts"),
]


def under_a_key(place: Fields) -> Iterator[tuple[str, Fields, frozenset[str]]]:
    """Every move of entries of a place under a new key of it, and what is moved."""
    for size in range(1, len(place) + 1):
        for group in combinations(place, size):
            whos = frozenset(each.who for each in group)
            rest = tuple(each for each in place if each.who not in whos)
            at = place.index(group[0])
            variants = {
                "plain": group,
                "filled": (leaf("host", "h.example"), *group, leaf("mode", "fast")),
                "edited": _with_an_edit(group),
                "turned": group[::-1],
            }
            for name, inside in variants.items():
                if name == "turned" and size == 1:
                    continue
                new = Field("server", "server", inside)
                is_far = name in ("turned", "filled")
                here = (*rest, new) if is_far else (*rest[:at], new, *rest[at:])
                yield f"{name} {'+'.join(sorted(whos))}", here, whos


def _with_an_edit(group: Fields) -> Fields:
    """The last leaf is edited, as the mover does it."""
    last = [each for each in all_of(group) if isinstance(each.value, str)][-1]
    return changed(group, last.who, lambda each: replace(each, value=f"{each.value}5"))


# -- files


@dataclass(frozen=True)
class Style:
    """How a file is spelled."""

    indent: int = 2
    dash: int = 0  # the columns before a dash
    comments: bool = False
    flow: bool = False  # maps of scalars in braces

    def write(self, fields: Fields) -> bytes:
        return "".join(f"{line}\n" for line in self._map(fields)).encode()

    def _map(self, fields: Fields) -> Iterator[str]:
        for each in fields:
            if self.comments and each.who in ENTRIES:
                yield f"# about {each.who}"
            if isinstance(each.value, str):
                yield f"{each.key}: {each.value}"
            elif self.flow and all(isinstance(inner.value, str) for inner in each.value):
                yield f"{each.key}: {self._braces(each)}"
            elif not each.value:
                yield f"{each.key}: {'{}' if each.kind == 'map' else '[]'}"
            else:
                yield f"{each.key}:"
                lines = self._map(each.value) if each.kind == "map" else self._list(each.value)
                by = self.indent if each.kind == "map" else self.dash
                yield from (" " * by + line for line in lines)

    def _list(self, elements: Fields) -> Iterator[str]:
        for each in elements:
            lines = [each.value] if isinstance(each.value, str) else [*self._map(each.value)]
            yield from (("  " if number else "- ") + line for number, line in enumerate(lines))

    def _braces(self, each: Field) -> str:
        assert isinstance(each.value, tuple)
        if each.kind == "list":
            return "[" + ", ".join(str(inner.value) for inner in each.value) + "]"
        return "{" + ", ".join(f"{inner.key}: {inner.value}" for inner in each.value) + "}"


def value_of(fields: Fields, kind: str = "map") -> object:
    """What a reader of the file sees; all scalars are texts."""
    if kind == "map":
        return {e.key: _inner(e) for e in fields}
    return [_inner(e) if isinstance(e.value, str) else value_of(e.value) for e in fields]


def _inner(each: Field) -> object:
    return each.value if isinstance(each.value, str) else value_of(each.value, each.kind)


STYLES = {
    "plain": Style(),
    "wide": Style(indent=4, dash=4),
    "comments": Style(comments=True, dash=2),
    "flow": Style(flow=True),
}


def _values(place: Fields) -> Fields:
    return (
        Field("global", "global", (leaf("env", "prod"),)),
        Field("place", "app", place),
        leaf("beside", "x"),
    )


def _top(place: Fields) -> Fields:
    return (leaf("beside", "x"), *place)


def _resource(place: Fields) -> Fields:
    return (
        leaf("apiVersion", "example.com/v1"),
        leaf("kind", "Gateway"),
        Field("metadata", "metadata", (leaf("name", "g"), leaf("beside", "x"))),
        Field("place", "spec", place),
    )


def _pod(*lists: Field) -> Fields:
    return (
        leaf("apiVersion", "apps/v1"),
        leaf("kind", "Deployment"),
        Field("metadata", "metadata", (leaf("name", "d"),)),
        Field(
            "spec",
            "spec",
            (
                leaf("beside", "x"),
                Field("template", "template", (Field("pod", "spec", lists),)),
            ),
        ),
    )


def _container(place: Fields) -> Fields:
    one = Field("one", "", (leaf("one.name", "one"), leaf("one.image", "a:1"), *place))
    two = element("two", leaf("two.image", "b:1"))
    return _pod(Field("containers", "containers", (two, one), kind="list"))


def _routes(place: Fields) -> Fields:
    other = Field("r2", "", (leaf("weight", "3"), leaf("to", "y")))
    route = Field("r1", "", (leaf("match", "m"), *place))
    spec = (Field("routes", "routes", (other, route), kind="list"), leaf("beside", "x"))
    return (*_resource(())[:3], Field("spec", "spec", spec))


# the file around a place, and who the place is if its entries alone are there
FORMS: dict[str, tuple[Callable[[Fields], Fields], str]] = {
    "values": (_values, "place"),
    "resource": (_resource, "place"),
    "top": (_top, ""),
    "container": (_container, ""),
    "routes": (_routes, ""),
}


@dataclass(frozen=True)
class Case:
    """A merge: three versions, one of which was made by a move, and its truth.

    A truth costs as much as a merge: it is computed for what is merged alone.
    """

    name: str
    base: Fields
    mover: Fields
    other: Fields
    judge: Callable[[], tuple[Fields | None, bool]] = lambda: (None, False)

    @cached_property
    def _judged(self) -> tuple[Fields | None, bool]:
        return self.judge()

    @property
    def truth(self) -> Fields | None:
        return self._judged[0]

    @property
    def may_clash(self) -> bool:
        return self._judged[1]


def cases_of_keys(form: str) -> Iterator[Case]:
    """Entries of a map under a new key of the same place."""
    wrap, at = FORMS[form]
    for names in PLACES:
        place = tuple(ENTRIES[name] for name in names)
        base = wrap(place)
        for name, inside, whos in under_a_key(place):
            empties = at if len(whos) == len(place) else ""
            move = Move(name, wrap(inside), whos, empties or "none")
            for edit in edits(place, at):
                if edit.what == "add" and not edit.who:
                    continue
                judge = partial(truth, base, move, edit)
                yield Case(f"{names}: {name} / {edit}", base, move.fields, edit.of(base), judge)


def _box(who: str, size: int) -> Field:
    inside = [leaf(f"{who}.image", f"{who}:1"), leaf(f"{who}.pullPolicy", "Always")]
    inside += [leaf(f"{who}.workingDir", f"/{who}"), leaf(f"{who}.tty", "true")]
    return element(who, *inside[:size])


def _lists_of(form: str) -> tuple[Callable[..., Fields], str, str]:
    if form == "pod":
        return _pod, "containers", "initContainers"
    if form == "values lists":
        return (
            lambda *lists: (Field("place", "app", (leaf("beside", "x"), *lists)),),
            "workers",
            "jobs",
        )
    return (
        lambda *lists: (*_resource(())[:3], Field("spec", "spec", lists)),
        "steps",
        "finally",
    )


LISTS = ("pod", "values lists", "resource lists")


def cases_of_lists(form: str) -> Iterator[Case]:
    """Elements of a list in another list beside it, which is new or was there."""
    wrap, source, target = _lists_of(form)
    for size in (1, 4):
        boxes = tuple(_box(who, size) for who in ("alpha", "beta", "gamma"))
        for there in ((), (_box("old", size),)):
            base = wrap(*_two(source, boxes, target, there))
            for count in (1, 2, 3):
                for group in combinations(boxes, count):
                    rest = tuple(each for each in boxes if each not in group)
                    for name, inside in {"plain": group, "edited": _with_an_edit(group)}.items():
                        whos = frozenset(each.who for each in group)
                        empties = source if not rest else "none"
                        fields = wrap(*_two(source, rest, target, (*there, *inside)))
                        move = Move(name, fields, whos, empties)
                        for edit in edits(boxes, source):
                            judge = partial(truth, base, move, edit)
                            if not rest and not there:
                                judge = partial(_all_under_a_new_name, base, move, edit, target)
                            title = f"{size} of {form}, {len(there)} there: {name} {'+'.join(sorted(whos))} / {edit}"
                            yield Case(title, base, fields, edit.of(base), judge)


def _all_under_a_new_name(
    base: Fields, move: Move, edit: Edit, target: str
) -> tuple[Fields | None, bool]:
    wanted, may_clash = truth(base, move, edit)
    if wanted is None:
        return _under_a_new_name(base, move, edit, target), True
    return wanted, may_clash


def _under_a_new_name(base: Fields, move: Move, edit: Edit, target: str) -> Fields | None:
    """The edit, if the mover gave another key to a whole list: it may be the same list."""
    lost = _below(base, edit.who) if edit.what == "delete" else ()
    if any(find(move.fields, who).value != find(base, who).value for who in lost):
        return None
    return Edit(edit.what, target if edit.who == move.empties else edit.who).of(move.fields)


def _two(source: str, boxes: Fields, target: str, others: Fields) -> Fields:
    lists = [Field(target, target, others, kind="list")] if others else []
    return (*lists, *([Field(source, source, boxes, kind="list")] if boxes else []))


def cases_of_maps(form: str) -> Iterator[Case]:
    """A list that becomes a map: its elements get their names as keys, or keys of their own.

    Or the whole list goes under a new key of its place.
    """
    wrap = {"values": _values, "resource": _resource}[form]
    for size in (1, 2, 4):
        for whos in (("alpha",), ("alpha", "beta"), ("alpha", "beta", "gamma")):
            boxes = tuple(_box(who, size) for who in whos)
            base = wrap((Field("list", "extra", boxes, kind="list"),))
            keyed = tuple(replace(box, key=box.who) for box in boxes)
            bare = tuple(replace(box, value=box.value[1:]) for box in keyed)
            other = tuple(replace(box, key=f"at{number}") for number, box in enumerate(boxes))
            forms: dict[str, Fields] = {"keyed": keyed, "bare": bare, "other keys": other}
            forms["edited"] = _with_an_edit(keyed)
            forms["under"] = (Field("items", "items", boxes, kind="list"),)
            for name, inside in forms.items():
                fields = wrap((Field("list", "extra", inside),))
                move = Move(name, fields, frozenset(whos), "list")
                for edit in edits(boxes, "list"):
                    title = f"{name} {whos} of {size} / {edit}"
                    judge = partial(truth, base, move, edit)
                    yield Case(title, base, fields, edit.of(base), judge)


def cases_of_only_ones(form: str) -> Iterator[Case]:
    """The only element of a list in the list beside it here, and deleted there.

    The emptied list stays as `[]` or without a value, or its key goes, too.
    """
    wrap, source, target = _lists_of(form)

    def emptied(how: str) -> Fields:
        lists = {
            "gone": (),
            "brackets": (Field(source, source, (), kind="list"),),
            "nothing": (leaf(source, ""),),
        }
        return lists[how]

    for size, there in product((1, 2, 4), ((), (_box("old", 2),))):
        box = _box("alpha", size)
        beside = Field("volumes", "volumes", (element("data"),), kind="list")
        others = (beside, *((Field(target, target, there, kind="list"),) if there else ()))
        base = wrap(*others, Field(source, source, (box,), kind="list"))
        for mine, yours in product(("gone", "brackets", "nothing"), repeat=2):
            if mine == "gone" and not there:
                continue  # the list itself has another key
            both = Field(target, target, (*there, box), kind="list")
            yield Case(
                f"{size} of {form}, {len(there)} there: {mine}, {yours}",
                base,
                wrap(beside, both, *emptied(mine)),
                wrap(*others, *emptied(yours)),
            )


def cases_of_two_maps() -> Iterator[Case]:
    """A list that becomes a map on both sides, each in its own way."""
    for size, count in product((1, 2, 4), (1, 2, 3)):
        boxes = tuple(_box(who, size) for who in ("alpha", "beta", "gamma")[:count])
        base = _values((Field("list", "extra", boxes, kind="list"),))
        keyed = tuple(replace(box, key=box.who) for box in boxes)
        forms: dict[str, Fields] = {
            "under": (Field("items", "items", boxes, kind="list"),),
            "under another": (Field("all", "all", boxes, kind="list"),),
            "keyed": keyed,
            "bare": tuple(replace(box, value=box.value[1:]) for box in keyed),
            "other keys": tuple(replace(box, key=f"at{n}") for n, box in enumerate(boxes)),
        }
        for mine, yours in combinations(forms, 2):
            sides = [_values((Field("list", "extra", forms[how]),)) for how in (mine, yours)]
            yield Case(f"{count} of {size}: {mine}, {yours}", base, *sides)
