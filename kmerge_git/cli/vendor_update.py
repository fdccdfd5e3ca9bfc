"""`kmerge vendor update`: upstream's next version, merged into the working copy."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from kmerge_git.cli.haste import make_haste
from kmerge_git.cli.lost_changes import is_loss, loss
from kmerge_git.cli.printing import Progress, counted, say, tell, tell_json, waiting
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.packages.package_files import SAVED
from kmerge_git.packages.package_merge import ResultFile
from kmerge_git.packages.package_rules import timed
from kmerge_git.vendored import package_updating
from kmerge_git.vendored.origin_records import below, only_one, top_of, vendored
from kmerge_git.vendored.package_updating import Update, UpdateWishes, carry_out, plan
from kmerge_git.vendored.upstream_sources import version

SIDES = {"ours": "local", "theirs": "upstream"}
KINDS = {
    "upstream": "from upstream",
    "merged": "merged",
    "conflict": "in conflict",
    "local": "local only",
    "renamed": "renamed",
}


def run(args: argparse.Namespace) -> int:
    """Update one package or all; an error of one does not keep the others back."""
    make_haste()
    reports = []
    worst = 0
    for directory in _directories(args):
        try:
            code, report = _one(args, directory)
        except KmergeError as error:
            if not args.all:
                raise
            say(f"kmerge: {error}")
            code, report = 2, {"dir": directory, "state": "error", "error": str(error)}
        reports.append(report)
        worst = max(worst, code)
    if args.json:
        tell_json({"dry_run": args.dry_run, "packages": reports})
    elif args.all:
        _tell_all(reports)
    return worst


def finish(args: argparse.Namespace) -> int:
    """End an unfinished update: the conflicts are resolved, or all goes back."""
    if args.all or args.ref or args.path:
        raise UsageError("--continue and --abort go with no --all, --ref or --path")
    (directory,) = _directories(args)
    if args.abort:
        what, edited = package_updating.go_back(directory)
        marked: tuple[tuple[str, int], ...] = ()
        state = "aborted"
    else:
        what, left = package_updating.go_on(directory)
        marked, edited = left.marked, list(left.edited)
        state = "unfinished" if marked or edited else "finished"
    for path in edited:
        say(f"changed since and left alone: {os.path.join(directory, path)} (see {SAVED})")
    for path, line in marked:
        say(f"{os.path.join(directory, path)}:{line}: a conflict is left")
    if args.json:
        left_over = [{"path": path, "line": line} for path, line in marked]
        found = {"dir": directory, "state": state, "conflicts": left_over}
        tell_json(found | {"edited": edited})
    else:
        tell(f"{directory}: the {what.what} to {what.record.label} is {state}")
    return 1 if state == "unfinished" else 0


def _directories(args: argparse.Namespace) -> list[str]:
    here = os.getcwd()
    if args.all:
        if args.dir or args.ref or args.path:
            hint = "leave --all out, or the others: it takes the ref that each record has"
            raise UsageError("--all goes with no DIR, --ref or --path", hint=hint)
        found = below(top_of(here))
        if not found:
            raise UsageError("there is no package here", hint="`kmerge vendor add` makes one")
    else:
        found = [args.dir or only_one(here)]
    return [os.path.normpath(path) if args.dir else os.path.relpath(path) for path in found]


def _one(args: argparse.Namespace, directory: str) -> tuple[int, dict[str, Any]]:
    with ExitStack() as stack:

        def watch(total: int) -> Callable[[int], None]:
            bar = Progress(total, "files")
            stack.callback(bar.close)
            return bar.update

        package = vendored(directory)
        stack.enter_context(waiting(f"fetching {package.record.source}"))
        wishes = UpdateWishes(args.ref, args.path, args.rules, args.accept_source)
        update = plan(package, wishes, timed, watch)
    edited = [] if args.dry_run else carry_out(update)
    if update.is_new:
        _say(update, directory, quiet=args.quiet)
    for path in edited:
        say(f"changed meanwhile and left alone: {os.path.join(directory, path)} (see {SAVED})")
    if not args.json:
        _tell(update, directory, dry_run=args.dry_run)
        if not (update.is_new or args.ref or args.all) and version(update.record.ref):
            tell("  --ref takes another version; `kmerge vendor status --fetch` lists newer ones")
    is_open = bool(update.conflicts or edited)
    return int(is_open), _as_json(update, directory, is_open=is_open)


def _say(update: Update, directory: str, *, quiet: bool) -> None:
    """What could not be merged; unless that is unwished, losses and notes, too."""
    notes = [] if quiet else [f"not copied: {left}" for left in update.left_out]
    for move in update.merged.moves:
        if move.name and not quiet:  # files are in the table
            notes.append(f"moved: {directory}: {move.name}: {move.source} -> {move.target}")
    for file in update.merged.files:
        path = os.path.join(directory, file.path)
        if not quiet:
            losses = filter(is_loss, file.merged.decisions)
            notes += [loss(decision, SIDES, path) for decision in losses]
            notes += [f"{path}: {file.note}"] if file.note else []
        if file.unmerged:
            notes.append(f"not merged: {path}: {file.unmerged}")
        if file.merged.reason and file.merged.conflicts:
            notes.append(f"{path}: {file.merged.reason}")
    for note in notes:
        say(note)


def _tell(update: Update, directory: str, *, dry_run: bool) -> None:
    """The table of an update: whose each file is, and what became of it."""
    old, new = update.vendored.record.label, update.record.label
    if not update.is_new:
        tell(f"{directory}: {old} is up to date")
        return
    tell(f"{directory}: {old} -> {new}" + (" (dry run)" if dry_run else ""))
    count: Counter[str] = Counter()
    left = {file.source for file in update.merged.files}  # told at the new place
    for file in update.merged.files:
        if file.after is None and (file.path in left or not (file.before or update.is_open(file))):
            continue
        whose = update.whose(file)
        count[whose] += 1
        count["renamed"] += file.status == "renamed"
        if whose not in ("same", "local"):
            tell(f"  {whose:<9} {_what(file)}")
    parts = [f"{count[kind]} {words}" for kind, words in KINDS.items()]
    tell(f"  {counted(count.total() - count['renamed'], 'file')}: {', '.join(parts)}")
    if update.conflicts and not dry_run:
        tell(f"  resolve the conflicts, then `kmerge vendor update {directory} --continue`,")
        tell(f"  or take all back with `kmerge vendor update {directory} --abort`")


def _tell_all(reports: list[dict[str, Any]]) -> None:
    """One line a package."""
    width = max(len(report["dir"]) for report in reports)
    tell("")
    for report in reports:
        refs = [report[side]["ref"] for side in ("from", "to") if side in report]
        versions = " -> ".join(dict.fromkeys(refs))
        tell(f"{report['dir']:<{width}}  {report['state']:<11}  {versions}".rstrip())


def _what(file: ResultFile) -> str:
    if file.source and file.source != file.path:
        return f"renamed   {file.source} -> {file.path}"
    told = f"{'unmerged' if file.unmerged else file.status:<9} {file.path}"
    if file.merged.conflicts:
        told += f": {counted(file.merged.conflicts, 'place')} left to a person"
    return told


def _as_json(update: Update, directory: str, *, is_open: bool) -> dict[str, Any]:
    sides = {"from": update.vendored.record, "to": update.record}
    state = "in conflict" if is_open else "updated" if update.is_new else "up to date"
    return {
        "dir": directory,
        "state": state,
        "rules": update.rules,
        **{side: {"ref": r.ref, "commit": r.commit} for side, r in sides.items()},
        "files": [_file_json(update, file) for file in update.merged.files],
        "moves": [
            {"resource": m.name, "from": m.source, "to": m.target} for m in update.merged.moves
        ],
        "losses": [
            {
                "path": file.path,
                "resource": d.resource,
                "field": d.path,
                "what": d.what,
                "local": d.ours,
                "upstream": d.theirs,
            }
            for file in update.merged.files
            for d in filter(is_loss, file.merged.decisions)
        ],
        "left_out": list(update.left_out),
    }


def _file_json(update: Update, file: ResultFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "status": file.status,
        "whose": update.whose(file),
        "renamed_from": file.source,
        "conflicts": file.merged.conflicts,
        "unmerged": file.unmerged,
        "note": file.note,
    }
