"""Split the text of a YAML stream into its documents; every character belongs to exactly one part.

A `---` or `...` at the start of a line ends everything above it, even an open scalar, which is then
an error. So no parser is needed here. The parts are, in order: the prologue (the comments before
the first document), the documents, and the tail (a last `...` and the lines below it).
"""

from __future__ import annotations

from kmerge_git.errors import TextOnly
from kmerge_git.text.diff3 import uncommon
from kmerge_git.text.source import Source
from kmerge_git.tree.parser import ODD_BREAKS, first_odd_break, has_odd_breaks, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from kmerge_git.tree.nodes import Node

    T = TypeVar("T")


class Document:
    """Hold a document of a stream.

    `text[start:body]` opens the document, and `text[body:end]` is its content.
    """

    __slots__ = (
        *("_content", "_known", "_root", "body", "end", "inline", "number", "source", "start"),
    )

    _root: Node | None
    _known: dict[Callable[[Document], Any], Any]

    def __init__(
        self, source: Source, number: int, start: int, body: int, end: int, inline: bool
    ) -> None:
        self.source = source
        self.number = number
        self.start = start
        self.body = body
        self.end = end
        self.inline = inline  # whether the content begins on the line of the `---`

    @property
    def text(self) -> str:
        """Return the text of the whole document, including the opening lines."""
        return self.source.text[self.start : self.end]

    @property
    def content(self) -> str:
        """Return the text of the document without the opening lines.

        The text is cached, because it is compared many times.
        """
        try:
            return self._content
        except AttributeError:
            self._content: str = self.source.text[self.body : self.end]
            return self._content

    def kept(self, read: Callable[[Document], T]) -> T:
        """Return what a function finds in the document; it is asked only once."""
        try:
            known = self._known
        except AttributeError:
            known = self._known = {}
        if read not in known:
            known[read] = read(self)
        answer: T = known[read]
        return answer

    @property
    def opening(self) -> str:
        """Return the opening lines of the document: directives, comments and `---`, or ''."""
        return self.source.text[self.start : self.body]

    @property
    def root(self) -> Node | None:
        """Return the top node, or None if the document holds only comments."""
        try:
            return self._root
        except AttributeError:
            is_empty = self.body == self.end == self.parsed_from  # fast for many `---` lines
            self._root = None if is_empty else self.composed()
            return self._root

    def forget(self) -> None:
        """Free the nodes of the document; `root` parses it again."""
        if hasattr(self, "_root"):
            del self._root

    @property
    def graph(self) -> Any:
        """Return the parser's own top node, which is fast to walk over; a scalar as `root`."""
        root: Any = self.root
        if not hasattr(root, "unbuilt"):
            return root
        if root.unbuilt is None:
            root = self.composed()
        return root.unbuilt  # the entries of a new node are not built

    def composed(self) -> Node | None:
        """Parse the document again, and return the new top node."""
        from kmerge_git.tree.compose import compose  # many callers split a text and parse nothing

        return compose(self.source, (self.start, self.parsed_from, self.body, self.end))

    @property
    def parsed_from(self) -> int:
        """Return the offset from which the parser reads the document.

        The marks of the parser are relative to this offset.
        """
        opening = self.opening
        if not (self.inline or "%" in opening):
            return self.body
        # A directive, or content on the line of the `---`, is parsed together with that line.
        dots = opening.rfind("\n...") + 1
        if dots or opening.startswith("..."):
            dots = opening.find("\n", dots) + 1
        return self.start + dots


def built_root(document: Document | None) -> Node | None:
    """Return the top node with its entries; this frees the parser's nodes that are not needed."""
    root = document.root if document is not None else None
    _ = getattr(root, "entries", ())
    return root


