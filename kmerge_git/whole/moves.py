"""Resources that one side moved to another file while the other side edited them in the old one.

A line merge sees a deletion against an edit, in a file where neither person made a mistake. Here
the resource is found again by its identity across the whole merge: the edit is taken out of the
old file and merged into the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.sides import Change
from kmerge_git.merge.three import Three
from kmerge_git.whole.resources import Resource, resources, with_resource

Key = Hashable
Read = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Move:
    """A resource that `mover` took from one file to another; the other side edited it."""

    resource: str
    key: Key
    source: str
    target: str
    mover: Literal["ours", "theirs"]
    base_text: str
    edited_text: str


class Arrivals:
    """Where one side has resources that the base does not have in that file."""

    def __init__(self, changes: Iterable[Change], read: Read) -> None:
        self._changes = changes
        self._read = read
        self._places: dict[Key, list[str]] | None = None

    def place(self, key: Key) -> str:
        """The one file where the resource arrived; nothing where there is none or several."""
        if self._places is None:
            self._places = self._look()
        found = self._places.get(key, [])
        return found[0] if len(found) == 1 else ""

    def _look(self) -> dict[Key, list[str]]:
        places: dict[Key, list[str]] = {}
        for change in self._changes:
            if not change.new or not change.new.is_text or not is_manifest(change.new_path):
                continue
            before = resources(self._read(change.old.oid)) if change.old else {}
            for key in resources(self._read(change.new.oid)):
                if key not in before:
                    places.setdefault(key, []).append(change.new_path)
        return places


def find_moves(
    path: str, three: Three[bytes | None], ours: Arrivals, theirs: Arrivals
) -> tuple[Move, ...]:
    """The resources of a file that one side moved away while the other edited them."""
    if three.base is None:
        return ()
    base = resources(three.base)
    our, their = resources(three.ours or b""), resources(three.theirs or b"")
    gone_ours = _moves(path, base, our, their, ours, "ours")
    return gone_ours + _moves(path, base, their, our, theirs, "theirs")


def _moves(
    path: str,
    base: dict[Key, Resource],
    mover: dict[Key, Resource],
    editor: dict[Key, Resource],
    arrivals: Arrivals,
    side: Literal["ours", "theirs"],
) -> tuple[Move, ...]:
    found = []
    for key, before in base.items():
        after = editor.get(key)
        if key in mover or after is None or after.text == before.text:
            continue
        target = arrivals.place(key)
        if target and target != path:
            found.append(Move(before.name, key, path, target, side, before.text, after.text))
    return tuple(found)


def without_edits(three: Three[bytes | None], moves: Iterable[Move]) -> Three[bytes | None]:
    """The old file with the moved resources as they were in the base: their removal is clean."""
    ours, theirs = three.ours, three.theirs
    for move in moves:
        if move.mover == "ours" and theirs is not None:
            theirs = with_resource(theirs, move.key, move.base_text)
        elif move.mover == "theirs" and ours is not None:
            ours = with_resource(ours, move.key, move.base_text)
    return Three(three.base, ours, theirs)


def at_target(target: bytes, moves: Iterable[Move]) -> Three[bytes | None]:
    """The new file three times: with the resources as in the base, and as each side has them."""
    base = ours = theirs = target
    for move in moves:
        base = with_resource(base, move.key, move.base_text)
        if move.mover == "ours":
            theirs = with_resource(theirs, move.key, move.edited_text)
        else:
            ours = with_resource(ours, move.key, move.edited_text)
    return Three(base, ours, theirs)
