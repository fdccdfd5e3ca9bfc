"""Each side removes a part of a list or a map, and together all: no clean merge is right."""

from __future__ import annotations

from functools import cache

import pytest
from depth import part
from worlds.emptied import FORMS, SETS, SIZES, UNKEYED, Case, cases, controls, parsed, parts
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome


@cache
def merged(name: str) -> list[tuple[Case, Outcome, Outcome]]:
    """The merges of a form, in both orders of the sides."""
    return [(case, *_both_orders(case)) for case in part([*cases(name)][::3])]


def _both_orders(case: Case) -> tuple[Outcome, Outcome]:
    return (
        merge_files(case.base, case.ours, case.theirs, line_merge=git_lines),
        merge_files(case.base, case.theirs, case.ours, line_merge=git_lines),
    )


@pytest.mark.parametrize("name", FORMS)
def test_what_no_side_emptied_is_not_emptied(name: str) -> None:
    wrong = [
        case.name for case, *outcomes in merged(name) if any(outcome.clean for outcome in outcomes)
    ]
    assert not wrong, f"{len(wrong)} of {len(merged(name))}: {wrong[:5]}"


@pytest.mark.parametrize("name", SETS)
def test_a_set_may_be_emptied(name: str) -> None:
    for case, *outcomes in merged(name):
        assert all(outcome.clean and case.allows(outcome.text) for outcome in outcomes), case.name


@pytest.mark.parametrize("name", FORMS | SETS)
def test_the_order_of_the_sides_does_not_matter(name: str) -> None:
    swapped = [case.name for case, one, other in merged(name) if one.clean != other.clean]
    assert not swapped, f"{len(swapped)} of {len(merged(name))}: {swapped[:5]}"


@pytest.mark.parametrize("name", FORMS)
def test_what_has_one_answer_is_merged(name: str) -> None:
    wrong, refused = [], []
    for case in part([*controls(name)][::2]):
        for outcome in _both_orders(case):
            if not outcome.clean:
                refused += [case.name] * (not case.may_conflict)
            elif not case.allows(outcome.text):
                wrong.append(case.name)
    assert not wrong, f"{len(wrong)}: {wrong[:5]}"
    assert not refused, f"{len(refused)}: {refused[:5]}"


# -- the world itself


def _members(value: object) -> int:
    return (
        sum(1 + _members(child) for child in value)
        if isinstance(value, list)
        else (
            sum(1 + _members(child) for child in value.values()) if isinstance(value, dict) else 0
        )
    )


@pytest.mark.rates
def test_the_world_is_the_one_that_was_measured() -> None:
    assert [len(list(parts(size))) for size in SIZES] == [1, 6, 25]
    every = [case for name in FORMS for case in cases(name)]
    assert (len(FORMS), len(every)) == (22, 1518)
    assert len({case.name for case in every}) == len(every)
    assert {*FORMS} >= UNKEYED


@pytest.mark.rates
@pytest.mark.parametrize("name", FORMS | SETS)
def test_the_sides_leave_something(name: str) -> None:
    form = (FORMS | SETS)[name]
    every = tuple(range(len(form.members)))
    whole, empty = parsed(form.write(every)), parsed(form.write(()))
    alone = [_members(parsed(form.write((at,)))) - _members(empty) for at in every]
    assert min(alone) > 0 and sum(alone) == _members(whole) - _members(empty)
    for case in cases(name):
        versions = [parsed(data) for data in (case.base, case.ours, case.theirs)]
        assert versions[0] not in versions[1:] and versions[1] != versions[2]
        assert _members(versions[0]) > max(map(_members, versions[1:]))
        assert min(map(_members, versions)) > _members(empty)
