"""Runs of lines in a result: comments, and the lines of block scalars."""

from __future__ import annotations

from kmerge_git.kube.fieldpath import show
from kmerge_git.merge.decide import block_texts
from kmerge_git.merge.plan import NewText, TextClash
from kmerge_git.text.pieces import Hunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.pieces import Pieces

    Parts = list[list[str] | TextClash]

BOTH = "changed on both sides"


def comment_lines(parts: Parts, column: int, path: Path) -> Pieces:
    """Comment lines at a column, above, in or below what stands at a path."""
    return _part_pieces(parts, column, show(path) or "comment", "comment changed on both sides")


def text_lines(plan: NewText, column: int, path: Path) -> Pieces:
    """Header and lines of the block scalar at a path."""
    ours = plan.ours
    text = ours.text[ours.content : ours.end]
    first = text.split("\n", 1)[0]
    known = block_texts.header_comment(ours)
    comment = known if plan.comment is None else plan.comment
    if plan.header != block_texts.header(ours) or comment != known:
        digits = "".join(c for c in first.split("#")[0] if c.isdigit())
        first = plan.header[0] + digits + plan.header[1:] + ("  " + comment if comment else "")
    indent = block_texts.body_indent(ours) or column
    return [first + "\n", *_part_pieces(plan.parts, indent, show(path) or "text", BOTH)]


def _part_pieces(parts: Parts, column: int, place: str, why: str) -> Pieces:
    def lines(of: list[str]) -> str:
        return "".join((" " * column + line if line else "") + "\n" for line in of)

    pieces: Pieces = []
    for part in parts:
        if isinstance(part, TextClash):
            sides = lines(part.base), lines(part.ours), lines(part.theirs)
            pieces.append(Hunk(*sides, place, why))
        elif part:
            pieces.append(lines(part))
    return pieces
