"""Limit what is merged field by field: a file beyond these limits is merged line by line.

Nobody writes such files by hand, and parsing them would take longer than anybody waits. All limits
are counts, never seconds, so that the answer is the same on every machine and for either side.
"""

from __future__ import annotations

from kmerge_git.errors import TextOnly
from kmerge_git.merge.three import Three, agreed
from kmerge_git.tree import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeVar

    from kmerge_git.text.source import Source
    from kmerge_git.tree.documents import Document, Stream, YamlText
    from kmerge_git.tree.nodes import Node

    T = TypeVar("T")

MOST_DOCUMENTS = 10_000  # in a file; in one megabyte each would have 100 characters
# In a document that is merged after the unchanged parts are left out. This is 1.5 MB of usual
# lines, the size of the largest object that a cluster takes.
MOST_ENTRIES = 50_000
MOST_ALONE = 100_000  # in a document or a file that is only read, never merged
MOST_AT_SIGHT = 1_000_000  # in a file, estimated from its text; beyond that it is not parsed
MOST_ENTRIES_TWO_WAY = 300_000  # in a merge of two files, which leaves dest as it is beyond that
MOST_ELEMENTS = 25_000  # of a list; git merges longer lists of plain values well by lines
# Entries of a collection, or documents of a file, that both sides changed, each in its own way.
MOST_CHANGED = 10_000
# Documents, or entries that hold maps, that a side lost while it has as many new ones: too many to
# look for renames. A tenth of that is more than a person would decide.
MOST_REPLACED = 2_000


def refuse_at_sight(*sources: Source) -> None:
    """Raise `TextOnly` for a text that is too large to be parsed, before the text is split."""
    for source in sources:
        if why := unread(source.text):
            raise TextOnly(why)


def unread(text: str) -> str:
    """If a text is too large for any command to parse, return the reason; otherwise return ''."""
    if has_more_documents(text, MOST_DOCUMENTS):
        return too_many("the file has more than {} documents", MOST_DOCUMENTS).why
    if len(text) > MOST_ALONE // 2 and _entries(text) > MOST_AT_SIGHT:
        return too_many("the file has more than {} entries", MOST_AT_SIGHT).why
    return ""


def has_more_documents(text: str, most: int) -> bool:
    """Return whether a text has more than `most` documents or apparent separators."""
    return len(text) > most and text.count("\n---") > most


def split_within(texts: Three[YamlText]) -> Three[Stream]:
    """Return the documents of three versions; raise `TextOnly` if there are too many."""
    base = texts.base.stream_like(None, MOST_DOCUMENTS)
    at = Three(base, *(t.stream_like(base, MOST_DOCUMENTS) for t in (texts.ours, texts.theirs)))
    refuse_bulk(at)
    return at


def refuse_bulk(at: Three[Stream]) -> None:
    """Raise `TextOnly` before parsing if the versions are too large for a merge field by field."""
    if max(len(stream.documents) for stream in at.each()) > MOST_DOCUMENTS:
        raise too_many("the file has more than {} documents", MOST_DOCUMENTS)
    _refuse_changed_documents(at.map(lambda stream: stream.documents))
    two_way = not at.base.documents
    most = MOST_ENTRIES_TWO_WAY if two_way else MOST_ENTRIES
    large = at.map(lambda s: [d for d in s.documents if d.end - d.body > most])
    if two_way or len({len(found) for found in large.each()}) > 1:
        if any(_is_heavy(document, most) for found in large.each() for document in found):
            raise too_many("a document has more than {} entries", most)
        return
    for trio in zip(*large.each(), strict=True):
        _refuse_heavy(Three(*trio))


def refuse_entries(*documents: Document) -> None:
    """Raise `TextOnly` if a document has too many entries to look at each entry.

    This function counts the entries. Other functions estimate the number from the text, because
    their callers can use a line merge instead.
    """
    for document in documents:
        if _is_heavy(document, MOST_ALONE) and _counted(document.root) > MOST_ALONE:
            raise too_many("a document has more than {} entries", MOST_ALONE)


def _counted(root: Node | None) -> int:
    """Count the entries below a node, weighted as in `_entries`; stop above the limit."""
    found, waiting = 0, [root]
    while waiting and found <= MOST_ALONE:
        node = waiting.pop()
        if isinstance(node, nodes.Collection):
            inner = [entry.value for entry in node.entries]
            found += len(inner) + 2 * node.flow
            if isinstance(node, nodes.Sequence):
                found += 10 * sum(isinstance(value, nodes.Sequence) for value in inner)
            waiting += inner
    return found


