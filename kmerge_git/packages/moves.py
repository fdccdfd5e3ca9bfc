"""Resources that one side moved to another file.

Before files are merged path by path, every version of a moved resource is put into the file where
the merged one will stand. So what the destination changed in it is merged as everywhere else.
A move is certain only where a full name left one file and appeared in one other: two files of a
kustomization may well hold resources of one name.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TypeVar

from kmerge_git.errors import KmergeError
from kmerge_git.kube.identity import identity
from kmerge_git.kube.outline import outline
from kmerge_git.merge.three import Three
from kmerge_git.packages.files import File, Package, files_at, is_manifest
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split

Places = dict[Hashable, set[str]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Move:
    """A resource, the file that it left and the file where it belongs now."""

    name: str
    key: Hashable
    source: str
    target: str


def gather(at: Three[Package]) -> tuple[Three[Package], list[Move]]:
    """The packages with every moved resource in the file where the result has it."""
    places = _places(at)
    packages: Three[Package] = Three(dict(at.base), dict(at.ours), dict(at.theirs))
    moves = []
    for key in _in_order(places):
        move = _move(key, places)
        if move is not None:
            moves.append(move)
            for package, before in zip(_each(packages), _each(places), strict=True):
                for path in before.get(key, set()) - {move.target}:
                    if path == move.source or path not in places.base.get(key, set()):
                        _carry(package, key, path, move.target)
    return packages, moves


def _each(at: Three[T]) -> tuple[T, T, T]:
    return at.base, at.ours, at.theirs


def _in_order(places: Three[Places]) -> list[Hashable]:
    known = {**places.base, **places.ours, **places.theirs}
    return sorted(known, key=repr)


def _move(key: Hashable, places: Three[Places]) -> Move | None:
    """Where a resource belongs that is not where it was; the destination's move comes first."""
    base, ours, theirs = (side.get(key, set()) for side in _each(places))
    name = f"{key[1]}/{key[3]}" if isinstance(key, tuple) else str(key)
    if not base:  # added by both, in different files
        if len(ours) == len(theirs) == 1 and ours != theirs:
            return Move(name, key, *theirs, *ours)
        return None
    for side in (ours, theirs):
        gone, fresh = base - side, side - base
        if len(gone) == len(fresh) == 1:
            return Move(name, key, *gone, *fresh)
    return None


def _places(at: Three[Package]) -> Three[Places]:
    """In which files each resource stands, of the files that differ somewhere."""
    found: Three[Places] = Three({}, {}, {})
    for path in sorted({*at.base, *at.ours, *at.theirs}):
        files = files_at(at, path)
        if not is_manifest(path, files.ours or files.theirs or files.base):
            continue
        if files.ours == files.theirs and files.base in (None, files.ours):
            continue
        try:
            names = files.map(lambda file: _resources(file) if file is not None else set())
        except KmergeError:
            continue  # whoever merges the file will say what is wrong with it
        for places, keys in zip(_each(found), _each(names), strict=True):
            for key in keys:
                places.setdefault(key, set()).add(path)
    return found


def _resources(file: File) -> set[Hashable]:
    """The full names in a file, of resources that stand there once."""
    seen: set[Hashable] = set()
    twice: set[Hashable] = set()
    for document in split(Source(file.data)).documents:
        key = _key(document)
        (twice if key in seen else seen).add(key)
    return seen - twice - {None}


def _key(document: Document) -> Hashable:
    if document.inline:
        return None
    found = outline(document.content)
    if found is not None:
        return found
    known = identity(document.root)
    return known.key[:4] if known is not None and known.name else None


def _carry(package: Package, key: Hashable, path: str, target: str) -> None:
    """Take a resource out of one file of a package and put it behind those of another."""
    file = package[path]
    source = Source(file.data)
    documents = split(source).documents
    document = next(d for d in documents if _key(d) == key)
    rest = _without(source.text, documents, document)
    if rest.strip():
        package[path] = replace(file, data=source.encode(rest))
    else:
        del package[path]
    there = package.get(target)
    package[target] = _with(there or File(b"", file.mode), source, document)


def _without(text: str, documents: tuple[Document, ...], document: Document) -> str:
    rest = text[document.end :]
    if document.number == 0 and not document.opening and rest.startswith("---\n"):
        rest = rest[4:]
    return text[: document.start] + rest


def _with(file: File, origin: Source, document: Document) -> File:
    if not file.data:
        return replace(file, data=origin.encode(document.content))
    source = Source(file.data)
    stream = split(source)
    at = stream.tail_start
    opening = "---\n" if stream.documents else ""
    content = document.content
    before = source.text[:at]
    text = before + opening + content + source.text[at:]
    return replace(file, data=source.encode(text))
