"""A git of one's own: no configuration, attribute or variable of this machine reaches it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EPOCH = "1700000000 +0000"
PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", EPOCH))
}


@dataclass(frozen=True, slots=True)
class Done:
    """A process that has ended."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def said(self) -> str:
        """Everything that it printed, for assertions on messages."""
        return self.out + self.err


class Failed(AssertionError):
    """A command that had to work did not."""

    def __init__(self, done: Done) -> None:
        super().__init__(f"{' '.join(done.argv)} -> {done.code}\n{done.out}{done.err}")


def live_in(env: dict[str, str], patched: pytest.MonkeyPatch) -> None:
    """Let this process, and all that it starts, have this environment and no other variable."""
    for name in [name for name in os.environ if name not in env]:
        patched.delenv(name)
    for name, value in env.items():
        patched.setenv(name, value)


@contextmanager
def living(root: Path, more: Mapping[str, str] | None = None) -> Iterator[World]:
    """A sealed world of its own, and for so long this process lives in it."""
    for name in ("home", "etc"):
        (root / name).mkdir()
    env = sealed_environment(root) | (more or {})
    with pytest.MonkeyPatch.context() as patched:
        live_in(env, patched)
        yield World(root, env)


def sealed_environment(root: Path) -> dict[str, str]:
    """The environment of the sealed world below `root`, with nothing of git inherited."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "KMERGE", "XDG_"))}
    return (
        keep
        | PERSON
        | {
            "HOME": str(root / "home"),
            "USERPROFILE": str(root / "home"),
            "XDG_CONFIG_HOME": str(root / "home" / ".config"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": str(root / "etc" / "gitconfig"),
            "GIT_CEILING_DIRECTORIES": str(root),
            "GIT_EDITOR": "false",
            "GIT_MERGE_AUTOEDIT": "no",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            "TZ": "UTC",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    )


@dataclass(frozen=True, slots=True)
class World:
    """A home directory, an environment, and room for repositories below `root`."""

    root: Path
    env: dict[str, str] = field(repr=False)

    @property
    def home(self) -> Path:
        return self.root / "home"

    def run(
        self,
        *argv: str | Path,
        cwd: Path | None = None,
        check: bool = True,
        stdin: str = "",
        env: dict[str, str] | None = None,
        timeout: float = 600,  # a guard against hanging, not a measure
    ) -> Done:
        """Run a program in the sealed environment; a failure raises unless `check` is off."""
        words = tuple(str(word) for word in argv)
        ended = subprocess.run(
            words,
            cwd=cwd or self.root,
            env=self.env | (env or {}),
            input=stdin.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        out, err = (
            part.decode("utf-8", "surrogateescape") for part in (ended.stdout, ended.stderr)
        )
        done = Done(words, ended.returncode, out, err)
        if check and done.code != 0:
            raise Failed(done)
        return done

    def git(self, *args: str | Path, cwd: Path | None = None, check: bool = True) -> Done:
        return self.run("git", *args, cwd=cwd, check=check)

    def kmerge(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        check: bool = True,
        env: dict[str, str] | None = None,
    ) -> Done:
        """Run this tree's `kmerge` with the interpreter of the tests."""
        return self.run(sys.executable, "-m", "kmerge_git", *args, cwd=cwd, check=check, env=env)

    def init(self, name: str = "repo", *, bare: bool = False) -> Repo:
        """Make an empty repository whose branch is `main`."""
        path = self.root / name
        self.git("init", "-q", "-b", "main", *(["--bare"] if bare else []), path)
        return Repo(self, path)


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository of the sealed world; file names are relative to its top."""

    world: World
    path: Path

    def git(
        self,
        *args: str | Path,
        check: bool = True,
        stdin: str = "",
        env: dict[str, str] | None = None,
    ) -> Done:
        return self.world.run("git", *args, cwd=self.path, check=check, stdin=stdin, env=env)

    def kmerge(
        self, *args: str | Path, check: bool = True, env: dict[str, str] | None = None
    ) -> Done:
        return self.world.kmerge(*args, cwd=self.path, check=check, env=env)

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file byte for byte; its directories are made."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def bytes(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def text(self, name: str) -> str:
        return self.bytes(name).decode()

    def commit(self, message: str, files: dict[str, str | bytes] | None = None) -> str:
        """Write the files, commit everything that changed, and give the commit's id."""
        for name, text in (files or {}).items():
            self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self, revision: str = "HEAD") -> str:
        return self.git("rev-parse", revision).out.strip()

    def show(self, revision: str) -> str:
        """The text of an object, such as `HEAD:app.yaml` or `:2:app.yaml`."""
        return self.git("cat-file", "-p", revision).out

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Make a branch and switch to it."""
        self.git("checkout", "-q", "-b", name, start)

    def switch(self, name: str) -> None:
        self.git("checkout", "-q", name)

    def fork(
        self,
        base: dict[str, str | bytes],
        ours: dict[str, str | bytes],
        theirs: dict[str, str | bytes],
    ) -> None:
        """The current branch (checked out, with ours) and `side` (theirs) from a common base."""
        here = self.git("symbolic-ref", "--short", "HEAD").out.strip()
        self.commit("base", base)
        self.branch("side")
        self.commit("theirs", theirs)
        self.switch(here)
        self.commit("ours", ours)

    def merge(self, *args: str, check: bool = False) -> Done:
        """`git merge`, of `side` unless told otherwise; conflicts do not raise."""
        named = any(not arg.startswith("-") for arg in args)
        return self.git("merge", *args, *([] if named else ["side"]), check=check)

    def config(self, key: str, *scope: str) -> list[str]:
        """All values of a key, in one scope if one is given."""
        return self.git("config", *scope, "--get-all", key, check=False).lines

    def attribute(self, path: str, name: str = "merge") -> str:
        """The value that git sees for an attribute of a path."""
        return self.git("check-attr", "-z", name, "--", path).out.split("\0")[2]

    def unmerged(self) -> list[str]:
        """The paths that are in conflict."""
        return sorted(
            set(self.git("diff", "--name-only", "--diff-filter=U", "-z").out.split("\0")) - {""}
        )


# Neighbouring lines: git's line merge sees a conflict, a merge by field sees none.
BASE = "a: 1\nb: 1\n"
OURS = "a: 2\nb: 1\n"
THEIRS = "a: 1\nb: 2\n"
MERGED = "a: 2\nb: 2\n"


@dataclass(frozen=True, slots=True)
class Driven(Repo):
    """A repository whose manifests go to the driver; its calls are written down."""

    @property
    def log(self) -> Path:
        return self.world.root / "calls"

    def drive(self, line: str) -> None:
        """Register a driver line, with a note of every call before it."""
        noted = f'printf "%%s %%s\\n" %L %P >>"{self.log}"; '
        self.git("config", "merge.kmerge.driver", noted + line)

    def calls(self) -> list[str]:
        """The paths that the driver was called for, in order."""
        return [path for _, path in self.sized_calls()]

    def sized_calls(self) -> list[tuple[int, str]]:
        """Marker size and path of every call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(int(size), path) for size, _, path in (line.partition(" ") for line in lines)]

    def fork_one(self, name: str = "x.yaml") -> None:
        """A fork whose sides change neighbouring lines of one file."""
        self.fork({name: BASE}, {name: OURS}, {name: THEIRS})
