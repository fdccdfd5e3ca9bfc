"""Resources that one side moved to another file while the other side edited them in the old one.

A line merge sees a deletion against an edit, in a file where neither person made a mistake. Here
the resource is found again by its identity across the whole merge: the edit is taken out of the
old file and merged into the new one. A document may have become an item of a list, or an item a
document: its text goes to the other column then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kmerge_git.errors import CannotParse
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.repository import Repository
from kmerge_git.git.touched_files import Change
from kmerge_git.kube.identity import Identity, describe
from kmerge_git.kube.likeness import stripped_lines
from kmerge_git.kube.moved_resources import holders, moved
from kmerge_git.kube.outline import outline
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.resource_places import Stand, Stands, has_many, places

Mover = Literal["ours", "theirs"]


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
    whole: bool = True  # of documents, the comments around them included; else at the first column

    def is_done(self, three: Three[bytes | None]) -> bool:
        """Whether the versions of a file are those that `at_target` makes."""
        base, ours, theirs = (text_in(data or b"", self.key, self.whole) for data in three.each())
        edited = theirs if self.mover == "ours" else ours
        return (base, edited) == (self.base_text, self.edited_text)

    def fits(self, data: bytes) -> bool:
        """Whether both texts can stand in a file where the resource is now."""
        return all(
            text_in(with_resource(data, self.key, text, whole=self.whole), self.key, self.whole)
            == text
            for text in (self.base_text, self.edited_text)
        )


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

    def of(self, key: Identity) -> dict[str, str]:
        """The files in which a resource arrived, and their blobs; read when first asked for."""
        return self._files.get(key, {})

    @cached_property
    def _files(self) -> dict[Identity, dict[str, str]]:
        found = holders(self._arrived())
        return {key: dict(files) for key, files in found.items()}

    def _arrived(self) -> Iterator[tuple[tuple[str, str], set[Identity]]]:
        for change in self.changes:
            if change.new and change.new.is_text and is_manifest(change.new_path):
                before = places(YamlText(self.read(change.old.oid))) if change.old else {}
                names = places(YamlText(self.read(change.new.oid))).keys() - before.keys()
                yield (change.new_path, change.new.oid), names


def find_moves(
    path: str, three: Three[bytes | None], ours: Arrivals, theirs: Arrivals
) -> tuple[MovedEdit, ...]:
    """The resources of a file that one side moved away while the other edited them."""
    if three.base is None or any(map(has_many, three.each())):
        return ()
    texts = three.map(lambda data: YamlText(data or b""))
    if _all_stayed(texts):
        return ()
    base = places(texts.base)
    if not base:
        return ()
    at = Three(base, places(texts.ours), places(texts.theirs))
    return (
        *_edits(path, at, ours, "ours", three.ours or b""),
        *_edits(path, at.swapped(), theirs, "theirs", three.theirs or b""),
    )


def _all_stayed(texts: Three[YamlText]) -> bool:
    """Whether the lines alone tell that both sides still have every resource of the base."""
    base, ours, theirs = texts.map(_names).each()
    return base is not None and base <= (ours or set()) & (theirs or set())


def _names(text: YamlText) -> set[object] | None:
    """The names of a file's documents; None where it takes more than a look at their lines."""
    try:
        found = [outline(document.content) for document in text.stream.documents]
    except CannotParse:
        return None
    # the resources in a `kind: List` have names of their own
    return None if any(name is None or name[1].endswith("List") for name in found) else {*found}


def _edits(
    path: str, at: Three[Stands], arrivals: Arrivals, mover: Mover, left: bytes
) -> Iterator[MovedEdit]:
    """The edits of `at.theirs` in resources that `at.ours` has in one other file.

    `left` is the old file of `at.ours`.
    """
    for key, before in at.base.items():
        after = at.theirs.get(key)
        if key in at.ours or after is None or after.text == before.text:
            continue
        files = moved({path}, arrivals.of(key))
        if not files:
            continue
        data = arrivals.read(arrivals.of(key)[files[1]])
        arrived = places(YamlText(data))[key]
        texts = _texts(before, after, arrived)
        if texts and not _has_stayed(before, left, arrived):
            whole = not (before.is_item or after.is_item or arrived.is_item)
            edit = MovedEdit(describe(key), key, *files, mover, *texts, whole)
            if edit.fits(data):
                yield edit


