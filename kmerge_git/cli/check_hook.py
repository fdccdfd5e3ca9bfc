"""What a hook says: all that stops a commit, and in one line that there is more.

A hook that passes is not read, and some show nothing of it; so what does not fail is counted.
"""

from __future__ import annotations

import argparse
import os

from kmerge_git.finding import ERROR, Finding, worst_first

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

        say(f"kmerge: {counted(others)}; `{_command(args, others)}` lists them")


def _command(args: argparse.Namespace, findings: list[Finding]) -> str:
    """What shows them in the folder from which git was called, now and when it is committed."""
    from shlex import join

    words = ["kmerge", "check"]
    for flag, values in (("--select", args.select), ("--ignore", args.ignore)):
        words += [word for value in values for word in (flag, value)]
    words += [f"--{args.told}"] if args.told else []
    words += ["--target", _here(args.target)] if args.target else []
    files = list(dict.fromkeys(finding.file for finding in findings))
    if len(files) > FEW:
        files = [os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])]
    return join([*words, *map(_here, files)])


def _here(path: str) -> str:
    """A path from the folder in which somebody called git: hooks run at the top."""
    start = os.environ.get("GIT_PREFIX") or "."
    return os.path.relpath(path, start).replace(os.sep, "/")
