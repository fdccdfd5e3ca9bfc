"""Two versions of many files: which came, went or were renamed, and what moved between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from kmerge_git.compare import differing_fields
from kmerge_git.compare.change import FieldChange, FieldValue
from kmerge_git.compare.differing_fields import Pair, field_changes
from kmerge_git.compare.file_changes import by_lines, compare
from kmerge_git.kube.identity import identity
from kmerge_git.kube.likeness import MOVED_FILE, bag, match
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.moved_resources import once

LINK = 0o120000
SUBMODULE = 0o160000
FILE = 0o100644
POINTERS = {LINK: "a link", SUBMODULE: "a submodule"}  # of other things than bytes
SUFFIXES = (".yaml", ".yml", ".kyaml", ".json")
PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
NAMES = ("kustomization", "Kustomization", "Kptfile")


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file's bytes and its mode, as git has both; a submodule's are its commit."""

    data: bytes
    mode: int = FILE

    @property
    def is_text(self) -> bool:
        """Whether it is a regular file."""
        return self.mode not in (LINK, SUBMODULE)


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """What changed in a file; `path` is where it is, or was."""

    path: str
    how: Literal["added", "deleted", "changed", "renamed"]
    changes: tuple[FieldChange, ...] = ()
    source: str = ""  # where it was before it was renamed
    note: str = ""  # its mode
    is_manifest: bool = True

    @property
    def lines(self) -> tuple[int, int]:
        """Of a file that was compared by lines: how many came, and how many went."""
        counts = [0, 0]
        for change in self.changes:
            if change.how == "lines":
                counts[0] += _count(change.after)
                counts[1] += _count(change.before)
        return counts[0], counts[1]

    def as_json(self) -> dict[str, Any]:
        """The file, and all changes in it."""
        found: dict[str, Any] = {"path": self.path, "how": self.how}
        if self.source:
            found["from"] = self.source
        if self.note:
            found["note"] = self.note
        return found | {"changes": [change.as_json() for change in self.changes]}


Versions = Mapping[str, FileVersion]
Compare = Callable[[str, FileVersion | None, FileVersion | None, str], ComparedFile]


def is_manifest(path: str) -> bool:
    """Whether a file can hold resources, or values for some, judged by its name.

    A pipe has none: what is given to us that way (`<(helm template .)`) is meant.
    """
    name = path.rpartition("/")[2]
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
    """The two versions of a file, None where there is none."""
    manifest = is_manifest(path) and all(v is None or v.is_text for v in (old, new))
    make = compare if manifest and by_fields else _by_lines
    changes = tuple(make(old.data if old else None, new.data if new else None, path))
    if old is None or new is None:
        how: Literal["added", "deleted"] = "added" if old is None else "deleted"
        return ComparedFile(path, how, changes, is_manifest=manifest)
    note = _mode(old, new)
    return ComparedFile(path, "renamed" if source else "changed", changes, source, note, manifest)


def compare_folders(old: Versions, new: Versions, make: Compare = compared) -> list[ComparedFile]:
    """The files that differ, in the order of their paths; `make` compares one."""
    renamed = _renamed(old, new)
    sources = set(renamed.values())
    found = []
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if path in renamed:
            before = old[renamed[path]]
        elif after is None and path in sources:
            continue
        if before != after or path in renamed:
            found.append(make(path, before, after, renamed.get(path, "")))
    return _with_moves(found)


def _by_lines(old: bytes | None, new: bytes | None, path: str) -> list[FieldChange]:
    return by_lines(old or b"", new or b"")


def _mode(old: FileVersion, new: FileVersion) -> str:
    if old.mode == new.mode:
        return POINTERS.get(new.mode, "")
    if old.is_text and new.is_text:
        return "executable" if new.mode & 0o100 else "not executable any more"
    return {LINK: "a link now", SUBMODULE: "a submodule now"}.get(new.mode, "a file now")


def _count(value: FieldValue | None) -> int:
    return len(value.plain) if value and isinstance(value.plain, list) else 0


# -- renamed files ---------------------------------------------------------------------------------


class _Moved:
    """A file that went, or came, and the lines that make it like another one."""

    def __init__(self, path: str, version: FileVersion) -> None:
        self.path = path
        self.version = version

    @cached_property
    def lines(self) -> dict[str, int]:
        return bag(self.version.data.decode("utf-8", "surrogateescape"))


def _renamed(old: Versions, new: Versions) -> dict[str, str]:
    """New paths with their old ones: equal bytes, then files clearly alike."""
    gone, come = _only_in(old, new), _only_in(new, old)
    found = _same_bytes(gone, come)
    taken = set(found.values())
    left = [file for file in gone if file.path not in taken and file.lines]
    right = [file for file in come if file.path not in found and file.lines]
    return found | {after.path: before.path for before, after in match(left, right, MOVED_FILE)}


def _only_in(one: Versions, other: Versions) -> list[_Moved]:
    files = [_Moved(path, version) for path, version in sorted(one.items()) if path not in other]
    return [f for f in files if f.version.is_text and f.version.data.strip()]


def _same_bytes(gone: list[_Moved], come: list[_Moved]) -> dict[str, str]:
    """Files with the same bytes, those of one name before others."""
    waiting: dict[bytes, list[str]] = {}
    for file in gone:
        waiting.setdefault(file.version.data, []).append(file.path)
    found: dict[str, str] = {}
    for file in come:
        paths = waiting.get(file.version.data)
        if paths:
            found[file.path] = next((p for p in paths if _name(p) == _name(file.path)), paths[0])
            paths.remove(found[file.path])
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]


# -- moved resources -------------------------------------------------------------------------------


def _with_moves(files: list[ComparedFile]) -> list[ComparedFile]:
    """The files where a resource that went from one and came to another is told as moved."""
    went, came = _wholes(files, "deleted"), _wholes(files, "added")
    moved: dict[int, FieldChange] = {}
    for key, (source, gone) in went.items():
        if key in came:
            target, fresh = came[key]
            moved[id(gone)] = replace(gone, target=target)
            moved[id(fresh)] = replace(fresh, source=source, inside=_inside(gone, fresh, target))
    if not moved:
        return files
    return [
        replace(file, changes=tuple(moved.get(id(c), c) for c in file.changes)) for file in files
    ]


def _wholes(files: Iterable[ComparedFile], how: str) -> dict[Any, tuple[str, FieldChange]]:
    """Return the resources that came or went, by identity, with their files."""
    return once(
        (identity(value.node), (file.path, change))
        for file in files
        for change in file.changes
        if change.document and change.how == how and not change.steps
        if (value := change.before or change.after)
    )


def _inside(gone: FieldChange, fresh: FieldChange, path: str) -> tuple[FieldChange, ...]:
    """What changed in a resource that moved."""
    old, new = gone.before, fresh.after
    assert old is not None  # both are whole resources
    assert new is not None
    where = start(new.node, path)
    found = [replace(c, resource=fresh.resource) for c in field_changes(Pair(old, new, where, ()))]
    said = differing_fields.comment_changes(
        *([text for _, text in c.comments] for c in (gone, fresh))
    )
    words = [
        *(["comments"] if said else []),
        *sorted(differing_fields.spelling(old.node, new.node, where)),
    ]
    if words:
        found.append(FieldChange("layout", fresh.resource, what=tuple(words), comments=said))
    return tuple(found)
