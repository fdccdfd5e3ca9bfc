"""Build the nodes of `tree.nodes` for a document from libyaml's node graph.

libyaml's marks have traps, and each trap is handled in one place here:
- Marks count characters of the parsed text, so every offset is shifted by the start of that text.
- An alias composes to the node of its anchor, with the marks of the anchor. An alias is recognized
  because its mark is before the current position; every walk therefore keeps a position.
- The end mark of a block collection is after the comments and blank lines below the collection, so
  the end of the last leaf is used.
- The end mark of a block scalar is after trailing blank lines: see `block_scalar_end`.
- U+0085, U+2028 and U+2029 are line breaks to libyaml, so only offsets are used, never lines.

Nodes are built when they are first used. `tree.nodes` explains which lines belong to an entry.
"""

from __future__ import annotations

from kmerge_git.errors import CannotParse
from kmerge_git.text.source import Source
from kmerge_git.tree import parser
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.parser import (
    has_odd_breaks,
    name_end,
    odd_break_outside,
    properties,
    refuse,
    skip,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # offsets of a document: its start, the start of the parsed text, its content, its end
    Span = tuple[int, int, int, int]

# The values of the scalars that were read last, so that equal ones are one string in memory: the
# documents of a file, and the versions of a document, have most of their words in common.
_WORDS: dict[str, str] = {}
_MOST_WORDS = 5_000


def compose(source: Source, span: Span) -> Node | None:
    """Return the top node of a document, or None if the document holds no value."""
    start, base, body, end = span
    try:
        graph = parser.compose(source.text[base:end])
    except parser.TooDeep:
        hint = "reduce the nesting, or use git's line merge"
        why = f"maps and lists are nested deeper than {parser.DEEPEST} levels"
        raise source.error(why, base, hint) from None
    except parser.yaml_error() as error:
        raise _explain(source, span, error) from None
    except (ValueError, RecursionError) as error:
        raise source.error(f"not YAML: {error}", base) from None
    if has_odd_breaks(source.text[start:end]):
        _refuse_odd_breaks(source, span)
    if graph is None:
        return None
    view = View(source, span, graph)
    return view.leaf(graph, body) or view.collection(graph, body, end, -1)


def _refuse_odd_breaks(source: Source, span: Span) -> None:
    """Refuse odd line breaks outside of quoted and block scalars.

    Inside of these scalars odd line breaks are text.
    """
    text, (start, base, _, end) = source.text, span
    harmless = []
    for begin, stop, style, value in parser.long_scalars(text[base:end]):
        first, last = begin + base, stop + base
        if style in "|>":
            last = block_scalar_end(text, first, last, value)
            first = min(text.find("\n", first) + 1, last)
        harmless.append((first, last))
    at = odd_break_outside(text, start, end, harmless)
    if text.startswith("\ufeff", base):  # libyaml drops the byte order mark and does not count it
        at = base
    if at >= 0:
        raise refuse(source, at)


def _explain(source: Source, span: Span, error: Any) -> CannotParse:
    """Return libyaml's error with its position in the whole file and a hint."""
    start, base, _, end = span
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        why = " ".join(str(error.problem or error.context).split())
        offset = min(base + mark.index, max(len(source.text) - 1, 0))
    else:
        why = str(getattr(error, "reason", "") or "a character that YAML does not allow")
        offset = base + _first_odd_character(source.text[base:end])
    markers = f"\n{source.text[start:end]}".find("\n<<<<<<< ") >= 0
    hint = "resolve the conflict first" if markers else _hint(why, source.line_at(offset))
    return source.error(f"not YAML: {why}", offset, hint)


def _hint(why: str, line: str) -> str:
    if "{{" in line:
        return "render the template first"
    if "\t" in line and ("start any token" in why or "tab" in why):
        return "indent with spaces, not with tabs"
    if "undefined alias" in why:
        return "define the anchor before the alias"
    if "control characters" in why or "YAML does not allow" in why:
        return "remove the control character"
    return "fix the YAML"


def _first_odd_character(text: str) -> int:
    for index, char in enumerate(text):
        if (char < " " and char not in "\t\n\r") or char in "\x7f\ufffe\uffff":
            return index
        if "\x7f" < char < "\xa0" and char != "\x85":
            return index
    return 0


class View:
    """Build nodes from the graph of a document; `base` is the offset of its text in the file."""

    # A view has no reference to the document: a reference cycle would delay freeing the memory.
    __slots__ = ("base", "end", "shared", "source", "text")

    def __init__(self, source: Source, span: tuple[int, int, int, int], graph: Any) -> None:
        start, self.base, _, end = span
        self.text = text = source.text
        self.source = source
        self.end = end
        if len(_WORDS) > _MOST_WORDS:
            _WORDS.clear()
        self.shared = _shared(graph) if parser.may_alias(text, start, end) else frozenset()

    def leaf(self, graph: Any, position: int) -> Node | None:
        """Return the scalar or alias at or after `position`, or None for a collection."""
        start = graph.start_mark.index + self.base
        if start < position:
            return self.alias(position)
        value = graph.value
        if type(value) is not str:
            return None
        end = graph.end_mark.index + self.base
        text = self.text
        if start == end or text[start] not in "&!|>":
            value = _WORDS.setdefault(value, value)
            return Scalar(text, start, end, start, "", "", value, graph.style or "")
        anchor, tag, content = properties(self.text, start, end)
        style = graph.style or ""
        if style and style in "|>":
            end = block_scalar_end(text, content, end, value)
        return Scalar(text, start, end, content, anchor, tag, value, style)

    def alias(self, position: int) -> Alias:
        """Return the alias at or after `position`."""
        text = self.text
        start = skip(text, position, "-?:,[{")
        if not text.startswith("*", start):
            raise self.source.error("kmerge cannot parse this YAML", position, "fix the YAML")
        end = name_end(text, start + 1)
        return Alias(text, start, end, text[start + 1 : end])

    def collection(self, graph: Any, top: int, bottom: int, end: int) -> Collection:
        """Return a collection whose lines are between the offsets `top` and `bottom`.

        If `end` is -1, find the end of the collection.
        """
        start = graph.start_mark.index + self.base
        flow = bool(graph.flow_style)
        if flow:
            end = graph.end_mark.index + self.base
        elif end < 0:
            end = self.end_of(graph, start)
        anchor, tag, content = self.properties_of(graph, start, end, flow)
        if not flow:
            top = first_line(self.text, top, content)
        kind = Mapping if graph.id == "mapping" else Sequence
        return kind(self.text, start, end, content, anchor, tag, flow, top, bottom, self, graph)

    def pairs(self, graph: Any, collection: Collection) -> tuple[Entry, ...]:
        """Return the entries of a mapping: find the spans of all entries, and then their lines."""
        text, flow, last = self.text, collection.flow, graph.value[-1:]
        keys: list[Node] = []
        values: list[Node | None] = []  # None for a collection, whose lines must be known first
        spans: list[tuple[int, int]] = []
        position = collection.content + self.is_bracketed(graph, collection)
        for pair in graph.value:
            key = self.leaf(pair[0], position)
            if key is None:
                key = self.collection(pair[0], position, collection.bottom, -1)
            start = key.start
            if text.find("?", position, start) >= 0:
                question = skip(text, position, "," if flow else "")
                start = question if text.startswith("?", question) else start
            value = self.value(pair[1], key.end)
            if value is not None:
                position = value.end
            elif pair is last[0] and not flow:
                position = collection.end
            else:
                position = self.end_of(pair[1], key.end)
            keys.append(key)
            values.append(value)
            spans.append((start, position))
        entries = self.owned(collection, spans)
        for index, entry in enumerate(entries):
            entry.key = keys[index]
            value = values[index]
            if value is None:
                top, end = keys[index].end, spans[index][1]
                if keys[index].start != entry.start:  # `? key`: the lines begin after the `:`
                    colon = skip(text, top, "")
                    top = colon + 1 if text.startswith(":", colon) else top
                value = self.collection(graph.value[index][1], top, entry.end, end)
            entry.value = value
        return entries

    def leaf_below(self, graph: Any, name: str) -> tuple[bool, Node | None]:
        """Return whether the value of a key of a mapping is known, and the value.

        A scalar is known, and that there is no such key. For all else the entries must be built.
        """
        if self.shared:
            return False, None  # the key or the value may be an alias
        for key, value in reversed(graph.value):
            if key.value == name:
                is_block = key.style and key.style in "|>"
                leaf = None if is_block else self.value(value, key.end_mark.index + self.base)
                return leaf is not None, leaf
        return {type(key.value) for key, _ in graph.value} <= {str}, None

    def value(self, graph: Any, key_end: int) -> Node | None:
        """Return the scalar or alias after a key, or None if the value is a collection."""
        if not graph.value and self.is_absent(graph, key_end):
            return Scalar(self.text, key_end, key_end, key_end)
        return self.leaf(graph, key_end)

    def is_absent(self, graph: Any, key_end: int) -> bool:
        """Return whether a key has neither a value nor a `:`.

        After such a key, libyaml's mark of the value points at the next token.
        """
        if graph.value or not isinstance(graph.value, str):
            return False
        start = graph.start_mark.index + self.base
        if start <= key_end or graph.end_mark.index + self.base != start:
            return False
        if self.text[start - 1] == ":":
            return False
        colon = skip(self.text, key_end, "")
        return start == colon or self.text[colon : colon + 1] != ":"  # `:a` may be the next key

    def items(self, graph: Any, collection: Collection) -> tuple[Entry, ...]:
        """Return the items of a sequence: find the spans of all items, and then their lines."""
        flow = collection.flow
        values: list[Node | None] = []
        spans: list[tuple[int, int]] = []
        position = collection.content + flow
        for index, item in enumerate(graph.value):
            start = skip(self.text, position, ",") if flow else self.dash(item, position)
            after = start if flow else start + 1
            value = self.leaf(item, after)
            if value is not None:
                position = value.end
            elif index + 1 == len(graph.value) and not flow:
                position = collection.end
            else:
                position = self.end_of(item, after)
            values.append(value)
            spans.append((start, position))
        entries = self.owned(collection, spans)
        for index, entry in enumerate(entries):
            value = values[index]
            if value is None:
                start, end = spans[index]
                after = start if flow else start + 1
                value = self.collection(graph.value[index], after, entry.end, end)
            entry.value = value
        return entries

    def dash(self, item: Any, position: int) -> int:
        """Return the offset of an item's dash; skip the blanks and comments before the dash."""
        start: int = item.start_mark.index + self.base
        if start - 2 >= position and self.text.startswith("- ", start - 2):
            return start - 2
        return skip(self.text, position, "")

    def owned(self, collection: Collection, spans: list[tuple[int, int]]) -> tuple[Entry, ...]:
        """Return entries that have these spans and own lines, but have no keys and values yet."""
        if collection.flow:
            return tuple([Entry(start, end) for start, end in spans])
        lines = block_entries(self.source, collection, spans)
        return tuple(
            [
                Entry(start, end, lead, attached, line)
                for (start, _), (lead, attached, line, end) in zip(spans, lines, strict=True)
            ]
        )

    def end_of(self, graph: Any, position: int) -> int:
        """Return where the last leaf of a node ends; the node starts at or after `position`."""
        while True:
            start = graph.start_mark.index + self.base
            if start < position:
                return self.alias(position).end
            end: int = graph.end_mark.index + self.base
            if isinstance(graph.value, str):
                if graph.style and graph.style in "|>":
                    content = properties(self.text, start, end)[2]
                    return block_scalar_end(self.text, content, end, graph.value)
                return end
            if graph.flow_style or not graph.value:
                return end
            last = graph.value[-1]
            if isinstance(last, tuple):
                position = self.last_key_end(graph, start)
                graph = last[1]
                if self.is_absent(graph, position):
                    return position
            else:
                position = self.last_dash(graph, start) + 1
                graph = last

    def last_key_end(self, graph: Any, start: int) -> int:
        """Return the end of the last key of a block mapping."""
        key = graph.value[-1][0]
        if id(key) not in self.shared and isinstance(key.value, str):
            return self.end_of(key, 0)
        # the key may be an alias: only a walk over all the entries finds the alias
        position = self.properties_of(graph, start, self.end, False)[2]
        for before, value in graph.value[:-1]:
            position = self.end_of(before, position)
            if not self.is_absent(value, position):
                position = self.end_of(value, position)
        return self.end_of(key, position)

    def last_dash(self, graph: Any, start: int) -> int:
        """Return the offset of the last dash of a block sequence."""
        item = graph.value[-1]
        if id(item) not in self.shared:
            last: int = item.start_mark.index + self.base
            if last - 2 >= start and self.text.startswith("- ", last - 2):
                return last - 2
        position = self.properties_of(graph, start, self.end, False)[2]
        for before in graph.value[:-1]:
            position = self.end_of(before, self.dash(before, position) + 1)
        return self.dash(item, position)

    def properties_of(self, graph: Any, start: int, end: int, flow: bool) -> tuple[str, str, int]:
        """Return the anchor and the tag of a collection.

        In `&a key: v` the anchor belongs to the first key and not to the collection.
        """
        if self.text[start] not in "&!":
            return "", "", start
        # in `&a {*a : b}` the first key is an alias of the mapping itself
        if graph.value and isinstance(graph.value[0], tuple) and graph.value[0][0] is not graph:
            key = graph.value[0][0].start_mark.index + self.base
            if key == start:
                return "", "", start
            if not flow and key > start:
                end = key
        return properties(self.text, start, end)

    def is_bracketed(self, graph: Any, collection: Collection) -> bool:
        """Return whether a flow mapping has braces. The mapping in `[a: b]` has no braces."""
        if not collection.flow or self.text[collection.content] != "{":
            return False
        first = graph.value[0][0] if graph.value else None
        return first is None or first.start_mark.index + self.base != collection.start


def _shared(graph: Any) -> frozenset[int]:
    """Return the ids of the graph nodes that appear in more than one place."""
    seen: set[int] = set()
    shared: set[int] = set()
    todo = [graph]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            shared.add(id(current))
            continue
        seen.add(id(current))
        content = current.value
        if not isinstance(content, str):
            for child in content:
                if isinstance(child, tuple):
                    todo.extend(child)
                else:
                    todo.append(child)
    return frozenset(shared)


def block_entries(
    source: Source, collection: Collection, spans: list[tuple[int, int]]
) -> list[tuple[int, int, int, int]]:
    """Return (lead, attached, line, end) for each entry of a block collection.

    `spans` has the start of each entry and the end of its value.
    """
    text, column = source.text, collection.column
    pad = " " * column
    result: list[tuple[int, int, int, int]] = []
    floor, last = collection.top, len(spans) - 1
    # the first entry follows `- ` or `? ` on its line
    in_line = collection.top == collection.content
    for index, (start, value_end) in enumerate(spans):
        line = start - column
        if index == 0 and in_line:
            line = start
        elif (line and text[line - 1] != "\n") or not text.startswith(pad, line):
            raise source.error(
                "an entry does not start on a line of its own", start, "start a new line for it"
            )
        limit = spans[index + 1][0] - column if index < last else collection.bottom
        end = text.find("\n", value_end) + 1
        end = _with_deeper_comments(text, end, limit, column) if 0 < end < limit else limit
        if line == floor:
            line = attached = floor  # the same object: a document has very many entries
        else:
            attached = _attached(text, floor, line)
        result.append((attached if index == 0 else floor, attached, line, end))
        floor = end
    return result


def first_line(text: str, top: int, content: int) -> int:
    """Return the offset at which the lines of a block collection begin.

    If the collection begins in the middle of a line, return `content`.
    """
    line = text.rfind("\n", 0, content) + 1
    if text[line:content].strip(" "):
        return content
    if top and text[top - 1] != "\n":
        top = text.find("\n", top) + 1
    return top if top <= line else line


def block_scalar_end(text: str, content: int, end: int, value: str) -> int:
    """Return the end of the last line of a block scalar's value, without its line break.

    `end` is the end mark of libyaml, which is after the blank lines that follow the value.
    """
    header_end = text.find("\n", content)
    if header_end < 0 or header_end >= end:
        return end
    header = text[content:header_end]
    keep = "+" in header.split("#")[0]
    if keep and text[end - 1] == "\n":
        result = end - 1
    elif keep:  # the following line is indented
        result = text.rfind("\n", 0, end)
    elif not value.strip("\n"):
        return content + len(header.rstrip())
    else:
        result = _last_line_end(text, header_end, end, value)
    return result - 1 if text[result - 1] == "\r" else result


def _last_line_end(text: str, header_end: int, end: int, value: str) -> int:
    """Return the end of the last line that holds characters of the value."""
    lines = text[header_end + 1 : end].split("\n")
    first = min(len(value) - len(value.lstrip("\n")), len(lines) - 1)
    indent = _margin(lines[first]) - _margin(value[first:].split("\n", 1)[0])
    result = position = header_end
    for line in lines:
        position += 1 + len(line)
        # blanks beyond the indentation are content
        if line.strip(" \t\r") or len(line.rstrip("\r")) > indent:
            result = position
    return min(result, end)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _with_deeper_comments(text: str, end: int, limit: int, column: int) -> int:
    """Return the offset after the comment lines at `end` that are indented deeper than `column`."""
    while (at := text.find("#", end, limit)) >= 0:
        line = text.rfind("\n", end, at) + 1 or end
        if at - line <= column or text[line:at].strip(" \t") or text[end:line].strip():
            break
        end = text.find("\n", at, limit) + 1 or limit
    return end


def _attached(text: str, floor: int, line: int) -> int:
    """Return the start of the comment lines directly above `line`; do not go above `floor`."""
    while line > floor:
        previous = text.rfind("\n", floor, line - 1) + 1 or floor
        if not text[previous:line].lstrip(" \t").startswith("#"):
            break
        line = previous
    return line
