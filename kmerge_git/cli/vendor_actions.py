"""The actions of `kmerge vendor` on existing packages: status, diff, list and update."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from kmerge_git.bounds import SHOWN_FIELDS, SHOWN_OF_A_SORT
from kmerge_git.cli.in_and_out import (
    Progress,
    listed,
    say,
    show,
    show_lines,
    tell,
    tell_json,
    waiting,
    warn,
)
from kmerge_git.cli.lost_changes import is_loss, loss
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.packages.package_files import SAVED, not_portable
from kmerge_git.packages.package_merge import ResultFile
from kmerge_git.packages.package_rules import timed
from kmerge_git.report.results import CommandResult
from kmerge_git.vendored import package_updating
from kmerge_git.vendored.origin_records import Vendored, below, only_one, top_of, vendored
from kmerge_git.vendored.package_status import (
    FieldDifference,
    FileDifference,
    State,
    both,
    differences,
    patch,
    state,
)
from kmerge_git.vendored.package_updating import (
    Underway,
    Update,
    UpdateWishes,
    carry_out,
    plan,
    underway,
)
from kmerge_git.vendored.upstream_sources import version
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.report.results import Line


NONE = "this repository has no packages; `kmerge vendor add` adds one"


def status(args: argparse.Namespace) -> int:
    """Print local changes, unfinished updates and newer versions of the packages."""
    wanted = [os.path.normpath(d) for d in args.dirs] or _all()
    packages = _opened(wanted)
    states = []
    for package in packages:
        with waiting(f"checking {package.directory}"):
            states.append(state(package, fetch=args.fetch, accept=args.accept_source))
    if args.json:
        tell_json({"packages": [_state_fields(each) for each in states]})
    for each in states:
        if each.problem:
            where = f"{each.vendored.directory}: "
            warn(f"{where}cannot list the local changes: {each.problem.removeprefix(where)}")
        if not args.json:
            show_lines(_state_lines(each, is_fetched=args.fetch))
    if not wanted:
        warn(NONE)
    if len(packages) < len(wanted) or any(each.problem for each in states):
        return 2
    return int(any(each.needs_care for each in states))


def diff(args: argparse.Namespace) -> int:
    """Print the local changes as a patch, with paths relative to the package."""
    package = vendored(os.path.normpath(args.dir) if args.dir else only_one(os.getcwd()))
    base, local = both(package, fetch=False)
    if underway(package.directory):
        warn(f"{package.directory}: an update is unfinished; the patch includes its changes")
    data = b"".join(patch(base, local))
    if args.json or sys.stdout.isatty():  # bytes of a file must not control the terminal
        result = CommandResult(
            lambda: {
                **package.facts,
                "changes": [_change_fields(change) for change in differences(base, local)],
                "patch": data.decode("utf-8", "replace"),
            },
            lambda: data.decode("utf-8", "surrogateescape").split("\n")[:-1],
        )
        show(result, as_json=args.json)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return int(bool(data))


def listing(args: argparse.Namespace) -> int:
    """Print all packages and their origins."""
    wanted = _all()
    packages = _opened(wanted)
    result = CommandResult(
        lambda: {"packages": [package.facts for package in packages]}, lambda: _table(packages)
    )
    show(result, as_json=args.json)
    if not wanted:
        warn(NONE)
    return 2 if len(packages) < len(wanted) else 0


ACTIONS = {"status": status, "diff": diff, "list": listing}


def _opened(directories: list[str]) -> list[Vendored]:
    """Return the packages whose records can be read, and warn about unreadable records."""
    packages = []
    for directory in directories:
        try:
            packages.append(vendored(directory))
        except KmergeError as error:
            warn(error)
    return packages


def _all() -> list[str]:
    return [os.path.relpath(path) for path in below(top_of(os.getcwd()))]


def _table(packages: list[Vendored]) -> Iterator[Line]:
    records = [(package.directory, package.record) for package in packages]
    rows = [(name, r.ref, r.commit[:7], r.path, r.source) for name, r in records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip()


def _state_lines(found: State, *, is_fetched: bool) -> Iterator[Line]:
    package, record = found.vendored, found.vendored.record
    place = "" if record.path == "." else f", {record.path}"
    yield f"{package.directory}: {record.ref} ({record.commit[:7]}) of {record.source}{place}"
    for change in found.changes:
        note = f" ({change.note})" if change.note else ""
        old = f"{change.source} -> " if change.source else ""
        yield f"  {change.how:<8} {old}{change.path}{note}"
        yield from (f"      {_field(field)}" for field in change.fields[:SHOWN_FIELDS])
        if len(change.fields) > SHOWN_FIELDS:
            yield f"      and {len(change.fields) - SHOWN_FIELDS} more"
    if not (found.problem or found.unfinished):
        count = len(found.changes)
        yield f"  {counted(count, 'file')} changed locally" if count else "  no local changes"
    if found.newer:
        yield f"  newer upstream: {listed(found.newer)}"
    if found.moved:
        yield f"  upstream's {record.ref} is now {found.moved[:7]}"
    if is_fetched and not (found.problem or found.newer or found.moved):
        yield "  no newer version upstream"
    if found.unfinished:
        yield from _unfinished_lines(found.unfinished, package.directory)


def _unfinished_lines(unfinished: Underway, directory: str) -> Iterator[Line]:
    record = unfinished.record
    yield f"  unfinished: {unfinished.what} to {record.ref} ({record.commit[:7]})"
    yield from (f"      in conflict: {path}" for path in unfinished.conflicts)
    yield f"      run `kmerge vendor update {shlex.quote(directory)} --continue`, or `--abort`"


def _field(change: FieldDifference) -> str:
    place = " ".join(filter(None, (change.resource, change.field))) or "document"
    return place if change.how == "changed" else f"{place}: {change.how}"


def _state_fields(found: State) -> dict[str, Any]:
    unfinished = found.unfinished
    return {
        **found.vendored.facts,
        "changes": [_change_fields(change) for change in found.changes],
        "unfinished": {
            "what": unfinished.what,
            "ref": unfinished.record.ref,
            "commit": unfinished.record.commit,
            "conflicts": list(unfinished.conflicts),
        }
        if unfinished
        else None,
        "newer": list(found.newer),
        "moved": found.moved,
        "problem": found.problem,
    }


def _change_fields(change: FileDifference) -> dict[str, Any]:
    return {
        "path": change.path,
        "how": change.how,
        "renamed_from": change.source,
        "note": change.note,
        "fields": [{"resource": f.resource, "field": f.field, "how": f.how} for f in change.fields],
    }


SIDES = {"ours": "local", "theirs": "upstream"}
KINDS = {
    "upstream": "from upstream",
    "merged": "merged",
    "conflict": "in conflict",
    "local": "local only",
    "renamed": "renamed",
}


def update_packages(args: argparse.Namespace) -> int:
    """Update one package or all packages; after an error with one package, update the others."""
    make_haste()
    reports: list[dict[str, Any]] = []
    codes = []
    for directory in _directories(args):
        try:
            update, code = _one(args, directory)
        except KmergeError as error:
            if not args.all:
                raise
            warn(error)
            reports.append({"dir": directory, "state": "error", "error": str(error)})
            codes.append(2)
        else:
            reports.append(_update_fields(update, directory, is_open=bool(code)))
            codes.append(code)
    result = CommandResult(
        lambda: {"dry_run": args.dry_run, "packages": reports},
        lambda: _all_lines(reports) if args.all else (),
    )
    show(result, as_json=args.json)
    return max(codes)


def finish(args: argparse.Namespace) -> int:
    """End an unfinished update: continue after the conflicts are resolved, or abort it."""
    if args.all or args.ref or args.path:
        raise UsageError("--continue and --abort do not accept --all, --ref or --path")
    (directory,) = _directories(args)
    marked: tuple[tuple[str, int], ...] = ()
    if args.abort:
        what, edited = package_updating.go_back(directory)
        state = "aborted"
    else:
        what, left = package_updating.go_on(directory)
        marked, edited = left.marked, list(left.edited)
        state = "unfinished" if marked or edited else "finished"
    for path in edited:
        say(f"{os.path.join(directory, path)}: not overwritten, as it has changed (see {SAVED})")
    for path, line in marked:
        say(f"{os.path.join(directory, path)}:{line}: unresolved conflict")
    conflicts = [{"path": path, "line": line} for path, line in marked]
    result = CommandResult(
        lambda: {"dir": directory, "state": state, "conflicts": conflicts, "edited": edited},
        lambda: [f"{directory}: the {what.what} to {what.record.label} is {state}"],
    )
    show(result, as_json=args.json)
    return 1 if state == "unfinished" else 0


def _directories(args: argparse.Namespace) -> list[str]:
    here = os.getcwd()
    if args.all:
        if args.dir or args.ref or args.path:
            hint = "--all updates every package to the ref in its record"
            raise UsageError("--all does not accept DIR, --ref or --path", hint=hint)
        packages = below(top_of(here))
        if not packages:
            raise UsageError(NONE)
        return [os.path.relpath(path) for path in packages]
    return [os.path.normpath(args.dir) if args.dir else os.path.relpath(only_one(here))]


def _one(args: argparse.Namespace, directory: str) -> tuple[Update, int]:
    """Update a package and report it; return the code 1 if a person must finish the update."""
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
        for note in _notes(update, directory, quiet=args.quiet):
            say(note)
    for path in edited:
        say(f"{os.path.join(directory, path)}: not overwritten, as it has changed (see {SAVED})")
    if not args.json:
        show_lines(_update_lines(update, directory, dry_run=args.dry_run))
        if not (update.is_new or args.ref or args.all) and version(update.record.ref):
            tell("  run `kmerge vendor status --fetch` to list newer versions for --ref")
    return update, int(bool(update.conflicts or edited))


def _notes(update: Update, directory: str, *, quiet: bool) -> Iterator[str]:
    """Yield lines about files that were not merged; unless `quiet`, add lost changes and notes."""
    if not quiet:
        yield from (f"not copied: {left}" for left in update.left_out)
        for move in update.merged.moves:
            if move.name:  # the table lists moved files, so print only resources
                yield f"moved: {directory}: {move.name}: {move.source} -> {move.target}"
        files = [file.path for file in update.merged.files if file.after is not None]
        yield from odd_names(directory, files, update.before)
    for file in update.merged.files:
        path = os.path.join(directory, file.path)
        if not quiet:
            losses = filter(is_loss, file.merged.decisions)
            yield from (loss(decision, SIDES, path) for decision in losses)
            yield from [f"{path}: {file.note}"] if file.note else ()
        if file.unmerged:
            yield f"not merged: {path}: {file.unmerged}"
        if file.merged.reason and file.merged.conflicts:
            yield f"{path}: {file.merged.reason}"


def odd_names(directory: str, paths: Iterable[str], old: Container[str] = ()) -> Iterator[str]:
    """Yield warnings about new file names that some systems cannot check out."""
    found = list(not_portable(paths, old))
    for name, why in found[:SHOWN_OF_A_SORT]:
        yield f"{os.path.join(directory, name)}: {why}"
    if len(found) > SHOWN_OF_A_SORT:
        yield f"... and {len(found) - SHOWN_OF_A_SORT} more names that Windows or macOS rejects"


def _update_lines(update: Update, directory: str, *, dry_run: bool) -> Iterator[Line]:
    """Yield the table of an update, with the origin and the result of each file."""
    old, new = update.vendored.record.label, update.record.label
    if not update.is_new:
        yield f"{directory}: {old} is up to date"
        return
    yield f"{directory}: {old} -> {new}" + (" (dry run)" if dry_run else "")
    count: Counter[str] = Counter()
    renamed = {file.source for file in update.merged.files}  # listed under the new path
    for file in update.merged.files:
        is_nowhere = file.after is None and not (file.before or update.is_open(file))
        if is_nowhere or (file.after is None and file.path in renamed):
            continue
        whose = update.whose(file)
        count[whose] += 1
        count["renamed"] += file.status == "renamed"
        if whose not in ("same", "local"):
            yield f"  {whose:<9} {_what(file)}"
    parts = [f"{count[kind]} {words}" for kind, words in KINDS.items()]
    yield f"  {counted(count.total() - count['renamed'], 'file')}: {', '.join(parts)}"
    if update.conflicts and not dry_run:
        yield "  resolve the conflicts (run `kmerge resolve`, or edit the files), then run"
        yield f"  `kmerge vendor update {shlex.quote(directory)} --continue`, or `--abort`"


def _all_lines(reports: list[dict[str, Any]]) -> Iterator[Line]:
    """Yield one line for each package."""
    width = max(len(report["dir"]) for report in reports)
    yield ""
    for report in reports:
        refs = [report[side]["ref"] for side in ("from", "to") if side in report]
        versions = " -> ".join(dict.fromkeys(refs))
        yield f"{report['dir']:<{width}}  {report['state']:<11}  {versions}".rstrip()


def _what(file: ResultFile) -> str:
    if file.source and file.source != file.path:
        return f"renamed   {file.source} -> {file.path}"
    conflicts = counted(file.merged.conflicts, "conflict")
    left = f": {conflicts}" if file.merged.conflicts else ""
    return f"{'unmerged' if file.unmerged else file.status:<9} {file.path}{left}"


def _update_fields(update: Update, directory: str, *, is_open: bool) -> dict[str, Any]:
    sides = {"from": update.vendored.record, "to": update.record}
    state = "in conflict" if is_open else "updated" if update.is_new else "up to date"
    return {
        "dir": directory,
        "state": state,
        "rules": update.rules,
        **{side: {"ref": r.ref, "commit": r.commit} for side, r in sides.items()},
        "files": [_file_fields(update, file) for file in update.merged.files],
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


def _file_fields(update: Update, file: ResultFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "status": file.status,
        "whose": update.whose(file),
        "renamed_from": file.source,
        "conflicts": file.merged.conflicts,
        "unmerged": file.unmerged,
        "note": file.note,
    }
