"""The sealed world itself: without it the other tests of this directory prove nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from world import Failed, Repo, World


def test_nothing_of_the_machine_reaches_git(world: World) -> None:
    origins = world.git("config", "--list", "--show-origin", check=False).lines
    assert origins == []
    assert world.git("rev-parse", "--git-dir", check=False).code == 128


def test_commits_are_the_same_every_time(repo: Repo, world: World) -> None:
    again = world.init("again")
    first, second = (r.commit("base", {"a.yaml": "a: 1\n"}) for r in (repo, again))
    assert first == second


def test_a_fork_without_a_driver_conflicts_as_git_does(repo: Repo) -> None:
    repo.fork({"a.yaml": "a: 1\n"}, {"a.yaml": "a: 2\n"}, {"a.yaml": "a: 3\n"})
    assert repo.merge().code == 1
    assert repo.unmerged() == ["a.yaml"]
    assert repo.text("a.yaml").startswith("<<<<<<< HEAD\na: 2\n")
    assert [repo.show(f":{stage}:a.yaml") for stage in (1, 2, 3)] == ["a: 1\n", "a: 2\n", "a: 3\n"]


SIDES: list[dict[str, str | bytes]] = [
    {"a.yaml": "a: 1\n", "d/b.bin": b"\0\xff\n", "empty": "", "no-end": "x"},
    {"a.yaml": "a: 2\n", "d/new.yaml": "n: 1\n"},
    {"d/b.bin": b"\r\n", "other": "o\n"},
]


def looks(repo: Repo) -> list[str]:
    """All that a later command can see of a repository."""
    files = [file for file in sorted(repo.path.rglob("*")) if ".git" not in file.parts]
    return [
        repo.git("for-each-ref").out,
        repo.git("symbolic-ref", "HEAD").out,
        repo.git("ls-files", "--stage").out,
        repo.git("status", "--porcelain").out,
        repo.git("config", "--list", "--local").out,
        *(str(file.relative_to(repo.path)) for file in files),
        *(repr(file.read_bytes()) for file in files if file.is_file()),
    ]


def test_a_fork_of_one_call_is_the_one_of_many(world: World) -> None:
    quick, slow = world.init("quick"), world.init("slow")
    slow.write(".git/hooks/post-checkout", "#!/bin/sh\n")  # who looks at hooks makes no short cut
    for repo in (quick, slow):
        repo.fork(*SIDES)
        assert [repo.head(), repo.head("main^")] == repo.git("rev-parse", "main", "side^").lines
    assert looks(quick) == looks(slow)


@pytest.mark.parametrize("bare", [False, True])
def test_a_copied_repository_is_one_that_git_makes(world: World, bare: bool) -> None:
    copied = world.init("copied", bare=bare).path
    made = world.root / "made"
    world.git("init", "-q", "-b", "main", *(["--bare"] if bare else []), made)

    def files(top: Path) -> dict[str, bytes | None]:
        return {
            file.relative_to(top).as_posix(): file.read_bytes() if file.is_file() else None
            for file in top.rglob("*")
            if file.suffix != ".sample"
        }

    assert files(copied) == files(made)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_internal_error_fails_unless_it_is_asked_for(world: World, stream: str) -> None:
    code = f"import sys; print('x.yaml: internal error: KeyError', file=sys.{stream})"
    with pytest.raises(Failed, match="internal error: KeyError"):
        world.python("-c", code)
    with pytest.raises(Failed, match="internal error: KeyError"):
        world.run(sys.executable, "-c", code, check=False)
    assert "internal error" in world.python("-c", code, internal_error=True).said
