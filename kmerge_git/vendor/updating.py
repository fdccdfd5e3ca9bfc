"""Upstream's next version into the working copy: planned as a whole, then carried out.

The package as recorded is the base, the new one is theirs, what lies in the directory is ours.
Nothing from any of them is read as configuration: attributes and policies are files like others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kmerge_git.merge.three import Three
from kmerge_git.packages import writing
from kmerge_git.packages.files import File, Package, read
from kmerge_git.packages.holding import alone
from kmerge_git.packages.merging import Merged, ResultFile, merge_packages
from kmerge_git.packages.ways import Ways, ways
from kmerge_git.vendor import cache
from kmerge_git.vendor.origin import Vendored
from kmerge_git.vendor.record import MOVING, NAME, Record
from kmerge_git.vendor.sources import check_folder, check_ref
from kmerge_git.vendor.underway import Underway, refuse_unfinished
from kmerge_git.vendor.upstreams import Release, checksum, newest, release

WORDS = ("recorded", "local", "upstream")
Watch = Callable[[int], Callable[[int], None]]  # hears how many files there are, then of each


@dataclass(frozen=True, slots=True)
class UpdateWishes:
    """How to update; without a ref or a path those on record."""

    ref: str = ""
    path: str = ""
    rules: str = "git"
    accept_source: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """What an update comes to, before anything is written."""

    vendored: Vendored
    record: Record  # the next one
    found: str  # what its ref stands for, in full
    at: Three[Package]
    before: Package  # all that lies in the directory, the record too
    merged: Merged
    rules: str
    left_out: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether there is anything to do."""
        now = self.vendored.record
        return any(getattr(self.record, key) != getattr(now, key) for key in MOVING)

    def whose(self, file: ResultFile) -> str:
        """Who made a file of the result what it is, in a word."""
        if self.is_open(file):
            return "conflict"
        old = file.source or file.path
        if file.status == "same":
            return "same" if _alike(file.before, self.at.theirs.get(file.path)) else "local"
        is_untouched = _alike(self.at.ours.get(old), self.at.base.get(old))
        return "upstream" if is_untouched else "merged"

    @property
    def conflicts(self) -> list[ResultFile]:
        """The files that are left to a person before the record moves on."""
        return [file for file in self.merged.files if self.is_open(file)]

    def is_open(self, file: ResultFile) -> bool:
        """Whether a person must decide; by the rules kyaml what is told is decided."""
        return file.is_conflict if self.rules == "git" else bool(file.merged.conflicts)


def plan(
    vendored: Vendored,
    wishes: UpdateWishes,
    under: Callable[[Ways], Ways] = lambda how: how,
    watch: Watch = lambda total: lambda done: None,
) -> Update:
    """Fetch both versions and merge; nothing in the directory is touched.

    `under` may put a clock on the rules.
    """
    directory, now = vendored.directory, vendored.record
    refuse_unfinished(directory)
    wanted = replace(now, ref=wishes.ref or now.ref, path=wishes.path.strip("/") or now.path)
    check_ref(wanted.ref)
    check_folder(wanted.path)
    url = vendored.url
    cache.check_known(url, directory, accept=wishes.accept_source)
    upstream = cache.upstream(url)
    found = newest(upstream, wanted, is_kpt=vendored.is_kpt)
    base = release(upstream, now)
    theirs = release(upstream, replace(wanted, commit=found.commit, checksum=""))
    cache.remember(url, directory)
    new = _next(now, wanted, base, theirs)
    before = read(directory)
    own = own_files(before)
    aside = vendored.origin_aside
    old, new_files = (apart_from(version.package, before) for version in (base, theirs))
    at = Three(aside(old, own), own, aside(new_files, own))
    inner = [f"{p}: a package of its own" for p in theirs.package if p not in new_files]
    merged = Merged([], [])
    if (new.path, new.commit) != (now.path, now.commit):
        labels = now.label, WORDS[1], new.label
        how = under(ways(wishes.rules, labels=labels, words=WORDS))
        done = watch(len({*at.base, *at.ours, *at.theirs}))
        merged = merge_packages(at, how, done=done)
    return Update(
        vendored, new, found.name, at, before, merged, wishes.rules, (*theirs.left_out, *inner)
    )


def carry_out(update: Update) -> list[str]:
    """Write it; while a conflict is left the update stays unfinished and the record where it is.

    Gives the files that somebody else wrote meanwhile: they are left alone.
    """
    if not update.is_new:
        return []
    package, record = update.vendored, update.record
    changes = dict(update.merged.changes)
    conflicts = [file.path for file in update.conflicts]
    if not conflicts:
        name = package.file
        now = changes.get(name, update.before.get(name))
        changes[name] = package.moved_on(now, record, update.found)
    began = package.record.commit
    about = Underway("update", record, update.found, tuple(conflicts), began).spelled()
    with alone(package.directory):
        writing.begin(package.directory, changes, about, update.before)
        edited = writing.carry_out_or_back(package.directory)
        if not conflicts and not edited:
            writing.forget(package.directory)
    return edited


def own_files(before: Package) -> Package:
    """What of a directory belongs to the package: all but the record, and packages inside of it."""
    return {path: file for path, file in apart_from(before, before).items() if path != NAME}


def apart_from(package: Package, before: Package) -> Package:
    """A version without what lies where the directory has packages with a record of their own."""
    inner = tuple(path.removesuffix(NAME) for path in before if path.endswith(f"/{NAME}"))
    return {path: file for path, file in package.items() if not path.startswith(inner)}


def _next(now: Record, wanted: Record, base: Release, theirs: Release) -> Record:
    """The record after this update; newer commits that do not touch the package are not one."""
    digest = checksum(theirs.package)
    is_asked_again = (wanted.path, wanted.ref) == (now.path, now.ref)
    if is_asked_again and digest == checksum(base.package):
        return now
    return replace(wanted, commit=theirs.commit, checksum=digest)


def _alike(a: File | None, b: File | None) -> bool:
    return a is b if a is None or b is None else a.essence == b.essence
