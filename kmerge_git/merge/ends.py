"""The two ends of a result and the ends of its lines: byte order mark, line ends, last newline."""

from __future__ import annotations

from kmerge_git.merge.three import Three, standing
from kmerge_git.text.pieces import Hunk
from kmerge_git.text.source import Source, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.documents import MergedFile

BOM = "\ufeff"


def to_bytes(text: str, sources: Three[Source]) -> bytes:
    """The bytes of a result: ours' spelling, unless only theirs changed it."""
    base, ours, theirs = sources.base, sources.ours, sources.theirs
    if not base.data:
        base = theirs
    eol = ours.eol
    if theirs.eol and ours.eol == base.eol:
        eol = theirs.eol if ours.eol else ours.eol
    at = Three(base, ours, theirs)
    final_newline = standing(at.map(lambda source: source.final_newline))
    has_bom = standing(at.map(lambda source: source.bom))
    if text.endswith("\n") and text[text.rfind("\n", 0, -1) + 1 :].startswith(">>>>>>>"):
        final_newline = True  # a marker is a whole line
    return encode(text, has_bom and not text.startswith("<<<<<<<"), eol, final_newline)


def put_mark_into_hunk(merged: MergedFile, sources: Three[Source]) -> None:
    """A conflict in the first line: a mark before its marker would hide it, so each side has it."""
    if not standing(sources.map(lambda source: source.bom)):
        return
    parts = [("", merged.prologue), *((d.opening, d.pieces) for d in merged.documents)]
    for opening, pieces in parts:
        if opening:
            return
        for index, piece in enumerate(pieces):
            if isinstance(piece, Hunk):
                pieces[index] = piece.map(lambda text: text and BOM + text)
            if piece != "":
                return
