"""Compare two versions of a file: pair the resources by identity, then compare their fields.

A file without fields, such as a template or broken YAML, is compared by lines. If the values are
equal but their spelling differs, the result is a `layout` change.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from kmerge_git.compare.change import At, FieldChange, FieldValue
from kmerge_git.compare.differing_fields import (
    Pair,
    comment_changes,
    comments_in,
    in_order,
    of_files,
    of_texts,
    order_of,
    resource_changes,
)
from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.kube.listkeys import start
from kmerge_git.merge.bulk import refuse_at_sight, refuse_entries
from kmerge_git.merge.pairing import alike, likely_same, name_of
from kmerge_git.text.diff3 import changes
from kmerge_git.text.opaque_files import is_binary
from kmerge_git.tree.documents import Document, Stream, YamlText, is_idle
from kmerge_git.tree.oddities import refuse_oddities
from kmerge_git.tree.plain_values import to_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.identity import Pairs


def compare(old: bytes | None, new: bytes | None, path: str = "") -> list[FieldChange]:
    """Return the changes between two versions of a manifest; one version may be None."""
    if old == new:
        return []
    before, after = old or b"", new or b""
    try:
        changed = list(_by_fields(before, after, path))
    except KmergeError:
        return by_lines(before, after)
    if not changed and before != after:
        return [FieldChange("layout", what=("spelling",))]
    return changed


def by_lines(old: bytes, new: bytes) -> list[FieldChange]:
    """Return the changes by line; for binary files, return one change with both sizes."""
    if old == new:
        return []
    if is_binary(old) or is_binary(new):
        return [FieldChange("binary", before=FieldValue(len(old)), after=FieldValue(len(new)))]
    mine, yours = (in_lines(data.decode("utf-8", "surrogateescape")) for data in (old, new))
    return hunks(mine, yours)


def hunks(old: list[str], new: list[str]) -> list[FieldChange]:
    """Return a change for each group of adjacent lines that differ."""
    return [
        FieldChange(
            "lines",
            before=FieldValue(old[a0:a1]),
            after=FieldValue(new[b0:b1]),
            document=At(a0, b0),
        )
        for a0, a1, b0, b1 in changes(old, new)
    ]


def in_lines(text: str) -> list[str]:
    """Return the lines of a text, each with its line end."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _by_fields(old: bytes, new: bytes, path: str) -> Iterator[FieldChange]:
    texts = [YamlText(data, path) for data in (old, new)]
    refuse_at_sight(*(text.source for text in texts))
    streams = [text.stream for text in texts]
    refuse_oddities(*streams)
    # equal documents are never parsed, as few documents of a large file differ
    mine, yours = ([d for d in s.documents if not is_idle(d.content)] for s in streams)
    refuse_changed_entries(mine, yours)
    pairs = paired_documents(mine, yours)
    for i, j in in_order(pairs, len(mine), len(yours)):
        before, after = mine[i] if i >= 0 else None, yours[j] if j >= 0 else None
        yield from _document(before, after, At.of(i, j), path)
    order = order_of(pairs)
    if order:
        both = sorted((j, i) for i, j in pairs)
        names = tuple(name_of(yours[j]) or f"document {i + 1}" for j, i in both)
        yield FieldChange("reordered", order=order, names=names)
    yield from _around(*streams)


def refuse_changed_entries(old: list[Document], new: list[Document]) -> None:
    """Raise `TextOnly` if a document that one version alone has has too many entries.

    Pairing would parse such a document of either version, and keep both.
    """
    for documents, others in ((old, new), (new, old)):
        there = {document.content for document in others}
        refuse_entries(*(document for document in documents if document.content not in there))


def paired_documents(old: list[Document], new: list[Document]) -> Pairs:
    """Pair the documents that are the same resource, and return the places of the documents."""
    try:
        pairs = likely_same(old, new)
    except Unsupported:  # a name occurs a different number of times
        pairs = _by_name(old, new)
    return pairs + alike(old, new, pairs)


def _by_name(old: Sequence[Document], new: Sequence[Document]) -> Pairs:
    """Pair equal documents first, then documents of the same name in order."""
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for key in (lambda d: d.content, name_of):
        waiting: dict[str, deque[int]] = {}
        for j, document in enumerate(new):
            if j not in taken:
                waiting.setdefault(key(document), deque()).append(j)
        for i, document in enumerate(old):
            if i not in partner and waiting.get(key(document)):
                partner[i] = waiting[key(document)].popleft()
                taken.add(partner[i])
    return list(partner.items())


def _alone(old: Document | None, new: Document | None, at: At) -> FieldChange:
    """Return the change for an added or deleted document."""
    document = old or new
    assert document is not None  # the caller gives one of them
    refuse_entries(document)
    name, value = name_of(document), _value(document)
    comments = tuple(("-" if old else "+", text) for text in _comments(document))
    if old:
        return FieldChange("deleted", name, before=value, document=at, comments=comments)
    return FieldChange("added", name, after=value, document=at, comments=comments)


def _document(
    old: Document | None, new: Document | None, at: At, path: str
) -> Iterator[FieldChange]:
    if old is None or new is None:
        yield _alone(old, new, at)
        return
    if old.content == new.content:
        return
    refuse_entries(old, new)
    name = name_of(new)
    if name_of(old) != name:
        yield FieldChange("renamed", name, document=at, source=name_of(old))
    pair = Pair(_value(old), _value(new), start(new.root, path), ())
    comments = comment_changes(*map(_comments, (old, new)))
    changed = resource_changes(name, pair, comments, at)
    yield from changed
    if not changed:
        words = (of_texts(old.content, new.content),)
        yield FieldChange("layout", name, document=at, what=words)


# aliases and merge keys (`*a`, `<<`), tags, and keys that are no texts: ` : `, `~: `, `[a]: `, `? `
_ODD = re.compile(
    r"[\s,:\[{](?:[*&][^\s*&]|!|\?(?:\s|$)|(?:(?:~|null|Null|NULL)\s*)?:)|<<|[\]}]\s*:"
)
# without any of these there is nothing odd
_SIGNS = (*"*&!?~", "<<", *("null", "Null", "NULL"), *(f"{mark}:" for mark in " \t\r\n,:[]{}"))


def _value(document: Document) -> FieldValue:
    """Return the value of a document; read it now if it may hold what has no plain value."""
    text = f"\n{document.text}"
    if any(sign in text for sign in _SIGNS) and _ODD.search(text):
        return FieldValue(to_value(document.root), document.root)
    return FieldValue.unread(document.root)


def _comments(document: Document) -> list[str]:
    return comments_in(document.content, document.body, document.root)


def _around(old: Stream, new: Stream) -> Iterator[FieldChange]:
    """Yield a layout change for comments and bytes outside the documents, if they differ."""
    mine, yours = (list(_outside(stream)) for stream in (old, new))
    comments = comment_changes(
        *([c for text in texts for c in comments_in(text, 0, None)] for texts in (mine, yours))
    )
    words = ["comments"] if comments else []
    if old.source.data and new.source.data:
        words += of_files(old.source, new.source)
    if not words and mine != yours and len(mine) == len(yours):
        words = ["document markers"]
    if words:
        yield FieldChange("layout", what=tuple(words), comments=comments)


def _outside(stream: Stream) -> Iterable[str]:
    yield stream.prologue
    for document in stream.documents:
        yield document.opening
        if is_idle(document.content):
            yield document.content
    yield stream.tail
