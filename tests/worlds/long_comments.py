"""Values files of 100 to 370 lines, half of them comments: two sides edit comments, and values.

The files are written as those of charts are: prose of helm-docs, entries that are commented out,
at several depths, with lines that are there many times. What is right is known for the values;
for the comments it is known that a line that is new on a side alone is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from textwrap import wrap
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# fmt: off
SECTIONS = (
    "image", "service", "ingress", "persistence", "metrics", "autoscaling", "serviceAccount",
    "podSecurity", "resources", "networkPolicy", "database", "cache", "worker", "scheduler",
    "backup", "logging", "tracing", "sidecar", "probes", "mail",
)
FIELDS = (
    "enabled", "name", "port", "size", "class", "replicas", "timeout", "interval", "level", "host",
    "path", "limit",
)
NOUNS = (
    "the", "pod", "a", "service", "this", "release", "every", "node", "its", "volume", "one",
    "replica", "that", "secret", "your", "cluster", "an", "operator", "controller", "each",
    "container", "some", "namespace", "no", "ingress",
)
VERBS = (
    "uses", "needs", "gets", "waits", "keeps", "reads", "writes", "starts", "stops", "holds",
    "serves", "mounts",
)
# fmt: on


@dataclass
class Part:
    """The comment above an entry, and the entry."""

    margin: str
    comment: list[str]  # with the marks, without the margin; an empty one is an empty line
    key: str
    value: Any = None  # a number or a word; nothing: the entries of a section follow
    extra: list[str] = field(default_factory=list)  # entries that were commented out

    def lines(self) -> list[str]:
        """The lines of the file."""
        above = [f"{self.margin}{line}" if line else "" for line in self.comment]
        more = [f"{self.margin}{line}" for line in self.extra]
        entry = f"{self.margin}{self.key}:" + ("" if self.value is None else f" {self.value}")
        return [*above, *more, entry]


Parts = list[Part]


def write(parts: Parts) -> bytes:
    """The file."""
    return "".join(f"{line}\n" for part in parts for line in part.lines()).encode()


def values(parts: Parts) -> Any:
    """What the file says."""
    return load(write(parts))


def load(data: bytes) -> Any:
    """The values of a file; nothing if it is none."""
    try:
        return yaml.load(data, LOADER)
    except yaml.YAMLError:
        return None


# -- a file


def _sentence(rng: Random, words: int) -> str:
    made = [rng.choice(VERBS if at % 3 == 2 else NOUNS) for at in range(words)]
    return " ".join(made).capitalize() + "."


def _prose(rng: Random, width: int, size: int) -> list[str]:
    return [f"# {line}" for line in wrap(_sentence(rng, size), width)]


def _comment(rng: Random, key: str, number: int) -> list[str]:
    """A block above an entry."""
    width = rng.choice([50, 70])
    sort = rng.choice(["docs", "docs", "plain", "paragraphs", "example", "example", "short", ""])
    if not sort:
        return []
    if sort == "short":
        return _prose(rng, width, 5)
    if sort == "docs":
        text = wrap(f"{_sentence(rng, 14)} See {key}.", width)
        lines = [f"# -- {text[0]}", *(f"# {line}" for line in text[1:])]
        return [*lines, "# @default -- {}"] if rng.random() < 0.6 else lines
    if sort == "plain":
        return _prose(rng, width, rng.randint(15, 40))
    if sort == "paragraphs":
        parts = [_prose(rng, width, rng.randint(12, 30)) for _ in range(rng.randint(2, 3))]
        lines = [line for part in parts for line in [*part, "#"]]
        return lines if rng.random() < 0.3 else lines[:-1]
    head = [*_prose(rng, width, 9), "#"] if rng.random() < 0.5 else ["# Example:"]
    return [*head, *_example(rng, number), *(["#"] if rng.random() < 0.3 else [])]


def _example(rng: Random, number: int) -> list[str]:
    """An entry that is commented out; its name is there once in the file."""
    mark = rng.choice(["# ", "#", "# "])
    inner = [f"  {name}: {rng.randrange(100)}" for name in rng.sample(FIELDS, rng.randint(1, 4))]
    return [f"{mark}example{number}:", *(f"{mark}{line}" for line in inner)]


def parts(rng: Random) -> Parts:
    """A file."""
    most = rng.randint(100, 340)
    head = ["# Default values for a chart.", "# This is a YAML file.", ""]
    made = [Part("", head, "nameOverride", "x")]
    size, number = len(made[0].lines()), 0
    for section in rng.sample(SECTIONS, len(SECTIONS)):
        if size > most:
            break
        number += 1
        comment = _comment(rng, section, number)
        made.append(Part("", ["", *comment] if rng.random() < 0.7 else comment, section))
        for key in rng.sample(FIELDS, rng.randint(2, 5)):
            number += 1
            made.append(Part("  ", _comment(rng, key, number), key, rng.randrange(1000)))
            if rng.random() < 0.25:
                made[-1].value = None
                for inner in rng.sample(FIELDS, rng.randint(1, 3)):
                    number += 1
                    lines = _comment(rng, inner, number)
                    made.append(Part("    ", lines, inner, rng.randrange(1000)))
        size = sum(len(part.lines()) for part in made)
    return made


# -- the edits

EDITS = ["reword", "reword", "add", "add", "delete", "wrap", "uncomment", "value"]


@dataclass(frozen=True)
class Plan:
    """One edit: of which part, what, and the dice for the rest."""

    at: int
    what: str
    seed: str

    def make(self, made: Parts, tag: str) -> bool:
        """Make the edit; whether there was something to edit."""
        rng, part = Random(self.seed), made[self.at]
        rows = part.comment
        own = [at for at, row in enumerate(rows) if row.startswith("# ") and " " in row[2:]]
        if self.what == "value":
            if isinstance(part.value, int):
                part.value = f"{tag}{rng.randrange(1000)}"
            return isinstance(part.value, str)
        if self.what in ("add", "wrap"):  # nobody writes prose into an example
            own = [at for at in own if not rows[at].startswith(("#  ", "# example"))]
        if not own:
            return False
        if self.what == "reword":
            at = rng.choice(own)
            words = rows[at].split(" ")
            words[rng.randrange(1, len(words))] = f"{tag}{rng.randrange(1000)}"
            rows[at] = " ".join(words)
        elif self.what == "add":
            at = rng.choice(own) + rng.randint(0, 1)
            new = [f"# {tag} {rng.randrange(1000)} {_sentence(rng, 5)}" for _ in range(3)]
            new = new[: rng.randint(1, 3)]
            rows[at:at] = [*new, "#"] if rng.random() < 0.25 else new
        elif self.what == "delete":
            at = rng.choice(own)
            del rows[at : at + rng.randint(1, 3)]
        elif self.what == "wrap":
            return _wrap(rows, own, rng, tag)
        else:
            return _uncomment(part)
        return True


def _wrap(rows: list[str], own: list[int], rng: Random, tag: str) -> bool:
    """Wrap a paragraph at another width, mostly with a new word in it."""
    start = stop = rng.choice(own)
    marks = ("# --", "# @", "# Example", "# example")
    while start - 1 in own and not rows[start].startswith(marks):
        start -= 1
    while stop + 1 in own and not rows[stop + 1].startswith(marks):
        stop += 1
    taken = rows[start : stop + 1]
    if len(taken) < 2:
        return False
    words = " ".join(row[2:] for row in taken).split()
    if rng.random() < 0.7:
        words.insert(rng.randrange(1, len(words)), f"{tag}{rng.randrange(1000)}")
    width = rng.choice([40, 60, 90])
    rows[start : stop + 1] = [f"# {line}" for line in wrap(" ".join(words), width)]
    return True


def _uncomment(part: Part) -> bool:
    """Make an example an entry, right above the entry that it was above of."""
    at = next((at for at, row in enumerate(part.comment) if "example" in row), None)
    if at is None:
        return False
    stop = at + 1
    mark = part.comment[at].partition("example")[0]
    while stop < len(part.comment) and part.comment[stop].startswith(f"{mark}  "):
        stop += 1
    if stop == at + 1:
        return False
    part.extra = [row.removeprefix(mark) for row in part.comment[at:stop]]
    below = part.comment[stop:]
    del part.comment[at:]
    part.extra += below
    return True


@dataclass(frozen=True)
class Case:
    """Three versions, and the values that are right."""

    name: str
    kind: str
    texts: tuple[bytes, bytes, bytes]
    values: Any  # nothing where one field was edited by both
    new: tuple[str, ...]  # the comment lines that are new on one side alone

    def verdict(self, data: bytes | None) -> str:
        """`right`, `wrong` (by its values), `lost` or `doubled` (a comment line), or `conflict`."""
        if data is None:
            return "conflict"
        if load(data) != self.values:
            return "wrong"
        if doubled(self, data):
            return "doubled"
        there = set(data.decode().splitlines())
        return "right" if there.issuperset(self.new) else "lost"


def case(name: str) -> Case | None:
    """One case: 2 to 5 edits of each side, most of them in the same comments, some of both."""
    rng = Random(name)
    base = parts(rng)
    some = [at for at, part in enumerate(base) if len(part.comment) > 2]
    near = rng.sample(some, min(len(some), rng.randint(1, 3)))
    start = deepcopy(base)
    shared = _edit(rng, name, start, "both", some, near, rng.choice([0, 0, 1]))
    sides, plans = [], []
    for tag in ("mine", "yours"):
        side = deepcopy(start)
        plans.append(_edit(rng, name, side, tag, some, near, rng.randint(2 - len(shared), 5)))
        sides.append(side)
    if any(side == base for side in sides):
        return None
    once = [{(p.at, p.what) for p in own if p.what in ("value", "uncomment")} for own in plans]
    if once[0] & once[1]:
        return None
    whole = deepcopy(base)
    for old, mine, yours, both in zip(base, *sides, whole, strict=True):
        both.value = yours.value if mine.value == old.value else mine.value
        if mine.value != yours.value and old.value not in (mine.value, yours.value):
            return None  # one edited again what both had edited
        both.extra = mine.extra or yours.extra
    texts = tuple(write(version) for version in (base, *sides))
    if not 100 <= texts[0].count(b"\n") <= 370:
        return None
    kind = "same comments" if {p.at for p in plans[0]} & {p.at for p in plans[1]} else "others"
    kind += ", shared" if shared else ""
    return Case(name, kind, texts, values(whole), _new(texts))  # type: ignore[arg-type]


def _edit(
    rng: Random, name: str, side: Parts, tag: str, some: list[int], near: list[int], most: int
) -> list[Plan]:
    """Make edits, and return them."""
    own: list[Plan] = []
    for _ in range(most):
        what = rng.choice(EDITS)
        at = rng.choice(near) if rng.random() < 0.75 and what != "value" else rng.choice(some)
        plan = Plan(at, what, f"{name} {rng.random()}")
        if all((at, what) != (one.at, one.what) for one in own) and plan.make(side, tag):
            own.append(plan)
    return own


def _new(texts: tuple[bytes, ...]) -> tuple[str, ...]:
    """The comment lines that one side alone has, with words that only this side writes."""
    counts = [Counter(text.decode().splitlines()) for text in texts]
    tags = ("mine", "yours")
    return tuple(
        line
        for side, tag in zip(counts[1:], tags, strict=True)
        for line in side
        if line.lstrip().startswith("#") and tag in line and line not in counts[0]
    )


def cases(most: int) -> Iterator[Case]:
    """As many cases, the same in every run."""
    made, number = 0, 0
    while made < most:
        number += 1
        found = case(f"values {number}")
        if found:
            made += 1
            yield found


def marked(text: bytes) -> int:
    """How many lines are inside of conflicts, without the markers and without a base."""
    count, state = 0, ""
    for line in text.decode().splitlines():
        if line.startswith("<<<<<<<"):
            state = "side"
        elif line.startswith("|||||||") and state:
            state = "base"
        elif line.startswith("=======") and state:
            state = "side"
        elif line.startswith(">>>>>>>") and state:
            state = ""
        else:
            count += state == "side"
    return count


def taken(text: bytes, side: str) -> bytes:
    """The text with one side, `ours` or `theirs`, taken in each conflict."""
    rows, state = [], ""
    for line in text.decode().splitlines(keepends=True):
        if line.startswith("<<<<<<<"):
            state = "ours"
        elif line.startswith("|||||||") and state:
            state = "base"
        elif line.startswith("=======") and state:
            state = "theirs"
        elif line.startswith(">>>>>>>") and state:
            state = ""
        elif state in ("", side):
            rows.append(line)
    return "".join(rows).encode()


def doubled(case: Case, text: bytes) -> list[str]:
    """The comment lines with words that are there more often than in any version."""
    counts = [Counter(data.decode().splitlines()) for data in (text, *case.texts)]
    return [
        line
        for line, count in counts[0].items()
        if line.strip(" #") and count > max(version[line] for version in counts[1:])
    ]
