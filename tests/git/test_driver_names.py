"""What the labels call the sides: git's own words, on a git that does not tell them as well."""

from __future__ import annotations

import pytest
from world import Driven, Repo, World

from kmerge_git.git.run_git import git_version

FILLER = "".join(f"k{i}: {i}\n" for i in range(20))
BASE, OURS, THEIRS = (f"a: {value}\n{FILLER}" for value in (1, 2, 3))
SIDES = ("<", "|", ">")
tells_names = git_version() >= (2, 44)

# Each stops at a conflict in one file, on the branch `main` with `side` beside it.
TOLD = {
    "merge": ["merge side"],
    "merge of a tag": ["tag v1 side", "merge v1"],
    "merge of an expression": ["merge side~0"],
    "merge of an id": ["merge {side}"],
    "squash": ["merge --squash side"],
    "pull": ["pull -q --no-rebase . side"],
    "pull --rebase": ["pull -q --rebase . side"],
    "rebase": ["rebase -q side"],
    "rebase --onto": ["rebase -q --onto side main~1"],
    "rebase --rebase-merges": ["rebase -q --rebase-merges side"],
    "a series of picks": ["cherry-pick side side"],
    "a series of reverts": ["!a: 4", "!a: 5", "revert --no-edit main~1 main~2"],
    "renamed here": ["mv x.yaml y.yaml", "commit -q -m moved", "merge side"],
    "renamed here, picks": ["mv x.yaml y.yaml", "commit -q -m moved", "cherry-pick side side"],
    "renamed there": ["checkout -q side", "mv x.yaml y.yaml", "commit -q -m moved", "checkout -q main", "merge side"],
    "both add": ["checkout -q --orphan new", "!a: 4", "checkout -q main", "cherry-pick new side"],
    "both add, rebase": ["checkout -q --orphan new", "!a: 4", "rebase side"],
    "both add, merge": ["rm -q x.yaml", "commit -q -m none", "branch -q bare", "!a: 4", "checkout -q -b more bare", "!a: 5", "merge main"],
    "checkout -m FILE": ["merge side", "checkout -m -- x.yaml"],
    "apply --3way": ["apply --3way @patch"],
}  # fmt: skip
# Nothing in the environment or the repository tells the names, or what tells them is of another
# command: better no name than a wrong one.
UNTOLD = {
    "rebase --apply": ["rebase -q --apply side"],
    "autostash of a merge": ["reset -q --hard main~1", "!b: 2 z.yaml", "?a: 9", "merge --autostash side"],
    "autostash of a rebase": ["reset -q --hard main~1", "!b: 2 z.yaml", "?a: 9", "rebase -q --autostash side"],
    "one pick": ["cherry-pick side"],
    "one pick, no commit": ["cherry-pick -n side"],
    "one revert": ["!a: 4", "revert --no-edit main~1"],
    "stash": ["?a: 9", "stash -q", "!a: 4", "stash pop"],
    "checkout -m": ["reset -q --hard main~1", "?a: 9", "checkout -q -m side"],
    "a pick while a rebase is stopped": ["rebase -q side", "checkout -q -f side", "cherry-pick {other}"],
}  # fmt: skip


def make(repo: Repo) -> None:
    repo.git("config", "merge.conflictStyle", "diff3")
    repo.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": THEIRS})
    repo.git("commit", "-q", "--amend", "-m", "ours: a (second) 'word'", "-m", "more")
    repo.branch("other", "main~1")
    repo.commit("other", {"x.yaml": BASE.replace("a: 1", "a: 7")})
    repo.switch("main")


def run(repo: Repo, commands: list[str]) -> None:
    """Git's commands; `!` commits a line as the first of a file, `?` writes it."""
    for command in commands:
        if command[0] in "!?":
            line, _, name = command[1:].partition(" z")
            repo.write(f"z{name}" if name else "x.yaml", f"{line}\n{FILLER}")
            if command[0] == "!":
                repo.git("add", ".")
                repo.git("commit", "-q", "-m", f"now {line}")
            continue
        words = command.format(side=repo.head("side"), other=repo.head("other")).split()
        patch = repo.git("diff", "--full-index", "main~1", "side").out if "@patch" in words else ""
        repo.git(*(w for w in words if w != "@patch"), check=False, stdin=patch)


