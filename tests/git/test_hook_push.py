"""The hook pre-push: the merges that are pushed have lost nothing."""

from __future__ import annotations

import pytest
from test_check_staged import install_hook
from world import Done, Repo

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
LINES = CONFIG + "".join(f"  k{n}: v\n" for n in range(20))
LEFT = LINES.replace("k0: v", "k0: ours")
RIGHT = LINES.replace("k19: v", "k19: theirs")
BOTH = LEFT.replace("k19: v", "k19: theirs")


@pytest.fixture
def pushing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with two branches, a remote that has the first commit, and the hook."""
    for name in ("CI", "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PRE_COMMIT_LOCAL_BRANCH"):
        monkeypatch.delenv(name, raising=False)
        repo.world.env.pop(name, None)
    repo.fork({"a.yaml": LINES}, {"a.yaml": LEFT}, {"a.yaml": RIGHT, "t": "1"})
    remote = repo.world.init("remote", bare=True)
    repo.git("remote", "add", "origin", remote.path)
    repo.git("push", "-q", "origin", "main~:refs/heads/main")
    repo.git("config", "remote.origin.followRemoteHEAD", "never")  # git 2.48 would set origin/HEAD
    repo.git("fetch", "-q", "origin")
    install_hook(repo, repo.world, "pre-push")
    return repo


def merge(repo: Repo, text: str, subject: str = "joined") -> None:
    """Merge the other branch, with this result."""
    repo.merge("--no-commit", "--no-ff", "side")
    repo.write("a.yaml", text)
    repo.git("commit", "-q", "-a", "--no-verify", "-m", subject)


def push(repo: Repo, *words: str, env: dict[str, str] | None = None) -> Done:
    return repo.git("push", "-q", "origin", *(words or ("main",)), check=False, env=env)


def test_a_merge_that_lost_a_change(pushing: Repo) -> None:
    merge(pushing, LEFT)
    done = push(pushing)
    assert (done.code, "error M11" in done.said) == (1, True), done.said
    assert " joined, which this push contains:" in done.said
    assert push(pushing, env={"KMERGE_CHECK_IGNORE": "M11,M28"}).code == 0


def test_a_sound_merge_and_none(pushing: Repo) -> None:
    merge(pushing, BOTH)
    done = push(pushing)
    assert (done.code, done.said) == (0, "")
    pushing.commit("more", {"a.yaml": BOTH.replace("k5: v", "k5: more")})
    done = push(pushing)
    assert (done.code, done.said) == (0, "")


def test_what_the_trailer_names_is_meant(pushing: Repo) -> None:
    merge(pushing, LEFT, "joined\n\nKmerge-Dropped: a.yaml")
    done = push(pushing)
    assert (done.code, done.said) == (0, "")


def test_a_merge_that_the_remote_has_is_not_judged_again(pushing: Repo) -> None:
    merge(pushing, LEFT)
    pushing.git("push", "-q", "--no-verify", "origin", "main:refs/heads/other")
    assert push(pushing).code == 0


def test_a_new_branch(pushing: Repo) -> None:
    merge(pushing, LEFT)
    done = push(pushing, "main:refs/heads/new")
    assert (done.code, "the merges of" in done.said) == (0, True), done.said
    assert "none of its commits is known to be on the remote" in done.said
    pushing.git("push", "-q", "--no-verify", "origin", ":refs/heads/new")
    pushing.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    done = push(pushing, "main:refs/heads/new")
    assert (done.code, "error M11" in done.said) == (1, True), done.said


def test_a_deleted_branch_a_tag_and_a_name_with_spaces(pushing: Repo) -> None:
    merge(pushing, LEFT)
    pushing.git("push", "-q", "--no-verify", "origin", "main~:refs/heads/gone")
    done = push(pushing, ":refs/heads/gone")
    assert (done.code, done.said) == (0, "")
    pushing.git("tag", "blob", pushing.git("rev-parse", "HEAD:a.yaml").out.strip())
    done = push(pushing, "blob")
    assert (done.code, "git does not know this commit" in done.said) == (0, True), done.said
    done = push(pushing, "main@{0 days ago}:refs/heads/main")
    assert (done.code, "error M11" in done.said) == (1, True), done.said


def test_of_many_merges_the_newest(pushing: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from kmerge_git.cli import hook_check
    from kmerge_git.cli.main import main

    for n in range(3):
        pushing.branch(f"b{n}")
        pushing.switch(f"b{n}")
        pushing.commit(f"b{n}", {f"{n}.txt": "x"})
        pushing.switch("main")
        pushing.git("merge", "-q", "--no-ff", "-m", f"merge {n}", f"b{n}")
    monkeypatch.setattr(hook_check, "PUSHED_MERGES", 2)
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", pushing.head("refs/remotes/origin/main"))
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "main")
    monkeypatch.chdir(pushing.path)
    assert hook_check.pushed_merges(str(pushing.path), "main") == [
        pushing.head("main"),
        pushing.head("main~"),
    ]
    assert main(["check", "--committed"]) == 0


def test_a_shallow_clone(pushing: Repo) -> None:
    """Where the history is cut off the merge cannot be judged, and the push goes on."""
    merge(pushing, LEFT)
    parents = [pushing.head(name) for name in ("main^1", "main^2")]
    (pushing.path / ".git" / "shallow").write_text("\n".join(parents) + "\n")
    first = pushing.head("refs/remotes/origin/main")
    env = {"PRE_COMMIT_FROM_REF": first, "PRE_COMMIT_TO_REF": "main"}
    done = pushing.kmerge("check", "--committed", env=env, check=False)
    assert (done.code, "joined was not checked: " in done.err) == (0, True), done.said
    assert "fetch --unshallow" in done.err


@pytest.mark.parametrize("name", ["1" * 40, "-x", "a b", "refs/heads/gone"])
def test_revisions_that_are_not_there(pushing: Repo, name: str) -> None:
    env = {"PRE_COMMIT_FROM_REF": name, "PRE_COMMIT_TO_REF": name, "PRE_COMMIT_REMOTE_NAME": "*"}
    done = pushing.kmerge("check", "--committed", env=env, check=False)
    assert (done.code, f"the merges of {name} were not checked" in done.err) == (0, True)


@pytest.mark.parametrize("result, lost", [(BOTH, ""), (LEFT, "k19"), (RIGHT, "k0")])
def test_a_rebased_branch_is_judged_and_pushed(pushing: Repo, result: str, lost: str) -> None:
    """The hooks of a commit do not run in `git rebase --continue`."""
    pushing.git("push", "-q", "--no-verify", "origin", "side", "main")
    pushing.git("remote", "set-head", "origin", "main")
    pushing.switch("side")
    pushing.git("rebase", "-q", "main")
    pushing.write("a.yaml", result)
    pushing.git("commit", "-q", "-a", "--amend", "--no-verify", "--no-edit")
    done = push(pushing, "--force", "side")
    assert done.code == 0
    said = "kmerge: these changes of the remote branch are not in the rebased branch (lost or amended):"
    assert (said in done.said, f"data.{lost}" in done.said) == (bool(lost), bool(lost))


def test_an_amended_branch_is_no_rebased_one(pushing: Repo) -> None:
    pushing.git("push", "-q", "--no-verify", "origin", "side", "main")
    pushing.git("remote", "set-head", "origin", "main")
    pushing.switch("side")
    pushing.write("a.yaml", LINES)
    pushing.git("commit", "-q", "-a", "--amend", "--no-verify", "--no-edit")
    done = push(pushing, "--force", "side")
    assert (done.code, done.said) == (0, "")
