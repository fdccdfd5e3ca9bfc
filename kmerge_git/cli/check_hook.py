"""What a hook says: all that stops a commit, and in one line that there is more.

A hook that passes is not read, and some show nothing of it; so what does not fail is counted.
"""

from __future__ import annotations

import argparse
import os

from kmerge_git.finding import ERROR, Finding, worst_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FEW = 3  # so many files are named one by one


def stopping(args: argparse.Namespace, findings: list[Finding]) -> list[Finding]:
    """The findings that fail the hook: errors, or what `--fail-on` says."""
    least = worst_first(ERROR if args.fail_on == "never" else args.fail_on)
    return [finding for finding in findings if worst_first(finding.severity) <= least]


def tell_of_others(args: argparse.Namespace, findings: list[Finding]) -> None:
    """Say how many others there are, if any, and what lists them."""
    stops = set(map(id, stopping(args, findings)))
    others = [finding for finding in findings if id(finding) not in stops]
    if others:
        from kmerge_git.cli.files import say
        from kmerge_git.report.text import counted

        commands = [f"`{command}`" for command in _commands(args, others)]
        lists = "lists" if len(commands) == 1 else "list"
        say(f"kmerge: {counted(others)}; {' and '.join(commands)} {lists} them")


def _commands(args: argparse.Namespace, findings: list[Finding]) -> Iterator[str]:
    """What shows them in the folder from which git was called, now and when it is committed."""
    from kmerge_git.check.registry import HISTORY, get

    of_merge = [finding for finding in findings if get(finding.id).scope == HISTORY]
    for some in ([f for f in findings if f not in of_merge], of_merge):
        if some:
            is_merge = some is of_merge or args.merge
            yield _command(args, some, ["--merge"] if is_merge else [])


def _command(args: argparse.Namespace, findings: list[Finding], words: list[str]) -> str:
    from shlex import join

    words = ["kmerge", "check", *words]
    words += ["--merge-of", args.merge_of] if args.merge_of else []
    for flag, values in (("--select", args.select), ("--ignore", args.ignore)):
        words += [word for value in values for word in (flag, value)]
    words += ["--as", args.told] if args.told else []
    words += ["--tool", args.tool] if args.tool else []
    words += ["--target", _here(args.target)] if args.target else []
    files = list(dict.fromkeys(finding.file for finding in findings))
    if len(files) > FEW or not "".join(files).isprintable():
        files = [os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])]
    return join([*words, *map(_here, files)])


def _here(path: str) -> str:
    """A path from the folder in which somebody called git: hooks run at the top."""
    start = os.environ.get("GIT_PREFIX") or "."
    shown = os.path.relpath(path, start).replace(os.sep, "/")
    return f"./{shown}" if shown.startswith("-") else shown
