"""Directories as inputs of `merge2` and `merge3`: all is merged before anything is written."""

from __future__ import annotations

import argparse
import os
from contextlib import closing

from kmerge_git.cli import accounts, files
from kmerge_git.cli.progress import Progress
from kmerge_git.errors import UsageError
from kmerge_git.merge.three import Three
from kmerge_git.packages.files import Package, check_links, read
from kmerge_git.packages.merging import ResultFile, merge_packages
from kmerge_git.packages.moves import Move
from kmerge_git.packages.ways import Ways
from kmerge_git.packages.writing import check_whole, settle, told, write_all


def run(args: argparse.Namespace, names: Three[str], how: Ways) -> int:
    """Merge directories; without a base (an empty name) two-way."""
    _settle(args)
    _check(args)
    for root in filter(None, names.each()):
        check_whole(root)
    two_way = how.two_way
    words = accounts.MERGE2 if two_way else accounts.MERGE3
    packages: Three[Package] = names.map(lambda root: read(root) if root else {})
    check_links(packages.theirs, names.theirs)
    paths = {*packages.base, *packages.ours, *packages.theirs}
    with closing(Progress(len(paths), "files")) as bar:
        merged = merge_packages(packages, how, done=bar.update)
    results = merged.files
    _write(args, results)
    _tell(args, results, merged.moves, words)
    failed = any(r.merged.conflicts for r in results)
    return 1 if failed or (not two_way and args.rules == "git" and _unmerged(results)) else 0


def _settle(args: argparse.Namespace) -> None:
    """Finish what a killed run left where this one is going to write."""
    target = args.dest if args.in_place else args.output
    if target and not args.dry_run:
        found = settle(target)
        if found:
            files.say(found)


def _check(args: argparse.Namespace) -> None:
    if not (args.in_place or args.dry_run or args.output):
        hint = "add -o DIR, --in-place or --dry-run"
        raise UsageError("a directory cannot be written to stdout", hint=hint)
    taken = args.output and os.path.lexists(args.output)
    if taken and not (os.path.isdir(args.output) and not os.listdir(args.output)):
        raise UsageError("it is there already", path=args.output, hint="give a new directory")


def _write(args: argparse.Namespace, results: list[ResultFile]) -> None:
    if args.dry_run:
        return
    if args.in_place:
        target, wanted = args.dest, [r for r in results if r.status != "same"]
    else:
        target, wanted = args.output, [r for r in results if r.after is not None]
    before = {r.path: r.before if args.in_place else None for r in wanted}
    left = write_all(target, {r.path: r.after for r in wanted}, before)
    if left:
        files.say(f"{target}{told(left)}")


def _tell(
    args: argparse.Namespace, results: list[ResultFile], moves: list[Move], words: dict[str, str]
) -> None:
    for move in moves:
        if args.explain or args.dry_run or args.summary:
            files.say(f"moved: {move.name}: {move.source} -> {move.target}")
    for result in results:
        accounts.tell(args, result.merged, words, result.path)
        if result.unmerged:
            files.say(f"not merged: {result.path}: {result.unmerged}")
        if args.dry_run and result.status != "same":
            files.tell(f"{result.status}: {result.path}")
    if args.summary:
        decisions = [d for r in results for d in r.merged.decisions]
        conflicts = sum(r.merged.conflicts for r in results)
        present = [r for r in results if r.before is not None or r.after is not None]
        files.say(accounts.files([r.status for r in present], _unmerged(results)))
        files.say(accounts.count(decisions, words, conflicts))


def _unmerged(results: list[ResultFile]) -> int:
    return sum(bool(r.unmerged) for r in results)
