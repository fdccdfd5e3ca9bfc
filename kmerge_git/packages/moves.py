"""Resources that one side moved to another file.

Before files are merged path by path, every version of a moved resource is put into the file where
the merged one will stand. So what the destination changed in it is merged as everywhere else.
A move is certain only where a full name left one file and appeared in one other.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from kmerge_git.errors import KmergeError
from kmerge_git.kube.identity import identity
from kmerge_git.kube.outline import outline
from kmerge_git.merge.three import Three, under
from kmerge_git.packages.files import File, Package, is_manifest
from kmerge_git.packages.resources import appended, by_name, moved, without
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split

Places = dict[Hashable, set[str]]


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
    packages = at.map(dict.copy)
    moves = []
    for key in sorted({**places.base, **places.ours, **places.theirs}, key=repr):
        files = under(places, key).map(lambda paths: paths or set())
        move = _move(key, files)
        if move is not None:
            moves.append(move)
            for package, paths in zip(packages.each(), files.each(), strict=True):
                for path in paths - {move.target}:
                    if path == move.source or path not in files.base:
                        _carry(package, key, path, move.target)
    return packages, moves


def _move(key: Hashable, files: Three[set[str]]) -> Move | None:
    """Where a resource belongs that is not where it was; the destination's move comes first."""
    base, ours, theirs = files.each()
    name = f"{key[1]}/{key[3]}" if isinstance(key, tuple) else str(key)
    if not base:  # added by both, in different files
        both = moved(theirs, ours) if len(ours) == len(theirs) == 1 else None
        return Move(name, key, *both) if both else None
    found = moved(base, ours) or moved(base, theirs)
    return Move(name, key, *found) if found else None


def _places(at: Three[Package]) -> Three[Places]:
    """In which files each resource stands, of the files that differ somewhere."""
    found: Three[Places] = Three({}, {}, {})
    for path in sorted({*at.base, *at.ours, *at.theirs}):
        files = under(at, path)
        if not is_manifest(path, files.ours or files.theirs or files.base):
            continue
        if files.ours == files.theirs and files.base in (None, files.ours):
            continue
        try:
            names = files.map(lambda file: by_name(_documents(file), _full_name) if file else {})
        except KmergeError:
            continue  # whoever merges the file will say what is wrong with it
        for places, keys in zip(found.each(), names.each(), strict=True):
            for key in keys:
                places.setdefault(key, set()).add(path)
    return found


def _documents(file: File) -> tuple[Document, ...]:
    return split(Source(file.data)).documents


def _full_name(document: Document) -> Hashable | None:
    """Group, kind, namespace and name, read from the lines of the document where they tell."""
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
    document = next(d for d in _documents(file) if _full_name(d) == key)
    rest = without(document)
    if rest.strip():
        package[path] = replace(file, data=document.source.encode(rest))
    else:
        del package[path]
    there = package.get(target, File(b"", file.mode))
    package[target] = replace(there, data=appended(there.data, document))
