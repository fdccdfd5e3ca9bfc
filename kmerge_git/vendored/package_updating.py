"""Update a package to another version of its upstream: plan the whole update, then write it.

An update stays unfinished if it left a conflict or was killed. The next command finishes the update
or undoes it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from kmerge_git.atomic_files import replace_file
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.merge.three import Three
from kmerge_git.packages import exchanged_files
from kmerge_git.packages.exchange_journal import in_the_way
from kmerge_git.packages.exchanged_files import alone
from kmerge_git.packages.package_files import UNDERWAY, File, Package, read
from kmerge_git.packages.package_merge import Merged, ResultFile, merge_packages
from kmerge_git.packages.package_rules import Ways, ways
from kmerge_git.text.markers import first_marker
from kmerge_git.vendored import index_conflicts, upstream_copies
from kmerge_git.vendored.index_conflicts import IndexConflict
from kmerge_git.vendored.origin_records import (
    RECORD,
    Record,
    Vendored,
    is_at,
    parse_record,
    read_record,
    vendored,
)
from kmerge_git.vendored.upstream_copies import Release, checksum, newest, release
from kmerge_git.vendored.upstream_sources import (
    check_folder,
    check_ref,
    check_source,
    is_path,
    recorded,
)

WORDS = ("recorded", "local", "upstream")
Watch = Callable[[int], Callable[[int], None]]  # gets the number of files, then each count


@dataclass(frozen=True, slots=True)
class UpdateWishes:
    """Hold the options of an update; an empty `ref` or `path` is taken from the record."""

    ref: str = ""
    path: str = ""
    rules: str = "git"
    accept_source: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """Hold the plan of an update before anything is written."""

    vendored: Vendored
    record: Record  # the record after the update
    found: str  # the full name of the ref
    at: Three[Package]
    before: Package  # all files of the directory, including the record
    merged: Merged
    rules: str
    left_out: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """Return whether the update leads to another record."""
        return not is_at(self.vendored.record, self.record)

    def whose(self, file: ResultFile) -> str:
        """Return the origin of a file: `conflict`, `same`, `local`, `upstream` or `merged`."""
        if self.is_open(file):
            return "conflict"
        old = file.source or file.path
        if file.status == "same":
            return "same" if _alike(file.before, self.at.theirs.get(file.path)) else "local"
        is_untouched = _alike(self.at.ours.get(old), self.at.base.get(old))
        return "upstream" if is_untouched else "merged"

    @property
    def conflicts(self) -> list[ResultFile]:
        """Return the files with unresolved conflicts, which keep the record from being updated."""
        return [file for file in self.merged.files if self.is_open(file)]

    def is_open(self, file: ResultFile) -> bool:
        """Return whether a file has an unresolved conflict; for `kyaml` only markers count."""
        return file.is_conflict if self.rules == "git" else bool(file.merged.conflicts)


def plan(
    vendored: Vendored,
    wishes: UpdateWishes,
    under: Callable[[Ways], Ways] = lambda how: how,
    watch: Watch = lambda total: lambda done: None,
) -> Update:
    """Fetch both versions and merge them, without writing to the directory.

    `under` may add a time limit to the rules.
    """
    directory, now = vendored.directory, vendored.record
    refuse_unfinished(directory)
    wanted = replace(now, ref=wishes.ref or now.ref, path=wishes.path.strip("/") or now.path)
    check_ref(wanted.ref)
    check_folder(wanted.path)
    url = vendored.url
    upstream_copies.check_known(url, directory, accept=wishes.accept_source)
    upstream = upstream_copies.upstream(url)
    named = newest(upstream, wanted, is_kpt=vendored.is_kpt)
    base = release(upstream, now)
    theirs = release(upstream, replace(wanted, commit=named.commit, checksum=""))
    upstream_copies.remember(url, directory)
    new = _next(now, wanted, base, theirs)
    before = read(directory)
    own = own_files(before)
    aside = vendored.origin_aside
    old, new_files = (apart_from(version.package, before) for version in (base, theirs))
    at = Three(aside(old, own), own, aside(new_files, own))
    inner = [f"{p}: part of another package" for p in theirs.package if p not in new_files]
    merged = Merged([], [])
    if (new.path, new.commit) != (now.path, now.commit):
        labels = now.label, WORDS[1], new.label
        how = under(ways(wishes.rules, labels=labels, words=WORDS))
        merged = merge_packages(at, how, done=watch(len({*at.base, *at.ours, *at.theirs})))
    return Update(
        vendored, new, named.name, at, before, merged, wishes.rules, (*theirs.left_out, *inner)
    )


def carry_out(update: Update) -> list[str]:
    """Write the update; a conflict leaves the update unfinished and the record unchanged.

    The files in conflict are unmerged in git's index before the first file is written.
    Return the files that somebody else wrote in the meantime; these files are not overwritten.
    """
    if not update.is_new:
        return []
    package, record, directory = update.vendored, update.record, update.vendored.directory
    conflicts = [file.path for file in update.conflicts]
    # the journal keeps a file in conflict that is not changed: its answer may be to delete it
    kept = {f.path: f.after for f in update.conflicts if not in_the_way(directory, f.path)}
    changes = {**kept, **update.merged.changes}
    if not conflicts:
        name = package.file
        now = changes.get(name, update.before.get(name))
        changes[name] = package.moved_on(now, record, update.found)
    began = package.record.commit
    with alone(directory):
        index = index_conflicts.find_conflicts(directory, package.file, update.conflicts)
        about = Underway("update", record, update.found, tuple(conflicts), began, index).spelled()
        exchanged_files.begin(directory, changes, about, update.before)
        edited = exchanged_files.carry_out_or_back(
            directory,
            lambda: index_conflicts.mark(directory, index),
            lambda: index_conflicts.take_back(directory, index),
        )
        if not conflicts and not edited:
            exchanged_files.forget(directory)
    return edited


def own_files(before: Package) -> Package:
    """Return the files of a directory without its record and without nested packages."""
    return {path: file for path, file in apart_from(before, before).items() if path != RECORD}


def apart_from(package: Package, before: Package) -> Package:
    """Return a version without the folders in which the directory has nested packages."""
    inner = tuple(path.removesuffix(RECORD) for path in before if path.endswith(f"/{RECORD}"))
    return {path: file for path, file in package.items() if not path.startswith(inner)}


def _next(now: Record, wanted: Record, base: Release, theirs: Release) -> Record:
    """Return the record after this update; keep the old record if the package is unchanged."""
    digest = checksum(theirs.package)
    is_asked_again = (wanted.path, wanted.ref) == (now.path, now.ref)
    if is_asked_again and digest == checksum(base.package):
        return now
    return replace(wanted, commit=theirs.commit, checksum=digest)


def _alike(a: File | None, b: File | None) -> bool:
    return a is b if a is None or b is None else a.essence == b.essence


@dataclass(frozen=True, slots=True)
class Underway:
    """Describe an update or an `add` that is not finished."""

    what: str  # `update` or `add`
    record: Record  # the record after the update
    found: str
    conflicts: tuple[str, ...] = ()
    began: str = ""  # the commit on record before the update
    index: tuple[IndexConflict, ...] = ()

    def spelled(self) -> dict[str, str]:
        """Return the texts that the journal stores about the update."""
        return {
            "what": self.what,
            "record": self.record.spelled().decode(),
            "found": self.found,
            "conflicts": json.dumps(self.conflicts),
            "began": self.began,
            "index": index_conflicts.spelled(self.index),
        }


@dataclass(frozen=True, slots=True)
class Left:
    """List the files because of which an update cannot be finished."""

    marked: tuple[tuple[str, int], ...] = ()  # files with conflict markers, and the first line
    edited: tuple[str, ...] = ()  # files that somebody changed before they could be replaced


def underway(directory: str) -> Underway | None:
    """Return the unfinished update of a directory, or None if no update has changed a file."""
    state = exchanged_files.unfinished(directory)
    return _read(state.about, directory) if state and state.is_begun else None


def refuse_unfinished(directory: str) -> None:
    """Raise an error if the directory has an unfinished update."""
    update = underway(directory)
    if update:
        raise UsageError(
            f"the {update.what} to {update.record.ref} is unfinished",
            path=directory,
            hint=f"run `kmerge vendor update {shlex.quote(directory)} --continue`, or `--abort`",
        )


def go_on(directory: str) -> tuple[Underway, Left]:
    """Finish an update unless some files prevent that; return the update and these files."""
    with alone(directory):
        update = _needed(directory)
        edited = exchanged_files.carry_out(
            directory, lambda: index_conflicts.mark(directory, update.index)
        )
        marked = _marked(read(directory), update)
        if edited or marked:
            return update, Left(tuple(marked), tuple(edited))
        _refuse_what_was_taken_back(directory, update)
        if update.conflicts:
            package = vendored(directory)
            if package.record.commit not in (update.began, update.record.commit):
                raise UsageError(
                    f"the update began at {update.began[:7]}, but the record has another commit",
                    path=directory,
                    hint="switch back to the branch of the update, or use --abort",
                )
            _move_on(package, update)
        exchanged_files.forget(directory)
    return update, Left()


def _refuse_what_was_taken_back(directory: str, update: Underway) -> None:
    """Raise an error if all files that the update wrote have their old content again.

    The new record would be wrong then. The old version of a file in conflict may be the solution of
    that conflict. Any other file has its old version because of `git stash` or a change of branch.
    """
    back, rest = ({*paths} - {*update.conflicts} for paths in exchanged_files.taken_back(directory))
    if update.conflicts and back and not rest:
        raise UsageError(
            f"all files of the update, such as {sorted(back)[0]}, have their old content again",
            path=directory,
            hint="restore the update (`git stash pop`, or switch to its branch), or use --abort",
        )


def go_back(directory: str) -> tuple[Underway, list[str]]:
    """Undo an unfinished update; keep and return the files that somebody edited."""
    with alone(directory):
        update = _needed(directory)
        if update.conflicts and _has_moved_on(directory, update):
            raise UsageError(
                f"the {update.what} is complete, except for its temporary files",
                path=directory,
                hint=f"`kmerge vendor update {shlex.quote(directory)} --continue` removes them",
            )
        edited = exchanged_files.roll_back(directory, give_up=update.conflicts)
        index_conflicts.take_back(directory, update.index)
        exchanged_files.forget(directory)
    return update, edited


def _has_moved_on(directory: str, update: Underway) -> bool:
    """Return whether the record is updated already, so that only drafts are left."""
    try:
        return is_at(vendored(directory).record, update.record)
    except KmergeError:
        return False  # the record itself is in conflict


def _needed(directory: str) -> Underway:
    state = exchanged_files.unfinished(directory)
    if state is None:
        raise UsageError(
            "there is no unfinished update",
            path=directory,
            hint="to undo a finished update, use git",
        )
    if not state.is_begun:
        exchanged_files.forget(directory)
        raise UsageError(
            "the update was stopped before it changed a file; its temporary files are removed",
            path=directory,
            hint="run the update again",
        )
    return _read(state.about, directory)


def _marked(package: Package, update: Underway) -> list[tuple[str, int]]:
    """Return the files with conflict markers, each with the line of its first marker.

    A file that somebody renamed is recognized by the version that its markers name.
    """
    end = f" {update.record.label}"
    left = []
    for path, file in package.items():
        if file.link or not (path in update.conflicts or b">>>>>>>" in file.data):
            continue
        text = file.data.decode("utf-8", "replace")
        at = first_marker(text) if path in update.conflicts else _closing(text, end)
        if at >= 0:
            left.append((path, text.count("\n", 0, at) + 1))
    return left


def _closing(text: str, end: str) -> int:
    """Return the offset of a closing conflict marker with this end of the line, or -1."""
    match = re.search(f"^>{{7,}}{re.escape(end)}\r*$", text, re.M)
    return match.start() if match else -1


def _move_on(package: Vendored, update: Underway) -> None:
    """Replace the file of the record by a rename; `forget` removes a draft of a killed process."""
    now = read(package.directory).get(package.file)
    new = package.moved_on(now, update.record, update.found)
    drafts = os.path.join(package.directory, UNDERWAY)
    path = os.path.join(package.directory, package.file)
    try:
        replace_file(path, new.data, drafts=drafts, mode=new.mode, durable=False)
    except OSError as error:
        raise UsageError(f"cannot write the file: {error.strerror}", path=path) from None


def _read(about: Mapping[str, str], directory: str) -> Underway:
    where = os.path.join(directory, UNDERWAY)
    try:
        record = parse_record(about["record"].encode("utf-8", "surrogateescape"), where)
        paths = tuple(map(str, json.loads(about["conflicts"])))
        index = index_conflicts.parse(about.get("index", "[]"), where)
        return Underway(about["what"], record, about["found"], paths, about["began"], index)
    except (KeyError, TypeError, ValueError):
        raise UsageError(
            "`kmerge vendor` did not create this directory",
            path=where,
            hint="check it, then remove it",
        ) from None


# -- a package is added, or a record to a copy that somebody made by hand


@dataclass(frozen=True, slots=True)
class Added:
    """Hold a new package; `left_out` lists the files of upstream that were not copied."""

    vendored: Vendored
    upstream: Package
    left_out: tuple[str, ...]


def add(source: str, directory: str, *, path: str, ref: str, adopt: bool, accept: bool) -> Added:
    """Copy a package from its source; if `adopt` is true, write only the record."""
    _check(source, directory, ref, adopt=adopt)
    folder = path.strip("/") or "."
    for check, text in ((check_source, source), (check_folder, folder), (check_ref, ref or "HEAD")):
        check(text)
    record = Record(recorded(source, directory), folder, ref or "HEAD", "")
    check_source(record.source)
    package = Vendored(directory, record, is_kpt=False)
    upstream_copies.check_known(package.url, directory, accept=accept)
    upstream = upstream_copies.upstream(package.url)
    record = replace(record, commit=newest(upstream, record, is_kpt=False).commit)
    copied = release(upstream, record)
    record = replace(record, checksum=checksum(copied.package))
    added = Added(replace(package, record=record), copied.package, copied.left_out)
    if not adopt and not copied.package:
        raise UsageError(
            "upstream has no files in this folder", path=folder, hint="check --path and --ref"
        )
    _write(added, adopt=adopt)
    upstream_copies.remember(package.url, directory)
    return added


def _check(source: str, directory: str, ref: str, *, adopt: bool) -> None:
    refuse_unfinished(directory)
    there = os.listdir(directory) if os.path.isdir(directory) else []
    if is_path(source) and not os.path.isdir(source):
        raise UsageError("no such repository", path=source, hint="use a URL or a directory")
    if ".git" in os.path.realpath(directory).lower().split(os.sep):
        raise UsageError(
            "the directory is inside a `.git` directory", path=directory, hint="use another one"
        )
    if os.path.lexists(directory) and not os.path.isdir(directory):
        raise UsageError("not a directory", path=directory)
    if not adopt and there:
        hint = "use a new directory, or --adopt for a copy made by hand"
        raise UsageError("the directory is not empty", path=directory, hint=hint)
    if adopt and not there:
        raise UsageError("there is no copy to adopt", path=directory, hint="omit --adopt")
    if adopt and not ref:
        hint = "use --ref with the version that the copy was made from"
        raise UsageError("--adopt needs --ref", hint=hint)
    if adopt and read_record(directory):
        hint = f"to adopt it again, remove {os.path.join(directory, RECORD)}"
        raise UsageError("the package already has a record", path=directory, hint=hint)


def _write(added: Added, *, adopt: bool) -> None:
    record = added.vendored.record
    changes: dict[str, File | None] = {RECORD: File(record.spelled())}
    if not adopt:
        changes |= added.upstream
    directory = added.vendored.directory
    os.makedirs(directory, exist_ok=True)
    with alone(directory):
        exchanged_files.begin(directory, changes, Underway("add", record, record.ref).spelled())
        exchanged_files.carry_out_or_back(directory)
        exchanged_files.forget(directory)
