"""Files that a generator writes: a clash leaves ours whole, and what merges clean merges."""

from __future__ import annotations

import json

import pytest
from world import Driven, Repo

from kmerge_git.merge.three import Three
from kmerge_git.outcome import GENERATED, Options
from kmerge_git.pipeline import merge
from kmerge_git.text.linemerge import Given
from kmerge_git.tree.documents import YamlText

BASE = (
    "# Source: app/templates/web.yaml\nkind: ConfigMap\nmetadata:\n  labels: {chart: app-1.0.0}\n"
)
BASE += "data:\n  a: '1'\n  b: '1'\n"
OURS = BASE.replace("1.0.0", "1.1.0").replace("a: '1'", "a: ours")
THEIRS = BASE.replace("1.0.0", "1.2.0").replace("b: '1'", "b: theirs")
BESIDE = BASE.replace("b: '1'", "b: theirs")
MERGED = OURS.replace("b: '1'", "b: theirs")
GENERATE = "generate it again, then `git add`"
ATTRIBUTE = {".gitattributes": "rendered/*.yaml kmerge-generated\n"}
X, Y = "rendered/x.yaml", "rendered/y.yaml"


def rendered(repo: Repo) -> None:
    """Two rendered files: one in which the sides clash, and one in which they do not."""
    repo.fork(
        ATTRIBUTE | {X: BASE, Y: BASE}, {X: OURS, Y: OURS}, {X: THEIRS, Y: BESIDE}
    )  # fmt: skip


def test_the_driver_keeps_ours_whole(driven: Driven) -> None:
    rendered(driven)
    done = driven.merge()
    assert (done.code, driven.unmerged()) == (1, [X])
    assert f"kmerge: {X}: {GENERATED}" in done.err
    assert (driven.text(X), driven.text(Y)) == (OURS, MERGED)
    assert driven.text(X) == driven.show(f":2:{X}")


def test_no_side_wins_in_it(driven: Driven) -> None:
    """A rendering with both sides' fields is none that anybody rendered."""
    rendered(driven)
    done = driven.git("merge", "side", env={"KMERGE_FAVOR": "theirs"}, check=False)
    assert (done.code, driven.unmerged(), driven.text(X)) == (1, [X], OURS)
    assert driven.kmerge("solve", "--favor", "theirs", check=False).code == 1
    assert (driven.unmerged(), driven.text(X)) == ([X], OURS)


def test_no_rules_have_a_winner_in_it(driven: Driven) -> None:
    rendered(driven)
    driven.git("config", "kmerge.rules", "kyaml")
    assert (driven.merge().code, driven.unmerged()) == (1, [X])
    assert (driven.text(X), driven.text(Y)) == (OURS, MERGED)
    driven.git("merge", "--abort")
    assert driven.kmerge("merge", "side", check=False).code == 1
    assert (driven.unmerged(), driven.text(X)) == ([X], OURS)


def test_a_merge_that_takes_too_long_leaves_no_markers_either(driven: Driven) -> None:
    rendered(driven)
    driven.git("config", "kmerge.timeout", "0.000001")
    done = driven.merge()
    assert (done.code, driven.text(X)) == (1, OURS)
    assert "no result within" in done.err


@pytest.mark.costly
def test_whole_merges_say_what_to_do(repo: Repo) -> None:
    rendered(repo)
    done = repo.kmerge("preview", "side", check=False)
    assert GENERATE in done.out
    tree = repo.kmerge("preview", "--write-tree", "side", check=False).lines[0]
    assert repo.show(f"{tree}:{X}") == OURS
    done = repo.kmerge("merge", "side", check=False)
    assert (done.code, repo.unmerged()) == (1, [X])
    assert f"kmerge: conflict: {X}: {GENERATED}" in done.err
    assert (repo.text(X), repo.text(Y)) == (OURS, MERGED)
    assert f"{X}: CONFLICT, {GENERATED}\n" in repo.kmerge("explain").out
    repo.write(X, MERGED.replace("1.1.0", "1.3.0"))  # it is generated again
    repo.git("add", X)
    assert repo.kmerge("check", "--staged").code == 0
    assert repo.git("commit", "-q", "-m", "merged").code == 0


def test_solve_takes_the_markers_of_git_out(repo: Repo) -> None:
    rendered(repo)
    assert repo.merge().code == 1
    assert "<<<<<<<" in repo.text(X)
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert done.out.splitlines()[0] == f"CONFLICT {X} (both modified; {GENERATED})"
    assert (repo.unmerged(), repo.text(X), repo.text(Y)) == ([X], OURS, MERGED)
    files = json.loads(repo.kmerge("solve", "--json", check=False).out)["files"]
    assert [(f["path"], f["method"], f["why"]) for f in files] == [(X, "kept", GENERATED)]
    repo.git("checkout", "--theirs", X)  # a side, taken on purpose, goes through the hook
    repo.git("add", X)
    assert "M11" not in repo.kmerge("check", "--staged").out


