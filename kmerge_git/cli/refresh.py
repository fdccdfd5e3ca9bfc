"""`kmerge refresh --with REV BRANCH...`: merge REV into branches that git alone cannot merge."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.in_and_out import add_color, show, show_lines, warn
from kmerge_git.errors import UsageError
from kmerge_git.report.results import CommandResult

if TYPE_CHECKING:
    from kmerge_git.report.results import Line
    from kmerge_git.whole.refreshing import Orders, Refreshed

EPILOG = """\
examples:
  kmerge refresh --with main feature/a feature/b
  kmerge refresh --with main --branches 'feature/*' --dry-run
  git fetch origin && kmerge refresh --with origin/main --branches 'feature/*' --push origin

results:
  up to date   REV is in the branch already
  clean        git alone merges it: left alone
  resolved     git alone would leave conflicts, structure none: the branch gets a merge commit
  conflict     a person must decide, or git breaks it; the fields are listed, it is left alone
  criss-cross  several merge bases, and git alone cannot merge it: left alone
  unrelated    no common history: left alone
  skipped      it is checked out in a working tree, or being rebased there
  rejected     it moved meanwhile, or the remote refuses it
  error        it could not be merged; the line on stderr says why

Nothing is checked out; bare repositories are fine. How files are merged is read from REV alone.

exit status: 0 no branch is left in conflict, 1 some are, 2 an error
"""
FORMATS = ("text", "markdown", "json")
_COLOURS = {"up to date": "dim", "clean": "dim", "resolved": "green"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("names", nargs="*", metavar="BRANCH", help="branches by name")
    add("--with", dest="rev", required=True, metavar="REV", help="what is merged into them")
    add(
        "--branches",
        action="append",
        nargs="+",
        default=[],
        metavar="GLOB",
        help="branches by pattern; `*` takes slashes, too",
    )
    add("--push", metavar="REMOTE", help="move the branches of a remote, and no local one")
    add("--committer", default="", metavar="'NAME <MAIL>'", help="who makes the commits")
    add("-n", "--dry-run", action="store_true", help="say what would be done, change nothing")
    add("--format", choices=FORMATS, default="text", help="how to report (default: text)")
    add("--json", action="store_const", const="json", dest="format", help="the same as JSON")
    add_color(parser, "colours in the table")


def run(args: argparse.Namespace) -> int:
    """Refresh the chosen branches one after the other."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.refreshing import Failed, Orders, exit_code, refresher

    globs = [glob for given in args.branches for glob in given]
    if not args.names and not globs:
        raise UsageError("no branch is named", hint="give some, or --branches GLOB")
    orders = Orders(args.rev, args.push, args.committer, args.dry_run)
    repository = Repository.open()
    done: list[Refreshed] = []
    failed: dict[str, str] = {}
    with refresher(repository, orders) as at_work:
        branches = at_work.chosen(args.names, globs)
        for glob in globs:  # a misspelled pattern must not look like branches that are up to date
            if not any(fnmatchcase(branch.name, glob) for branch in branches):
                warn(f"no branch is called as in {glob!r}")
        with closing(at_work.refreshed(branches)) as results:
            for each in results:
                if isinstance(each, Failed):
                    failed[each.branch.name] = each.why
                    warn(f"{each.branch.name}: {each.why}")
                    continue
                done.append(each)
                if args.format == "text":
                    show_lines(_lines(each), args.color)
        commit, problems = at_work.other.oid, at_work.settings.problems
    warn(*problems)
    result = CommandResult(
        partial(_fields, done, failed, orders, commit),
        lambda: [_summary(done, failed, dry_run=args.dry_run)],
    )
    if args.format == "markdown":
        from kmerge_git.report.markdown import refresh_page

        show_lines(refresh_page(result.fields()))
    else:
        show(result, as_json=args.format == "json")
    return exit_code(done, failed=bool(failed))


def _lines(each: Refreshed) -> Iterator[Line]:
    tail = f"  {each.why}" if each.why else ""
    if each.result == "resolved":
        solved = [f.path for f in each.files if f.result in ("resolved", "moved")]
        tail = f"  {', '.join(solved[:3])}" + (" …" if len(solved) > 3 else "")
    yield ((f"{each.result:<12}", _COLOURS.get(each.result, "red")), f" {each.branch.name}{tail}")
    yield from (f"    {note}" for note in each.notes)
    for file in each.files:
        about: list[str] = []
        if each.result == "resolved":
            about += file.chosen
        elif each.result == file.result == "conflict":
            about += [conflict.shown() for conflict in file.conflicts]
            about = about or ["; ".join(filter(None, (file.kind, file.note)))]
        yield from (f"    {file.path}: {words}" for words in about)


def _summary(done: list[Refreshed], failed: dict[str, str], *, dry_run: bool) -> str:
    count = Counter[str](each.result for each in done)
    words = [f"{number} {result}" for result, number in count.items()]
    words += [f"{len(failed)} failed"] if failed else []
    total = len(done) + len(failed)
    results = f": {', '.join(words)}" if words else ""
    would = ", nothing changed" if dry_run else ""
    return f"refresh: {total} {'branch' if total == 1 else 'branches'}{results}{would}"


def _fields(
    done: list[Refreshed], failed: dict[str, str], orders: Orders, commit: str
) -> dict[str, Any]:
    from kmerge_git.cli.preview import file_as_json

    return {
        "with": orders.name,
        "commit": commit,
        "remote": orders.remote,
        "dry_run": orders.dry_run,
        "branches": [
            {
                "name": each.branch.name,
                "result": each.result,
                "why": each.why,
                "old": each.branch.oid,
                "new": each.new or None,
                "notes": list(each.notes),
                "files": [file_as_json(file) for file in each.files],
            }
            for each in done
        ]
        + [{"name": name, "result": "error", "why": why} for name, why in failed.items()],
    }
