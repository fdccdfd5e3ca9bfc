"""A sealed world with an upstream and a repository that vendors from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git.world import Done, Repo, World, live_in, sealed_environment

from kmerge_git.cli.main import main


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


class Vendoring(Repo):
    """A repository that vendors; `vendor` runs the command in this process."""

    def __init__(self, world: World, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(world, path)
        object.__setattr__(self, "capsys", capsys)

    def vendor_fails(self, *args: str) -> Done:
        """The same where it must be an error, told in one line."""
        done = self.vendor(*args, code=2)
        assert done.err.count("\n") == 1, done
        return done

    def vendor(self, *args: str, code: int = 0) -> Done:
        """Run the command and check its exit code."""
        self.capsys.readouterr()
        got = main(["vendor", *args])
        out, err = self.capsys.readouterr()
        done = Done(("kmerge", "vendor", *args), got, out, err)
        assert got == code, done
        return done

    def tree(self, directory: str) -> dict[str, tuple[bytes, bool]]:
        """All that lies in a directory: bytes and executable bits; of a link its target."""
        top = self.path / directory
        return {
            path.relative_to(top).as_posix(): (
                os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes(),
                bool(path.lstat().st_mode & 0o111),
            )
            for path in sorted(top.rglob("*"))
            if path.is_symlink() or path.is_file()
        }


@pytest.fixture
def up(world: World) -> Repo:
    """An empty repository: upstream."""
    return world.init("up")


@pytest.fixture
def mine(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Vendoring:
    """The repository that vendors; it is the current directory."""
    path = world.init("mine").path
    monkeypatch.chdir(path)
    return Vendoring(world, path, capsys)


def release(up: Repo, tag: str, files: dict[str, str | bytes | None]) -> str:
    """A commit of upstream with a tag; None takes a file away."""
    for name, text in files.items():
        if text is None:
            up.git("rm", "-q", name)
    commit = up.commit(tag, {name: text for name, text in files.items() if text is not None})
    up.git("tag", "-a", "-m", tag, tag)
    return commit
