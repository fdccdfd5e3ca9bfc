"""`kmerge solve`: solve the conflicts that a merge, rebase or cherry-pick left in the index."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.in_and_out import inside
from kmerge_git.cli.printing import Paint, add_color, counted, say, tell, tell_json
from kmerge_git.errors import UsageError
from kmerge_git.git.manifests import is_selected

if TYPE_CHECKING:
    from kmerge_git.git.index_stages import Operation
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.conflicted_files import FileMerge
    from kmerge_git.whole.solving import SolvePlan

EPILOG = """\
examples:
  git merge feature                 stops with conflicts
  kmerge solve                      solves what can be solved, and stages it
  kmerge resolve                    asks about the rest, field by field
  kmerge resolve --undo FILE        brings a conflict back
  git merge --abort                 takes everything back, at any time

  kmerge solve --dry-run            says what it would do
  kmerge solve apps/ --favor ours   conflicts below apps/: our side wins

The three versions come from the index, not from the markers in the files. A resource that one
side moved to another file while the other side edited it in the old one is found by its identity,
and the edit follows it. Files that were edited since the merge are left alone.

exit status: 0 every chosen manifest is solved, 1 conflicts are left, 2 an error
"""
_COLOURS = {"solved": "green", "conflict": "red", "skipped": "yellow"}
_MOST = 5  # names of files that are told in a line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: all conflicts)")
    add("-n", "--dry-run", action="store_true", help="say what would be done, change nothing")
    add(
        "--favor",
        choices=("ours", "theirs"),
        help="the side that wins where both changed a field (in a rebase, ours is its new base)",
    )
    add("--force", action="store_true", help="solve files anew that were edited since the merge")
    add("--with-json", action="store_true", help="solve *.json files, too")
    add("--json", action="store_true", help="print the result as JSON")
    add_color(parser, "colours in what is told of the files")


def run(args: argparse.Namespace) -> int:
    """Plan, carry out, report."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.solving import Wishes, carry_out, make_plan

    repository = Repository.open()
    paths = tuple(inside(path, repository.worktree) for path in args.paths)
    wishes = Wishes(paths, args.favor, json=args.with_json, force=args.force)
    plan = make_plan(repository, wishes)
    for given, path in zip(args.paths, paths, strict=True):
        _require_conflict(plan, given, path)
    for problem in plan.problems:
        say(f"kmerge: {problem}")
    if not args.dry_run:
        carry_out(repository, plan)
    left = _unmerged(repository, plan, args.dry_run)
    if args.json:
        tell_json(_as_json(plan, left, args.dry_run))
    else:
        _print(plan, left, args.dry_run, Paint(args.color, sys.stdout))
    return 0 if plan.is_solved else 1


def _require_conflict(plan: SolvePlan, given: str, path: str) -> None:
    """Refuse a path that names no conflict: a slip must not look like a solved file."""
    if path in plan.others:
        why = plan.why_not[plan.others.index(path)]
        raise UsageError("it is in conflict, but left to you", path=given, hint=why)
    conflicted = [*(file.path for file in plan.files), *plan.others]
    if not any(is_selected(name, (path,)) for name in conflicted):
        raise UsageError(
            "no file is in conflict there", path=given, hint="`git status` names those that are"
        )


def _unmerged(repository: Repository, plan: SolvePlan, dry_run: bool) -> list[str]:
    """All that is in conflict when the plan is carried out, asked for or not."""
    paths = {stages.path for stages in repository.conflicts()}
    if dry_run:
        for file in plan.files:
            (paths.discard if file.verdict == "solved" else paths.add)(file.path)
    return sorted(paths)


def _print(plan: SolvePlan, left: list[str], dry_run: bool, paint: Paint) -> None:
    for file in plan.files:
        _print_file(file, paint)
    if not plan.is_solved and not plan.operation.is_known:
        say("kmerge: git does not tell which trees are merged: no resource is followed to its file")
    unasked = sorted(set(left) - {file.path for file in plan.files} - set(plan.others))
    told: dict[str, list[str]] = {"not asked for": unasked} if unasked else {}
    for path, why in zip(plan.others, plan.why_not, strict=True):
        told.setdefault(f"left to you, {why}", []).append(path)
    for what, paths in sorted(told.items()):
        more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
        say(f"kmerge: {what}: {', '.join(paths[:_MOST])}{more}")
    _summarize(plan, left, dry_run)


def _summarize(plan: SolvePlan, left: list[str], dry_run: bool) -> None:
    solved = sum(file.verdict == "solved" for file in plan.files)
    said = f"{counted(solved, 'file')} {'would be ' if dry_run else ''}solved and staged"
    if not plan.files:
        said = "no manifest is in conflict"
    if left:
        asks = any(file.path in left and file.asks for file in plan.files)
        more = ": `kmerge resolve` asks field by field" if asks else ""
        say(f"kmerge: {said}, {counted(len(left), 'file')} left in conflict{more}")
    else:
        say(f"kmerge: {said}{'' if dry_run else what_next(plan.operation)}")


def _print_file(file: FileMerge, paint: Paint) -> None:
    print(paint.line(*_line(file)))
    for words in file.chosen:
        tell(f"    {words}")
    for conflict in file.conflicts if file.method != "kept" else ():  # the line has said why
        print(paint.line("    ", (conflict.spot or file.path, "bold"), f": {conflict.told}"))


def what_next(operation: Operation) -> str:
    """The end of the operation, now that nothing is unmerged any more."""
    if operation.name == "stash":
        return "; the stash entry is kept: `git stash list`"
    return f"; finish with `{operation.finish}`" if operation.finish else ""


def _line(file: FileMerge) -> tuple[tuple[str, str], str]:
    mark = "CONFLICT" if file.verdict == "conflict" else file.verdict
    why = file.why
    if file.verdict == "conflict" and file.conflicts and file.method != "kept":
        left = f"{counted(len(file.conflicts), 'conflict')} left"
        why = f"{why}, {left}" if why else left
    if file.verdict == "solved" and file.data is None:
        why = f"deleted: {why}" if why else "deleted"
    about = [part for part in (file.situation, why) if part and not why.startswith(f"{part}, ")]
    return (f"{mark:<9}", _COLOURS[file.verdict]), f"{file.path} ({'; '.join(about)})"


def _as_json(plan: SolvePlan, left: list[str], dry_run: bool) -> dict[str, Any]:
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
                "why": file.why,
                "method": file.method,
                "deleted": file.writes and file.data is None,
                "decided": [plain_decision(d) for d in file.decisions if d.is_settled],
                "conflicts": [plain(conflict) for conflict in file.conflicts],
            }
            for file in plan.files
        ],
        "left_alone": list(plan.others),
        "unmerged": left,
        "finish": "" if left else plan.operation.finish,
    }
