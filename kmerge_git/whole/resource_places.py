"""Where the resources of a file stand: each is a document, or an item of a list of resources.

An item is the same resource as a document with its text, less the column at which it stands. That
is told only where it is certain: what would say something else at another column stays there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kmerge_git.bounds import MOVED_DOCUMENTS
from kmerge_git.errors import CannotParse
from kmerge_git.kube.identity import Identity, identity
from kmerge_git.kube.moved_resources import once
from kmerge_git.merge.bulk import has_bulk, has_more_documents
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, YamlText, split_text
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node


@dataclass(frozen=True, slots=True)
class Stand:
    """The lines that belong to a resource, its comments and blank lines included."""

    source: Source
    start: int
    end: int
    node: Node | None
    is_item: bool

    @property
    def text(self) -> str:
        """The lines as they stand there."""
        return self.source.text[self.start : self.end]

    def exchanged(self, text: str) -> bytes:
        """The file with another text there; every other byte stays."""
        known = self.source.text
        return self.source.encode(known[: self.start] + text + known[self.end :])

    def bare(self) -> Bare | None:
        """The resource alone; None where its lines say something else at the first column."""
        node = self.node
        if not isinstance(node, Mapping) or node.flow or not node.entries or _is_tied(node):
            return None
        start, end = node.entries[0].start, node.entries[-1].end
        lines = self.source.text[start:end]
        text = _dedented(lines, node.column)
        if text is None or _indented(text, node.column) != lines or not _says(text, node):
            return None
        around = self.source.text[self.start : start], self.source.text[end : self.end]
        return Bare(Stand(self.source, start, end, node, self.is_item), text, around)


@dataclass(frozen=True, slots=True)
class Bare:
    """A resource without the comments and blank lines around it, at the first column."""

    place: Stand
    text: str
    around: tuple[str, str]

    def exchanged(self, text: str) -> bytes:
        """The file with another text of the resource, moved to its column."""
        node = self.place.node
        return self.place.exchanged(
            _indented(text, node.column if isinstance(node, Mapping) else 0)
        )


Stands = dict[Identity, Stand]


def has_many(data: bytes | None) -> bool:
    """Whether a file has more documents, or entries, than are looked at."""
    data = data or b""
    return has_bulk(data) or has_more_documents(data.decode("latin-1"), MOVED_DOCUMENTS)


def places(text: YamlText) -> Stands:
    """The resources of a file; none where it is not YAML, has too many, or one on its `---` line.

    Two of one name are left out: which one is meant cannot be told.
    """
    if has_many(text.data):
        return {}
    try:
        source, documents = text.source, text.stream.documents
        if any(document.inline for document in documents):
            return {}
        return once(pair for document in documents for pair in _of(source, document))
    except CannotParse:
        return {}


def _of(source: Source, document: Document) -> Iterator[tuple[Identity, Stand]]:
    root = document.root
    key = identity(root)
    if key is not None:
        yield key, Stand(source, document.body, document.end, root, False)
    for entry in _items(root):
        name = identity(entry.value)
        if name is not None:
            yield name, Stand(source, entry.lead, entry.end, entry.value, True)


def _items(root: Node | None) -> tuple[Entry, ...]:
    kind = root.get("kind") if isinstance(root, Mapping) else None
    if not isinstance(kind, Scalar) or not kind.value.endswith("List"):
        return ()
    items = root.get("items") if isinstance(root, Mapping) else None
    return items.entries if isinstance(items, Sequence) else ()


def _is_tied(node: Node) -> bool:
    """Whether an anchor or an alias ties it to what stands elsewhere."""
    if node.anchor or isinstance(node, Alias):
        return True
    below = node.entries if isinstance(node, Collection) else ()
    return any(_is_tied(part) for entry in below for part in (entry.key, entry.value) if part)


def _says(text: str, node: Node) -> bool:
    """Whether a text alone is a document that says the same."""
    try:
        documents = split_text(text).documents
        root = documents[0].root if len(documents) == 1 else None
    except CannotParse:
        return False
    return root is not None and same_node(root, node)


def _dedented(text: str, column: int) -> str | None:
    first, *rest = text.split("\n")
    if not all(line.startswith(" " * column) for line in rest if line):
        return None
    return "\n".join([first, *(line[column:] for line in rest)])


def _indented(text: str, column: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * column + line if line else "" for line in rest)])
