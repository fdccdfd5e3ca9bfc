"""Who changed some lines last: a word for people, which never fails a command."""

from __future__ import annotations

import pytest
from world import Repo

from kmerge_git.git.repository import last_change

TEXT = "a: 1\nb: 1\nc: 1\nd: 1\n"
BASE = 1_700_000_000


def commit(repo: Repo, message: str, text: str, author: str = "Ada", hours: int = 0) -> str:
    when = f"{BASE + hours * 3600} +0000"
    repo.write("x.yaml", text)
    repo.git("add", "-A")
    env = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    repo.git("commit", "-q", "-m", message, env=env)
    return repo.head()[:10]


def test_the_newest_change_of_the_lines(repo: Repo) -> None:
    start = commit(repo, "start", TEXT)
    second = commit(repo, "second\n\nbody", TEXT.replace("b: 1", "b: 2"), "Bob", 2)
    third = commit(repo, "third", TEXT.replace("b: 1", "b: 2").replace("c: 1", "c: 3"), "Cy", 1)
    here = str(repo.path)
    assert last_change(here, "HEAD", "x.yaml", 1, 1) == (start, "Ada", "start")
    assert last_change(here, "HEAD", "x.yaml", 2, 2) == (second, "Bob", "second")
    assert last_change(here, "HEAD", "x.yaml", 3, 4) == (third, "Cy", "third")
    assert last_change(here, "HEAD", "x.yaml", 1, 4) == (second, "Bob", "second")
    assert last_change(here, "HEAD~1", "x.yaml", 3, 3) == (start, "Ada", "start")


@pytest.mark.parametrize(
    "rev, path, first, last",
    [
        ("none", "x.yaml", 1, 1),
        ("HEAD", "y.yaml", 1, 1),
        ("HEAD", "x.yaml", 3, 2),
        ("HEAD", "x.yaml", 0, 1),
        ("HEAD", "x.yaml", 900, 901),
        ("--contents=/etc/hostname", "x.yaml", 1, 1),
        ("HEAD", "x\0.yaml", 1, 1),
    ],
)
def test_what_git_cannot_tell_is_nothing(
    repo: Repo, rev: str, path: str, first: int, last: int
) -> None:
    commit(repo, "start", TEXT)
    assert last_change(str(repo.path), rev, path, first, last) is None


def test_outside_of_a_repository(repo: Repo) -> None:
    assert last_change(str(repo.world.root), "HEAD", "x.yaml", 1, 1) is None
    assert last_change("/no/such/folder", "HEAD", "x.yaml", 1, 1) is None


def test_what_is_shown_drives_no_terminal(repo: Repo) -> None:
    oid = commit(repo, "red \x1b[31m alert " + "x" * 300, TEXT, "E\x07ve")
    found = last_change(str(repo.path), "HEAD", "x.yaml", 1, 1)
    assert found is not None
    assert found[:2] == (oid, "E\\x07ve")
    assert found[2].startswith("red \\x1b[31m alert xxx")
    assert len(found[2]) == 100


def test_a_line_of_the_file_is_no_word_of_blame(repo: Repo) -> None:
    oid = commit(repo, "start", f"{'0' * 40} 1 1 1\nauthor Mallory\n")
    assert last_change(str(repo.path), "HEAD", "x.yaml", 1, 2) == (oid, "Ada", "start")


def test_no_program_is_run_to_show_the_file(repo: Repo) -> None:
    repo.write(".gitattributes", "*.yaml diff=odd\n")
    repo.git("config", "diff.odd.textconv", f"touch {repo.path}/ran; cat")
    oid = commit(repo, "start", TEXT)
    assert last_change(str(repo.path), "HEAD", "x.yaml", 1, 1) == (oid, "Ada", "start")
    assert not (repo.path / "ran").exists()
