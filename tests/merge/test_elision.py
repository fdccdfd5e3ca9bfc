"""Long texts without the lines that nobody changed: the same merge."""

from __future__ import annotations

import random

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge import by_resource, elision
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Outcome
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
LINES = ["a", "b: 1", "  deeper", "# note", "", "- x", "end", "| y", "\tz", "   ", "é", "{{ x }}"]


def text(lines: list[str], style: str = "|", column: int = 4) -> str:
    body = "".join((" " * column + line if line else "") + "\n" for line in lines)
    return f"{HEAD}  a: b\n  k: {style}\n{body}  z: b\n"


def taken(*lines: list[str], style: str = "|") -> list[str] | None:
    """The runs that are taken out of three versions."""
    at = Three(*(split(Source.of(text(side, style))).documents[0] for side in lines))
    made = elision.elide(at)
    return None if made is None else list(made.texts.values())


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elision, "WORTH", 20)


USUAL = [f"line {n}" for n in range(30)]


@pytest.mark.usefixtures("_small")
def test_what_stands_between_changes_is_taken_out() -> None:
    ours, theirs = list(USUAL), list(USUAL)
    ours[10], theirs[20] = "ours", "theirs"
    runs = taken(USUAL, ours, theirs)
    assert runs is not None
    taken_out = [line.strip() for run in runs for line in run.splitlines()]
    assert taken_out == [*USUAL[1:9], *USUAL[12:19], *USUAL[22:29]]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    "line, style",
    [
        ("line", ">"),  # folded: a line is not a line of the value
        ("line", "|2"),
        ("   ", "|"),
        ("\x01", "|"),
        ("a\rb", "|"),
        ("\u2028", "|"),
        ("kmerge.elided.run", "|"),
        ("a: &b", "|"),
    ],
)
def test_a_text_that_is_not_taken_apart(line: str, style: str) -> None:
    base = [*USUAL[:15], line, *USUAL[15:]]
    ours, theirs = list(base), list(base)
    ours[3], theirs[25] = "ours", "theirs"
    assert taken(base, ours, theirs, style=style) is None


def merged(three: tuple[bytes, bytes, bytes]) -> tuple[object, ...]:
    made: Outcome = merge_files(*three, path="a.yaml", line_merge=lambda *_: (b"", False))
    places = [(c.field, c.why, c.place) for c in made.conflicts]
    return made.method, made.clean, made.text, places, [repr(d) for d in made.decisions]


@pytest.mark.costly
def test_a_long_text_merges_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    r = random.Random(7)
    used = 0
    for _ in range(100):
        base = ["start"]
        base += [r.choice(LINES) if r.random() < 0.3 else f"line {n}" for n in range(24)]
        sides = [list(base), list(base)]
        for side in sides:
            for _ in range(r.randint(1, 2)):
                at = r.randrange(len(side))
                side[at : at + r.randint(0, 1)] = [r.choice(["new", "other", "", "  deep"])]
        style, column = r.choice(["|", "|-", "|+"]), r.choice([3, 4])
        versions = [text(lines, style, column).encode() for lines in (base, *sides)]
        three = (versions[0], versions[1], versions[2])
        monkeypatch.setattr(by_resource, "LARGE", 1 << 30)
        whole = merged(three)
        monkeypatch.setattr(by_resource, "LARGE", 0)
        monkeypatch.setattr(elision, "WORTH", 20)
        assert merged(three) == whole
        used += taken(base, *sides, style=style) is not None
    assert used > 10
