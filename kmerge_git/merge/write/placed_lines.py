"""Put text of another version at our columns: single lines, and hunks of lines."""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.merge.plan import Line, NewText, Why
from kmerge_git.merge.three import Three
from kmerge_git.text.pieces import VERSIONS, Hunk, is_clean, side_text
from kmerge_git.tree import block_scalars
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Scalar,
    column_of,
    in_flow,
    in_mid_line,
    is_block_text,
    on_own_lines,
)
from kmerge_git.tree.same import respell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.plan import Lines
    from kmerge_git.text.pieces import Pieces


def comment_lines(parts: Lines, column: int, path: Path) -> Pieces:
    """Return comment lines at a column; the lines are above, in or below the entry at `path`."""
    return line_pieces(parts, column, path, "comment", Why.COMMENT)


def text_lines(plan: NewText, column: int, path: Path) -> Pieces:
    """Return the header and the lines of the block scalar at a path.

    Of a plain or quoted scalar, return the lines without the end of the last line.
    """
    ours, why = plan.ours, Why.BOTH_CHANGED
    if not is_block_text(ours):
        indent = block_scalars.flow_indent(ours)
        pieces = line_pieces(plan.parts, indent, path, "text", why, plan.refused)
        first, last = pieces[0], pieces[-1]
        assert isinstance(first, str) and isinstance(last, str)  # see `block_texts`
        pieces[0] = first.lstrip(" ")
        pieces[-1] = str(pieces[-1]).removesuffix("\n")
        return pieces
    first = ours.text[ours.content : ours.end].split("\n", 1)[0]
    known = block_scalars.header_comment(ours)
    comment = known if plan.comment is None else plan.comment
    if plan.header != block_scalars.header(ours) or comment != known:
        digits = "".join(c for c in first.split("#")[0] if c.isdigit())
        first = plan.header[0] + digits + plan.header[1:] + ("  " + comment if comment else "")
    indent = block_scalars.body_indent(ours) or column
    return [first + "\n", *line_pieces(plan.parts, indent, path, "text", why, plan.refused)]


def line_pieces(
    parts: Lines, column: int, path: Path, top: str, why: str, refused: str = ""
) -> Pieces:
    """Return lines at a column; groups of lines that both sides changed become hunks.

    `top` is the name of the place if the path is empty.
    """

    def lines(of: Sequence[str]) -> str:
        return "".join(_placed(line, column) + "\n" for line in of)

    pieces: Pieces = []
    for part in parts:
        if isinstance(part, Three):
            place = fieldpath.show(path) or top
            pieces.append(Hunk(*part.map(lines).each(), place, why, path, refused=refused))
        elif part:
            pieces.append(lines(part))
    return pieces


def _placed(line: str, column: int) -> str:
    """Return a line at a column; a comment keeps its distance from its entry."""
    if isinstance(line, Line):
        return shift(line.spelled, column - line.home)
    return " " * column + line if line else ""


def starts_blank(pieces: Pieces) -> bool:
    """Return whether the first line is blank on any side."""
    for piece in pieces:
        sides = [piece] if isinstance(piece, str) else [piece.side(s) for s in VERSIONS]
        if any(sides):
            return any(_trimmed(side) != side for side in sides)
    return False


def without_blank_start(pieces: Pieces) -> Pieces:
    """Return the pieces without blank lines at their start."""
    for index, piece in enumerate(pieces):
        if isinstance(piece, Hunk):
            return [piece.map(_trimmed), *pieces[index + 1 :]]
        if _trimmed(piece):
            return [_trimmed(piece), *pieces[index + 1 :]]
    return []


def _trimmed(text: str) -> str:
    """Return a text without the blank lines at its start."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1
        if not end or text[start:end].strip():
            break
        start = end
    return text[start:]


def overlay(prefix: str, column: int, pieces: Pieces) -> Pieces:
    """Write a prefix (`  - `) over the indentation of the first line, on every side of a hunk.

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
    return [next(p for p in pieces if isinstance(p, Hunk)).but(*sides)]


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


