"""Texts of 10 to 40 lines in a ConfigMap, of which two sides edit lines, and git is often right.

The lines have numbers in the generator, also those that are equal: what is right are the edits of
both sides, made at the lines that they were made at. Left out is what depends on who goes first,
and what a reader of the three texts may read in two ways: two insertions in one gap, an insertion
at the edge of what the other side moved or copied. Where a run of lines may as well stand a few
lines further up or down, next to what the other side did, only a conflict is a fault, not another
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Row = tuple[int, str]  # the number of a line, and its text
Rows = list[Row]
GONE = "\0"  # the text of a line that is gone, and still shows where it was


# -- the texts


def shell(rng: Random, tag: str) -> list[list[str]]:
    """Blocks of a script: functions that end alike."""
    blocks = [["#!/bin/sh", "set -eu", ""]]
    for name in rng.sample(["wait_for", "backup", "cleanup", "notify", "migrate", "check"], 4):
        loop = [f"  for f in /{tag}/{name}/*; do", f'    {name}_one "$f"', "  done"]
        test = [f'  if [ -z "${name.upper()}_{tag}" ]; then', "    return 1", "  fi"]
        plain = [f"  echo {name} of {tag}", "  sleep 1"]
        parts = rng.sample([loop, test, plain], rng.randint(1, 2))
        body = [line for part in parts for line in part]
        blocks.append([f"{name}() {{", *body, "}", ""])
    return [*blocks[: rng.randint(3, 5)], [f"main_{tag}", "exit 0"]]


def nginx(rng: Random, tag: str) -> list[list[str]]:
    """Blocks of a server."""
    blocks = [["server {", "  listen 80;", f"  server_name {tag}.example.org;", ""]]
    for name in rng.sample(["api", "static", "health", "admin", "ws"], rng.randint(2, 4)):
        more = ["    proxy_set_header Host $host;", "    proxy_read_timeout 30s;"]
        body = [f"    proxy_pass http://{name}-{tag}:80;", *more[: rng.randint(0, 2)]]
        blocks.append([f"  location /{name} {{", *body, "  }", ""])
    return [*blocks, ["  access_log off;", "}"]]


def prometheus(rng: Random, tag: str) -> list[list[str]]:
    """Blocks of a file that is YAML itself."""
    blocks = [["global:", "  scrape_interval: 30s", "scrape_configs:"]]
    for name in rng.sample(["node", "kubelet", "etcd", "blackbox", "proxy"], rng.randint(2, 4)):
        body = ["  scheme: https", "  static_configs:", f"  - targets: [{name}-{tag}:9100]"]
        more = ["    labels:", f"      job: {name}"]
        blocks.append([f"- job_name: {name}", *body[rng.randint(0, 1) :], *more])
    return [*blocks, ["remote_write:", f"- url: http://{tag}.example.org/write"]]


TEXTS = {"shell": shell, "nginx": nginx, "prometheus": prometheus}
FILES = {
    "alone": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: files\ndata:\n  one: |\n{one}",
    "between": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: files\ndata:\n"
        "  level: info\n  one: |\n{one}  two: |\n    #!/bin/sh\n    exit 0\n"
    ),
    "args": (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: files\nspec:\n  containers:\n"
        "  - name: app\n    command: [sh, -c]\n    args:\n    - |\n{one}    tty: true\n"
    ),
}


def write(file: str, texts: dict[str, list[str]]) -> bytes:
    """The file with these texts in it."""
    margin = " " * (6 if file == "args" else 4)
    made = {k: "".join(f"{margin}{x}\n" if x else "\n" for x in v) for k, v in texts.items()}
    return FILES[file].format(**made).encode()


# -- the edits


@dataclass(frozen=True)
class Edit:
    """One edit, at lines by their numbers: `first` to `last`, or between two lines."""

    what: str
    first: int
    last: int
    rows: tuple[Row, ...] = ()
    after: int = -1  # for a move or a copy: the line before it, and the one after it
    before: int = -1

    def make(self, rows: Rows, *, upper: bool) -> Rows:
        """The lines after it; in a gap that has become wider, at its `upper` end or the lower."""
        if self.what == "insert":
            return _put(rows, self.after, self.before, list(self.rows), upper)
        start, stop = _at(rows, self.first), _at(rows, self.last) + 1
        if self.what == "delete":
            own = range(self.first, self.last + 1)
            return [(n, GONE) if n in own else (n, x) for n, x in rows]
        if self.what == "replace":
            return [*rows[:start], *self.rows, *rows[stop:]]
        taken = rows[start:stop]
        if self.what == "move":
            return _put(rows[:start] + rows[stop:], self.after, self.before, taken, upper)
        return _put(rows, self.after, self.before, list(self.rows), upper)

    def own(self) -> set[int]:
        """The lines that it changes or copies."""
        return set() if self.what == "insert" else set(range(self.first, self.last + 1))


def _at(rows: Rows, number: int) -> int:
    return next(at for at, (n, _) in enumerate(rows) if n == number)


def _put(rows: Rows, after: int, before: int, new: Rows, upper: bool) -> Rows:
    at = _at(rows, after) + 1 if upper else _at(rows, before)
    return rows[:at] + new + rows[at:]


class Maker:
    """Makes the edits of one text."""

    def __init__(self, blocks: list[list[str]], rng: Random) -> None:
        self.rng = rng
        self.blocks: list[range] = []
        self.rows: Rows = []
        for block in blocks:
            start = len(self.rows)
            self.rows += [(start + at, line) for at, line in enumerate(block)]
            self.blocks.append(range(start, len(self.rows)))
        self.next = 1000

    def number(self, lines: list[str]) -> tuple[Row, ...]:
        """New lines."""
        self.next += len(lines)
        return tuple((self.next - len(lines) + at, line) for at, line in enumerate(lines))

    def edit(self) -> Edit:
        """One edit of a random kind."""
        rng, size = self.rng, len(self.rows)
        what = rng.choice(["insert", "insert", "delete", "replace", "replace", "move", "copy"])
        at = rng.randrange(1, size - 1)
        margin = " " * (len(self.rows[at][1]) - len(self.rows[at][1].lstrip()))
        word = f"{self.next}"
        if what == "insert":
            lines = rng.choice(
                [
                    [f"{margin}run --{word}"],
                    [f"{margin}# see {word}", f"{margin}run {word} &"],
                    [f"{margin}if test {word}; then", f"{margin}  run", f"{margin}fi"],
                    ["", f"new_{word}() {{", f"  run {word}", "}"],
                    [f"{margin}while true; do", f"{margin}  sleep {word}", f"{margin}done", ""],
                ]
            )
            return Edit("insert", -1, -1, self.number(lines), at - 1, at)
        if what == "delete":
            return Edit("delete", at, min(at + rng.randint(0, 2), size - 2))
        if what == "replace":
            new = f"{self.rows[at][1]} {word}".rstrip() if rng.random() < 0.7 else f"{margin}{word}"
            last = min(at + rng.choice([0, 0, 1]), size - 2)
            return Edit(
                "replace", at, last, self.number([new, f"{margin}also {word}"][: rng.randint(1, 2)])
            )
        block = rng.choice(self.blocks[1:-1])
        places = [b.start for b in self.blocks[1:] if b.start not in (block.start, block.stop)]
        place = rng.choice(places or [block.stop])
        if what == "move" and places:
            return Edit("move", block[0], block[-1], (), place - 1, place)
        lines = [self.rows[n][1] for n in block]
        if rng.random() < 0.7:
            lines[0] = lines[0].replace("() {", f"_{word}() {{").replace(": ", f": {word}-")
            lines[0] = lines[0].replace("location /", f"location /{word}-")
        return Edit("copy", block[0], block[-1], self.number(lines), place - 1, place)


# -- what is right


def lines(rows: Rows) -> list[str]:
    """The texts of the lines that are there."""
    return [text for _, text in rows if text != GONE]


def _apply(rows: Rows, edits: list[Edit], *, upper: bool) -> Rows:
    for edit in edits:
        rows = edit.make(rows, upper=upper)
    return rows


def _merge(maker: Maker, both: list[Edit], mine: list[Edit], yours: list[Edit]) -> list[str] | None:
    """What is right; nothing if it is not clear."""
    for one in [*both, *mine]:
        for two in yours:
            if not _is_clear(maker, one, two):
                return None
    for group in ([*both, *mine], [*both, *yours]):
        if any(not _is_apart(a, b) for a in group for b in group if a is not b):
            return None
    try:
        results = [
            lines(_apply(maker.rows, order, upper=upper))
            for order in ([*both, *mine, *yours], [*yours, *both, *mine], [*yours, *mine, *both])
            for upper in (True, False)
        ]
    except StopIteration:
        return None
    return results[0] if all(result == results[0] for result in results) else None


def _is_apart(one: Edit, two: Edit) -> bool:
    """Whether two edits of one side touch no line of each other."""
    wide = set(range(two.first - 1, two.last + 2)) if two.own() else set()
    gap = {two.after, two.before} - {-1}
    return not one.own() & (wide | gap) and not ({one.after, one.before} - {-1}) & gap


def _is_clear(maker: Maker, one: Edit, two: Edit) -> bool:
    """Whether an edit of one side leaves that of the other what it is."""
    if one.own() & two.own() and (one.what, two.what) != ("delete", "delete"):
        return False  # an edit inside of what was moved or copied is judged by no line merge
    for edit, other in ((one, two), (two, one)):
        gap = {edit.after, edit.before} - {-1}
        if gap and gap <= other.own():
            return False
        if gap & other.own() and other.what in ("move", "copy"):
            return False
    return True


def _is_single(maker: Maker, mine: list[Edit], yours: list[Edit]) -> bool:
    """Whether no run of lines may as well stand where the other side put one or took one away."""
    places = [[gaps for edit in edits for gaps in _slide(maker, edit)] for edits in (mine, yours)]
    return not any(a & b for a in places[0] for b in places[1])


def _slide(maker: Maker, edit: Edit) -> list[set[int]]:
    """The gaps in which the text may have been put or taken away, without a difference."""
    texts = [text for _, text in maker.rows]
    found = []
    if edit.rows and edit.what in ("insert", "copy"):
        found.append(_gaps(texts, edit.before, [text for _, text in edit.rows]))
    if edit.what in ("move", "delete"):
        taken = texts[edit.first : edit.last + 1]
        rest = texts[: edit.first] + texts[edit.last + 1 :]
        slid = _gaps(rest, edit.first, taken)
        found.append({at + (len(taken) if at > edit.first else 0) for at in slid} - {edit.first})
        if edit.what == "move":
            found.append(_gaps(texts, edit.before, taken))
    return found


def _gaps(texts: list[str], at: int, new: list[str]) -> set[int]:
    """The gaps before which `new` stands, if it is put before the line `at`."""
    whole, found = texts[:at] + new + texts[at:], {at}
    for step in (-1, 1):
        place = at + step
        while 0 <= place <= len(texts):
            same = whole[place : place + len(new)]
            if texts[:place] + same + texts[place:] != whole:
                break
            found.add(place)
            place += step
    return found


@dataclass(frozen=True)
class Case:
    """Three versions, and the files that are right; if not `single`, others may be as well."""

    name: str
    kind: str
    texts: tuple[bytes, bytes, bytes]
    right: tuple[bytes, ...]
    single: bool = True

    def verdict(self, data: bytes | None) -> str:
        """`right`, `wrong`, `other`, or `conflict`."""
        if data is None:
            return "conflict"
        try:
            found = yaml.load(data, LOADER)
        except yaml.YAMLError:
            return "wrong"
        if any(found == yaml.load(x, LOADER) for x in self.right):
            return "right"
        return "wrong" if self.single else "other"


def case(name: str, text: str, rng: Random) -> Case | None:
    """One case; nothing where what is right is not clear."""
    maker = Maker(TEXTS[text](rng, rng.choice(["a", "b", "main"])), rng)
    if not 10 <= len(maker.rows) <= 40:
        return None
    both = [maker.edit()] if rng.random() < 0.35 else []
    mine = [maker.edit() for _ in range(rng.choice([0, 1, 2] if both else [1, 2, 3]))]
    yours = [maker.edit() for _ in range(rng.randint(1, 3 - len(both)))]
    right = _merge(maker, both, mine, yours)
    if right is None:
        return None
    file = rng.choice(list(FILES))
    every = [
        lines(maker.rows),
        lines(_apply(maker.rows, [*both, *mine], upper=True)),
        lines(_apply(maker.rows, [*both, *yours], upper=True)),
        right,
    ]
    if every[0] in every[1:] or any(not rows or not rows[-1] for rows in every):
        return None
    base, ours, theirs, merged = (write(file, {"one": rows}) for rows in every)
    words = sorted({edit.what for edit in [*both, *mine, *yours]})
    kind = next((word for word in ("move", "copy") if word in words), "lines")
    if both:
        kind += ", shared"
    single = _is_single(maker, [*both, *mine], yours) and _is_single(maker, mine, [*both, *yours])
    return Case(name, kind, (base, ours, theirs), (merged,), single)


def cases(text: str, most: int) -> Iterator[Case]:
    """As many cases of a kind of text, the same in every run."""
    made, number = 0, 0
    while made < most:
        number += 1
        found = case(f"{text} {number}", text, Random(f"{text} {number}"))
        if found:
            made += 1
            yield found


# -- two scripts that change places


HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scripts\ndata:\n"


def _scripts(texts: dict[str, list[str]]) -> bytes:
    made = HEAD
    for name, rows in texts.items():
        made += f"  {name}: |\n" + "".join(f"    {x}\n" if x else "\n" for x in rows)
    return made.encode()


def swaps(most: int) -> Iterator[Case]:
    """One side swaps the contents of two scripts, the other edits a line in one of them.

    The edit is right in the content it was made in, and at the key it was made at if the line is
    there as well; it is wrong anywhere else.
    """
    for number in range(most):
        rng = Random(f"swap {number}")
        names = ["a.sh", "b.sh", "c.sh"][: rng.randint(2, 3)]
        texts = {}
        for name in names:
            blocks = shell(rng, name[0])
            texts[name] = [line for block in blocks for line in block]
        one, two = rng.sample(names, 2)
        swapped = {**texts, one: texts[two], two: texts[one]}
        at = rng.randrange(1, len(texts[one]))
        old = texts[one][at]
        new = f"{old} # edited" if old else "# edited"
        kept = [*texts[one][:at], new, *texts[one][at + 1 :]]
        edited = {**texts, one: kept}
        right = [_scripts({**swapped, two: kept})]
        for place, line in enumerate(texts[two]):
            if line == old:
                there = [*texts[two][:place], new, *texts[two][place + 1 :]]
                right.append(_scripts({**swapped, one: there}))
        versions = (_scripts(texts), _scripts(swapped), _scripts(edited))
        yield Case(f"swap {number}", "swap", versions, tuple(right))
