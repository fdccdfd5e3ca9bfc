"""Explain the result of a merge: make the merge again and compare it with the present files.

Kmerge keeps no record of merges. A merge commit is made again from its two parents. A merge in
progress is made again from the commits that git merges, the stages of the index, and the stages
that git remembers of resolved files. The present settings are used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from kmerge_git.compare.change import FieldChange
from kmerge_git.compare.file_changes import by_lines, compare
from kmerge_git.errors import Unsupported, UsageError
from kmerge_git.git.index_stages import Operation, Stages, resolved_conflicts
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.merge_sides import SUBMODULE
from kmerge_git.git.repository import Commit, Repository
from kmerge_git.git.scratch_merges import scratch
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES, Conflict, Decision
from kmerge_git.text.markers import first_marker, marker_size_for, resolve
from kmerge_git.whole.both_merges import SettingsOf
from kmerge_git.whole.conflicted_files import FileMerge, IsChosen, Scene, why_left, with_way
from kmerge_git.whole.operation import current_operation
from kmerge_git.whole.settled_moves import settle
from kmerge_git.whole.tree_merge import Sides, TreeMerge, base_of, merge_trees, result_of


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Hold a file that a merge commit changes although at most one side changed the file."""

    path: str
    changes: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Hold a merge that was made again; for a merge in progress, `commit` is None."""

    operation: str
    title: str
    sides: Three[str]
    files: tuple[ExplainedFile, ...]
    commit: Commit | None = None
    notes: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)  # other conflicts: path to reason
    elsewhere: tuple[Elsewhere, ...] = ()
    problems: tuple[str, ...] = ()  # invalid settings


_CRISS_CROSS = "criss-cross merge: the first of several merge bases is used here"


def explain_commit(
    repository: Repository, rev: str, is_chosen: IsChosen = lambda path: True
) -> Explanation:
    """Make the merge of a merge commit again from its parents."""
    commit = repository.commit(rev)
    ours, theirs = _parents(repository, commit, rev)
    base = _base(repository, ours, theirs)
    sides = Sides.of_commits(repository, base.oid, ours, theirs)

    def committed(path: str) -> bytes | None:
        entry = repository.entry(commit.tree, path)
        return repository.text(entry) if entry and entry.mode != SUBMODULE else None

    # without a working tree, read the attributes from the tree of the merge commit
    with scratch(repository, None if repository.worktree else commit.tree) as at:
        is_head = repository.commit("HEAD").oid == commit.oid
        settings = SettingsOf(at.repository, mine="ours", into="HEAD" if is_head else "")
        merge = merge_trees(at, sides, settings)
        chosen = [file for file in merge.files if is_chosen(file.path)]
        files = tuple(explained(file, committed(file.path)) for file in chosen)
        seen = {file.path for file in merge.files} | {stages.path for stages in merge.others}
        tree = result_of(at.repository, merge)
        # git appends `~HEAD` to a name that is taken
        names = {path.rpartition("~")[0] for m in merge.stuck for path in m.paths} - {""}
        elsewhere = tuple(
            each
            for each in _elsewhere(at.repository, tree, commit.tree, seen, is_chosen)
            if each.path.rpartition("~")[0] not in names
        )
        others = dict(_others(at.repository, merge, settings))
    return Explanation(
        "merge",
        _title(commit),
        Three(base, ours, theirs).map(_title),
        files,
        commit,
        (*((_CRISS_CROSS,) if sides.is_made_up else ()), *merge.notes),
        {path: others[path] for path in sorted(filter(is_chosen, others))},
        elsewhere,
        tuple(settings.problems),
    )


def _others(
    repository: Repository, merge: TreeMerge, settings: SettingsOf
) -> Iterator[tuple[str, str]]:
    """Yield the conflicts of a merge commit that kmerge did not merge, each with the reason."""
    for message in merge.stuck:
        if message.paths:
            kind = message.kind.removeprefix("CONFLICT (").removesuffix(")")
            yield message.paths[0], f"the file names are in conflict: {kind}"
    named = {path for message in merge.stuck for path in message.paths}
    for stages in merge.others:
        refusal = settings.refusal(stages.path)
        if refusal or stages.path not in named:
            yield stages.path, why_left(repository, stages, refusal)[0]


def _parents(repository: Repository, commit: Commit, rev: str) -> tuple[Commit, Commit]:
    count = len(commit.parents)
    if count == 2:
        first, second = (repository.commit(oid) for oid in commit.parents)
        return first, second
    if count > 2:
        why = f"kmerge cannot explain an octopus merge with {count} parents"
        raise Unsupported(why, path=rev, hint="run `git show` to see the parents")
    hint = "git keeps no record of a rebase, cherry-pick or squash"
    if count:
        hint += f"; run `kmerge diff {rev}^ {rev}` to see its changes"
    raise UsageError("not a merge commit", path=rev, hint=hint)


def _base(repository: Repository, ours: Commit, theirs: Commit) -> Commit:
    base = base_of(repository, ours, theirs)
    if base is None:
        raise Unsupported("kmerge cannot explain a merge without a common ancestor")
    return repository.commit(base)


def _title(commit: Commit) -> str:
    return f"{commit.oid[:10]} {commit.subject}"


def explain_progress(
    repository: Repository, is_chosen: IsChosen = lambda path: True
) -> Explanation:
    """Make the merge in progress again, with the conflicts that are already resolved."""
    if repository.worktree is None:
        raise UsageError("a bare repository has no merge in progress", hint="give a merge commit")
    operation = current_operation(repository)
    left = _conflicts(repository)
    if not operation.name and not left:
        is_merge = len(repository.commit("HEAD").parents) > 1
        hint = f"use `kmerge explain {'HEAD' if is_merge else 'REV'}` for a merge commit"
        raise UsageError("no merge is in progress", hint=hint)
    if operation.name == "merge" and repository.is_shallow:  # the shallow clone may lack the base
        _base(repository, repository.commit("HEAD"), repository.commit("MERGE_HEAD"))
    settings = SettingsOf(repository, labels=operation.labels, mine=operation.mine)
    settings.of_tree(operation.known_ours, left)
    known, moved = _from_trees(repository, operation, settings)
    seen = {file.path for file in known}
    rest = [stages for stages in left if stages.path not in seen]
    taken = tuple(stages for stages in rest if settings.takes(stages.path))
    scene = Scene(repository, None, taken, repository.staged, settings, seconds=settings.timeout)
    merged = (*known, *settle(scene).files)
    top = Path(repository.worktree)
    unmerged = {stages.path for stages in repository.conflicts()}
    files = [
        explained(file, _on_disk(top / file.path), waits=not unmerged.isdisjoint(_places(file)))
        for file in merged
        if is_chosen(file.path)
    ]
    others = unmerged - {stages.path for stages in taken}
    return Explanation(
        operation.name,
        f"{operation.name or 'conflicts'} in progress",
        Three(*operation.labels),
        tuple(sorted(files, key=lambda file: file.path)),
        notes=(*_notes(operation), *moved),
        others=_reasons(
            repository, rest, settings, lambda path: path in others and is_chosen(path)
        ),
        problems=tuple(settings.problems),
    )


def _reasons(
    repository: Repository, left: Sequence[Stages], settings: SettingsOf, is_chosen: IsChosen
) -> dict[str, str]:
    """Return why each chosen file is left, and what a person does about it."""
    return {
        stages.path: with_way(*why_left(repository, stages, settings.refusal(stages.path)))
        for stages in sorted(left, key=lambda stages: stages.path)
        if is_chosen(stages.path)
    }


def _places(file: FileMerge) -> Iterator[str]:
    """Yield the path of a file, and of each file from which resources were moved into this file."""
    yield file.path
    yield from (move.source for move in file.arrivals)


def _conflicts(repository: Repository) -> list[Stages]:
    """Return the conflicts of the index, and the resolved conflicts that are not yet committed.

    Git remembers resolved conflicts even after the commit; those are left out.
    """
    left = repository.conflicts()
    known = {stages.path for stages in left}
    head = repository.commit("HEAD").tree
    done = (s for s in resolved_conflicts(repository.worktree or "") if s.path not in known)
    return [
        *left,
        *(s for s in done if repository.staged(s.path) != repository.entry(head, s.path)),
    ]


def _notes(operation: Operation) -> tuple[str, ...]:
    if operation.labels[0] == "merged common ancestors":
        return (_CRISS_CROSS,)
    if operation.is_known:
        return ()
    return ("git does not report the merged commits, so only files in conflict are explained",)


def _from_trees(
    repository: Repository, operation: Operation, settings: SettingsOf
) -> tuple[tuple[FileMerge, ...], tuple[str, ...]]:
    """Make the merge again on trees to find the files that the driver merged without a conflict.

    Return also the notes of this merge.
    """
    if not operation.is_known:
        return (), ()
    trees = Three(operation.base, operation.ours, operation.theirs)
    with scratch(repository) as at:
        merge = merge_trees(at, Sides(trees), settings)
        return merge.files, merge.notes


def _on_disk(file: Path) -> bytes | None:
    """Return the content of a file as git stores it; for a symbolic link, return its target."""
    try:
        return os.fsencode(os.readlink(file)) if file.is_symlink() else file.read_bytes()
    except OSError:
        return None


def _elsewhere(
    read: Repository, tree: str, commit: str, seen: set[str], is_chosen: IsChosen
) -> Iterator[Elsewhere]:
    """Yield the files that the merge commit changes although at most one side changed them."""
    for change in read.changes(tree, commit, renames=False):
        path = change.new_path
        if path in seen or not is_chosen(path):
            continue
        if all(entry is None or entry.is_text for entry in (change.old, change.new)):
            changes = compared(read.text(change.old), read.text(change.new), path)
            yield Elsewhere(path, tuple(changes))


# the comparison of the present file with the merge that was made again
State = Literal["same", "as git", "different", "gone", "there", "in conflict", "unsolved"]
# the side whose version the present file has at the place of a conflict
Choice = Literal["ours", "theirs", "neither", ""]


@dataclass(frozen=True, slots=True)
class ExplainedConflict:
    """Hold a conflict and the side that somebody chose; `choice` is '' if nobody chose."""

    conflict: Conflict
    choice: Choice = ""


@dataclass(frozen=True, slots=True)
class ExplainedFile:
    """Hold a file that both sides changed, with its merge and its present state."""

    path: str
    merge: FileMerge
    decisions: tuple[Decision, ...]
    conflicts: tuple[ExplainedConflict, ...]
    git_alone: tuple[FieldChange, ...]  # from our result to git's clean result
    state: State
    changes: tuple[FieldChange, ...]  # from our result to the present file
    against: tuple[FieldChange, ...] = ()  # changes of a file that one side deleted
    choice: Choice = ""  # whose version the file is, if it was in conflict as a whole
    waits: bool = False  # the file is still in conflict, and has no markers

    @property
    def is_plain(self) -> bool:
        """Return whether git's result, kmerge's result and the present file are the same."""
        return self.merge.result == "clean" and self.state == "same"

    @property
    def is_layout_alone(self) -> bool:
        """Return whether the present file differs from the merge only in layout."""
        return all(change.how == "layout" for change in self.changes)


def explained(file: FileMerge, present: bytes | None, *, waits: bool = False) -> ExplainedFile:
    """Compare the repeated merge of a file with `present`, the present content.

    `waits` means that this file, or a file from which a resource was moved into this file, is in
    conflict for git.
    """
    again = ExplainedFile(
        file.path,
        file,
        file.explained,
        tuple(ExplainedConflict(conflict) for conflict in file.conflicts),
        _by_git(file),
        "same",
        (),
        _against(file),
    )
    if file.verdict == "solved" and waits and _is_untouched(file, present):
        return replace(again, state="unsolved")
    if file.verdict == "solved":
        return _without_conflict(again, file.data, present)
    if file.waits and not waits:
        return _without_conflict(again, file.data, present)
    if present is not None and file.asks and file.writes:
        return _resolved(again, file, present)
    if present is not None and _has_markers(present):
        return replace(again, state="in conflict")
    again = replace(again, waits=waits)
    if present is None:
        return replace(again, state="gone")
    if file.both is None:
        return replace(again, state="there")
    if file.both.outcome.clean:  # the conflict is about the modes, not about the content
        return again
    choice = _taken(file.three, present)
    return replace(again, state="different" if choice == "neither" else "same", choice=choice)


def _taken(three: Three[bytes | None], present: bytes) -> Choice:
    """Return the side whose version a file in conflict is now, as a whole."""
    ours, theirs = three.ours or b"", three.theirs or b""
    if _plain(present, ours) == ours:
        return "ours"
    return "theirs" if _plain(present, theirs) == theirs else "neither"


def _has_markers(data: bytes, size: int = 7) -> bool:
    return first_marker(data.decode("utf-8", "surrogateescape"), size) >= 0


def _is_untouched(file: FileMerge, present: bytes | None) -> bool:
    """Return whether the file is as git left it, so that nobody has resolved the conflict."""
    if present is None or file.data is None:
        return present is not None
    plain = _plain(present, file.data)
    if plain == file.data or not file.stages:
        return _has_markers(present)
    own = file.own.git if file.own else None
    return plain in (file.stages.ours, file.stages.theirs, own) or _has_markers(present)


def _by_git(file: FileMerge) -> tuple[FieldChange, ...]:
    """Return the differences between kmerge's and git's result, if both results are clean."""
    if not file.git_clean or file.moves or file.both is None or file.verdict != "solved":
        return ()
    return tuple(compared(file.data, file.both.git, file.path))


def _against(file: FileMerge) -> tuple[FieldChange, ...]:
    """Return the changes that one side made to a file that the other side deleted."""
    if file.both is not None or file.verdict != "conflict" or file.stages:
        return ()
    base, ours, theirs = file.three.each()
    return tuple(compared(base, theirs if ours is None else ours, file.path))


def compared(old: bytes | None, new: bytes | None, path: str) -> list[FieldChange]:
    """Return the differences of two versions of a file, by field if possible, otherwise by line."""
    if is_manifest(path, json=True):
        return compare(old, new, path)
    return by_lines(old or b"", new or b"")


def _without_conflict(
    file: ExplainedFile, merged: bytes | None, present: bytes | None
) -> ExplainedFile:
    """Compare a merge result without conflicts with the present content of the file."""
    if merged is None or present is None:
        state: State = "gone" if merged else "there"
        return replace(file, state="same" if merged is present else state)
    present = _plain(present, merged)
    changes = tuple(compared(merged, present, file.path))
    both = file.merge.both
    state = "as git" if both and both.git_clean and both.git == present else "different"
    return replace(file, state=state if changes else "same", changes=changes)


def _plain(present: bytes, merged: bytes) -> bytes:
    """Return the content of a file with the line ends that git stores."""
    return present if b"\r" in merged else present.replace(b"\r\n", b"\n")


def _resolved(file: ExplainedFile, merge: FileMerge, present: bytes) -> ExplainedFile:
    """Compare a file in conflict with its present content, and find which sides were chosen."""
    merged = (merge.data or b"").decode("utf-8", "surrogateescape")
    present = _plain(present, merge.data or b"")
    size = _size_of(merged)
    if _has_markers(present, min(size, 7)):
        return replace(file, state="in conflict")
    text = present.decode("utf-8", "surrogateescape")
    sides = [resolve(merged, s, size).encode("utf-8", "surrogateescape") for s in SIDES]
    mine, yours = (compared(side, present, merge.path) for side in sides)
    conflicts = tuple(
        replace(c, choice=_choice(c.conflict, mine, yours, text)) for c in file.conflicts
    )
    rest = [c for c in mine if not any(_is_about(c, known.conflict) for known in file.conflicts)]
    return replace(file, conflicts=conflicts, state="different", changes=tuple(rest))


def _size_of(text: str) -> int:
    """Return the length of the conflict markers in a text."""
    at = first_marker(text)
    return len(text[at:]) - len(text[at:].lstrip("<")) if at >= 0 else marker_size_for([text])


def _choice(
    conflict: Conflict, mine: list[FieldChange], yours: list[FieldChange], text: str
) -> Choice:
    is_ours, is_theirs = (
        not any(_is_about(change, conflict) for change in changes) for changes in (mine, yours)
    )
    if is_ours and is_theirs:  # both sides have the same values, so the conflict is about comments
        text = text.replace("\r\n", "\n")
        is_ours, is_theirs = (part.strip("\n") in text for part in (conflict.ours, conflict.theirs))
    return "ours" if is_ours else "theirs" if is_theirs else "neither"


def _is_about(change: FieldChange, conflict: Conflict) -> bool:
    """Return whether a change is at, inside or around the place of a conflict."""
    resources = {conflict.resource, change.resource} - {""}
    if change.how == "layout" or len(resources) > 1:
        return False
    # for an element without a key compare the place of its list, as indexes shift
    head, bracket, last = conflict.field.rpartition("[")
    place = head if bracket and last[:-1].isdigit() else conflict.field
    short, long = sorted((change.field, place), key=len)
    if not short:
        return not place or change.how == "lines"
    return long.startswith(short) and long[len(short) : len(short) + 1] in ("", ".", "[")
