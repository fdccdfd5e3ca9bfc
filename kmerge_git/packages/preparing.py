"""Lays fresh files, copies of the old ones and the journal ready, if all of it can be written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kmerge_git.errors import UsageError
from kmerge_git.packages.files import UNDERWAY, File, check_path
from kmerge_git.packages.underway import (
    BACK,
    DONE,
    NEW,
    NOT,
    OLD,
    Exchange,
    Ledger,
    Stamp,
    above,
    in_the_way,
    inside,
    stamp,
    stamp_of,
    standing,
    store,
)

Changes = Mapping[str, File | None]


def prepare(root: str, changes: Changes, about: Mapping[str, str], before: Changes | None) -> None:
    """Fill UNDERWAY with all that the changes need; its journal comes last."""
    made = []
    for name in (NEW, OLD):
        folder = os.path.join(root, UNDERWAY, name)
        with errors_of(folder):
            os.mkdir(folder, 0o700)
    own = {NOT + DONE: b"", NOT + BACK: b"", ".gitignore": b"*\n"}  # `git add -A` is not for this
    for name, data in own.items():
        with errors_of(os.path.join(root, UNDERWAY)):
            write(os.path.join(root, UNDERWAY, name), File(data))
    for number, path in enumerate(sorted(changes)):
        with errors_of(os.path.join(root, path)):
            old = _keep(root, path, number)
            new = _lay(root, changes[path], number)
        if before is not None:
            _check_version(root, path, old, before.get(path))
        made.append(Exchange(path, number, old, new))
    with errors_of(os.path.join(root, UNDERWAY)):
        folders = _folders(root, changes)
        store(root, Ledger(dict(about), os.urandom(4).hex(), folders, tuple(made)))


def _check_version(root: str, path: str, found: Stamp | None, known: File | None) -> None:
    """Refuse a file that is not the one that the change was made for."""
    if found != (stamp_of(known) if known else None):
        where = os.path.join(root, path)
        raise UsageError("it was changed in the meantime", path=where, hint="run it again")


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Say of what the system refuses which file it is about."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"cannot write it: {why}", path=path) from None


def check(root: str, changes: Changes) -> None:
    """Refuse changes that lead out of the directory, or where they cannot be written."""
    for path, file in changes.items():
        check_path(path, root)
        where = os.path.join(root, path)
        with errors_of(where):
            for folder in above(path):
                if file and changes.get(folder):
                    raise UsageError(f"{folder} would be a file and a folder", path=where)
            blocked = in_the_way(root, path)
            if blocked and blocked not in changes:
                what = "a link" if os.path.islink(os.path.join(root, blocked)) else "no folder"
                raise UsageError(f"{blocked} is {what}: nothing is written there", path=where)
            if not blocked:
                _check_place(root, path, changes)


def _check_place(root: str, path: str, changes: Changes) -> None:
    """Refuse to write over a device or a folder with files that stay, or where one may not."""
    where = os.path.join(root, path)
    if os.path.lexists(where) and not (
        os.path.islink(where) or os.path.isfile(where) or os.path.isdir(where)
    ):
        raise UsageError("it is neither a file nor a directory", path=where)
    if changes[path] is not None:
        for name, is_folder in inside(root, path):
            if not is_folder and (name not in changes or changes[name]):
                raise UsageError(f"it is a folder, and {name} stays in it", path=where)
    folder = next(f for f in [*above(path), ""] if os.path.lexists(os.path.join(root, f)))
    if not os.access(os.path.join(root, folder), os.W_OK | os.X_OK):
        raise UsageError("cannot write it: Permission denied", path=where)


def _keep(root: str, path: str, number: int) -> Stamp | None:
    """Have what stands at a path once more: as a second name of it, or as a copy."""
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
    except OSError:  # another file system, one without hard links, somebody else's file
        write(kept, file_at(where))
    return stamp(kept)


def _lay(root: str, file: File | None, number: int) -> Stamp | None:
    if file is None:
        return None
    fresh = os.path.join(root, UNDERWAY, NEW, str(number))
    write(fresh, file)
    return stamp(fresh)  # the permissions as this file system has them


def file_at(path: str) -> File:
    """A file or a link in memory."""
    if os.path.islink(path):
        return File(os.fsencode(os.readlink(path)), link=True)
    with open(path, "rb") as file:
        return File(file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode))


def write(path: str, file: File) -> None:
    """Make a file that is not there."""
    if file.link:
        os.symlink(os.fsdecode(file.data), path)
        return
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
        out.write(file.data)
    os.chmod(path, file.mode)


def _folders(root: str, changes: Changes) -> dict[str, int]:
    """The folders around the changes, and in their places, with their permissions."""
    wanted = {folder for path in changes for folder in above(path)}
    replaced = [path for path, file in changes.items() if file and standing(root, path) is None]
    for path in replaced:
        wanted |= {path, *(name for name, is_folder in inside(root, path) if is_folder)}
    found = {}
    for folder in sorted(wanted):
        place = os.path.join(root, folder)
        if not in_the_way(root, f"{folder}/") and os.path.lexists(place):
            found[folder] = stat.S_IMODE(os.lstat(place).st_mode)
    return found
