"""How git is started: short questions without `subprocess`, everything else with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kmerge_git.git.run_git import ask_git, git_bytes, try_git


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