def shift(text: str, by: int) -> str:
    """Move all lines by `by` columns; a line with too few blanks moves to column 0."""
    if not by:
        return text
    lines = text.split("\n")
    if by > 0:
        pad = " " * by
        return "\n".join(pad + line if line.strip() else line for line in lines)
    return "\n".join(line[min(-by, len(line) - len(line.lstrip(" "))) :] for line in lines)


def shift_rest(text: str, by: int) -> str:
    """Move all lines except the first line, which begins in the middle of a line."""
    first, newline, rest = text.partition("\n")
    return first + newline + shift(rest, by)


def entry_lines(entry: Entry, column: int, *, lead: bool = True) -> str:
    """Return an entry of any version at one of our columns, with the comments above the entry."""
    if in_flow(entry):
        value = shift_rest(entry.value.raw, column - column_of(entry))
        line = "- " + value if entry.key is None else f"{entry.key.raw}: {value}"
        return " " * column + line.rstrip(" ") + "\n"
    text, indent = entry.value.text, column_of(entry)
    first = " " * indent if entry.line == entry.start else ""
    above = text[entry.lead : entry.line] if lead else ""
    return shift(above + first + text[entry.line : entry.end], column - indent)


def value_lines(entry: Entry, column: int, old: Node) -> str:
    """Return the lines of a block collection whose key goes to one of our columns.

    `old` is our value that the collection replaces. If `old` is a block of the same kind, the
    collection goes to the column of `old`.
    """
    value = entry.value
    assert isinstance(value, Collection)  # the caller's case
    inner = column + way_below(entry, value)
    if isinstance(old, Collection) and type(old) is type(value) and on_own_lines(old):
        inner = old.column
    return _block(value, inner)


def value_rest(entry: Entry, column: int, style: str | None) -> str:
    """Return a value behind its key or dash; the key or dash goes to one of our columns."""
    value = entry.value
    if isinstance(value, Collection) and not value.flow:
        inner = column + gap(entry)
        return _block(value, inner)[inner:-1]
    return shift_rest(token(value, style, flow=False), column - column_of(entry))


def way_below(parent: Entry | None, child: Collection) -> int:
    """Return how many columns the block below a key or dash is indented."""
    return 2 if parent is None or not child.entries else max(child.column - column_of(parent), 0)


def gap(entry: Entry) -> int:
    """Return how many columns behind its dash a block begins, or 2 for an entry with a key."""
    value = entry.value
    if entry.key is not None or not isinstance(value, Collection) or not in_mid_line(value):
        return 2
    return value.column - column_of(entry)


def _block(made: Collection, column: int) -> str:
    """Return the lines of a block collection with its entries at a column."""
    first = " " * made.column if in_mid_line(made) else ""
    return shift(first + made.text[made.top : made.bottom], column - made.column)


def as_flow(node: Node) -> str:
    """Return a node as text that is valid in a flow collection."""
    if isinstance(node, Scalar):
        return _scalar_as_flow(node)
    if not isinstance(node, Collection) or node.flow:
        return node.raw
    inner = ", ".join(map(entry_as_flow, node.entries))
    return f"{{{inner}}}" if isinstance(node, Mapping) else f"[{inner}]"


def entry_as_flow(entry: Entry) -> str:
    """Return an entry as text that is valid in a flow collection."""
    value = as_flow(entry.value)
    return value if entry.key is None else f"{as_flow(entry.key)}: {value or 'null'}"


def _scalar_as_flow(node: Scalar) -> str:
    if node.style in ("'", '"'):
        return node.raw
    odd = any(char in node.value for char in ",[]{}\n#") or node.value[:1] in ("?", ":", "-")
    is_number = not node.value.strip("0123456789.eE+-")
    if node.style == "" and (is_number or not odd):
        return node.raw
    spelled = respell(node.value, '"')
    properties = node.text[node.start : node.content]
    return properties + (spelled if spelled is not None else node.raw)


def token(node: Node, style: str | None, *, flow: bool) -> str:
    """Return a value as text, in the wanted quotes if these can hold the value."""
    if style and isinstance(node, Scalar) and node.style != style:
        is_word = not node.style and not node.tag and respell(node.value, "") is not None
        spelled = respell(node.value, style) if is_word or node.style in ("'", '"') else None
        if spelled is not None:
            return node.text[node.start : node.content] + spelled
    return as_flow(node) if flow else node.raw
