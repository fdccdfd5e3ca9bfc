"""`kmerge`: finds the command's module, parses its arguments, turns errors into one line."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

from kmerge_git.cli.parsing import COMMANDS, VERBOSE, line_parser, module_of, wants_more
from kmerge_git.errors import KmergeError, TimeUp, UsageError
from kmerge_git.git.spawned_git import show_calls
from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

# Commands whose inputs are merged at one go, and the argument that names the file; the others ask
# for the clock file by file (see `time_limit`).
WATCHED = {
    "merge-file": "ours",
    "patch": "target",
    "make-patch": "modified",
    "apply": "config",
    "last-applied": "file",
}

COMPLETE = "__complete"  # what the scripts of `kmerge completion` call; it stands in no list

# Whether this process runs one command and nothing else: then an import may be cut short.
owns_process = False


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 = fine, 1 = conflicts or findings, 2 = an error."""
    global owns_process
    owns_process = argv is None
    args = sys.argv[1:] if argv is None else argv
    if owns_process:  # many objects and hardly any circles: looking for some is a third of the time
        gc.set_threshold(200_000)
    name = next((a for a in args if not a.startswith("-")), "")
    try:
        if sys.stdout is None or sys.stderr is None:
            _open_streams()
        if owns_process and isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # not every locale has all characters
        try:
            code = _dispatch(name, args)
        except SystemExit:  # of argparse, after --help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return code
    except (KmergeError, TimeUp) as error:
        _complain(str(error), error.caret() if isinstance(error, KmergeError) else "")
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:  # a full disk behind stdout, or nothing
        _complain(f"{os.fsdecode(error.filename or 'stdout')}: {error.strerror or error}")
        _give_up(sys.stdout)
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        what = f"{type(error).__name__}: {error}".replace("\n", " ")
        _complain(f"internal error: {what} ({_place(error)}); please report it")
        return 2


def _complain(text: str, more: str = "") -> None:
    """Say what is wrong, in one line; the exit code tells it where nobody can read that."""
    try:
        print(visible(f"kmerge: {text}"), file=sys.stderr)
        if more:
            print(more, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def _place(error: Exception) -> str:
    """Where in the package it came about."""
    place, frame = "", error.__traceback__
    while frame:
        file = frame.tb_frame.f_code.co_filename.replace(os.sep, "/")
        inside = file.rpartition("/kmerge_git/")[2]
        place = f"{inside}:{frame.tb_lineno}" if inside != file else place
        frame = frame.tb_next
    return place


def _open_streams() -> None:
    """Put something in the place of closed streams, or the next file would get their number.

    To write to such a stdout is an error, as it is to write to a closed one.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR if number == 2 else os.O_RDONLY)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _give_up(stream: TextIO) -> None:
    """Write nothing more there: the interpreter would try again at its end, with a traceback."""
    if owns_process:
        with suppress(OSError):  # it is closed all the same
            stream.close()


def _dispatch(name: str, argv: list[str]) -> int:
    if argv[:1] == [COMPLETE]:
        from kmerge_git.cli.completion import complete

        return complete(argv[1:])
    lead = next((at for at, word in enumerate(argv) if word not in VERBOSE), len(argv))
    verbose, argv = lead > 0, argv[lead:]
    if argv and argv[0] == name and name not in COMMANDS:
        from kmerge_git.nearest import did_you_mean

        hint = did_you_mean(name, COMMANDS, "see `kmerge --help`")
        raise UsageError(f"there is no command {name}", hint=hint)
    command = module_of(name) if name in COMMANDS else None
    parser = line_parser(name, alone=bool(command) and argv[0] == name)
    argv = getattr(command, "spelled", list)(argv)
    behind = getattr(command, "BEHIND_DASHES", "")
    cut = argv.index("--") if behind and "--" in argv else len(argv)
    args = parser.parse_args(argv[:cut])
    if behind and cut < len(argv):
        setattr(args, behind, argv[cut + 1 :])
    show_calls(verbose or wants_more(args))
    if command is None:
        parser.print_help()
        return 0
    if name in WATCHED:
        from kmerge_git.time_limit import within

        with within(getattr(args, WATCHED[name])):
            return int(command.run(args))
    return int(command.run(args))
