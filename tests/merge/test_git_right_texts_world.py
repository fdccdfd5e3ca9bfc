"""Texts inside of a file that git merges well by their lines: no worse here, and never wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import pytest
from depth import part
from worlds.git_right_texts import TEXTS, Case, cases, swaps
from worlds.lines import git_lines

from kmerge_git.api import merge_files

MOST = 250  # of each kind of text


@dataclass
class Found:
    """The counts, and the cases that are not as they should be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    git_was_right: list[str] = field(default_factory=list)


def judged(some: list[Case]) -> Found:
    found = Found()
    for case in some:
        base, *sides = case.texts
        words = []
        for pair in (sides, sides[::-1]):
            outcome = merge_files(base, *pair, path="app/file.yaml", line_merge=git_lines)
            words.append(case.verdict(outcome.text if outcome.clean else None))
        lines, is_clean = git_lines(*case.texts)
        by_lines = case.verdict(lines if is_clean else None)
        found.counts.update([words[0], f"git: {by_lines}"])
        name = f"{case.name} ({case.kind})"
        found.wrong += [name] if "wrong" in words else []
        found.swapped += [name] if words[0] != words[1] else []
        needless = by_lines == "right" and words[0] != "right"
        found.git_was_right += [name] if needless else []
    return found


@cache
def of_text(text: str) -> Found:
    """The verdicts of a kind of text."""
    return judged(part([*cases(text, MOST)]))


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_clean_has_the_edits_of_both(text: str) -> None:
    found = of_text(text)
    assert not found.wrong, f"{len(found.wrong)}: {found.wrong[:8]}, {found.counts}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:8]}"


@pytest.mark.rates
@pytest.mark.parametrize("text", TEXTS)
def test_where_git_is_right_there_are_few_conflicts(text: str) -> None:
    found = of_text(text)
    git = found.counts["git: right"]
    assert git >= 0.7 * MOST, "the world is not the one that was measured"
    assert len(found.git_was_right) <= 0.015 * git, f"of {git}: {found.git_was_right[:10]}"


def test_an_edit_of_a_script_that_changed_its_name_goes_nowhere_else() -> None:
    found = judged(part([*swaps(120)]))
    assert not found.wrong, f"{len(found.wrong)}: {found.wrong[:8]}, {found.counts}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:8]}"
