"""Values in one line."""

from __future__ import annotations

import pytest

from kmerge_git.text.source import Source
from kmerge_git.tree.brief import LONGEST, brief
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
