"""Values in one line."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from kmerge_git.text.source import Source
from kmerge_git.tree.brief import LONGEST, beside, brief
from kmerge_git.tree.documents import split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "x"),
        ('"8080"', '"8080"'),
        ("a:\n", "{a: null}"),
        ("- a: 1\n  b: [x, 'y']\n- c\n", "[{a: 1, b: [x, 'y']}, c]"),
        ("a: |\n  one\n    two\n", '{a: "one two"}'),
        ("a: &x 1\nb: *x\n", "{a: &x 1, b: *x}"),
        ("{}", "{}"),
    ],
)
def test_a_value_in_a_line(text: str, expected: str) -> None:
    (root,) = split(Source(text.encode())).roots
    assert brief(root) == expected


def test_nothing_is_nothing() -> None:
    assert brief(None) == ""


def test_a_long_one_is_cut() -> None:
    (root,) = split(Source(b"".join(b"- element %d\n" % n for n in range(5000)))).roots
    told = brief(root)
    assert len(told) == LONGEST
    assert told.endswith("…")


LONG = "abcdefghij" * 20


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["a", "b", ""], ["a", "b", ""]),
        # all of them begin at one place, shortly before the difference
        ([f"{LONG}1", f"{LONG}2"], ["…ijabcdefghij1", "…ijabcdefghij2"]),
        ([f"{LONG}1{LONG}", f"{LONG}2{LONG}"], [f"…ijabcdefghij{n}{LONG[:25]}…" for n in "12"]),
        ([f"1{LONG}", f"2{LONG}", "3"], [f"1{LONG[:37]}…", f"2{LONG[:37]}…", "3"]),
        ([LONG, LONG, ""], [f"{LONG[:38]}…", f"{LONG[:38]}…", ""]),
        ([LONG, f"{LONG}x"], ["…ijabcdefghij", "…ijabcdefghijx"]),
        # quotes are no difference, unless there is no other
        ([f'"{LONG}1"', f"{LONG}2"], ['…ijabcdefghij1"', "…jabcdefghij2"]),
        ([f'"{LONG}"', f"'{LONG}'"], ['…ijabcdefghij"', "…ijabcdefghij'"]),
        # where one differs early and two of them late, both places are shown
        (
            [f"1{LONG}", f"2{LONG}x", f"2{LONG}y"],
            [
                f"1{LONG[:17]}…ijabcdefghij",
                f"2{LONG[:17]}…ijabcdefghijx",
                f"2{LONG[:17]}…ijabcdefghijy",
            ],
        ),
    ],
)
def test_beside_each_other_the_part_that_differs_is_shown(
    texts: list[str], shown: list[str]
) -> None:
    assert beside(texts, 40) == shown


def test_what_differs_is_shown_differently() -> None:
    r = Random(7)
    for _ in range(3000):
        stem = "".join(r.choices("ab", k=r.randrange(300)))
        texts = []
        for _ in range(3):
            at = [r.randrange(len(stem) + 1) for _ in range(r.randrange(3))]
            quote = r.choice(("", "", "'", '"'))
            texts.append(
                quote + "".join(f"x{c}" if n in at else c for n, c in enumerate(stem)) + quote
            )
        shown = beside(texts, 60)
        assert max(map(len, shown)) <= 60
        for a, b in combinations(range(3), 2):
            assert (texts[a] == texts[b]) == (shown[a] == shown[b]), texts
