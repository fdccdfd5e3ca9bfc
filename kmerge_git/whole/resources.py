"""The resources of a file, seen from outside: where each is, and how to exchange its text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from kmerge_git.errors import CannotParse
from kmerge_git.kube.identity import describe, identity
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split


@dataclass(frozen=True, slots=True)
class Resource:
    """A document with an identity; `text` is the document without its `---` line."""

    name: str  # Deployment/web
    key: Hashable  # its identity
    text: str


def resources(data: bytes) -> dict[Hashable, Resource]:
    """The resources of a file by their identity; what stands there twice is left out."""
    found: dict[Hashable, Resource] = {}
    twice: set[Hashable] = set()
    for document in _documents(data):
        key = identity(document.root)
        if key is None:
            continue
        if key in found:
            twice.add(key)
        found[key] = Resource(describe(key), key, document.content)
    return {key: resource for key, resource in found.items() if key not in twice}


def with_resource(data: bytes, key: Hashable, text: str) -> bytes:
    """The file with the text of one resource exchanged; everything else keeps its bytes."""
    source = Source(data)
    for document in split(source).documents:
        if identity(document.root) == key:
            whole = source.text
            return source.encode(whole[: document.body] + text + whole[document.end :])
    return data


def _documents(data: bytes) -> tuple[Document, ...]:
    """The documents of a file; none where it is not YAML, or where one shares its line."""
    try:
        stream = split(Source(data))
        _ = stream.roots
    except CannotParse:
        return ()
    return () if any(document.inline for document in stream.documents) else stream.documents
