"""Documents without any field, one block scalar each: the lines of the text are merged.

In the tables `/` is a line end.
"""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.plan import Why

WHOLE = {
    "behind the marker": ("--- |/  {}/  b/  {}/", "--- |/  o/  b/  t/"),
    "without a marker": ("|/  {}/  b/  {}/", "|/  o/  b/  t/"),
    "with a deeper indentation": ("--- |/    {}/    b/    {}/", "--- |/    o/    b/    t/"),
    "behind a tag": ("--- !!str |/  {}/  b/  {}/", "--- !!str |/  o/  b/  t/"),
    "below comments": ("# top/--- # here/|/  {}/  b/  {}/", "# top/--- # here/|/  o/  b/  t/"),
    "above a comment and a document": (
        "--- |/  {}/  b/  {}/# end/---/d: 1/",
        "--- |/  o/  b/  t/# end/---/d: 1/",
    ),
    "below a document": ("d: 1/--- |/  {}/  b/  {}/.../", "d: 1/--- |/  o/  b/  t/.../"),
}


@pytest.mark.parametrize("text, expected", WHOLE.values(), ids=WHOLE)
def test_both_sides_edit_the_text(text: str, expected: str) -> None:
    assert merged(text.format("a", "c"), text.format("o", "c"), text.format("a", "t")) == expected


def test_theirs_alone_changes_the_header() -> None:
    trio = ("--- |/  a/  b/  c/", "--- |/  o/  b/  c/", "--- |-/  a/  b/  t/")
    assert merged(*trio) == "--- |-/  o/  b/  t/"


def test_both_sides_edit_one_line() -> None:
    clash = f"<<<<<<< ours (text: {Why.BOTH_CHANGED})/  o/=======/  t/>>>>>>> theirs/"
    trio = (f"--- |/  top/  {line}/# end/" for line in "aot")
    assert merged(*trio) == f"--- |/  top/{clash}# end/"


def test_ours_takes_all_lines_away_and_theirs_edits_one() -> None:
    clash = f"<<<<<<< ours (text: {Why.BOTH_CHANGED})/=======/  t/>>>>>>> theirs/"
    assert merged("--- |/  a/", "--- |/", "--- |/  t/") == f"--- |/{clash}"


def merged(base: str, ours: str, theirs: str) -> str:
    trio = (text.replace("/", "\n").encode() for text in (base, ours, theirs))
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    assert outcome.method == "structure"
    return outcome.text.decode().replace("\n", "/")
