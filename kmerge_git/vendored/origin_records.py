"""Read and write the origin of a package, which is kept in a record or in a Kptfile.

The record of a package is the text file `DIR/.kmerge-vendor` with lines `key: value`. In a Kptfile
the field `upstream` is the version that was asked for, and `upstreamLock` is the version that was
fetched.
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
from kmerge_git.tree.documents import Document, YamlText
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
    """Hold a vendored package: its directory and its record."""

    directory: str
    record: Record
    is_kpt: bool

    @property
    def url(self) -> str:
        """Return the URL or the path of the source for git."""
        return url_of(self.record.source, self.directory)

    @property
    def file(self) -> str:
        """Return the name of the file that holds the record."""
        return KPTFILE if self.is_kpt else RECORD

    @property
    def facts(self) -> dict[str, str]:
        """Return the fields of the record for output that programs read."""
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
        """Return the file of the record with a new commit; `now` is the present file."""
        if not self.is_kpt:
            return File(new.spelled(), now.mode if now else 0o644)
        if now is None:
            raise UsageError("the Kptfile of the package was deleted; restore it", path=self._path)
        return File(moved_on(now.data, self._path, new, found), now.mode)

    def origin_aside(self, package: Package, own: Package) -> Package:
        """Return a version of the package without the origin in its Kptfile.

        `own` is the package as it is in the directory.
        """
        file, mine = package.get(KPTFILE), own.get(KPTFILE)
        if not self.is_kpt or file is None or mine is None or file.link:
            return package
        try:
            data = without_origin(file.data, mine.data, KPTFILE)
        except KmergeError:
            return package  # a Kptfile that is not YAML is merged with git's line merge
        return package | {KPTFILE: File(data, file.mode)}

    @property
    def _path(self) -> str:
        return os.path.join(self.directory, self.file)


def vendored(directory: str) -> Vendored:
    """Return the package in a directory; raise an error if the directory holds no package."""
    if not os.path.isdir(directory):
        folder, at, ref = directory.rpartition("@")
        has_version = at and os.path.isdir(folder)
        hint = f"to choose a version, use `{folder} --ref {ref}`" if has_version else ""
        raise UsageError("no such directory", path=directory, hint=hint)
    own = read_record(directory)
    record = own or read(directory)
    if record is None:
        why = "has no record of its origin"
        if os.path.isfile(os.path.join(directory, KPTFILE)):
            why = "has a Kptfile without the commit of a git repository"
        raise UsageError(
            f"not a vendored package: the directory {why}",
            path=directory,
            hint="`kmerge vendor add --adopt` adds a record to a copy made by hand",
        )
    return Vendored(directory, record, own is None)


def below(top: str) -> list[str]:
    """Return the directories of all packages below a directory, without following links.

    A Kptfile inside a package came with that package, so it does not count as another package.
    """
    packages: list[str] = []
    inside: set[str] = set()
    for folder, names, files in os.walk(top):
        names[:] = sorted(n for n in names if n.lower() != ".git")
        is_inside = os.path.dirname(folder) in inside and folder != top
        has_origin = not is_inside and KPTFILE in files and _has_kpt_origin(folder)
        if RECORD in files or has_origin:
            packages.append(folder)
            is_inside = True
        if is_inside:
            inside.add(folder)
    return packages


def only_one(cwd: str) -> str:
    """Return the directory of the repository's only package; raise an error if there are more."""
    packages = below(top_of(cwd))
    if len(packages) == 1:
        return packages[0]
    if not packages:
        raise UsageError("this repository has no packages", hint="`kmerge vendor add` adds one")
    names = ", ".join(os.path.relpath(path, cwd) for path in packages[:10])
    raise UsageError(f"there are several packages: {names}", hint="choose one of them")


def top_of(cwd: str) -> str:
    """Return the top of the repository around a directory, or the directory itself."""
    top = worktree_top(Path(cwd))
    return str(top) if top is not None else cwd


def _has_kpt_origin(directory: str) -> bool:
    try:
        return read(directory) is not None
    except KmergeError:
        return True  # the error is shown when the package is opened


# -- Kptfiles

KPTFILE = "Kptfile"
FIELDS = ("upstream", "upstreamLock")
HINT = "`kmerge vendor add --adopt` writes a separate record"


def read(directory: str) -> Record | None:
    """Return the record in the Kptfile of a directory, or None if there is no complete record."""
    path = os.path.join(directory, KPTFILE)
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    return parse(_content(path), path)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", path=path) from None


