"""Every pair of edits of files with commented entries, some of them: a part takes long enough."""

from __future__ import annotations

from functools import cache

import pytest
from depth import part
from worlds.commented import CLEAN, EITHER, FORMS, Form, Trio, is_right, truth, wanted, worlds
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.merge.verify.torn_comments import APART
from kmerge_git.outcome import Outcome
from kmerge_git.text.markers import resolve

STRIDE = 41  # of 187,000


def merged(form: Form, trio: Trio) -> Outcome:
    return merge_files(*trio, path=form.path, line_merge=git_lines)


@cache
def judged(form: str) -> tuple[list[str], int, int]:
    """Return what is wrong in a form, and how many conflicts are needless, and merges clean."""
    wrong, needless, clean = [], 0, 0
    written = FORMS[form]
    for name, trio, *edits in part([*worlds(form)][::STRIDE]):
        due, rows = truth(*edits), wanted(*edits)
        outcome = merged(written, trio)
        if outcome.clean:
            clean += 1
            if due != EITHER and not is_right(written, outcome.text, rows):
                wrong.append(name)
            continue
        needless += due == CLEAN
        base, ours, theirs = trio
        mirror = merged(written, (base, theirs, ours))
        is_torn = mirror.clean and all(APART in c.why for c in outcome.conflicts)
        if not is_torn and _causes(mirror) != _causes(outcome):
            wrong.append(f"{name}: other conflicts with the sides swapped")
        if outcome.method == "structure":
            for side, version in (("ours", ours), ("theirs", theirs)):
                if not _is_side(outcome, side, version, trio):
                    wrong.append(f"{name}: {side} is not there")
    return wrong, needless, clean


@pytest.mark.parametrize("form", FORMS)
def test_what_two_edits_come_to(form: str) -> None:
    assert not judged(form)[0]


@pytest.mark.rates
@pytest.mark.parametrize("form", FORMS)
def test_few_conflicts_are_needless(form: str) -> None:
    _, needless, clean = judged(form)
    assert needless <= clean * 3 // 100


def _causes(outcome: Outcome) -> list[tuple[str, set[str]]]:
    """Return the places of the conflicts and their causes; the words for the sides may change."""
    return [
        (conflict.place, set(conflict.why.replace(",", "").split()))
        for conflict in outcome.conflicts
    ]


def _is_side(outcome: Outcome, side: str, version: bytes, trio: Trio) -> bool:
    """Return whether a side taken everywhere has all comment lines that the side alone has."""
    text = resolve(outcome.text.decode(), side, 7).splitlines()
    other = trio[2] if side == "ours" else trio[1]
    own = set(version.decode().splitlines()) - set(other.decode().splitlines())
    return own - set(trio[0].decode().splitlines()) <= set(text)
