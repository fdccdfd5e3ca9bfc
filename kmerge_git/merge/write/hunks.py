"""Runs of lines in a result, and hunks of them: made of a plan's lines, and laid out."""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.merge.plan import Line, NewText, Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.layout import shift
from kmerge_git.text.pieces import VERSIONS, Hunk, is_clean, side_text
from kmerge_git.tree import blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.plan import Lines
    from kmerge_git.text.pieces import Pieces


def comment_lines(parts: Lines, column: int, path: Path) -> Pieces:
    """Comment lines at a column, above, in or below what stands at a path."""
    return line_pieces(parts, column, path, "comment", Why.COMMENT)


def text_lines(plan: NewText, column: int, path: Path) -> Pieces:
    """Header and lines of the block scalar at a path."""
    ours = plan.ours
    text = ours.text[ours.content : ours.end]
    first = text.split("\n", 1)[0]
    known = blocks.header_comment(ours)
    comment = known if plan.comment is None else plan.comment
    if plan.header != blocks.header(ours) or comment != known:
        digits = "".join(c for c in first.split("#")[0] if c.isdigit())
        first = plan.header[0] + digits + plan.header[1:] + ("  " + comment if comment else "")
    indent = blocks.body_indent(ours) or column
    return [first + "\n", *line_pieces(plan.parts, indent, path, "text", Why.BOTH_CHANGED)]


def line_pieces(parts: Lines, column: int, path: Path, top: str, why: str) -> Pieces:
    """Lines at a column; where both sides changed them, a hunk that says its path, or `top`."""

    def lines(of: Sequence[str]) -> str:
        return "".join(_placed(line, column) + "\n" for line in of)

    pieces: Pieces = []
    for part in parts:
        if isinstance(part, Three):
            pieces.append(Hunk(*part.map(lines).each(), fieldpath.show(path) or top, why, path))
        elif part:
            pieces.append(lines(part))
    return pieces


def _placed(line: str, column: int) -> str:
    """A line at a column; a comment stays as far from what it belongs to as it was."""
    if isinstance(line, Line):
        return shift(line.spelled, column - line.home)
    return " " * column + line if line else ""


def starts_blank(pieces: Pieces) -> bool:
    """Whether the first line is blank, on any side."""
    for piece in pieces:
        sides = [piece] if isinstance(piece, str) else [piece.side(s) for s in VERSIONS]
        if any(sides):
            return any(side and len(_trimmed(side)) < len(side) for side in sides)
    return False


def without_blank_start(pieces: Pieces) -> Pieces:
    """The pieces without blank lines at their start."""
    for index, piece in enumerate(pieces):
        if isinstance(piece, Hunk):
            return [piece.map(_trimmed), *pieces[index + 1 :]]
        if _trimmed(piece):
            return [_trimmed(piece), *pieces[index + 1 :]]
    return []


def _trimmed(text: str) -> str:
    """A text without the blank lines that it starts with."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1
        if not end or text[start:end].strip():
            break
        start = end
    return text[start:]


def overlay(prefix: str, column: int, pieces: Pieces) -> Pieces:
    """Put a prefix (`  - `) over the indentation of the first line, on every side of a hunk.

    Comment lines above the first entry move above the prefix.
    """
    if not pieces:
        return [prefix]
    first = pieces[0]
    if isinstance(first, str) and _has_entry_line(first):
        return [_over(prefix, column, first), *pieces[1:]]
    if isinstance(first, Hunk) and all(_has_entry_line(first.side(s)) for s in VERSIONS):
        return [first.map(lambda text: _over(prefix, column, text)), *pieces[1:]]
    sides = [_over(prefix, column, side_text(pieces, s)) for s in VERSIONS]
    if is_clean(pieces):
        return [sides[1]]
    hunk = next(p for p in pieces if isinstance(p, Hunk))
    return [hunk.but(*sides)]


def _has_entry_line(text: str) -> bool:
    return any(line.strip() and line.lstrip()[0] != "#" for line in text.split("\n"))


def _over(prefix: str, column: int, text: str) -> str:
    dash = prefix.rfind("\n") + 1
    above, own = prefix[:dash], prefix[dash:]
    indent = len(own) - len(own.lstrip(" "))
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and line.lstrip()[0] != "#":
            lead = [" " * indent + x.lstrip() if x.strip() else x for x in lines[:index]]
            return above + "\n".join([*lead, own + line[column:], *lines[index + 1 :]])
    return prefix + text
