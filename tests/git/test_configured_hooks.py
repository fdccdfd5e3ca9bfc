"""Hooks in git's configuration, which git runs since 2.54: planned for any git, run by a new one."""

from __future__ import annotations

import pytest
from test_status import probes
from world import Repo

from kmerge_git.git import installation
from kmerge_git.git.installation import CONFIGURED_SINCE, SHIMS, Wish, plan_install, plan_uninstall
from kmerge_git.git.run_git import git_version

KEYS = [f"hook.kmerge-{name}.{key}" for name in SHIMS for key in ("command", "event")]
newer = pytest.mark.skipif(git_version() < CONFIGURED_SINCE, reason="git runs no configured hooks")


def planned(repo: Repo) -> tuple[installation.SetupChange, ...]:
    """What `install --hooks` plans where git is new enough."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(installation, "git_version", lambda: CONFIGURED_SINCE)
        return plan_install(Wish(hooks=True), repo.path).changes


def put(repo: Repo) -> list[str]:
    """Make these changes, and return their places."""
    changes = planned(repo)
    for change in changes:
        change.make(repo.path)
    return [change.summary.rpartition(" ")[2] for change in changes]


def test_they_are_settings_and_no_files(repo: Repo) -> None:
    repo.git("config", "core.hooksPath", "team-hooks")
    assert put(repo)[-6:] == KEYS
    assert put(repo) == []
    assert not (repo.path / "team-hooks").exists()
    assert [repo.config(key) for key in KEYS[1::2]] == [[name] for name in SHIMS]
    done = repo.kmerge("uninstall")  # an event without a command stops git, so it goes first
    gone = [line.rpartition(" ")[2] for line in done.lines if "hook." in line]
    assert gone == [key for pair in zip(KEYS[1::2], KEYS[::2], strict=True) for key in pair]
    assert repo.git("config", "--get-regexp", "^hook", check=False).out == ""


def test_what_calls_kmerge_already_is_not_called_twice(repo: Repo) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\nkmerge check --staged\n")
    repo.write(".git/hooks/pre-push", SHIMS["pre-push"])
    repo.write(".git/hooks/pre-merge-commit", "#!/bin/sh\nexit 0\n")
    assert put(repo)[-2:] == KEYS[2:4]
    assert repo.config(KEYS[0]) == repo.config(KEYS[4]) == []


def test_what_somebody_changed_stays(repo: Repo) -> None:
    put(repo)
    repo.git("config", KEYS[0], "mine")
    changes = plan_uninstall(Wish(), repo.path).changes
    assert not {change.summary.rpartition(" ")[2] for change in changes} & {*KEYS[:2]}
    assert f"renewed {KEYS[0]}" in planned(repo)[-1].summary


@newer
def test_git_runs_them(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.kmerge("install", "--hooks")
    log = repo.world.root / "log"
    tools = repo.world.root / "bin"
    tools.mkdir()
    (tools / "kmerge").write_text(
        f'#!/bin/sh\necho "$* $PRE_COMMIT_REMOTE_NAME $PRE_COMMIT_FROM_REF" >>"{log}"\n'
    )
    (tools / "kmerge").chmod(0o755)
    env = {"PATH": f"{tools}:{repo.world.env['PATH']}"}
    repo.write("a", "b")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "x", env=env)
    other = repo.world.init("other.git", bare=True)
    repo.git("remote", "add", "up", other.path)
    repo.git("push", "-q", "up", "HEAD:x", env=env)
    ends = ["check --staged --new --quiet  ", f"check --committed up {'0' * 40}"]
    assert log.read_text().splitlines() == ends
    repo.git("merge", "-q", "--no-edit", "--no-ff", other_commit(repo), env=env)
    assert log.read_text().splitlines() == [*ends, ends[0]]


def other_commit(repo: Repo) -> str:
    repo.git("branch", "side")
    tree = repo.git("rev-parse", "HEAD^{tree}").out.strip()
    return repo.git("commit-tree", "-p", "HEAD", "-m", "y", tree).out.strip()


@newer
def test_status_names_them_unless_they_are_switched_off(repo: Repo) -> None:
    repo.kmerge("install", "--hooks")
    assert "pre-commit and pre-merge-commit call kmerge" in probes(repo)["hooks"]["text"]
    repo.git("config", "hook.kmerge-pre-commit.enabled", "false")
    assert probes(repo)["hooks"]["text"].startswith("pre-merge-commit call")
