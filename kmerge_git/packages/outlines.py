"""What a file of a package holds, as far as its lines tell: names of resources."""

from __future__ import annotations

from collections.abc import Hashable

from kmerge_git.errors import KmergeError, TextOnly
from kmerge_git.kube import outline
from kmerge_git.kube.identity import identity
from kmerge_git.merge.bulk import has_bulk
from kmerge_git.packages.files import File, is_manifest
from kmerge_git.packages.resources import by_name
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, Stream, split
from kmerge_git.tree.nodes import Mapping, Sequence
from kmerge_git.tree.oddities import refuse_oddities

_NOTHING = split(Source(b""))


def stream_of(file: File) -> Stream:
    """The documents of a file."""
    return split(Source(file.data))


def named_documents(path: str, file: File | None) -> dict[Hashable, Document] | None:
    """The resources of a file that have a full name; None where it holds no such documents.

    A template's documents are no resources: a block of its actions can go over several of them.
    """
    if file is None:
        return {}
    if not is_manifest(path, file):
        return None
    try:
        return by_name(_resources(file), full_name)
    except KmergeError:
        return None


def names(path: str, file: File) -> frozenset[Hashable]:
    """The resources of a file, those with a generated name and items of a `List` as well."""
    if not is_manifest(path, file):
        return frozenset()
    try:
        known = {name for document in _resources(file) for name in _any_names(document)}
    except KmergeError:
        return frozenset()
    return frozenset(known)


def holds_only_names(path: str, file: File) -> bool:
    """Whether all documents of a file are resources with full names of their own."""
    known = named_documents(path, file)
    return known is not None and len(known) == len(stream_of(file).documents)


def _resources(file: File) -> tuple[Document, ...]:
    """The documents of a file; an error if it is no manifest, or has too many of them."""
    if has_bulk(file.data):
        raise TextOnly("more documents or entries than are taken apart")
    stream = stream_of(file)
    refuse_oddities(stream, _NOTHING)
    return stream.documents


def full_name(document: Document) -> Hashable | None:
    """Group, kind, namespace and name; of one on the line of its `---` nothing: it cannot move."""
    return None if document.inline else outline.full_name(document)


def _any_names(document: Document) -> list[Hashable]:
    found = outline.outline(document.content)
    if found is not None:
        return [(*found, "")]
    root = document.root
    items = root.get("items") if isinstance(root, Mapping) else None
    nodes = [entry.value for entry in items.entries] if isinstance(items, Sequence) else []
    return [known.key for node in (root, *nodes) if (known := identity(node)) is not None]
