"""`kmerge`: find the command's module, parse its arguments, print errors as one line.

This module defines the parsers: the options that all commands share, the options under old
names, and the messages for wrong arguments.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from io import FileIO, TextIOWrapper
from typing import Any, NoReturn

from kmerge_git.errors import KmergeError, TimeUp, UsageError
from kmerge_git.git.spawned_git import show_calls
from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


# Commands that merge all their inputs at once, and the argument that names the file. The other
# commands limit the time of each file themselves (see `time_limit`).
WATCHED = {
    "merge-file": "ours",
    "patch": "target",
    "make-patch": "modified",
    "apply": "config",
    "last-applied": "file",
}

COMPLETE = "__complete"  # called by the scripts of `kmerge completion`; help omits it

# True if this process runs one command and nothing else. Then it is safe to load only a part of
# PyYAML.
owns_process = False


def main(argv: list[str] | None = None) -> int:
    """Run one command; return 0 if all is well, 1 for conflicts or findings, 2 for an error."""
    global owns_process
    owns_process = argv is None
    args = sys.argv[1:] if argv is None else argv
    if owns_process:  # few reference cycles: looking for them takes a third of the time
        gc.set_threshold(200_000)
    try:
        if sys.stdout is None or sys.stderr is None:
            _open_streams()
        if owns_process and isinstance(sys.stdout, TextIOWrapper):
            _complete(sys.stdout)
        try:
            code = _dispatch(args)
        except SystemExit:  # raised by argparse after --help
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
    except OSError as error:  # stdout is closed, or its disk is full
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
    """Print an error on stderr; if that fails, the exit code alone reports the error."""
    try:
        print(visible(f"kmerge: {text}"), file=sys.stderr)
        if more:
            print(more, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def _place(error: Exception) -> str:
    """Return the file and line of the package where an error was raised."""
    place, frame = "", error.__traceback__
    while frame:
        file = frame.tb_frame.f_code.co_filename
        inside = file.rpartition("/kmerge_git/")[2]
        place = f"{inside}:{frame.tb_lineno}" if inside != file else place
        frame = frame.tb_next
    return place


def _open_streams() -> None:
    """Replace closed standard streams, so that no other file gets the number of a stream.

    Writing to the replaced stdout is an error, as writing to a closed stdout is.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR if number == 2 else os.O_RDONLY)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _complete(stdout: TextIOWrapper) -> None:
    """Make stdout take every character, and raise an error unless a text is written in full."""
    errors = "backslashreplace"  # some locales lack characters
    if isinstance(stdout.buffer, FileIO):  # PYTHONUNBUFFERED
        sys.stdout = os.fdopen(1, "w", encoding=stdout.encoding, errors=errors, closefd=False)
    else:
        stdout.reconfigure(errors=errors)


def _give_up(stream: TextIO) -> None:
    """Close a broken stream, so that the interpreter does not print a traceback when it ends."""
    if owns_process:
        with suppress(OSError):  # the stream is closed despite the error
            stream.close()


def _dispatch(argv: list[str]) -> int:
    if argv[:1] == [COMPLETE]:
        return int(module_of("completion").complete(argv[1:]))
    lead = next((at for at, word in enumerate(argv) if word not in VERBOSE), len(argv))
    verbose, argv = lead > 0, argv[lead:]
    if argv[:1] == ["help"]:
        return _help(argv[1:])
    argv[:1] = OLD_NAMES.get("".join(argv[:1]), argv[:1])
    name = "".join(argv[:1])
    is_known = name in COMMANDS or name in OLD_NAMES
    if not is_known and name[:1] not in ("", "-"):
        from kmerge_git.nearest import did_you_mean

        hint = did_you_mean(name, COMMANDS, "see `kmerge --help`")
        raise UsageError(f"there is no command {name}", hint=hint)
    if not is_known:
        parser = line_parser()
        parser.parse_args(argv[:1])  # `--version`, `--help`, or an error
        parser.print_help()
        return 0
    command = module_of(name)
    argv = getattr(command, "spelled", list)(argv)
    behind = getattr(command, "BEHIND_DASHES", "")
    cut = argv.index("--") if behind and "--" in argv else len(argv)
    args = line_parser(name).parse_args(argv[:cut])
    if behind and cut < len(argv):
        setattr(args, behind, argv[cut + 1 :])
    show_calls(verbose or wants_more(args))
    if name in WATCHED:
        from kmerge_git.time_limit import within

        with within(getattr(args, WATCHED[name])):
            return int(command.run(args))
    return int(command.run(args))


