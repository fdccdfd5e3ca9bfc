"""The two ends of a result and the ends of its lines: byte order mark, line ends, last newline."""

from __future__ import annotations

from kmerge_git.merge.three import Three, standing
from kmerge_git.text.source import Source, encode

BOM = "\ufeff"


def to_bytes(text: str, sources: Three[Source]) -> bytes:
    """The bytes of a result: ours' spelling, unless only theirs changed it.

    A newline at the end stays where a side has it: to drop it is no work that could be lost.
    """
    base, ours, theirs = sources.each()
    if not base.data:
        base = theirs
    at = Three(base, ours, theirs)
    eol = _line_ends(at)
    if eol == "\r\n" or (eol and not base.eol):
        text = text.replace("\r\n", "\n")  # lines of a version that mixes its line ends
    has_bom = standing(at.map(lambda source: source.bom))
    final_newline = ours.final_newline or theirs.final_newline
    if text.endswith("\n") and text[text.rfind("\n", 0, -1) + 1 :].startswith(">>>>>>>"):
        final_newline = True  # a marker is a whole line
    return encode(text, has_bom and not text.startswith("<<<<<<<"), eol, final_newline)


def _line_ends(at: Three[Source]) -> str:
    """The line ends of all lines, nothing where they stay mixed.

    Who gives all lines other ends changes the file as a whole; who mixes them changes lines.
    """
    ends = at.map(lambda source: source.eol)
    if ends.theirs and ends.ours == ends.base:
        return ends.theirs
    return ends.ours


def put_mark_into_conflict(text: str, sources: Three[Source], size: int) -> str:
    """A conflict in the first line: a mark before its marker would hide it, so each side has it."""
    has_mark = standing(sources.map(lambda source: source.bom))
    if not (has_mark and text.startswith("<" * size)):
        return text
    end = text.find("\n" + ">" * size) + 1
    out = []
    lines = text[:end].splitlines(keepends=True)
    for line, above in zip(lines, ["", *lines], strict=False):
        is_first = above.startswith(tuple(char * size for char in "<|="))
        is_marker = line.startswith(tuple(char * size for char in "|="))
        out.append(BOM + line if is_first and not is_marker else line)
    return "".join(out) + text[end:]