def has_bulk(data: bytes) -> bool:
    """Return whether a text has more documents or entries than a merge field by field accepts."""
    text = data.decode("latin-1")
    if has_more_documents(text, MOST_DOCUMENTS):
        return True
    return len(data) > MOST_ALONE and _entries(text) > MOST_ALONE


def refuse_long(at: Three[Sequence[T]]) -> None:
    """Raise `TextOnly` for a list with too many elements."""
    if max(map(len, at.each())) > MOST_ELEMENTS:
        raise too_many("a list has more than {} elements", MOST_ELEMENTS)


def refuse_changed(at: Three[Mapping[Hashable, T]], same: Callable[[T, T], bool]) -> None:
    """Raise `TextOnly` if both sides changed too many entries of base."""
    if len(at.base) <= MOST_CHANGED:
        return
    changed = 0
    for key, base in at.base.items():
        ours, theirs = at.ours.get(key), at.theirs.get(key)
        if ours is None or theirs is None:
            there = ours or theirs
            changed += there is None or not same(base, there)
        else:
            changed += not (same(base, ours) or same(base, theirs) or same(ours, theirs))
    if changed > MOST_CHANGED:
        raise too_many("both sides changed more than {} entries", MOST_CHANGED)


def refuse_replaced(gone: int, fresh: int, what: str) -> None:
    """Raise `TextOnly` if too many old and new entries would be compared to find renames."""
    if min(gone, fresh) > MOST_REPLACED:
        raise too_many(f"more than {{}} {what} were removed, and as many were added", MOST_REPLACED)


def too_many(what: str, most: int) -> TextOnly:
    """Return the error that sends the file to git's line merge; `{}` in `what` is the limit."""
    return TextOnly(what.format(f"{most:,}"))


def _refuse_changed_documents(at: Three[tuple[Document, ...]]) -> None:
    if min(map(len, at.each())) <= MOST_CHANGED:
        return
    base, ours, theirs = ({document.content for document in found} for found in at.each())
    alone = base - ours - theirs, ours - base - theirs, theirs - base - ours
    if min(map(len, alone)) > MOST_CHANGED:
        raise too_many("both sides changed more than {} documents", MOST_CHANGED)


def _is_heavy(document: Document, most: int) -> bool:
    # an entry has at least one character, so a short document needs no count
    if document.end - document.body <= most or _bound(document.content) <= most:
        return False
    return all(_entries(text(document)) > most for text in (_content, _without_texts))


def _bound(text: str) -> int:
    """Estimate quickly, from single characters, how many entries a text has at most."""
    brackets = text.count("{") + text.count("[")
    return (
        sum(map(text.count, "\n-,")) + 2 * brackets + 10 * (text.count("[[") + text.count("- - "))
    )


def _entries(text: str) -> int:
    """Estimate how many entries a text has; a collection in brackets counts as two.

    Lists that contain only lists cost more, because every level makes all paths below it longer.
    """
    entries = text.count(": ") + text.count(":\n") + text.count("- ") + text.count(",")
    nested = text.count("[[") + text.count("- - ")
    return entries + 2 * (text.count("{") + text.count("[")) + 10 * nested


def _content(document: Document) -> str:
    return document.content


def _without_texts(document: Document) -> str:
    """Return a document without the lines of its block scalars, which may hold any data."""
    lines: list[str] = []
    column = -1  # the column of the entry whose text is left out
    for line in document.content.split("\n"):
        bare = line.lstrip(" ")
        if column >= 0 and (not bare or len(line) - len(bare) > column):
            continue
        lines.append(line)
        is_opened = bare.rstrip("\r+-0123456789")[-2:] in (" |", " >")
        column = len(line) - len(_without_dashes(bare)) if is_opened else -1
    return "\n".join(lines)


def _without_dashes(line: str) -> str:
    while line.startswith("- ") and not line.startswith(("- |", "- >")):
        line = line[2:].lstrip(" ")
    return line


def _refuse_heavy(at: Three[Document]) -> None:
    """Raise `TextOnly` for a document with too many entries.

    A document that only one side changed is not parsed. Entries that nobody changed are not counted
    if they can be taken out of the document.
    """
    if agreed(at.map(_content)) is not None:
        return
    grown = (d for d in (at.ours, at.theirs) if len(d.content) > 2 * len(at.base.content))
    if not any(_is_heavy(document, MOST_ENTRIES) for document in (at.base, *grown)):
        return
    from kmerge_git.merge.elision import elide  # few files are so large

    elided = elide(at.map(lambda document: document))
    small = elided.at.each() if elided is not None else at.each()
    if any(document is not None and _is_heavy(document, MOST_ENTRIES) for document in small):
        raise too_many("a document has more than {} entries", MOST_ENTRIES)
