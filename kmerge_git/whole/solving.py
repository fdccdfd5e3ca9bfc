"""Solve the conflicts of an index: first make a plan of plain values, then carry it out.

The order of the steps makes it safe to kill the process: files that were not in conflict get
three stages first (an abort puts such files back, whatever they hold), then every file is
replaced in one step, and only then git stages what is solved. A file that holds somebody's
work is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.atomic_files import content, read_text, replace_file
from kmerge_git.errors import KmergeError
from kmerge_git.git import index_stages
from kmerge_git.git.index_stages import Operation, Stages
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.git.manifests import is_selected
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git
from kmerge_git.git.touched_files import TreeEntry
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.text.markers import resolve
from kmerge_git.whole.conflicted_files import FileMerge, Scene, settle
from kmerge_git.whole.operation import current_operation
from kmerge_git.whole.path_options import SettingsOf


@dataclass(frozen=True, slots=True)
class Wishes:
    """The wishes of the user."""

    paths: tuple[str, ...] = ()
    favor: str | None = None
    json: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class SolvePlan:
    """The files to solve, and the other conflicts, which are left alone."""

    operation: Operation
    files: tuple[FileMerge, ...]
    others: tuple[str, ...]
    problems: tuple[str, ...] = ()  # settings that make no sense
    why_not: tuple[str, ...] = ()  # of each of the others
    options: Callable[[str], Options] = Options

    @property
    def is_solved(self) -> bool:
        """Return whether no chosen manifest stays in conflict."""
        return all(file.verdict == "solved" for file in self.files)


def make_plan(
    repository: Repository,
    wishes: Wishes,
    operation: Operation | None = None,
    *,
    is_ours: Callable[[str, bytes], bool] = lambda path, found: False,
) -> SolvePlan:
    """Decide about every conflicted manifest; nothing is written.

    `is_ours` tells what an unfinished `kmerge resolve` left in a file.
    """
    operation = operation or current_operation(repository)
    options = SettingsOf(repository, wishes.favor, operation.labels, mine=operation.mine)
    conflicts = repository.conflicts()
    names = _GivenNames(repository, operation)
    reasons = {
        s.path: options.refusal(s.path, json=wishes.json) or names.refusal(s) for s in conflicts
    }
    others = tuple(path for path, reason in reasons.items() if reason)
    scene = Scene(
        repository,
        Three(operation.base, operation.ours, operation.theirs) if operation.is_known else None,
        conflicts,
        repository.staged,
        options,
        WorkTree(repository, options, force=wishes.force, is_ours=is_ours),
        seconds=options.timeout,
        favors_deletions=True,
    )
    taken = {stages.path for stages in conflicts}.difference(others)
    files = settle(scene, lambda path: path in taken and is_selected(path, wishes.paths))
    why_not = tuple(reasons[path] for path in others)
    return SolvePlan(operation, files, others, tuple(options.problems), why_not, options)


class _GivenNames:
    """The names of the files in conflict: some are what git suggests, and its stages do not say so.

    Whoever settles such a file by what is in it has chosen the name as well.
    """

    def __init__(self, repository: Repository, operation: Operation) -> None:
        self._repository = repository
        self._operation = operation
        wanted = [v for k, v in repository.settings() if k.lower() == "merge.directoryrenames"]
        self._is_asked = (wanted or ["conflict"])[-1].lower() == "conflict"

    def refusal(self, stages: Stages) -> str:
        """Why a person has to choose the name, or nothing."""
        if not self._operation.is_known or None in (stages.ours, stages.theirs):
            return ""
        trees = self._operation.ours, self._operation.theirs
        there = [self._repository.entry(tree, stages.path) for tree in trees]
        if stages.base is None and all(there):
            found = [entry.oid for entry in there if entry]
            if found != [entry.oid for entry in stages.entries if entry]:
                return "two files were renamed to this name"
            return ""
        # of a renamed file one side has the name, of an added one both
        if self._is_asked and (stages.base is None or not any(there)):
            return "its folder was renamed on one side: the name is yours to choose"
        return ""


class WorkTree:
    """The files on the disk: what somebody did there since the merge is not overwritten."""

    def __init__(
        self,
        repository: Repository,
        options: Callable[[str], Options],
        *,
        force: bool,
        is_ours: Callable[[str, bytes], bool] = lambda path, found: False,
    ) -> None:
        self._top = repository.worktree or ""
        self._repository = repository
        self._tree = read_text(Path(repository.git_dir, "AUTO_MERGE")).strip()
        self._options = options
        self._force = force
        self._is_ours = is_ours
        self._lines = Libgit2LineMerge()

    def in_the_way(
        self, path: str, three: Three[bytes | None], made: Iterable[bytes | None]
    ) -> str:
        """Why a file in conflict must be left alone: it is none that a merge leaves."""
        if any(Path(self._top, folder).is_symlink() for folder in Path(path).parents):
            return "a folder above it is a symbolic link now"
        if self._force:
            return ""
        size, found = self._options(path).marker_size, self._found(path)
        if found is not None and (
            self._is_as_git_left_it(path, found) or self._is_ours(path, found)
        ):
            return ""
        if is_left_by_a_merge(found, three, made, self._lines, size):
            return ""
        return (
            "edited by hand since the merge, or by rerere: `git add` it, or `kmerge solve --force` "
            "it for a new start"
        )

    def _is_as_git_left_it(self, path: str, found: bytes) -> bool:
        """Whether a file is what git wrote: it notes the tree, markers and all."""
        if not self._tree:
            return False
        try:
            entry = self._repository.entry(self._tree, path)
            left = self._repository.text(entry) if entry is not None and entry.is_text else None
        except (KmergeError, ValueError):  # a note about a tree that is not there any more
            return False
        return left is not None and left.replace(b"\r\n", b"\n") == found.replace(b"\r\n", b"\n")

    def is_as_staged(self, path: str, data: bytes) -> bool:
        """Whether a file that is not in conflict holds nothing else than what is staged."""
        try:
            found = self._found(path)
        except KmergeError:  # a folder is there, or nobody may read it
            return False
        if found is None:
            return self._is_left_out(path)
        return found.replace(b"\r\n", b"\n") == data.replace(b"\r\n", b"\n")

    def _is_left_out(self, path: str) -> bool:
        """Whether it is not there because the checkout is sparse; not because it was deleted."""
        asked = ask_git("ls-files", "-t", "-z", "--", f":(top,literal){path}", cwd=Path(self._top))
        return asked.out.startswith("S ")

    def _found(self, path: str) -> bytes | None:
        return content(Path(self._top), path)


def carry_out(repository: Repository, plan: SolvePlan, *, fresh: bool = False) -> None:
    """Write and stage what the plan says, in an order that can be interrupted anywhere.

    `fresh`: git wrote every file a moment ago. Its own way to write is as good then (nothing waits
    for the disk), and what is staged is the merge, whatever the checkout made of it.
    """
    worktree = repository.worktree or ""
    writes = [file for file in plan.files if file.writes]
    stages = [_stages(repository, file.stages, file) for file in writes if file.stages]
    index_stages.mark_unmerged(worktree, stages)
    by_git: list[tuple[str, TreeEntry]] = []
    for file in writes:
        if file.data is not None and _needs_git(repository, file.path, file.data):
            by_git.append((file.path, _stored(repository, file.data, file)))
            continue
        try:
            _write(repository, worktree, file, durable=not fresh)
        except OSError as error:
            hint = "nothing is staged: mend it and run `kmerge solve` again"
            raise KmergeError(error.strerror or str(error), path=file.path, hint=hint) from error
    if by_git:
        index_stages.check_out(worktree, f"{repository.git_dir}kmerge-index-{os.getpid()}", by_git)
    _stage(repository, [file for file in writes if file.verdict == "solved"], fresh=fresh)


def _stage(repository: Repository, files: Sequence[FileMerge], *, fresh: bool) -> None:
    worktree = repository.worktree or ""
    if fresh:
        entries = (
            (f.path, _stored(repository, f.data, f) if f.data is not None else None) for f in files
        )
        index_stages.stage_entries(worktree, entries)
        return
    sparse = ("core.sparsecheckout", "true") in repository.settings()
    index_stages.stage_files(worktree, [file.path for file in files], sparse=sparse)


def _stored(repository: Repository, data: bytes, file: FileMerge) -> TreeEntry:
    return TreeEntry(repository.store(data), file.mode)


def _needs_git(repository: Repository, path: str, data: bytes) -> bool:
    return b"\0" in data or is_converted(repository, path)


def is_converted(repository: Repository, path: str) -> bool:
    """Whether only git itself can write such a file: by a filter program, or in an encoding."""
    names = ("filter", "working-tree-encoding")
    return any(repository.attribute(path, name) not in (None, "unset") for name in names)


def _stages(repository: Repository, three: Three[bytes], file: FileMerge) -> Stages:
    """The stages of the file: `git checkout -m` will show the very conflict that was solved."""
    at = three.map(lambda data: _stored(repository, data, file))
    return Stages(file.path, *at.each())


def _write(repository: Repository, worktree: str, file: FileMerge, *, durable: bool) -> None:
    target = Path(worktree, file.path)
    if file.data is None:
        target.unlink(missing_ok=True)
    else:
        data = repository.to_worktree(file.path, file.data)
        # inside git's directory a leftover of a kill is in nobody's way
        drafts = Path(repository.git_dir)
        is_executable = bool(file.mode & 0o111)
        replace_file(
            target, data, drafts=drafts, executable=is_executable, durable=durable, parents=True
        )


def is_left_by_a_merge(
    found: bytes | None,
    three: Three[bytes | None],
    merged: Iterable[bytes | None],
    lines: Libgit2LineMerge,
    size: int = 7,
) -> bool:
    """Whether overwriting loses nothing: a missing file, one side, or a merge with its markers.

    Labels and conflict styles differ, so both readings of the markers are compared: with git's
    merge, and with those that kmerge made or may have made.
    """
    if found is None:
        return True
    plain = _plain(found)
    if plain in {_plain(side) for side in three.each() if side}:
        return True
    pair = _readings(plain, size)
    if any(pair == _readings(_plain(data), size) for data in merged if data is not None):
        return True
    sides = three.map(lambda side: side or b"")
    # where a side gave the file other line ends, every line of it is in conflict
    return any(
        _is_left(text, of, lines, size) for text, of in ((plain, sides.map(_plain)), (found, sides))
    )


def _is_left(text: bytes, three: Three[bytes], lines: Libgit2LineMerge, size: int) -> bool:
    known = [lines.readings(*three.each(), patience=flag) for flag in (False, True)]
    if _ends_in_a_marker(text, size):  # what stands before a marker has a line end there
        known = [(_ended(ours), _ended(theirs)) for ours, theirs in known]
    return _readings(text, size) in known


def _ends_in_a_marker(found: bytes, size: int) -> bool:
    return found.endswith(b"\n") and found[:-1].rpartition(b"\n")[2].startswith(b">" * size)


def _ended(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"


def _plain(data: bytes) -> bytes:
    """Without the line ends that a checkout may have added."""
    return data.replace(b"\r\n", b"\n")


def _readings(data: bytes, size: int) -> tuple[bytes, bytes]:
    """A conflicted text with every conflict resolved to ours, and to theirs."""
    text = data.decode("utf-8", "surrogateescape")
    ours, theirs = (resolve(text, side, size) for side in ("ours", "theirs"))
    return ours.encode("utf-8", "surrogateescape"), theirs.encode("utf-8", "surrogateescape")
