"""Where a program may lie that git's configuration names: not in a cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from world import Repo, World

from kmerge_git.errors import UsageError
from kmerge_git.git import installation
from kmerge_git.git.driver_lines import driver_line
from kmerge_git.git.program_places import cache_of


@pytest.mark.parametrize(
    "place, tool",
    [
        (".cache/uv/archive-v0/abc", "uvx"),
        (".cache/uv/environments-v2/abc", "uvx"),
        (".cache/pipx/c14392c95e3c143", "pipx run"),
        (".local/pipx/.cache/c1", "pipx run"),
        (".cache/pre-commit/repo1/py_env-python3.11", "pre-commit"),
        (".cache/prek/hooks/python-1", "prek"),
        (".local/share/uv/tools/kmerge-git", ""),
        (".local/share/pipx/venvs/kmerge-git", ""),
        (".cache/uvx", ""),
    ],
)
def test_the_usual_caches(world: World, place: str, tool: str) -> None:
    assert cache_of(world.home / place) == tool


@pytest.mark.parametrize(
    "variable, place, tool",
    [
        ("XDG_CACHE_HOME", "elsewhere/uv/archive-v0/abc", "uvx"),
        ("UV_CACHE_DIR", "elsewhere/x", "uvx"),
        ("PIPX_HOME", "elsewhere/.cache/c1", "pipx run"),
        ("PIPX_HOME", "elsewhere/venvs/kmerge-git", ""),
        ("PRE_COMMIT_HOME", "elsewhere/repo1", "pre-commit"),
        ("PREK_HOME", "elsewhere/hooks", "prek"),
    ],
)
def test_caches_at_another_place(
    world: World, monkeypatch: pytest.MonkeyPatch, variable: str, place: str, tool: str
) -> None:
    monkeypatch.setenv(variable, str(world.root / "elsewhere"))
    assert cache_of(world.root / place) == tool


def test_a_cache_of_uv_that_no_variable_names(world: World) -> None:
    place = world.root / "any where" / "archive-v0" / "abc"
    place.mkdir(parents=True)
    assert cache_of(place) == ""
    (place.parents[1] / "CACHEDIR.TAG").touch()
    assert cache_of(place) == "uvx"
    link = world.root / "link"
    link.symlink_to(place)
    assert cache_of(link) == "uvx"


def test_a_cache_is_not_registered(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(repo.world.home / ".cache" / "uv" / "archive-v0" / "x"))
    with pytest.raises(UsageError, match="run `uv tool install kmerge-git`, then"):
        installation.plan_install(installation.Wish(), repo.path)
    assert installation.renewals(repo.path) == []
    repo.git("config", "merge.kmerge.driver", driver_line("/no/such/python", lib=""))
    with pytest.raises(UsageError, match="cache of uvx"):
        installation.renewals(repo.path)


def test_the_hint_names_the_tool(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(Path("~/.cache/pipx/c1").expanduser()))
    with pytest.raises(UsageError, match="run `pipx install kmerge-git`"):
        installation.plan_install(installation.Wish(scope="global"), repo.path)
