"""How a package stands: what was changed here, what is unfinished, what upstream has by now."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmerge_git.errors import KmergeError
from kmerge_git.git.upstream import Upstream, is_full_id
from kmerge_git.packages.files import Package, read
from kmerge_git.vendor import cache
from kmerge_git.vendor.comparing import FileDifference, differences
from kmerge_git.vendor.origin import Vendored
from kmerge_git.vendor.sources import is_local
from kmerge_git.vendor.underway import Underway, underway
from kmerge_git.vendor.updating import apart_from, own_files
from kmerge_git.vendor.upstreams import checksum, newest, release
from kmerge_git.vendor.versions import newer


@dataclass(frozen=True, slots=True)
class State:
    """What there is to say about a package; `problem` is why its changes are not known."""

    vendored: Vendored
    changes: tuple[FileDifference, ...] = ()
    unfinished: Underway | None = None
    newer: tuple[str, ...] = ()  # tags, the newest first
    moved: str = ""  # the commit that the ref on record stands for by now, if it brings anything
    problem: str = ""

    @property
    def needs_care(self) -> bool:
        """Whether there is something to do."""
        return bool(self.unfinished or self.newer or self.moved)


def state(vendored: Vendored, *, fetch: bool, accept: bool = False) -> State:
    """How a package stands; without `fetch` no network is asked."""
    found = State(vendored)
    try:
        found = replace(found, unfinished=underway(vendored.directory))
        if fetch:
            found = _beside_upstream(found, accept=accept)
        if found.unfinished:
            return found  # what it brought is no local change
        base, local = both(vendored, fetch=fetch, accept=accept)
        return replace(found, changes=tuple(differences(base, local)))
    except KmergeError as error:
        return replace(found, problem=str(error))


def both(vendored: Vendored, *, fetch: bool, accept: bool = False) -> tuple[Package, Package]:
    """The package as recorded, and what lies in the directory."""
    url = vendored.url
    cache.check_known(url, vendored.directory, accept=accept)
    offline = not (fetch or is_local(url))
    base = release(cache.upstream(url), vendored.record, offline=offline).package
    files = read(vendored.directory)
    base, own = apart_from(base, files), own_files(files)
    return vendored.origin_aside(base, own), vendored.origin_aside(own, own)


def _beside_upstream(found: State, *, accept: bool) -> State:
    package, record = found.vendored, found.vendored.record
    cache.check_known(package.url, package.directory, accept=accept)
    upstream = cache.upstream(package.url)
    tags = _tags(upstream, package)
    cache.remember(package.url, package.directory)
    return replace(
        found,
        newer=tuple(newer(record.ref, tags)),
        moved="" if is_full_id(record.ref) else _moved(upstream, package),
    )


def _tags(upstream: Upstream, package: Vendored) -> list[str]:
    """The names of upstream's tags; of a directory that kpt took those that are its own, too."""
    tags = list(upstream.tags())
    if not package.is_kpt:
        return tags
    own = f"{package.record.path}/"
    return tags + [tag.removeprefix(own) for tag in tags if tag.startswith(own)]


def _moved(upstream: Upstream, package: Vendored) -> str:
    """The commit that a ref has come to, if it has other files for this package."""
    record = package.record
    commit = newest(upstream, record, is_kpt=package.is_kpt).commit
    if commit == record.commit:
        return ""
    old = release(upstream, record)
    new = release(upstream, replace(record, commit=commit, checksum=""))
    return commit if checksum(old.package) != checksum(new.package) else ""
