"""Random merges of streams: documents, how they begin and end, and what stands between them.

What is in a document is simple here. Its opening, `...` lines, directives, comments between
documents, and documents that are added, taken away, emptied or put elsewhere are what the sides
edit; and files of JSON. Each document has a number that no file shows: the truth about a clean
result is counted with these numbers, from the edits alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from random_manifests import chance, weighted

KINDS = ["Namespace", "ConfigMap", "ServiceAccount"]
NAMES = ["web", "api", "db", "cache", "proxy", "batch", "red", "blue"]
OPENINGS = ["---", "---", "---", "--- # note", "...\n---", "...\n# above\n---", "# above\n---"]
DIRECTIVES = ["...\n%YAML 1.1\n---", "...\n%YAML 1.2\n# above\n---"]
ENDS = ["...\n", "...\n# the end\n", "...\n...\n", "# the end\n", "... # over\n"]
PROLOGUES = ["# head\n---\n", "---\n", "%YAML 1.1\n---\n", "# head\n%YAML 1.1\n---\n", "\n---\n"]

Trio = tuple[bytes, bytes, bytes]


@dataclass(frozen=True)
class Part:
    """A document; `number` is the same in all versions of it."""

    number: int
    kind: str
    name: str
    values: tuple[int, ...]
    opening: str = "---"
    comment: str = ""  # below it
    is_flow: bool = False

    @property
    def text(self) -> str:
        """The document without its opening."""
        data = {f"k{n}": str(value) for n, value in enumerate(self.values)}
        root = {"kind": self.kind, "metadata": {"name": self.name}, "data": data}
        if self.is_flow:
            return json.dumps(root) + "\n" + self.comment
        lines = [f"kind: {self.kind}", "metadata:", f"  name: {self.name}", "data:"]
        lines += [f"  {key}: '{value}'" for key, value in data.items()]
        return "\n".join(lines) + "\n" + self.comment


@dataclass(frozen=True)
class Stream:
    """A file; of an emptied one there is no document."""

    parts: tuple[Part, ...]
    prologue: str = ""
    end: str = ""
    changed: frozenset[int] = field(default=frozenset())  # numbers of what was edited

    @property
    def data(self) -> bytes:
        """The bytes; a text without documents has comments alone."""
        if not self.parts:
            return b"# nothing\n" if self.prologue.startswith("#") else b""
        out = self.prologue
        for number, part in enumerate(self.parts):
            if number:
                below = self.parts[number - 1].is_flow or not part.opening.startswith("#")
                out += part.opening if below else part.opening.removeprefix("# above\n")
                out += "\n"
            out += part.text
        return (out + self.end).encode()


def stream_trio(r: Random) -> tuple[Trio, int | None]:
    """Base, ours and theirs, and how many documents a clean result has."""
    parts = tuple(_part(r, number) for number in range(r.randint(1, 4)))
    base = _framed(r, Stream(parts))
    start = _edited(r, base, 100) if chance(r, 10) else base  # what both sides have done alike
    ours, theirs = _edited(r, start, 200), _edited(r, start, 300)
    return (base.data, ours.data, theirs.data), _count(base, ours, theirs)


def json_trio(r: Random) -> tuple[Trio, int | None]:
    """The same for a file of JSON, in one layout or another on each side."""
    base: object = {"kind": r.choice(KINDS), "metadata": {"name": r.choice(NAMES)}, "data": {}}
    for _ in range(r.randint(0, 4)):
        base = _edited_value(r, base)
    start = _edited_value(r, base) if chance(r, 10) else base
    layout = r.choice([None, 2, 2, 4])
    texts = []
    for version in (base, _edited_value(r, start), _edited_value(r, start)):
        own = r.choice([None, 2, 4]) if chance(r, 10) else layout
        text = "" if version is None else json.dumps(version, indent=own) + "\n"
        texts.append(text.removesuffix("\n") if chance(r, 10) else text)
    is_there = [bool(text) for text in texts]
    count = 1 if all(is_there) else None
    return (texts[0].encode(), texts[1].encode(), texts[2].encode()), count


# -- streams


def _part(r: Random, number: int) -> Part:
    size = r.choice([0, 1, 2, 9])
    name, kind = f"{r.choice(NAMES)}-{number}", r.choice(KINDS)
    values = tuple(r.randint(1, 99) for _ in range(size))
    made = Part(number, kind, name, values, r.choice(OPENINGS), is_flow=chance(r, 5))
    return replace(made, comment="# below\n") if chance(r, 10) else made


def _framed(r: Random, made: Stream) -> Stream:
    return replace(
        made,
        prologue=r.choice(PROLOGUES) if chance(r, 35) else "",
        end=r.choice(ENDS) if chance(r, 20) else "",
    )


def _edited(r: Random, made: Stream, fresh: int) -> Stream:
    """A side; documents that it adds get numbers from `fresh` on."""
    for step in range(r.randint(1, 3)):
        made = r.choice(EDITS)(r, made, fresh + step)
    return made


def _change(r: Random, made: Stream, fresh: int) -> Stream:
    """Another value, or another name."""
    if not made.parts:
        return made
    part = r.choice(made.parts)
    if part.values and not chance(r, 30):
        values = list(part.values)
        values[r.randrange(len(values))] = r.randint(100, 999)
        new = replace(part, values=tuple(values))
    else:
        new = replace(part, name=f"{r.choice(NAMES)}-{fresh}")
    return _put(made, part, new)


def _put(made: Stream, old: Part, new: Part) -> Stream:
    parts = tuple(new if part is old else part for part in made.parts)
    return replace(made, parts=parts, changed=made.changed | {old.number})


def _add(r: Random, made: Stream, fresh: int) -> Stream:
    at, part = r.randint(0, len(made.parts)), _part(r, fresh)
    return replace(made, parts=(*made.parts[:at], part, *made.parts[at:]))


def _drop(r: Random, made: Stream, fresh: int) -> Stream:
    gone = r.choice(made.parts) if made.parts else None
    return replace(made, parts=tuple(part for part in made.parts if part is not gone))


def _empty(r: Random, made: Stream, fresh: int) -> Stream:
    return replace(made, parts=())


def _turn(r: Random, made: Stream, fresh: int) -> Stream:
    parts = list(made.parts)
    r.shuffle(parts)
    return replace(made, parts=tuple(parts))


def _open(r: Random, made: Stream, fresh: int) -> Stream:
    if not made.parts:
        return made
    part = r.choice(made.parts)
    new = replace(part, opening=r.choice([*OPENINGS, *DIRECTIVES]))
    return replace(made, parts=tuple(new if each is part else each for each in made.parts))


def _comment(r: Random, made: Stream, fresh: int) -> Stream:
    if not made.parts:
        return made
    part = r.choice(made.parts)
    new = replace(part, comment=r.choice(["", "# below\n", "\n# far below\n"]))
    return _put(made, part, new)


def _frame(r: Random, made: Stream, fresh: int) -> Stream:
    return replace(
        made,
        prologue=r.choice(["", *PROLOGUES]) if chance(r, 50) else made.prologue,
        end=r.choice(["", *ENDS]) if chance(r, 60) else made.end,
    )


EDITS: list[Callable[[Random, Stream, int], Stream]] = weighted(
    (_change, 5), (_add, 4), (_drop, 4), (_empty, 1), (_turn, 2), (_open, 3), (_comment, 2), (_frame, 4)
)  # fmt: skip


def _count(base: Stream, ours: Stream, theirs: Stream) -> int | None:
    """How many documents a clean result has, if a person could say it."""
    old, mine, yours = ({part.number: part for part in each.parts} for each in (base, ours, theirs))
    count = 0
    for number in {**old, **mine, **yours}:
        there = [side[number] for side in (mine, yours) if number in side]
        if number not in old and len({(part.kind, part.name) for part in there}) > 1:
            return None  # one addition under two names, or two additions
        if number not in old or len(there) == 2:
            count += 1
        elif there and there[0] != old[number]:
            return None  # taken away here, edited there: a conflict, or what was added is another
    return count


# -- JSON


def _edited_value(r: Random, value: object) -> object:
    """A value after one edit; nothing where the file is emptied."""
    value = json.loads(json.dumps(value)) if value is not None else None
    if value is None or chance(r, 3):
        return None
    if chance(r, 6):
        return {"kind": r.choice(KINDS), "metadata": {"name": r.choice(NAMES)}}  # another one
    assert isinstance(value, dict)
    if chance(r, 15):
        value["metadata"]["name"] = r.choice(NAMES)
        return value
    data = value.setdefault("data", {})
    key = f"k{r.randint(0, 4)}"
    if key in data and chance(r, 30):
        del data[key]
    else:
        data[key] = r.choice(
            ["a", "b", 1, True, None, ["x", r.choice("yz")], {"n": r.randint(0, 3)}]
        )
    return value
