"""The sealed world itself: without it the other tests of this directory prove nothing."""

from __future__ import annotations

from world import Repo, World


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
