"""What counts as the same meaning, and what counts as damage."""

from __future__ import annotations

import pytest

from kmerge_git.merge.three import Three
from kmerge_git.replay.left_conflicts import Judge

WHOLE = Three(b"a: 1\n", b"a: 1\nb: 2\n", b"a: 1\nc: 3\n")
AGREED = [
    (b"a: 1\n", b"a: 1\n", "same bytes"),
    (b"a: 1\n", b"# why\na:   1\n", "same meaning"),
    (b"a: 1\nb: 2\n", b"b: 2\na: 1\n", "same meaning"),
    (b'a: "x"\n', b"a: x\n", "same meaning"),
    (b"a: [x, y]\n", b"a: [y, x]\n", "another order"),
    (b"a: 1\n---\nb: 2\n", b"b: 2\n---\na: 1\n", "another order"),
    (b"a: 1\n", b"a: 2\n", "different"),
    (b"a: 1\n", b'a: "1"\n', "different"),
    (b"a: 1\n", b"a: true\n", "different"),
    (b"a: 1\n", b"a: 1.5\n", "different"),
    (b"a: [x]\n", b"a: [x, x]\n", "different"),
    (b"a: 1\n", b"<<<<<<< HEAD\na: 1\n=======\n", "unreadable"),
    (b"a: [\n", b"a: 1\n", "different"),
    (b"a: 1\n", None, "gone"),
]


@pytest.mark.parametrize("result, people, words", AGREED)
def test_agreement(result: bytes, people: bytes | None, words: str) -> None:
    assert Judge(WHOLE, "a.yaml").agreement(result, people) == words


def test_damage_is_what_no_side_wrote() -> None:
    judge = Judge(WHOLE, "a.yaml")
    assert judge.damage(b"a: 1\nb: 2\nc: 3\n") == ()
    assert judge.damage(b"a: 1\na: 1\n") == ("duplicate key: a",)
    assert judge.damage(b"b:\n  a: 1\n  a: 1\n") == ("duplicate key: b a",)
    assert judge.damage(b"a: [\n")[0].startswith("no longer valid YAML: ")


def test_what_was_broken_before_is_no_damage() -> None:
    twice = Three(b"a: 1\na: 1\n", b"a: 1\na: 1\nb: 1\n", b"c: 1\na: 1\na: 1\n")
    assert Judge(twice, "a.yaml").damage(b"c: 1\na: 1\na: 1\nb: 1\n") == ()
    template = Three(b"{{ if }}\n", b"{{ if }}\na: 1\n", b"b: 1\n{{ if }}\n")
    assert Judge(template, "a.yaml").damage(b"b: 1\n{{ if }}\na: 1\n") == ()


FILE = b"""kind: A
metadata: {name: a}
list: [{name: x, v: 1}, {name: y, v: '1'}]
none: null
---
kind: B
metadata: {name: b}
---
kind: B
metadata: {name: b}
"""


@pytest.mark.parametrize(
    "resource, path, canon",
    [
        ("A/a", ("list", (("name", "x"),), "v"), "1"),
        ("A/a", ("list", (("name", "y"),), "v"), '"1"'),
        ("A/a", ("list", 0), '{"name": "x", "v": 1}'),
        ("A/a", ("list", (("name", "z"),)), ""),  # it is not there
        ("A/a", ("none",), "null"),
        ("A/a", ("none", "below"), ""),
        ("C/c", ("kind",), None),
        ("B/b", ("kind",), None),  # which one is not known
    ],
)
def test_the_value_at_a_place(resource: str, path: tuple[object, ...], canon: str | None) -> None:
    value = Judge(WHOLE, "a.yaml").value(FILE, resource, path)  # type: ignore[arg-type]
    assert (value.canon if value is not None else None) == canon


def test_what_is_no_yaml_has_no_values() -> None:
    assert Judge(WHOLE, "a.yaml").value(b"a: [\n", "", ("a",)) is None
    assert Judge(WHOLE, "a.yaml").value(None, "", ("a",)) is None
    assert Judge(WHOLE, "a.yaml").value(b"a: *b\n", "", ("a",)) is None  # the alias of nothing


def test_texts_of_charts_have_no_values() -> None:
    """Read as YAML their lines would fold into one, and a name may stand twice."""
    judge = Judge(WHOLE, "templates/NOTES.txt")
    assert judge.agreement(b"a\nb\n", b"a b\n") == "unreadable"
    assert judge.damage(b"a: 1\na: 1\nb: 1\nc: 1\n") == ()
    assert judge.value(FILE, "", ("a",)) is None
