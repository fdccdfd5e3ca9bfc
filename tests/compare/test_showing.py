"""What is read: at most as many lines as git prints, and nothing that misleads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compare.pull_requests import PULLS, Files

from kmerge_git.compare.folder_changes import FileVersion, compare_folders
from kmerge_git.compare.shown_changes import lines


def shown(old: Files, new: Files, *, full: bool = False) -> list[str]:
    found = compare_folders(
        *({p: FileVersion(t.encode()) for p, t in v.items()} for v in (old, new))
    )
    return [text for text, _ in lines(found, full=full)]


def git_lines(old: Files, new: Files, root: Path) -> list[str]:
    for name, files in (("a", old), ("b", new)):
        for path, text in files.items():
            place = root / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    command = ["git", "diff", "--no-index", "--no-ext-diff", "-M", "a", "b"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stdout.splitlines()


def test_there_are_twenty() -> None:
    assert len(PULLS) >= 20


@pytest.mark.parametrize("name", PULLS)
def test_no_more_lines_than_git(name: str, tmp_path: Path) -> None:
    old, new = PULLS[name]
    assert 0 < len(shown(old, new)) <= len(git_lines(old, new, tmp_path))
