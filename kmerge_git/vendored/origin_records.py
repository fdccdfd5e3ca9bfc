"""Read and write where a directory comes from: its own record, or its Kptfile.

The record of a package is `DIR/.kmerge-vendor`, `key: value` lines in plain text. In a Kptfile
`upstream` is what was asked for, `upstreamLock` is what was fetched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kmerge_git.errors import CannotParse, KmergeError, UsageError
from kmerge_git.git.config_places import worktree_top
from kmerge_git.packages.package_files import File, Package
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.plain_values import to_value
from kmerge_git.vendored.upstream_sources import (
    check_folder,
    check_ref,
    check_source,
    is_path,
    url_of,
)


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
        return NAME if self.is_kpt else NAME_record

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
        return File(moved_on(now.data, self._path, new, found), now.mode)

    def origin_aside(self, package: Package, own: Package) -> Package:
        """A version of the package without what a Kptfile says of the copy; `own` is the copy."""
        file, mine = package.get(NAME), own.get(NAME)
        if not self.is_kpt or file is None or mine is None or file.link:
            return package
        try:
            data = without_origin(file.data, mine.data, NAME)
        except KmergeError:
            return package  # no YAML: it is merged by lines
        return package | {NAME: File(data, file.mode)}

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
        if os.path.isfile(os.path.join(directory, NAME)):
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
        has_record = NAME_record in files
        if has_record or (not is_inside and NAME in files and _has_kpt_origin(folder)):
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
    own = read_record(directory)
    found = own or read(directory)
    return Vendored(directory, found, own is None) if found else None


def _has_kpt_origin(directory: str) -> bool:
    try:
        return read(directory) is not None
    except KmergeError:
        return True  # whoever opens it will say what is wrong with it


NAME = "Kptfile"
FIELDS = ("upstream", "upstreamLock")
HINT = "`kmerge vendor add --adopt` writes a record of its own"


def read(directory: str) -> Record | None:
    """The record that a Kptfile holds; None without one, and without both of its fields."""
    path = os.path.join(directory, NAME)
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}", path=path) from None
    return parse(data, path)


def parse(data: bytes, where: str) -> Record | None:
    """The record in the text of a Kptfile."""
    value = _value(_document(data, where))
    asked, found = (_git(value, field) for field in FIELDS)
    if not (asked and found.get("commit")):
        return None
    source = _source(str(asked.get("repo", "")))
    path = str(found.get("directory", asked.get("directory", ""))).strip("/") or "."
    record = Record(source, path, str(asked.get("ref", "HEAD")), str(found["commit"]))
    try:
        check_source(record.source)
        check_folder(record.path)
        check_ref(record.ref)
        check_commit(record.commit)
    except UsageError as error:
        raise UsageError(f"its upstream: {error}", path=where, hint=HINT) from None
    return record


def without_origin(data: bytes, own: bytes, where: str) -> bytes:
    """A version of a Kptfile without upstream, and with the name of the destination's own."""
    name = _metadata(_value(_document(own, where))).get("name")

    def put_aside(value: dict[str, Any]) -> None:
        for field in FIELDS:
            value.pop(field, None)
        if name and "name" in _metadata(value):
            value["metadata"]["name"] = name

    return _edited(data, where, put_aside)


def moved_on(data: bytes, where: str, record: Record, found: str) -> bytes:
    """The Kptfile with another commit on record; `found` is the full name of what was asked for."""

    def move(value: dict[str, Any]) -> None:
        short = found.removeprefix("refs/tags/").removeprefix("refs/heads/")
        asked, lock = value["upstream"]["git"], value["upstreamLock"]["git"]
        asked["ref"] = record.ref
        lock |= {"ref": short, "commit": record.commit}
        folder = "" if record.path == "." else record.path
        for git in (asked, lock):
            if str(git.get("directory", "")).strip("/") != folder:
                git["directory"] = f"/{folder}"

    return _edited(data, where, move)


