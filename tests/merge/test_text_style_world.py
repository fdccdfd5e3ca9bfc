"""Every pair of edits of a text of several lines, in every style: merged by lines, as git would."""

from __future__ import annotations

from itertools import permutations

import pytest
import yaml
from depth import part
from worlds.text_styles import STYLES, worlds

from kmerge_git.api import merge_files
from kmerge_git.text.markers import resolve


@pytest.mark.parametrize("style", STYLES)
def test_a_text_of_several_lines_is_merged_by_its_lines(style: str) -> None:
    wrong = []
    for name, base, ours, theirs, merged in part(list(worlds(style))[::3]):
        outcome = merge_files(base, ours, theirs, line_merge=lambda *_: (b"", False))
        if outcome.clean != bool(merged) or (merged and outcome.text != merged):
            wrong.append((name, ours, theirs, outcome.text))
    assert not wrong, f"{len(wrong)}: {wrong[0]}"


def test_a_conflict_shows_the_smallest_run_of_lines() -> None:
    base = "a: 1\nd: 'one\n  two\n  three\n  four\n  five'\n"
    ours, theirs = base.replace("three", "mine"), base.replace("three", "yours")
    for style in ("merge", "diff3"):
        trio = (text.encode() for text in (base, ours, theirs))
        outcome = merge_files(*trio, style=style)
        assert [(c.place, c.ours, c.theirs) for c in outcome.conflicts] == [
            ("d", "  mine\n", "  yours\n")
        ]
        text = outcome.text.decode()
        assert yaml.safe_load(resolve(text, "ours")) == yaml.safe_load(ours)
        assert yaml.safe_load(resolve(text, "theirs")) == yaml.safe_load(theirs)


def test_a_text_in_brackets_is_one_value() -> None:
    base = "a: {d: 'one\n  two\n  three\n  four'}\n"
    ours, theirs = base.replace("one", "mine"), base.replace("four", "yours")
    trio = (text.encode() for text in (base, ours, theirs))
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    assert not outcome.clean and not outcome.reason.startswith("internal")


# One text of two lines, and what follows its last line.
ENDINGS = {
    style + ends.replace("\n", "+"): f"{style}\n  x\n  y\n{ends}"
    for style in ("|", "|-", "|+", ">", ">-", ">+")
    for ends in ("", "\n", "\n\n")
}


@pytest.mark.parametrize("below", ["", "z: 1\n"])
def test_two_new_texts_that_end_differently_are_two_values(below: str) -> None:
    base, wrong = f"k: 1\n{below}", []
    for pair in part(permutations(ENDINGS, 2)):
        sides = [f"k: 1\nb: {ENDINGS[name]}{below}" for name in pair]
        outcome = merge_files(*(text.encode() for text in (base, *sides)))
        found, *wanted = map(yaml.safe_load, (outcome.text if outcome.clean else "", *sides))
        if outcome.clean and not found == wanted[0] == wanted[1]:
            wrong.append(pair)
    assert not wrong
