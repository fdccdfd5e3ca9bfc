"""What git merged by lines, as a merge whose conflicts can be answered like others."""

from __future__ import annotations

from kmerge_git.merge.conflicted import OpenMerge
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile
from kmerge_git.text.markers import sections
from kmerge_git.text.pieces import Hunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.three import Three
    from kmerge_git.outcome import Options
    from kmerge_git.text.pieces import Pieces

WHY = "the lines conflict"


def open_lines(marked: bytes, texts: Three[bytes], options: Options) -> OpenMerge:
    """The merge that a text with git's markers is; in style `diff3` the base is known, too."""
    text = marked.decode("utf-8", "surrogateescape")
    is_crlf = text.count("\r\n") == text.count("\n")
    if is_crlf:
        text = text.replace("\r\n", "\n")
    found = sections(text, options.marker_size)
    pieces: Pieces = [p if isinstance(p, str) else Hunk(*p, "", WHY) for p in found if p]
    if pieces and isinstance(pieces[-1], Hunk):
        pieces[-1] = _as_it_ends(pieces[-1], texts)

    def encode(made: str) -> bytes:
        return (made.replace("\n", "\r\n") if is_crlf else made).encode("utf-8", "surrogateescape")

    merged = MergedFile([], [MergedDocument(NO_DOCUMENT, "", None, pieces)], "")
    return OpenMerge(merged, options, options.marker_size, encode, is_by_lines=True)


def _as_it_ends(hunk: Hunk, texts: Three[bytes]) -> Hunk:
    """The last lines of a file: a marker stands on a line of its own, whatever they end with."""

    def side(text: str, whole: bytes) -> str:
        return text if whole.endswith(b"\n") else text.removesuffix("\n")

    base, ours, theirs = texts.each()
    return hunk.but(side(hunk.base, base), side(hunk.ours, ours), side(hunk.theirs, theirs))