def _help(words: list[str]) -> int:
    """Print the commands of a group; for other words do what `--help` does after these words."""
    for name, listed in LISTED.items():
        if not isinstance(listed, str) and words == name.split()[-1:]:
            print(f"{name}:\n{_rows(listed)}")
            return 0
    return _dispatch([*words, "--help"])


def _rows(commands: Mapping[str, str | dict[str, str]]) -> str:
    rows = (
        (name, text if isinstance(text, str) else ", ".join(text))
        for name, text in commands.items()
    )
    return "\n".join(f"  {name:13} {text}" for name, text in rows)


# What `kmerge --help` lists: each command with its summary, and groups of further commands.
#
# Each command has a module in kmerge_git.cli (with `_` for `-`), with `add_arguments(parser)`,
# `run(args) -> int` and the EPILOG of its help. A module may also have a DESCRIPTION if the
# summary is too short, `spelled(argv)` if argparse cannot read the options as they are, and
# BEHIND_DASHES, the name of the argument that takes the words after `--`.
# A module is imported only when its command is called: imports take most of the start-up time.
LISTED: dict[str, str | dict[str, str]] = {
    "install": "set up git to merge manifests with kmerge",
    "uninstall": "remove from git what `kmerge install` wrote",
    "status": "show whether git merges your manifests with kmerge",
    "merge": "merge a branch, even if resources moved to other files",
    "preview": "show what a merge or rebase would do, and change nothing",
    "resolve": "resolve the conflicts of a merge, field by field",
    "explain": "show why each field of a merge has its value",
    "check": "find wrong patches, conflict markers and duplicate keys",
    "replay": "repeat past merges and compare them with what people committed",
    "more merging": {
        "diff": "show what changed, by resource and field",
        "refresh": "merge a revision into branches that git alone cannot merge",
        "generate": "regenerate generated files after a merge, with your own commands",
        "merge-file": "merge three files: base, ours and theirs",
        "mergetool": "merge three files for `git mergetool`",
    },
    "packages": {
        "merge2": "copy fields of one manifest, or a directory of them, into another",
        "merge3": "merge upstream changes into a copy with local changes",
        "vendor": "update packages from other repositories and keep local changes",
    },
    "patches": {
        "patch": "apply a patch to a manifest, without a cluster",
        "make-patch": "make the patch that turns one manifest into another",
        "apply": "print the object that `kubectl apply` would make",
        "last-applied": "view, set or edit the annotation of `kubectl apply`",
    },
    "completion": "print the completion script for your shell",
}
COMMANDS = {
    command: summary
    for name, listed in LISTED.items()
    for command, summary in ({name: listed} if isinstance(listed, str) else listed).items()
}
# Commands that no list names, and the words that replace their names. A hook calls `register`.
OLD_NAMES = {
    "doctor": ["status", "--deep"],
    "policy": ["policy"],
    "register": ["register"],
    "solve": ["solve"],
}
# commands that live in the module of another one
SHARED = {"uninstall": "install", "merge2": "merge3", "policy": "replay"}

ABOUT = """\
Merges Kubernetes manifests in git by resource and field instead of by line.
`kmerge help COMMAND` explains a command; `kmerge help merging`, `help packages`
and `help patches` describe the commands in these three groups."""

VERBOSE = ("-v", "--verbose")
SHOWN = "print the git commands that kmerge runs"


class Parser(argparse.ArgumentParser):
    """Parse arguments; report wrong arguments in one line, and print the usage only for --help."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse as argparse does, but refuse unknown options and suggest a similar option."""
        self._words = list(args or ())
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown)
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Raise a usage error; if a required option seems misspelled, name the misspelled word."""
        if message.startswith("the following arguments are required"):
            slips = [word for word in self._words if self._is_unknown(word)]
            if slips and _meant(slips[0].partition("=")[0], self.flags()):
                self._refuse(slips[:1])
        see = f"see `{self.prog} --help`"
        if message.endswith("?"):  # the message already suggests a word
            raise UsageError(f"{message} {see}")
        raise UsageError(message, hint=see)

    def flags(self) -> list[str]:
        """Return the names of the options that help lists, without old names."""
        return [flag for action in shown(self) for flag in action.option_strings]

    def _is_unknown(self, word: str) -> bool:
        name = word.partition("=")[0]
        known = self._option_string_actions
        return name.startswith("--") and not any(flag.startswith(name) for flag in known)

    def _refuse(self, words: list[str]) -> NoReturn:
        see = f"see `{self.prog} --help`"
        slips = (word.partition("=")[0] for word in words if word.startswith("-"))
        meant = next(filter(None, (_meant(slip, self.flags()) for slip in slips)), "")
        raise UsageError(f"unknown argument: {' '.join(words)}", hint=f"{meant} {see}".strip())

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            why = f"invalid choice: {value!r}"
            meant = _meant(str(value), names)
            # argparse itself lists the choices in these words
            listed = f"choose from {', '.join(names)}"
            raise argparse.ArgumentError(action, f"{why} ({listed}){'; ' * bool(meant)}{meant}")


def _meant(word: str, names: list[str]) -> str:
    from kmerge_git.nearest import did_you_mean  # loaded here because only errors need it

    return did_you_mean(word, names)


class TellVersion(argparse.Action):
    """Carry out `--version`; look up the commit of the program only in this case."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the version and end the program, as --help does."""
        from kmerge_git.git.own_commit import version_line

        print(visible(version_line()))
        parser.exit()


