"""Fetch the upstream of a package into the user's cache, and read the package at a commit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from kmerge_git.atomic_files import read_text, write_text
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.merge_sides import SUBMODULE
from kmerge_git.git.upstream import PROTOCOLS, BrokenCache, Named, Upstream
from kmerge_git.packages.package_files import File, Package, check_links, check_path
from kmerge_git.vendored.origin_records import RECORD, Record
from kmerge_git.vendored.upstream_sources import is_local

_LINK, _EXECUTABLE = 0o120000, 0o100
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Release:
    """Hold the files of a package at a commit; `left_out` lists skipped files with reasons."""

    commit: str
    package: Package
    left_out: tuple[str, ...] = ()


def newest(upstream: Upstream, record: Record, *, is_kpt: bool) -> Named:
    """Fetch the current commit of the record's ref; for kpt try the tag `DIRECTORY/REF` first."""
    own = (f"{record.path}/{record.ref}",) if is_kpt and record.path != "." else ()
    return _sound(upstream, lambda: upstream.fetch((*own, record.ref)))


def release(upstream: Upstream, record: Record, *, offline: bool = False) -> Release:
    """Return the package at the recorded commit; raise an error if the checksum differs."""
    if offline and not upstream.has(record.commit):
        raise KmergeError(
            f"commit {record.commit[:12]} of {upstream.url} is not in the cache",
            hint="`kmerge vendor status DIR --fetch` fetches it",
        )

    def read() -> Release:
        if not upstream.has(record.commit):
            upstream.fetch((record.commit,))
        return _read(upstream, record.commit, record.path)

    known = _sound(upstream, read)
    if record.checksum and checksum(known.package) != record.checksum:
        raise KmergeError(
            f"the files of commit {record.commit[:12]} of {upstream.url} do not have the "
            "checksum in the record",
            hint="check who changed the record; `kmerge vendor add --adopt` makes a new record",
        )
    return known


def checksum(package: Package) -> str:
    """Return a digest of the paths, kinds, executable bits and bytes of all files."""
    digest = sha256()
    for path, file in sorted(package.items()):
        kind = "link" if file.link else "executable" if file.is_executable else "file"
        name = path.encode("utf-8", "surrogateescape")
        digest.update(b"%s %d %d %s\0" % (kind.encode(), len(name), len(file.data), name))
        digest.update(file.data)
    return f"sha256:{digest.hexdigest()}"


def _read(upstream: Upstream, commit: str, path: str) -> Release:
    package: Package = {}
    left_out = []
    for found, data in upstream.files(commit, "" if path == "." else path):
        if found.mode == SUBMODULE:
            left_out.append(f"{found.path}: a submodule")
        elif found.path.rpartition("/")[2].lower() == RECORD:
            left_out.append(f"{found.path}: kmerge does not copy upstream's own record")
        else:
            check_path(found.path, upstream.url)
            mode = 0o755 if found.mode & _EXECUTABLE else 0o644
            is_link = found.mode == _LINK
            package[found.path] = File(data, 0o644 if is_link else mode, is_link)
    check_links(package, upstream.url)
    return Release(commit, package, tuple(left_out))


def _sound(upstream: Upstream, ask: Callable[[], T]) -> T:
    """Run a query on the cache; if the cache is broken, create it again and repeat the query."""
    try:
        return ask()
    except BrokenCache:
        upstream.renew()
        return ask()


def upstream(url: str) -> Upstream:
    """Return the cached repository of a source."""
    protocols = ("file",) if is_local(url) else PROTOCOLS  # whatever `url.*.insteadOf` says
    return Upstream(url, cache_folder() / _name(url), protocols)


def check_known(url: str, directory: str, *, accept: bool) -> None:
    """Raise an error if the source of a directory has changed, unless the user accepts that."""
    known = read_text(_note(directory))
    if known and known != url and not accept:
        raise UsageError(
            f"the source in the record has changed from {known} to {url}",
            path=directory,
            hint="if this is intended, use --accept-source",
        )


def remember(url: str, directory: str) -> None:
    """Remember the source of a directory for `check_known`."""
    note = _note(directory)
    if read_text(note) == url:
        return
    try:
        os.makedirs(note.parent, mode=0o700, exist_ok=True)
        write_text(note, url)
    except OSError as error:
        raise KmergeError(f"cannot write: {error.strerror}", path=str(note.parent)) from None


def _note(directory: str) -> Path:
    return cache_folder() / "sources" / _name(os.path.realpath(directory))


def cache_folder() -> Path:
    """Return the folder of the user's cache."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(given) if os.path.isabs(given) else Path("~/.cache").expanduser()
    return home / "kmerge" / "vendor"


def _name(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
