"""Prepare an exchange of files, and keep a journal of the exchange until it is done.

The folder of the exchange holds the new files as `new/N`, copies of the files that they replace as
`old/N`, and a `journal` that lists all of them. The journal is written last, by a rename. As long
as there is no journal, no other file of the directory was touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from kmerge_git.errors import UsageError
from kmerge_git.packages.package_files import UNDERWAY, File, check_path

Changes = Mapping[str, File | None]


def prepare(root: str, changes: Changes, about: Mapping[str, str], before: Changes | None) -> None:
    """Fill the folder UNDERWAY with everything that the changes need; write the journal last."""
    exchanges = []
    for name in (NEW, OLD):
        folder = os.path.join(root, UNDERWAY, name)
        with errors_of(folder):
            os.mkdir(folder, 0o700)
    # the file `.gitignore` keeps `git add -A` out of this folder
    for name, data in ((NOT + DONE, b""), (NOT + BACK, b""), (".gitignore", b"*\n")):
        with errors_of(os.path.join(root, UNDERWAY)):
            write(os.path.join(root, UNDERWAY, name), File(data))
    for number, path in enumerate(sorted(changes)):
        with errors_of(os.path.join(root, path)):
            old = _keep(root, path, number)
            new = _lay(root, changes[path], number)
        known = before.get(path) if before is not None else None
        if before is not None and old != (stamp_of(known) if known else None):
            place = os.path.join(root, path)
            raise UsageError("somebody changed the file", path=place, hint="run kmerge again")
        exchanges.append(Exchange(path, number, old, new))
    with errors_of(os.path.join(root, UNDERWAY)):
        token = os.urandom(4).hex()
        store(root, Ledger(dict(about), token, _folders(root, changes), tuple(exchanges)))


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Turn an error of the operating system into a `UsageError` with the path of the file."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror or error}", path=path) from None


def check(root: str, changes: Changes) -> None:
    """Refuse changes that lead out of the directory or cannot be written."""
    for path, file in changes.items():
        check_path(path, root)
        where = os.path.join(root, path)
        with errors_of(where):
            for folder in above(path):
                if file and changes.get(folder):
                    raise UsageError(
                        f"{folder} would be both a file and a directory; rename one", path=where
                    )
            blocked = in_the_way(root, path)
            if blocked and blocked not in changes:
                kind = "a link" if os.path.islink(os.path.join(root, blocked)) else "a file"
                raise UsageError(f"cannot write: {blocked} is {kind}", path=where)
            if not blocked:
                _check_place(root, path, changes)


def _check_place(root: str, path: str, changes: Changes) -> None:
    """Raise an error if a path cannot be replaced.

    It may be a device, a folder whose files stay, or a place without permission to write.
    """
    where = os.path.join(root, path)
    if os.path.lexists(where) and not (
        os.path.islink(where) or os.path.isfile(where) or os.path.isdir(where)
    ):
        raise UsageError("this is neither a file nor a directory", path=where, hint="remove it")
    if changes[path] is not None:
        for name, is_folder in inside(root, path):
            if not is_folder and (name not in changes or changes[name]):
                raise UsageError(
                    f"cannot replace this directory: it still contains {name}", path=where
                )
    folder = next(f for f in [*above(path), ""] if os.path.lexists(os.path.join(root, f)))
    if not os.access(os.path.join(root, folder), os.W_OK | os.X_OK):
        raise UsageError("cannot write: Permission denied", path=where)


def _keep(root: str, path: str, number: int) -> Stamp | None:
    """Keep the old version of a file as a hard link or as a copy."""
    where, kept = os.path.join(root, path), os.path.join(root, UNDERWAY, OLD, str(number))
    if in_the_way(root, path) or not os.path.lexists(where):
        return None
    if os.path.islink(where):
        os.symlink(os.readlink(where), kept)
        return stamp(kept)
    if os.path.isdir(where):
        return None
    try:
        os.link(where, kept)
    except OSError:  # not every file system and every file allows a hard link
        write(kept, file_at(where))
    return stamp(kept)


def _lay(root: str, file: File | None, number: int) -> Stamp | None:
    if file is None:
        return None
    fresh = os.path.join(root, UNDERWAY, NEW, str(number))
    write(fresh, file)
    return stamp(fresh)  # the file system may have changed the permissions


def file_at(path: str) -> File:
    """Read a file or a link."""
    if os.path.islink(path):
        return File(os.fsencode(os.readlink(path)), link=True)
    with open(path, "rb") as file:
        return File(file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode))


def write(path: str, file: File) -> None:
    """Write a new file; raise an error if the file exists."""
    if file.link:
        os.symlink(os.fsdecode(file.data), path)
        return
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
        out.write(file.data)
    os.chmod(path, file.mode)


def _folders(root: str, changes: Changes) -> dict[str, int]:
    """Return the permissions of the folders that the changes may affect.

    These are the folders above the changed files, and the folders that become files.
    """
    wanted = {folder for path in changes for folder in above(path)}
    for path, file in changes.items():
        if file and stamp_at(root, path) is None:
            wanted |= {path, *(name for name, is_folder in inside(root, path) if is_folder)}
    modes = {}
    for folder in sorted(wanted):
        place = os.path.join(root, folder)
        if not in_the_way(root, f"{folder}/") and os.path.lexists(place):
            modes[folder] = stat.S_IMODE(os.lstat(place).st_mode)
    return modes


JOURNAL, NEW, OLD = "journal", "new", "old"
DONE, BACK, NOT = "done", "back", "not-"  # files that mark an exchange as done, or as being undone
VERSION = 1


@dataclass(frozen=True, slots=True)
class Stamp:
    """Hold the kind, the checksum and the permissions of a file, to compare versions of files."""

    kind: str  # file, link, other
    checksum: str = ""
    mode: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """Hold the old and the new stamp of one file; None means that there is no file."""

    path: str
    number: int
    old: Stamp | None
    new: Stamp | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """Hold the whole journal: the exchanges, and the permissions that folders had before."""

    about: dict[str, str]
    token: str  # a part of the names of temporary copies (see `draft`)
    folders: dict[str, int]  # the permissions of the folders that existed before
    exchanges: tuple[Exchange, ...]


def store(root: str, ledger: Ledger) -> None:
    """Write the journal; from then on the exchange is begun.

    The journal is flushed to the disk. The new files are not flushed, because their checksums show
    whether a power cut damaged them. The old files are mostly hard links to files that were on the
    disk already.
    """
    folder = os.path.join(root, UNDERWAY)
    text = json.dumps({"version": VERSION, **asdict(ledger)})  # ASCII: odd bytes are escapes
    draft = os.path.join(folder, f"{JOURNAL}.part")
    with open(draft, "x", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(draft, os.path.join(folder, JOURNAL))
    for place in (folder, root):
        with suppress(OSError):  # not every system can flush the entries of a directory
            flush(place)


def flush(place: str) -> None:
    """Flush the entries of a directory to the disk."""
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def load(root: str) -> Ledger | None:
    """Read the journal; return None if there is no journal."""
    folder = os.path.join(root, UNDERWAY)
    path = os.path.join(folder, JOURNAL)
    is_link = any(os.path.islink(os.path.join(folder, name)) for name in (NEW, OLD, JOURNAL))
    if is_link or os.path.islink(folder) or os.path.isfile(folder):
        raise UsageError(
            "kmerge did not create this file or directory", path=folder, hint="remove it"
        )
    try:
        with open(path, "rb") as file:
            return _ledger(json.loads(file.read()), path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", path=path) from None
    except (AttributeError, KeyError, TypeError, ValueError):
        hint = f"move {UNDERWAY} away; its directory {OLD} has the old files"
        raise UsageError("the journal is damaged", path=path, hint=hint) from None


def _ledger(read: dict[str, Any], path: str) -> Ledger:
    if read.pop("version") != VERSION:
        raise UsageError(
            "another version of kmerge began this merge",
            path=path,
            hint="finish it with that version",
        )
    exchanges = tuple(
        Exchange(str(e["path"]), int(e["number"]), _known(e["old"]), _known(e["new"]))
        for e in read["exchanges"]
    )
    about = {str(key): str(value) for key, value in read["about"].items()}
    modes = {name: int(mode) for name, mode in read["folders"].items()}
    for name in [*(e.path for e in exchanges), *modes]:
        check_path(name, path)
    if not read["token"].isalnum():
        raise ValueError
    return Ledger(about, read["token"], modes, exchanges)


def _known(read: Mapping[str, Any] | None) -> Stamp | None:
    if read is None:
        return None
    return Stamp(str(read["kind"]), str(read["checksum"]), int(read["mode"]))


def stamp(path: str) -> Stamp | None:
    """Return the stamp of the file at a path, or None for a directory or a missing file.

    No folder in the path may be a link.
    """
    try:
        about = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(about.st_mode):
        return None
    if stat.S_ISLNK(about.st_mode):
        return stamp_of(File(os.fsencode(os.readlink(path)), link=True))
    if not stat.S_ISREG(about.st_mode):
        return Stamp("other")
    with open(path, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return Stamp("file", checksum, stat.S_IMODE(about.st_mode))


def stamp_of(file: File) -> Stamp:
    """Return the stamp that a file will have when it is written."""
    checksum = hashlib.sha256(file.data).hexdigest()
    return Stamp("link", checksum) if file.link else Stamp("file", checksum, file.mode)


def is_alike(one: Stamp | None, other: Stamp | None) -> bool:
    """Return whether git would see no difference between two files."""
    if one is None or other is None:
        return one is other
    has_other_mode = (one.mode ^ other.mode) & 0o100
    return (one.kind, one.checksum) == (other.kind, other.checksum) and not has_other_mode


def stamp_at(root: str, path: str) -> Stamp | None:
    """Return the stamp of a file below a directory, or None if the file is missing.

    A file also counts as missing if its path leads through a link or another file.
    """
    return None if in_the_way(root, path) else stamp(os.path.join(root, path))


def in_the_way(root: str, path: str) -> str:
    """Return the first parent of a path that exists but is not a directory, or ''."""
    here = ""
    for part in path.split("/")[:-1]:
        here = f"{here}/{part}" if here else part
        try:
            if not stat.S_ISDIR(os.lstat(os.path.join(root, here)).st_mode):
                return here
        except FileNotFoundError:
            return ""
    return ""


def above(path: str) -> list[str]:
    """Return the folders above a path, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def inside(root: str, path: str) -> list[tuple[str, bool]]:
    """Return each path below a directory, with True if the path is a folder.

    A folder comes before its content.
    """
    place = os.path.join(root, path)
    if os.path.islink(place) or not os.path.isdir(place):
        return []
    below, folders = [], [path]
    for folder in folders:
        with os.scandir(os.path.join(root, folder)) as entries:
            here = [(f"{folder}/{e.name}", e.is_dir(follow_symlinks=False)) for e in entries]
        below += here
        folders += [name for name, is_folder in here if is_folder]
    return below


def draft(root: str, ledger: Ledger, each: Exchange) -> str:
    """Return the path of a temporary copy in the target's folder.

    The copy is needed if the new file is on another file system, because a rename cannot move it to
    the target then.
    """
    folder = os.path.dirname(os.path.join(root, each.path))
    return os.path.join(folder, f".kmerge-{ledger.token}-{each.number}")
