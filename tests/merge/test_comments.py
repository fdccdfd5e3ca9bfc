"""Comment lines of three versions: one line each, `|` between them, blank ones empty."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.comments import comment_lines, merge_lines
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.placed_lines import line_pieces
from kmerge_git.text.pieces import Hunk

CASES = {
    "nobody": ("#a", "#a", "#a", None),
    "ours": ("#a", "#b", "#a", None),
    "theirs": ("#a", "#a", "#b", "#b"),
    "both alike": ("#a", "#b", "#b", None),
    "both add": ("", "#o", "#t", "#o|#t"),
    "both add, and begin and end alike": ("", "#a|#o|#z", "#a|#t|#z", "#a|<#o=#t>|#z"),
    "both add above and below": ("#a", "#o|#a", "#a|#t", "#o|#a|#t"),
    "both rewrite": ("#a", "#o", "#t", "<#o=#t>"),
    "both rewrite neighbours": ("#a|#b", "#o|#b", "#a|#t", "#o|#t"),
    "rewritten and taken away": ("#a", "#o", "", "#o"),
    "taken away and added below": ("#a", "", "#a|#t", "#t"),
    "different ones taken away": ("#a|#b", "#a", "#b", ""),
    "one taken away, one rewritten": ("#a|#b", "#b", "#a|#t", "#t"),
    "taken away, blank lines changed": ("|#a", "", "#a", ""),
    "taken away, blank lines added": ("|#a", "|", "||#a|", "|"),
    "blank lines between, and a new comment": ("#a|#b", "#a||#b", "#a|#b|#t", "#a||#b|#t"),
    "blank lines of both": ("#a", "|#a", "#a|", "|#a|"),
    "indented by theirs": ("#a", "#a|#o", "  #a", "  #a|#o"),
    "indented by theirs alone": ("#a", "#a", "  #a", "  #a"),
    "indented by ours": ("#a", "  #a", "#a|#t", "  #a|#t"),
    "blanks behind, that theirs took away": ("#a  ", "#a  ", "#a", "#a"),
    "blanks behind, that ours took away": ("#a  ", "#a", "#a  ", None),
}


@pytest.mark.parametrize("base, ours, theirs, expected", CASES.values(), ids=CASES)
def test_lines_of_comments(base: str, ours: str, theirs: str, expected: str | None) -> None:
    at = Three(base, ours, theirs).map(lambda text: text.replace("|", "\n") + "\n" * bool(text))
    parts = merge_lines(at.map(lambda text: comment_lines(text, 0)))
    assert (written(parts) if parts is not None else None) == expected


def written(parts) -> str:
    found = []
    for piece in line_pieces(parts, 0, (), "", ""):
        if isinstance(piece, Hunk):
            found.append(f"<{bare(piece.ours)}={bare(piece.theirs)}>")
        elif piece:
            found.append(bare(piece))
    return "|".join(found)


def bare(text: str) -> str:
    return text.removesuffix("\n").replace("\n", "|")


def test_a_comment_stays_as_far_from_what_it_belongs_to() -> None:
    lines = comment_lines("  # at\n    # in\n# out\n", 2)
    assert line_pieces([lines], 2, (), "", "") == ["  # at\n    # in\n# out\n"]
    assert line_pieces([lines], 4, (), "", "") == ["    # at\n      # in\n  # out\n"]


BELOW = {
    "both add": ("# - x|", "# - x|# - o|", "# - t|# - x|", "# - t|# - x|# - o|"),
    "both add in one place": ("# - x|", "# - x|# - o|", "# - x|# - t|", "# - x|# - o|# - t|"),
    "theirs adds, ours takes away": ("# - x|", "", "# - x|# - t|", None),
    "ours adds, theirs takes away": ("# - x|", "# - x|# - o|", "", None),
    "both rewrite": ("# - x|", "# - o|", "# - t|", None),
    "one rewrites, one takes away": ("# - x|", "# - o|", "", None),
}


@pytest.mark.parametrize("base, ours, theirs, expected", BELOW.values(), ids=BELOW)
def test_examples_below_an_empty_collection(
    base: str, ours: str, theirs: str, expected: str | None
) -> None:
    trio = (f"a: []|{below}|b: 1|".replace("|", "\n").encode() for below in (base, ours, theirs))
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    assert outcome.clean is (expected is not None)
    if expected is not None:
        assert outcome.text.decode().replace("\n", "|") == f"a: []|{expected}|b: 1|"


# base, ours, theirs and the result; `|` is a line end
IN_A_CONFLICT = {
    "both changed them": (
        "x: 1|# c|a: 1|z: 1|", "x: 1|# o|a: 2|z: 1|", "x: 1|# t|a: 3|z: 1|",
        "x: 1|<<<<<<<|# o|a: 2|=======|# t|a: 3|>>>>>>>|z: 1|",
    ),
    "of an element": (
        "l:|# c|- a: 1|", "l:|# o|- a: 2|", "l:|# t|- a: 3|",
        "l:|<<<<<<<|# o|- a: 2|=======|# t|- a: 3|>>>>>>>|",
    ),
    "of what theirs deleted": (
        "x: 1|# c|a: 1|", "x: 1|# o|a: 3|", "x: 1|",
        "x: 1|<<<<<<<|# o|a: 3|=======|>>>>>>>|",
    ),
    "one side changed them": (
        "x: 1|# c|a: 1|", "x: 1|# o|a: 2|", "x: 1|# c|a: 3|",
        "x: 1|# o|<<<<<<<|a: 2|=======|a: 3|>>>>>>>|",
    ),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, wanted", IN_A_CONFLICT.values(), ids=IN_A_CONFLICT)
def test_comments_above_a_conflict_are_written_once(
    base: str, ours: str, theirs: str, wanted: str
) -> None:
    trio = (text.replace("|", "\n").encode() for text in (base, ours, theirs))
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    lines = outcome.text.decode().splitlines()
    bare = [line[:7] if line[:7] in ("<<<<<<<", ">>>>>>>") else line for line in lines]
    assert "|".join([*bare, ""]) == wanted
