"""`kmerge refresh --with REV BRANCH...`: merge REV into branches where git alone cannot."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.printing import Paint, add_color, say, tell, tell_json
from kmerge_git.errors import KmergeError, TimeUp, UsageError
from kmerge_git.time_limit import within

if TYPE_CHECKING:
    from kmerge_git.git.branches import Branch
    from kmerge_git.whole.refreshing import Orders, Refreshed, Refresher

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
    """Refresh one branch after the other."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.refreshing import Orders, exit_code, refresher

    globs = [glob for given in args.branches for glob in given]
    if not args.names and not globs:
        raise UsageError("no branch is named", hint="give some, or --branches GLOB")
    orders = Orders(args.rev, args.push, args.committer, args.dry_run)
    repository = Repository.open()
    done: list[Refreshed] = []
    failed: dict[str, str] = {}
    paint = Paint(args.color, sys.stdout)
    with refresher(repository, orders) as at_work:
        found = at_work.chosen(args.names, globs)
        _say_what_is_missed(globs, found)
        for branch in found:
            try:
                each = _one(at_work, branch)
            except KmergeError as error:
                failed[branch.name] = str(error)
                say(f"kmerge: {branch.name}: {error}")
                continue
            done.append(each)
            if args.format == "text":
                _print(each, paint)
        commit, problems = at_work.other.oid, at_work.settings.problems
    for problem in problems:
        say(f"kmerge: {problem}")
    if args.format == "text":
        tell(_summary(done, failed, orders))
    else:
        _report(_as_json(done, failed, orders, commit), args.format)
    return exit_code(done, failed=bool(failed))


def _report(report: dict[str, Any], form: str) -> None:
    """All of it as data, or as a page that a forge shows."""
    if form == "json":
        tell_json(report)
        return
    from kmerge_git.report.markdown import refresh_page

    for line in refresh_page(report):
        tell(line)


def _say_what_is_missed(globs: list[str], found: list[Branch]) -> None:
    """A slip in a job must not look like branches that need nothing."""
    for glob in globs:
        if not any(fnmatchcase(branch.name, glob) for branch in found):
            say(f"kmerge: no branch is called as in {glob!r}")


def _one(at_work: Refresher, branch: Branch) -> Refreshed:
    """One branch, its merge under the clock: what others wrote must not stop the rest."""
    try:
        with within(branch.name):
            decided = at_work.decide(branch)
    except TimeUp as up:
        raise KmergeError(str(TimeUp("", up.seconds))) from up
    return at_work.carry_out(decided)


def _print(each: Refreshed, paint: Paint) -> None:
    colour = _COLOURS.get(each.result, "red")
    tail = f"  {each.why}" if each.why else ""
    if each.result == "resolved":
        solved = [f.path for f in each.files if f.result in ("resolved", "moved")]
        tail = f"  {', '.join(solved[:3])}" + (" …" if len(solved) > 3 else "")
    print(paint.line((f"{each.result:<12}", colour), f" {each.branch.name}{tail}"))
    for file in each.files if each.result == "resolved" else ():
        for words in file.chosen:
            tell(f"    {file.path}: {words}")
    for file in each.files if each.result == "conflict" else ():
        if file.result != "conflict":
            continue
        if not file.conflicts:
            about = "; ".join(part for part in (file.kind, file.note) if part)
            tell(f"    {file.path}: {about}")
        for conflict in file.conflicts:
            tell(f"    {file.path}: {conflict.shown()}")


def _summary(done: list[Refreshed], failed: dict[str, str], orders: Orders) -> str:
    count = Counter[str](each.result for each in done)
    words = [f"{number} {result}" for result, number in count.items()]
    words += [f"{len(failed)} failed"] if failed else []
    total = len(done) + len(failed)
    would = ", nothing changed" if orders.dry_run else ""
    noun = "branch" if total == 1 else "branches"
    return f"refresh: {total} {noun}" + (f": {', '.join(words)}" if words else "") + would


def _as_json(
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
                "files": [file_as_json(file) for file in each.files],
            }
            for each in done
        ]
        + [{"name": name, "result": "error", "why": why} for name, why in failed.items()],
    }