def _has_stayed(before: Stand, left: bytes, arrived: Stand) -> bool:
    """Whether the old file shows more of a resource than the new one: only its name is elsewhere.

    Who calls it by another name there, and gives its own to something new, has moved nothing.
    """
    known = _lines(before.text)
    others = _lines(before.source.text) - known
    stayed = known & (_lines(left.decode("utf-8", "replace")) - others)
    return stayed.total() > (known & _lines(arrived.text)).total()


def _lines(text: str) -> Counter[str]:
    return Counter(stripped_lines(text))


def _texts(before: Stand, after: Stand, arrived: Stand) -> tuple[str, str] | None:
    """The texts of an edit in a form in which they can stand at both places."""
    if not (before.is_item or after.is_item or arrived.is_item):
        return before.text, after.text
    one, other = before.bare(), after.bare()
    # comments around the resource stay where they are: an edit of theirs would be lost
    if one is None or other is None or one.around != other.around or one.text == other.text:
        return None
    return (one.text, other.text) if before.is_item == after.is_item else None


def without_edits(three: Three[bytes | None], edits: Iterable[MovedEdit]) -> Three[bytes | None]:
    """The old file with the moved resources as in the base, so that to remove them is clean."""
    ours, theirs = three.ours, three.theirs
    for edit in edits:
        if edit.mover == "ours" and theirs is not None:
            theirs = with_resource(theirs, edit.key, edit.base_text, whole=edit.whole)
        elif edit.mover == "theirs" and ours is not None:
            ours = with_resource(ours, edit.key, edit.base_text, whole=edit.whole)
    return Three(three.base, ours, theirs)


def changed_nothing_else(rest: Three[bytes | None]) -> bool:
    """Whether in a file that one side deleted the other side edited only what moved away."""
    return (rest.ours or rest.theirs) == rest.base


def at_target(target: bytes, edits: Iterable[MovedEdit]) -> Three[bytes]:
    """The new file three times: with the resources as in the base, and as each side has them."""
    base = ours = theirs = target
    for edit in edits:
        base = with_resource(base, edit.key, edit.base_text, whole=edit.whole)
        if edit.mover == "ours":
            theirs = with_resource(theirs, edit.key, edit.edited_text, whole=edit.whole)
        else:
            ours = with_resource(ours, edit.key, edit.edited_text, whole=edit.whole)
    return Three(base, ours, theirs)


def text_in(data: bytes, key: Identity, whole: bool = True) -> str | None:
    """The text of a resource in a file, if it is there once and can be exchanged."""
    place = places(YamlText(data)).get(key)
    if place is None or (whole and place.is_item):
        return None
    if whole:
        return place.text
    bare = place.bare()
    return bare.text if bare else None


def with_resource(data: bytes, key: Identity, text: str, whole: bool = True) -> bytes:
    """A file with another text of one resource; the same where it is not in it."""
    place = places(YamlText(data)).get(key)
    if place is None or (whole and place.is_item):
        return data
    if whole:
        return place.exchanged(text)
    bare = place.bare()
    return bare.exchanged(text) if bare else data


def words_for_source(edits: Iterable[MovedEdit]) -> str:
    """`Deployment/web moved to new.yaml`: what is told of the file that the resources left."""
    return ", ".join(f"{edit.resource} moved to {edit.target}" for edit in edits)


def words_for_target(edits: Iterable[MovedEdit]) -> str:
    """`Deployment/web came from old.yaml`: what is told of the file where they are now."""
    return ", ".join(f"{edit.resource} came from {edit.source}" for edit in edits)
