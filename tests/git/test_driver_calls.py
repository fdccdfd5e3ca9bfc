"""Every road on which git calls the driver, and those on which it does not."""

from __future__ import annotations

import os

import pytest
from world import BASE, MERGED, OURS, THEIRS, Driven

from kmerge_git.git.run_git import git_version


def clean(repo: Driven, name: str = "x.yaml") -> bool:
    return repo.text(name) == MERGED and repo.unmerged() == [] and name in repo.calls()


# -- called ---------------------------------------------------------------------------------------


@pytest.mark.world
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-s", "ort"),
        ("-s", "recursive"),
        ("-s", "subtree"),
        ("--squash",),
        ("--no-commit",),
        ("--no-ff",),
        ("-X", "patience"),
    ],
)
def test_merge(driven: Driven, options: tuple[str, ...]) -> None:
    driven.fork_one()
    assert driven.merge(*options, "side").code == 0
    assert clean(driven)
    assert driven.git("diff", "--cached", "--name-only").lines == (
        ["x.yaml"] if options in (("--squash",), ("--no-commit",)) else []
    )


def test_merge_from_a_subdirectory(driven: Driven) -> None:
    driven.fork_one("a/b/x.yaml")
    driven.world.git("merge", "side", cwd=driven.path / "a" / "b")
    assert clean(driven, "a/b/x.yaml")


def test_rebase_has_the_upstream_as_ours(driven: Driven) -> None:
    driven.fork_one()
    driven.git("rebase", "-q", "side")
    assert clean(driven)
    assert driven.show("HEAD~1:x.yaml") == THEIRS


def test_rebase_with_a_conflict_can_go_on(driven: Driven) -> None:
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": "a: 3\nb: 2\n"})
    assert driven.git("rebase", "-q", "side", check=False).code == 1
    assert driven.unmerged() == ["x.yaml"]
    assert driven.text("x.yaml").endswith("b: 2\n")  # merged: only `a` is left to decide
    driven.commit("solved", {"x.yaml": MERGED})
    driven.git("rebase", "--continue", env={"GIT_EDITOR": "true"})
    assert driven.git("status", "--porcelain").out == ""


def test_rebase_autostash(driven: Driven) -> None:
    driven.fork({"x.yaml": BASE}, {"y": "1\n"}, {"x.yaml": THEIRS})
    driven.write("x.yaml", OURS)
    driven.git("rebase", "-q", "--autostash", "side")
    assert clean(driven)


def test_cherry_pick(driven: Driven) -> None:
    driven.fork_one()
    driven.git("cherry-pick", "side")
    assert clean(driven)


def test_revert(driven: Driven) -> None:
    driven.commit("base", {"x.yaml": BASE})
    driven.commit("one", {"x.yaml": OURS})
    driven.commit("two", {"x.yaml": MERGED})
    driven.git("revert", "--no-edit", "HEAD~1")
    assert driven.text("x.yaml") == THEIRS
    assert driven.calls() == ["x.yaml"]


@pytest.mark.parametrize("command", ["pop", "apply"])
def test_stash(driven: Driven, command: str) -> None:
    driven.commit("base", {"x.yaml": BASE})
    driven.write("x.yaml", THEIRS)
    driven.git("stash", "-q")
    driven.commit("ours", {"x.yaml": OURS})
    driven.git("stash", command)
    assert clean(driven)
    assert len(driven.git("stash", "list").lines) == (0 if command == "pop" else 1)


def test_am_3way_when_the_patch_does_not_apply(driven: Driven) -> None:
    driven.fork_one()
    patch = driven.git("format-patch", "--stdout", "-1", "side").out
    assert driven.git("am", "-q", stdin=patch, check=False).code != 0
    driven.git("am", "--abort")
    driven.git("am", "-q", "-3", stdin=patch)
    assert clean(driven)


def test_apply_3way(driven: Driven) -> None:
    driven.fork_one()
    patch = driven.git("diff", "--full-index", "main~1", "side").out
    driven.git("apply", "--3way", stdin=patch)
    assert clean(driven)


def test_checkout_merge_to_another_branch(driven: Driven) -> None:
    driven.commit("base", {"x.yaml": BASE})
    driven.branch("side")
    driven.commit("theirs", {"x.yaml": THEIRS})
    driven.switch("main")
    driven.write("x.yaml", OURS)
    driven.git("checkout", "-q", "-m", "side")
    assert clean(driven)


