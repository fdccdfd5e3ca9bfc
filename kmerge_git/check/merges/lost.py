"""What one version of a file has and another one has not, by name: field by field."""

from __future__ import annotations

from kmerge_git.compare.files import paired_documents
from kmerge_git.errors import KmergeError
from kmerge_git.kube.differing import differing
from kmerge_git.kube.fieldpath import show
from kmerge_git.kube.listkeys import start
from kmerge_git.merge.pairing import name_of
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import is_idle, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.tree.documents import Document


def differences(old: bytes, new: bytes, path: str) -> tuple[str, ...]:
    """The fields in which two versions differ; none where they mean the same."""
    try:
        return tuple(dict.fromkeys(_fields(old, new, path)))
    except KmergeError:
        return ("lines",)


def _fields(old: bytes, new: bytes, path: str) -> Iterator[str]:
    before, after = (_documents_of(data, path) for data in (old, new))
    pairs = paired_documents(before, after)
    for i, j in sorted(pairs, key=lambda pair: pair[1]):
        one, other = before[i].root, after[j].root
        if before[i].content == after[j].content or one is None or other is None:
            continue
        for steps in differing(one, other, start(other, path)):
            yield f"{name_of(after[j])} {show(steps)}".strip()
    for side, documents in enumerate((before, after)):
        paired = {pair[side] for pair in pairs}
        left = (d for n, d in enumerate(documents) if n not in paired)
        yield from (name_of(document) or "a document" for document in left)


def _documents_of(data: bytes, path: str) -> list[Document]:
    return [d for d in split(Source(data, path)).documents if not is_idle(d.content)]
