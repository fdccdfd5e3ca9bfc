"""`kmerge vendor status`, `diff` and `list`: how packages stand; nothing is written."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from kmerge_git.bounds import SHOWN_FIELDS
from kmerge_git.cli.printing import counted, say, tell, tell_json, waiting
from kmerge_git.errors import KmergeError
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
from kmerge_git.vendored.package_updating import underway

NONE = "kmerge: there is no package here; `kmerge vendor add` makes one"


def status(args: argparse.Namespace) -> int:
    """Tell how the packages stand."""
    wanted = [os.path.normpath(d) for d in args.dirs] or _all()
    packages = _opened(wanted)
    found = []
    for package in packages:
        with waiting(f"looking at {package.directory}"):
            found.append(state(package, fetch=args.fetch, accept=args.accept_source))
    if args.json:
        tell_json({"packages": [_state_json(s) for s in found]})
    for each in found:
        if each.problem:
            where = f"{each.vendored.directory}: "
            why = each.problem.removeprefix(where)
            say(f"kmerge: {where}local changes are not known: {why}")
        if not args.json:
            _tell(each, fetched=args.fetch)
    if not wanted:
        say(NONE)
    if len(packages) < len(wanted) or any(each.problem for each in found):
        return 2
    return int(any(each.needs_care for each in found))


def diff(args: argparse.Namespace) -> int:
    """Print the local changes as a patch; paths are those of the package."""
    package = vendored(os.path.normpath(args.dir) if args.dir else only_one(os.getcwd()))
    base, local = both(package, fetch=False)
    if underway(package.directory):
        say(
            f"kmerge: {package.directory}: an update is unfinished; what it brought is in here, too"
        )
    lines = list(patch(base, local))
    if args.json:
        found = {
            **package.facts,
            "changes": [_change_json(change) for change in differences(base, local)],
            "patch": b"".join(lines).decode("utf-8", "replace"),
        }
        tell_json(found)
    elif sys.stdout.isatty():  # a file's bytes must not drive a terminal
        for line in b"".join(lines).decode("utf-8", "surrogateescape").split("\n")[:-1]:
            tell(line)
    else:
        sys.stdout.buffer.write(b"".join(lines))
        sys.stdout.buffer.flush()
    return int(bool(lines))


def listing(args: argparse.Namespace) -> int:
    """Tell all packages, and where they came from."""
    wanted = _all()
    packages = _opened(wanted)
    if args.json:
        rows = [package.facts for package in packages]
        tell_json({"packages": rows})
    else:
        _table([_row(package) for package in packages])
    if not wanted:
        say(NONE)
    return 2 if len(packages) < len(wanted) else 0


def _opened(directories: list[str]) -> list[Vendored]:
    """The packages whose records can be read; what is wrong with the others is told."""
    found = []
    for directory in directories:
        try:
            found.append(vendored(directory))
        except KmergeError as error:
            say(f"kmerge: {error}")
    return found


def _all() -> list[str]:
    return [os.path.relpath(path) for path in below(top_of(os.getcwd()))]


def _row(package: Vendored) -> tuple[str, ...]:
    record = package.record
    return package.directory, record.ref, record.commit[:7], record.path, record.source


def _table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        tell("  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip())


def _tell(found: State, *, fetched: bool) -> None:
    package, record = found.vendored, found.vendored.record
    place = "" if record.path == "." else f", {record.path}"
    tell(f"{package.directory}: {record.ref} ({record.commit[:7]}) of {record.source}{place}")
    for change in found.changes:
        tell(f"  {_file(change)}")
        for field in change.fields[:SHOWN_FIELDS]:
            tell(f"      {_field(field)}")
        if len(change.fields) > SHOWN_FIELDS:
            tell(f"      and {len(change.fields) - SHOWN_FIELDS} more")
    if not (found.problem or found.unfinished):
        count = len(found.changes)
        tell(f"  {counted(count, 'file')} changed here" if count else "  no local changes")
    if found.newer:
        more = f" and {len(found.newer) - 5} more" if len(found.newer) > 5 else ""
        tell(f"  newer upstream: {', '.join(found.newer[:5])}{more}")
    if found.moved:
        tell(f"  {record.ref} is {found.moved[:7]} upstream by now")
    if fetched and not (found.problem or found.newer or found.moved):
        tell("  nothing newer upstream")
    if found.unfinished:
        _tell_unfinished(found)


def _tell_unfinished(found: State) -> None:
    unfinished = found.unfinished
    assert unfinished is not None  # the caller's case
    record, directory = unfinished.record, found.vendored.directory
    tell(f"  unfinished: {unfinished.what} to {record.ref} ({record.commit[:7]})")
    for path in unfinished.conflicts:
        tell(f"      in conflict: {path}")
    tell(f"      `kmerge vendor update {directory} --continue`, or `--abort`")


def _file(change: FileDifference) -> str:
    note = f" ({change.note})" if change.note else ""
    old = f"{change.source} -> " if change.source else ""
    return f"{change.how:<8} {old}{change.path}{note}"


def _field(change: FieldDifference) -> str:
    place = " ".join(part for part in (change.resource, change.field) if part) or "document"
    return place if change.how == "changed" else f"{place}: {change.how}"


def _state_json(found: State) -> dict[str, Any]:
    unfinished = found.unfinished
    return {
        **found.vendored.facts,
        "changes": [_change_json(change) for change in found.changes],
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


def _change_json(change: FileDifference) -> dict[str, Any]:
    return {
        "path": change.path,
        "how": change.how,
        "renamed_from": change.source,
        "note": change.note,
        "fields": [{"resource": f.resource, "field": f.field, "how": f.how} for f in change.fields],
    }
