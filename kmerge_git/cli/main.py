"""`kmerge`: finds the command's module, parses its arguments, turns errors into one line."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper

from kmerge_git.cli.parsing import (
    SHOWN,
    VERBOSE,
    Parser,
    TellVersion,
    add_common,
    module_of,
    wants_more,
)
from kmerge_git.errors import KmergeError, TimeUp, UsageError
from kmerge_git.git.spawned_git import show_calls
from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import TextIO

# A command's module below kmerge_git.cli (with `_` for `-`) has `add_arguments(parser)`,
# `run(args) -> int`, the EPILOG of its help, and a DESCRIPTION where the summary is not enough;
# `spelled(argv)` where argparse could not read its options as they are. BEHIND_DASHES names the
# argument that takes what stands behind a `--`.
# It is imported only when its command is called: imports are most of the start-up time.
COMMANDS = {
    "install": "register the merge driver with git",
    "uninstall": "take the merge driver out of git again",
    "status": "tell whether the merge driver works here",
    "doctor": "look closer, with a real merge in a scratch repository",
    "merge": "make a whole merge, with all manifests in one process",
    "preview": "say what a merge or a rebase would do, without making it",
    "solve": "solve the conflicts that a merge left in the index",
    "resolve": "decide what is left in conflict, field by field",
    "explain": "say why a merge came out as it did, by field and rule",
    "refresh": "merge a revision into branches where git alone cannot",
    "replay": "merge the repository's own past merges again, and compare",
    "policy": "try a policy on the repository's own past",
    "diff": "say what changed, by resource and field",
    "check": "find wrong directives, merge damage and traps in manifests",
    "merge-file": "merge two versions of a manifest that come from one base",
    "merge2": "merge a manifest or a directory over another one",
    "merge3": "merge what changed upstream into a version with own changes",
    "mergetool": "merge three files for `git mergetool`",
    "vendor": "packages from upstream with local changes: add, update, status, diff, list",
    "patch": "apply a patch to a manifest, without a cluster",
    "make-patch": "make the patch that leads from one manifest to another",
    "apply": "what `kubectl apply` would make of a config and a live object",
    "last-applied": "view, set or edit the annotation of `kubectl apply`",
    "completion": "print the script that completes commands in bash, zsh or fish",
}

EPILOG = (
    "To begin: `kmerge install` in a repository, then merge as always. Before a merge: "
    "`preview`; one that stopped: `solve`, then `resolve`; why it came out so: `explain`; many "
    "branches: `refresh`. `kmerge COMMAND --help` explains a command; `git kmerge COMMAND` is "
    "the same."
)

# Commands whose inputs are merged at one go, and the argument that names the file; the others ask
# for the clock file by file (see `time_limit`).
WATCHED = {
    "merge-file": "ours",
    "patch": "target",
    "make-patch": "modified",
    "apply": "config",
    "last-applied": "file",
}

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
    lead = next((at for at, word in enumerate(argv) if word not in VERBOSE), len(argv))
    verbose, argv = lead > 0, argv[lead:]
    if argv and argv[0] == name and name not in COMMANDS:
        from kmerge_git.nearest import did_you_mean

        hint = did_you_mean(name, COMMANDS, "see `kmerge --help`")
        raise UsageError(f"there is no command {name}", hint=hint)
    loaded = import_module(module_of(name)) if name in COMMANDS else None
    parser = _parser(name, loaded, alone=bool(loaded) and argv[0] == name)
    argv = getattr(loaded, "spelled", list)(argv)
    behind = getattr(loaded, "BEHIND_DASHES", "")
    cut = argv.index("--") if behind and "--" in argv else len(argv)
    args = parser.parse_args(argv[:cut])
    if behind and cut < len(argv):
        setattr(args, behind, argv[cut + 1 :])
    show_calls(verbose or wants_more(args))
    if loaded is None:
        parser.print_help()
        return 0
    if name in WATCHED:
        from kmerge_git.time_limit import within

        with within(getattr(args, WATCHED[name])):
            return int(loaded.run(args))
    return int(loaded.run(args))


def _parser(name: str, loaded: ModuleType | None, *, alone: bool) -> Parser:
    """The parser of the command line, in which one command has its arguments.

    `alone`: the others are not needed.
    """
    parser = Parser(
        prog="kmerge",
        description="Merges Kubernetes manifests by resource, field and keyed list.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action=TellVersion, nargs=0, help="print the version")
    parser.add_argument(*VERBOSE, action="store_true", help=SHOWN)
    commands = parser.add_subparsers(
        dest="command",
        metavar="COMMAND",
        title="commands",
        prog="kmerge",  # or argparse would make it up, with a formatter and all that imports
    )
    for command, summary in ({name: COMMANDS[name]} if alone else COMMANDS).items():
        sub = commands.add_parser(command, help=summary, description=summary)
        if command == name and loaded:
            sub.formatter_class = argparse.RawDescriptionHelpFormatter
            sub.description = getattr(loaded, "DESCRIPTION", summary)
            sub.epilog = loaded.EPILOG
            loaded.add_arguments(sub)
            add_common(sub)
    return parser
