"""One side moves a thing, the other deletes it: no clean merge is right."""

from __future__ import annotations

from functools import cache

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.moved_and_deleted import (
    MAY_CONFLICT,
    SCENES,
    SMALL,
    Case,
    cases,
    changed,
    controls,
    is_small,
    leaves,
    others,
    parsed,
    written,
)

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome


@cache
def merged(name: str) -> list[tuple[Case, Outcome, Outcome]]:
    """The merges of a scene, in both orders of the sides."""
    return [(case, *_both_orders(case)) for case in part([*cases(name)][::2])]


def _both_orders(case: Case) -> tuple[Outcome, Outcome]:
    return (
        merge_files(case.base, case.ours, case.theirs, line_merge=git_lines),
        merge_files(case.base, case.theirs, case.ours, line_merge=git_lines),
    )


@pytest.mark.parametrize("name", SCENES)
def test_what_is_moved_and_deleted_is_a_conflict(name: str) -> None:
    wrong = [
        case.name for case, *outcomes in merged(name) if any(outcome.clean for outcome in outcomes)
    ]
    assert not wrong, f"{len(wrong)} of {len(merged(name))}: {wrong[:5]}"


@pytest.mark.parametrize("name", SCENES | SMALL)
def test_the_order_of_the_sides_does_not_matter(name: str) -> None:
    swapped = [case.name for case, one, other in merged(name) if one.clean != other.clean]
    assert not swapped, f"{len(swapped)} of {len(merged(name))}: {swapped[:5]}"


@pytest.mark.parametrize("name", [*SCENES, "others"])
def test_what_has_one_answer_is_merged(name: str) -> None:
    found = others() if name == "others" else controls(name)
    wrong, refused = [], []
    for case in part([*found][::2]):
        for outcome in _both_orders(case):
            if not outcome.clean:
                refused += [case.name] * (not case.may_conflict)
            elif parsed(outcome.text) != case.answer:
                wrong.append(case.name)
    assert not wrong, f"{len(wrong)}: {wrong[:5]}"
    assert not refused, f"{len(refused)}: {refused[:5]}"


# -- the world itself


def _leaves_of(data: bytes) -> list[object]:
    return [leaf for _, leaf in leaves(parsed(data))]


@pytest.mark.rates
def test_the_world_is_the_one_that_was_measured() -> None:
    every = [case for name in SCENES for case in cases(name)]
    assert (len(SCENES), len(every)) == (25, 1050)
    assert len({case.name for case in every}) == len(every)
    assert sum(len(cases(name)) for name in SMALL) == 140
    answered = [*others(), *(case for name in SCENES for case in controls(name))]
    assert len({case.name for case in answered if case.may_conflict}) == 15
    heads = [case.name.partition(", ") for case in answered if case.may_conflict]
    named = {(head.rpartition(" ")[0], title) for head, _, title in heads}
    assert named == MAY_CONFLICT
    for case in every:
        assert len({case.base, case.ours, case.theirs}) == 3


@pytest.mark.rates
@pytest.mark.parametrize("name", SCENES | SMALL)
def test_one_side_moves_and_the_other_deletes(name: str) -> None:
    for setting in (SCENES | SMALL)[name].each():
        size = len(leaves(setting.thing))
        assert is_small(setting.thing) == (name in SMALL)
        base, moved, without = setting.base(), setting.moved(), setting.without()
        texts = [written(version, setting.indented) for version in (base, moved, without)]
        assert [parsed(text) for text in texts] == [base, moved, without]
        counts = [len(_leaves_of(text)) for text in texts]
        assert counts == [counts[2] + size, counts[2] + size, counts[2]]
        for edit, thing in setting.edits().items():
            kept = [leaf for leaf in leaves(thing) if leaf in leaves(setting.thing)]
            assert len(kept) == size - (edit != "equal")
            assert name in SMALL or 2 * len(kept) >= size


@pytest.mark.parametrize(
    "value, path, result",
    [
        ("a\nb\n", (1,), "a\nb and more\n"),
        ({"a": [1, True]}, ("a", 0), {"a": [2, True]}),
        ({"a": [1, True]}, ("a", 1), {"a": [1, False]}),
        (["", "a"], (0,), ["apps", "a"]),
        (["", "a"], (1,), ["", "a-2"]),
    ],
)
def test_an_edit_changes_one_leaf(value: object, path: tuple, result: object) -> None:
    assert changed(value, path) == result
