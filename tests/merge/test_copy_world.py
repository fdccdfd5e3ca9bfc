"""Every pair of edits of which one makes a copy: the other edit stays with the original."""

from __future__ import annotations

from functools import cache

import pytest
from depth import part
from worlds.copies import Sides, two_routes, worlds
from worlds.forms import FORMS
from worlds.lines import git_itself, git_lines

from kmerge_git.api import merge_files

NAMES = ("containers", "values", "map of a custom resource", "documents by name", "items")
WORLDS = list(worlds())[::3]  # all of them take a minute


@cache
def judged(name: str, sides: Sides) -> str:
    """Judge the merges in both directions; they must be alike."""
    form = FORMS[name]
    keys = {each.key for version in (sides.base, sides.copying, sides.other) for each in version}
    base, copying, other = (
        form.write(version) for version in (sides.base, sides.copying, sides.other)
    )
    wanted = sides.truth(ordered=form.ordered, gaps=form.kind == "list")
    verdicts = {
        wanted.judge(form.read(outcome.text, keys) if outcome.clean else None)
        for outcome in (
            merge_files(base, copying, other, line_merge=git_lines),
            merge_files(base, other, copying, line_merge=git_lines),
        )
    }
    return ", ".join(sorted(verdicts))


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_takes_no_edit_from_its_original(name: str) -> None:
    verdicts = {sides.name: judged(name, sides) for sides in part(WORLDS)}
    # in a file without names nothing tells the deleted map from the whole document
    wanted = {"right", "needless"} if name == "values" else {"right"}
    assert {*verdicts.values()} <= wanted, verdicts


@pytest.mark.parametrize("name, base, ours, theirs", [*two_routes()])
def test_two_values_of_one_field_are_a_conflict(
    name: str, base: str, ours: str, theirs: str
) -> None:
    for sides in ((ours, theirs), (theirs, ours)):
        outcome = merge_files(*(text.encode() for text in (base, *sides)), line_merge=git_itself)
        assert not outcome.clean, name
        assert [c.field.rpartition(".")[2] for c in outcome.conflicts] == ["timeout"]
