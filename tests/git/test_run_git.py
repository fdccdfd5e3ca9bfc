"""How git is started: short questions without `subprocess`, everything else with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kmerge_git.errors import GitFailed
from kmerge_git.git.run_git import GitAnswer, ask_git, git_bytes, try_git


def refused(*args: object, **options: object) -> int:
    raise PermissionError("not here")


def test_a_system_without_memory_files_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "memfd_create", refused, raising=False)
    assert git_bytes("--version").startswith(b"git version")
    assert try_git("no-such-command") == b""


def test_no_open_file_of_the_caller_reaches_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that git starts would hold it, and its lock, after kmerge has ended."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    shown = tmp_path / "git"
    shown.write_text(f"#!/bin/sh\n[ -e /dev/fd/{descriptor} ] && echo inherited || echo closed\n")
    shown.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    try:
        assert ask_git("merge").out == "closed\n"
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("language", ["C", "de"])
def test_a_lock_of_another_process_is_reported_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    ask_git("init", "-q", cwd=tmp_path)
    lock = tmp_path / ".git" / "index.lock"
    lock.touch()
    monkeypatch.setenv("LANGUAGE", language)
    answer = ask_git("add", ".", cwd=tmp_path, env={**os.environ, "LC_ALL": "C.UTF-8"})
    with pytest.raises(GitFailed) as raised:
        answer.checked()
    assert str(raised.value) == (
        f"another git process holds the lock {lock}, so git wrote nothing; "
        "wait until that process ends, or remove the lock file if no git process is running"
    )


def test_a_lock_that_cannot_be_written_belongs_to_nobody() -> None:
    """Git gives its advice about another process only if the file exists."""
    said = b"fatal: Unable to create '/srv/.git/index.lock': Permission denied\n"
    with pytest.raises(GitFailed, match=r"^`git add` failed: fatal: Unable to create"):
        GitAnswer(["git", "add"], 128, b"", said).checked()
