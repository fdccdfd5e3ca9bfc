"""Two versions of a file: resources paired by identity, then by field; else line by line.

Nothing is silent: without a change the bytes are equal, and what is no value is told as `layout`.
No file is too odd: what has no fields to compare (a template, broken YAML) is compared by lines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kmerge_git.compare import differing_fields
from kmerge_git.compare.change import At, FieldChange, FieldValue, How
from kmerge_git.compare.differing_fields import Pair, field_changes, order_of
from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.kube.listkeys import start
from kmerge_git.merge.bulk import refuse_at_sight, refuse_entries
from kmerge_git.merge.pairing import alike, likely_same, name_of
from kmerge_git.text.diff3 import changes
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, Stream, is_idle, split
from kmerge_git.tree.oddities import refuse_oddities
from kmerge_git.tree.plain_values import to_value

_LOOKED_AT = 8000  # bytes in which git looks for a NUL
Places = list[tuple[int, int]]


def compare(old: bytes | None, new: bytes | None, path: str = "") -> list[FieldChange]:
    """What changed in a manifest; None where there is no file. Without a change they are equal."""
    if old == new:
        return []
    before, after = old or b"", new or b""
    try:
        found = list(_by_fields(before, after, path))
    except KmergeError:
        return by_lines(before, after)
    if not found and before != after:
        found = [FieldChange("layout", what=("spelling",))]
    return found


def by_lines(old: bytes, new: bytes) -> list[FieldChange]:
    """The lines that differ; of files that are no text only that they do."""
    if old == new:
        return []
    if any(b"\0" in data[:_LOOKED_AT] for data in (old, new)):
        return [FieldChange("binary", before=FieldValue(len(old)), after=FieldValue(len(new)))]
    mine, yours = (in_lines(data.decode("utf-8", "surrogateescape")) for data in (old, new))
    return [
        FieldChange(
            "lines",
            before=FieldValue(mine[a0:a1]),
            after=FieldValue(yours[b0:b1]),
            document=At(a0, b0),
        )
        for a0, a1, b0, b1 in changes(mine, yours)
    ]


def in_lines(text: str) -> list[str]:
    """The lines of a text with their ends."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _by_fields(old: bytes, new: bytes, path: str) -> Iterator[FieldChange]:
    sources = [Source(data, path) for data in (old, new)]
    refuse_at_sight(*sources)
    streams = [split(source) for source in sources]
    refuse_oddities(*streams)
    # equal documents are never parsed: of a large bundle a few differ
    mine, yours = ([d for d in s.documents if not is_idle(d.content)] for s in streams)
    pairs = paired_documents(mine, yours)
    for i, j in _in_order(pairs, len(mine), len(yours)):
        at = At(i if i >= 0 else None, j if j >= 0 else None)
        before, after = mine[i] if i >= 0 else None, yours[j] if j >= 0 else None
        yield from _document(before, after, at, path)
    order = order_of(pairs)
    if order:
        names = tuple(
            name_of(yours[j]) or f"document {i + 1}" for j, i in sorted((j, i) for i, j in pairs)
        )
        yield FieldChange("reordered", order=order, names=names)
    yield from _around(*streams)


def _in_order(pairs: Places, old: int, new: int) -> Places:
    """All documents as they are told: in the new order, one that is gone behind its neighbour."""
    mine, yours = {i for i, _ in pairs}, {j for _, j in pairs}
    gone = [(i, -1) for i in range(old) if i not in mine]
    come = [(-1, j) for j in range(new) if j not in yours]
    rank = {j: float(j) for j in range(new)}
    last, behind = -1.0, {}
    partner = dict(pairs)
    for i in range(old):
        last = rank[partner[i]] if i in partner else last
        behind[i] = last + 0.5
    return sorted(
        [*pairs, *gone, *come],
        key=lambda place: (rank[place[1]] if place[1] >= 0 else behind[place[0]], place),
    )


def paired_documents(old: list[Document], new: list[Document]) -> Places:
    """Which documents are one resource."""
    try:
        pairs = likely_same(old, new)
    except Unsupported:  # a name stands several times, and another number of times
        pairs = _by_name(old, new)
    return pairs + alike(old, new, pairs)


def _by_name(old: Sequence[Document], new: Sequence[Document]) -> Places:
    """The first of a name with the first, equal ones before."""
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
    """A document that only one version has."""
    document = old or new
    assert document is not None  # one of them is there
    refuse_entries(document)
    value = FieldValue(to_value(document.root), document.root)
    how: How = "deleted" if old else "added"
    before, after = (value, None) if old else (None, value)
    comments = tuple(("-" if old else "+", text) for text in _comments(document))
    return FieldChange(how, name_of(document), (), before, after, at, comments=comments)


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
    where = start(new.root, path)
    values = FieldValue(to_value(old.root), old.root), FieldValue(to_value(new.root), new.root)
    found = [
        replace(change, resource=name, document=at)
        for change in field_changes(Pair(*values, where, ()))
    ]
    yield from found
    said = differing_fields.comment_changes(*map(_comments, (old, new)))
    words = sorted(differing_fields.spelling(old.root, new.root, where))
    words = [*(["comments"] if said else []), *words]
    if not words and not found:
        words = [differing_fields.of_texts(old.content, new.content)]
    if words:
        yield FieldChange("layout", name, document=at, what=tuple(words), comments=said)


def _comments(document: Document) -> list[str]:
    return differing_fields.comments_in(document.content, document.body, document.root)


def _around(old: Stream, new: Stream) -> Iterator[FieldChange]:
    """What stands around the documents, and how the bytes of the file spell it."""
    texts = [list(_outside(stream)) for stream in (old, new)]
    said = differing_fields.comment_changes(
        *([c for t in found for c in differing_fields.comments_in(t, 0, None)] for found in texts)
    )
    words = ["comments"] if said else []
    words += (
        differing_fields.of_files(old.source, new.source)
        if old.source.data and new.source.data
        else []
    )
    if not words and texts[0] != texts[1] and len(texts[0]) == len(texts[1]):
        words = ["document markers"]
    if words:
        yield FieldChange("layout", what=tuple(words), comments=said)


def _outside(stream: Stream) -> Iterable[str]:
    yield stream.prologue
    for document in stream.documents:
        yield document.opening
        if is_idle(document.content):
            yield document.content
    yield stream.tail
