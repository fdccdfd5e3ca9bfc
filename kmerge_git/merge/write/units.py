"""Divide a text into units: lines, and the entries, elements and documents of these lines.

A conflict is cut between units, so that accepting both sides of a conflict gives whole units.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from kmerge_git.errors import KmergeError
from kmerge_git.kube.identity import identity_in
from kmerge_git.kube.listkeys import field_text
from kmerge_git.kube.outline import full_name
from kmerge_git.text.diff3 import lines_of
from kmerge_git.text.opaque_files import VAULT, vault_end
from kmerge_git.tree.block_scalars import body_indent, header
from kmerge_git.tree.documents import Document, split_text
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Scalar,
    is_block_text,
    is_linewise,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

# Elements with at most this many lines are not cut: two of them fit on a screen.
SHORT = 12
# The fields that name elements without a key, only for people.
NAMING = ("name", "key", "id", "alert", "record")


class Unit:
    """Hold the lines `start` to `end` of a text: a line, an entry, an element or a document.

    Comments above an entry are lines of their own.
    """

    __slots__ = ("end", "name", "parent", "start", "text", "thing")

    def __init__(
        self, start: int, end: int, text: str, parent: object, thing: Entry | Document | None
    ) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.parent = parent  # the collection around the unit
        self.thing = thing  # None for a line
        self.name = _name(thing)  # units with the same name are versions of one thing

    @property
    def node(self) -> Node | None:
        """Return the value of an entry, or the root of a document."""
        return _node(self.thing)

    @property
    def is_long(self) -> bool:
        """Return whether the unit may be cut."""
        return self.end - self.start > SHORT

    @property
    def is_element(self) -> bool:
        """Return whether the unit is an element of a list."""
        return isinstance(self.thing, Entry) and self.thing.key is None

    @property
    def is_field(self) -> bool:
        """Return whether the unit is an entry of a mapping."""
        return isinstance(self.thing, Entry) and self.thing.key is not None

    @property
    def is_bare(self) -> bool:
        """Return whether the unit is a document without a `---` above it."""
        return isinstance(self.thing, Document) and "---" not in self.thing.opening

    @property
    def fields(self) -> dict[str, str]:
        """Return the fields of an element that is a map, as text; other units have no fields."""
        if not self.is_element or not isinstance(self.node, Mapping):
            return {}
        return {e.name: self.node.text[e.start : e.end] for e in self.node.entries}


class Version:
    """Hold a text with its lines and documents; a text that is not YAML has only lines."""

    __slots__ = ("_documents", "_linewise", "lines", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._documents: tuple[Document, ...] | None = None
        self._linewise: dict[int, bool] = {}  # by the id() of a flow collection
        self.lines = lines_of(text)
        self.starts = [0, *accumulate(map(len, self.lines))]

    @property
    def documents(self) -> tuple[Document, ...]:
        """Return the documents of the text; parse the text only when they are first needed."""
        if self._documents is None:
            try:
                documents, has_value = split_text(self.text).documents, False
                for document in documents:  # each must parse, and few are cut
                    has_value |= document.root is not None
                    document.forget()
                self._documents = documents if has_value else ()
            except KmergeError:
                self._documents = ()
        return self._documents

    def units(self, start: int, end: int) -> list[Unit]:
        """Return the largest units within a range of lines; together the units cover the range."""
        units: list[Unit] = []
        for document in self.documents:
            first, last = self._span(document.start, document.end)
            if start <= first < last <= end:
                units.append(self._unit(first, last, self, document))
            elif first < end and start < last:
                units += self._part(document, max(first, start), min(last, end), self)
        return [*self._tiled(units, start, end, self)]

    def inside(self, unit: Unit) -> list[Unit]:
        """Return the units inside a unit."""
        return [*self._part(unit.thing, unit.start, unit.end, unit.parent)]

    def are_neighbours(self, above: tuple[int, int], below: tuple[int, int]) -> bool:
        """Return whether two ranges are in one collection with only lines or elements between.

        Documents are never neighbours: a document of theirs without a `---` would continue the
        document of ours above it.
        """
        between_them = self.units(above[0], below[1])
        while len(between_them) == 1 and between_them[0].node is not None:
            between_them = self.inside(between_them[0])
        parents = {id(unit.parent) for unit in between_them}
        if any(isinstance(unit.thing, Document) for unit in between_them):
            return False
        between = [u for u in between_them if above[1] <= u.start and u.end <= below[0]]
        is_whole = sum(u.end - u.start for u in between) == below[0] - above[1]
        is_plain = all(u.end - u.start == 1 or not isinstance(u.parent, Mapping) for u in between)
        return len(parents) == 1 and is_whole and is_plain

    def whole(self, start: int, end: int, *, is_moved: bool = False) -> tuple[int, int]:
        """Extend a range of lines to the short entries that it begins but does not end.

        It is also extended to those that it ends but does not begin, if it has lines after them.
        If the lines are at another column on the other side, it begins with the entry around them.
        """
        top, bottom = start, end
        if is_moved or self._may_cut(start, end):
            for document in self.documents:
                first, last = self._span(document.start, document.end)
                if first < end and start < last:
                    more = self._whole(document.root, start, end, is_moved)
                    top, bottom = min(top, more[0]), max(bottom, more[1])
        return top, bottom

    def column(self, start: int, end: int) -> int | None:
        """Return the column of the first line with content, or None if there is none."""
        return next(map(_column, self._content(start, end)), None)

    def _content(self, start: int, end: int) -> Iterator[str]:
        """Yield the lines of a range that are neither blank nor comments."""
        lines = map(self.lines.__getitem__, range(start, end))
        return (line for line in lines if line.lstrip()[:1] not in ("", "#"))

    def _may_cut(self, start: int, end: int) -> bool:
        """Return whether lines may hold a part of an entry and something else; needs no parsing."""
        lines = [*self._content(start, end)]
        behind = next(self._content(end, len(self.lines)), "")
        if not lines or any(map(_is_element, lines)):
            return bool(lines)
        columns = [*map(_column, lines)]
        return min(columns) < max(columns[0], _column(behind) + _is_element(behind))

    def _whole(self, node: Node | None, start: int, end: int, is_moved: bool) -> tuple[int, int]:
        top, bottom = start, end
        if not isinstance(node, Collection):
            return top, bottom
        found = [*self._entries(node, start, end)]
        for entry in found[:1] + found[1:][-1:]:  # those between are whole
            first, last = self._lines_of(entry)
            is_short = last - first <= SHORT
            if is_short and start <= first < end < last:
                bottom = last
            elif is_short and first < start < last < end:
                top = first
            elif first < start < last or first < end < last:
                more = self._whole(entry.value, start, end, is_moved)
                top, bottom = min(top, more[0]), max(bottom, more[1])
                if is_moved and is_short and top == start > first:
                    top = first
        return top, bottom

    def _below(self, node: Node | None, start: int, end: int) -> Iterator[Unit]:
        """Return the largest entries within a range of lines."""
        if not isinstance(node, Collection) or (node.flow and not self._is_linewise(node)):
            return
        for entry in self._entries(node, start, end):
            first, last = self._lines_of(entry)
            if start <= first and last <= end:
                yield self._unit(first, last, node, entry)
            else:
                yield from self._part(entry, max(first, start), min(last, end), node)

    def _is_linewise(self, node: Collection) -> bool:
        known = self._linewise.get(id(node))
        if known is None:
            known = self._linewise[id(node)] = is_linewise(node)
        return known

    def _part(
        self, thing: Entry | Document | None, start: int, end: int, parent: object
    ) -> Iterator[Unit]:
        """Return the units of a part of an entry or document.

        The first line of an entry belongs to `parent`, and so do the first lines of a document.
        """
        node = _node(thing)
        top = min(max(start, self._top(thing)), end)
        below = min(start + 1, top) if isinstance(thing, Entry) else top
        yield from self._tiled([], start, below, parent)
        yield from self._tiled([], below, top, node)
        yield from self._tiled([*self._below(node, top, end)], top, end, node)

    def _top(self, thing: Entry | Document | None) -> int:
        """Return the line on which the value of an entry, or the text of a document, begins."""
        if thing is None or isinstance(thing, Document):
            at = thing.body if thing is not None else 0
        elif isinstance(thing.value, Collection) and thing.value.entries:
            at = thing.value.entries[0].start
        else:
            return self._lines_of(thing)[0] + 1
        return self._span(at, at + 1)[0]

    def _entries(self, node: Collection, start: int, end: int) -> Iterator[Entry]:
        """Return the entries that have lines within a range."""
        entries = node.entries
        at = bisect_right(entries, self.starts[start], key=lambda entry: entry.start) - 1
        for index in range(max(at, 0), len(entries)):
            if entries[index].start >= self.starts[end]:
                return
            if entries[index].end > self.starts[start]:
                yield entries[index]

    def _tiled(self, found: list[Unit], start: int, end: int, parent: object) -> Iterator[Unit]:
        """Return units and the lines between them; a line gets the parent of the unit above."""
        at = start
        for unit in found:
            yield from self._single(at, unit.start, parent)
            yield unit
            at, parent = unit.end, unit.parent
        yield from self._single(at, end, parent)

    def _single(self, start: int, end: int, parent: object) -> Iterator[Unit]:
        """Return each line as a unit; the lines of an encrypted text are one unit."""
        while start < end:
            is_vault = VAULT in self.lines[start]
            behind = min(vault_end(self.lines, start), end) if is_vault else start + 1
            yield self._unit(start, behind, parent, None)
            start = behind

    def _unit(self, start: int, end: int, parent: object, thing: Entry | Document | None) -> Unit:
        return Unit(start, end, self.text[self.starts[start] : self.starts[end]], parent, thing)

    def _lines_of(self, entry: Entry) -> tuple[int, int]:
        return self._span(entry.start, entry.end)

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of lines that holds a range of characters."""
        return bisect_right(self.starts, start) - 1, bisect_right(self.starts, max(end - 1, start))


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_element(line: str) -> bool:
    return line.lstrip(" ").startswith("-")


