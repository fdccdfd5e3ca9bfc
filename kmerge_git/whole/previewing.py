"""What a merge or a rebase would do, file by file, computed on trees: nothing is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from kmerge_git.errors import Unsupported, UsageError
from kmerge_git.git.commits import Commit
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.repository import Repository
from kmerge_git.git.sides import Change, FileCase, TreeEntry, merged_mode, touched_by_both
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Options
from kmerge_git.whole.merging import merge_both
from kmerge_git.whole.moves import (
    Arrivals,
    MovedEdit,
    at_target,
    changed_nothing_else,
    find_moves,
    without_edits,
    words_for_source,
    words_for_target,
)

Result = Literal["clean", "resolved", "improved", "moved", "conflict"]
Mode = Literal["merge", "rebase"]
State = Literal["merge", "fast-forward", "up to date"]


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file that both sides touched; `data` is the result, None for a deleted file."""

    path: str
    kind: str
    result: Result
    git_clean: bool
    note: str = ""
    method: str = ""
    conflicts: tuple[Conflict, ...] = ()
    data: bytes | None = None
    mode: int = 0o100644


@dataclass(frozen=True, slots=True)
class Step:
    """One three-way merge: the whole merge, or one commit of a rebase."""

    title: str
    commit: str
    criss_cross: bool
    files: tuple[FilePreview, ...]
    tree: str = ""  # what a clean step of a rebase makes; it exists in memory only

    @property
    def is_clean(self) -> bool:
        """Whether no file is in conflict."""
        return all(file.result != "conflict" for file in self.files)


@dataclass(frozen=True, slots=True)
class Preview:
    """What would happen, step by step; a rebase stops at the first step with a conflict."""

    mode: Mode
    state: State
    ours: str
    theirs: str
    base: str
    steps: tuple[Step, ...] = ()
    untried: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether it would go through without a conflict."""
        return all(step.is_clean for step in self.steps)


OptionsFor = Callable[[str], Options]


def preview_merge(
    repository: Repository, ours: Commit, theirs: Commit, options: OptionsFor
) -> Preview:
    """What `git merge THEIRS` would do on the commit `ours`."""
    preview = _without_steps("merge", repository, ours, theirs)
    if preview.state != "merge":
        return preview
    trees = Three(repository.commit(preview.base).tree, ours.tree, theirs.tree)
    files = _Trees(repository, trees, options).files()
    criss_cross = repository.is_criss_cross(preview.base, ours.oid, theirs.oid)
    return replace(preview, steps=(Step(theirs.subject, theirs.oid, criss_cross, files),))


def preview_rebase(
    repository: Repository, ours: Commit, upstream: Commit, options: OptionsFor
) -> Preview:
    """What `git rebase UPSTREAM` would do on the commit `ours`."""
    preview = _without_steps("rebase", repository, ours, upstream)
    if preview.state != "merge":
        return preview
    twin = repository.virtual()
    todo = _commits_to_replay(repository, ours, upstream)
    steps: list[Step] = []
    tree = upstream.tree
    for commit in todo:
        parent = repository.commit(commit.parents[0]).tree
        trees = _Trees(twin, Three(parent, tree, commit.tree), options)
        files = trees.files()
        step = Step(commit.subject, commit.oid, False, files)
        if not step.is_clean:
            steps.append(step)
            break
        tree = trees.result(files)
        steps.append(replace(step, tree=tree))
    return replace(preview, steps=tuple(steps), untried=len(todo) - len(steps))


def _without_steps(mode: Mode, repository: Repository, ours: Commit, theirs: Commit) -> Preview:
    """The preview before any file is looked at: enough where one commit is the other's ancestor."""
    base = repository.merge_base(ours.oid, theirs.oid)
    if base is None and repository.is_shallow:
        why = "the common ancestor is not here: this is a shallow clone"
        raise Unsupported(why, hint="`git fetch --unshallow` completes it")
    if base is None:
        hint = "git would need --allow-unrelated-histories"
        raise UsageError("the two histories have nothing in common", hint=hint)
    state: State = "merge"
    if base in (ours.oid, theirs.oid):
        state = "up to date" if base == theirs.oid else "fast-forward"
    return Preview(mode, state, ours.oid, theirs.oid, base)


def _commits_to_replay(repository: Repository, ours: Commit, upstream: Commit) -> list[Commit]:
    """As `git rebase` picks them: no merges, nothing that upstream has already, oldest first."""
    there = repository.commits(f"{ours.oid}..{upstream.oid}")
    known = {repository.patch_id(commit) for commit in there if len(commit.parents) == 1}
    mine = [c for c in repository.commits(f"{upstream.oid}..{ours.oid}") if len(c.parents) == 1]
    return [c for c in reversed(mine) if repository.patch_id(c) not in known]


