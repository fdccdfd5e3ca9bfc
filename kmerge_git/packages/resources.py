"""The resources of a file by name, and its text without some, with some more; what a move is.

Resources are followed in directories (`packages.moves`) and in merges of a repository
(`whole.moves`): they say what a name is and what becomes of a move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TypeVar

from kmerge_git.tree.documents import Document, Stream

Name = TypeVar("Name", bound=Hashable)


def by_name(
    documents: Iterable[Document], name_of: Callable[[Document], Name | None]
) -> dict[Name, Document]:
    """The documents that have a name, without those that share it with another one."""
    named = [(name_of(document), document) for document in documents]
    count = Counter(name for name, _ in named)
    return {name: document for name, document in named if name is not None and count[name] == 1}


def moved(before: Collection[str], after: Collection[str]) -> tuple[str, str] | None:
    """The file that a resource left and the file where it arrived, if it is one of each.

    More than one is no move: two files of a kustomization may well hold resources of one name.
    """
    gone, fresh = set(before) - set(after), set(after) - set(before)
    return (gone.pop(), fresh.pop()) if len(gone) == len(fresh) == 1 else None


def without(stream: Stream, numbers: Collection[int]) -> str:
    """The text of a file without some of its documents."""
    kept = [d.text for d in stream.documents if d.number not in numbers]
    text = "".join([stream.prologue, *kept, stream.tail])
    first = stream.documents[0]
    if 0 in numbers and not first.opening and text.startswith("---\n"):
        text = text[4:]
    return text if text.strip() not in ("", "---", "...") else ""


def arranged(stream: Stream, documents: Iterable[Document]) -> bytes:
    """A file of these documents, its own and others'; where it is empty, spelled as the first."""
    wanted = list(documents)
    text = stream.prologue
    for number, document in enumerate(wanted):
        opening = document.opening if document.source is stream.source else ""
        text += opening or ("---\n" if number or text else "")
        text += document.content
    source = stream.source if stream.source.text else wanted[0].source
    return source.encode(text + stream.tail)
