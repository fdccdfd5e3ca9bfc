"""Hold nodes with exact spans, entries that own their lines, and the text around them.

Nodes are views: a collection builds its entries when they are first asked for, so that the parts
of a document that nobody looks at cost nothing. Offsets count characters of `text`, the text of
the whole file. Nothing here is ever changed after it was built.

These rules say which lines of a block collection an entry owns (`tree.compose` follows them):
- an entry owns its lines from its key or dash to the end of its value's last line, the trailing
  comment included, and the comment lines right below it that are indented deeper than it, or show
  the possible contents of its empty `[]` or `{}`: a blank line follows them, or nothing;
- the lines between two entries (blank lines, comments) are the `lead` of the second one; the
  comment block that touches the second one is `attached` to it;
- before the first entry of a collection only the attached block is its lead, the rest is the
  head of the collection; the lines behind the last entry are its foot.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, Self

    class Builder(Protocol):
        """The part of `tree.compose.View` that a collection uses for its entries."""

        base: int

        def pairs(self, graph: Any, collection: Collection) -> tuple[Entry, ...]: ...
        def items(self, graph: Any, collection: Collection) -> tuple[Entry, ...]: ...
        def leaf_below(self, graph: Any, name: str) -> Node | None: ...


class Node:
    """A value in a text: `text[start:end]`, properties (`&anchor`, `!tag`) included."""

    __slots__ = ("anchor", "content", "end", "start", "tag", "text")

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        content: int,
        anchor: str = "",
        tag: str = "",
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.content = content  # where the value itself starts, behind anchor and tag
        self.anchor = anchor  # the name, without `&`
        self.tag = tag  # as written, with its `!`

    @property
    def raw(self) -> str:
        """Return the characters of the node, as they are in the file."""
        return self.text[self.start : self.end]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.raw[:40]!r})"


class Scalar(Node):
    """A scalar; `style` is '' (plain), `'`, `"`, `|` or `>`. A missing value is plain and empty."""

    __slots__ = ("style", "value")

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        content: int,
        anchor: str = "",
        tag: str = "",
        value: str = "",
        style: str = "",
    ) -> None:
        self.text = text  # not by super(): every leaf of every document is made here
        self.start = start
        self.end = end
        self.content = content
        self.anchor = anchor
        self.tag = tag
        self.value = value  # the characters of its value, not resolved to a type
        self.style = style


class Alias(Node):
    """`*name`: a node of its own, never expanded."""

    __slots__ = ("name",)

    def __init__(self, text: str, start: int, end: int, name: str) -> None:
        super().__init__(text, start, end, start)
        self.name = name


class Collection(Node):
    """The common part of mappings and sequences."""

    __slots__ = ("_entries", "_graph", "_view", "bottom", "column", "flow", "top")

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        content: int,
        anchor: str,
        tag: str,
        flow: bool,
        top: int,
        bottom: int,
        view: Builder | None,
        graph: Any,
    ) -> None:
        super().__init__(text, start, end, content, anchor, tag)
        self.flow = flow
        # The lines of a block collection: head, entries and foot tile text[top:bottom]. When the
        # collection starts in the middle of a line (`- name: x`), `top` is where it starts.
        self.top = top
        self.bottom = bottom
        # the column of the entries of a block collection
        self.column = content - (text.rfind("\n", 0, content) + 1)
        self._view = view  # until somebody asks for the entries
        self._graph = graph
        self._entries: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in the order of the text."""
        view = self._view
        if view is not None:
            build = view.pairs if isinstance(self, Mapping) else view.items
            self._entries = build(self._graph, self)
            self._view = self._graph = None
        return self._entries

    @property
    def unbuilt(self) -> tuple[Any, int] | None:
        """Return the parser's node and the start of its text; None once the entries are built."""
        return (self._graph, self._view.base) if self._view is not None else None

    def with_entries(self, entries: tuple[Entry, ...], top: int, bottom: int) -> Self:
        """Return the same collection with other entries, and other lines for them."""
        span = self.text, self.start, self.end, self.content, self.anchor, self.tag
        copy = type(self)(*span, self.flow, top, bottom, None, None)
        copy._entries = entries
        return copy


class Mapping(Collection):
    """A mapping, block or flow. Repeated keys are all there, in the order of the text."""

    __slots__ = ("_index",)

    def index(self) -> dict[str, Entry]:
        """Return the entries by the text of their key; of repeated keys the last one."""
        try:
            return self._index
        except AttributeError:
            self._index: dict[str, Entry] = {e.name: e for e in self.entries}
            return self._index

    def get(self, name: str) -> Node | None:
        """Return the value below a key, or None; do not build all the entries for a leaf."""
        if self._view is not None:
            leaf = self._view.leaf_below(self._graph, name)
            if leaf is not None:
                return leaf
        entry = self.index().get(name)
        return entry.value if entry else None


class Sequence(Collection):
    """A sequence, block or flow."""

    __slots__ = ()


