"""The record of a package: `DIR/.kmerge-vendor`, `key: value` lines in plain text.

It comes with the repository and with pull requests: whoever reads it believes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.vendor.sources import check_folder, check_ref, check_source

NAME = ".kmerge-vendor"
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


def read(directory: str) -> Record | None:
    """The record of a directory, if it has one."""
    path = os.path.join(directory, NAME)
    if not os.path.lexists(path):
        return None
    if os.path.islink(path) or not os.path.isfile(path):
        raise UsageError("a record must be a plain file", path=path)
    try:
        with open(path, "rb") as file:
            return parse(file.read(), path)
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}", path=path) from None


def parse(data: bytes, where: str) -> Record:
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
