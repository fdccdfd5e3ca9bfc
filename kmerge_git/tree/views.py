"""libyaml's node graph seen through our nodes, built when they are looked at.

Two facts make this hard, and both are settled here. A graph node has the marks of its first
place, so an alias shows the marks of its anchor: it is known by a start before the place where
it stands, which is why everything is walked with the current `position`. And the end of a block
collection lies behind the comments that follow: the end of its last leaf is used instead.
"""

from __future__ import annotations

from kmerge_git.tree.extents import block_entries, block_scalar_end, first_line
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.tokens import name_end, properties, skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kmerge_git.text.source import Source


class View:
    """Builds our nodes over the graph of one document; `base` is where the parsed text starts."""

    # no document: it holds its nodes, and who holds each other must wait for the collector
    __slots__ = ("base", "end", "shared", "source", "text", "words")

    def __init__(self, source: Source, span: tuple[int, int, int, int], graph: Any) -> None:
        start, self.base, _, end = span
        self.text = text = source.text
        self.source = source
        self.end = end
        self.words: dict[str, str] = {}
        aliases = text.find("*", start, end) >= 0 and text.find("&", start, end) >= 0
        self.shared = _shared(graph) if aliases else frozenset()

    def node(self, graph: Any, position: int, top: int, bottom: int) -> Node:
        """The node that stands at or behind `position`, owning lines within `top`..`bottom`."""
        return self.leaf(graph, position) or self.collection(graph, top, bottom, -1)

    def leaf(self, graph: Any, position: int) -> Node | None:
        """The scalar or alias at or behind `position`; None where a collection stands there."""
        start = graph.start_mark.index + self.base
        if start < position:
            return self.alias(position)
        value = graph.value
        if type(value) is not str:
            return None
        end = graph.end_mark.index + self.base
        text = self.text
        if start == end or text[start] not in "&!|>":
            value = self.words.setdefault(value, value)
            return Scalar(text, start, end, start, "", "", value, graph.style or "")
        anchor, tag, content = properties(self.text, start, end)
        style = graph.style or ""
        if style and style in "|>":
            end = block_scalar_end(text, content, end, value)
        return Scalar(text, start, end, content, anchor, tag, value, style)

    def alias(self, position: int) -> Alias:
        text = self.text
        start = skip(text, position, "-?:,[{")
        if not text.startswith("*", start):
            why = "not YAML that can be followed"
            raise self.source.error(why, position, "mend the YAML")
        end = name_end(text, start + 1)
        return Alias(text, start, end, text[start + 1 : end])

    def collection(self, graph: Any, top: int, bottom: int, end: int) -> Collection:
        start = graph.start_mark.index + self.base
        flow = bool(graph.flow_style)
        if flow:
            end = graph.end_mark.index + self.base
        elif end < 0:
            end = self.end_of(graph, start)
        anchor, tag, content = self.properties_of(graph, start, end, flow)
        if not flow:
            top = first_line(self.text, top, content)
        kind, builder = (Mapping, Pairs) if graph.id == "mapping" else (Sequence, Items)
        return kind(
            self.text, start, end, content, anchor, tag, flow, top, bottom, builder(self, graph)
        )

    def pairs(self, graph: Any, made: Collection) -> tuple[Entry, ...]:
        """The entries of a mapping. Two passes: where they stand, then the lines they own."""
        text, flow, last = self.text, made.flow, graph.value[-1:]
        keys: list[Node] = []
        values: list[Node | None] = []  # None: a collection, which must know its lines first
        spans: list[tuple[int, int]] = []
        position = made.content + self.is_bracketed(graph, made)
        for pair in graph.value:
            key = self.leaf(pair[0], position)
            if key is None:
                key = self.collection(pair[0], position, made.bottom, -1)
            start = key.start
            if text.find("?", position, start) >= 0:
                start = self.question(position, start, flow)
            value = self.value(pair[1], key.end)
            if value is not None:
                position = value.end
            elif pair is last[0] and not flow:
                position = made.end
            else:
                position = self.end_of(pair[1], key.end)
            keys.append(key)
            values.append(value)
            spans.append((start, position))
        entries = self.owned(made, spans)
        for index, entry in enumerate(entries):
            entry.key = keys[index]
            value = values[index]
            if value is None:
                top, end = keys[index].end, spans[index][1]
                if keys[index].start != entry.start:  # `? key`: the lines begin behind the `:`
                    top = self.colon(top)
                value = self.collection(graph.value[index][1], top, entry.end, end)
            entry.value = value
        return entries

    def leaf_below(self, graph: Any, name: str) -> Node | None:
        """The scalar below a key of a mapping; None where it takes more than a look to tell."""
        if self.shared:
            return None  # the key or the value may be an alias
        found = None
        for pair in graph.value:
            if pair[0].value == name:
                found = pair
        if found is None or (found[0].style and found[0].style in "|>"):
            return None
        return self.value(found[1], found[0].end_mark.index + self.base)

    def value(self, graph: Any, key_end: int) -> Node | None:
        """The scalar or alias behind a key; None where a collection stands there."""
        if not graph.value and self.is_absent(graph, key_end):
            return Scalar(self.text, key_end, key_end, key_end)
        return self.leaf(graph, key_end)

    def is_absent(self, graph: Any, key_end: int) -> bool:
        """Whether a key has no value and no `:` either: libyaml marks it at the next token."""
        if graph.value or not isinstance(graph.value, str):
            return False
        start = graph.start_mark.index + self.base
        if start <= key_end or graph.end_mark.index + self.base != start:
            return False
        if self.text[start - 1] == ":":
            return False
        colon = skip(self.text, key_end, "")
        return start == colon or self.text[colon : colon + 1] != ":"  # `:a` may be the next key

    def items(self, graph: Any, made: Collection) -> tuple[Entry, ...]:
        """The items of a sequence, as `pairs`."""
        flow = made.flow
        values: list[Node | None] = []
        spans: list[tuple[int, int]] = []
        position = made.content + flow
        for index, item in enumerate(graph.value):
            start = self.comma(item, position) if flow else self.dash(item, position)
            after = start if flow else start + 1
            value = self.leaf(item, after)
            if value is not None:
                position = value.end
            elif index + 1 == len(graph.value) and not flow:
                position = made.end
            else:
                position = self.end_of(item, after)
            values.append(value)
            spans.append((start, position))
        entries = self.owned(made, spans)
        for index, entry in enumerate(entries):
            value = values[index]
            if value is None:
                start, end = spans[index]
                after = start if flow else start + 1
                value = self.collection(graph.value[index], after, entry.end, end)
            entry.value = value
        return entries

    def comma(self, item: Any, position: int) -> int:
        """The start of an item of a flow sequence."""
        if self.text.startswith(", ", position):
            start: int = item.start_mark.index + self.base
            if start == position + 2:
                return start
        return skip(self.text, position, ",")

    def dash(self, item: Any, position: int) -> int:
        """The dash of an item of a block sequence; nothing but blanks and comments is before it."""
        start: int = item.start_mark.index + self.base
        if start - 2 >= position and self.text.startswith("- ", start - 2):
            return start - 2
        return skip(self.text, position, "")

    def owned(self, made: Collection, spans: list[tuple[int, int]]) -> tuple[Entry, ...]:
        """Entries at these spans, with the lines they own; their nodes are still missing."""
        if made.flow:
            return tuple([Entry(start, end) for start, end in spans])
        lines = block_entries(self.source, made, spans)
        return tuple(
            [
                Entry(start, end, lead, attached, line)
                for (start, _), (lead, attached, line, end) in zip(spans, lines, strict=True)
            ]
        )

    def end_of(self, graph: Any, position: int) -> int:
        """The end of the last leaf of a node that stands at or behind `position`."""
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
        """The end of the last key of a block mapping."""
        key = graph.value[-1][0]
        if id(key) not in self.shared and isinstance(key.value, str):
            return self.end_of(key, 0)
        # the key may be an alias: only a walk over all the entries tells where it stands
        position = self.properties_of(graph, start, self.end, False)[2]
        for before, value in graph.value[:-1]:
            position = self.end_of(before, position)
            if not self.is_absent(value, position):
                position = self.end_of(value, position)
        return self.end_of(key, position)

    def last_dash(self, graph: Any, start: int) -> int:
        """The offset of the last dash of a block sequence."""
        item = graph.value[-1]
        if id(item) not in self.shared:
            last: int = item.start_mark.index + self.base
            if last - 2 >= start and self.text.startswith("- ", last - 2):
                return last - 2
        position = self.properties_of(graph, start, self.end, False)[2]
        for before in graph.value[:-1]:
            position = self.end_of(before, self.dash(before, position) + 1)
        return self.dash(item, position)

    def question(self, position: int, start: int, flow: bool) -> int:
        """The offset of the `?` that introduces a key, or of the key."""
        at = skip(self.text, position, "," if flow else "")
        return at if self.text.startswith("?", at) else start

    def colon(self, position: int) -> int:
        """The offset behind the colon of a `? ` key."""
        at = skip(self.text, position, "")
        return at + 1 if self.text.startswith(":", at) else position

    def properties_of(self, graph: Any, start: int, end: int, flow: bool) -> tuple[str, str, int]:
        """Properties of a collection; in `&a key: v` they belong to the first key instead."""
        if self.text[start] not in "&!":
            return "", "", start
        # in `&a {*a : b}` the first key is the mapping itself
        if graph.value and isinstance(graph.value[0], tuple) and graph.value[0][0] is not graph:
            key = graph.value[0][0].start_mark.index + self.base
            if key == start:
                return "", "", start
            if not flow and key > start:
                end = key
        return properties(self.text, start, end)

    def is_bracketed(self, graph: Any, made: Collection) -> bool:
        """Whether a flow mapping has its braces; in `[a: b]` it has none."""
        if not made.flow or self.text[made.content] != "{":
            return False
        first = graph.value[0][0] if graph.value else None
        return first is None or first.start_mark.index + self.base != made.start


class Pairs:
    """Builds the entries of a mapping."""

    __slots__ = ("graph", "view")

    def __init__(self, view: View, graph: Any) -> None:
        self.view = view
        self.graph = graph

    def entries(self, made: Collection) -> tuple[Entry, ...]:
        return self.view.pairs(self.graph, made)

    def leaf_below(self, name: str) -> Node | None:
        return self.view.leaf_below(self.graph, name)


class Items(Pairs):
    """Builds the entries of a sequence."""

    __slots__ = ()

    def entries(self, made: Collection) -> tuple[Entry, ...]:
        return self.view.items(self.graph, made)


def _shared(graph: Any) -> frozenset[int]:
    """The ids of the graph nodes that stand in more than one place."""
    seen: set[int] = set()
    shared: set[int] = set()
    todo = [graph]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            shared.add(id(current))
            continue
        seen.add(id(current))
        if not isinstance(current.value, str):
            for child in current.value:
                if isinstance(child, tuple):
                    todo.extend(child)
                else:
                    todo.append(child)
    return frozenset(shared)
