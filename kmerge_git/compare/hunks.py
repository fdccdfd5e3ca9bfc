"""Texts that differ, for reading: their lines with numbers, as few as tell what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from kmerge_git.compare import wording
from kmerge_git.compare.change import At, FieldChange, FieldValue

MOST = 12  # lines of a value that came or went
MOST_CHANGED = 40  # lines of a text that both versions have
_BESIDE = 40  # lines of the other version that a long line is held against
Line = tuple[str, str]  # and its colour


def numbered(hunks: Sequence[FieldChange], indent: str, *, full: bool) -> Iterator[Line]:
    """Lines that differ, with their numbers: what went in the old text, what came in the new."""
    left = MOST_CHANGED
    total = sum(len(_texts(hunk.before)) + len(_texts(hunk.after)) for hunk in hunks)
    full_length = full or total <= MOST_CHANGED + 1
    shown = 0
    for hunk in hunks:
        gone, come = _texts(hunk.before), _texts(hunk.after)
        sizes = (len(gone), len(come)) if full_length else _shares(len(gone), len(come), left)
        at = hunk.document or At(0, 0)
        for sign, colour, texts, others, first, count in (
            ("-", "red", gone, come, at.old, sizes[0]),
            ("+", "green", come, gone, at.new, sizes[1]),
        ):
            for number, text in enumerate(islice(texts, count), (first or 0) + 1):
                told = wording.line(text, others[:_BESIDE], full=full)
                yield f"{indent}{number:>3}{sign} {told}".rstrip(), colour
        shown += sum(sizes)
        left -= sum(sizes)
    if shown < total:
        yield f"{indent}… {total - shown} more lines", "dim"


def _texts(value: FieldValue | None) -> list[str]:
    return value.plain if value and isinstance(value.plain, list) else []


def _shares(gone: int, come: int, left: int) -> tuple[int, int]:
    """How many lines of a hunk are shown: of both versions, if both have some."""
    old = min(gone, max(left // 2, left - come))
    return old, min(come, left - old)


def capped(found: list[Line], indent: str, *, full: bool) -> Iterator[Line]:
    """The first of many lines."""
    if full or len(found) <= MOST + 1:
        yield from found
        return
    yield from found[:MOST]
    yield f"{indent}… {len(found) - MOST} more lines", "dim"
