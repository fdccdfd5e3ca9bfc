"""Compare the file changes of two sides, and find the files that both sides touched.

All functions work on given values: no function reads a repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

SYMLINK = 0o120000
SUBMODULE = 0o160000

Kind = Literal[
    "changed by both",
    "added by both",
    "deleted by us",
    "deleted by them",
    "renamed to two names",
    "file and directory",
]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """Hold a file in a tree or in the index: the id of its blob and its mode."""

    oid: str
    mode: int

    @property
    def is_text(self) -> bool:
        """Return whether the entry is a regular file, not a symbolic link or a submodule."""
        return self.mode not in (SYMLINK, SUBMODULE)


Entries = tuple[TreeEntry | None, TreeEntry | None, TreeEntry | None]
Files = dict[str, TreeEntry]


@dataclass(frozen=True, slots=True)
class Change:
    """Hold one side's change to a file; an added file has no `old`, a deleted file no `new`."""

    old_path: str
    new_path: str
    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(frozen=True, slots=True)
class FileCase:
    """Hold a file that both sides touched; `path` is the path of the result."""

    path: str
    kind: Kind
    entries: Entries  # of the base, of ours and of theirs
    note: str = ""

    @property
    def is_text(self) -> bool:
        """Return whether every version of the file is a regular file."""
        return all(entry.is_text for entry in self.entries if entry)


def touched_by_both(ours: Sequence[Change], theirs: Sequence[Change]) -> tuple[FileCase, ...]:
    """Return the files that need a merge, sorted by path.

    Omit files that are the same on both sides, and files that one side only renamed or did not
    touch.
    """
    cases = _changed_files(ours, theirs)
    taken = {case.path for case in cases}
    our_new, their_new = _arrivals(ours), _arrivals(theirs)
    cases += [case for case in _added_files(our_new, their_new) if case.path not in taken]
    cases += _files_over_directories(our_new, their_new)
    return tuple(sorted(cases, key=lambda case: case.path))


def _changed_files(ours: Sequence[Change], theirs: Sequence[Change]) -> list[FileCase]:
    by_path = {change.old_path: change for change in theirs if change.old}
    pairs = [(our, by_path[our.old_path]) for our in ours if our.old and our.old_path in by_path]
    return [case for our, their in pairs if (case := _pair(our, their))]


def _pair(our: Change, their: Change) -> FileCase | None:
    """Return the case of a base file that both sides changed, deleted or renamed.

    Return None if the file needs no merge.
    """
    base = our.old
    if our.new is None and their.new is None:
        return None
    if our.new is None:
        return FileCase(their.new_path, "deleted by us", (base, None, their.new))
    if their.new is None:
        return FileCase(our.new_path, "deleted by them", (base, our.new, None))
    entries = (base, our.new, their.new)
    moved_by_us = our.new_path != our.old_path
    moved_by_them = their.new_path != their.old_path
    if moved_by_us and moved_by_them and our.new_path != their.new_path:
        note = f"{our.new_path} and {their.new_path}"
        return FileCase(our.old_path, "renamed to two names", entries, note)
    if base in (our.new, their.new) or our.new == their.new:
        return None  # one side did no more than rename, or both did the same
    path = our.new_path if moved_by_us else their.new_path
    note = f"renamed from {our.old_path}" if path != our.old_path else ""
    return FileCase(path, "changed by both", entries, note)


def _arrivals(changes: Sequence[Change]) -> Files:
    """Return the files that one side added or renamed, with their new paths as keys."""
    return {
        change.new_path: change.new
        for change in changes
        if change.new and (change.old is None or change.old_path != change.new_path)
    }


def _added_files(ours: Files, theirs: Files) -> list[FileCase]:
    """Return the files that both sides put at the same path with different contents."""
    return [
        FileCase(path, "added by both", (None, entry, theirs[path]))
        for path, entry in ours.items()
        if path in theirs and theirs[path] != entry
    ]


def _files_over_directories(ours: Files, theirs: Files) -> list[FileCase]:
    """Return the files of one side at paths where the other side has a directory."""
    our_directories, their_directories = _directories(ours), _directories(theirs)
    clash: Kind = "file and directory"
    return [
        FileCase(path, clash, (None, entry, None), "a directory on the other side")
        for path, entry in ours.items()
        if path in their_directories
    ] + [
        FileCase(path, clash, (None, None, entry), "a directory on our side")
        for path, entry in theirs.items()
        if path in our_directories
    ]


def _directories(paths: Iterable[str]) -> set[str]:
    return {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}


def merged_mode(base: TreeEntry | None, ours: TreeEntry | None, theirs: TreeEntry | None) -> int:
    """Return the mode of the result: the changed mode, or ours if both sides changed the mode."""
    sides = [entry.mode for entry in (ours, theirs) if entry]
    if len(sides) == 2 and base and sides[0] == base.mode:
        return sides[1]
    return sides[0] if sides else 0o100644
