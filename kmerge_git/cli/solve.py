"""`kmerge solve`: solve the conflicts that a merge, rebase or cherry-pick left in the index."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.accounts import counted
from kmerge_git.cli.files import say, tell
from kmerge_git.errors import UsageError
from kmerge_git.git.manifests import is_selected

if TYPE_CHECKING:
    from kmerge_git.whole.settling import FileMerge
    from kmerge_git.whole.solving import SolvePlan

EPILOG = """\
examples:
  git merge feature                 stops with conflicts
  kmerge solve                      solves what can be solved, and stages it
  git status                        the rest, with smaller markers
  git checkout -m FILE              brings the conflict of a file back

  kmerge solve --dry-run            says what it would do
  kmerge solve apps/ --favor ours   conflicts below apps/: our side wins

The three versions come from the index, not from the markers in the files. A resource that one
side moved to another file while the other side edited it in the old one is found by its identity,
and the edit follows it. Files that were edited since the merge are left alone.

exit status: 0 every chosen manifest is solved, 1 conflicts are left, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: all conflicts)")
    add("-n", "--dry-run", action="store_true", help="say what would be done, change nothing")
    add("--favor", choices=("ours", "theirs"), help="the side that wins where both changed a field")
    add("--force", action="store_true", help="solve files anew that were edited since the merge")
    add("--with-json", action="store_true", help="solve *.json files, too")
    add("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Plan, carry out, report."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.solving import Wishes, carry_out, make_plan

    repository = Repository.open()
    paths = tuple(_inside(path, repository.worktree) for path in args.paths)
    wishes = Wishes(paths, args.favor, json=args.with_json, force=args.force)
    plan = make_plan(repository, wishes)
    for given, path in zip(args.paths, paths, strict=True):
        _require_conflict(plan, given, path)
    for problem in plan.problems:
        say(f"kmerge: {problem}")
    if not args.dry_run:
        carry_out(repository, plan)
    if args.json:
        print(json.dumps(_as_json(plan, args.dry_run), indent=2))
    else:
        _print(plan, args.dry_run)
    return 0 if plan.is_solved else 1


def _inside(path: str, worktree: str | None) -> str:
    """A path of the command line as git names it: from the top of the working tree."""
    if worktree is None:
        return path
    top = Path(worktree).resolve()
    # the file itself may be a link: only its directory is resolved
    given = Path(path)
    full = given.parent.resolve() / given.name if given.name not in ("", "..") else given.resolve()
    try:
        return full.relative_to(top).as_posix()
    except ValueError:
        raise UsageError(
            "is outside of the working tree", path=path, hint=f"give a path below {top}"
        ) from None


def _require_conflict(plan: SolvePlan, given: str, path: str) -> None:
    """Refuse a path that names no conflict: a slip must not look like a solved file."""
    if path in plan.others:
        raise UsageError(
            "it is in conflict, but no manifest",
            path=given,
            hint="--with-json takes *.json, everything else is left to you",
        )
    conflicted = [*(file.path for file in plan.files), *plan.others]
    if not any(is_selected(name, (path,)) for name in conflicted):
        raise UsageError(
            "no file is in conflict there", path=given, hint="`git status` names those that are"
        )


def _print(plan: SolvePlan, dry_run: bool) -> None:
    for file in plan.files:
        tell(_line(file, dry_run))
        for conflict in file.conflicts:
            tell(f"    {conflict.shown(file.path)}")
    if plan.others:
        say(f"kmerge: left to you, no manifest: {', '.join(plan.others[:5])}")
    solved = sum(file.verdict == "solved" for file in plan.files)
    if not plan.files:
        say("kmerge: no manifest is in conflict")
        return
    would = "would be " if dry_run else ""
    rest = len(plan.files) - solved
    tail = f", {counted(rest, 'file')} left in conflict" if rest else ""
    if not rest and not plan.others and plan.operation.name and not dry_run:
        name = plan.operation.name
        tail = f"; finish with `git {'commit' if name == 'merge' else f'{name} --continue'}`"
    say(f"kmerge: {counted(solved, 'file')} {would}solved and staged{tail}")


def _line(file: FileMerge, dry_run: bool) -> str:
    mark = {"solved": "solved", "conflict": "CONFLICT", "skipped": "skipped"}[file.verdict]
    why = file.why
    if file.verdict == "conflict" and file.conflicts:
        left = f"{counted(len(file.conflicts), 'conflict')} left"
        why = f"{why}, {left}" if why else left
    if file.verdict == "solved" and file.data is None:
        why = f"deleted: {why}" if why else "deleted"
    return f"{mark:<9}{file.path} ({file.situation}" + (f"; {why})" if why else ")")


def _as_json(plan: SolvePlan, dry_run: bool) -> dict[str, Any]:
    from kmerge_git.whole.merging import plain

    return {
        "schema": 1,
        "operation": plan.operation.name,
        "dry_run": dry_run,
        "solved": plan.is_solved,
        "files": [
            {
                "path": file.path,
                "situation": file.situation,
                "result": file.verdict,
                "why": file.why,
                "method": file.method,
                "deleted": file.writes and file.data is None,
                "conflicts": [plain(conflict) for conflict in file.conflicts],
            }
            for file in plan.files
        ],
        "left_alone": list(plan.others),
    }
