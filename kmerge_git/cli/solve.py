"""`kmerge solve`: solve the conflicts that a merge, rebase or cherry-pick left in the index."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.in_and_out import add_color, inside, listed, show, warn
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import UsageError
from kmerge_git.git.generators import hint_for
from kmerge_git.git.manifests import is_selected
from kmerge_git.report.results import CommandResult
from kmerge_git.visible import counted

if TYPE_CHECKING:
    from kmerge_git.git.index_stages import Operation
    from kmerge_git.git.repository import Repository
    from kmerge_git.report.results import Line
    from kmerge_git.whole.solving import SolvePlan

EPILOG = """\
examples:
  git merge feature                 stops with conflicts
  kmerge solve                      resolves and stages what it can
  kmerge resolve                    asks about the other conflicts, field by field
  kmerge resolve --undo FILE        restores the conflicts of a file
  git merge --abort                 undoes the merge, at any time

  kmerge solve --dry-run            prints what it would do
  kmerge solve apps/ --favor ours   lets ours win in the conflicts below apps/

The three versions of a file come from the index, not from conflict markers. If one side moved a
resource to another file and the other side edited it in the old file, the edit is applied in the
new file. kmerge does not change files that you edited since the merge.

exit status: 0 all selected manifests are resolved, 1 conflicts are left, 2 an error
"""
_COLOURS = {"solved": "green", "conflict": "red", "skipped": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: all conflicts)")
    add("-n", "--dry-run", action="store_true", help="print what would be done, but change nothing")
    add(
        "--favor",
        choices=("ours", "theirs"),
        help="the side that wins if both changed a field (in a rebase, ours is the new base)",
    )
    add("--force", action="store_true", help="also resolve files that were edited since the merge")
    add("--with-json", action="store_true", help="also resolve *.json files")
    add("--json", action="store_true", help="print the result as JSON")
    add_color(parser, "use colors (default: auto)")


def run(args: argparse.Namespace) -> int:
    """Plan the solution of the conflicts, carry it out, and report the result."""
    make_haste()
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.solving import Wishes, carry_out, make_plan

    repository = Repository.open()
    paths = tuple(inside(path, repository.worktree) for path in args.paths)
    plan = make_plan(repository, Wishes(paths, args.favor, json=args.with_json, force=args.force))
    for given, path in zip(args.paths, paths, strict=True):
        _require_conflict(plan, given, path)
    warn(*plan.problems, *plan.notes)
    if not args.dry_run:
        carry_out(repository, plan)
    left = _unmerged(repository, plan, args.dry_run)
    result = CommandResult(partial(_fields, plan, left, args.dry_run), partial(_lines, plan))
    show(result, as_json=args.json, color=args.color)
    if not args.json:
        _report_rest(plan, left)
        _report_end(plan, left, args.dry_run)
        warn(*hint_for(left))
    return 0 if plan.is_solved else 1


def _require_conflict(plan: SolvePlan, given: str, path: str) -> None:
    """Refuse a path without a conflict: a misspelled path must not look like a solved file."""
    if path in plan.others:
        hint = plan.others[path]
        raise UsageError("kmerge cannot resolve this conflict", path=given, hint=hint)
    conflicted = [*(file.path for file in plan.files), *plan.others]
    if not any(is_selected(name, (path,)) for name in conflicted):
        raise UsageError(
            "this path has no conflicts",
            path=given,
            hint="run `git status` to list the files in conflict",
        )


def _unmerged(repository: Repository, plan: SolvePlan, dry_run: bool) -> list[str]:
    """Return all files of the repository that are in conflict after the plan is carried out."""
    paths = {stages.path for stages in repository.conflicts()}
    if dry_run:
        for file in plan.files:
            (paths.discard if file.verdict == "solved" else paths.add)(file.path)
    return sorted(paths)


def _lines(plan: SolvePlan) -> Iterator[Line]:
    for file in plan.files:
        mark = "CONFLICT" if file.verdict == "conflict" else file.verdict
        left = (
            f"; {counted(len(file.conflicts), 'conflict')} left"
            if file.asks and file.conflicts
            else ""
        )
        yield (f"{mark:<9}", _COLOURS[file.verdict]), f"{file.path} ({file.about}{left})"
        yield from (f"    {words}" for words in file.chosen)
        # the line of a file that is in conflict as a whole already gives the reason
        for conflict in file.conflicts if not file.is_whole else ():
            yield ("    ", (conflict.spot or file.path, "bold"), f": {conflict.told}")


def _report_rest(plan: SolvePlan, left: list[str]) -> None:
    """Warn about files in conflict that this command did not try to solve."""
    if not plan.is_solved and not plan.operation.is_known:
        warn("cannot follow moved resources, because the merged commits are unknown")
    unasked = sorted(set(left) - {file.path for file in plan.files} - set(plan.others))
    by_reason: dict[str, list[str]] = {"not selected": unasked} if unasked else {}
    for path, why in plan.others.items():
        by_reason.setdefault(f"still in conflict ({why})", []).append(path)
    warn(*(f"{reason}: {listed(paths)}" for reason, paths in sorted(by_reason.items())))


def _report_end(plan: SolvePlan, left: list[str], dry_run: bool) -> None:
    solved = counted(sum(file.verdict == "solved" for file in plan.files), "file")
    done = f"{solved} {'would be ' if dry_run else ''}solved and staged"
    done = done if plan.files else "no manifest is in conflict"
    if left:
        asks = any(file.path in left and file.asks for file in plan.files)
        more = "; run `kmerge resolve` to decide field by field" if asks else ""
        warn(f"{done}, {counted(len(left), 'file')} still in conflict{more}")
    else:
        warn(f"{done}{'' if dry_run else what_next(plan.operation)}")


def what_next(operation: Operation) -> str:
    """Return a hint how to finish the merge or rebase after all conflicts are solved."""
    if operation.name == "stash":
        return "; git keeps the stash entry (see `git stash list`)"
    commit = ", then commit" if operation.package else ""
    return f"; finish with `{operation.finish}`{commit}" if operation.finish else ""


def _fields(plan: SolvePlan, left: list[str], dry_run: bool) -> dict[str, Any]:
    from kmerge_git.whole.both_merges import plain, plain_decision

    return {
        "operation": plan.operation.name,
        "dry_run": dry_run,
        "solved": plan.is_solved,
        "files": [
            {
                "path": file.path,
                "situation": file.situation,
                "result": file.verdict,
                "why": file.reason,
                "method": file.method,
                "deleted": file.writes and file.data is None,
                "decided": [plain_decision(d) for d in file.decisions if d.is_settled],
                "conflicts": [plain(conflict) for conflict in file.conflicts],
            }
            for file in plan.files
        ],
        "left_alone": list(plan.others),
        "notes": list(plan.notes),
        "unmerged": left,
        "finish": "" if left else plan.operation.finish,
    }
