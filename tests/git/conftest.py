"""The sealed world of every test that calls the real git."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from depth import SHARE, day
from world import Driven, Repo, World, live_in, sealed_environment

from kmerge_git.git.driver_lines import NAME, driver_line


@pytest.fixture(autouse=True)
def names_of_objects(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in so many tests of the day is in repositories with SHA-256 names, which git reads alone.

    `GIT_DEFAULT_HASH=sha256 tests/run tests/git` has all tests there.
    """
    of_the_day = zlib.crc32(request.node.nodeid.encode()) % SHARE == day() % SHARE
    if "by_libgit2" in request.fixturenames:
        monkeypatch.setenv("GIT_DEFAULT_HASH", "sha1")
    elif of_the_day:
        monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")


@pytest.fixture
def by_libgit2() -> None:
    """The test has repositories that libgit2 can read."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """An empty home directory; this process and all that it starts live in it."""
    root = tmp_path / "w"
    for directory in (root / "home", root / "etc"):
        directory.mkdir(parents=True)
    env = sealed_environment(root)
    live_in(env, monkeypatch)
    monkeypatch.chdir(root)
    return World(root, env)


@pytest.fixture
def repo(world: World) -> Repo:
    """An empty repository with the branch `main`."""
    return world.init()


@pytest.fixture
def driven(repo: Repo) -> Driven:
    """A repository with the registered line of this tree, as `kmerge install` writes it."""
    driven = Driven(repo.world, repo.path)
    driven.git("config", "merge.kmerge.name", NAME)
    driven.drive(driver_line())
    driven.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    return driven
