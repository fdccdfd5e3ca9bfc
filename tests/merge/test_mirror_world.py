"""Every case and world with its sides exchanged: which side is ours decides nothing."""

from __future__ import annotations

import pytest
from depth import part
from worlds.indents import read, worlds
from worlds.lines import git_lines
from worlds.mirrors import WORLDS, unequal

from kmerge_git.api import merge_files


@pytest.mark.parametrize("name", WORLDS)
def test_the_sides_may_be_exchanged(name: str) -> None:
    differing = [(why, merge) for merge in part([*WORLDS[name]()][::2]) if (why := unequal(merge))]
    assert not differing, f"{len(differing)}: {differing[0]}"


def test_lists_that_one_side_indents_anew_take_the_edits_of_the_other() -> None:
    wrong = []
    for name, base, indented, edited, wanted in part(worlds()):
        for sides in ((indented, edited), (edited, indented)):
            outcome = merge_files(base, *sides, line_merge=git_lines)
            if not outcome.clean or read(outcome.text) != wanted:
                wrong.append((name, outcome.reason))
    assert not wrong, f"{len(wrong)}: {wrong[:5]}"
