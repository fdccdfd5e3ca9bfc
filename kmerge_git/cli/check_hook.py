"""Report as a hook: show the findings that stop a commit, and count the other findings.

Nobody reads the output of a hook that passes, and some tools do not show it, so findings that do
not fail the hook are only counted.
"""

from __future__ import annotations

import argparse
import os

from kmerge_git.bounds import SHOWN_HOOK_FILES
from kmerge_git.cli.in_and_out import warn
from kmerge_git.finding import ERROR, Finding, worst_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def stopping(args: argparse.Namespace, findings: list[Finding]) -> list[Finding]:
    """Return the findings that fail the hook: errors, or the severities of `--fail-on`."""
    least = worst_first(ERROR if args.fail_on == "never" else args.fail_on)
    return [finding for finding in findings if worst_first(finding.severity) <= least]


def count_others(args: argparse.Namespace, findings: list[Finding]) -> None:
    """Print how many findings do not fail the hook, and which commands list them."""
    from kmerge_git.check.registry import HISTORY, get
    from kmerge_git.report.findings import totals

    stops = set(map(id, stopping(args, findings)))
    others = [finding for finding in findings if id(finding) not in stops]
    of_merge = [finding for finding in others if get(finding.id).scope == HISTORY]
    rest = [finding for finding in others if finding not in of_merge]
    commands = [_command(args, rest, ["--merge"] if args.merge else [])] if rest else []
    commands += [_command(args, of_merge, ["--merge"])] if of_merge else []
    lists = "lists" if len(commands) == 1 else "list"
    warn(f"{totals(others)}; {' and '.join(f'`{command}`' for command in commands)} {lists} them")


def _command(args: argparse.Namespace, findings: list[Finding], words: list[str]) -> str:
    """Return the command that lists these findings, for the folder from which git was called."""
    from shlex import join

    words = ["kmerge", "check", *words]
    words += ["--merge-of", args.merge_of] if args.merge_of else []
    for flag, values in (("--select", args.select), ("--ignore", args.ignore)):
        words += [word for value in values for word in (flag, value)]
    words += ["--as", args.told] if args.told else []
    words += ["--tool", args.tool] if args.tool else []
    words += ["--target", _here(args.target)] if args.target else []
    files = list(dict.fromkeys(finding.file for finding in findings))
    if len(files) > SHOWN_HOOK_FILES or not "".join(files).isprintable():
        files = [os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])]
    return join([*words, *map(_here, files)])


def _here(path: str) -> str:
    """Return a path relative to the folder from which the person called git."""
    shown = os.path.relpath(path, os.environ.get("GIT_PREFIX") or ".")
    return f"./{shown}" if shown.startswith("-") else shown


MARK = b"merge=kmerge"


def report() -> int:
    """Return 0 if the driver is registered or not needed; otherwise print what to do."""
    from kmerge_git.git.run_git import ask_here, try_git
    from kmerge_git.git.tracked_files import tracked

    top = ask_here("--show-toplevel")
    naming = [
        path
        for path in tracked(top, ".gitattributes", "*/.gitattributes")
        if _asks_for_the_driver(os.path.join(top, path))
    ]
    if not naming or try_git("config", "--get", "merge.kmerge.driver").strip():
        return 0
    warn(
        f"{naming[0]} names the merge driver kmerge, but git here does not know it, so "
        "manifests are merged line by line; run `kmerge install`"
    )
    return 1


def _asks_for_the_driver(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    return any(MARK in line.split() for line in lines if not line.lstrip().startswith(b"#"))
