"""Solve the conflicts of an index: first a plan of plain values, then its execution.

The order of the execution is what makes it safe to be killed: files that were not in conflict get
three stages first (an abort puts such files back, whatever they hold), then every file is
replaced in one step, and only then git stages what is solved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from kmerge_git.errors import KmergeError
from kmerge_git.git import staging
from kmerge_git.git.conflicts import Operation, Stages
from kmerge_git.git.files import replace_file
from kmerge_git.git.manifests import is_selected
from kmerge_git.git.repository import Libgit2LineMerge, Repository
from kmerge_git.git.sides import TreeEntry, merged_mode
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict
from kmerge_git.whole.handwork import is_left_by_a_merge
from kmerge_git.whole.merging import merge_one
from kmerge_git.whole.moves import (
    Arrivals,
    MovedEdit,
    at_target,
    changed_nothing_else,
    find_moves,
    resources,
    without_edits,
    words_for_source,
    words_for_target,
)
from kmerge_git.whole.operation import current_operation
from kmerge_git.whole.settings import SettingsOf

Verdict = Literal["solved", "conflict", "skipped"]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What happens to a file; `data` is None for a deletion or where nothing is written."""

    path: str
    situation: str
    verdict: Verdict
    why: str = ""
    data: bytes | None = None
    mode: int = 0o100644
    writes: bool = False
    conflicts: tuple[Conflict, ...] = ()
    method: str = ""
    # what was merged in a file that was not in conflict: the target of a moved resource
    stages: Three[bytes] | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for."""

    paths: tuple[str, ...] = ()
    favor: str | None = None
    json: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class SolvePlan:
    """The files to solve, and the other conflicts, which are left alone."""

    operation: Operation
    files: tuple[FilePlan, ...]
    others: tuple[str, ...]
    problems: tuple[str, ...] = ()  # settings that make no sense

    @property
    def is_solved(self) -> bool:
        """Whether no chosen manifest stays in conflict."""
        return all(file.verdict == "solved" for file in self.files)


class _Scene:
    """What the decisions about the files of one index share."""

    def __init__(self, repository: Repository, wishes: Wishes) -> None:
        self.repository = repository
        self.wishes = wishes
        self.operation = current_operation(repository)
        self.options = SettingsOf(repository, wishes.favor, self.operation.labels)
        self.lines = Libgit2LineMerge()
        self.conflicted = {stages.path: stages for stages in repository.conflicts()}
        self.arrivals = [self._arrivals(t) for t in (self.operation.ours, self.operation.theirs)]

    def _arrivals(self, tree: str) -> Arrivals:
        if not self.operation.name:  # no trees to compare
            return Arrivals((), self.repository.blob)
        return Arrivals.between(self.repository, self.operation.base, tree)

    def on_disk(self, path: str) -> bytes | None:
        try:
            return Path(self.repository.worktree or "", path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KmergeError(error.strerror or str(error), path=path) from error


def make_plan(repository: Repository, wishes: Wishes) -> SolvePlan:
    """Decide about every conflicted manifest; nothing is written."""
    scene = _Scene(repository, wishes)
    files: list[FilePlan] = []
    moves: list[MovedEdit] = []
    others: list[str] = []
    for stages in scene.conflicted.values():
        if not scene.options.takes(stages.path, json=wishes.json):
            others.append(stages.path)
        elif is_selected(stages.path, wishes.paths):
            file, found = _plan_file(scene, stages)
            files.append(file)
            moves += found
    planned = _with_moves(scene, files, moves)
    return SolvePlan(scene.operation, planned, tuple(others), tuple(scene.options.problems))


def _plan_file(scene: _Scene, stages: Stages) -> tuple[FilePlan, tuple[MovedEdit, ...]]:
    """The plan for a file, and the resources whose edits have to follow it elsewhere."""
    skipped = FilePlan(stages.path, stages.situation, "skipped")
    obstacle = stages.obstacle or _filtered(scene.repository, stages.path)
    if obstacle:
        return replace(skipped, why=obstacle), ()
    three = Three(*map(scene.repository.text, stages.entries))
    moves = find_moves(stages.path, three, *scene.arrivals)
    moves = tuple(move for move in moves if _can_follow(scene, move))
    plan = _merged(scene, stages, without_edits(three, moves), bool(moves))
    size = scene.options(stages.path).marker_size
    found = scene.on_disk(stages.path)
    made = (plan.data, *_by_the_driver(scene, stages.path, three, moves))
    git_made = is_left_by_a_merge(found, three, made, scene.lines, size)
    if not git_made and not scene.wishes.force:
        why = "edited by hand since the merge: `git add` it, or solve it anew with --force"
        return replace(skipped, why=why), ()
    if moves:
        plan = replace(plan, why=words_for_source(moves))
    return plan, moves


def _by_the_driver(
    scene: _Scene, path: str, three: Three[bytes | None], moves: tuple[MovedEdit, ...]
) -> tuple[bytes, ...]:
    """What the driver left there, which knows no moves and was given no side to favour."""
    if three.ours is None or three.theirs is None:
        return ()
    if not moves and not scene.options(path).favor:
        return ()
    return (merge_one(three, scene.options(path, favored=False)).text,)


def _can_follow(scene: _Scene, move: MovedEdit) -> bool:
    """Whether the new file is free of conflicts, or its stages hold the edit (a killed run)."""
    stages = scene.conflicted.get(move.target)
    if stages is None:
        return True
    side = stages.theirs if move.mover == "ours" else stages.ours
    there = resources(scene.repository.text(side) or b"").get(move.key)
    return there is not None and there.content == move.edited_text


def _merged(scene: _Scene, stages: Stages, three: Three[bytes | None], moved: bool) -> FilePlan:
    mode = merged_mode(*stages.entries)
    plan = FilePlan(stages.path, stages.situation, "solved", mode=mode, writes=True)
    if three.ours is None or three.theirs is None:
        return _deleted(scene, plan, three, moved)
    outcome = merge_one(three, scene.options(stages.path))
    return replace(
        plan,
        verdict="solved" if outcome.clean else "conflict",
        data=outcome.text,
        # `kept`: a file that must not hold markers (SOPS); what git left there stays
        writes=outcome.clean or outcome.method != "kept",
        why="" if outcome.clean else outcome.reason,
        conflicts=outcome.conflicts,
        method=outcome.method,
    )


def _deleted(scene: _Scene, plan: FilePlan, three: Three[bytes | None], moved: bool) -> FilePlan:
    """A file that one side deleted and the other changed, but for what moved elsewhere."""
    favored = scene.options(plan.path).favor
    if moved and changed_nothing_else(three):  # what the other side changed lives on elsewhere
        return replace(plan, data=None, method="moved")
    if favored:
        data = three.ours if favored == "ours" else three.theirs
        return replace(plan, data=data, method=f"favor {favored}")
    who = "us" if three.ours is None else "them"
    why = f"deleted by {who}, changed by {'them' if who == 'us' else 'us'}"
    return replace(plan, verdict="conflict", why=why, writes=False)


def _with_moves(
    scene: _Scene, files: list[FilePlan], moves: list[MovedEdit]
) -> tuple[FilePlan, ...]:
    """Merge the edits of moved resources into the files where the resources are now."""
    targets = {
        path: _target(scene, path, [move for move in moves if move.target == path])
        for path in sorted({move.target for move in moves} - scene.conflicted.keys())
    }
    busy = {path for path, plan in targets.items() if plan is None}
    blocked = {move.source: move.target for move in moves if move.target in busy}
    # Where the edit cannot follow, the old file is the only place that still shows it.
    kept = [_blocked(file, blocked[file.path]) if file.path in blocked else file for file in files]
    return (*kept, *(plan for plan in targets.values() if plan))


def _target(scene: _Scene, path: str, moves: list[MovedEdit]) -> FilePlan | None:
    """The merge of a file into which resources moved; None if it holds work nobody staged."""
    entry, found = scene.repository.staged(path), scene.on_disk(path)
    if entry is None or found is None or not entry.is_text:
        return None
    data = scene.repository.blob(entry.oid)
    if found.replace(b"\r\n", b"\n") != data.replace(b"\r\n", b"\n"):
        return None
    three = at_target(data, moves)
    outcome = merge_one(three, scene.options(path))
    return FilePlan(
        path,
        "moved resource",
        "solved" if outcome.clean else "conflict",
        why=words_for_target(moves),
        data=outcome.text,
        mode=entry.mode,
        writes=True,
        conflicts=outcome.conflicts,
        method=outcome.method,
        stages=three,
    )


def _blocked(file: FilePlan, target: str) -> FilePlan:
    why = f"{file.why}, but {target} has changes of its own: commit or stash them first"
    return replace(file, verdict="skipped", writes=False, data=None, why=why)


def _filtered(repository: Repository, path: str) -> str:
    """Git's blobs of such a path are no text (git-crypt, LFS): nothing to merge by structure."""
    name = repository.attribute(path, "filter")
    return f"it passes through the filter {name!r}" if name not in (None, "unset") else ""


