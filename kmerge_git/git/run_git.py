"""Run git for a command and return its answer; `--verbose` prints each call.

`subprocess` is imported only where git needs more than its arguments: the hooks ask so little that
the import would cost as much as the answers. The driver starts git in its own way (`spawned_git`).
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

from kmerge_git.errors import GitFailed, KmergeError, UsageError
from kmerge_git.git.spawned_git import show_call, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import FrameType

    Ended = tuple[int, bytes, bytes]  # exit code, output, errors

# git's own list (`git rev-parse --local-env-vars`): variables that bind a process to one repository
_NAMES = (
    "ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "CONFIG", "CONFIG_COUNT", "CONFIG_PARAMETERS",
    "DIR", "GRAFT_FILE", "IMPLICIT_WORK_TREE", "INDEX_FILE", "INTERNAL_SUPER_PREFIX",
    "NO_REPLACE_OBJECTS", "OBJECT_DIRECTORY", "PREFIX", "REPLACE_REF_BASE", "SHALLOW_FILE",
    "WORK_TREE",
)  # fmt: skip
REPOSITORY_VARIABLES = frozenset("GIT_" + name for name in _NAMES)


class GitAnswer:
    """The output of a git command, and its exit code."""

    __slots__ = ("argv", "code", "data", "err")

    def __init__(self, argv: list[str], code: int, data: bytes, err: bytes) -> None:
        self.argv = argv
        self.code = code
        self.data = data
        self.err = os.fsdecode(err)

    @property
    def out(self) -> str:
        """The output as text."""
        return os.fsdecode(self.data)

    @property
    def line(self) -> str:
        """The output without its last line end."""
        return self.out.removesuffix("\n").removesuffix("\r")

    @property
    def complaint(self) -> str:
        """The first line of git's error message."""
        return self.err.strip().removeprefix("fatal: ").partition("\n")[0]

    def checked(self, hint: str = "") -> GitAnswer:
        """Return this answer; raise `GitFailed` unless git ended with 0."""
        if self.code:
            raise GitFailed(self.argv, self.code, self.err, hint=hint)
        return self


def ask_git(
    *args: str,
    cwd: Path | str | None = None,
    stdin: str | bytes = "",
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> GitAnswer:
    """Run git, whatever its exit code; a missing git is an error."""
    argv = ["git", *args]
    began, code = started(), -1
    try:
        env = environment() if env is None else env
        code, out, err = _run(argv, cwd, env, os.fsencode(stdin), seconds)
    except FileNotFoundError as error:
        if cwd is not None and not os.path.isdir(cwd):
            raise KmergeError("no such directory", path=str(cwd)) from error
        raise UsageError("git was not found", hint="install git, or put it on PATH") from error
    finally:
        show_call(argv, code, began, cwd)
    return GitAnswer(argv, code, out, err)


def git(*args: str, cwd: Path | str | None = None, stdin: str = "", hint: str = "") -> str:
    """Run git and return its output as text; raise `GitFailed` unless it ends with 0."""
    return ask_git(*args, cwd=cwd, stdin=stdin).checked(hint).out


def git_bytes(*args: str) -> bytes:
    """Run git in its environment and return the bytes of its output; raise `GitFailed`."""
    return ask_git(*args, env=os.environ).checked().data


def try_git(*args: str) -> bytes:
    """Return the bytes of git's output, or nothing where it fails."""
    answer = ask_git(*args, env=os.environ)
    return b"" if answer.code else answer.data


def pass_on(argv: list[str], out: int | None, env: Mapping[str, str] | None = None) -> int:
    """Run git with the streams of this process, `out` in place of its output; return its exit."""
    import subprocess

    began, code = started(), -1
    try:
        code = subprocess.run(argv, stdout=out, env=env, check=False).returncode
    finally:
        show_call(argv, code, began)
    return code


def _run(
    argv: list[str],
    cwd: Path | str | None,
    env: Mapping[str, str],
    stdin: bytes,
    seconds: float | None,
) -> Ended:
    is_plain = cwd is None and not stdin and seconds is None
    if is_plain and hasattr(os, "posix_spawnp") and hasattr(os, "memfd_create"):
        return _spawn(argv, env)
    import subprocess

    done = subprocess.run(
        argv, cwd=cwd, env=env, input=stdin, capture_output=True, timeout=seconds, check=False
    )
    return done.returncode, done.stdout, done.stderr


def _spawn(argv: list[str], env: Mapping[str, str]) -> Ended:
    """Run a command without the import of `subprocess`; nothing can be read by it."""
    # a pipe for the output: it has no limit of size; and one reader can wait for one pipe alone
    (reader, writer), errors = os.pipe(), os.memfd_create("errors")
    try:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_DUP2, errors, 2),
        ]
        # Python ignores these signals; git must not
        signals = [signal.SIGPIPE, signal.SIGXFSZ]
        process = os.posix_spawnp(argv[0], argv, env, file_actions=actions, setsigdef=signals)
    except BaseException:
        os.close(reader)
        os.close(errors)
        raise
    finally:
        os.close(writer)
    with open(reader, "rb") as output, open(errors, "rb") as complaint:
        out = output.read()
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        complaint.seek(0)
        return code, out, complaint.read()


@contextmanager
def to_its_end() -> Iterator[list[int]]:
    """Let git end by itself whatever signal comes to this process; give the signals that came.

    Ctrl-C reaches git as well, and it can handle that: an editor may have a use for it. If this
    process killed it, its locks and half of its files would be left.
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
    """Return this process' environment with English messages; `any_repository`: bound to none."""
    bound = REPOSITORY_VARIABLES if any_repository else frozenset[str]()
    return {k: v for k, v in os.environ.items() if k not in bound} | {"LC_ALL": "C"}


def git_version() -> tuple[int, int]:
    """Return git's version as (major, minor); (0, 0) if it cannot be read."""
    words = git("version").split()
    parts = words[2].split(".") if len(words) > 2 else []
    if len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit():
        return int(parts[0]), int(parts[1])
    return 0, 0
