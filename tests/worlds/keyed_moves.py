"""Lists with keys that both sides arrange, while they rename, edit, comment, delete and add.

The world knows who each element is, which no file says. The truth is computed from the edits: each
element is merged by its identity, its key and its comment are fields of it, and each pair of elements
that all versions have stands in the order of the side that changed the order of the pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from random import Random

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class One:
    """An element: who it is, its key, its other values by number, and the comment over it."""

    who: str
    key: str
    values: tuple[str, ...]
    comment: str = ""


Version = tuple[One, ...]


@dataclass(frozen=True)
class Listing:
    """A file with one list, and the fields of its elements."""

    head: str
    key: str
    fields: tuple[str, ...]
    alike: tuple[int, ...] = ()  # fields that all elements have the same value in
    column: int = 0
    after: str = ""
    ordered: bool = False  # order means something, or nobody knows whether it does
    flow: bool = False
    numbers: bool = False  # the key is a number
    parent: tuple[str, ...] = ()  # the mappings in which the values stand

    @property
    def is_small(self) -> bool:
        """Whether an element has too few leaves to tell a rename from another element."""
        return len(self.fields) < 3

    def one(self, who: str, *, commented: bool) -> One:
        values = (
            f"all-{f}" if n in self.alike else f"{who}-{f}" for n, f in enumerate(self.fields)
        )
        return One(who, who, tuple(values), f"# about {who}" if commented else "")

    def name(self, key: str) -> object:
        return 1000 + int.from_bytes(key.encode(), "big") % 61001 if self.numbers else key

    def write(self, version: Version) -> bytes:
        lines = "".join(map(self._text, version))
        return f"{self.head}{chr(10) if lines else ' []' + chr(10)}{lines}{self.after}".encode()

    def _text(self, one: One) -> str:
        pad = " " * self.column
        fields = zip(self.fields, one.values, strict=True)
        rows = [f"{self.key}: {self.name(one.key)}", *(f"{step}:" for step in self.parent)]
        rows[1:] = ["  " * depth + row for depth, row in enumerate(rows[1:])]
        rows += ["  " * len(self.parent) + f"{field}: {value}" for field, value in fields]
        above = f"{pad}{one.comment}\n" if one.comment else ""
        if self.flow:
            return f"{above}{pad}- {{{', '.join(rows)}}}\n"
        return above + "".join(f"{pad}{'  ' if n else '- '}{row}\n" for n, row in enumerate(rows))

    def read(self, data: bytes) -> list[tuple[object, tuple[str, ...], str]]:
        """The elements in their order, each with its key, its values and its comment."""
        value = yaml.load(data, LOADER)
        for step in self.path():
            value = value[step]
        comments = [self._comment(data.decode(), each[self.key]) for each in value or ()]
        return [
            (each[self.key], tuple(self._values(each)), comment)
            for each, comment in zip(value or (), comments, strict=True)
        ]

    def _values(self, each: dict[str, object]) -> Iterator[str]:
        for step in self.parent:
            each = each[step]  # type: ignore[assignment]
        yield from (str(each[field]) for field in self.fields)

    def _comment(self, text: str, key: object) -> str:
        lines = text.splitlines()
        start = f"- {'{' if self.flow else ''}{self.key}: {key}"
        at = next(
            n
            for n, line in enumerate(lines)
            if line.strip().startswith(start)
            and line.strip()[len(start) : len(start) + 1] in ("", ",")
        )
        above = []
        while lines[at - 1].strip().startswith("#"):
            at -= 1
            above.insert(0, lines[at].strip())
        return "\n".join(above)

    def path(self) -> tuple[str | int, ...]:
        steps: list[str | int] = []
        value = yaml.load(self.head, LOADER)
        while value is not None:
            step = [*value][-1] if isinstance(value, dict) else len(value) - 1
            steps.append(step)
            value = value[step]
        return tuple(steps)


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
APP = POD + "  containers:\n  - name: app\n"
TASK = "apiVersion: tekton.dev/v1\nkind: Task\nmetadata:\n  name: build\nspec:\n"
LISTINGS = {
    "steps": Listing(TASK + "  steps:", "name", ("image", "script"), column=4, ordered=True),
    "steps of one image": Listing(
        TASK + "  steps:", "name", ("image", "script"), (0,), column=2, ordered=True
    ),
    "steps with little": Listing(TASK + "  steps:", "name", ("image",), column=2, ordered=True),
    "steps in brackets": Listing(
        TASK + "  steps:", "name", ("image", "script"), column=4, ordered=True, flow=True
    ),
    "containers": Listing(
        POD + "  containers:", "name", ("image", "imagePullPolicy", "workingDir", "tty"), (1,), column=2
    ),
    "containers with an image": Listing(POD + "  containers:", "name", ("image",), column=4),
    "init containers": Listing(
        POD + "  initContainers:", "name", ("image", "imagePullPolicy", "workingDir"), (1,), column=2,
        after="  containers:\n  - name: app\n    image: app:1\n", ordered=True,
    ),
    "ports": Listing(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:", "port",
        ("name", "targetPort", "appProtocol"), (2,), column=2, after="  selector:\n    app: web\n",
        numbers=True,
    ),
    "env": Listing(APP + "    env:", "name", ("value",), column=4, after="    image: app:1\n", ordered=True),
    "env from secrets": Listing(
        APP + "    env:", "name", ("name", "key", "optional"), (2,), column=4,
        after="    image: app:1\n", ordered=True, parent=("valueFrom", "secretKeyRef"),
    ),
    "mounts": Listing(
        APP + "    volumeMounts:", "mountPath", ("name", "subPath"), (0,), column=4, after="    image: app:1\n"
    ),
    "values": Listing("backends:", "name", ("host", "weight", "zone"), (2,), column=2, after="replicas: 1\n", ordered=True),
}  # fmt: skip


# -- edits

ACTIONS = ("edit", "rename", "delete", "comment")


def acted(version: Version, who: str, action: str) -> Version:
    """One element edited in its last value, renamed, commented anew or taken away."""

    def one(each: One) -> One:
        if action == "edit":
            return replace(each, values=(*each.values[:-1], f"new-{each.values[-1]}"))
        if action == "edit otherwise":
            return replace(each, values=(*each.values[:-1], f"other-{each.values[-1]}"))
        if action == "rename":
            return replace(each, key=f"{each.who}-1")
        if action == "comment":
            return replace(each, comment=f"# more about {each.who}")
        return each

    return tuple(
        one(each) if each.who == who else each
        for each in version
        if not (each.who == who and action == "delete")
    )


def sides(made: Listing, base: Version, *, commented: bool) -> Iterator[tuple[str, Version]]:
    """All edits of one side: an arrangement, and one action at one element."""
    actions = [a for a in ACTIONS if a != "comment" or commented]
    for order in permutations(base):
        shown = "".join(each.who for each in order)
        yield shown, order
        for each in base:
            for action in actions:
                yield f"{shown} {action} {each.who}", acted(order, each.who, action)


def twice_acted(made: Listing, r: Random, base: Version, *, commented: bool) -> Version:
    """Some arrangement with two actions; a small element with both would be another one."""
    version = tuple(r.sample(base, len(base)) if r.random() < 0.6 else base)
    whom = r.sample(base, 2) if made.is_small else r.choices(base, k=2)
    for each in whom:
        action = r.choice([a for a in ACTIONS if a != "comment" or commented])
        version = acted(version, each.who, action)
    return version


def with_new(made: Listing, base: Version) -> Iterator[tuple[str, Version]]:
    """All arrangements with one new element, wherever it stands."""
    new = made.one("n", commented=False)
    for order in permutations(base):
        for at in range(len(base) + 1):
            version = (*order[:at], new, *order[at:])
            yield "".join(each.who for each in version), version


def with_one_more(made: Listing, base: Version) -> Iterator[Version]:
    """The elements in their old order, with one new element at each place."""
    new = made.one("n", commented=False)
    for at in range(len(base) + 1):
        yield (*base[:at], new, *base[at:])


def shown(version: Version) -> str:
    """The elements of a side: `+` has another key, `*` another value, `#` another comment."""
    marks = [
        ("+" if one.key != one.who else "")
        + ("*" if "new-" in one.values[-1] else "")
        + ("#" if "more" in one.comment else "")
        for one in version
    ]
    return " ".join(one.who + mark for one, mark in zip(version, marks, strict=True))


# -- the truth


class _Clash(Exception):
    """Two changes of one thing."""


def _standing(base: object, ours: object, theirs: object) -> object:
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    raise _Clash


def _merged(base: One | None, ours: One | None, theirs: One | None) -> One | None:
    if base is None or ours is None or theirs is None:
        return _standing(base, ours, theirs)  # type: ignore[return-value]
    values = zip(base.values, ours.values, theirs.values, strict=True)
    return One(
        base.who,
        str(_standing(base.key, ours.key, theirs.key)),
        tuple(str(_standing(*trio)) for trio in values),
        str(_standing(base.comment, ours.comment, theirs.comment)),
    )


@dataclass(frozen=True)
class Truth:
    """The elements by who they are, and the pairs in their order; nothing: a conflict."""

    elements: dict[str, One] | None
    pairs: tuple[tuple[str, str], ...] = ()
    may_clash: bool = False
    new: frozenset[str] = (
        frozenset()
    )  # who counts as new: its comment is that of the old one or its own

    def judge(self, made: Listing, found: list[tuple[object, tuple[str, ...], str]] | None) -> str:
        """`right`, or `wrong: WHY`; nothing found is a conflict: `right` or `needless`."""
        if found is None:
            return "right" if self.elements is None or self.may_clash else "needless"
        if self.elements is None:
            return "wrong: it is no conflict"
        names = {made.name(one.key): one for one in self.elements.values()}
        if sorted(map(str, names)) != sorted(str(name) for name, _, _ in found):
            return "wrong: other elements"
        if any(names[name].values != values for name, values, _ in found):
            return "wrong: other values"
        commented = [(names[name], comment) for name, _, comment in found]
        if any(one.comment != comment and one.who not in self.new for one, comment in commented):
            return "wrong: other comments"
        places = {names[name].who: place for place, (name, _, _) in enumerate(found)}
        return "right" if all(places[x] < places[y] for x, y in self.pairs) else "wrong: order"


def truth(made: Listing, base: Version, ours: Version, theirs: Version) -> Truth:
    """The merge by identity; where order means nothing, pairs that contradict each other are free.

    An element with few leaves is not known under another key: a renamed one counts as new where the
    other side took the old one away, and if that side changed the old one, a conflict will do.
    """
    tables = [{one.who: one for one in version} for version in (base, ours, theirs)]
    merged: dict[str, One] = {}
    new: set[str] = set()
    try:
        for who in {**tables[0], **tables[1], **tables[2]}:
            trio = tuple(table.get(who) for table in tables)
            one = _new_one(*trio) if made.is_small else None
            if one is not None:
                new.add(who)
            one = one or _merged(*trio)
            if one is not None:
                merged[who] = one
    except _Clash:
        return Truth(None)
    old, mine, yours = ([one.who for one in version] for version in (base, ours, theirs))
    stay = [who for who in old if who in mine and who in yours]
    pairs = []
    for n, x in enumerate(stay):
        for y in stay[n + 1 :]:
            kept = mine.index(x) < mine.index(y) and yours.index(x) < yours.index(y)
            pairs.append((x, y) if kept else (y, x))
    if len({sum(x == who for x, _ in pairs) for who in stay}) < len(stay):  # a ring
        if made.ordered:
            return Truth(None)
        pairs = []
    for side, other in ((mine, yours), (yours, mine)):
        if [who for who in old if who in other] == other:  # the other side moved and added nothing
            there = [who for who in side if who in merged and who not in new]
            pairs += [
                (x, y)
                for n, x in enumerate(there)
                for y in there[n + 1 :]
                if (x in old) is not (y in old)
            ]
    lost = [who for who in old if who not in merged]
    # what one side moved and the other took away may be a conflict
    moved = any(_passed(old, side, who) for side in (mine, yours) for who in lost)
    return Truth(merged, tuple(pairs), bool(new) or moved, frozenset(new))


def _new_one(base: One | None, ours: One | None, theirs: One | None) -> One | None:
    """The renamed element, if one side renamed it and the other did more than move it."""
    for side, other in ((ours, theirs), (theirs, ours)):
        if base is not None and side is not None and side.key != base.key and other != base:
            return side if other is None else _merged(base, ours, theirs)
    return None


def _passed(old: list[str], side: list[str], who: str) -> bool:
    return who in side and any(
        (old.index(who) < old.index(x)) != (side.index(who) < side.index(x))
        for x in old
        if x in side
    )