class Entry:
    """An entry of a mapping (`key` and `value`) or an item of a sequence (`key` is None).

    `start` is the offset of the key, of the `?`, or of the dash. The lines that belong to a
    block entry run from `lead` over `attached` and `line` to `end` (see the module's docstring);
    an entry whose collection starts in the middle of a line (`- name: x`) has `line == start`.
    """

    __slots__ = ("attached", "end", "key", "lead", "line", "start", "value")

    key: Node | None
    value: Node

    def __init__(
        self, start: int, end: int, lead: int = -1, attached: int = -1, line: int = -1
    ) -> None:
        self.key = None
        self.start = start
        self.lead = start if lead < 0 else lead
        self.attached = start if attached < 0 else attached
        self.line = start if line < 0 else line
        self.end = end

    @property
    def name(self) -> str:
        """Return the key as text; `1` and `"1"` are one key to Kubernetes."""
        key = self.key
        if isinstance(key, Scalar):
            return key.value
        return key.raw if key is not None else ""

    def __repr__(self) -> str:
        return f"Entry({self.name!r}: {self.value!r})"


def in_mid_line(collection: Collection) -> bool:
    """Return whether a block collection starts behind a dash or `?` on the same line."""
    at = collection.content
    return not collection.flow and collection.top == at > 0 and collection.text[at - 1] != "\n"


def on_own_lines(node: Node) -> bool:
    """Return whether a node is a block collection that starts on a line of its own."""
    return isinstance(node, Collection) and not node.flow and not in_mid_line(node)


def is_block_text(node: Node) -> bool:
    """Return whether a node is a block scalar: lines under a header (`|`, `>`)."""
    return isinstance(node, Scalar) and node.style in ("|", ">")


def inline(node: Node) -> bool:
    """Return whether a node is one token (or flow collection) within one line."""
    if is_block_text(node):
        return False
    return not (isinstance(node, Collection) and not node.flow) and "\n" not in node.raw


def in_flow(entry: Entry) -> bool:
    """Return whether an entry is in a flow collection: it does not own its line."""
    return entry.end == entry.value.end


def is_linewise(collection: Collection) -> bool:
    """Return whether all entries of a flow collection, and its end, have their own lines."""
    text = collection.text
    ends = [*(e.start for e in collection.entries[1:]), collection.end - 1]
    return bool(collection.entries) and all(
        not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t")
        and text.find("\n", collection.content, at) > 0
        for at in (collection.entries[0].start, *ends)
    )


def comment_behind(entry: Entry | None) -> str:
    """Return the comment behind an entry of a flow collection on its line."""
    if entry is None or not in_flow(entry):
        return ""
    text = entry.value.text
    behind = text[entry.value.end : text.find("\n", entry.value.end)].lstrip(" ,")
    return "  " + behind.rstrip() if behind.startswith("#") else ""


def after(entry: Entry) -> str:
    """Return the text behind a value on its line and below.

    Of a block collection this is the comment on the line of its key.
    """
    value = entry.value
    if not on_own_lines(value):
        mid_line = isinstance(value, Collection) and not value.flow
        return "" if mid_line else value.text[value.end : entry.end]
    line, hash_mark, comment = opening(entry).partition("#")
    blanks = line[len(line.rstrip(" \t")) :]
    return blanks + hash_mark + comment.rstrip() if hash_mark else ""


def opening(entry: Entry) -> str:
    """Return between the key or dash and the first line of a block collection below it."""
    start = entry.key.end if entry.key is not None else entry.start + 1
    value = entry.value
    top = value.top if isinstance(value, Collection) else value.start
    return value.text[start:top]


def head(collection: Collection) -> str:
    """Return the comment lines above the first entry that do not belong to it."""
    if collection.flow or in_mid_line(collection) or not collection.entries:
        return ""
    return collection.text[collection.top : collection.entries[0].lead]


def foot(collection: Collection) -> str:
    """Return the comment lines below the last entry that do not belong to it."""
    if collection.flow or not collection.entries:
        return ""
    return collection.text[collection.entries[-1].end : collection.bottom]


def key_text(entry: Entry) -> str:
    """Return the key as it is written."""
    return entry.key.raw if entry.key is not None else ""


def properties(node: Node) -> str:
    """Return anchor and tag as they are written."""
    if isinstance(node, Alias) or node.content == node.start:
        return ""
    return " ".join(node.text[node.start : node.content].split("#")[0].split())


def column_of(entry: Entry) -> int:
    """Return the column of an entry's key or dash."""
    return entry.start - (entry.value.text.rfind("\n", 0, entry.start) + 1)


def separator_end(entry: Entry) -> int:
    """Return the offset behind the colon of a key; of a dash the offset behind it."""
    key = entry.key
    if key is None:
        return entry.start + 1
    text, at = entry.value.text, key.end
    while at < entry.value.start:
        if text[at] == "#":
            at = text.find("\n", at)
        elif text[at] == ":":
            return at + 1
        else:
            at += 1
    return key.end


def keeps_blank_lines(node: Node) -> bool:
    """Return whether a node ends in a block scalar that owns blank lines below it (`|+`)."""
    while isinstance(node, Collection) and not node.flow and node.entries:
        node = node.entries[-1].value
    if not is_block_text(node):
        return False
    header = node.text[node.content : node.text.find("\n", node.content)]
    return "+" in header.split("#", maxsplit=1)[0]