class Stream:
    """Hold the documents of a file, and the text before and after them."""

    __slots__ = (
        *("documents", "markers", "prologue", "prologue_end", "source", "tail", "tail_start"),
    )

    def __init__(
        self,
        source: Source,
        prologue_end: int,
        documents: tuple[Document, ...],
        tail_start: int,
        markers: list[int],
    ) -> None:
        self.source = source
        self.markers = markers  # the offsets of the `---` and `...` lines
        self.prologue_end = prologue_end
        self.documents = documents
        self.tail_start = tail_start
        self.prologue = source.text[:prologue_end]  # comments before the first `---`
        self.tail = source.text[tail_start:]  # a last `...` and the text behind it

    @property
    def roots(self) -> list[Node]:
        """Return the top nodes of all documents that have a top node.

        Raise the first error in any document.
        """
        return [root for document in self.documents if (root := document.root) is not None]


class YamlText:
    """Hold the bytes of a text; read its characters and its documents only once.

    A text is always made from bytes. A check of a merge result therefore sees the bytes of the
    result, and not the nodes from which the result was written.
    """

    __slots__ = ("_source", "_stream", "data", "path")

    _source: Source
    _stream: Stream

    def __init__(self, data: bytes, path: str = "") -> None:
        self.data = data
        self.path = path

    @property
    def source(self) -> Source:
        """Return the decoded text of the bytes.

        Raise `CannotParse` if the bytes are not text.
        """
        try:
            return self._source
        except AttributeError:
            self._source = Source(self.data, self.path)
            return self._source

    @property
    def stream(self) -> Stream:
        """Return the documents of the text as a stream."""
        return self.stream_like(None)

    def stream_like(self, known: Stream | None, most: int = 0) -> Stream:
        """Return the documents as a stream. Refuse more than `most` documents, if `most` is not 0.

        `known` is the stream of another version of the file, or None.
        """
        try:
            return self._stream
        except AttributeError:
            source = self.source
            self._stream = split_like(source, known, most) if known else split(source, None, most)
            return self._stream

    @property
    def roots(self) -> list[Node]:
        """Return the top nodes of the documents; raise the first error in any document."""
        return self.stream.roots


def split_text(text: str, path: str = "", known: Stream | None = None) -> Stream:
    """Return the documents of a text that this program wrote and that never was in bytes.

    `known` is the stream of another version of the text.
    """
    source = Source.of(text, path)
    return split_like(source, known) if known is not None else split(source)


def whole_document(text: str) -> Document:
    """Return a text without `---` and `...` lines, written by this program, as one document."""
    return Document(Source.of(text), 0, 0, 0, len(text), False)


def split_like(source: Source, known: Stream, most: int = 0) -> Stream:
    """Return the documents of a file, given another version of the same file.

    Documents that both versions share are read only once.
    """
    stream = split(source, known, most)
    for document, twin in zip(stream.documents, known.documents, strict=False):
        content = twin.content
        same_size = document.end - document.body == len(content)
        if same_size and source.text.startswith(content, document.body):
            document._content = content  # one string in memory, which is fast to compare
    return stream


def split(source: Source, known: Stream | None = None, most: int = 0) -> Stream:
    """Split a text into its documents; refuse more than `most` documents, unless `most` is 0."""
    text = source.text
    markers = _marker_lines(text, known)
    if 0 < most < len(markers) // 2:  # a document may begin and end with a marker
        raise TextOnly(f"the file has more than {most:,} documents")
    prologue_end = 0
    documents: list[Document] = []
    start, position = 0, 0  # `start` of the current document; `position` is behind its last marker
    opened = False  # whether the current document has a `---` or content
    body, inline = 0, False
    for offset in markers:
        before = text[position:offset]
        is_start = text[offset] == "-"
        if opened or not is_idle(before):
            if is_start:
                _refuse_directives(source, position, offset, opened)
            documents.append(Document(source, len(documents), start, body, offset, inline))
            start = offset
        elif not documents and not (is_start and "%" in before):
            prologue_end = start = offset
        opened = is_start
        if is_start:
            body, inline = _body(text, offset)
        else:
            body, inline = text.find("\n", offset) + 1 or len(text), False
        position = body
    if opened or not is_idle(text[position:]):
        if documents and not opened:
            raise source.error(
                "text follows `...` without a `---` line in between",
                position,
                "add a `---` line",
            )
        documents.append(Document(source, len(documents), start, body, len(text), inline))
        start = len(text)
    else:
        _refuse_directives(source, position, len(text), opened)
        if not documents:
            prologue_end = start = len(text)
    stream = Stream(source, prologue_end, tuple(documents), start, markers)
    if has_odd_breaks(text):
        _refuse_odd_breaks(stream)
    return stream


