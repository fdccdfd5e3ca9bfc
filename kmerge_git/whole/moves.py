"""Resources that one side moved to another file while the other side edited them in the old one.

A line merge sees a deletion against an edit, in a file where neither person made a mistake. Here
the resource is found again by its identity across the whole merge: the edit is taken out of the
old file and merged into the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kmerge_git.errors import CannotParse
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.repository import Repository
from kmerge_git.git.sides import Change
from kmerge_git.kube.identity import Identity, describe, identity
from kmerge_git.kube.outline import outline
from kmerge_git.merge.three import Three
from kmerge_git.packages.resources import by_name, exchanged, moved
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split

Mover = Literal["ours", "theirs"]
Resources = dict[Identity, Document]


@dataclass(frozen=True, slots=True)
class MovedEdit:
    """What one side changed in a resource that `mover`, the other side, took to another file."""

    resource: str  # Deployment/web
    key: Identity
    source: str
    target: str
    mover: Mover
    base_text: str
    edited_text: str


@dataclass(frozen=True)
class Arrivals:
    """Where one side has resources that the base does not have in that file."""

    changes: Iterable[Change]
    read: Callable[[str], bytes]

    @classmethod
    def between(cls, repository: Repository, base: str | None, side: str) -> Arrivals:
        """The arrivals in the tree of one side."""

        def changes() -> Iterator[Change]:  # compared when somebody asks: few merges move anything
            # here a renamed file is a place like any other: its resources arrived in it
            yield from repository.changes(base, side, renames=False)

        return cls(changes(), repository.blob)

    def of(self, key: Identity) -> set[str]:
        """The files in which a resource arrived; they are read when the first is asked for."""
        return self._files.get(key, set())

    @cached_property
    def _files(self) -> dict[Identity, set[str]]:
        found: dict[Identity, set[str]] = {}
        for change in self.changes:
            if not change.new or not change.new.is_text or not is_manifest(change.new_path):
                continue
            before = resources(self.read(change.old.oid)) if change.old else {}
            for key in resources(self.read(change.new.oid)).keys() - before.keys():
                found.setdefault(key, set()).add(change.new_path)
        return found


def find_moves(
    path: str, three: Three[bytes | None], ours: Arrivals, theirs: Arrivals
) -> tuple[MovedEdit, ...]:
    """The resources of a file that one side moved away while the other edited them."""
    if three.base is None or _all_stayed(three):
        return ()
    at = three.map(lambda data: resources(data or b""))
    return (*_edits(path, at, ours, "ours"), *_edits(path, at.swapped(), theirs, "theirs"))


def _all_stayed(three: Three[bytes | None]) -> bool:
    """Whether the lines alone tell that both sides still have every resource of the base."""
    names = three.map(lambda data: _names(data or b""))
    base, ours, theirs = names.each()
    return None not in (base, ours, theirs) and (base or set()) <= (ours or set()) & (
        theirs or set()
    )


def _names(data: bytes) -> set[object] | None:
    """The names of a file's documents; None where it takes more than a look at their lines."""
    try:
        found = [outline(document.content) for document in split(Source(data)).documents]
    except CannotParse:
        return None
    # the resources in a `kind: List` have names of their own
    return None if any(name is None or name[1].endswith("List") for name in found) else {*found}


def _edits(
    path: str, at: Three[Resources], arrivals: Arrivals, mover: Mover
) -> Iterator[MovedEdit]:
    """The edits of `at.theirs` in resources that `at.ours` has in one other file."""
    for key, before in at.base.items():
        after = at.theirs.get(key)
        if key in at.ours or after is None or after.content == before.content:
            continue
        files = moved({path}, arrivals.of(key))
        if files:
            texts = before.content, after.content
            yield MovedEdit(describe(key), key, *files, mover, *texts)


def without_edits(three: Three[bytes | None], edits: Iterable[MovedEdit]) -> Three[bytes | None]:
    """The old file with the moved resources as in the base, so that to remove them is clean."""
    ours, theirs = three.ours, three.theirs
    for edit in edits:
        if edit.mover == "ours" and theirs is not None:
            theirs = with_resource(theirs, edit.key, edit.base_text)
        elif edit.mover == "theirs" and ours is not None:
            ours = with_resource(ours, edit.key, edit.base_text)
    return Three(three.base, ours, theirs)


def changed_nothing_else(rest: Three[bytes | None]) -> bool:
    """Whether in a file that one side deleted the other side edited only what moved away."""
    return (rest.ours or rest.theirs) == rest.base


def at_target(target: bytes, edits: Iterable[MovedEdit]) -> Three[bytes]:
    """The new file three times: with the resources as in the base, and as each side has them."""
    base = ours = theirs = target
    for edit in edits:
        base = with_resource(base, edit.key, edit.base_text)
        if edit.mover == "ours":
            theirs = with_resource(theirs, edit.key, edit.edited_text)
        else:
            ours = with_resource(ours, edit.key, edit.edited_text)
    return Three(base, ours, theirs)


def resources(data: bytes) -> Resources:
    """The resources of a file; none where it is not YAML, or one begins on its `---` line."""
    try:
        stream = split(Source(data))
        _ = stream.roots
    except CannotParse:
        return {}
    if any(document.inline for document in stream.documents):
        return {}
    return by_name(stream.documents, lambda document: identity(document.root))


def with_resource(data: bytes, key: Identity, text: str) -> bytes:
    """A file with another text of one resource; the same where it is not in it."""
    for document in split(Source(data)).documents:
        if identity(document.root) == key:
            return exchanged(document, text)
    return data


def words_for_source(edits: Iterable[MovedEdit]) -> str:
    """`Deployment/web moved to new.yaml`: what is told of the file that the resources left."""
    return ", ".join(f"{edit.resource} moved to {edit.target}" for edit in edits)


def words_for_target(edits: Iterable[MovedEdit]) -> str:
    """`Deployment/web came from old.yaml`: what is told of the file where they are now."""
    return ", ".join(f"{edit.resource} came from {edit.source}" for edit in edits)
