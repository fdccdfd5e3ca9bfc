"""Every pair of edits of a document with anchors and aliases: an alias is held to what it meant."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from depth import part
from worlds.anchors import BASES, LAYOUTS, Case, case_of, pairs, verdict
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome

SHARE = 25  # one in this many pairs of edits; 97,000 pairs in seven layouts are too many for a test
NEEDLESS = 0.05  # conflicts where some order of the entries would be right
GIT_RIGHT = 0.005  # of what git merges right: an alias under a renamed key


def _merged(case: Case, layout: str, *, mirrored: bool = False) -> Outcome:
    sides = (case.theirs, case.ours) if mirrored else (case.ours, case.theirs)
    trio = (LAYOUTS[layout](version).encode() for version in (case.base, *sides))
    return merge_files(*trio, path="values.yaml", line_merge=git_lines)


@cache
def judged(layout: str, base: str) -> tuple[list[str], Counter[str]]:
    """Return the cases in which an alias was turned, and how often each verdict was given."""
    counts: Counter[str] = Counter()
    wrong = []
    for pair in part([*pairs(BASES[base], layout)][:: SHARE + 1]):
        case = case_of(BASES[base], layout, pair)
        outcome, mirrored = _merged(case, layout), _merged(case, layout, mirrored=True)
        answer = verdict(case, layout, outcome.text) if outcome.clean else "conflict"
        # additions of both sides stand in the order of the sides, which may turn an alias
        for made in (outcome, mirrored):
            if made.clean and verdict(case, layout, made.text) != "right":
                wrong.append(case.name)
        trio = (
            LAYOUTS[layout](version).encode() for version in (case.base, case.ours, case.theirs)
        )
        lines, is_clean = git_lines(*trio)
        is_right = is_clean and verdict(case, layout, lines) == "right"
        is_needless = answer == "conflict" and case.content is not None and case.has_order
        counts += Counter({"all": 1, "needless": is_needless, "git": is_right})
        counts += Counter({"git, not we": is_right and not outcome.clean})
    return wrong, counts


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_alias_means_what_it_meant(layout: str, base: str) -> None:
    wrong, _ = judged(layout, base)
    assert not wrong, f"{len(wrong)}: {wrong[:5]}"


@pytest.mark.rates
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_few_conflicts_are_needless(layout: str, base: str) -> None:
    _, counts = judged(layout, base)
    assert counts["needless"] <= max(5, NEEDLESS * counts["all"]), counts
    assert counts["git, not we"] <= max(1, GIT_RIGHT * counts["git"]), counts
