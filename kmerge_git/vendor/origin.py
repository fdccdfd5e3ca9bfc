"""A directory and its origin, on its own record or in its Kptfile; where such directories are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.places import worktree_top
from kmerge_git.packages.files import File, Package
from kmerge_git.vendor import kptfile, record
from kmerge_git.vendor.record import Record
from kmerge_git.vendor.sources import url_of


@dataclass(frozen=True, slots=True)
class Vendored:
    """A vendored package: its directory and what is on record."""

    directory: str
    record: Record
    is_kpt: bool

    @property
    def url(self) -> str:
        """What git is asked for."""
        return url_of(self.record.source, self.directory)

    @property
    def file(self) -> str:
        """The name of the file that has the record."""
        return kptfile.NAME if self.is_kpt else record.NAME

    @property
    def facts(self) -> dict[str, str]:
        """What is on record, for programs."""
        record = self.record
        return {
            "dir": self.directory,
            "source": record.source,
            "path": record.path,
            "ref": record.ref,
            "commit": record.commit,
            "record": self.file,
        }

    def moved_on(self, now: File | None, new: Record, found: str) -> File:
        """The record's file with another commit in it; `now` is that file as it stands."""
        if not self.is_kpt:
            return File(new.spelled(), now.mode if now else 0o644)
        if now is None:
            raise UsageError("it is gone, and with it the record", path=self._path)
        return File(kptfile.moved_on(now.data, self._path, new, found), now.mode)

    def origin_aside(self, package: Package, own: Package) -> Package:
        """A version of the package without what a Kptfile says of the copy; `own` is the copy."""
        file, mine = package.get(kptfile.NAME), own.get(kptfile.NAME)
        if not self.is_kpt or file is None or mine is None or file.link:
            return package
        try:
            data = kptfile.without_origin(file.data, mine.data, kptfile.NAME)
        except KmergeError:
            return package  # no YAML: it is merged by lines
        return package | {kptfile.NAME: File(data, file.mode)}

    @property
    def _path(self) -> str:
        return os.path.join(self.directory, self.file)


def vendored(directory: str) -> Vendored:
    """The package in a directory; anything else is an error."""
    if not os.path.isdir(directory):
        folder, at, ref = directory.rpartition("@")
        hint = f"for a version say `{folder} --ref {ref}`" if at and os.path.isdir(folder) else ""
        raise UsageError("no such directory", path=directory, hint=hint)
    found = _at(directory)
    if found is None:
        why = "there is no record of where it came from"
        if os.path.isfile(os.path.join(directory, kptfile.NAME)):
            why = "its Kptfile has no commit of a git repository"
        raise UsageError(
            f"no package: {why}",
            path=directory,
            hint="`kmerge vendor add --adopt` makes a record for a copy made by hand",
        )
    return found


def below(top: str) -> list[str]:
    """The directories of all packages from here on; no link is followed, no `.git` entered.

    A Kptfile inside of a package came with that package: its origin is upstream's business.
    """
    found: list[str] = []
    inside: set[str] = set()
    for folder, names, files in os.walk(top):
        names[:] = sorted(n for n in names if n.lower() != ".git")
        is_inside = os.path.dirname(folder) in inside and folder != top
        has_record = record.NAME in files
        if has_record or (not is_inside and kptfile.NAME in files and _has_kpt_origin(folder)):
            found.append(folder)
            is_inside = True
        if is_inside:
            inside.add(folder)
    return found


def only_one(cwd: str) -> str:
    """The directory of the only package around here; none or several are an error."""
    found = below(top_of(cwd))
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError("there is no package here", hint="`kmerge vendor add` makes one")
    names = ", ".join(os.path.relpath(path, cwd) for path in found[:10])
    raise UsageError(f"which package? There are {names}", hint="name one")


def top_of(cwd: str) -> str:
    """The top of the repository around a directory, or the directory itself."""
    top = worktree_top(Path(cwd))
    return str(top) if top is not None else cwd


def _at(directory: str) -> Vendored | None:
    own = record.read(directory)
    found = own or kptfile.read(directory)
    return Vendored(directory, found, own is None) if found else None


def _has_kpt_origin(directory: str) -> bool:
    try:
        return kptfile.read(directory) is not None
    except KmergeError:
        return True  # whoever opens it will say what is wrong with it