def is_idle(text: str) -> bool:
    """Return whether lines hold only blanks, comments and directives."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        line = text[at:end].strip()
        if line and line[0] not in "#%":
            return False
        at = end + 1
    return True


def _marker_lines(text: str, known: Stream | None) -> list[int]:
    """Return the offsets of all marker lines: `---` or `...`, alone or followed by a blank."""
    offsets = [0] if _is_marker(text, 0) else []
    if known is not None and known.markers in ([], [0]):
        # what is in both texts has no other marker line
        start, behind = uncommon(known.source.text, text)
        at, stop = max(start - 1, 0), len(text) - behind
        while (at := _next_marker(text, at, stop)) < stop:
            offsets.append(at)
        return offsets
    at = 0
    for part in _parts(known) if known is not None else ():
        end = at + len(part)
        is_same = text.startswith(part, at) and (end == len(text) or _is_marker(text, end))
        at = end if is_same else _next_marker(text, at)
        if at == len(text):
            return offsets
        offsets.append(at)
    while (at := _next_marker(text, at)) < len(text):
        offsets.append(at)
    return offsets


def _parts(stream: Stream) -> Iterator[str]:
    """Yield the text before the first marker line, then each marker line with the text below."""
    text, markers = stream.source.text, stream.markers
    starts = markers if markers[:1] == [0] else [0, *markers]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if start < end:
            yield text[start:end]


def _next_marker(text: str, start: int, stop: int = -1) -> int:
    """Return the offset of the next marker line after `start`, or `stop`, by default the end."""
    stop = stop if stop >= 0 else len(text)
    for marker in ("\n---", "\n..."):
        at = text.find(marker, start, stop)
        while at >= 0 and not _is_marker(text, at + 1):
            at = text.find(marker, at + 3, stop)
        stop = at + 1 if at >= 0 else stop
    return stop


def _is_marker(text: str, at: int) -> bool:
    marks = text[at : at + 3]
    return marks in ("---", "...") and text[at + 3 : at + 4] in ("", " ", "\t", "\n", "\r")


def _body(text: str, marker: int) -> tuple[int, bool]:
    """Return the offset of the content after a `---`, and whether both are on one line."""
    line_end = text.find("\n", marker)
    rest = text[marker + 3 : line_end].strip()
    return (line_end + 1, False) if not rest or rest[0] == "#" else (marker + 3, True)


def _refuse_directives(source: Source, start: int, end: int, opened: bool) -> None:
    """Refuse a `%` line in a document without `---`; the parser reads no directive there."""
    text = source.text
    if not opened and (text.startswith("%", start) or text.find("\n%", start, end) >= 0):
        raise source.error(
            "a `%` directive is not followed by a `---` line", start, "add a `---` line"
        )


def _refuse_odd_breaks(stream: Stream) -> None:
    """Refuse odd line breaks between documents and before marker lines.

    libyaml starts a new line at an odd line break.
    """
    text = stream.source.text
    regions = [(0, stream.prologue_end), (stream.tail_start, len(text))]
    regions += [(document.start, document.body) for document in stream.documents]
    for start, end in regions:
        at = first_odd_break(text, start, end)
        if at >= 0:
            raise refuse(stream.source, at)
    for marker in ("---", "..."):
        at = text.find(marker)
        while at >= 0:
            if at and text[at - 1] in ODD_BREAKS:
                raise refuse(stream.source, at - 1)
            at = text.find(marker, at + 3)
