"""Block style on one side, brackets on the other, and comments: `|` is a line end."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files

LIST, MAP = "args:|- a|- b|x: 1|", "m:|  a: 1|  b: 2|x: 1|"
LOST = {
    "above an element": (LIST, "args: [a, b, c]|x: 1|", "args:|- a|# why|- b|x: 1|"),
    "behind an element": (LIST, "args: [a, b, c]|x: 1|", "args:|- a|- b # why|x: 1|"),
    "below": (LIST, "args: [a, b, c]|x: 1|", "args:|- a|- b|  # foot|x: 1|"),
    "above a key": (MAP, "m: {a: 1, b: 2, c: 3}|x: 1|", "m:|  a: 1|  # why|  b: 2|x: 1|"),
    "behind a changed value": (MAP, "m: {a: 1, b: 2, c: 3}|x: 1|", "m:|  a: 1|  b: 3 # why|x: 1|"),
    "at the top": (MAP, "m: {a: 1, b: 2, c: 3}|x: 1|", "m:|  # head||  a: 1|  b: 3|x: 1|"),
    "at the bottom": (MAP, "m: {a: 1, b: 2, c: 3}|x: 1|", "m:|  a: 1|  b: 2|  # foot|x: 1|"),
    "in a new value": ("m: {a: 1}|x: 1|", "m: {a: 2}|x: 1|", "m:|  a: 1|  c: # n|    d: 1|x: 1|"),
    "taken away by the brackets": ("m:|  # h||  a: 1|  b: 2 # t|  # f|x: 1|",
        "m:|  # h||  a: 1|  b: 3 # t|  # f|x: 1|", "m: {a: 2, b: 2}|x: 1|"),
    "changed within brackets": ("m: [a,|  # c|  b]|x: 1|", "m: [a,|  # d|  b]|x: 1|", "m:|- a|# c|- c|x: 1|"),
}  # fmt: skip

KEPT = {
    "behind the key": (MAP, "m: {a: 1, b: 2, c: 3}|x: 1|", "m: # k|  a: 1|  b: 3|x: 1|",
        {"m: {a: 1, b: 3, c: 3} # k|x: 1|", "m: # k|  a: 1|  b: 3|  c: 3|x: 1|"}),
    "emptied on one side, taken away on the other": ("m:|  # h|  a: 1|  b: 2|x: 1|",
        "m: {}|x: 1|", "m:|  # h|  a: 1|x: 1|", {"m: {}|x: 1|"}),
    "none": (MAP, "m: {a: 1, b: 2, c: 3}|x: 1|", "m:|  a: 1|  b: 3|x: 1|",
        {"m: {a: 1, b: 3, c: 3}|x: 1|", "m:|  a: 1|  b: 3|  c: 3|x: 1|"}),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs", LOST.values(), ids=LOST)
def test_a_comment_that_the_other_style_cannot_hold(base: str, ours: str, theirs: str) -> None:
    for trio in ((base, ours, theirs), (base, theirs, ours)):
        clean, text = merged(*trio)
        assert not clean
        assert all(line in text for line in (*ours.split("|"), *theirs.split("|")))


@pytest.mark.parametrize("base, ours, theirs, expected", KEPT.values(), ids=KEPT)
def test_other_comments(base: str, ours: str, theirs: str, expected: set[str]) -> None:
    assert {merged(base, ours, theirs), merged(base, theirs, ours)} == {(True, x) for x in expected}


def test_each_side_of_a_conflict_has_its_own_comment() -> None:
    _, text = merged("a: {k: x} # c|", "a: {k: y} # o|", "a: {k: z} # c|")
    assert "a: {k: y} # o|=======|a: {k: z} # c|" in text


def merged(*texts: str) -> tuple[bool, str]:
    trio = (text.replace("|", "\n").encode() for text in texts)
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    return outcome.clean, outcome.text.decode().replace("\n", "|")
