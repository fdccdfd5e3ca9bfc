"""Compare a package with its upstream: local changes, unfinished updates, newer versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kmerge_git.compare.change import FieldChange
from kmerge_git.compare.file_changes import by_lines, compare
from kmerge_git.errors import KmergeError
from kmerge_git.git.upstream import Upstream, is_full_id
from kmerge_git.packages.package_files import File, Package, is_manifest, read
from kmerge_git.packages.renamed_files import arrivals, find_renames, gone_and_fresh
from kmerge_git.text.git_patch import file_patch
from kmerge_git.vendored import upstream_copies
from kmerge_git.vendored.index_conflicts import resolved
from kmerge_git.vendored.origin_records import Vendored
from kmerge_git.vendored.package_updating import Underway, apart_from, own_files, underway
from kmerge_git.vendored.upstream_copies import checksum, newest, release
from kmerge_git.vendored.upstream_sources import is_local, newer


@dataclass(frozen=True, slots=True)
class State:
    """Describe the state of a package; `problem` says why its changes could not be found."""

    vendored: Vendored
    changes: tuple[FileDifference, ...] = ()
    unfinished: Underway | None = None
    newer: tuple[str, ...] = ()  # tags, the newest first
    moved: str = ""  # the present commit of the recorded ref, if it changes the package
    problem: str = ""

    @property
    def needs_care(self) -> bool:
        """Return whether the package can be updated or has an unfinished update."""
        return bool(self.unfinished or self.newer or self.moved)


def state(vendored: Vendored, *, fetch: bool, accept: bool = False) -> State:
    """Return the state of a package; without `fetch` use no network."""
    known = State(vendored)
    try:
        known = replace(known, unfinished=_unfinished(vendored.directory))
        if fetch:
            known = _with_upstream(known, accept=accept)
        if known.unfinished:
            return known  # the differences come from the update
        base, local = both(vendored, fetch=fetch, accept=accept)
        return replace(known, changes=tuple(differences(base, local)))
    except KmergeError as error:
        return replace(known, problem=str(error))


def _unfinished(directory: str) -> Underway | None:
    """Return the unfinished update of a package, without the conflicts that are resolved."""
    update = underway(directory)
    if update is None:
        return None
    gone = resolved(directory, update.index)
    return replace(update, conflicts=tuple(p for p in update.conflicts if p not in gone))


def both(vendored: Vendored, *, fetch: bool, accept: bool = False) -> tuple[Package, Package]:
    """Return the recorded version of a package, and the version in its directory."""
    url = vendored.url
    upstream_copies.check_known(url, vendored.directory, accept=accept)
    offline = not (fetch or is_local(url))
    base = release(upstream_copies.upstream(url), vendored.record, offline=offline).package
    files = read(vendored.directory)
    base, own = apart_from(base, files), own_files(files)
    return vendored.origin_aside(base, own), vendored.origin_aside(own, own)


def _with_upstream(known: State, *, accept: bool) -> State:
    package, record = known.vendored, known.vendored.record
    upstream_copies.check_known(package.url, package.directory, accept=accept)
    upstream = upstream_copies.upstream(package.url)
    tags = _tags(upstream, package)
    upstream_copies.remember(package.url, package.directory)
    return replace(
        known,
        newer=tuple(newer(record.ref, tags)),
        moved="" if is_full_id(record.ref) else _moved(upstream, package),
    )


def _tags(upstream: Upstream, package: Vendored) -> list[str]:
    """Return upstream's tags; for kpt, also return `TAG` for each tag `DIRECTORY/TAG`."""
    tags = list(upstream.tags())
    if not package.is_kpt:
        return tags
    own = f"{package.record.path}/"
    return tags + [tag.removeprefix(own) for tag in tags if tag.startswith(own)]


def _moved(upstream: Upstream, package: Vendored) -> str:
    """Return the present commit of the recorded ref if it changes this package, else ''."""
    record = package.record
    commit = newest(upstream, record, is_kpt=package.is_kpt).commit
    if commit == record.commit:
        return ""
    old = release(upstream, record)
    new = release(upstream, replace(record, commit=commit, checksum=""))
    return commit if checksum(old.package) != checksum(new.package) else ""


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """Describe a field that differs; `resource` is empty for a document without a name."""

    resource: str
    field: str  # empty for a whole resource
    how: str  # `added`, `deleted` or `changed`


@dataclass(frozen=True, slots=True)
class FileDifference:
    """Describe a file that differs; `source` is the old path of a renamed file."""

    path: str
    how: str  # `added`, `deleted`, `changed` or `renamed`
    fields: tuple[FieldDifference, ...] = ()
    note: str = ""
    source: str = ""


def differences(base: Package, local: Package) -> list[FileDifference]:
    """Return the files that differ between two versions, sorted by path."""
    renames = find_renames(*gone_and_fresh(base, local), arrivals(base, local))
    sources = {new: old for old, new in renames.items()}
    differing = []
    for path in sorted({*base, *local}):
        source = sources.get(path, "")
        old, new = base.get(source or path), local.get(path)
        if old is None:
            differing.append(FileDifference(path, "added"))
        elif new is None:
            if path not in renames:
                differing.append(FileDifference(path, "deleted"))
        elif source or old.essence != new.essence:
            fields, note = _changes(path, old, new)
            how = "renamed" if source else "changed"
            differing.append(FileDifference(path, how, fields, note, source))
    return differing


Fields = tuple[FieldDifference, ...]


def _changes(path: str, old: File, new: File) -> tuple[Fields, str]:
    """Return the fields that differ in a file, and a note about other differences."""
    if old.link != new.link:
        return (), "now a link" if new.link else "no longer a link"
    if old.link:
        return (), "" if old.data == new.data else "the link has another target"
    note = ""
    if old.is_executable != new.is_executable:
        note = "now executable" if new.is_executable else "no longer executable"
    if old.data == new.data:
        return (), note
    is_binary = old.is_binary or new.is_binary
    fields, why = ((), "binary") if is_binary else _fields(path, old.data, new.data)
    return fields, ", ".join(filter(None, (note, why)))


def _fields(path: str, old: bytes, new: bytes) -> tuple[Fields, str]:
    """Return the fields that differ in a manifest, or a note about the number of lines."""
    changes = compare(old, new, path) if is_manifest(path) else by_lines(old, new)
    if any(change.how == "lines" for change in changes):
        count = sum(map(_lines, changes))
        return (), "1 line" if count == 1 else f"{count} lines"
    fields = dict.fromkeys(field for change in changes for field in _field(change))
    return tuple(fields), "" if fields else "only comments or layout"


def _lines(change: FieldChange) -> int:
    both = (change.before, change.after)
    return max(len(v.plain) if v and isinstance(v.plain, list) else 0 for v in both)


def _field(change: FieldChange) -> Iterator[FieldDifference]:
    """Yield the field that a change concerns; yield nothing if no value changed."""
    if change.how in ("layout", "renamed") or not (change.steps or change.document):
        return  # not a value, or only the order of resources
    is_whole = not change.steps and change.how in ("added", "deleted")
    yield FieldDifference(change.resource, change.field, change.how if is_whole else "changed")


def patch(base: Package, local: Package) -> Iterator[bytes]:
    """Yield the lines of a patch for `git apply`, with paths relative to the package."""
    for path in sorted({*base, *local}):
        old, new = base.get(path), local.get(path)
        if old is None or new is None or old.essence != new.essence:
            yield from _file_patch(path, old, new)


def _file_patch(path: str, old: File | None, new: File | None) -> Iterator[bytes]:
    if old and new and old.link != new.link:  # a patch must delete and add
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