@pytest.mark.costly
def test_nobody_is_asked_field_by_field(repo: Repo) -> None:
    rendered(repo)
    assert "resolve" not in repo.kmerge("preview", "side", check=False).err
    repo.merge()
    done = repo.kmerge("resolve", "--take", "theirs")
    assert f"still in conflict ({GENERATED}): {X}" in done.err
    assert (repo.unmerged(), repo.text(Y)) == ([X], MERGED)
    done = repo.kmerge("solve", check=False)
    assert "resolve" not in done.said
    assert "resolve" not in repo.kmerge("explain").err
    repo.git("merge", "--abort")
    done = repo.kmerge("merge", "side", check=False)
    last = "kmerge: edit these files (`kmerge explain` shows the reasons), then run `git add` and `git commit`"
    assert done.err.splitlines()[-1] == last


def test_a_branch_with_such_a_conflict_is_not_refreshed(repo: Repo) -> None:
    rendered(repo)
    done = repo.kmerge("refresh", "--with", "main", "side", "--json", check=False)
    (branch,) = json.loads(done.out)["branches"]
    assert (done.code, branch["result"]) == (1, "conflict")


def test_deleted_on_one_side(repo: Repo) -> None:
    repo.commit("start", ATTRIBUTE | {X: BASE})
    repo.branch("side")
    repo.commit("theirs", {X: THEIRS})
    repo.switch("main")
    repo.git("rm", "-q", X)
    repo.git("commit", "-q", "-m", "gone")
    assert repo.merge().code == 1
    done = repo.kmerge("solve", "--favor", "ours", check=False)
    assert "deleted by us, changed by them; a generated file: regenerate it" in done.out
    assert repo.unmerged() == [X]


def crossed(repo: Repo, ours: str, theirs: str) -> None:
    """Each branch has merged the other, which clashed; this is what each made of it."""
    repo.fork(ATTRIBUTE | {X: BASE}, {X: OURS}, {X: THEIRS})
    one, other = repo.head("main"), repo.head("side")
    for branch, into, text in (("main", other, ours), ("side", one, theirs)):
        repo.switch(branch)
        repo.merge("-q", into)
        repo.commit(f"{branch} generated", {X: text})
    repo.switch("main")


@pytest.mark.parametrize("taken", [OURS, THEIRS])
@pytest.mark.costly
def test_an_inner_merge_of_a_criss_cross_has_no_side(driven: Driven, taken: str) -> None:
    """A side as its result would be a base that theirs alone seems to have changed."""
    crossed(driven, taken, MERGED.replace("1.1.0", "1.3.0"))
    assert driven.merge().code == 1
    assert (driven.unmerged(), driven.text(X)) == ([X], taken)


@pytest.mark.costly
def test_what_both_generated_alike_after_a_criss_cross_merges(driven: Driven) -> None:
    new = MERGED.replace("1.1.0", "1.3.0")
    crossed(driven, new + "  c: ours\n", new.replace("kind: ", "# theirs\nkind: "))
    assert driven.merge().code == 0
    assert driven.text(X) == (new + "  c: ours\n").replace("kind: ", "# theirs\nkind: ")


@pytest.mark.world
@pytest.mark.parametrize(
    "word, is_kept",
    [
        ("kmerge-generated=true", True),
        ("-kmerge-generated", False),
        ("!kmerge-generated", False),
        ("kmerge-generated=false", False),
        ("kmerge-generated=perhaps", False),
        ("linguist-generated", False),
    ],
)
def test_the_words_of_the_attribute(driven: Driven, word: str, is_kept: bool) -> None:
    driven.fork({".gitattributes": f"*.yaml {word}\n", X: BASE}, {X: OURS}, {X: THEIRS})
    done = driven.merge()
    assert (driven.text(X) == OURS) is is_kept
    told = "kmerge-generated: `perhaps` is neither true nor false"
    assert (told in done.err) is ("perhaps" in word)


@pytest.mark.parametrize("word", ["", "=true"])
def test_what_is_generated_again_may_be_exactly_one_side(driven: Driven, word: str) -> None:
    lines = {".gitattributes": f"*.yaml kmerge-generated{word}\n"}
    driven.fork(lines | {Y: BASE}, {Y: OURS}, {Y: BESIDE})
    assert driven.git("merge", "--no-commit", "side").code == 0
    driven.git("checkout", "HEAD", "--", Y)
    assert "M11" not in driven.kmerge("check", "--staged").out
    driven.write(".gitattributes", "")
    assert "error M11" in driven.kmerge("check", "--staged", check=False).out


VERSIONS = (BASE, OURS, THEIRS, BESIDE, MERGED, BASE + "  c: '1'\n", "a: {{ x }}\n", "", "a\0")


@pytest.mark.parametrize("ours", VERSIONS)
@pytest.mark.parametrize("theirs", VERSIONS)
def test_what_merges_clean_merges_as_always(ours: str, theirs: str) -> None:
    texts = Three(BASE.encode(), ours.encode(), theirs.encode())
    always, it = (
        merge(
            texts.map(YamlText),
            Options(X, generated=flag),
            lambda favor, size: Given(b"<<<<<<<\n", False),
        )
        for flag in (False, True)
    )
    if always.clean:
        assert (it.clean, it.text) == (True, always.text)
    else:
        assert (it.clean, it.method, it.text) == (False, "kept", ours.encode())
        assert len(it.conflicts) == 1
