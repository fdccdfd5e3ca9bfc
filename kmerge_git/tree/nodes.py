"""Hold nodes with exact spans, entries with the lines they own, and the text around the entries.

A node is a view of the text: a collection builds its entries when they are first asked for, so that
unused parts of a document cost nothing. Offsets count characters of `text`, the text of the whole
file. A node never changes after it was built.

`tree.compose` gives each entry of a block collection its lines by these rules:
- An entry owns the lines from its key or dash to the last line of its value, including the trailing
  comment. It also owns the comment lines directly below that are indented deeper than the entry. An
  empty `[]` or `{}` also owns the comment lines directly below, if a blank line or nothing follows
  them: they show its possible contents.
- The lines between two entries (blank lines and comments) are the `lead` of the second entry. The
  comment block directly above the second entry is `attached` to it.
- Before the first entry of a collection, only the attached comment block is its lead; the lines
  above are the `head` of the collection. The lines after the last entry are the `foot`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, Self

    class Builder(Protocol):
        """Declare the methods of `tree.compose.View` that collections use to build entries."""

        base: int

        def pairs(self, graph: Any, collection: Collection) -> tuple[Entry, ...]: ...
        def items(self, graph: Any, collection: Collection) -> tuple[Entry, ...]: ...
        def leaf_below(self, graph: Any, name: str) -> tuple[bool, Node | None]: ...


class Node:
    """Hold a value at `text[start:end]`, including its properties (`&anchor`, `!tag`)."""

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
        self.content = content  # the offset of the value itself, after anchor and tag
        self.anchor = anchor  # the name, without `&`
        self.tag = tag  # as written, with its `!`

    @property
    def raw(self) -> str:
        """Return the characters of the node as they are in the file."""
        return self.text[self.start : self.end]


class Scalar(Node):
    """Hold a scalar; `style` is '' (plain), `'`, `"`, `|` or `>`.

    A missing value is plain and empty.
    """

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
        self.text = text  # no super() call, which is slow: every leaf is made here
        self.start = start
        self.end = end
        self.content = content
        self.anchor = anchor
        self.tag = tag
        self.value = value  # the characters of the value, not resolved to a type
        self.style = style


class Alias(Node):
    """Hold an alias `*name`. Nodes never replace an alias by its value."""

    __slots__ = ("name",)

    def __init__(self, text: str, start: int, end: int, name: str) -> None:
        super().__init__(text, start, end, start)
        self.name = name


class Collection(Node):
    """Hold the attributes that mappings and sequences have in common."""

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
        # collection starts in the middle of a line (`- name: x`), `top` is the offset of its start.
        self.top = top
        self.bottom = bottom
        # the column of the entries of a block collection
        self.column = content - (text.rfind("\n", 0, content) + 1)
        self._view = view  # None as soon as the entries are built
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
    def unbuilt(self) -> Any:
        """Return the parser's node, or None once the entries are built."""
        return self._graph

    def with_entries(self, entries: tuple[Entry, ...], top: int, bottom: int) -> Self:
        """Return a copy of the collection with other entries and other lines."""
        span = self.text, self.start, self.end, self.content, self.anchor, self.tag
        copy = type(self)(*span, self.flow, top, bottom, None, None)
        copy._entries = entries
        return copy


class Mapping(Collection):
    """Hold a block or flow mapping. If a key is repeated, keep all its entries, in order."""

    __slots__ = ("_index",)

    def index(self) -> dict[str, Entry]:
        """Return the entries by the text of their keys.

        If a key is repeated, its last entry is returned.
        """
        try:
            return self._index
        except AttributeError:
            self._index: dict[str, Entry] = {e.name: e for e in self.entries}
            return self._index

    def get(self, name: str) -> Node | None:
        """Return the value of a key, or None.

        If the value is a scalar or missing, this is found without building all entries.
        """
        if self._view is not None:
            is_known, leaf = self._view.leaf_below(self._graph, name)
            if is_known:
                return leaf
        entry = self.index().get(name)
        return entry.value if entry else None


class Sequence(Collection):
    """Hold a block or flow sequence."""

    __slots__ = ()


