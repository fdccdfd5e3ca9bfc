"""`kmerge vendor status`, `diff` and `list`: how packages stand; nothing is written."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from kmerge_git.bounds import SHOWN_FIELDS
from kmerge_git.cli.printing import counted, listed, show, show_lines, waiting, warn
from kmerge_git.errors import KmergeError
from kmerge_git.report.results import CommandResult
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
from kmerge_git.vendored.package_updating import Underway, underway

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.report.results import Line

NONE = "there is no package here; `kmerge vendor add` makes one"


def status(args: argparse.Namespace) -> int:
    """Print how the packages stand."""
    wanted = [os.path.normpath(d) for d in args.dirs] or _all()
    packages = _opened(wanted)
    states = []
    for package in packages:
        with waiting(f"looking at {package.directory}"):
            states.append(state(package, fetch=args.fetch, accept=args.accept_source))
    if args.json:
        fields = {"packages": [_state_fields(each) for each in states]}
        show(CommandResult(lambda: fields), as_json=True)
    for each in states:
        if each.problem:
            where = f"{each.vendored.directory}: "
            why = each.problem.removeprefix(where)
            warn(f"{where}local changes are not known: {why}")
        if not args.json:
            show_lines(_state_lines(each, is_fetched=args.fetch))
    if not wanted:
        warn(NONE)
    if len(packages) < len(wanted) or any(each.problem for each in states):
        return 2
    return int(any(each.needs_care for each in states))


def diff(args: argparse.Namespace) -> int:
    """Print the local changes as a patch; paths are those of the package."""
    package = vendored(os.path.normpath(args.dir) if args.dir else only_one(os.getcwd()))
    base, local = both(package, fetch=False)
    if underway(package.directory):
        warn(f"{package.directory}: an update is unfinished; what it brought is in here, too")
    data = b"".join(patch(base, local))
    if args.json or sys.stdout.isatty():  # a file's bytes must not drive a terminal
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
    """Print all packages, and where they came from."""
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
    """Return the packages whose records can be read, and say what is wrong with the others."""
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
        yield f"  {counted(count, 'file')} changed here" if count else "  no local changes"
    if found.newer:
        yield f"  newer upstream: {listed(found.newer)}"
    if found.moved:
        yield f"  {record.ref} is {found.moved[:7]} upstream by now"
    if is_fetched and not (found.problem or found.newer or found.moved):
        yield "  nothing newer upstream"
    if found.unfinished:
        yield from _unfinished_lines(found.unfinished, package.directory)


def _unfinished_lines(unfinished: Underway, directory: str) -> Iterator[Line]:
    record = unfinished.record
    yield f"  unfinished: {unfinished.what} to {record.ref} ({record.commit[:7]})"
    yield from (f"      in conflict: {path}" for path in unfinished.conflicts)
    yield f"      `kmerge vendor update {directory} --continue`, or `--abort`"


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
