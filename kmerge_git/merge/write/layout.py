"""Text of another file at our columns."""

from __future__ import annotations

from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar
from kmerge_git.tree.scalars import respell
from kmerge_git.tree.spans import column_of, in_flow, in_mid_line, on_own_lines


def shift(text: str, by: int) -> str:
    """Move all lines; a line that has not enough blanks to lose goes to the margin."""
    if not by:
        return text
    lines = text.split("\n")
    if by > 0:
        pad = " " * by
        return "\n".join(pad + line if line.strip() else line for line in lines)
    return "\n".join(line[min(-by, len(line) - len(line.lstrip(" "))) :] for line in lines)


def shift_rest(text: str, by: int) -> str:
    """As `shift`, for a text that starts in the middle of its first line."""
    first, newline, rest = text.partition("\n")
    return first + newline + shift(rest, by)


def entry_lines(entry: Entry, column: int, *, lead: bool = True) -> str:
    """An entry of any text as whole lines at a column of ours, with the comments above it."""
    if in_flow(entry):
        return " " * column + _flow_entry_as_block(entry, column).rstrip(" ") + "\n"
    text, indent = entry.value.text, column_of(entry)
    first = " " * indent if entry.line == entry.start else ""
    above = text[entry.lead : entry.line] if lead else ""
    return shift(above + first + text[entry.line : entry.end], column - indent)


def value_lines(entry: Entry, column: int, old: Node) -> str:
    """The lines of a block collection below its key, which is put at a column of ours.

    Where `old`, the value of ours that it replaces, is such a block, it stands at that column.
    """
    value = entry.value
    assert isinstance(value, Collection)  # the caller's case
    inner = column + way_below(entry, value)
    if isinstance(old, Collection) and type(old) is type(value) and on_own_lines(old):
        inner = old.column
    return _block(value, inner)


def value_rest(entry: Entry, column: int, style: str | None) -> str:
    """A value that starts on the line of its key or dash, which is put at a column of ours."""
    value = entry.value
    if isinstance(value, Collection) and not value.flow:
        inner = column + gap(entry)
        return _block(value, inner)[inner:-1]
    return shift_rest(token(value, style, flow=False), column - column_of(entry))


def way_below(parent: Entry | None, child: Collection) -> int:
    """The columns from a key or dash to the block below it."""
    if parent is None or not child.entries:
        return 2
    return max(child.column - column_of(parent), 0)


def gap(entry: Entry) -> int:
    """The columns from a dash to the block that starts behind it; 2 where a key is above it."""
    value = entry.value
    if entry.key is not None or not isinstance(value, Collection) or not in_mid_line(value):
        return 2
    return value.column - column_of(entry)


def _block(made: Collection, column: int) -> str:
    """The lines of a block collection with its entries at a column."""
    first = " " * made.column if in_mid_line(made) else ""
    return shift(first + made.text[made.top : made.bottom], column - made.column)


def _flow_entry_as_block(entry: Entry, column: int) -> str:
    value = shift_rest(entry.value.raw, column - column_of(entry))
    if entry.key is None:
        return "- " + value
    return f"{entry.key.raw}: {value}"


def as_flow(node: Node) -> str:
    """A node as text that can stand in a flow collection."""
    if isinstance(node, Scalar):
        return _scalar_as_flow(node)
    if not isinstance(node, Collection) or node.flow:
        return node.raw
    if isinstance(node, Mapping):
        return "{" + ", ".join(map(entry_as_flow, node.entries)) + "}"
    return "[" + ", ".join(map(entry_as_flow, node.entries)) + "]"


def entry_as_flow(entry: Entry) -> str:
    """An entry as text that can stand in a flow collection."""
    value = as_flow(entry.value)
    if entry.key is None:
        return value
    return f"{as_flow(entry.key)}: {value or 'null'}"


def _scalar_as_flow(node: Scalar) -> str:
    if node.style in ("'", '"'):
        return node.raw
    odd = any(char in node.value for char in ",[]{}\n#") or node.value[:1] in ("?", ":", "-")
    if node.style == "" and not (odd and not _is_number(node.value)):
        return node.raw
    spelled = respell(node.value, '"')
    properties = node.text[node.start : node.content]
    return properties + (spelled if spelled is not None else node.raw)


def _is_number(text: str) -> bool:
    return not text.strip("0123456789.eE+-")


def token(node: Node, style: str | None, *, flow: bool) -> str:
    """A value's text as one token; in the wanted quotes, where they can hold it."""
    if style and isinstance(node, Scalar) and node.style == "" and not node.tag:
        spelled = respell(node.value, style) if respell(node.value, "") is not None else None
        if spelled is not None:
            return node.text[node.start : node.content] + spelled
    if style and isinstance(node, Scalar) and node.style in ("'", '"') and node.style != style:
        spelled = respell(node.value, style)
        if spelled is not None:
            return node.text[node.start : node.content] + spelled
    return as_flow(node) if flow else node.raw