def _node(thing: Entry | Document | None) -> Node | None:
    if thing is None:
        return None
    return thing.root if isinstance(thing, Document) else thing.value


def share_first_line(mine: Unit, yours: Unit) -> bool:
    """Return whether two units have a first line in common that may stay outside of a conflict.

    The first line of an element begins its first field, and that field may have to be taken whole.
    """
    if mine.text.partition("\n")[0] != yours.text.partition("\n")[0]:
        return False
    one, other = mine.thing, yours.thing
    while isinstance(one, Entry) and isinstance(other, Entry) and one.key is other.key is None:
        a, b = one.value, other.value
        if not (isinstance(a, Collection) and isinstance(b, Collection)) or a.flow or b.flow:
            return True
        one, other = a.entries[0], b.entries[0]
        is_same = a.text[one.start : one.end] == b.text[other.start : other.end]
        if not (is_same or can_differ(one.value, other.value)):
            return False
    return True


def can_differ(a: Node | None, b: Node | None) -> bool:
    """Return whether only a part of two values may conflict, so that accepting both stays YAML."""
    if isinstance(a, Collection) and isinstance(b, Collection):
        if type(a) is not type(b) or a.flow != b.flow or not (a.entries and b.entries):
            return False
        return is_linewise(a) and is_linewise(b) if a.flow else a.column == b.column
    if isinstance(a, Scalar) and isinstance(b, Scalar) and is_block_text(a) and is_block_text(b):
        return header(a) == header(b) and body_indent(a) == body_indent(b)
    return False


def _name(thing: Entry | Document | None) -> Hashable:
    if isinstance(thing, Document):
        return full_name(thing) or identity_in(thing)
    return thing.key.raw if thing is not None and thing.key is not None else None


def are_one(mine: Unit, yours: Unit) -> bool | None:
    """Return whether two elements are equal in the names that both have, or None without names."""
    a, b = mine.node, yours.node
    names = [(field_text(a, field), field_text(b, field)) for field in NAMING] if a and b else []
    known = [one == other for one, other in names if one is not None and other is not None]
    return all(known) if known else None
