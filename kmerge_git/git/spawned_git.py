"""Git commands that are started without `subprocess`, and what `--verbose` shows of any command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import monotonic

from kmerge_git.system import CAN_SPAWN, all_of, calls, decoded, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


# who hears what was asked, and how it ended; nobody but with `--verbose`
listeners: list[Callable[[list[str], int], None]] = []


def config_pairs(answer: bytes) -> list[tuple[str, str]]:
    """`git config --null --get-regexp`: keys (lower case) and values, a later one wins."""
    pairs = []
    for item in decoded(answer).split("\0")[:-1]:
        key, newline, value = item.partition("\n")
        pairs.append((key.lower(), value if newline else "true"))
    return pairs


def attribute_values(answer: bytes) -> dict[str, str]:
    """`git check-attr -z`: the attributes of which something is said, in git's words."""
    words = decoded(answer).split("\0")[:-1]
    triples = zip(words[::3], words[1::3], words[2::3], strict=False)
    return {name: value for _, name, value in triples if value != "unspecified"}


class GitQuestion:
    """A git command that has been started; `answer` waits for what it prints."""

    __slots__ = ("_argv", "_out", "_pid")

    def __init__(self, *args: str) -> None:
        self._argv = ["git", *args]
        self._pid = -1  # where this system cannot do it cheaply
        if not CAN_SPAWN:
            return
        self._out, into = calls.pipe()
        try:
            self._pid = spawn(self._argv, into)
        except OSError:
            calls.close(self._out)
        finally:
            calls.close(into)

    def answer(self) -> bytes:
        """The output; nothing if git has none or fails (outside of a repository)."""
        if self._pid < 0:
            said, code = _run(self._argv)
        else:
            said = all_of(self._out)
            code = calls.waitstatus_to_exitcode(calls.waitpid(self._pid, 0)[1])
        for tell in listeners:
            tell(self._argv, code)
        return said if code == 0 else b""


def _run(argv: list[str]) -> tuple[bytes, int]:
    import subprocess

    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return b"", -1
    return done.stdout, done.returncode


_is_on = False


def listen(is_on: bool) -> None:
    """Tell of every command from now on, or of none."""
    global _is_on
    _is_on = is_on
    listeners[:] = [tell] if is_on else []


def begin() -> float:
    """When a command starts."""
    return monotonic() if _is_on else 0.0


def tell(
    argv: Sequence[str], code: int | None, began: float | None = None, cwd: object = None
) -> None:
    """A command as a shell would take it, then how it ended (None: it goes on), and its time."""
    if not _is_on or sys.stderr is None:
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
