"""Start git without `subprocess`, and print the lines of `--verbose` about git commands."""

from __future__ import annotations

import sys
from time import monotonic

from kmerge_git.system import all_of, calls, decoded, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_is_shown = False  # True if `--verbose` was given


def config_pairs(answer: bytes) -> list[tuple[str, str]]:
    """Parse the output of `git config --null --get-regexp` into pairs of lower-case key and value.

    The later pair of a key wins.
    """
    pairs = []
    for item in decoded(answer).split("\0")[:-1]:
        key, newline, value = item.partition("\n")
        pairs.append((key.lower(), value if newline else "true"))
    return pairs


def attributes_by_path(answer: bytes) -> dict[str, dict[str, str]]:
    """Parse the output of `git check-attr -z` into the attributes of each file, in git's words.

    Unspecified attributes are left out.
    """
    words = decoded(answer).split("\0")[:-1]
    values: dict[str, dict[str, str]] = {path: {} for path in words[::3]}
    for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=False):
        if value != "unspecified":
            values[path][name] = value
    return values


class GitQuestion:
    """Start a git command; `answer` waits for the output of the command."""

    __slots__ = ("_argv", "_out", "pid")

    def __init__(self, *args: str, errors: int = -1) -> None:
        self._argv = ["git", *args]
        self.pid = -1  # -1 if there is no git
        self._out, into = calls.pipe()
        try:
            self.pid = spawn(self._argv, into, errors)
        except OSError:
            calls.close(self._out)
        finally:
            calls.close(into)

    def answer(self) -> bytes:
        """Wait for the output of git; return b'' if git fails, as outside of a repository."""
        code, output = self.end()
        show_call(self._argv, code)
        return output if code == 0 else b""

    def end(self) -> tuple[int, bytes]:
        """Wait for the exit code and the output of git; return (-1, b'') if git was not started."""
        if self.pid < 0:
            return -1, b""
        output = all_of(self._out)
        return calls.waitstatus_to_exitcode(calls.waitpid(self.pid, 0)[1]), output


def show_calls(is_shown: bool) -> None:
    """Print every git command from now on, or stop printing."""
    global _is_shown
    _is_shown = is_shown


def are_calls_shown() -> bool:
    """Return whether every git command is printed."""
    return _is_shown


def started() -> float:
    """Return the time at which a command starts, or 0 if no commands are printed."""
    return monotonic() if _is_shown else 0.0


def show_call(
    argv: Sequence[str], code: int | None, began: float | None = None, cwd: object = None
) -> None:
    """Print a command as a shell would take it, with its exit code and its time.

    If the exit code is None, the command is still running.
    """
    if not _is_shown or sys.stderr is None:
        return
    import os
    from shlex import quote

    from kmerge_git.visible import visible

    facts = [] if cwd is None or str(cwd) in (".", os.getcwd()) else [f"in {cwd}"]
    facts.append("left running" if code is None else f"exit {code}")
    if code is not None and began is not None:
        facts.append(f"{(monotonic() - began) * 1000:.0f} ms")
    line = f"kmerge: {' '.join(map(quote, argv))}  # {', '.join(facts)}"
    print(visible(line), file=sys.stderr, flush=True)
