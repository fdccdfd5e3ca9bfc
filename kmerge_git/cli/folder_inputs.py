"""Directories as inputs of `merge2` and `merge3`: all is merged before anything is written."""

from __future__ import annotations

import argparse
import os
from contextlib import closing

from kmerge_git.cli import accounts
from kmerge_git.cli.printing import Progress, say, tell
from kmerge_git.errors import UsageError
from kmerge_git.merge.three import Three
from kmerge_git.packages.exchanged_files import check_whole, settle, told, write_all
from kmerge_git.packages.package_files import File, Package, check_links, read
from kmerge_git.packages.package_merge import Merged, ResultFile, merge_packages
from kmerge_git.packages.package_rules import Ways


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
    _write(args, merged.files)
    _tell(args, merged, words)
    return 1 if args.command == "merge3" and args.rules == "git" and _failed(merged) else 0


def _failed(merged: Merged) -> bool:
    return any(result.is_conflict for result in merged.files)


def _settle(args: argparse.Namespace) -> None:
    """Finish what a killed run left where this one is going to write."""
    target = args.dest if args.in_place else args.output
    if target and not args.dry_run:
        found = settle(target)
        if found:
            say(found)


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
    umask = os.umask(0)
    os.umask(umask)
    left = write_all(target, {r.path: _fresh(r, umask) for r in wanted}, before)
    if left:
        say(f"{target}{told(left)}")


def _fresh(result: ResultFile, umask: int) -> File | None:
    """The file as it is written; a new one has the permissions that others here get."""
    file = result.after
    if file is None or file.link or result.before is not None or result.source:
        return file
    return File(file.data, (0o777 if file.is_executable else 0o666) & ~umask)


def _tell(args: argparse.Namespace, merged: Merged, words: dict[str, str]) -> None:
    moves = [(move.name, move.source, move.target) for move in merged.moves]
    if args.json:
        accounts.print_json(args, _present(merged), moves, words)
        return
    for name, source, target in moves:
        if args.explain or args.dry_run or args.summary:
            what = f"moved: {name}" if name else "renamed"
            say(f"{what}: {source} -> {target}")
    for result in merged.files:
        _tell_one(args, result, words)
    if args.summary:
        _tell_counts(merged, words)


def _tell_counts(merged: Merged, words: dict[str, str]) -> None:
    decisions = [d for r in merged.files for d in r.merged.decisions]
    conflicts = sum(r.merged.conflicts for r in merged.files)
    unmerged = sum(bool(r.unmerged) for r in merged.files)
    left = {r.source for r in merged.files}  # a renamed file counts once
    counted = [r for r in _present(merged) if r.after is not None or r.path not in left]
    say(accounts.files([r.status for r in counted], unmerged))
    say(accounts.count(decisions, words, conflicts))


def _tell_one(args: argparse.Namespace, result: ResultFile, words: dict[str, str]) -> None:
    accounts.tell(args, result.merged, words, result.path)
    if result.note and not args.quiet:
        say(f"{result.path}: {result.note}")
    if result.unmerged:
        say(f"not merged: {result.path}: {result.unmerged}")
    if args.dry_run and result.status != "same":
        origin = f" (from {result.source})" if result.source else ""
        tell(f"{result.status}: {result.path}{origin}")


def _present(merged: Merged) -> list[ResultFile]:
    """Without those that only told of what is nowhere."""
    return [r for r in merged.files if r.before is not None or r.after is not None or r.unmerged]
