"""What is told without a question to git is never a no where git would say yes."""

from __future__ import annotations

import pytest
from world import Repo

from kmerge_git.cli.check_files import OF_SCRIPTS, SCRIPTS
from kmerge_git.git.hints import (
    may_be_configured,
    may_be_said,
    may_be_tracked,
    nothing_is_set,
    top_around,
)

WORD = b"ustomization"


@pytest.fixture
def tracked(repo: Repo) -> Repo:
    names = [*(f"a/kustom{n}.yaml" for n in range(3)), "a/kustomization.yaml"]
    repo.commit("start", dict.fromkeys(names, "a: 1\n"))
    return repo


def test_a_word_in_the_index(tracked: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tracked.path / ".git")
    assert may_be_tracked(folder, WORD)
    assert may_be_tracked(folder, b"nothing", WORD)
    assert not may_be_tracked(folder, b"Kustomization", b"nothing")
    for version in ("4", "2"):  # 4: names without what they share with the one before
        tracked.git("update-index", "--index-version", version)
        assert may_be_tracked(folder, WORD)
    tracked.git("update-index", "--split-index")
    assert may_be_tracked(folder, WORD)
    tracked.git("update-index", "--no-split-index")
    tracked.git("rm", "-q", "--cached", "a/kustomization.yaml")
    assert not may_be_tracked(folder, WORD)
    monkeypatch.setenv("GIT_INDEX_FILE", "elsewhere")
    assert may_be_tracked(folder, WORD)


def test_before_anything_is_tracked_and_in_a_linked_working_tree(tracked: Repo) -> None:
    empty = tracked.world.init("empty")
    assert not may_be_tracked(str(empty.path / ".git"), WORD)
    tracked.git("worktree", "add", "-q", "linked")
    assert may_be_tracked(str(tracked.path / "linked" / ".git"), b"nothing")


def test_the_top_where_git_says_the_same(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(repo.path / ".git")
    assert top_around(folder) == repo.git("rev-parse", "--show-toplevel").out.strip()
    repo.git("config", "core.worktree", str(repo.world.root))
    assert top_around(folder) == ""
    repo.git("config", "--unset", "core.worktree")
    repo.git("config", "core.bare", "true")
    assert top_around(folder) == ""
    repo.git("config", "core.bare", "false")
    monkeypatch.setenv("GIT_WORK_TREE", str(repo.world.root))
    assert top_around(folder) == ""
    assert top_around(".git") == ""


def as_in(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the environment of a command in the repository."""
    monkeypatch.chdir(repo.path)
    for name in repo.world.env:
        monkeypatch.setenv(name, repo.world.env[name])
    for name in ("GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.delenv(name, raising=False)


def test_a_git_that_reads_files_we_do_not_know_is_asked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Homebrew and Xcode keep the system's configuration in places of their own."""
    repo.commit("start", {"a.yaml": "a: 1\n"})
    as_in(repo, monkeypatch)
    told = [
        lambda: not nothing_is_set("a.yaml"),
        lambda: may_be_configured(".git", b"nothing"),
        lambda: may_be_said(".git", ".", b"nothing", ["a.yaml"]),
    ]
    assert not any(each() for each in told)
    monkeypatch.setattr("sys.platform", "darwin")
    assert all(each() for each in told)


@pytest.mark.parametrize("way", ["--no-split-index", "--split-index"])
def test_an_attribute_file_that_only_the_index_has_may_say_it(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    repo.commit("start", {"a/x.yaml": "a: 1\n"})
    as_in(repo, monkeypatch)
    assert not may_be_said(".git", ".", b"kmerge-crd", ["a/x.yaml"])
    repo.commit("more", {"a/.gitattributes": "* kmerge-crd=x\n"})
    (repo.path / "a" / ".gitattributes").unlink()
    repo.git("update-index", way)
    assert may_be_said(".git", ".", b"kmerge-crd", ["a/x.yaml"])


def test_every_kind_of_script_has_its_word() -> None:
    """A pattern of `git grep` and what is looked for in the index in its place."""
    assert len(SCRIPTS) == len(OF_SCRIPTS)
    for pattern, word in zip(SCRIPTS, OF_SCRIPTS, strict=True):
        assert word.decode() in pattern
