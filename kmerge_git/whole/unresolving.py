"""Restore a resolved conflict: its three versions in the index, and its markers in the file.

Git keeps the three versions of a resolved file even after the commit. So a conflict comes back
only while its operation is in progress, or while the staged file is not committed. The index is
written before the file, so nothing is lost if the process is killed in between.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.errors import UsageError
from kmerge_git.git import index_stages
from kmerge_git.git.index_stages import Operation, Stages, resolved_conflicts
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.git.manifests import is_selected
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import git
from kmerge_git.git.touched_files import merged_mode
from kmerge_git.merge.three import Three
from kmerge_git.whole.answer_staging import SavedAnswers
from kmerge_git.whole.both_merges import Job, SettingsOf, merge_all
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.moved_edits import is_proposal
from kmerge_git.whole.operation import current_operation
from kmerge_git.whole.solving import SolvePlan, WorkTree, carry_out

_FORCE = "`git add` it first, or --force drops that"


@dataclass(frozen=True, slots=True)
class Undone:
    """Hold a file that is in conflict again; `was` is the id of the blob staged before, or ''."""

    path: str
    situation: str
    was: str = ""


def undo(repository: Repository, paths: Sequence[str], *, force: bool = False) -> list[Undone]:
    """Restore the conflicts of all given files, or of none; `force` discards unstaged work.

    If a file is still in conflict, discard the saved answers.
    """
    saved = SavedAnswers(Path(repository.git_dir))
    staged, begun = _chosen(repository, tuple(paths), saved)
    chosen = [*staged, *begun]
    for stages in chosen:
        if not all(entry.is_text for entry in stages.entries if entry):
            hint = "`git checkout -m -- FILE` does it, where both sides have it"
            raise UsageError(stages.obstacle, path=stages.path, hint=hint)
    operation = current_operation(repository, tuple(chosen))
    settings = SettingsOf(repository, labels=operation.labels)
    files = [_in_conflict(repository, stages, settings) for stages in chosen]
    if not force:
        _refuse_committed(repository, operation, staged)
        _refuse_work(repository, staged)
        tree = WorkTree(repository, settings, force=False, is_ours=saved.is_ours)
        _refuse_handwork(tree, files[len(staged) :])
    before = [repository.staged(stages.path) for stages in chosen]
    index_stages.mark_unmerged(repository.worktree or "", staged)
    carry_out(repository, SolvePlan(operation, tuple(files)))
    saved.forget(stages.path for stages in chosen)
    pairs = zip(chosen, before, strict=True)
    return [Undone(s.path, s.situation, entry.oid if entry else "") for s, entry in pairs]


def _chosen(
    repository: Repository, paths: tuple[str, ...], saved: SavedAnswers
) -> tuple[list[Stages], list[Stages]]:
    """Return the selected resolved files, and the selected files with answers and conflicts."""
    conflicts = repository.conflicts()
    unmerged = {stages.path for stages in conflicts}
    staged = [s for s in resolved_conflicts(repository.worktree or "") if s.path not in unmerged]
    begun = [s for s in conflicts if saved.answers.get(s.path) or s.path in saved.written]
    names = {stages.path for stages in (*staged, *begun)}
    for path in paths:  # report a path that selects no file
        if not any(is_selected(name, (path,)) for name in names):
            raise _nothing_to_undo(path, unmerged)
    begun = [stages for stages in begun if is_selected(stages.path, paths)]
    return _with_partners(repository, staged, paths), begun


def _with_partners(
    repository: Repository, staged: list[Stages], paths: tuple[str, ...]
) -> list[Stages]:
    """Return the selected files; files that were decided together come back together.

    A resource that the sides moved to two files is decided in both files at once.
    """
    chosen = [stages for stages in staged if is_selected(stages.path, paths)]
    if not any(stages.is_proposal for stages in chosen):
        return chosen

    def waited(stages: Stages) -> bool:
        three = Three(*map(repository.text, stages.entries))
        return stages.is_proposal and is_proposal(three)

    if any(map(waited, chosen)):
        chosen += [stages for stages in staged if stages not in chosen and waited(stages)]
    return chosen


def _nothing_to_undo(path: str, unmerged: set[str]) -> UsageError:
    if any(is_selected(name, (path,)) for name in unmerged):
        hint = "`kmerge resolve` asks about it"
        return UsageError("it is in conflict: nothing is to be taken back", path=path, hint=hint)
    hint = "`git ls-files --resolve-undo` names those that git remembers"
    return UsageError("it was in no conflict here", path=path, hint=hint)


def _refuse_committed(repository: Repository, operation: Operation, chosen: list[Stages]) -> None:
    if operation.name:
        return
    head = repository.commit("HEAD").tree
    for stages in chosen:
        if repository.staged(stages.path) == repository.entry(head, stages.path):
            why = "no merge is in progress, and it is as in the last commit"
            raise UsageError(why, path=stages.path, hint="--force makes it a conflict again")


def _refuse_work(repository: Repository, chosen: list[Stages]) -> None:
    """Refuse to overwrite unstaged work, which git has not saved."""
    top = Path(repository.worktree or "")
    # let git compare, which ignores line ends, filters and file dates
    words = ("diff", "--name-only", "--no-ext-diff", "--no-renames", "--no-relative", "-z")
    changed = {*git(*words, cwd=top).split("\0")}
    for stages in chosen:
        path = stages.path
        if path in changed if repository.staged(path) else os.path.lexists(top / path):
            raise UsageError("it was changed since it was staged", path=path, hint=_FORCE)


def _refuse_handwork(tree: WorkTree, files: Sequence[FileMerge]) -> None:
    """Refuse to overwrite a file in conflict that somebody has edited."""
    for file in files:
        if tree.in_the_way(file.path, file.three, [file.data]):
            raise UsageError("it was edited since the merge", path=file.path, hint=_FORCE)


def _in_conflict(repository: Repository, stages: Stages, settings: SettingsOf) -> FileMerge:
    """Return the file as a merge would leave it in conflict."""
    three = Three(*map(repository.text, stages.entries))
    data = three.ours if three.ours is not None else three.theirs
    if None not in (three.ours, three.theirs):
        data = _marked(stages.path, three, settings)
    mode = merged_mode(*stages.entries)
    path, situation = stages.path, stages.situation
    return FileMerge(path, situation, "conflict", "", data, mode, writes=True, three=three)


def _marked(path: str, three: Three[bytes | None], settings: SettingsOf) -> bytes:
    """Return kmerge's merge with markers or, if it has no conflict, git's line merge."""
    options = settings(path).but(favor="")
    if settings.takes(path):
        (both,) = merge_all([Job(three, options)], settings.timeout)
        return both.git if both.outcome.clean else both.outcome.text
    texts = three.map(lambda data: data or b"")
    text, count = Libgit2LineMerge().merge_file(*texts.each(), options)
    return text if count >= 0 else texts.ours
