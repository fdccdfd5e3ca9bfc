"""The resources of a file by name, and its text without one, with one exchanged, with one more.

The base of both modules that follow moved resources: of directories (`packages.moves`) and of
merges in a repository (`whole.moves`). They say what a name is and what becomes of a move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split

Name = TypeVar("Name", bound=Hashable)


def by_name(
    documents: Iterable[Document], name_of: Callable[[Document], Name | None]
) -> dict[Name, Document]:
    """The documents that have a name, without those that share it with another one."""
    named = [(name_of(document), document) for document in documents]
    count = Counter(name for name, _ in named)
    return {name: document for name, document in named if name is not None and count[name] == 1}


def moved(before: set[str], after: set[str]) -> tuple[str, str] | None:
    """The file that a resource left and the file where it arrived, if it is one of each.

    More than one is no move: two files of a kustomization may well hold resources of one name.
    """
    gone, fresh = before - after, after - before
    return (gone.pop(), fresh.pop()) if len(gone) == len(fresh) == 1 else None


def without(document: Document) -> str:
    """The text of the document's file without this document."""
    text = document.source.text
    rest = text[document.end :]
    if document.number == 0 and not document.opening and rest.startswith("---\n"):
        rest = rest[4:]
    return text[: document.start] + rest


def exchanged(document: Document, content: str) -> bytes:
    """The document's file with another content of it; every other byte stays."""
    source = document.source
    return source.encode(source.text[: document.body] + content + source.text[document.end :])


def appended(data: bytes, document: Document) -> bytes:
    """A file with a document of another one behind its own."""
    if not data:
        return document.source.encode(document.content)
    source = Source(data)
    stream = split(source)
    opening = "---\n" if stream.documents else ""
    before, tail = source.text[: stream.tail_start], stream.tail
    return source.encode(before + opening + document.content + tail)
