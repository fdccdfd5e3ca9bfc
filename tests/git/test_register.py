"""`kmerge register`, which the hook calls: only a program that nobody else may have put there."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest
from world import Repo, World

from kmerge_git.cli import register
from kmerge_git.git.driver_lines import driver_line

# the kmerge of somebody: notes how it was called, and registers itself
PROGRAM = """\
#!/bin/sh
echo "$0 $* $PYTHONPATH" >>"{log}"
git config merge.kmerge.driver "{line}"
{end}
"""


@pytest.fixture
def path(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What precedes the usual PATH; the folders above this world are as safe as a home is."""
    real = register.open_place

    def below(path: Path) -> Path | None:
        place = real(path)
        return place if place and place.is_relative_to(repo.world.root) else None

    monkeypatch.setattr(register, "open_place", below)
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("PYTHONPATH", "lib")
    return []


@pytest.fixture
def registered(path: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch, world: World):
    """Call the hook, and return the programs that it has called, and its one line or nothing."""

    def call() -> tuple[list[str], str]:
        monkeypatch.setenv("PATH", ":".join(map(str, (*path, world.env["PATH"]))))
        assert register.run(argparse.Namespace()) == 0
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") <= 1
        log = world.root / "log"
        return log.read_text().splitlines() if log.exists() else [], said.err

    return call


def put(world: World, folder: Path, end: str = "", mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "kmerge"
    line = driver_line().replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    text = PROGRAM.format(log=world.root / "log", line=line.replace("`", "\\`"), end=end)
    program.write_text(text)
    program.chmod(mode)
    return program


def test_the_first_that_is_safe_registers_itself(repo: Repo, path, registered) -> None:
    world = repo.world
    tools = put(world, world.home / "tools" / "kmerge-git" / "bin")
    (world.home / "bin").mkdir()
    (world.home / "bin" / "kmerge").symlink_to(tools)
    put(world, repo.path / "bin")
    put(world, world.home / ".cache" / "pre-commit" / "repo1" / "bin")
    put(world, world.home / "later")
    path += [repo.path / "bin", world.home / ".cache" / "pre-commit" / "repo1" / "bin"]
    path += [world.home / "bin", world.home / "later"]
    calls, said = registered()
    assert calls == [f"{tools} install --quiet "]
    assert said.startswith(f"kmerge: {tools} is registered as the merge driver of this clone")
    assert registered() == (calls, "")  # the second checkout says nothing


@pytest.mark.parametrize(
    "place, mode, why",
    [
        ("repo/bin", 0o755, "is in the working tree {root}/repo"),
        ("other/.venv/bin", 0o755, "is in the working tree {root}/other"),
        ("home/open", 0o777, "other users can write to {root}/home/open"),
        ("home/team", 0o775, "other users can write to {root}/home/team"),
        ("home/sticky", 0o1777, "other users can write to {root}/home/sticky"),
        ("home/.cache/uv/archive-v0/x/bin", 0o755, "there is no other kmerge on PATH"),
        ("home/python", 0o755, "is not a program named kmerge"),
        ("home/loop", 0o755, "there is no other kmerge on PATH"),
    ],
)
def test_what_is_not_safe_is_named_and_never_called(
    repo: Repo, path, registered, place: str, mode: int, why: str
) -> None:
    world = repo.world
    world.init("other")
    folder = world.root / place
    folder.mkdir(parents=True)
    if folder.name in ("python", "loop"):
        (folder / "kmerge").symlink_to(sys.executable if folder.name == "python" else "kmerge")
    else:
        put(world, folder)
    folder.chmod(mode)
    path.append(folder)
    calls, said = registered()
    assert calls == []
    assert why.format(root=world.root) in said
    assert said.endswith("(or pipx, or pip), then `kmerge install`\n")
    link = world.home / "links"
    link.mkdir()
    (link / "kmerge").symlink_to(folder / "kmerge")
    path[:] = [link]
    assert registered()[0] == []


def test_a_file_that_others_may_write_is_not_called(repo: Repo, path, registered) -> None:
    program = put(repo.world, repo.world.home / "bin", mode=0o757)
    path.append(program.parent)
    assert registered()[0] == []


def test_a_relative_path_is_one_of_the_working_tree(repo: Repo, path, registered) -> None:
    put(repo.world, repo.path / "bin")
    put(repo.world, repo.path)
    path += [Path("bin"), Path()]
    assert registered()[0] == []


def test_a_link_of_the_working_tree_is_not_followed(repo: Repo, path, registered) -> None:
    program = put(repo.world, repo.world.home / "tools")
    (repo.path / "bin").mkdir()
    (repo.path / "bin" / "kmerge").symlink_to(program)
    path.append(repo.path / "bin")
    assert registered()[0] == []


def test_a_working_tree_without_a_git_directory_in_it(
    repo: Repo, path, registered, monkeypatch
) -> None:
    path.append(put(repo.world, repo.path / "bin").parent)
    monkeypatch.setenv("GIT_DIR", str((repo.path / ".git").rename(repo.world.root / "git")))
    monkeypatch.setenv("GIT_WORK_TREE", str(repo.path))
    calls, said = registered()
    assert (calls, f"is in the working tree {repo.path}" in said) == ([], True), said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_folder_of_somebody_else(repo: Repo, path, registered) -> None:
    program = put(repo.world, repo.world.home / "bin")
    path.append(program.parent)
    os.chown(program.parent, 12345, -1)
    calls, said = registered()
    assert (calls, f"other users can write to {program.parent}" in said) == ([], True), said


@pytest.mark.parametrize(
    "setting",
    [
        ("kmerge.autoinstall", "false"),
        ("merge.kmerge.driver", "somebody-elses %O %A %B"),
        ("merge.kmerge.driver", driver_line()),
        ("merge.kmerge.driver", driver_line().replace("kmerge status --deep", "kmerge doctor")),
    ],
)
def test_where_it_is_not_wanted_it_says_nothing(repo: Repo, path, registered, setting) -> None:
    path.append(put(repo.world, repo.world.home / "bin").parent)
    repo.git("config", *setting)
    assert registered() == ([], "")


def test_in_ci_it_says_nothing(repo: Repo, path, registered, monkeypatch) -> None:
    path.append(put(repo.world, repo.world.home / "bin").parent)
    monkeypatch.setenv("CI", "true")
    assert registered() == ([], "")


def test_what_does_not_run_any_more_is_registered_again(repo: Repo, path, registered) -> None:
    path.append(put(repo.world, repo.world.home / "bin").parent)
    repo.git("config", "merge.kmerge.driver", driver_line("/no/such/python"))
    assert len(registered()[0]) == 1
    assert repo.config("merge.kmerge.driver") == [driver_line()]


def test_a_checkout_never_fails(repo: Repo, path, registered, monkeypatch) -> None:
    program = put(repo.world, repo.world.home / "bin", end="echo 'kmerge: why' >&2; exit 2")
    path.append(program.parent)
    repo.git("config", "merge.kmerge.driver", driver_line("/no/such/python"))
    assert registered()[1] == f"kmerge: {program} could not register its merge driver: why\n"
    program.write_text("#!/no/such/shell\n")
    repo.git("config", "merge.kmerge.driver", driver_line("/no/such/python"))
    assert "No such file" in registered()[1]
    monkeypatch.chdir(repo.world.root)
    assert "this is not a git repository" in registered()[1]
