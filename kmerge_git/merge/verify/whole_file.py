"""Read a result as a whole, with a reader that shares nothing with the merge.

Every document is checked alone, in a text that the merge itself has split. This module gives the
bytes of the whole file to libyaml or to a reader of JSON, as other programs will do. A file of YAML
is read only if its frame differs from the frame of our version: how its documents begin and end,
and how many there are. A file of JSON is always read.
"""

from __future__ import annotations

from kmerge_git.errors import Unproved
from kmerge_git.merge.merged import opening_in, to_bytes
from kmerge_git.text.opaque_files import is_json
from kmerge_git.text.pieces import side_text
from kmerge_git.tree import parser
from kmerge_git.tree.documents import is_idle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.merged import MergedFile
    from kmerge_git.merge.three import Three
    from kmerge_git.text.source import Source
    from kmerge_git.tree.documents import Stream, YamlText


def prove(merged: MergedFile, side: str, at: Three[Stream]) -> None:
    """Raise an error if a result is unreadable, or has other documents than were planned.

    The conflicts of the result are decided for a side.
    """
    sources = at.map(lambda stream: stream.source)
    is_framed_alike = merged.tail == at.ours.tail and _openings(merged, side) == [
        document.opening for document in at.ours.documents
    ]
    if is_framed_alike and not is_json(sources.ours.path, _versions(sources)):
        return
    texts = (document.opening + side_text(document.pieces, side) for document in merged.documents)
    planned = sum(not is_idle(text) for text in texts)
    why = _refusal(to_bytes(merged.decided(side), sources), sources, planned)
    if why:
        raise Unproved(f"the merged file differs from the planned merge result: {why}")


def fault(data: bytes, texts: Three[YamlText] | Three[Source]) -> str:
    """Return why a reader refuses a text that a line merge or a person's answers made, or ''.

    What the reader refuses in one of the versions as well is not wrong.
    """
    is_framed_alike = _frame(data) == _frame(texts.ours.data)
    if is_framed_alike and not is_json(texts.ours.path, _versions(texts)):
        return ""
    return _refusal(data, texts, None)


def _versions(texts: Three[YamlText] | Three[Source]) -> list[bytes]:
    return [text.data for text in texts.each() if text.data]


def _refusal(data: bytes, texts: Three[YamlText] | Three[Source], planned: int | None) -> str:
    """Return what is wrong with a result that should have a number of documents, or ''."""
    versions = _versions(texts)
    readers = [("YAML", _documents_of_yaml)]
    if is_json(texts.ours.path, versions):
        readers.insert(0, ("JSON", _documents_of_json))
    for name, read in readers:
        number = read(data)
        if number >= 0:
            is_planned = planned in (None, number)
            return "" if is_planned else f"the file has {number} documents instead of {planned}"
        if all(read(version) >= 0 for version in versions):
            return f"the file is not valid {name}"
    return ""


def _openings(merged: MergedFile, side: str) -> list[str]:
    """Return how each document begins that a result has."""
    openings = []
    for document in merged.documents:
        hunk = document.whole_hunk
        if hunk is None:
            openings += [] if document.is_empty else [document.opening]
        elif text := hunk.side(side):  # the opening of a document in conflict is in the conflict
            openings.append(opening_in(text, document.at.side(side)))
    return openings


def _frame(data: bytes) -> tuple[bool, list[bytes]]:
    """Return whether a text needs no `---` to begin, and its `---`, `...` and `%` lines."""
    text = b"\n" + data.removeprefix(b"\xef\xbb\xbf") + b"\n"
    found: list[int] = []
    for mark in (b"\n---", b"\n...", b"\n%"):
        at = text.find(mark)
        while at >= 0:
            found.append(at)
            at = text.find(mark, at + 1)
    found.sort()
    lines = [text[at + 1 : text.index(b"\n", at + 1)].rstrip() for at in found]
    head = text[: found[0]] if found else text
    return is_idle(head.decode("utf-8", "replace")), lines


def _documents_of_yaml(data: bytes) -> int:
    """Return the number of documents, or -1 if libyaml refuses the text."""
    try:
        return parser.count_documents(data)
    except (parser.TooDeep, parser.yaml_error(), ValueError, RecursionError):
        return -1


def _documents_of_json(data: bytes) -> int:
    """Return 1 for a value of JSON, 0 for an empty text, and -1 for any other text."""
    import json  # few files are JSON

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) < len(pairs):
            raise ValueError("duplicate key")
        return value

    if not data.strip():
        return 0
    try:
        json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return -1
    return 1