def carry_out(repository: Repository, plan: SolvePlan) -> None:
    """Write and stage what the plan says, in an order that can be interrupted anywhere."""
    worktree = repository.worktree or ""
    writes = [file for file in plan.files if file.writes]
    stages = [_stages(repository, file.stages, file) for file in writes if file.stages]
    staging.mark_unmerged(worktree, stages)
    for file in writes:
        try:
            _write(repository, worktree, file)
        except OSError as error:
            hint = "nothing is staged: mend it and run `kmerge solve` again"
            raise KmergeError(error.strerror or str(error), path=file.path, hint=hint) from error
    solved = [file.path for file in writes if file.verdict == "solved"]
    sparse = ("core.sparsecheckout", "true") in repository.settings()
    staging.stage_files(worktree, solved, sparse=sparse)


def _stages(repository: Repository, three: Three[bytes], file: FilePlan) -> Stages:
    """The stages of the file: `git checkout -m` will show the very conflict that was solved."""
    at = three.map(lambda data: TreeEntry(repository.store(data), file.mode))
    return Stages(file.path, *at.each())


def _write(repository: Repository, worktree: str, file: FilePlan) -> None:
    target = Path(worktree, file.path)
    if file.data is None:
        target.unlink(missing_ok=True)
    else:
        data = repository.to_worktree(file.path, file.data)
        # inside git's directory a leftover of a kill is in nobody's way
        drafts = Path(repository.git_dir)
        replace_file(target, data, executable=bool(file.mode & 0o111), drafts=drafts)
