"""The sealed world of every test that calls the real git."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import Driven, Repo, World, live_in, sealed_environment

from kmerge_git.git.driver_lines import NAME, driver_line


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
