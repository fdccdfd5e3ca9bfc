"""The generator of damage: it does what it says, and no more than a person's slip."""

from __future__ import annotations

from random import Random

import pytest
from random_damage import KINDS, MEANT, NOWHERE, SAME, UNREAD, Damage, Merge, damage
from yaml_places import read

BASE = """\
kind: Shop
metadata:
  name: shop
defaults: &defaults
  cpu: 1
  memory: 2
web:
  <<: *defaults
  image: web:1
  args:
  - -v
  - --fast
  env:
  - name: A
    value: a
  - name: B
    value: b
script: |
  one
  two
  three
---
kind: Service
metadata:
  name: web
"""
OURS = BASE.replace("web:1", "web:2")
THEIRS = BASE.replace("  two\n", "  two\n  more\n")
RESULT = OURS.replace("  two\n", "  two\n  more\n")
TOO_MANY = 400


def forms(kind: str, form: str, merge: Merge) -> list[Damage]:
    """The damages of one form that some seeds make."""
    made = [damage(kind, merge, Random(seed)) for seed in range(TOO_MANY)]
    return [one for one in made if isinstance(one, Damage) and one.form == form]


@pytest.mark.world
@pytest.mark.parametrize("kind, form", [(kind, form) for kind in KINDS for form in KINDS[kind]])
def test_every_form_is_done(kind: str, form: str) -> None:
    merge = Merge(BASE, OURS, THEIRS, RESULT)
    made = forms(kind, form, merge)
    assert made
    assert merge.reading
    for one in made:
        damaged = read(one.text)
        assert damaged is None or kind == "markers" or damaged.value != merge.reading.value
        assert one.text.split("\n")[: one.line - 1] == RESULT.split("\n")[: one.line - 1]
        assert one.text.split("\n")[one.line - 1 :] != RESULT.split("\n")[one.line - 1 :]
        if kind in ("slip", "gone", "twice"):
            assert damaged is not None
        if kind == "unreadable":
            assert damaged is None


def test_the_same_seed_makes_the_same_damage() -> None:
    made = [
        [damage(kind, Merge(BASE, OURS, THEIRS, RESULT), Random(7)) for kind in KINDS]
        for _ in range(2)
    ]
    assert made[0] == made[1]


def sided(text: str, *others: str) -> Merge:
    base, ours, theirs = others or (text, text, text)
    return Merge(base, ours, theirs, text)


REFUSED = [
    ("slip", "comments may stand anywhere", sided("# a\n# b\n"), SAME),
    ("slip", "an element of a list that may stand so, too", sided("a:\n- b\n"), SAME),
    ("gone", "theirs took it away", sided("a: 1\nb: 2\n", "a: 1\nb: 2\n", "a: 1\nb: 2\n", "c: 1\n"), MEANT),
    ("gone", "each side took another of two away", sided("- a\n", "- a\n- a\n", "- a\n", "- a\n"), MEANT),
    ("twice", "a side has it twice", sided("- a\n", "- a\n- a\n", "- a\n", "- a\n"), NOWHERE),
    ("alias", "a side has none", sided("a: &a 1\nb: *a\n", "a: 1\nb: 1\n", *["a: &a 1\nb: *a\n"] * 2), NOWHERE),
    ("fused", "one document", sided("a: 1\n"), NOWHERE),
    ("fused", "an empty document", sided("---\n# nothing\n---\na: 1\n"), NOWHERE),
    ("text", "ours took the line away", sided("a: |\n  b\n", "a: |\n  b\n", "a: |\n  c\n", "a: |\n  b\n"), None),
    ("unreadable", "ours is no YAML", sided("a: 1\n", "a: 1\n", "a: [\n", "a: 1\n"), UNREAD),
    ("markers", "a text without a block scalar has room for them", sided("a: 1\n"), None),
]  # fmt: skip


@pytest.mark.parametrize("kind, why, merge, said", REFUSED, ids=[c[1] for c in REFUSED])
def test_what_is_no_damage_is_refused(kind: str, why: str, merge: Merge, said: str | None) -> None:
    made = {damage(kind, merge, Random(seed)) for seed in range(60)}
    if said is None:
        assert all(isinstance(one, Damage) for one in made)
        assert {one.form for one in made if isinstance(one, Damage)}.isdisjoint(
            {"its end", "its middle", "all, in a text"}
        )
    else:
        assert made == {said}


SAME_VALUES = [
    ("a: 1\nb: 2\n", "{b: 2, a: 1}\n"),
    ("a: &x {b: 1}\nc: *x\n", "a: {b: 1}\nc: {b: 1}\n"),
    ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", "a: {b: 1, c: 2}\nd: {b: 1, c: 3}\n"),
    ("a: |\n  b\n", 'a: "b\\n"\n'),
    ("a: yes\n", "a:   yes # comment\n"),
]
OTHER_VALUES = [
    ("a: 1\n", "a: '1'\n"),
    ("a:\n", "a: ''\n"),
    ("- a\n- b\n", "- b\n- a\n"),
    ("a: 1\n---\nb: 1\n", "a: 1\nb: 1\n"),
    ("a: &x {b: 1}\nc:\n  <<: *x\n", "a: &x {b: 1}\nc:\n  <<:\n"),
]


@pytest.mark.parametrize("one, other", SAME_VALUES)
def test_same_values(one: str, other: str) -> None:
    assert read(one).value == read(other).value  # type: ignore[union-attr]


@pytest.mark.parametrize("one, other", OTHER_VALUES)
def test_other_values(one: str, other: str) -> None:
    assert read(one).value != read(other).value  # type: ignore[union-attr]


def test_places() -> None:
    made = read(RESULT)
    assert made is not None
    lines = {
        ".".join(str(step[-1]) for step in e.path[1:]): (e.first, e.stop) for e in made.entries
    }  # type: ignore[index]
    assert lines["defaults"] == (3, 6)
    assert lines["web.env"] == (12, 17)
    assert lines["web.env.B"] == (15, 17)
    assert lines["script"] == (17, 22)
    assert lines["metadata.name"] == (25, 26)
    assert [e.first for e in made.documents] == [0, 22]
