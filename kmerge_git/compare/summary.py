"""A comparison in short: a line a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kmerge_git.compare.change import FieldChange
from kmerge_git.compare.folders import ComparedFile

_WHOLES = ("added", "deleted")


def summary(file: ComparedFile) -> str:
    """A file in one line: `apps/web.yaml: 3 fields in 1 resource, 1 resource deleted`."""
    said = file.path
    if file.how == "renamed":
        said = f"{file.source} -> {file.path}"
    words: list[str] = [] if file.how == "changed" else [file.how]
    if not file.is_manifest:
        if any(file.lines):
            words.append(_plus_minus(file.lines))
        words += ["binary"] if any(c.how == "binary" for c in file.changes) else []
    else:
        words += _counts(file.changes)
    words += [file.note] if file.note else []
    return f"{said}: {', '.join(words)}" if words else said


def _plus_minus(counts: tuple[int, int]) -> str:
    return f"+{counts[0]} -{counts[1]}"


def _counts(changes: Sequence[FieldChange]) -> list[str]:
    kinds = Counter(_kind(change) for change in changes)
    within = {(c.resource, c.document) for c in changes if _kind(c) == "field"}
    words = []
    if kinds["field"]:
        inside = f" in {_counted(len(within), 'resource')}" if any(r for r, _ in within) else ""
        words.append(_counted(kinds["field"], "field") + inside)
    for kind in ("added", "deleted", "moved away", "moved here", "renamed"):
        if kinds[kind]:
            words.append(f"{_counted(kinds[kind], 'resource')} {kind}")
    words += [_plus_minus(_lines_of(changes))] if kinds["lines"] else []
    words += ["order"] if kinds["reordered"] else []
    return words + (["layout"] if kinds["layout"] else [])


def _lines_of(changes: Sequence[FieldChange]) -> tuple[int, int]:
    return ComparedFile("", "changed", tuple(changes)).lines


def _kind(change: FieldChange) -> str:
    if change.how in _WHOLES and change.steps:
        return "" if change.target else "field"  # under another key: told where it is by now
    if change.how in _WHOLES:
        return "moved away" if change.target else "moved here" if change.source else change.how
    if change.how in ("lines", "layout", "renamed", "binary"):
        return change.how
    return "reordered" if change.how == "reordered" and not change.steps else "field"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
