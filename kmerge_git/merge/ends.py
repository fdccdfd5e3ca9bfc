"""The two ends of a result and the ends of its lines: byte order mark, line ends, last newline."""

from __future__ import annotations

from kmerge_git.merge.three import Three
from kmerge_git.text.pieces import SIDES, Hunk
from kmerge_git.text.source import Source, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.documents import Merged

BOM = "\ufeff"


def to_bytes(text: str, sources: Three[Source]) -> bytes:
    """The bytes of a result: ours' spelling, unless only theirs changed it."""
    base, ours, theirs = sources.base, sources.ours, sources.theirs
    if not base.data:
        base = theirs
    eol = ours.eol
    if theirs.eol and ours.eol == base.eol:
        eol = theirs.eol if ours.eol else ours.eol
    final_newline = _pick(base.final_newline, ours.final_newline, theirs.final_newline)
    has_bom = _pick(base.bom, ours.bom, theirs.bom)
    if text.endswith("\n") and text[text.rfind("\n", 0, -1) + 1 :].startswith(">>>>>>>"):
        final_newline = True  # a marker is a whole line
    return encode(text, has_bom and not text.startswith("<<<<<<<"), eol, final_newline)


def _pick(base: bool, ours: bool, theirs: bool) -> bool:
    return theirs if ours == base else ours


def put_mark_into_hunk(merged: Merged, sources: Three[Source]) -> None:
    """A conflict in the first line: a mark before its marker would hide it, so each side has it."""
    if not _pick(sources.base.bom, sources.ours.bom, sources.theirs.bom):
        return
    for opening, pieces in (
        ("", merged.prologue),
        *((r.opening, r.pieces) for r in merged.resources),
    ):
        if opening:
            return
        for index, piece in enumerate(pieces):
            if isinstance(piece, Hunk):
                base, ours, theirs = (t and BOM + t for t in map(piece.side, SIDES))
                pieces[index] = Hunk(base, ours, theirs, piece.place, piece.why)
            if piece != "":
                return
