"""Lists in which a name is there several times: each edit is made in the element it was made in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from random import Random

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.repeated_names import FORMS, KINDS, Case, argo, cases

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome

MOST = 4  # of each kind in each form


@dataclass
class Found:
    """The counts, and the cases that are not as they should be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    git_was_right: list[str] = field(default_factory=list)


def merged(case: Case, *, mirrored: bool = False) -> Outcome:
    base, *sides = case.texts
    pair = sides[::-1] if mirrored else sides
    return merge_files(base, *pair, path=case.form.path, line_merge=git_lines)


@cache
def judged(kind: str) -> Found:
    """The verdicts of a kind of edits, in all forms."""
    found = Found()
    for form in FORMS:
        for case in part([*cases(form, kind, MOST)]):
            both = [merged(case, mirrored=mirrored) for mirrored in (False, True)]
            words = [case.verdict(outcome.text if outcome.clean else None) for outcome in both]
            lines, is_clean = git_lines(*case.texts)
            by_lines = case.verdict(lines if is_clean else None)
            found.counts.update([words[0], f"git: {by_lines}"])
            found.wrong += [case.name] if "wrong" in words else []
            found.swapped += [case.name] if words[0] != words[1] else []
            needless = words[0] == "conflict" and by_lines == "right"
            found.git_was_right += [case.name] if needless else []
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_clean_has_each_edit_in_its_element(kind: str) -> None:
    found = judged(kind)
    assert not found.wrong, f"{len(found.wrong)}: {found.wrong[:5]}, {found.counts}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:5]}"


@pytest.mark.rates
def test_where_git_is_right_there_are_few_conflicts() -> None:
    every = [name for kind in KINDS for name in judged(kind).git_was_right]
    git = sum(judged(kind).counts["git: right"] for kind in KINDS)
    assert len(every) <= 0.05 * git, f"{len(every)} of {git}: {every[:10]}"


def test_both_bump_one_source_and_ours_alone_edits_another() -> None:
    for case in argo():
        for mirrored in (False, True):
            outcome = merged(case, mirrored=mirrored)
            assert outcome.clean and case.verdict(outcome.text) == "right", case.name


@pytest.mark.rates
def test_the_world_is_read_as_it_was_written() -> None:
    for form in FORMS.values():
        for indent in (0, 2):
            elements = [form.make(name, 1, Random(0)) for name in form.names]
            assert form.read(form.write(elements, indent)) == elements