def _edited(data: bytes, where: str, edit: Callable[[dict[str, Any]], None]) -> bytes:
    from kmerge_git.merge.reshape import reshape  # few packages have a Kptfile

    document = _document(data, where)
    before, after = _value(document), _value(document)
    edit(after)
    if before == after:
        return data
    source = document.source
    rest = source.text[document.end :]
    return source.encode(source.text[: document.start] + reshape(document, after) + rest)


def _document(data: bytes, where: str) -> Document:
    documents = split(Source(data, where)).documents
    if len(documents) != 1:
        raise CannotParse("a Kptfile is one document", path=where)
    return documents[0]


def _value(document: Document) -> dict[str, Any]:
    value = to_value(document.root)
    return value if isinstance(value, dict) else {}


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    found = value.get("metadata")
    return found if isinstance(found, dict) else {}


def _git(value: dict[str, Any], field: str) -> dict[str, Any]:
    inside = value.get(field)
    found = inside.get("git") if isinstance(inside, dict) else None
    return found if isinstance(found, dict) else {}


def _source(repo: str) -> str:
    """A repository as kpt spells it: `github.com/a/b` means https."""
    host = repo.partition("/")[0]
    return f"https://{repo}" if is_path(repo) and "." in host.strip(".") else repo


NAME_record = ".kmerge-vendor"
MOVING = ("path", "ref", "commit")  # what an update changes, beside the checksum
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Record:
    """Where a package came from; `path` is `.` for a whole repository."""

    source: str
    path: str
    ref: str  # as it was asked for
    commit: str
    checksum: str = ""  # a Kptfile has none

    @property
    def label(self) -> str:
        """`v1.2.0 (1a2b3c4)`, or the commit alone where that is what was asked for."""
        short = self.commit[:7]
        return short if self.ref == self.commit else f"{self.ref} ({short})"

    def spelled(self) -> bytes:
        """The record's file."""
        return "".join(f"{key}: {value}\n" for key, value in asdict(self).items()).encode()


def read_record(directory: str) -> Record | None:
    """The record of a directory, if it has one."""
    path = os.path.join(directory, NAME_record)
    if not os.path.lexists(path):
        return None
    if os.path.islink(path) or not os.path.isfile(path):
        raise UsageError("a record must be a plain file", path=path)
    try:
        with open(path, "rb") as file:
            return parse_record(file.read(), path)
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}", path=path) from None


def parse_record(data: bytes, where: str) -> Record:
    """A record, every line of it checked; the first that is wrong is an error with its number."""
    found: dict[str, str] = {}
    lines = data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        key, colon, value = line.partition(": ")
        why = _wrong(key, value, found) if colon else "it is not `key: value`"
        if why:
            both = "take the five lines of one side" if line.startswith("<<<<<<<") else ""
            raise UsageError(why, path=where, line=number, hint=both)
        found[key] = value
    missing = [key for key in _CHECKS if key not in found]
    if missing:
        raise UsageError(f"there is no `{missing[0]}: ...`", path=where, line=len(lines))
    return Record(**found)


def _wrong(key: str, value: str, known: dict[str, str]) -> str:
    if key not in _CHECKS:
        return f"{key!r} is no key of a record"
    if key in known:
        return f"{key} stands twice"
    if not value.isprintable() or value != value.strip():
        return f"{key}: odd characters"
    try:
        _CHECKS[key](value)
    except KmergeError as error:
        return f"{key}: {error}"
    return ""


def check_commit(commit: str) -> None:
    """Raise unless it is the whole id of a commit."""
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"{commit!r} is no whole id of a commit")


def _check_checksum(checksum: str) -> None:
    if not _CHECKSUM.fullmatch(checksum):
        raise UsageError(f"{checksum!r} is no `sha256:` and 64 digits")


_CHECKS: dict[str, Callable[[str], None]] = {
    "source": check_source,
    "path": check_folder,
    "ref": check_ref,
    "commit": check_commit,
    "checksum": _check_checksum,
}
