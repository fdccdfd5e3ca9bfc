"""`kmerge --version` tells the commit of a checkout, and a release its version alone."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kmerge_git import __version__
from kmerge_git.git.own_commit import commit_of, version_line

TAG = f"v{__version__}"


def git(*args: str, cwd: Path) -> str:
    ended = subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed tree that looks like ours."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    root = tmp_path / "checkout"
    (root / "kmerge_git").mkdir(parents=True)
    (root / "kmerge_git" / "__init__.py").write_text("")
    (root / "hatch_build.py").write_text("")
    git("init", "-q", cwd=root)
    git("add", ".", cwd=root)
    git("commit", "-q", "-m", "all", cwd=root)
    return root


def edit(root: Path) -> None:
    (root / "kmerge_git" / "__init__.py").write_text("a = 1\n")


def add(root: Path) -> None:
    (root / "kmerge_git" / "more.py").write_text("")


def notes(root: Path) -> None:
    (root / "notes.txt").write_text("of the user's own\n")


def tag(root: Path) -> None:
    git("tag", "-a", "-m", "one", TAG, cwd=root)


def later(root: Path) -> None:
    tag(root)
    git("commit", "-q", "--allow-empty", "-m", "more", cwd=root)


def tagged_and_edited(root: Path) -> None:
    tag(root)
    edit(root)


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda root: None, "HEAD"),
        (edit, "HEAD+dirty"),
        (add, "HEAD+dirty"),
        (notes, "HEAD"),
        (tag, ""),
        (tagged_and_edited, "HEAD+dirty"),
        (later, "HEAD"),
    ],
    ids=["commit", "edited", "a new module", "notes", "release", "release, edited", "later"],
)
def test_a_checkout_is_its_commit(
    checkout: Path, change: Callable[[Path], None], told: str
) -> None:
    change(checkout)
    commit = told.replace("HEAD", git("rev-parse", "HEAD", cwd=checkout)[:10])
    assert commit_of(checkout) == commit
    line = f"kmerge {__version__}" + (f" (from a checkout, {commit})" if told else "")
    assert version_line(checkout / "kmerge_git") == line


def test_a_commit_that_cannot_be_told_is_no_release(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    within = checkout / "within"  # its own repository is broken, the one around it is not asked
    (within / ".git").mkdir(parents=True)
    (within / "hatch_build.py").write_text("")
    assert commit_of(within) == "commit unknown"
    monkeypatch.setenv("PATH", str(within))
    assert commit_of(checkout) == "commit unknown"


def test_variables_of_another_repository_do_not_count(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = commit_of(checkout)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    assert commit_of(checkout) == commit


def test_an_installed_package_is_what_was_noted_and_asks_nobody(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "hatch_build.py").unlink()  # as in a folder of packages that is kept in git
    monkeypatch.setattr("kmerge_git.git.own_commit.ask_git", None)
    assert version_line(checkout / "kmerge_git") == f"kmerge {__version__}"
    (checkout / "kmerge_git" / "commit.txt").write_text("abc+dirty\n")
    assert version_line(checkout / "kmerge_git").endswith(" (from a checkout, abc+dirty)")
