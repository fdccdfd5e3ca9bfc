"""What differs between two versions of a package: files, resources in them, and their fields."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import differing
from kmerge_git.kube.identity import describe, identity, pairing
from kmerge_git.kube.listkeys import start
from kmerge_git.packages.files import File, Package, is_manifest
from kmerge_git.packages.renames import arrivals, find_renames
from kmerge_git.text.diff3 import changes
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.oddities import refuse_oddities


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that differs; without a resource of a document that has no name."""

    resource: str
    field: str  # empty: the whole resource
    how: str  # `added`, `deleted` or `changed`


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that differs; `source` is where it was if it was renamed."""

    path: str
    how: str  # `added`, `deleted`, `changed` or `renamed`
    fields: tuple[FieldDifference, ...] = ()
    note: str = ""
    source: str = ""


def differences(base: Package, local: Package) -> list[FileDifference]:
    """The files of two versions that differ, in the order of their paths."""
    renamed = _renamed(base, local)
    old_names = set(renamed.values())
    found = []
    for path in sorted({*base, *local}):
        old, new = base.get(path), local.get(path)
        if path in renamed and new is not None:
            before = base[renamed[path]]
            change = FileDifference(path, "renamed")
            if before.essence != new.essence:
                change = replace(_changed(path, before, new), how="renamed")
            found.append(replace(change, source=renamed[path]))
        elif old is None:
            found.append(FileDifference(path, "added"))
        elif new is None:
            if path not in old_names:
                found.append(FileDifference(path, "deleted"))
        elif old.essence != new.essence:
            found.append(_changed(path, old, new))
    return found


def _renamed(base: Package, local: Package) -> dict[str, str]:
    """New paths with the old ones."""
    gone = {path: (file,) for path, file in sorted(base.items()) if path not in local}
    fresh = {path: file for path, file in sorted(local.items()) if path not in base}
    found = find_renames(gone, fresh, arrivals(base, local))
    return {new: old for old, new in found.items()}


def _changed(path: str, old: File, new: File) -> FileDifference:
    if old.link != new.link:
        return FileDifference(
            path, "changed", note="now a link" if new.link else "no link any more"
        )
    if old.link:
        return FileDifference(path, "changed", note="the link leads elsewhere")
    note = ""
    if old.is_executable != new.is_executable:
        note = "executable" if new.is_executable else "not executable any more"
    if old.data == new.data:
        return FileDifference(path, "changed", note=note)
    if old.is_binary or new.is_binary:
        return FileDifference(path, "changed", note=", ".join(filter(None, (note, "binary"))))
    fields, why = _fields(path, old.data, new.data)
    return FileDifference(path, "changed", fields, ", ".join(filter(None, (note, why))))


def _fields(path: str, old: bytes, new: bytes) -> tuple[tuple[FieldDifference, ...], str]:
    """The fields of a manifest that differ; else how much of the text does."""
    if is_manifest(path):
        try:
            streams = [split(Source(data, path)) for data in (old, new)]
            refuse_oddities(*streams)
            found = _resources(path, *(list(stream.documents) for stream in streams))
            return tuple(found), "" if found else "comments or spelling"
        except KmergeError:
            pass  # a template, or no YAML at all
    hunks = changes(old.split(b"\n"), new.split(b"\n"))
    count = sum(max(a1 - a0, b1 - b0) for a0, a1, b0, b1 in hunks)
    return (), "1 line" if count == 1 else f"{count} lines"


def _resources(path: str, old: list[Document], new: list[Document]) -> list[FieldDifference]:
    same_texts = Counter(d.content for d in old) & Counter(d.content for d in new)
    mine, yours = _without(old, same_texts), _without(new, same_texts)
    pairs = sorted(pairing(mine, yours).pairs, key=lambda pair: pair[1])
    found = []
    for i, j in pairs:
        found += _of_one(path, mine[i], yours[j])
    for sides, documents, how in ((0, mine, "deleted"), (1, yours, "added")):
        taken = {pair[sides] for pair in pairs}
        rest = [d for number, d in enumerate(documents) if number not in taken and d.root]
        found += [FieldDifference(_name(d), "", how) for d in rest]
    return found


def _of_one(path: str, old: Document, new: Document) -> list[FieldDifference]:
    before, after = old.root, new.root
    if before is None or after is None:
        how = "added" if before is None else "deleted"
        return (
            [FieldDifference(_name(old if after is None else new), "", how)]
            if before or after
            else []
        )
    steps = differing(before, after, start(after, path))
    return [FieldDifference(_name(new), fieldpath.show(step), "changed") for step in steps]


def _without(documents: list[Document], known: Counter[str]) -> list[Document]:
    """The documents whose text the other version does not have."""
    rest = known.copy()
    found = []
    for document in documents:
        if rest[document.content]:
            rest[document.content] -= 1
        else:
            found.append(document)
    return found


def _name(document: Document) -> str:
    known = identity(document.root)
    return describe(known) if known is not None else ""
