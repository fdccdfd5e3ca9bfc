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
  up to date   the branch already contains REV
  clean        git alone can merge REV without conflicts
  resolved     git alone would have conflicts, kmerge has none: the branch gets a merge commit
  conflict     there are unresolved conflicts, or git's own result would be wrong; they are listed
  criss-cross  there are several merge bases, and git alone would have conflicts
  unrelated    the branch and REV have no common history
  skipped      the branch is checked out in a working tree, or is being rebased
  rejected     the branch changed in the meantime, or the remote rejected the push
  error        the merge failed; a line on stderr gives the reason

Only branches with the result `resolved` change. Nothing is checked out, and bare repositories work.
The settings for merging files are read from REV only.

exit status: 0 no branch has conflicts, 1 some branches have, 2 an error
"""
FORMATS = ("text", "markdown", "json")
_COLOURS = {"up to date": "dim", "clean": "dim", "resolved": "green"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("names", nargs="*", metavar="BRANCH", help="the branches to refresh")
    add(
        "--with",
        dest="rev",
        required=True,
        metavar="REV",
        help="the revision to merge into the branches",
    )
    add(
        "--branches",
        action="append",
        nargs="+",
        default=[],
        metavar="GLOB",
        help="patterns of the branches to refresh; `*` also matches slashes",
    )
    add(
        "--push", metavar="REMOTE", help="update the branches of this remote, but no local branches"
    )
    add(
        "--committer",
        default="",
        metavar="'NAME <MAIL>'",
        help="the committer of the merge commits",
    )
    add("-n", "--dry-run", action="store_true", help="print what would be done, but change nothing")
    add(
        "--format", choices=FORMATS, default="text", help="the format of the report (default: text)"
    )
    add(
        "--json",
        action="store_const",
        const="json",
        dest="format",
        help="the same as --format json",
    )
    add_color(parser, "use colors (default: auto)")


def run(args: argparse.Namespace) -> int:
    """Refresh the chosen branches one after the other."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.refreshing import Failed, Orders, exit_code, refresher

    globs = [glob for given in args.branches for glob in given]
    if not args.names and not globs:
        raise UsageError("no branches are given", hint="give their names, or use --branches GLOB")
    orders = Orders(args.rev, args.push, args.committer, args.dry_run)
    repository = Repository.open()
    done: list[Refreshed] = []
    failed: dict[str, str] = {}
    with refresher(repository, orders) as at_work:
        branches = at_work.chosen(args.names, globs)
        for glob in globs:  # a misspelled pattern must not look like branches that are up to date
            if not any(fnmatchcase(branch.name, glob) for branch in branches):
                warn(f"no branch matches {glob!r}")
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
    would = "; dry run, nothing was changed" if dry_run else ""
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
