"""Read and write files, and print results, notes and progress on the terminal."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from kmerge_git.bounds import SHOWN_NAMES
from kmerge_git.errors import UsageError
from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.report.results import CommandResult, Line, Part


def read(path: str) -> bytes:
    """Return the bytes of a file, or of stdin if the path is `-`.

    If the path is `REV:PATH` and no such file exists, read PATH from the git revision REV.
    """
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        if ":" in path and not os.path.lexists(path):
            found = _of_git(path)
            if found is not None:
                return found
        why = error.strerror or str(error)
        hint = "use a file" if os.path.isdir(path) else "check its name and permissions"
        raise UsageError(f"cannot read the file: {why}", path=path, hint=hint) from None


def _of_git(name: str) -> bytes | None:
    """Return the bytes of the file that git has as `REV:PATH`, or None if git has no such file."""
    from kmerge_git.git import revision_paths  # loaded here because few names hold a colon

    found = revision_paths.blob(name)
    missing = None if found is not None else revision_paths.why_missing(name)
    if missing is not None:
        raise missing
    return found


def is_file(path: str) -> bool:
    """Return whether `read` would find a file for this path."""
    if path == "-" or os.path.isfile(path):
        return True
    return ":" in path and not os.path.lexists(path) and _of_git(path) is not None


def _refuse_revision(path: str) -> None:
    """Refuse a path that means a file of a git revision."""
    if ":" not in path or os.path.lexists(path):
        return
    from kmerge_git.git import revision_paths

    if revision_paths.names_revision(path):
        hint = "use another name with -o; if a file has this name, put `./` before it"
        raise UsageError("kmerge cannot write into a commit or the index", path=path, hint=hint)


def write(path: str | None, data: bytes) -> None:
    """Replace a file by rename and keep its mode; without a path, or for `-`, write to stdout.

    If the path names a pipe or a device such as `/dev/null`, write into it and do not replace it.
    """
    from kmerge_git import time_limit

    time_limit.stop()
    if path is None or path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    _refuse_revision(path)
    target = os.path.realpath(path)
    from kmerge_git.atomic_files import replace_file  # loaded here because most commands only read

    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(data)
            return
        replace_file(target, data, durable=False)
    except OSError as error:
        why = error.strerror or str(error)
        hint = "check the directory and its permissions, or use another name with -o"
        raise UsageError(f"cannot write the file: {why}", path=path, hint=hint) from None


def inside(path: str, worktree: str | None) -> str:
    """Turn a path of the command line into a path from the top of the working tree, as git does."""
    from pathlib import Path  # loaded here because it is slow and hooks do not need it

    if not path:  # perhaps from an unset shell variable; git refuses it, too
        raise UsageError("a path is empty", hint="use `.` for this directory")
    if worktree is None:
        return path
    top = Path(worktree).resolve()
    # resolve only the directory, because the file itself may be a symbolic link
    given = Path(path)
    full = given.parent.resolve() / given.name if given.name not in ("", "..") else given.resolve()
    try:
        return full.relative_to(top).as_posix()
    except ValueError:
        raise UsageError(
            "the path is outside of the working tree", path=path, hint=f"use a path below {top}"
        ) from None


_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}


def say(text: str) -> None:
    """Print one line for people on stderr, after all that is printed so far."""
    with suppress(OSError):  # the flush at the end reports it
        sys.stdout.flush()
    print(visible(text), file=sys.stderr)


def warn(*problems: object) -> None:
    """Print problems on stderr, each in a line that begins with the program's name."""
    for problem in problems:
        say(f"kmerge: {problem}")


def tell(text: str) -> None:
    """Print one line for people on stdout."""
    print(visible(text))


def show(result: CommandResult, *, as_json: bool, color: str = "auto") -> None:
    """Print a result on stdout, as JSON or as lines; print each line as soon as it is known."""
    if as_json:
        sys.stdout.write(result.as_json())
    else:
        show_lines(result.lines(), color)


def show_lines(lines: Iterable[Line], color: str = "auto") -> None:
    """Print lines on stdout, in colour if stdout shows colours."""
    for line in painted(lines, color):
        print(line)


