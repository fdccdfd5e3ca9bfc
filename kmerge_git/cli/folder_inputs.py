"""Merge directories for `merge2` and `merge3`: merge all files before writing the first one."""

from __future__ import annotations

import argparse
import os
from contextlib import closing

from kmerge_git.cli import merge_report
from kmerge_git.cli.in_and_out import Progress, say, tell
from kmerge_git.errors import UsageError
from kmerge_git.merge.three import Three
from kmerge_git.packages.exchanged_files import about_left_alone, check_whole, settle, write_all
from kmerge_git.packages.package_files import File, Package, check_links, read
from kmerge_git.packages.package_merge import Merged, ResultFile, merge_packages
from kmerge_git.packages.package_rules import Ways


def run(args: argparse.Namespace, names: Three[str], words: dict[str, str], how: Ways) -> int:
    """Merge directories in three ways, or in two ways if the name of the base is empty."""
    target = args.dest if args.in_place else args.output
    if target and not args.dry_run:
        unfinished = settle(target)  # finish or undo a killed run
        if unfinished:
            say(unfinished)
    _check(args)
    for root in filter(None, names.each()):
        check_whole(root)
    packages: Three[Package] = names.map(lambda root: read(root) if root else {})
    check_links(packages.theirs, names.theirs)
    paths = {*packages.base, *packages.ours, *packages.theirs}
    with closing(Progress(len(paths), "files")) as bar:
        merged = merge_packages(packages, how, done=bar.update)
    if not args.dry_run:
        _write(target, merged.files, in_place=args.in_place)
    _report(args, merged, words)
    fails = args.command == "merge3" and args.rules == "git"
    return int(fails and any(file.is_conflict for file in merged.files))


def _check(args: argparse.Namespace) -> None:
    if not (args.in_place or args.dry_run or args.output):
        hint = "add -o DIR, --in-place or --dry-run"
        raise UsageError("a directory cannot be written to stdout", hint=hint)
    taken = args.output and os.path.lexists(args.output)
    if taken and not (os.path.isdir(args.output) and not os.listdir(args.output)):
        raise UsageError("it is there already", path=args.output, hint="give a new directory")


def _write(target: str, results: list[ResultFile], *, in_place: bool) -> None:
    wanted = [r for r in results if (r.status != "same" if in_place else r.after is not None)]
    before = {r.path: r.before if in_place else None for r in wanted}
    umask = os.umask(0)
    os.umask(umask)
    left = write_all(target, {r.path: _fresh(r, umask) for r in wanted}, before)
    if left:
        say(f"{target}{about_left_alone(left)}")


def _fresh(result: ResultFile, umask: int) -> File | None:
    """Return the file to write; give a new file the usual permissions."""
    file = result.after
    if file is None or file.link or result.before is not None or result.source:
        return file
    return File(file.data, (0o777 if file.is_executable else 0o666) & ~umask)


def _report(args: argparse.Namespace, merged: Merged, words: dict[str, str]) -> None:
    if args.json:
        merge_report.print_json(args, _present(merged), merged.moves, words)
        return
    for move in merged.moves if args.explain or args.dry_run or args.summary else ():
        what = f"moved: {move.name}" if move.name else "renamed"
        say(f"{what}: {move.source} -> {move.target}")
    for result in merged.files:
        _report_file(args, result, words)
    if args.summary:
        left = {r.source for r in merged.files}  # a renamed file counts once
        present = [r for r in _present(merged) if r.after is not None or r.path not in left]
        unmerged = sum(bool(r.unmerged) for r in merged.files)
        say(merge_report.count_files([r.status for r in present], unmerged))
        decisions = [d for r in merged.files for d in r.merged.decisions]
        say(merge_report.count(decisions, words, sum(r.merged.conflicts for r in merged.files)))


def _present(merged: Merged) -> list[ResultFile]:
    """Return the results of the files that exist before or after the merge, or were not merged."""
    return [r for r in merged.files if r.before is not None or r.after is not None or r.unmerged]


def _report_file(args: argparse.Namespace, result: ResultFile, words: dict[str, str]) -> None:
    merge_report.report(args, result.merged, words, result.path)
    if result.note and not args.quiet:
        say(f"{result.path}: {result.note}")
    if result.unmerged:
        say(f"not merged: {result.path}: {result.unmerged}")
    if args.dry_run and result.status != "same":
        origin = f" (from {result.source})" if result.source else ""
        tell(f"{result.status}: {result.path}{origin}")
