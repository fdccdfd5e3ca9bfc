"""Find resources that both sides took out of one file, and the edits that these resources need.

Each side has moved such a resource to another file or deleted it. Git does not pair the resource
with itself in two files, so git reports no conflict, whatever the sides did with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kmerge_git.git.manifests import is_manifest
from kmerge_git.kube.identity import Identity, describe
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.moved_edits import (
    Arrivals,
    MovedEdit,
    Mover,
    Stand,
    has_many,
    items_of,
    names_by_lines,
    places,
)


@dataclass(frozen=True, slots=True)
class TakenByBoth:
    """Hold a resource that both sides took out of one file.

    `ours` and `theirs` are the files to which the sides moved the resource, or '' if a side deleted
    the resource.
    """

    resource: str
    key: Identity
    source: str
    ours: str
    theirs: str
    before: Stand

    @property
    def is_apart(self) -> bool:
        """Return whether the two sides moved the resource to different files."""
        return bool(self.ours and self.theirs and self.ours != self.theirs)

    @property
    def words(self) -> str:
        """Return a sentence about a resource that one side deleted."""
        here, there = (
            f"moved from {self.source} to {path}" if path else f"deleted in {self.source}"
            for path in (self.ours, self.theirs)
        )
        return f"{self.resource}: {here} here, {there} there; {self.ours or self.theirs} keeps it"


def taken_by_both(ours: Arrivals, theirs: Arrivals) -> Iterator[TakenByBoth]:
    """Yield the resources that both sides took out of one file, and at least one side moved."""
    for path in sorted(ours.by_old_path.keys() & theirs.by_old_path.keys()):
        here, there = ours.by_old_path[path], theirs.by_old_path[path]
        entries = (here.old, here.new, there.new)
        if not is_manifest(path) or not all(entry.is_text for entry in entries if entry):
            continue
        three = Three(*(ours.read(entry.oid) if entry else b"" for entry in entries))
        if any(map(has_many, three.each())):
            continue
        texts = three.map(YamlText)
        if not _all_named(texts):
            yield from _taken(path, texts, ours, theirs)


def _all_named(texts: Three[YamlText]) -> bool:
    """Return whether the lines show, without parsing, that a side kept each resource."""
    base, ours, theirs = texts.map(names_by_lines).each()
    return base is not None and base <= (ours or set()) | (theirs or set())


def _taken(
    path: str, texts: Three[YamlText], ours: Arrivals, theirs: Arrivals
) -> Iterator[TakenByBoth]:
    at = texts.map(places)
    for key, before in at.base.items():
        if key in at.ours or key in at.theirs:
            continue
        here = ours.target(path, key, before, texts.ours.data)
        there = theirs.target(path, key, before, texts.theirs.data)
        if here is not None and there is not None and (here or there):
            yield TakenByBoth(describe(key), key, path, here, there, before)


def edits_of_both(taken: TakenByBoth, three: Three[bytes]) -> tuple[MovedEdit, ...]:
    """Return the edits of a resource that both sides moved to the same file, if these differ."""
    if taken.key in places(YamlText(three.base)):
        return ()  # a killed run has written the base of the resource into the stages
    here, there = (places(YamlText(data)).get(taken.key) for data in (three.ours, three.theirs))
    if here is None or there is None:
        return ()
    ours = _edit(taken, taken.ours, here, there, "theirs")
    theirs = _edit(taken, taken.ours, there, here, "ours")
    if ours is None or theirs is None or ours.edited_text == theirs.edited_text:
        return ()
    is_fit = all(edit.fits(data) for edit in (ours, theirs) for data in (three.ours, three.theirs))
    return (ours, theirs) if is_fit else ()


def _edit(
    taken: TakenByBoth, target: str, after: Stand, arrived: Stand, mover: Mover
) -> MovedEdit | None:
    """Return the change from the base to `after` as an edit for the place `arrived`."""
    whole = not (taken.before.is_item or after.is_item or arrived.is_item)
    before = taken.before if whole else taken.before.bare()
    edited = after if whole else after.bare()
    if before is None or edited is None:
        return None
    texts = before.text, edited.text
    return MovedEdit(taken.resource, taken.key, taken.source, target, mover, *texts, whole)


def is_proposal(three: Three[bytes | None]) -> bool:
    """Return whether three stages propose in which of two files a resource stays.

    The stages of a file with the edit of a moved resource have the same resources on both sides.
    """
    base, ours, theirs = three.each()
    if base != theirs or ours == base:
        return base == theirs
    names = [places(YamlText(data or b"")).keys() for data in (base, ours)]
    return names[0] != names[1]


def has_resource(data: bytes, key: Identity) -> bool:
    """Return whether a file has a resource exactly once."""
    return key in places(YamlText(data))


def cut(data: bytes, key: Identity) -> tuple[str, str, str] | None:
    """Split the text of a file into the part before a resource, the resource, and the rest.

    The file without the middle part is the file without the resource. Return None if the lines of
    the resource cannot be taken out.
    """
    text = YamlText(data)
    place = places(text).get(key)
    if place is None:
        return None
    lines, documents = text.source.text, text.stream.documents
    at = next(n for n, d in enumerate(documents) if d.start <= place.start < d.end)
    holder = documents[at]
    start, end = place.start, place.end
    if not place.is_item or len(items_of(holder.root)) == 1:
        start, end = holder.start, holder.end
        following = documents[at + 1].opening if at + 1 < len(documents) else ""
        if at == 0 and not holder.opening and following == "---\n":
            end += len(following)
    return lines[:start], lines[start:end], lines[end:]


def without_resource(data: bytes, key: Identity) -> bytes | None:
    """Return a file without a resource, or None if nothing else is in the file."""
    parts = cut(data, key)
    if parts is None:
        return data
    head, _, tail = parts
    return YamlText(data).source.encode(head + tail) if (head + tail).strip() else None