def line_parser(name: str = "") -> Parser:
    """Return the parser of the named command, or of `kmerge` itself if no name is given."""
    parser = Parser(
        prog="kmerge",
        allow_abbrev=False,  # the first word must show which command is meant
        usage="kmerge [-v] COMMAND ...",
        description=f"{ABOUT}\n\n{_rows(LISTED)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=TellVersion, nargs=0, help="print the version")
    parser.add_argument(*VERBOSE, action="store_true", help=SHOWN)
    commands = parser.add_subparsers(
        dest="command",
        metavar="COMMAND",
        help=argparse.SUPPRESS,  # the description lists the commands
        prog="kmerge",  # otherwise argparse builds it with a formatter, which costs imports
    )
    for command, summary in ({name: COMMANDS.get(name, "")} if name else COMMANDS).items():
        sub = commands.add_parser(command, help=summary, description=summary)
        if command == name:
            module = module_of(name)
            sub.formatter_class = argparse.RawDescriptionHelpFormatter
            sub.description = getattr(module, "DESCRIPTION", summary)
            sub.epilog = module.EPILOG
            module.add_arguments(sub)
            add_common(sub)
    return parser


def module_of(name: str) -> Any:
    """Import and return the module of a command, or its part of a module with two commands."""
    module = import_module(f"kmerge_git.cli.{SHARED.get(name, name).replace('-', '_')}")
    return getattr(module, name) if name in SHARED else module


def add_common(parser: argparse.ArgumentParser) -> None:
    """Define `--verbose` for a command and its actions, unless this option is already defined."""
    if VERBOSE[1] not in parser._option_string_actions:
        parser.add_argument(
            *VERBOSE, action="store_true", default=argparse.SUPPRESS, help=SHOWN, dest="verbose"
        )
    for _, below in actions_of(parser):
        add_common(below)


def wants_more(args: argparse.Namespace) -> bool:
    """Return whether `--verbose` was given; `kmerge merge` stores the option in `given`."""
    given = getattr(args, "given", None)
    return getattr(args, "verbose", False) or bool(given and given.last("--verbose"))


def actions_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the name and the parser of each action of a command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options that help lists, in the order of help."""
    return [a for a in parser._actions if a.option_strings and a.help != argparse.SUPPRESS]


class Old(argparse.Action):
    """Accept an option under its old name: print the new name and act as the new option."""

    def __init__(self, option_strings: Sequence[str], dest: str, **known: Any) -> None:
        self._now: argparse.Action = known.pop("now")
        self._value = known.pop("value")
        super().__init__(option_strings, dest, **known)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print the new name of the option, then run the action of the new option."""
        from kmerge_git.cli.in_and_out import say  # loaded here because old names are rare

        name = self._now.option_strings[-1]
        value = values if self._value is None else self._value
        new = name if self._value is None else f"{name} {value}"
        say(f"kmerge: {option_string} is now called `{new}`; the next release accepts only `{new}`")
        self._now(parser, namespace, value, name)


def add_old(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
    old: str,
    now: argparse.Action,
    value: str | None = None,
) -> None:
    """Accept an option under its old name for one more release.

    With a `value`, the old name is a switch that sets the new option to this value.
    """
    nargs, default = now.nargs if value is None else 0, argparse.SUPPRESS
    known: dict[str, Any] = {"now": now, "value": value, "choices": now.choices, "type": now.type}
    parser.add_argument(
        old,
        action=Old,
        dest=now.dest,
        nargs=nargs,
        default=default,
        help=argparse.SUPPRESS,
        **known,
    )


def make_haste() -> None:
    """Load only a part of PyYAML and collect no garbage, if the process runs a single command."""
    from kmerge_git.tree import parser

    if owns_process:
        gc.disable()
        parser.bare()