class Entry:
    """Hold an entry of a mapping (`key` and `value`) or an item of a sequence (`key` is None).

    `start` is the offset of the key, of the `?`, or of the dash. The lines of a block entry run
    from `lead` over `attached` and `line` to `end` (see the docstring of the module). If the
    collection of an entry starts in the middle of a line (`- name: x`), `line` equals `start`.
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
        """Return the key as text; for Kubernetes, `1` and `"1"` are the same key."""
        key = self.key
        if isinstance(key, Scalar):
            return key.value
        return key.raw if key is not None else ""


def in_mid_line(node: Node) -> bool:
    """Return whether a node is a block collection that starts after a dash or `?` on its line."""
    if not isinstance(node, Collection) or node.flow:
        return False
    return node.top == node.content > 0 and node.text[node.content - 1] != "\n"


def on_own_lines(node: Node) -> bool:
    """Return whether a node is a block collection that starts on its own line."""
    return isinstance(node, Collection) and not node.flow and not in_mid_line(node)


def is_block_text(node: Node) -> bool:
    """Return whether a node is a block scalar, with lines below a `|` or `>` header."""
    return isinstance(node, Scalar) and node.style in ("|", ">")


def has_lines(node: Node | None) -> bool:
    """Return whether a node is a scalar of several lines, in any style."""
    return isinstance(node, Scalar) and (is_block_text(node) or "\n" in node.raw)


def inline(node: Node) -> bool:
    """Return whether a node is a scalar, alias or flow collection that is within one line."""
    is_block = is_block_text(node) or (isinstance(node, Collection) and not node.flow)
    return not is_block and "\n" not in node.raw


def in_flow(entry: Entry) -> bool:
    """Return whether an entry belongs to a flow collection. Such an entry may share its line."""
    return entry.end == entry.value.end


def is_linewise(collection: Collection) -> bool:
    """Return whether a flow collection has every entry and its closing bracket on new lines."""
    text = collection.text
    ends = [*(e.start for e in collection.entries[1:]), collection.end - 1]
    return bool(collection.entries) and all(
        not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t")
        and text.find("\n", collection.content, at) > 0
        for at in (collection.entries[0].start, *ends)
    )


def comment_behind(entry: Entry | None) -> str:
    """Return the comment that follows an entry of a flow collection on the same line."""
    if entry is None or not in_flow(entry):
        return ""
    text = entry.value.text
    behind = text[entry.value.end : text.find("\n", entry.value.end)].lstrip(" ,")
    return "  " + behind.rstrip() if behind.startswith("#") else ""


def after(entry: Entry) -> str:
    """Return the text that an entry owns after its value: a trailing comment, and comments below.

    If the value is a block collection, return the comment on the line of its key.
    """
    value = entry.value
    if not on_own_lines(value):
        return "" if in_mid_line(value) else value.text[value.end : entry.end]
    line, hash_mark, comment = opening(entry).partition("#")
    blanks = line[len(line.rstrip(" \t")) :]
    return blanks + hash_mark + comment.rstrip() if hash_mark else ""


def opening(entry: Entry) -> str:
    """Return the text between the key or dash of an entry and the first line of its value."""
    start = entry.key.end if entry.key is not None else entry.start + 1
    value = entry.value
    top = value.top if isinstance(value, Collection) else value.start
    return value.text[start:top]


def head(collection: Collection) -> str:
    """Return the lines above the first entry that belong to the collection instead of the entry."""
    if collection.flow or in_mid_line(collection) or not collection.entries:
        return ""
    return collection.text[collection.top : collection.entries[0].lead]


def foot(collection: Collection) -> str:
    """Return the lines below the last entry that belong to the collection instead of the entry."""
    if collection.flow or not collection.entries:
        return ""
    return collection.text[collection.entries[-1].end : collection.bottom]


def key_text(entry: Entry) -> str:
    """Return the key as it is written in the file."""
    return entry.key.raw if entry.key is not None else ""


def properties(node: Node) -> str:
    """Return the anchor and the tag as they are written in the file."""
    if isinstance(node, Alias) or node.content == node.start:
        return ""
    return " ".join(node.text[node.start : node.content].split("#")[0].split())


def column_of(entry: Entry) -> int:
    """Return the column of the key or dash of an entry."""
    return entry.start - (entry.value.text.rfind("\n", 0, entry.start) + 1)


def separator_end(entry: Entry) -> int:
    """Return the offset after the colon of an entry's key, or after the dash of an item."""
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
    """Return whether a node ends in a block scalar that keeps trailing blank lines (`|+`)."""
    while isinstance(node, Collection) and not node.flow and node.entries:
        node = node.entries[-1].value
    if not is_block_text(node):
        return False
    header = node.text[node.content : node.text.find("\n", node.content)]
    return "+" in header.split("#", maxsplit=1)[0]
