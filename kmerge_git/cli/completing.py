"""What can be completed on a command line: commands, their options, and what stands where.

All of it is read from the parsers, so that a new option is there as soon as it is defined.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from kmerge_git.cli.merge_options import OPTIONAL
from kmerge_git.cli.parsing import actions_of, command_parser, shown

# What the value of an option, or a word at some place, is: a revision, a branch, a remote, a
# file; WORDS and a list of words; NOTHING where nobody but the user can know. A switch has "".
REVISION, BRANCH, REMOTE, FILE, EITHER = "rev", "branch", "remote", "file", "rev-or-file"
WORDS, NOTHING = "=", "none"

_BY_METAVAR = {
    "REV": REVISION, "RANGE": REVISION, "A B": EITHER, "BRANCH": BRANCH, "REMOTE": REMOTE,
    "OPT": "=ours theirs", "N": NOTHING, "TEXT": NOTHING, "MODE": NOTHING, "NAME": NOTHING,
    "NAMESPACE": NOTHING, "ID=YAML": NOTHING, "FIELDPATH|ID": NOTHING, "FIELDPATH": NOTHING,
    "KIND/NAME": NOTHING, "'NAME <MAIL>'": NOTHING, "R": NOTHING,
}  # fmt: skip
# git takes the value of these in the same word alone
_IN_ONE_WORD = {name for names in OPTIONAL for name in names.split()}


@dataclass(frozen=True, slots=True)
class Choice:
    """An option under all of its names."""

    flags: tuple[str, ...]
    kind: str
    about: str


@dataclass(frozen=True, slots=True)
class Level:
    """A command or one of its actions; `name` is empty for `kmerge` itself."""

    name: str
    options: tuple[Choice, ...]
    below: tuple[tuple[str, str], ...]  # commands or actions, and what they do
    places: tuple[str, ...]  # kinds of the words that are no options
    is_open: bool  # the last of them may be repeated


def levels(commands: dict[str, str]) -> list[Level]:
    """`kmerge` itself, then every command, each before its actions."""
    own = Choice(("--version",), "", "show the version")
    every = [level for name in commands for level in _of_parser(name, command_parser(name))]
    common = [option for option in every[0].options if {"--help", "--verbose"} & {*option.flags}]
    return [Level("", (*common, own), tuple(commands.items()), (), False), *every]


def _of_parser(name: str, parser: argparse.ArgumentParser) -> Iterator[Level]:
    below = tuple(actions_of(parser))
    words = [] if below else [a for a in parser._actions if not a.option_strings]
    yield Level(
        name,
        tuple(_option(name, action) for action in shown(parser)),
        tuple((action, _summary(parser, action)) for action, _ in below),
        tuple(kind_of(name, action) for action in words),
        bool(words) and words[-1].nargs in ("*", "+"),
    )
    for action, under in below:
        yield from _of_parser(f"{name} {action}", under)


def _option(name: str, action: argparse.Action) -> Choice:
    flags = tuple(action.option_strings)
    is_switch = action.nargs == 0 or (name == "merge" and not _IN_ONE_WORD.isdisjoint(flags))
    about = (action.help or "").replace("%%", "%")
    return Choice(flags, "" if is_switch else kind_of(name, action), about)


def _summary(parser: argparse.ArgumentParser, name: str) -> str:
    """What help says of an action."""
    for action in parser._actions:
        for found in getattr(action, "_choices_actions", ()):
            if found.dest == name:
                return found.help or ""
    return ""


def kind_of(name: str, action: argparse.Action) -> str:
    """What stands there."""
    if action.choices:
        return WORDS + " ".join(map(str, action.choices))
    metavar = str(action.metavar or action.dest.upper())
    if metavar == "GLOB":
        return BRANCH if name == "refresh" else NOTHING
    if metavar in ("ID", "IDS"):
        return WORDS + " ".join(_ids(metavar))
    if metavar == "SIDE":
        from kmerge_git.merge.finish.possible_answers import CHOICES

        return WORDS + " ".join(CHOICES)
    if metavar == "FORMAT[=FILE]":
        from kmerge_git.cli.preview import FORMATS

        return WORDS + " ".join(FORMATS)
    if metavar == "POLICY":
        from kmerge_git.git.settings import POLICIES

        return WORDS + " ".join(POLICIES)
    return _BY_METAVAR.get(metavar, FILE)


def _ids(metavar: str) -> list[str]:
    from kmerge_git.check.registry import every

    groups = ["all", "directives", "merge-damage", "traps"] if metavar == "IDS" else []
    return groups + [check.id for check in every()]
