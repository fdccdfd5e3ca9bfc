"""The identity law: what must hold for the spans of any text that could be read.

libyaml's event stream is the oracle: it is made by another code path than the node graph that
`tree.compose` looks at, and it has an event for each alias.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import yaml

from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence

Parser = getattr(yaml, "CLoader", None) or yaml.Loader


def assert_identity(data: bytes) -> int:
    """Check every law for a text; the number of leaves it has."""
    source = Source(data)
    assert source.encode(source.text) == data
    stream = split(source)
    parts = [stream.prologue, *(d.opening + d.content for d in stream.documents), stream.tail]
    assert "".join(parts) == source.text
    leaves = 0
    for document in stream.documents:
        if document.root is None:
            assert not _events(document)
            continue
        leaves += _assert_leaves(document, document.root)
        for node in nodes(document.root):
            _assert_node(node)
        _assert_top(document, document.root)
    return leaves


def nodes(node: Node) -> Iterator[Node]:
    """A node and all that is in it, keys before values, in the order of the text."""
    yield node
    if isinstance(node, Collection):
        for entry in node.entries:
            if entry.key is not None:
                yield from nodes(entry.key)
            yield from nodes(entry.value)


def _events(document: Document) -> list[tuple[yaml.Event, int]]:
    """The scalars, aliases and starts of collections of a document with their text's offset."""
    base = document.parsed_from
    parser = Parser(document.source.text[base : document.end])
    found = []
    while parser.check_event():
        event = parser.get_event()
        if isinstance(event, yaml.NodeEvent):
            found.append((event, base))
    if len(found) == 1 and isinstance(found[0][0], yaml.ScalarEvent):
        scalar = found[0][0]
        # an empty document is a scalar of no length for the parser, and no node at all for us
        if scalar.start_mark.index == scalar.end_mark.index and document.root is None:
            return []
    return found


def _assert_leaves(document: Document, root: Node) -> int:
    found = list(nodes(root))
    events = _events(document)
    assert len(found) == len(events)
    for node, (event, base) in zip(found, events, strict=True):
        if _is_absent(node, event, base):
            continue
        assert node.start == event.start_mark.index + base
        if isinstance(event, yaml.AliasEvent):
            assert isinstance(node, Alias)
            assert (node.name, node.end) == (event.anchor, event.end_mark.index + base)
            continue
        assert node.anchor == (event.anchor or "")
        assert bool(node.tag) == bool(event.tag)
        if isinstance(event, yaml.ScalarEvent):
            _assert_scalar(node, event, base)
        else:
            kind = Mapping if isinstance(event, yaml.MappingStartEvent) else Sequence
            assert isinstance(node, kind)
            assert node.flow == bool(event.flow_style)
    return sum(not isinstance(node, Collection) for node in found)


def _is_absent(node: Node, event: yaml.Event, base: int) -> bool:
    """Whether a key has neither `:` nor value; libyaml marks such a value at the next token."""
    start = event.start_mark.index + base
    between = node.text[node.end : start]
    return (
        isinstance(node, Scalar)
        and node.start == node.end < start == event.end_mark.index + base
        and all(not line or line[0] == "#" for line in map(str.strip, between.split("\n")))
    )


def _assert_scalar(node: Node, event: yaml.ScalarEvent, base: int) -> None:
    assert isinstance(node, Scalar)
    assert node.value == event.value
    assert node.style == (event.style or "")
    assert node.start <= node.content <= node.end
    end = event.end_mark.index + base
    if node.style in ("|", ">"):
        assert node.end <= end
        # blank lines, and the indentation of what follows
        assert not node.text[node.end : end].strip(" \t\r\n\x85\u2028\u2029")
        assert node.text[node.content] == node.style
    else:
        assert node.end == end
        if node.style:
            assert node.text[node.content] == node.text[node.end - 1] == node.style


def _assert_node(node: Node) -> None:
    if not isinstance(node, Collection):
        return
    assert node.start <= node.content <= node.end
    before = node.content
    for entry in node.entries:
        first = entry.key if entry.key is not None else entry.value
        assert before <= entry.start <= first.start <= first.end <= entry.value.start or (
            entry.key is None and before <= entry.start <= first.start
        )
        assert entry.value.end <= node.end
        before = entry.value.end
    if node.flow:
        ends = node.text[node.content] + node.text[node.end - 1]
        single_pair = isinstance(node, Mapping) and len(node.entries) == 1  # `[a: b]`
        assert ends in ("{}", "[]") or single_pair
        assert all(entry.lead == entry.line == entry.start for entry in node.entries)
    elif node.entries:
        assert before == node.end
        _assert_lines(node, node.entries)


def _assert_lines(node: Collection, entries: tuple[Entry, ...]) -> None:
    """Head, entries and foot tile the lines of a block collection."""
    text = node.text
    assert node.top <= entries[0].lead
    for one, two in pairwise(entries):
        assert one.end == two.lead
    assert entries[-1].end <= node.bottom
    for entry in entries:
        assert entry.lead <= entry.attached <= entry.line <= entry.start <= entry.end
        assert entry.value.end <= entry.end
        assert entry.start - (text.rfind("\n", 0, entry.start) + 1) == node.column
        for position in (entry.attached, entry.line, entry.end)[entry is entries[0] :]:
            at_margin = position in (0, node.bottom) or text[position - 1] == "\n"
            assert at_margin or (position == node.top == node.content)


def _assert_top(document: Document, root: Node) -> None:
    assert document.body <= root.start
    assert root.end <= document.end
    if isinstance(root, Collection) and not root.flow:
        assert root.bottom <= document.end
