"""Run git for a command and return git's answer; with `--verbose` each call is printed.

`subprocess` is imported only if git needs more than its arguments: the hooks ask so little that
the import would cost as much time as the answers. Otherwise git is started as the driver starts it
(`spawned_git`).
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import contextmanager, suppress

from kmerge_git.errors import GitFailed, KmergeError, UsageError
from kmerge_git.git.spawned_git import GitQuestion, show_call, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import FrameType
    from typing import IO

    Ended = tuple[int, bytes, bytes]  # exit code, output, errors

# git's own list (`git rev-parse --local-env-vars`): variables that bind a process to one repository
_NAMES = (
    "ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "CONFIG", "CONFIG_COUNT", "CONFIG_PARAMETERS",
    "DIR", "GRAFT_FILE", "IMPLICIT_WORK_TREE", "INDEX_FILE", "INTERNAL_SUPER_PREFIX",
    "NO_REPLACE_OBJECTS", "OBJECT_DIRECTORY", "PREFIX", "REPLACE_REF_BASE", "SHALLOW_FILE",
    "WORK_TREE",
)  # fmt: skip
REPOSITORY_VARIABLES = frozenset("GIT_" + name for name in _NAMES)

# objects that a partial clone lacks are not fetched behind the user's back
OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}
# In any language, git puts advice behind an empty line if the lock file exists already.
_LOCK = re.compile(r"(/.*\.lock)\b.*\n\n")
HELD = "another git process holds the lock {}, so git wrote nothing"
WAIT = "wait until that process ends, or remove the lock file if no git process is running"

# settings of this call (`git -c a.b=c kmerge`): only these variables hold in any repository
GIVEN = ("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS")


class GitAnswer:
    """Hold the output, the error messages and the exit code of a git command."""

    __slots__ = ("argv", "code", "data", "err")

    def __init__(self, argv: list[str], code: int, data: bytes, err: bytes) -> None:
        self.argv = argv
        self.code = code
        self.data = data
        self.err = os.fsdecode(err)

    @property
    def out(self) -> str:
        """Return the output as text."""
        return os.fsdecode(self.data)

    @property
    def line(self) -> str:
        """Return the output as text without the line end at its end."""
        return self.out.removesuffix("\n").removesuffix("\r")

    @property
    def complaint(self) -> str:
        """Return the first line of git's error message, without `fatal:`."""
        return self.err.strip().removeprefix("fatal: ").partition("\n")[0]

    def checked(self, hint: str = "") -> GitAnswer:
        """Return this answer if git ended with 0, otherwise raise `GitFailed`."""
        if self.code:
            error = GitFailed(self.argv, self.code, self.err, hint=hint)
            if held := _LOCK.search(self.err):
                error.why, error.hint = HELD.format(held[1]), WAIT
            raise error
        return self


