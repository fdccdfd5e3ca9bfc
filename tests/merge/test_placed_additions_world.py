"""Additions keep their place: every order of a short list, with additions at every place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.placed_additions import FORMS, Case, Word, cases, named

from kmerge_git.pipeline import merge_files


@dataclass
class Found:
    """The counts, and the cases that are not as they should be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    needless: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)


def merged(name: str, case: Case, *, mirrored: bool = False) -> Word | None:
    form = FORMS[name]
    sides = [form.write(case.moved), form.write(case.added, case.names)]
    pair = sides[::-1] if mirrored else sides
    outcome = merge_files(form.write(case.base), *pair, path=form.path, line_merge=git_lines)
    return form.read(outcome.text) if outcome.clean else None


@cache
def judged(name: str, size: int, new: int) -> Found:
    """The verdicts of all lists of so many elements with so many additions."""
    found = Found()
    for bare in part([*cases(size, new)]):
        lawful = bare.lawful()
        for case in named(bare):
            both = [merged(name, case, mirrored=mirrored) for mirrored in (False, True)]
            found.swapped += [str(case)] if both[0] != both[1] else []
            for word in both:
                found.counts[_verdict(case, lawful, word)] += 1
                if word is None:
                    found.needless += [str(case)] if lawful or not case.names else []
                elif case.breaks(word) or (lawful and word not in lawful):
                    found.wrong.append(f"{case}: {''.join(word)}")
    return found


def _verdict(case: Case, lawful: set[Word], word: Word | None) -> str:
    if word is None:
        return "conflict"
    return "broken" if case.breaks(word) else "lawful" if word in lawful else "anywhere"


WORLDS = [(3, 1), (4, 1), (3, 2)]


@pytest.mark.parametrize("size, new", WORLDS)
@pytest.mark.parametrize("name", FORMS)
def test_an_addition_keeps_its_place(name: str, size: int, new: int) -> None:
    found = judged(name, size, new)
    assert not found.wrong, f"{len(found.wrong)}: {found.wrong[:5]}, {found.counts}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:5]}"


@pytest.mark.parametrize("size, new", WORLDS)
@pytest.mark.parametrize("name", FORMS)
def test_only_a_broken_reference_makes_a_conflict(name: str, size: int, new: int) -> None:
    found = judged(name, size, new)
    assert not found.needless, f"{len(found.needless)}: {found.needless[:5]}, {found.counts}"
