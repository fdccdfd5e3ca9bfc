"""Record the conflicts of an update in git's index, as `git merge` does.

So `git status` and `kmerge resolve` list these conflicts, and `git commit` stops. A file that git
does not track stays out of the index.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git import index_stages
from kmerge_git.git.index_stages import Stages
from kmerge_git.git.merge_sides import SYMLINK, TreeEntry
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git
from kmerge_git.packages.package_files import File, check_path
from kmerge_git.packages.package_merge import ResultFile


@dataclass(frozen=True, slots=True)
class IndexConflict:
    """Hold the stages of a file, and its index entry before the update."""

    stages: Stages  # the path is relative to the package
    before: TreeEntry | None


def find_conflicts(
    directory: str, record: str, files: Sequence[ResultFile]
) -> tuple[IndexConflict, ...]:
    """Store the versions of the tracked files in conflict; the index is not changed yet.

    A file that is not in the working tree is tracked if the file `record` of the package is.
    """
    place = _place(directory) if files else None
    if place is None:
        return ()
    repository, prefix = place
    tracked = _tracked(repository, prefix)
    has_no_modes = ("core.filemode", "false") in repository.settings()
    conflicts = []
    for file in files:
        path = prefix + file.path
        is_tracked = tracked.get(prefix + (file.path if file.before else record))
        before = tracked.get(path)
        entries = [_stored(repository, path, version) for version in file.versions.each()]
        if has_no_modes and before and before.is_text and entries[1] and entries[1].is_text:
            entries[1] = TreeEntry(entries[1].oid, before.mode)
        if is_tracked and (before or path not in tracked) and any(entries):
            stages = Stages(file.path, *entries)
            _refuse_staged_work(repository, path, before, stages)
            conflicts.append(IndexConflict(stages, before))
    if conflicts:
        index_stages.refuse_unwritable(repository.git_dir)
    return tuple(conflicts)


def _place(directory: str) -> tuple[Repository, str] | None:
    """Return the repository around a package, and the package's path in it with a slash."""
    try:
        repository = Repository.open(os.environ.get("GIT_DIR") or directory)
    except KmergeError:
        return None
    if repository.worktree is None:
        return None
    within = os.path.relpath(os.path.realpath(directory), os.path.realpath(repository.worktree))
    return repository, "" if within == os.curdir else f"{within}/"


def _tracked(repository: Repository, prefix: str) -> dict[str, TreeEntry | None]:
    """Return the index entries of a package; an unmerged file has None.

    Git reads the index, because libgit2 reads no split and no sparse index.
    """
    words = ("--literal-pathspecs", "ls-files", "-s", "-z", "--full-name", "--", prefix or ".")
    entries: dict[str, TreeEntry | None] = {}
    for line in ask_git(*words, cwd=repository.worktree).out.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, oid, stage = about.split()
        entries[path] = TreeEntry(oid, int(mode, 8)) if stage == "0" else None
    return entries


def _stored(repository: Repository, path: str, file: File | None) -> TreeEntry | None:
    if file is None:
        return None
    if file.link:
        return TreeEntry(repository.store(file.data), SYMLINK)
    data = file.data
    with suppress(KmergeError):  # outside of the working tree the line ends stay
        data = repository.from_worktree(path, data)
    return TreeEntry(repository.store(data), 0o100755 if file.is_executable else 0o100644)


def _refuse_staged_work(
    repository: Repository, path: str, staged: TreeEntry | None, stages: Stages
) -> None:
    """Refuse to drop a staged version that is not in the working tree or the last commit."""
    if staged is None or (stages.ours and staged.oid == stages.ours.oid):
        return
    try:
        committed = repository.entry(repository.commit("HEAD").tree, path)
    except UsageError:  # no commit yet
        committed = None
    if committed is None or committed.oid != staged.oid:
        hint = "run `git add` or `git restore --staged` for this file, then try again"
        raise UsageError(
            "the conflict would replace the staged version of this file", path=path, hint=hint
        )


def mark(directory: str, conflicts: Sequence[IndexConflict]) -> None:
    """Write the stages of each file to the index."""
    place = _place(directory) if conflicts else None
    if place:
        repository, prefix = place
        stages = [one.stages for one in conflicts]
        files = [replace(each, path=prefix + each.path) for each in stages]
        index_stages.mark_unmerged(repository.worktree or "", files)


def take_back(directory: str, conflicts: Sequence[IndexConflict]) -> None:
    """Restore the index entry of each file from before the update."""
    place = _place(directory) if conflicts else None
    if place:
        repository, prefix = place
        entries = [(prefix + one.stages.path, one.before) for one in conflicts]
        index_stages.stage_entries(repository.worktree or "", entries)


def resolved(directory: str, conflicts: Sequence[IndexConflict]) -> set[str]:
    """Return the files that are no longer unmerged in the index."""
    place = _place(directory) if conflicts else None
    if place is None:
        return set()
    repository, prefix = place
    tracked = _tracked(repository, prefix)
    unmerged = {path for path, entry in tracked.items() if entry is None}
    return {one.stages.path for one in conflicts if prefix + one.stages.path not in unmerged}


def spelled(conflicts: Iterable[IndexConflict]) -> str:
    """Return the conflicts as a text for the journal."""
    rows = [(one.stages.path, one.before, *one.stages.entries) for one in conflicts]
    return json.dumps([[path, *(e and (e.oid, e.mode) for e in of)] for path, *of in rows])


def parse(text: str, where: str) -> tuple[IndexConflict, ...]:
    """Return the conflicts in a journal; raise an error for a path outside of the package."""
    conflicts = []
    for path, *rows in json.loads(text):
        check_path(str(path), where)
        before, *entries = (
            # an id is hexadecimal, and a sha256 id may begin with zeros
            row and TreeEntry(f"{int(row[0], 16):0{len(row[0])}x}", int(row[1]))
            for row in rows
        )
        conflicts.append(IndexConflict(Stages(path, *entries), before))
    return tuple(conflicts)