def parse(data: bytes, where: str) -> Record | None:
    """Return the record in the text of a Kptfile, or None if a part of the record is missing."""
    value = _value(_document(data, where))
    asked, locked = (_below(value, field, "git") for field in FIELDS)
    if not (asked and locked.get("commit")):
        return None
    source = str(asked.get("repo", ""))
    if is_path(source) and "." in source.partition("/")[0].strip("."):
        source = f"https://{source}"  # kpt spells it `github.com/a/b`
    path = str(locked.get("directory", asked.get("directory", ""))).strip("/") or "."
    record = Record(source, path, str(asked.get("ref", "HEAD")), str(locked["commit"]))
    try:
        for key in ("source", "path", "ref", "commit"):
            _CHECKS[key](getattr(record, key))
    except UsageError as error:
        raise UsageError(f"invalid upstream: {error}", path=where, hint=HINT) from None
    return record


def without_origin(data: bytes, own: bytes, where: str) -> bytes:
    """Remove the origin from a Kptfile; give it the name in the destination's Kptfile."""
    name = _below(_value(_document(own, where)), "metadata").get("name")

    def put_aside(value: dict[str, Any]) -> None:
        for field in FIELDS:
            value.pop(field, None)
        if name and "name" in _below(value, "metadata"):
            value["metadata"]["name"] = name

    return _edited(data, where, put_aside)


def moved_on(data: bytes, where: str, record: Record, full_ref: str) -> bytes:
    """Return a Kptfile with the commit of a new record; `full_ref` is the full name of the ref."""

    def move(value: dict[str, Any]) -> None:
        short = full_ref.removeprefix("refs/tags/").removeprefix("refs/heads/")
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
    documents = YamlText(data, where).stream.documents
    if len(documents) != 1:
        raise CannotParse("a Kptfile must have exactly one document", path=where)
    return documents[0]


def _value(document: Document) -> dict[str, Any]:
    value = to_value(document.root)
    return value if isinstance(value, dict) else {}


def _below(value: dict[str, Any], *fields: str) -> dict[str, Any]:
    """Return the mapping below these fields, or an empty mapping if a field is missing."""
    for field in fields:
        inside = value.get(field)
        value = inside if isinstance(inside, dict) else {}
    return value


# -- records

RECORD = ".kmerge-vendor"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Record:
    """Hold the origin of a package; `path` is `.` for a whole repository."""

    source: str
    path: str
    ref: str  # as the user gave it
    commit: str
    checksum: str = ""  # empty for a Kptfile

    @property
    def label(self) -> str:
        """Return the ref and a short commit, as in `v1.2.0 (1a2b3c4)`, or only the commit."""
        short = self.commit[:7]
        return short if self.ref == self.commit else f"{self.ref} ({short})"

    def spelled(self) -> bytes:
        """Return the text of the record's file."""
        return "".join(f"{key}: {value}\n" for key, value in asdict(self).items()).encode()


def is_at(now: Record, wanted: Record) -> bool:
    """Return whether a record has the path, ref and commit of another record."""
    return (now.path, now.ref, now.commit) == (wanted.path, wanted.ref, wanted.commit)


def read_record(directory: str) -> Record | None:
    """Read the record of a directory; return None if there is no record."""
    path = os.path.join(directory, RECORD)
    if not os.path.lexists(path):
        return None
    if os.path.islink(path) or not os.path.isfile(path):
        raise UsageError("the package's record must be a regular file", path=path)
    return parse_record(_content(path), path)


def parse_record(data: bytes, where: str) -> Record:
    """Parse a record; raise an error with the line number of the first wrong line."""
    values: dict[str, str] = {}
    lines = data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        key, colon, value = line.partition(": ")
        why = _wrong(key, value, values) if colon else "this line is not `key: value`"
        if why:
            both = (
                "in this conflict, keep only the five lines of one side"
                if line.startswith("<<<<<<<")
                else ""
            )
            raise UsageError(why, path=where, line=number, hint=both)
        values[key] = value
    missing = [key for key in _CHECKS if key not in values]
    if missing:
        raise UsageError(f"the line `{missing[0]}: ...` is missing", path=where, line=len(lines))
    return Record(**values)


def _wrong(key: str, value: str, known: dict[str, str]) -> str:
    if key not in _CHECKS:
        return f"unknown key {key!r} in a record"
    if key in known:
        return f"duplicate key {key!r}"
    if not value.isprintable() or value != value.strip():
        return f"{key}: the value has leading or trailing spaces or unprintable characters"
    try:
        _CHECKS[key](value)
    except KmergeError as error:
        return f"{key}: {error}"
    return ""


def check_commit(commit: str) -> None:
    """Raise an error unless a text is the full id of a commit."""
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"{commit!r} is not the full id of a commit")


def _check_checksum(checksum: str) -> None:
    if not _CHECKSUM.fullmatch(checksum):
        raise UsageError(f"{checksum!r} is not `sha256:` with 64 hexadecimal digits")


_CHECKS: dict[str, Callable[[str], None]] = {
    "source": check_source,
    "path": check_folder,
    "ref": check_ref,
    "commit": check_commit,
    "checksum": _check_checksum,
}