def ask_git(
    *args: str,
    cwd: Path | str | None = None,
    stdin: str | bytes = "",
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> GitAnswer:
    """Run git and return the answer, whatever the exit code; raise an error if git is missing."""
    argv = ["git", *args]
    began, code = started(), -1
    try:
        env = environment() if env is None else env
        code, out, err = _run(argv, cwd, env, os.fsencode(stdin), seconds)
    except FileNotFoundError as error:
        if cwd is not None and not os.path.isdir(cwd):
            raise KmergeError("there is no such directory", path=str(cwd)) from error
        raise UsageError("git was not found", hint="install git, or put it on PATH") from error
    finally:
        show_call(argv, code, began, cwd)
    return GitAnswer(argv, code, out, err)


def git(*args: str, cwd: Path | str | None = None, stdin: str = "", hint: str = "") -> str:
    """Run git and return the output as text; raise `GitFailed` unless git ends with 0."""
    return ask_git(*args, cwd=cwd, stdin=stdin).checked(hint).out


def git_bytes(*args: str) -> bytes:
    """Run git in the environment of this process, and return the bytes of the output.

    Raise `GitFailed` unless git ends with 0.
    """
    return ask_git(*args, env=os.environ).checked().data


def try_git(*args: str) -> bytes:
    """Run git and return the bytes of the output, or b'' if git fails."""
    answer = ask_git(*args, env=os.environ)
    return b"" if answer.code else answer.data


def ask_here(question: str, otherwise: str = "", cwd: Path | None = None) -> str:
    """Return git's answer to `rev-parse --git-dir` or `rev-parse --show-toplevel`.

    Raise an error if this folder is in no repository or in no working tree; `otherwise` ends its
    hint.
    """
    answer = ask_git("rev-parse", question, cwd=cwd)
    if not answer.code:
        return answer.line
    for what, said in (("git repository", "not a git repository"), ("working tree", "work tree")):
        if said in answer.err:
            raise UsageError(
                f"this is not a {what}", hint=f"run kmerge inside a git repository{otherwise}"
            )
    if "safe.bareRepository" in answer.err:
        hint = "set GIT_DIR=. to use the repository in this folder"
        raise UsageError(answer.complaint, hint=hint)
    # such as a repository of another user
    raise UsageError(answer.complaint, hint="run `git status` for details")


class GitProcess:
    """Keep a git command running that answers whatever it is given."""

    def __init__(self, *args: str, cwd: str, env: Mapping[str, str] | None = None) -> None:
        import subprocess

        argv = ["git", *args]
        self._process = process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        show_call(argv, None, started(), cwd)
        assert process.stdin and process.stdout
        self._into, self._out = process.stdin, process.stdout

    def ask(self, question: bytes) -> IO[bytes]:
        """Give git a question, and return the stream that the answer is read from."""
        with suppress(BrokenPipeError):  # git has ended, and the stream is at its end
            self._into.write(question)
            self._into.flush()
        return self._out

    def __del__(self) -> None:
        self._process.kill()  # a forked process may hold the other end of the pipe
        try:  # noqa: SIM105 - when the interpreter ends, `suppress` may be gone already
            self._into.close()
        except BrokenPipeError:
            pass
        self._out.close()
        self._process.wait()


def pass_on(argv: list[str], out: int | None, env: Mapping[str, str] | None = None) -> int:
    """Run git with the streams of this process, and return git's exit code.

    `out` replaces the standard output of git.
    """
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
    # only for short questions: an inherited file must not outlive kmerge in a process of git
    if env is os.environ and cwd is None and not stdin and seconds is None:
        # not every system has memory files
        with suppress(AttributeError, OSError), open(os.memfd_create("errors"), "rb") as errors:
            question = GitQuestion(*argv[1:], errors=errors.fileno())
            code, out = question.end()
            errors.seek(0)
            if question.pid >= 0:
                return code, out, errors.read()
    import subprocess

    done = subprocess.run(
        argv, cwd=cwd, env=env, input=stdin, capture_output=True, timeout=seconds, check=False
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def to_its_end() -> Iterator[list[int]]:
    """Let git end by itself even if Ctrl-C is pressed; yield the signals that were caught.

    Ctrl-C reaches git as well, and git can handle the signal: an editor may have a use for Ctrl-C.
    If this process killed git, locks and half-written files of git would be left.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # only the main thread may set handlers
        yield came
        return
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def environment(*, any_repository: bool = False) -> dict[str, str]:
    """Return the environment of this process with English messages.

    With `any_repository`, the variables that bind git to one repository are left out.
    """
    bound = REPOSITORY_VARIABLES if any_repository else frozenset[str]()
    return {k: v for k, v in os.environ.items() if k not in bound} | {"LC_ALL": "C"}


def git_version() -> tuple[int, int]:
    """Return git's version as (major, minor), or (0, 0) if the version cannot be read."""
    words = git("version").split()
    parts = words[2].split(".") if len(words) > 2 else []
    if len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit():
        return int(parts[0]), int(parts[1])
    return 0, 0
