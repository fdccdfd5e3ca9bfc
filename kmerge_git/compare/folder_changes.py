"""Compare two versions of many files, and find renamed files and moved resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import basename
from typing import Any, Literal

from kmerge_git.compare.change import FieldChange, FieldValue
from kmerge_git.compare.differing_fields import Pair, comment_changes, resource_changes
from kmerge_git.compare.file_changes import by_lines, compare
from kmerge_git.kube.identity import identity
from kmerge_git.kube.likeness import MOVED_FILE, bag, match
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.moved_resources import holders, once

LINK = 0o120000
SUBMODULE = 0o160000
FILE = 0o100644
POINTERS = {LINK: "a link", SUBMODULE: "a submodule"}  # files that point to something else
SUFFIXES = (".yaml", ".yml", ".kyaml", ".json")
PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
NAMES = ("kustomization", "Kustomization", "Kptfile")


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Hold the content and git mode of a file; the content of a submodule is a commit id."""

    data: bytes
    mode: int = FILE

    @property
    def is_text(self) -> bool:
        """Return whether the file is a regular file."""
        return self.mode not in (LINK, SUBMODULE)


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """Hold the changes in a file; `path` is the new path or, for a deleted file, the old path."""

    path: str
    how: Literal["added", "deleted", "changed", "renamed"]
    changes: tuple[FieldChange, ...] = ()
    source: str = ""  # the old path of a renamed file
    note: str = ""  # a note about the mode
    is_manifest: bool = True

    @property
    def lines(self) -> tuple[int, int]:
        """Return the numbers of added and deleted lines of a file that was compared by lines."""
        hunks = [change for change in self.changes if change.how == "lines"]
        return sum(_count(hunk.after) for hunk in hunks), sum(_count(hunk.before) for hunk in hunks)

    def as_json(self) -> dict[str, Any]:
        """Return the file and its changes as plain values."""
        known = {"path": self.path, "how": self.how, "from": self.source, "note": self.note}
        changes = [change.as_json() for change in self.changes]
        return {name: text for name, text in known.items() if text} | {"changes": changes}


Versions = Mapping[str, FileVersion]
Compare = Callable[[str, FileVersion | None, FileVersion | None, str], ComparedFile]


def is_manifest(path: str) -> bool:
    """Return whether a file can, by its name, hold resources or chart values.

    A pipe such as `<(helm template .)` counts, because the user named the pipe on purpose.
    """
    name = basename(path)
    if path == "-" or path.startswith(PIPES):
        return True
    return name.endswith(SUFFIXES) or name in NAMES


def compared(
    path: str,
    old: FileVersion | None,
    new: FileVersion | None,
    source: str = "",
    *,
    by_fields: bool = True,
) -> ComparedFile:
    """Compare two versions of a file; one version may be None."""
    manifest = is_manifest(path) and all(v is None or v.is_text for v in (old, new))
    before, after = old.data if old else None, new.data if new else None
    if manifest and by_fields:
        changes = compare(before, after, path)
    else:
        changes = by_lines(before or b"", after or b"")
    how: Literal["added", "deleted", "changed", "renamed"]
    if old is None or new is None:
        how = "added" if old is None else "deleted"
        return ComparedFile(path, how, tuple(changes), is_manifest=manifest)
    note = _mode(old, new)
    how = "renamed" if source else "changed"
    return ComparedFile(path, how, tuple(changes), source, note, manifest)


def compare_folders(old: Versions, new: Versions, make: Compare = compared) -> list[ComparedFile]:
    """Return the files that differ, sorted by path; `make` is called to compare two versions."""
    renamed = _renamed(old, new)
    sources = set(renamed.values())
    files = []
    for path in sorted({*old, *new}):
        before, after = old.get(renamed.get(path, path)), new.get(path)
        if after is None and path in sources:
            continue
        if before != after or path in renamed:
            files.append(make(path, before, after, renamed.get(path, "")))
    return _with_moves(files)


def _mode(old: FileVersion, new: FileVersion) -> str:
    if old.mode == new.mode:
        return POINTERS.get(new.mode, "")
    if old.is_text and new.is_text:
        return "now executable" if new.mode & 0o100 else "no longer executable"
    return {LINK: "now a link", SUBMODULE: "now a submodule"}.get(new.mode, "now a file")


def _count(value: FieldValue | None) -> int:
    return len(value.plain) if value and isinstance(value.plain, list) else 0


# -- renamed files ---------------------------------------------------------------------------------


class _Moved:
    """Hold an added or deleted file, with its lines for finding similar files."""

    def __init__(self, path: str, version: FileVersion) -> None:
        self.path = path
        self.version = version

    @cached_property
    def lines(self) -> dict[str, int]:
        return bag(self.version.data.decode("utf-8", "surrogateescape"))


def _renamed(old: Versions, new: Versions) -> dict[str, str]:
    """Map the new paths of renamed files to old paths: first equal, then similar files."""
    gone, come = _only_in(old, new), _only_in(new, old)
    same = _same_bytes(gone, come)
    taken = set(same.values())
    left = [file for file in gone if file.path not in taken and file.lines]
    right = [file for file in come if file.path not in same and file.lines]
    return same | {after.path: before.path for before, after in match(left, right, MOVED_FILE)}


def _only_in(one: Versions, other: Versions) -> list[_Moved]:
    files = [_Moved(path, version) for path, version in sorted(one.items()) if path not in other]
    return [f for f in files if f.version.is_text and f.version.data.strip()]


def _same_bytes(gone: list[_Moved], come: list[_Moved]) -> dict[str, str]:
    """Pair each new file with an equal deleted file; prefer a file of the same name."""
    waiting = holders((file.path, (file.version.data,)) for file in gone)
    pairs: dict[str, str] = {}
    for file in come:
        paths = waiting.get(file.version.data)
        if paths:
            pairs[file.path] = next(
                (p for p in paths if basename(p) == basename(file.path)), paths[0]
            )
            paths.remove(pairs[file.path])
    return pairs


# -- moved resources -------------------------------------------------------------------------------


def _with_moves(files: list[ComparedFile]) -> list[ComparedFile]:
    """Mark a resource as moved if it was deleted in one file and added in another file."""
    went, came = _wholes(files, "deleted"), _wholes(files, "added")
    moved: dict[int, FieldChange] = {}
    for key in went.keys() & came.keys():
        (source, gone), (target, fresh) = went[key], came[key]
        moved[id(gone)] = replace(gone, target=target)
        moved[id(fresh)] = replace(fresh, source=source, inside=_inside(gone, fresh, target))
    return [
        replace(file, changes=tuple(moved.get(id(c), c) for c in file.changes)) for file in files
    ]


def _wholes(files: Iterable[ComparedFile], how: str) -> dict[Any, tuple[str, FieldChange]]:
    """Return the added or deleted resources by identity, each with its file."""
    return once(
        (identity(value.node), (file.path, change))
        for file in files
        for change in file.changes
        if change.document and change.how == how and not change.steps
        if (value := change.before or change.after)
    )


def _inside(gone: FieldChange, fresh: FieldChange, path: str) -> tuple[FieldChange, ...]:
    """Return the changes in a resource that moved to another file."""
    old, new = gone.before, fresh.after
    assert old is not None  # both are whole resources
    assert new is not None
    where = start(new.node, path)
    comments = comment_changes(*([text for _, text in c.comments] for c in (gone, fresh)))
    return tuple(resource_changes(fresh.resource, Pair(old, new, where, ()), comments))
