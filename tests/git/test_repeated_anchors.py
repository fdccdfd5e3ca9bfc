"""Files that repeat an anchor, in real repositories: every command reads them and keeps aliases."""

from __future__ import annotations

import pytest
from world import Driven, Repo, World

FILE = "values.yaml"
BASE = "".join(
    f"{line}\n"
    for line in (
        *("first: &app web", "one: *app", "size: 1", "mode: plain", "second: &app worker"),
        *("two: *app", "color: red", "shape: round"),
    )
)
OURS = BASE.replace("&app web", "&app site")
THEIRS = BASE.replace("shape: round\n", "shape: round\nthree: *app\n")
BOTH = OURS.replace("shape: round\n", "shape: round\nthree: *app\n")
WITHOUT = BASE.replace("second: &app worker\n", "")  # `two` means the first one here
CAUSE = "`*app` would refer to another `&app`"


def fork(repo: Repo, ours: str, theirs: str) -> None:
    repo.fork({FILE: BASE}, {FILE: ours}, {FILE: theirs})


def test_a_merge_and_a_rebase(driven: Driven) -> None:
    fork(driven, OURS, THEIRS)
    assert driven.merge().code == 0
    assert driven.text(FILE) == BOTH
    driven.git("reset", "-q", "--hard", "HEAD~1")
    driven.git("rebase", "-q", "side")
    assert driven.text(FILE) == BOTH


def test_the_other_doors(driven: Driven) -> None:
    fork(driven, OURS, THEIRS)
    assert driven.kmerge("preview", "side").code == 0
    assert driven.kmerge("merge", "side").code == 0
    assert driven.text(FILE) == BOTH
    assert driven.kmerge("check", FILE).code == 0


@pytest.mark.parametrize("door", ["merge", "rebase", "kmerge"])
def test_an_alias_behind_a_deleted_anchor(driven: Driven, door: str) -> None:
    fork(driven, WITHOUT, THEIRS)
    if door == "kmerge":
        assert driven.kmerge("merge", "side", check=False).code == 1
    elif door == "merge":
        assert driven.merge().code == 1
    else:
        assert driven.git("rebase", "side", check=False).code == 1
    assert driven.unmerged() == [FILE]
    assert CAUSE in driven.text(FILE)
    assert CAUSE in driven.kmerge("explain", FILE, check=False).said


@pytest.mark.parametrize("side, text", [("ours", WITHOUT), ("theirs", THEIRS)])
def test_resolving(driven: Driven, side: str, text: str) -> None:
    fork(driven, WITHOUT, THEIRS)
    assert driven.merge().code == 1
    assert driven.kmerge("resolve", FILE, "--take", side).code == 0
    assert driven.text(FILE) == text
    assert driven.unmerged() == []


def test_a_stash(driven: Driven) -> None:
    driven.commit("base", {FILE: BASE})
    driven.write(FILE, THEIRS)
    driven.git("stash", "-q")
    driven.commit("ours", {FILE: OURS})
    driven.git("stash", "pop", "-q")
    assert driven.text(FILE) == BOTH


def test_a_diff_follows_each_alias_to_its_own_anchor(driven: Driven) -> None:
    driven.commit("base", {FILE: BASE})
    driven.write(FILE, BASE.replace("&app worker", "&app runner"))
    said = driven.kmerge("diff", check=False).out
    assert "two" in said
    assert "one" not in said


def test_a_criss_cross(driven: Driven) -> None:
    """Each branch has merged the other; the base of the last merge is a merge itself."""
    fork(driven, OURS, THEIRS)
    one, other = driven.head("main"), driven.head("side")
    for branch, into, new in (("main", other, "size: 2"), ("side", one, "color: blue")):
        driven.switch(branch)
        driven.merge("-q", "--no-commit", into)
        text = BOTH.replace(f"{new.split()[0]} {'1' if new[0] == 's' else 'red'}", new)
        driven.commit(f"{branch} merged", {FILE: text})
    driven.switch("main")
    assert driven.merge().code == 0
    assert driven.text(FILE) == BOTH.replace("size: 1", "size: 2").replace("red", "blue")


@pytest.mark.costly
def test_a_criss_cross_whose_inner_merge_turns_an_alias(driven: Driven) -> None:
    fork(driven, WITHOUT, THEIRS)
    one, other = driven.head("main"), driven.head("side")
    for branch, into, text in (("main", other, WITHOUT), ("side", one, THEIRS)):
        driven.switch(branch)
        driven.merge("-q", "--no-commit", into)
        driven.commit(f"{branch} merged", {FILE: text})
    driven.switch("main")
    assert driven.merge().code == 1
    assert driven.unmerged() == [FILE]


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (WITHOUT, THEIRS),
        (BASE.replace("color: red\n", "color: red\nthird: &app new\n"), THEIRS),
    ],
)
def test_what_git_alone_turned_is_found(world: World, ours: str, theirs: str) -> None:
    repo = world.init()
    middle = BASE.replace("color: red\n", "color: red\nkind: a\nform: b\n")
    new = "kind: a\nform: b\n"
    at = [text.replace("color: red\n", "color: red\n" + new) for text in (ours, theirs)]
    at[0] = at[0].replace(f"{new}third: &app new\n", f"third: &app new\n{new}")
    repo.fork(*({FILE: text} for text in (middle, *at)))
    assert repo.merge("--no-commit").code == 0
    done = repo.kmerge("check", "--merge", check=False)
    assert done.code == 1
    assert "M23" in done.said
    repo.write(FILE, at[1])
    repo.git("add", FILE)
    assert "M23" not in repo.kmerge("check", "--merge", check=False).said
