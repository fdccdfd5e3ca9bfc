"""Add a package from upstream, or add a record to a copy that somebody made by hand."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from kmerge_git.errors import UsageError
from kmerge_git.packages import exchanged_files
from kmerge_git.packages.directory_lock import alone
from kmerge_git.packages.package_files import File, Package
from kmerge_git.vendored import upstream_copies
from kmerge_git.vendored.origin_records import RECORD, Record, Vendored, read_record
from kmerge_git.vendored.package_updating import Underway, refuse_unfinished
from kmerge_git.vendored.upstream_copies import checksum, newest, release
from kmerge_git.vendored.upstream_sources import (
    check_folder,
    check_ref,
    check_source,
    is_path,
    recorded,
)


@dataclass(frozen=True, slots=True)
class Added:
    """Hold a new package; `left_out` names the files of upstream that were not copied."""

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
        raise UsageError("there is no file", path=folder, hint="look at --path and --ref")
    _write(added, adopt=adopt)
    upstream_copies.remember(package.url, directory)
    return added


def _check(source: str, directory: str, ref: str, *, adopt: bool) -> None:
    refuse_unfinished(directory)
    there = os.listdir(directory) if os.path.isdir(directory) else []
    if is_path(source) and not os.path.isdir(source):
        raise UsageError("no such repository", path=source, hint="give a URL or a directory")
    if ".git" in os.path.realpath(directory).lower().split(os.sep):
        raise UsageError("it lies in a repository's own folder", path=directory)
    if os.path.lexists(directory) and not os.path.isdir(directory):
        raise UsageError("it is no directory", path=directory)
    if not adopt and there:
        hint = "give a new one, or --adopt if it is a copy made by hand"
        raise UsageError("the directory is not empty", path=directory, hint=hint)
    if adopt and not there:
        raise UsageError("there is no copy to adopt", path=directory, hint="leave --adopt out")
    if adopt and not ref:
        hint = "name the version that the copy was made from"
        raise UsageError("--adopt needs --ref", hint=hint)
    if adopt and read_record(directory):
        hint = f"to adopt it again take {os.path.join(directory, RECORD)} away"
        raise UsageError("it has a record already", path=directory, hint=hint)


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