class _Trees:
    """The three trees of a step, and what the decisions about its files share."""

    def __init__(self, repository: Repository, trees: Three[str], options: OptionsFor) -> None:
        self.repository = repository
        self.trees = trees
        self.options = options
        self.lines = Libgit2LineMerge()
        sides = (trees.ours, trees.theirs)
        self.changes = [repository.changes(trees.base, side) for side in sides]
        self.arrivals = [Arrivals.between(repository, trees.base, side) for side in sides]

    def files(self) -> tuple[FilePreview, ...]:
        cases = touched_by_both(*self.changes)
        taken = {case.path for case in cases}
        files: list[FilePreview] = []
        moves: list[MovedEdit] = []
        for case in cases:
            file, found = self._file(case, taken)
            files.append(file)
            moves += found
        targets = sorted({move.target for move in moves})
        return (*files, *(self._target(target, moves) for target in targets))

    def _file(self, case: FileCase, taken: set[str]) -> tuple[FilePreview, tuple[MovedEdit, ...]]:
        mode = merged_mode(*case.entries)
        file = FilePreview(case.path, case.kind, "conflict", False, case.note, mode=mode)
        if case.kind in ("renamed to two names", "file and directory"):
            return file, ()
        if not case.is_text:
            return replace(file, note="a symbolic link or a submodule"), ()
        three = Three(*map(self.repository.text, case.entries))
        if not is_manifest(case.path):
            return self._lines_only(file, three), ()
        moves = find_moves(case.path, three, *self.arrivals)
        moves = tuple(move for move in moves if move.target not in taken)
        if moves:
            file = replace(file, note=words_for_source(moves))
        return self._merged(file, without_edits(three, moves), moved=bool(moves)), moves

    def _merged(self, file: FilePreview, three: Three[bytes | None], *, moved: bool) -> FilePreview:
        if three.ours is None or three.theirs is None:
            is_settled = moved and changed_nothing_else(three)
            return replace(file, result="moved") if is_settled else file
        both = merge_both(three, self.options(file.path), self.lines)
        result: Result = "moved" if moved and both.outcome.clean else both.result
        return replace(
            file,
            result=result,
            git_clean=both.git_clean and not moved,
            method=both.outcome.method,
            note=file.note or (both.outcome.reason if result == "conflict" else ""),
            conflicts=both.outcome.conflicts,
            data=both.outcome.text,
        )

    def _lines_only(self, file: FilePreview, three: Three[bytes | None]) -> FilePreview:
        if three.ours is None or three.theirs is None:
            return file
        data, clean = self.lines(three.base or b"", three.ours, three.theirs)
        result: Result = "clean" if clean else "conflict"
        return replace(file, result=result, git_clean=clean, method="lines", data=data)

    def _target(self, path: str, moves: list[MovedEdit]) -> FilePreview:
        """The file where moved resources are now: the edits follow them."""
        mine = [move for move in moves if move.target == path]
        side = self.trees.ours if mine[0].mover == "ours" else self.trees.theirs
        entry = self.repository.entry(side, path)
        three = at_target(self.repository.text(entry) or b"", mine)
        outcome = merge_both(three, self.options(path), self.lines).outcome
        return FilePreview(
            path,
            "moved resource",
            "moved" if outcome.clean else "conflict",
            False,
            words_for_target(mine),
            outcome.method,
            outcome.conflicts,
            outcome.text,
            entry.mode if entry else 0o100644,
        )

    def result(self, files: tuple[FilePreview, ...]) -> str:
        """The tree of a clean step: ours, with what theirs changed and what was merged."""
        our_changes, their_changes = self.changes
        renamed = {c.old_path: c.new_path for c in our_changes if _is_rename(c)}
        wanted: dict[str, TreeEntry | None] = {}
        for change in their_changes:
            place = renamed.get(change.old_path)
            if place and not _is_rename(change):
                wanted[place] = change.new
            else:
                wanted[change.old_path] = None
                wanted[change.new_path] = change.new
        for file in files:
            wanted[file.path] = None
            if file.data is not None:
                wanted[file.path] = TreeEntry(self.repository.store(file.data), file.mode)
        return self.repository.with_files(self.trees.ours, wanted)


def _is_rename(change: Change) -> bool:
    return bool(change.old and change.new and change.old_path != change.new_path)
