"""Text of another file at our columns."""

from __future__ import annotations

from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
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


class Layout:
    """How our text indents, near a place: looked up only where text of another file comes in.

    A way is the number of columns from a key or dash to the block below it.
    """

    __slots__ = ("_near", "_steps", "_text")

    def __init__(self, text: str, near: int) -> None:
        self._text = text
        self._near = near
        self._steps: tuple[int | None, int | None] | None = None

    @property
    def steps(self) -> tuple[int | None, int | None]:
        """The ways from a key to a mapping and to dashes; None where our text does not tell."""
        if self._steps is None:
            self._steps = _steps(self._text, self._near)
        return self._steps

    def translation(self, text: str, near: int) -> dict[tuple[bool, int], int]:
        """For (is it a list, way from the key) of another text the way that ours would take."""
        found: dict[tuple[bool, int], int] = {}
        for is_list, way, ours in zip((False, True), _steps(text, near), self.steps, strict=True):
            if way is not None and ours is not None and way != ours:
                found[is_list, way] = ours
        return found

    def way_to(self, child: Collection, parent: Entry | None) -> int:
        """The way from a key or dash of another text to the block below it, as ours has it."""
        if parent is None or not child.entries:
            return 2
        way = max(child.column - column_of(parent), 0)
        if parent.key is None:
            return way
        ways = self.translation(child.text, parent.start)
        return ways.get((isinstance(child, Sequence), way), way)


def _steps(text: str, near: int) -> tuple[int | None, int | None]:
    """The first ways from a key to a mapping and to a list, from `near` on or else above it."""
    step = dash = None
    start = text.rfind("\n", 0, near) + 1
    for begin, end in ((start, len(text)), (0, start)):
        at = text.find(":\n", begin, end)
        while at >= 0 and (step is None or dash is None):
            line = text[text.rfind("\n", 0, at) + 1 : at]
            bare = line.lstrip(" -")
            below = text[at + 2 : text.find("\n", at + 2)]
            child = below.lstrip(" ")
            way = len(below) - len(child) - (len(line) - len(bare))
            if child[:2] in ("-", "- "):
                dash = way if dash is None and way >= 0 else dash
            elif child and child[0] != "#" and way > 0 and step is None:
                step = way
            at = text.find(":\n", at + 1, end)
    return step, dash


def entry_lines(entry: Entry, column: int, layout: Layout | None, *, lead: bool = True) -> str:
    """An entry of any text as whole lines at a column of ours, with the comments above it."""
    if in_flow(entry):
        return " " * column + _flow_entry_as_block(entry, column).rstrip(" ") + "\n"
    text = entry.value.text
    lines = _placed(entry, column, _ways(layout, entry))
    above = text[entry.lead : entry.line] if lead else ""
    return shift(above, column - column_of(entry)) + lines


def value_lines(entry: Entry, column: int, layout: Layout | None, old: Node) -> str:
    """The lines of a block collection below its key, which is put at a column of ours.

    Where `old`, the value of ours that it replaces, is such a block, it stands at that column.
    """
    value = entry.value
    assert isinstance(value, Collection)  # the caller's case
    ways = _ways(layout, entry)
    inner = column + _way(entry, value, ways)
    if isinstance(old, Collection) and type(old) is type(value) and on_own_lines(old):
        inner = old.column
    return _placed_block(value, inner, ways)


def value_rest(entry: Entry, column: int, layout: Layout | None, style: str | None) -> str:
    """A value that starts on the line of its key or dash, which is put at a column of ours."""
    value = entry.value
    by = column - column_of(entry)
    if isinstance(value, Collection) and not value.flow:
        inner = column + gap(entry)
        return _placed_block(value, inner, _ways(layout, entry))[inner:-1]
    return shift_rest(token(value, style, flow=False), by)


def gap(entry: Entry) -> int:
    """The columns from a dash to the block that starts behind it; 2 where a key is above it."""
    value = entry.value
    if entry.key is not None or not isinstance(value, Collection) or not in_mid_line(value):
        return 2
    return value.column - column_of(entry)


def _ways(layout: Layout | None, entry: Entry) -> dict[tuple[bool, int], int]:
    return layout.translation(entry.value.text, entry.start) if layout is not None else {}


def _placed(entry: Entry, column: int, ways: dict[tuple[bool, int], int]) -> str:
    """An entry of a block collection at a column, without what stands above it."""
    value, text, indent = entry.value, entry.value.text, column_of(entry)
    first = (" " * indent if entry.line == entry.start else "") + text[entry.line : entry.start]
    if not ways or not isinstance(value, Collection) or value.flow or _odd_key(entry):
        return shift(first + text[entry.start : entry.end], column - indent)
    if in_mid_line(value):
        inner = column + value.column - indent
        block = _placed_block(value, inner, ways)
        mark = text[entry.start : value.content]
        return " " * column + mark + block[inner:]
    line = shift(first + text[entry.start : value.top], column - indent)
    return line + _placed_block(value, column + _way(entry, value, ways), ways)


def _placed_block(made: Collection, column: int, ways: dict[tuple[bool, int], int]) -> str:
    """The lines of a block collection with its entries at a column."""
    text, by = made.text, column - made.column
    first = " " * made.column if in_mid_line(made) else ""
    if not ways:
        return shift(first + text[made.top : made.bottom], by)
    parts = [shift(text[made.top : made.entries[0].lead], by)]
    for index, entry in enumerate(made.entries):
        if index or not in_mid_line(made):
            parts.append(shift(text[entry.lead : entry.line], by))
        parts.append(_placed(entry, column, ways))
    return "".join(parts) + shift(text[made.entries[-1].end : made.bottom], by)


def _way(entry: Entry, value: Collection, ways: dict[tuple[bool, int], int]) -> int:
    way = value.column - column_of(entry)
    return ways.get((isinstance(value, Sequence), way), way) if entry.key is not None else way


def _odd_key(entry: Entry) -> bool:
    return entry.key is not None and entry.key.start != entry.start


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
