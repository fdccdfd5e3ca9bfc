"""Why a merge came out as it did: it is made again, and laid beside what is there now.

No record is kept anywhere. A merge commit is made again from its two parents, a merge in progress
from what git knows of it: the commits that it merges, the stages of the index, and those that git
remembers of files that are staged already. Settings are those of today.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.compare.change import FieldChange
from kmerge_git.errors import Unsupported, UsageError
from kmerge_git.git.commits import Commit
from kmerge_git.git.conflicts import Operation, Stages
from kmerge_git.git.repository import Repository
from kmerge_git.git.scratch import scratch
from kmerge_git.git.sides import SUBMODULE
from kmerge_git.git.undo import resolved_conflicts
from kmerge_git.merge.three import Three
from kmerge_git.whole.beside import ExplainedFile, compared, explained
from kmerge_git.whole.operation import current_operation
from kmerge_git.whole.previewing import cut_off
from kmerge_git.whole.settings import SettingsOf
from kmerge_git.whole.settling import FileMerge, Scene, settle
from kmerge_git.whole.treewise import Sides, merge_trees, result_of


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A file that is not what a merge makes of it, though at most one side changed it."""

    path: str
    changes: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A merge, made again; `commit` is None while it is in progress."""

    operation: str
    title: str
    sides: Three[str]
    files: tuple[ExplainedFile, ...]
    commit: Commit | None = None
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # conflicts in files that are no manifests, or about their names
    elsewhere: tuple[Elsewhere, ...] = ()
    problems: tuple[str, ...] = ()  # settings that make no sense


Read = Callable[[str], bytes | None]
IsChosen = Callable[[str], bool]


def explain_commit(
    repository: Repository, rev: str, is_chosen: IsChosen = lambda path: True
) -> Explanation:
    """A merge commit, made again from its parents."""
    commit = repository.commit(rev)
    ours, theirs = _parents(repository, commit, rev)
    base = _base(repository, ours, theirs)
    title = f"{commit.oid[:10]} {commit.subject}"
    words = Three(_words(base), _words(ours), _words(theirs))
    criss_cross = repository.is_criss_cross(base.oid, ours.oid, theirs.oid)
    trees = Three(base.tree, ours.tree, theirs.tree)
    sides = Sides(trees) if criss_cross else Sides(trees, ours.oid, theirs.oid)

    def committed(path: str) -> bytes | None:
        entry = repository.entry(commit.tree, path)
        return repository.text(entry) if entry and entry.mode != SUBMODULE else None

    # without a working tree the attributes are those of the merge
    with scratch(repository, None if repository.worktree else commit.tree) as at:
        settings = SettingsOf(at.repository, mine="ours")
        made = merge_trees(at, sides, settings)
        chosen = [file for file in made.files if is_chosen(file.path)]
        files = tuple(explained(file, committed(file.path)) for file in chosen)
        seen = {file.path for file in made.files} | {stages.path for stages in made.others}
        tree = result_of(at.repository, made)
        aside = {_before_tilde(path) for m in made.stuck for path in m.paths} - {""}
        elsewhere = tuple(
            each
            for each in _elsewhere(at.repository, tree, commit.tree, seen, is_chosen)
            if _before_tilde(each.path) not in aside
        )
    others = {s.path for s in made.others} | {m.paths[0] for m in made.stuck if m.paths}
    return Explanation(
        "merge",
        title,
        words,
        files,
        commit,
        ("criss-cross: several merge bases, made again against the first",) if criss_cross else (),
        tuple(sorted(filter(is_chosen, others))),
        elsewhere,
        tuple(settings.problems),
    )


def _parents(repository: Repository, commit: Commit, rev: str) -> tuple[Commit, Commit]:
    count = len(commit.parents)
    if count == 2:
        first, second = (repository.commit(oid) for oid in commit.parents)
        return first, second
    if count > 2:
        why = f"an octopus: it merges {count - 1} commits at once, one after the other"
        raise Unsupported(why, path=rev, hint="`git show` tells its parents")
    hint = "of a rebase, a cherry-pick or a squash no record is kept"
    if count:
        hint += f"; `kmerge diff {rev}^ {rev}` shows what it changed"
    raise UsageError("no merge: nothing was merged in it", path=rev, hint=hint)


def _base(repository: Repository, ours: Commit, theirs: Commit) -> Commit:
    base = repository.merge_base(ours.oid, theirs.oid)
    if base is None and repository.is_shallow:
        raise cut_off()
    if base is None:
        raise Unsupported("the two histories have nothing in common: every file is new on a side")
    return repository.commit(base)


def _words(commit: Commit) -> str:
    return f"{commit.oid[:10]} {commit.subject}"


def explain_progress(
    repository: Repository, is_chosen: IsChosen = lambda path: True
) -> Explanation:
    """The operation in progress, with what was resolved in it so far."""
    if repository.worktree is None:
        raise UsageError("a bare repository has no merge in progress", hint="name a merge commit")
    operation = current_operation(repository)
    left = _conflicts(repository)
    if not operation.name and not left:
        is_merge = len(repository.commit("HEAD").parents) > 1
        hint = f"`kmerge explain {'HEAD' if is_merge else 'REV'}` explains a merge commit"
        raise UsageError("no merge is in progress here", hint=hint)
    _require_base(repository, operation)
    settings = SettingsOf(repository, labels=operation.labels, mine=operation.mine)
    known = _from_trees(repository, operation, settings) if operation.is_known else ()
    made = {file.path for file in known}
    rest = [stages for stages in left if stages.path not in made]
    taken = tuple(stages for stages in rest if settings.takes(stages.path))
    scene = Scene(repository, None, taken, repository.staged, settings, seconds=settings.timeout)
    merged = (*known, *settle(scene))
    on_disk = _on_disk(Path(repository.worktree))
    unmerged = {stages.path for stages in repository.conflicts()}
    files = [
        explained(file, on_disk(file.path), waits=not unmerged.isdisjoint(_places(file)))
        for file in merged
        if is_chosen(file.path)
    ]
    others = sorted(stages.path for stages in rest if stages not in taken)
    return Explanation(
        operation.name,
        f"{operation.name or 'conflicts'} in progress",
        Three(*operation.labels),
        tuple(sorted(files, key=lambda file: file.path)),
        notes=_notes(operation),
        others=tuple(filter(is_chosen, others)),
        problems=tuple(settings.problems),
    )


def _places(file: FileMerge) -> Iterator[str]:
    """The file, and those from which resources come into it."""
    yield file.path
    yield from (move.source for move in file.moves if file.stages)


def _conflicts(repository: Repository) -> list[Stages]:
    """The conflicts of the index, and those that are resolved and not committed yet.

    Git goes on remembering these after the commit.
    """
    left = repository.conflicts()
    known = {stages.path for stages in left}
    head = repository.commit("HEAD").tree
    done = (s for s in resolved_conflicts(repository.worktree or "") if s.path not in known)
    return [
        *left,
        *(s for s in done if repository.staged(s.path) != repository.entry(head, s.path)),
    ]


def _require_base(repository: Repository, operation: Operation) -> None:
    """Where a history is cut off, git merged against nothing, or against what is not here."""
    if operation.name == "merge" and repository.is_shallow:
        _base(repository, repository.commit("HEAD"), repository.commit("MERGE_HEAD"))


def _notes(operation: Operation) -> tuple[str, ...]:
    if operation.labels[0] == "merged common ancestors":
        return ("criss-cross: several merge bases, made again against the first",)
    if operation.is_known:
        return ()
    return ("git does not tell what is merged: only files that were in conflict are explained",)


def _from_trees(
    repository: Repository, operation: Operation, settings: SettingsOf
) -> tuple[FileMerge, ...]:
    """The merge once more: also what the driver settled without leaving a trace."""
    trees = Three(operation.base, operation.ours, operation.theirs)
    with scratch(repository) as at:
        return merge_trees(at, Sides(trees), settings).files


def _on_disk(top: Path) -> Read:
    def read(path: str) -> bytes | None:
        file = top / path
        try:
            if file.is_symlink():  # what git keeps of it: never what it leads to
                return os.fsencode(os.readlink(file))
            return file.read_bytes()
        except OSError:
            return None

    return read


def _before_tilde(path: str) -> str:
    """`a.yaml` of `a.yaml~HEAD`, as git calls a file that is in the way: a label tells the side."""
    return path.rpartition("~")[0]


def _elsewhere(
    read: Repository, tree: str, commit: str, seen: set[str], is_chosen: IsChosen
) -> Iterator[Elsewhere]:
    """What the commit has that neither side brought, in files that only one of them changed."""
    for change in read.changes(tree, commit, renames=False):
        path = change.new_path
        if path in seen or not is_chosen(path):
            continue
        entries = [entry for entry in (change.old, change.new) if entry is not None]
        if not all(entry.is_text for entry in entries):
            continue
        changes = compared(read.text(change.old), read.text(change.new), path)
        yield Elsewhere(path, tuple(changes))
