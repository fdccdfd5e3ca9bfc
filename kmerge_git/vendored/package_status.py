"""Say how a package differs from its upstream: changes here, unfinished updates, newer versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kmerge_git.compare.change import FieldChange
from kmerge_git.compare.file_changes import by_lines, compare
from kmerge_git.errors import KmergeError
from kmerge_git.git.upstream import Upstream, is_full_id
from kmerge_git.packages.package_files import File, Package, is_manifest, read
from kmerge_git.packages.renamed_files import arrivals, find_renames
from kmerge_git.text.git_patch import file_patch
from kmerge_git.vendored import upstream_copies
from kmerge_git.vendored.origin_records import Vendored
from kmerge_git.vendored.package_updating import Underway, apart_from, own_files, underway
from kmerge_git.vendored.upstream_copies import checksum, newest, release
from kmerge_git.vendored.upstream_sources import is_local, newer


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
    upstream_copies.check_known(url, vendored.directory, accept=accept)
    offline = not (fetch or is_local(url))
    base = release(upstream_copies.upstream(url), vendored.record, offline=offline).package
    files = read(vendored.directory)
    base, own = apart_from(base, files), own_files(files)
    return vendored.origin_aside(base, own), vendored.origin_aside(own, own)


def _beside_upstream(found: State, *, accept: bool) -> State:
    package, record = found.vendored, found.vendored.record
    upstream_copies.check_known(package.url, package.directory, accept=accept)
    upstream = upstream_copies.upstream(package.url)
    tags = _tags(upstream, package)
    upstream_copies.remember(package.url, package.directory)
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


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that differs; without a resource of a document that has no name."""

    resource: str
    field: str  # empty: the whole resource
    how: str  # `added`, `deleted` or `changed`


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that differs; `source` is where it was if it was renamed."""

    path: str
    how: str  # `added`, `deleted`, `changed` or `renamed`
    fields: tuple[FieldDifference, ...] = ()
    note: str = ""
    source: str = ""


def differences(base: Package, local: Package) -> list[FileDifference]:
    """The files of two versions that differ, in the order of their paths."""
    renamed = _renamed(base, local)
    old_names = set(renamed.values())
    found = []
    for path in sorted({*base, *local}):
        old, new = base.get(path), local.get(path)
        if path in renamed and new is not None:
            before = base[renamed[path]]
            change = FileDifference(path, "renamed")
            if before.essence != new.essence:
                change = replace(_changed(path, before, new), how="renamed")
            found.append(replace(change, source=renamed[path]))
        elif old is None:
            found.append(FileDifference(path, "added"))
        elif new is None:
            if path not in old_names:
                found.append(FileDifference(path, "deleted"))
        elif old.essence != new.essence:
            found.append(_changed(path, old, new))
    return found


def _renamed(base: Package, local: Package) -> dict[str, str]:
    """New paths with the old ones."""
    gone = {path: (file,) for path, file in sorted(base.items()) if path not in local}
    fresh = {path: file for path, file in sorted(local.items()) if path not in base}
    found = find_renames(gone, fresh, arrivals(base, local))
    return {new: old for old, new in found.items()}


def _changed(path: str, old: File, new: File) -> FileDifference:
    if old.link != new.link:
        return FileDifference(
            path, "changed", note="now a link" if new.link else "no link any more"
        )
    if old.link:
        return FileDifference(path, "changed", note="the link leads elsewhere")
    note = ""
    if old.is_executable != new.is_executable:
        note = "executable" if new.is_executable else "not executable any more"
    if old.data == new.data:
        return FileDifference(path, "changed", note=note)
    if old.is_binary or new.is_binary:
        return FileDifference(path, "changed", note=", ".join(filter(None, (note, "binary"))))
    fields, why = _fields(path, old.data, new.data)
    return FileDifference(path, "changed", fields, ", ".join(filter(None, (note, why))))


def _fields(path: str, old: bytes, new: bytes) -> tuple[tuple[FieldDifference, ...], str]:
    """The fields of a manifest that differ; else how much of the text does."""
    found = compare(old, new, path) if is_manifest(path) else by_lines(old, new)
    if any(change.how == "lines" for change in found):
        count = sum(map(_lines, found))
        return (), "1 line" if count == 1 else f"{count} lines"
    fields = dict.fromkeys(field for change in found for field in _field(change))
    return tuple(fields), "" if fields else "comments or spelling"


def _lines(change: FieldChange) -> int:
    both = (change.before, change.after)
    return max(len(v.plain) if v and isinstance(v.plain, list) else 0 for v in both)


def _field(change: FieldChange) -> Iterator[FieldDifference]:
    """A change as it is told of a package: where it is, and whether a resource came or went."""
    if change.how in ("layout", "renamed") or not (change.steps or change.document):
        return  # no value, or nothing but the order of resources
    is_whole = not change.steps and change.how in ("added", "deleted")
    yield FieldDifference(change.resource, change.field, change.how if is_whole else "changed")


def patch(base: Package, local: Package) -> Iterator[bytes]:
    """Yield the lines of a patch that `git apply` takes; paths are those of the package."""
    for path in sorted({*base, *local}):
        old, new = base.get(path), local.get(path)
        if old is None or new is None or old.essence != new.essence:
            yield from _file_patch(path, old, new)


def _file_patch(path: str, old: File | None, new: File | None) -> Iterator[bytes]:
    if old and new and old.link != new.link:  # git has no patch for that but both
        yield from _file_patch(path, old, None)
        yield from _file_patch(path, None, new)
        return
    data = old.data if old else None, new.data if new else None
    yield from file_patch((path, path), data, (_git_mode(old), _git_mode(new)))


def _git_mode(file: File | None) -> bytes:
    if file is None:
        return b""
    if file.link:
        return b"120000"
    return b"100755" if file.is_executable else b"100644"
