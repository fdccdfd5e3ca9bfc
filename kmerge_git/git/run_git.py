"""Runs git with a list of arguments and gives back what it said."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from kmerge_git.errors import GitFailed, KmergeError
from kmerge_git.git import spawned_git

# git's own list (`git rev-parse --local-env-vars`): what ties a process to one repository
_NAMES = (
    "ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "CONFIG", "CONFIG_COUNT", "CONFIG_PARAMETERS",
    "DIR", "GRAFT_FILE", "IMPLICIT_WORK_TREE", "INDEX_FILE", "INTERNAL_SUPER_PREFIX",
    "NO_REPLACE_OBJECTS", "OBJECT_DIRECTORY", "PREFIX", "REPLACE_REF_BASE", "SHALLOW_FILE",
    "WORK_TREE",
)  # fmt: skip
REPOSITORY_VARIABLES = frozenset("GIT_" + name for name in _NAMES)


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What a git command printed, and its exit code."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The output without its last line end."""
        return self.out.removesuffix("\n").removesuffix("\r")

    @property
    def complaint(self) -> str:
        """The first line of what git says is wrong."""
        return self.err.strip().removeprefix("fatal: ").partition("\n")[0]


def ask_git(
    *args: str,
    cwd: Path | None = None,
    stdin: str = "",
    env: dict[str, str] | None = None,
) -> GitAnswer:
    """Run git, whatever its exit code; a missing git is an error."""
    argv = ("git", *args)
    try:
        ended = run(
            argv,
            cwd=cwd,
            env=env if env is not None else environment(),
            input=os.fsencode(stdin),
            capture_output=True,
        )
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise KmergeError("no such directory", path=str(cwd)) from error
        raise KmergeError("git was not found", hint="install git, or put it on PATH") from error
    return GitAnswer(argv, ended.returncode, os.fsdecode(ended.stdout), os.fsdecode(ended.stderr))


def run(
    argv: Sequence[str], *, cwd: Path | str | None = None, **how: Any
) -> subprocess.CompletedProcess[bytes]:
    """`subprocess.run` for every command of git; `--verbose` tells of it."""
    began, code = spawned_git.begin(), -1
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(argv, cwd=cwd, check=False, **how)
        code = done.returncode
    finally:
        spawned_git.tell(argv, code, began, cwd)
    return done


def git(*args: str, cwd: Path | None = None, stdin: str = "", hint: str = "") -> str:
    """Run git and give its output; raises `GitFailed` unless it ends with 0."""
    answer = ask_git(*args, cwd=cwd, stdin=stdin)
    if answer.code != 0:
        raise GitFailed(list(answer.argv), answer.code, answer.err, hint=hint)
    return answer.out


@contextmanager
def to_its_end() -> Iterator[list[int]]:
    """Let git end by itself whatever is asked of this process; gives the signals that came.

    Ctrl-C reaches git as well, and it knows what to do: an editor may have a use for it. Killed
    from here it would leave its locks and half of its files.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # only the main thread may
        yield came
        return
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def environment(*, any_repository: bool = False) -> dict[str, str]:
    """This process' environment with English messages; with `any_repository` bound to none."""
    bound = REPOSITORY_VARIABLES if any_repository else frozenset[str]()
    return {k: v for k, v in os.environ.items() if k not in bound} | {"LC_ALL": "C"}


def git_version(cwd: Path | None = None) -> tuple[int, int]:
    """Git's version as (major, minor); (0, 0) if it cannot be read."""
    words = git("version", cwd=cwd).split()
    parts = words[2].split(".") if len(words) > 2 else []
    if len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit():
        return int(parts[0]), int(parts[1])
    return 0, 0
