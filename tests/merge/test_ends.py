"""The ends of a file and of its lines, and what opens its documents; `|` is a line end."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files

OPENINGS = {
    "ours drops the first one": ("---|a: 1|---|b: 1|", "a: 1|---|b: 1|", "---|a: 2|---|b: 1|", "a: 2|---|b: 1|"),
    "ours adds it": ("a: 1|---|b: 1|", "---|a: 1|---|b: 1|", "a: 2|---|b: 1|", "---|a: 2|---|b: 1|"),
    "both sides add one each": ("a: 1|", "a: 1|---|", "---|a: 2|", "---|a: 2|---|"),
    "three in all three": ("a: 1|---|---|---|", "a: 2|---|---|---|", "a: 1|---|---|---|kind: X|",
        "a: 2|---|---|---|kind: X|"),
    "one gone": ("a: 1|---|---|b: 1|", "a: 2|---|---|b: 1|", "a: 1|---|b: 2|", "a: 2|---|b: 2|"),
    "the last one gone": ("---|a: 1|---|", "---|a: 2|---|", "---|a: 1|", "---|a: 2|"),
    "both add some": ("a: 1|---|b: 1|", "a: 2|---|b: 1|---|", "a: 1|---|b: 1|---|---|", "a: 2|---|b: 1|---|---|"),
    "with the document that it opens": ("---|# c|---|a: 1|", "---|# c|---|a: 2|", "---|a: 1|", "---|a: 2|"),
}  # fmt: skip

ENDS = {
    "a newline that ours drops": ("a: 1|b: 1|c: 1|", "a: 2|b: 1|c: 1", "a: 1|b: 2|c: 1|", "a: 2|b: 2|c: 1|"),
    "a newline that is new": ("a: 1|b: 1|c: 1", "a: 2|b: 1|c: 1|", "a: 1|b: 2|c: 1", "a: 2|b: 2|c: 1|"),
    "a newline that nobody has": ("a: 1|b: 1", "a: 2|b: 1", "a: 1|b: 2", "a: 2|b: 2"),
    "a newline that both drop": ("a: 1|b: 1|", "a: 2|b: 1", "a: 1|b: 2", "a: 2|b: 2"),
    "all lines": ("a: 1|b: 1|c: 1|", "a: 2|b: 1|c: 1|", "a: 1^b: 1^c: 2^", "a: 2^b: 1^c: 2^"),
    "all lines back": ("a: 1^b: 1^c: 1^", "a: 2^b: 1^c: 1^", "a: 1|b: 1|c: 2|", "a: 2|b: 1|c: 2|"),
    "all lines of a mixed file": ("a: 1^b: 1|c: 1|", "a: 2^b: 1|c: 1|", "a: 1|b: 1|c: 2|", "a: 2|b: 1|c: 2|"),
    "all lines of a mixed file, with comments": ("# x^a: 1|c: 1|", "# x^# y^a: 2|c: 1|", "# x|a: 1|c: 2|",
        "# x|# y|a: 2|c: 2|"),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, expected", OPENINGS.values(), ids=OPENINGS)
def test_openings(base: str, ours: str, theirs: str, expected: str) -> None:
    assert merged(base, ours, theirs) == expected
    assert merged(base, theirs, ours) == expected


@pytest.mark.parametrize("base, ours, theirs, expected", ENDS.values(), ids=ENDS)
def test_ends_of_lines_and_of_the_file(base: str, ours: str, theirs: str, expected: str) -> None:
    assert merged(base, ours, theirs) == expected
    assert merged(base, theirs, ours) == expected


def merged(*texts: str) -> str:
    trio = (text.replace("|", "\n").replace("^", "\r\n").encode() for text in texts)
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    assert outcome.clean
    return outcome.text.decode().replace("\r\n", "^").replace("\n", "|")


def test_strangers_are_told_apart_from_empty_documents() -> None:
    trio = (b"---\n---\n---\n", b"---\n---\n---\na: 1\n", b"---\n---\n---\nb: 1\n")
    assert not merge_files(*trio).clean


def test_lines_that_one_side_mixes_come_at_ours_ends() -> None:
    trio = "a: 1^b: 1^c: 1^", "a: 2^b: 1^c: 1^", "a: 1^b: 1^c: 2^d: 1|"
    assert merged(*trio) == "a: 2^b: 1^c: 2^d: 1^"
