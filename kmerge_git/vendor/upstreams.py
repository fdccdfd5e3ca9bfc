"""A package as one commit of its upstream has it, and its checksum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from kmerge_git.errors import KmergeError
from kmerge_git.git.upstream import SUBMODULE, BrokenCache, Named, Upstream
from kmerge_git.packages.files import File, Package, check_links, check_path
from kmerge_git.vendor.record import NAME, Record

_LINK, _EXECUTABLE = 0o120000, 0o100
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Release:
    """The files of a package at a commit; `left_out` says what is not copied."""

    commit: str
    package: Package
    left_out: tuple[str, ...] = ()


def newest(upstream: Upstream, record: Record, *, is_kpt: bool) -> Named:
    """What the record's ref stands for now; kpt tries the tag `DIRECTORY/REF` first."""
    own = (f"{record.path}/{record.ref}",) if is_kpt and record.path != "." else ()
    return _sound(upstream, lambda: upstream.fetch((*own, record.ref)))


def release(upstream: Upstream, record: Record, *, offline: bool = False) -> Release:
    """The package at the record's commit, which must be what was recorded."""
    if offline and not upstream.has(record.commit):
        raise KmergeError(
            f"commit {record.commit[:12]} of {upstream.url} is not in the cache",
            hint="`kmerge vendor status DIR --fetch` brings it",
        )

    def read() -> Release:
        if not upstream.has(record.commit):
            upstream.fetch((record.commit,))
        return _read(upstream, record.commit, record.path)

    found = _sound(upstream, read)
    if record.checksum and checksum(found.package) != record.checksum:
        raise KmergeError(
            f"commit {record.commit[:12]} of {upstream.url} is not what was recorded: "
            "its files have another checksum",
            hint="find out who changed the record; `kmerge vendor add --adopt` makes a new one",
        )
    return found


def checksum(package: Package) -> str:
    """A digest over paths, kinds, executable bits and bytes."""
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
        elif found.path.rpartition("/")[2].lower() == NAME:
            left_out.append(f"{found.path}: upstream has a record of its own")
        else:
            check_path(found.path, upstream.url)
            mode = 0o755 if found.mode & _EXECUTABLE else 0o644
            is_link = found.mode == _LINK
            package[found.path] = File(data, 0o644 if is_link else mode, is_link)
    check_links(package, upstream.url)
    return Release(commit, package, tuple(left_out))


def _sound(upstream: Upstream, ask: Callable[[], T]) -> T:
    """An answer from a cache that is whole: a broken one is made anew."""
    try:
        return ask()
    except BrokenCache:
        upstream.renew()
        return ask()
