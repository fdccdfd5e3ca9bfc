"""Which files both sides touched, and what kind of case each is."""

from __future__ import annotations

import pytest
from world import Repo

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.manifests import is_manifest, is_merged, is_selected
from kmerge_git.git.merge_sides import Change, TreeEntry, merged_mode, touched_by_both

A, B, C, D = (TreeEntry(letter * 40, 0o100644) for letter in "abcd")
EXECUTABLE = TreeEntry("a" * 40, 0o100755)
LINK = TreeEntry("e" * 40, 0o120000)


def edit(path: str, old: TreeEntry | None, new: TreeEntry | None, to: str = "") -> Change:
    return Change(path, to or path, old, new)


# ours, theirs -> (path, kind) of the cases
CASES = [
    ([edit("f", A, B)], [edit("f", A, C)], [("f", "changed by both")]),
    ([edit("f", None, B)], [edit("f", None, C)], [("f", "added by both")]),
    ([edit("f", A, None)], [edit("f", A, C)], [("f", "deleted by us")]),
    ([edit("f", A, B)], [edit("f", A, None)], [("f", "deleted by them")]),
    ([edit("f", A, B, "g")], [edit("f", A, C)], [("g", "changed by both")]),
    ([edit("f", A, B)], [edit("f", A, C, "g")], [("g", "changed by both")]),
    ([edit("f", A, B, "g")], [edit("f", A, C, "g")], [("g", "changed by both")]),
    ([edit("f", A, B, "g")], [edit("f", A, C, "h")], [("f", "renamed to two names")]),
    ([edit("f", A, B, "g")], [edit("g", None, C)], [("g", "added by both")]),
    ([edit("f", A, None)], [edit("f", A, C, "g")], [("g", "deleted by us")]),
    ([edit("d", None, B)], [edit("d/f", None, C)], [("d", "file and directory")]),
    ([edit("d/e/f", None, B)], [edit("d", None, C)], [("d", "file and directory")]),
]
# ours, theirs that leave nothing to decide
NOTHING = [
    ([edit("f", A, B)], [edit("g", A, C)]),
    ([edit("f", A, B)], [edit("f", A, B)]),
    ([edit("f", A, None)], [edit("f", A, None)]),
    ([edit("f", None, B)], [edit("f", None, B)]),
    ([edit("f", A, A, "g")], [edit("f", A, C)]),
    ([edit("f", A, B)], [edit("f", A, A, "g")]),
    ([edit("d/f", None, B)], [edit("d/g", None, C)]),
]


@pytest.mark.parametrize("ours, theirs, cases", CASES)
def test_cases(ours: list[Change], theirs: list[Change], cases: list[tuple[str, str]]) -> None:
    found = touched_by_both(ours, theirs)
    assert [(case.path, case.kind) for case in found] == cases


@pytest.mark.parametrize("ours, theirs", NOTHING)
def test_nothing_to_decide(ours: list[Change], theirs: list[Change]) -> None:
    assert touched_by_both(ours, theirs) == ()


def test_the_entries_of_a_case() -> None:
    (case,) = touched_by_both([edit("f", A, B, "g")], [edit("f", A, C)])
    assert (case.entries, case.note) == ((A, B, C), "renamed from f")


def test_the_cases_come_in_the_order_of_their_paths() -> None:
    ours = [edit(name, A, B) for name in "cab"]
    theirs = [edit(name, A, C) for name in "bca"]
    assert [case.path for case in touched_by_both(ours, theirs)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "base, ours, theirs, mode",
    [
        (A, B, C, 0o100644),
        (A, B, EXECUTABLE, 0o100755),
        (A, EXECUTABLE, C, 0o100755),
        (EXECUTABLE, A, EXECUTABLE, 0o100644),
        (None, EXECUTABLE, C, 0o100755),
        (A, None, EXECUTABLE, 0o100755),
    ],
)
def test_the_side_that_changed_the_mode_decides(
    base: TreeEntry | None, ours: TreeEntry | None, theirs: TreeEntry | None, mode: int
) -> None:
    assert merged_mode(base, ours, theirs) == mode


@pytest.mark.parametrize(
    "entries, situation, has_obstacle",
    [
        ((A, B, C), "both modified", False),
        ((None, B, C), "both added", False),
        ((A, None, C), "deleted by us", False),
        ((A, B, None), "deleted by them", False),
        ((A, None, None), "renamed to two names", True),
        ((None, B, None), "added by us", True),
        ((None, None, C), "added by them", True),
        ((A, LINK, C), "both modified", True),
    ],
)
def test_the_situation_of_a_conflict(
    entries: tuple[TreeEntry | None, TreeEntry | None, TreeEntry | None],
    situation: str,
    has_obstacle: bool,
) -> None:
    stages = Stages("f", *entries)
    assert (stages.situation, bool(stages.obstacle)) == (situation, has_obstacle)


@pytest.mark.parametrize(
    "path", ["a.yaml", "d/a.yml", "kustomization", "d/Kustomization", "a.kyaml"]
)
def test_manifests(path: str) -> None:
    assert is_manifest(path)
    assert is_merged(path)


@pytest.mark.parametrize("path", ["a.json", "yaml", "a.yaml.bak", "kustomization.txt", "d.yaml/a"])
def test_no_manifests(path: str) -> None:
    assert not is_manifest(path)
    assert is_manifest(path, json=True) == path.endswith(".json")
    assert not is_merged(path)
    assert is_merged(path, json=True) == path.endswith(".json")


TEXTS_OF_CHARTS = {
    "templates/_helpers.tpl": True,
    "templates/a/b/_c.tpl": True,
    "web/charts/db/templates/_helpers.tpl": True,
    "templates/NOTES.txt": True,
    "web/templates/NOTES.txt": True,
    "web/templates/tests/NOTES.txt": False,
    "web/_helpers.tpl": False,
    "NOTES.txt": False,
    "web/mytemplates/x.tpl": False,
    "web/templates/MYNOTES.txt": False,
    "web/templates.tpl": False,
    "web/templates/x.tpl/y": False,
}


@pytest.mark.parametrize("path, is_one", TEXTS_OF_CHARTS.items())
def test_texts_of_charts_are_merged_and_no_manifests(path: str, is_one: bool) -> None:
    assert is_merged(path) == is_one
    assert not is_manifest(path, json=True)


def test_git_takes_the_same_for_texts_of_charts(repo: Repo) -> None:
    repo.kmerge("install")
    found = {path: repo.attribute(path) == "kmerge" for path in TEXTS_OF_CHARTS}
    assert found == TEXTS_OF_CHARTS


@pytest.mark.parametrize(
    "chosen, is_in",
    [
        ((), True),
        (("d",), True),
        (("d/",), True),
        ((".",), True),
        (("d/f",), True),
        (("f",), False),
    ],
)
def test_chosen_paths(chosen: tuple[str, ...], is_in: bool) -> None:
    assert is_selected("d/f", chosen) == is_in