def painted(lines: Iterable[Line], color: str) -> Iterator[str]:
    """Yield lines as text for stdout, with colour codes if stdout shows colours."""
    paint = Paint(color, sys.stdout)
    for line in lines:
        yield paint.line(*((line,) if isinstance(line, str) else line))


def tell_json(fields: Mapping[str, object]) -> None:
    """Print fields on stdout as one JSON object that begins with the schema number."""
    from kmerge_git.report.results import CommandResult

    sys.stdout.write(CommandResult(lambda: fields).as_json())


def listed(names: Sequence[str], most: int = SHOWN_NAMES) -> str:
    """Return names as a list for people, such as `a, b, c, d, e and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def add_color(parser: argparse.ArgumentParser, text: str) -> None:
    """Define the option `--color`."""
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help=text)


def unified(name: str, old: bytes, new: bytes, shown: Callable[[int, str], str]) -> str:
    """Return a unified diff of two versions of a file, or an empty text for equal versions.

    `shown` gets the number and the text of each diff line and returns the line to print.
    """
    from difflib import unified_diff

    before, after = (data.decode("utf-8", "replace").splitlines(True) for data in (old, new))
    lines = []
    for number, line in enumerate(unified_diff(before, after, f"a/{name}", f"b/{name}")):
        lines.append(shown(number, line.rstrip("\n")) + "\n")
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file\n")
    return "".join(lines)


class Paint:
    """Add colour codes to text for one stream if the stream shows colours."""

    def __init__(self, choice: str, stream: TextIO) -> None:
        self.is_on = wants_colour(choice, stream)

    def __call__(self, text: str, colour: str) -> str:
        shown = visible(text)
        return f"\x1b[{_CODES[colour]}m{shown}\x1b[0m" if self.is_on and colour else shown

    def line(self, *parts: Part) -> str:
        """Join plain and coloured texts into a line; make control characters visible."""
        return "".join(visible(part) if isinstance(part, str) else self(*part) for part in parts)


def wants_colour(choice: str, stream: TextIO) -> bool:
    """Return whether to use colours: ask `--color`, then the environment, then the stream."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


_WIDTH = 30
_PAUSE = 0.1  # seconds between two updates of the bar


class Progress:
    """Show a progress bar that counts up to a total; `close` removes the bar from the terminal."""

    def __init__(
        self,
        total: int,
        unit: str,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._is_on = total > 0 and self._stream.isatty()
        self._total = total
        self._unit = unit
        self._clock = clock
        self._start = clock()
        self._shown = self._start - _PAUSE

    def update(self, done: int) -> None:
        """Show how many of the total are done."""
        now = self._clock()
        if self._is_on and (now - self._shown >= _PAUSE or done >= self._total):
            self._shown = now
            line = bar(done, self._total, self._unit, now - self._start)
            self._stream.write(f"\r{line}\x1b[K")
            self._stream.flush()

    def close(self) -> None:
        """Clear the line of the progress bar."""
        if self._is_on:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


@contextmanager
def waiting(what: str, stream: TextIO | None = None) -> Iterator[None]:
    """Show a message on a terminal while the program waits for something that it cannot count."""
    out = stream or sys.stderr
    is_on = out.isatty()
    if is_on:
        out.write(f"\r{visible(what)} ...\x1b[K")
        out.flush()
    try:
        yield
    finally:
        if is_on:
            out.write("\r\x1b[K")
            out.flush()


def bar(done: int, total: int, unit: str, seconds: float) -> str:
    """Return a line with a progress bar, the counts, the rate and the remaining time."""
    share = min(done / total, 1.0) if total else 1.0
    filled = int(share * _WIDTH)
    picture = "#" * filled + "." * (_WIDTH - filled)
    line = f"[{picture}] {share:4.0%} {done}/{total} {unit}"
    if not done or seconds <= 0:
        return line
    rate = done / seconds
    return f"{line}, {rate:.0f}/s, {_clock((total - done) / rate)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