def labels(repo: Repo) -> list[str]:
    """The labels of the only conflict, without our cause."""
    name = "y.yaml" if (repo.path / "y.yaml").exists() else "x.yaml"
    # of a patch; the words have changed since 2.39
    text = repo.text(name).replace("constructed fake ancestor", "constructed merge base")
    lines = [line for line in text.splitlines() if line[:7] in [c * 7 for c in SIDES]]
    assert [line[0] for line in lines] == list(SIDES)
    ours, base, theirs = (line[8:] for line in lines)
    return [ours.partition(" (")[0], base, theirs]


@pytest.fixture
def plain(world: World) -> Repo:
    """A repository of the same commits that knows no driver."""
    repo = world.init("plain")
    make(repo)
    return repo


@pytest.mark.world
@pytest.mark.parametrize("name", TOLD)
def test_the_names_are_those_of_git(driven: Driven, plain: Repo, name: str) -> None:
    make(driven)
    run(driven, TOLD[name])
    run(plain, TOLD[name])
    mine, gits = labels(driven), labels(plain)
    assert (mine[0], mine[2]) == (gits[0], gits[2])
    assert mine[1] in (gits[1], "base") or "parent of" in mine[1]
    assert driven.calls()


@pytest.mark.world
@pytest.mark.parametrize("name", UNTOLD)
@pytest.mark.skipif(tells_names, reason="this git tells the names")
def test_what_is_not_certain_has_no_name(driven: Driven, name: str) -> None:
    make(driven)
    run(driven, UNTOLD[name])
    assert labels(driven) == ["ours", "base", "theirs"]


def test_a_patch_that_does_not_apply(driven: Driven, plain: Repo) -> None:
    make(driven)
    for repo in (driven, plain):
        patch = repo.git("format-patch", "--stdout", "-1", "side").out
        repo.git("am", "-q", "-3", stdin=patch, check=False)
    assert labels(plain) == ["HEAD", "constructed merge base", "theirs"]
    assert labels(driven) == (labels(plain) if tells_names else ["ours", "base", "theirs"])


@pytest.mark.parametrize("where", ["a linked worktree", "a folder", "GIT_DIR"])
def test_wherever_git_is(driven: Driven, where: str) -> None:
    make(driven)
    top, env = driven.path, {}
    if where == "a linked worktree":
        top = driven.world.root / "linked"
        driven.git("worktree", "add", "-q", top, "-b", "linked")
    elif where == "GIT_DIR":
        (driven.path / ".git").rename(driven.world.root / "g")
        env = {"GIT_DIR": str(driven.world.root / "g"), "GIT_WORK_TREE": str(top)}
    below = top / "deep"
    below.mkdir()
    for command, theirs in (("merge", "side"), ("rebase", "(ours: a (second) 'word')")):
        world = driven.world
        world.run("git", command, "side", cwd=below, env=env, check=False)
        repo = Repo(world, top)
        assert labels(repo)[0] == "HEAD"
        assert labels(repo)[2].endswith(theirs)
        world.run("git", command, "--abort", cwd=below, env=env)


def test_lines_have_the_names_as_well(driven: Driven) -> None:
    driven.fork(*({"x.yaml": f"{{{{- {value} }}}}\n"} for value in (1, 2, 3)))
    driven.merge()
    text = driven.text("x.yaml")
    assert text == "<<<<<<< HEAD\n{{- 2 }}\n=======\n{{- 3 }}\n>>>>>>> side\n"


def test_a_hook_of_a_merge_has_its_variables_and_not_its_names(driven: Driven) -> None:
    make(driven)
    hook = driven.write(".git/hooks/post-merge", "#!/bin/sh\ngit stash pop\nexit 0\n")
    hook.chmod(0o755)
    driven.git("reset", "-q", "--hard", "main~1")
    driven.write("x.yaml", BASE.replace("a: 1", "a: 9"))
    driven.git("stash", "-q")
    driven.git("config", "merge.ff", "false")
    driven.merge()
    assert "side" not in "".join(labels(driven))


@pytest.mark.costly
def test_an_ancestor_of_a_criss_cross_names_nobody(driven: Driven) -> None:
    make(driven)
    for one, other, value in (("main", "side", 4), ("side", "main~1", 5)):
        driven.switch(one)
        driven.merge(other)
        driven.commit("solved", {"x.yaml": BASE.replace("a: 1", f"a: {value}")})
    driven.switch("main")
    driven.merge()
    assert labels(driven) == ["HEAD", "merged common ancestors", "side"]


def test_who_merges_clean_does_not_look_for_names(driven: Driven) -> None:
    driven.fork_one()
    seen = driven.world.root / "trace"
    done = driven.git("merge", "side", env={"GIT_TRACE": str(seen)})
    assert done.code == 0
    assert "hash-object" not in seen.read_text()