@pytest.mark.parametrize("command", [("checkout", "-m", "--"), ("restore", "--merge", "--")])
def test_a_conflict_is_made_again(driven: Driven, command: tuple[str, ...]) -> None:
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": "a: 3\nb: 1\n"})
    assert driven.merge().code == 1
    marked = driven.text("x.yaml")
    driven.write("x.yaml", "lost\n")
    calls = len(driven.calls())
    driven.git(*command, "x.yaml")
    assert len(driven.calls()) == calls + 1
    assert driven.text("x.yaml").count("=======\n") == marked.count("=======\n") == 1


@pytest.mark.skipif(git_version() < (2, 38), reason="git has no merge-tree --write-tree")
def test_merge_tree_has_nothing_but_its_own_output(driven: Driven) -> None:
    driven.fork_one()
    done = driven.git("merge-tree", "--write-tree", "main", "side")
    assert len(done.out.strip()) == len(driven.head())
    assert done.out.count("\n") == 1
    assert driven.show(f"{done.out.strip()}:x.yaml") == MERGED


@pytest.mark.skipif(git_version() < (2, 38), reason="git has no merge-tree --write-tree")
def test_merge_tree_with_a_conflict_is_still_readable(driven: Driven) -> None:
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": "a: 3\nb: 2\n"})
    done = driven.git("merge-tree", "--write-tree", "-z", "main", "side", check=False)
    assert done.code == 1
    tree, *staged = done.out.partition("\0\0")[0].split("\0")
    assert "<<<<<<<" in driven.show(f"{tree}:x.yaml")
    assert [line.split()[2][:1] for line in staged] == ["1", "2", "3"]


@pytest.mark.skipif(git_version() < (2, 44), reason="git has no replay")
def test_replay(driven: Driven) -> None:
    driven.fork_one()
    commands = driven.git("replay", "--onto", "main", "main..side").out
    driven.git("update-ref", "--stdin", stdin=commands)
    assert driven.show("side:x.yaml") == MERGED
    assert driven.calls() == ["x.yaml"]


def test_a_merge_of_notes(driven: Driven) -> None:
    driven.commit("base", {"x.yaml": BASE})
    driven.write(".git/info/attributes", "* merge=kmerge\n")  # notes have no names but the commits'
    driven.git("notes", "add", "-F", "-", stdin=BASE)
    driven.git("update-ref", "refs/notes/side", "refs/notes/commits")
    driven.git("notes", "add", "-f", "-F", "-", stdin=OURS)
    driven.git("notes", "--ref", "side", "add", "-f", "-F", "-", stdin=THEIRS)
    # git leaves every note that both sides changed to the user, with the driver's result to start
    assert driven.git("notes", "merge", "side", check=False).code == 1
    driven.git("notes", "merge", "--commit")
    assert driven.git("notes", "show").out == MERGED


def test_the_old_merge_tree(driven: Driven) -> None:
    driven.fork_one()
    base = driven.head("main~1")
    done = driven.git("merge-tree", base, "main", "side", check=False)
    if done.code != 0:
        pytest.skip("this git has dropped the old merge-tree")
    assert driven.calls() == ["x.yaml"]
    assert "<<<<<<<" not in done.out


@pytest.mark.skipif(git_version() < (2, 35), reason="git has no --remerge-diff")
def test_log_remerge_diff_shows_an_honest_merge_as_nothing(driven: Driven) -> None:
    driven.fork_one()
    driven.merge()
    done = driven.git("show", "--remerge-diff", "--format=%s", "HEAD")
    assert done.out.strip() == "Merge branch 'side'"
    assert len(driven.calls()) == 2


def test_rename_on_one_side_has_the_new_path(driven: Driven) -> None:
    filler = "".join(f"k{i}: {i}\n" for i in range(20))
    driven.commit("base", {"old.yaml": BASE + filler})
    driven.branch("side")
    driven.commit("theirs", {"old.yaml": THEIRS + filler})
    driven.switch("main")
    driven.git("mv", "old.yaml", "new.yaml")
    driven.commit("ours", {"new.yaml": OURS + filler})
    assert driven.merge().code == 0
    assert driven.text("new.yaml") == MERGED + filler
    assert driven.calls() == ["new.yaml"]


def test_rename_to_two_names_has_longer_markers(driven: Driven) -> None:
    filler = "".join(f"k{i}: {i}\n" for i in range(20))
    driven.commit("base", {"old.yaml": BASE + filler})
    driven.branch("side")
    driven.git("mv", "old.yaml", "theirs.yaml")
    driven.commit("theirs", {"theirs.yaml": THEIRS + filler})
    driven.switch("main")
    driven.git("mv", "old.yaml", "ours.yaml")
    driven.commit("ours", {"ours.yaml": OURS + filler})
    assert driven.merge().code == 1
    assert {size for size, _ in driven.sized_calls()} == {8}
    assert driven.text("ours.yaml") == driven.text("theirs.yaml") == MERGED + filler


