"""Solve the conflicts of an index: first make a plan of plain values, then carry it out.

The order of the steps makes it safe to kill the process: files that were not in conflict get
three stages first (an abort puts such files back, whatever they hold), then every file is
replaced in one step, and only then git stages what is solved. A file that holds somebody's
work is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from kmerge_git.outcome import SIDES, Options
from kmerge_git.text.markers import resolve
from kmerge_git.whole.both_merges import SettingsOf
from kmerge_git.whole.conflicted_files import FileMerge, Scene, settle
from kmerge_git.whole.operation import current_operation


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
    others: Mapping[str, str] = field(default_factory=dict)  # by their paths, each with the reason
    problems: tuple[str, ...] = ()  # settings that make no sense
    options: Callable[[str], Options] = Options

    @property
    def is_solved(self) -> bool:
        """Return whether no chosen manifest stays in conflict."""
        return all(file.verdict == "solved" for file in self.files)


def make_plan(
    repository: Repository,
    wishes: Wishes,
    *,
    is_ours: Callable[[str, bytes], bool] = lambda path, found: False,
) -> SolvePlan:
    """Decide about every conflicted manifest; nothing is written.

    `is_ours` recognises a file that an unfinished `kmerge resolve` wrote.
    """
    operation = current_operation(repository)
    options = SettingsOf(repository, wishes.favor, operation.labels, mine=operation.mine)
    conflicts = repository.conflicts()
    reasons = {
        stages.path: options.refusal(stages.path, json=wishes.json)
        or _refusal_of_name(repository, operation, stages)
        for stages in conflicts
    }
    others = {path: reason for path, reason in reasons.items() if reason}
    tree = WorkTree(repository, options, force=wishes.force, is_ours=is_ours)
    scene = Scene(
        repository,
        Three(operation.base, operation.ours, operation.theirs) if operation.is_known else None,
        conflicts,
        repository.staged,
        options,
        tree.in_the_way,
        tree.is_as_staged,
        seconds=options.timeout,
        favors_deletions=True,
    )
    files = settle(scene, lambda path: path not in others and is_selected(path, wishes.paths))
    return SolvePlan(operation, files, others, tuple(options.problems), options)


def _refusal_of_name(repository: Repository, operation: Operation, stages: Stages) -> str:
    """Return why a person has to choose the name of a file, or nothing.

    Some names are suggestions of git, which its stages do not show. A person who settles such a
    file by its content has chosen the name as well.
    """
    if not operation.is_known or None in (stages.ours, stages.theirs):
        return ""
    there = [repository.entry(tree, stages.path) for tree in (operation.ours, operation.theirs)]
    if stages.base is None and all(there):
        oids = [entry.oid for entry in there if entry]
        is_added = oids == [entry.oid for entry in stages.entries if entry]
        return "" if is_added else "two files were renamed to this name"
    if stages.base is not None and any(there):
        return ""
    # of a renamed file one side has the name, of an added one both
    wanted = [v for k, v in repository.settings() if k.lower() == "merge.directoryrenames"]
    is_asked = (wanted or ["conflict"])[-1].lower() == "conflict"
    return "its folder was renamed on one side: the name is yours to choose" if is_asked else ""


class WorkTree:
    """The files on the disk; work that somebody did there since the merge is kept."""

    def __init__(
        self,
        repository: Repository,
        options: Callable[[str], Options],
        *,
        force: bool,
        is_ours: Callable[[str, bytes], bool] = lambda path, found: False,
    ) -> None:
        self._top = Path(repository.worktree or "")
        self._repository = repository
        self._tree = read_text(Path(repository.git_dir, "AUTO_MERGE")).strip()
        self._options = options
        self._force = force
        self._is_ours = is_ours
        self._lines = Libgit2LineMerge()

    def in_the_way(
        self, path: str, three: Three[bytes | None], texts: Iterable[bytes | None]
    ) -> str:
        """Return why a file in conflict must be left alone: no merge leaves it so."""
        if any((self._top / folder).is_symlink() for folder in Path(path).parents):
            return "a folder above it is a symbolic link now"
        if self._force:
            return ""
        data = content(self._top, path)
        if data is None or self._is_as_git_left_it(path, data) or self._is_ours(path, data):
            return ""
        if is_left_by_a_merge(data, three, texts, self._lines, self._options(path).marker_size):
            return ""
        return (
            "edited by hand since the merge, or by rerere: `git add` it, or `kmerge solve --force` "
            "it for a new start"
        )

    def _is_as_git_left_it(self, path: str, data: bytes) -> bool:
        """Return whether git wrote a file: it notes the tree, with the markers."""
        if not self._tree:
            return False
        try:
            entry = self._repository.entry(self._tree, path)
            left = self._repository.text(entry) if entry is not None and entry.is_text else None
        except (KmergeError, ValueError):  # a note about a tree that is not there any more
            return False
        return left is not None and _plain(left) == _plain(data)

    def is_as_staged(self, path: str, data: bytes) -> bool:
        """Return whether a file that is not in conflict is as it was staged."""
        try:
            present = content(self._top, path)
        except KmergeError:  # a folder is there, or nobody may read it
            return False
        if present is not None:
            return _plain(present) == _plain(data)
        # a sparse checkout leaves files out; others were deleted
        answer = ask_git("ls-files", "-t", "-z", "--", f":(top,literal){path}", cwd=self._top)
        return answer.out.startswith("S ")


def carry_out(repository: Repository, plan: SolvePlan, *, fresh: bool = False) -> None:
    """Write and stage the files of a plan, in an order that can be interrupted anywhere.

    `fresh`: git wrote every file a moment ago. As with git, nothing waits for the disk then, and
    the merge itself is staged, whatever the checkout made of it.
    """
    worktree = repository.worktree or ""
    writes = [file for file in plan.files if file.writes]
    # `git checkout -m` will show the very conflict that was solved
    stages = [
        Stages(file.path, *(_stored(repository, data, file) for data in file.stages.each()))
        for file in writes
        if file.stages
    ]
    index_stages.mark_unmerged(worktree, stages)
    by_git: list[tuple[str, TreeEntry]] = []
    for file in writes:
        if file.data is not None and (b"\0" in file.data or is_converted(repository, file.path)):
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


def is_converted(repository: Repository, path: str) -> bool:
    """Return whether only git can write such a file: by a filter program, or in an encoding."""
    names = ("filter", "working-tree-encoding")
    return any(repository.attribute(path, name) not in (None, "unset") for name in names)


def _write(repository: Repository, worktree: str, file: FileMerge, *, durable: bool) -> None:
    target = Path(worktree, file.path)
    if file.data is None:
        target.unlink(missing_ok=True)
        return
    replace_file(
        target,
        repository.to_worktree(file.path, file.data),
        drafts=repository.git_dir,  # there a leftover of a kill disturbs nobody
        new_mode=0o777 if file.mode & 0o111 else 0o666,
        durable=durable,
        parents=True,
    )


def is_left_by_a_merge(
    data: bytes | None,
    three: Three[bytes | None],
    merged: Iterable[bytes | None],
    lines: Libgit2LineMerge,
    size: int = 7,
) -> bool:
    """Return whether a file can be overwritten: a missing one, a side, or a merge with markers.

    Labels and conflict styles differ, so both readings of the markers are compared: with git's
    merge, and with those that kmerge made or may have made.
    """
    if data is None:
        return True
    plain = _plain(data)
    if plain in {_plain(side) for side in three.each() if side}:
        return True
    pair = _readings(plain, size)
    if any(pair == _readings(_plain(text), size) for text in merged if text is not None):
        return True
    sides = three.map(lambda side: side or b"")
    # where a side gave the file other line ends, every line of it is in conflict
    return any(
        _is_left(text, of, lines, size) for text, of in ((plain, sides.map(_plain)), (data, sides))
    )


def _is_left(text: bytes, three: Three[bytes], lines: Libgit2LineMerge, size: int) -> bool:
    known = [lines.readings(*three.each(), patience=flag) for flag in (False, True)]
    last = text[:-1].rpartition(b"\n")[2]
    if text.endswith(b"\n") and last.startswith(b">" * size):  # lines before a marker have an end
        known = [(_ended(ours), _ended(theirs)) for ours, theirs in known]
    return _readings(text, size) in known


def _ended(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"


def _plain(data: bytes) -> bytes:
    """Return a text without the line ends that a checkout may have added."""
    return data.replace(b"\r\n", b"\n")


def _readings(data: bytes, size: int) -> tuple[bytes, bytes]:
    """Return a conflicted text with every conflict resolved to ours, and to theirs."""
    text = data.decode("utf-8", "surrogateescape")
    ours, theirs = (resolve(text, side, size).encode("utf-8", "surrogateescape") for side in SIDES)
    return ours, theirs