def test_both_sides_added_the_file(driven: Driven) -> None:
    pod = "kind: Pod\nmetadata:\n  name: a\n"
    driven.fork({"y": ""}, {"x.yaml": pod + "a: 1\n"}, {"x.yaml": pod + "b: 1\n"})
    assert driven.merge().code == 0
    assert set(driven.text("x.yaml").splitlines()) == {*pod.splitlines(), "a: 1", "b: 1"}


@pytest.mark.world
@pytest.mark.parametrize(
    "name", ["a b.yaml", "it's.yaml", '"q".yaml', "-d.yaml", "$HOME.yaml", "%P.yaml", "ü/ñ.yaml"]
)
def test_odd_names(driven: Driven, name: str) -> None:
    driven.fork_one(name)
    assert driven.merge().code == 0
    assert clean(driven, name)


def test_every_file_of_a_merge(driven: Driven) -> None:
    names = [f"d{i}/x.yaml" for i in range(5)]
    driven.fork(
        dict.fromkeys(names, BASE), dict.fromkeys(names, OURS), dict.fromkeys(names, THEIRS)
    )
    assert driven.merge().code == 0
    assert sorted(driven.calls()) == names
    assert {driven.text(name) for name in names} == {MERGED}
    assert driven.git("status", "--porcelain").out == ""


# -- not called -----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["resolve", "octopus"])
def test_old_strategies_do_not_ask(driven: Driven, strategy: str) -> None:
    driven.fork_one()
    assert driven.merge("-s", strategy, "side").code != 0
    assert driven.calls() == []


def test_rebase_apply_does_not_ask_while_patches_apply(driven: Driven) -> None:
    far = "".join(f"k{i}: {i}\n" for i in range(20))
    driven.fork({"x.yaml": BASE + far}, {"x.yaml": OURS + far}, {"x.yaml": BASE + far + "z: 1\n"})
    driven.git("rebase", "-q", "--apply", "side")
    assert driven.text("x.yaml") == OURS + far + "z: 1\n"
    assert driven.calls() == []


@pytest.mark.parametrize(
    "ours, theirs",
    [
        ({"x.yaml": OURS}, {"y.yaml": "y: 1\n"}),
        ({"y.yaml": "y: 1\n"}, {"x.yaml": THEIRS}),
        ({"x.yaml": MERGED}, {"x.yaml": MERGED, "y": "1"}),
    ],
    ids=["ours alone", "theirs alone", "both the same"],
)
def test_what_git_settles_alone(
    driven: Driven, ours: dict[str, str | bytes], theirs: dict[str, str | bytes]
) -> None:
    driven.fork({"x.yaml": BASE}, ours, theirs)
    assert driven.merge().code == 0
    assert driven.calls() == []


def test_fast_forward_does_not_ask(driven: Driven) -> None:
    driven.commit("base", {"x.yaml": BASE})
    driven.branch("side")
    driven.commit("theirs", {"x.yaml": THEIRS})
    driven.switch("main")
    assert driven.merge().code == 0
    assert driven.calls() == []


def test_deleted_and_changed_does_not_ask(driven: Driven) -> None:
    driven.commit("base", {"x.yaml": BASE, "y": ""})
    driven.branch("side")
    driven.commit("theirs", {"x.yaml": THEIRS})
    driven.switch("main")
    driven.git("rm", "-q", "x.yaml")
    driven.commit("ours")
    assert driven.merge().code == 1
    assert driven.calls() == []
    assert driven.text("x.yaml") == THEIRS  # what was changed is there to see


def test_modes_and_links_do_not_ask(driven: Driven) -> None:
    driven.commit("base", {"x.yaml": BASE})
    (driven.path / "link.yaml").symlink_to("a")
    driven.commit("link")
    driven.branch("side")
    (driven.path / "x.yaml").chmod(0o755)
    (driven.path / "link.yaml").unlink()
    (driven.path / "link.yaml").symlink_to("b")
    driven.commit("theirs")
    driven.switch("main")
    (driven.path / "link.yaml").unlink()
    (driven.path / "link.yaml").symlink_to("c")
    driven.commit("ours", {"x.yaml": OURS})
    assert driven.merge().code == 1
    assert driven.calls() == []
    assert driven.unmerged() == ["link.yaml"]
    assert os.access(driven.path / "x.yaml", os.X_OK)
