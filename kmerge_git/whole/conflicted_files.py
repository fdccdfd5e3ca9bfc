"""Settle the files that git leaves in conflict, in the same way for every command.

Git merges up to its conflicts, in the index or as a tree, and leaves three versions of every
file that both sides changed. This module merges each such file by itself. Then it merges the
files into which one side moved resources that the other side edited in the old file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.repository import Repository
from kmerge_git.git.touched_files import TreeEntry, merged_mode
from kmerge_git.merge.three import Three
from kmerge_git.outcome import BY_BLOCKS, Conflict, Decision, Options
from kmerge_git.whole.both_merges import Both, Job, Result, merge_all
from kmerge_git.whole.moved_edits import (
    Arrivals,
    MovedEdit,
    at_target,
    changed_nothing_else,
    find_moves,
    without_edits,
    words_for_source,
    words_for_target,
)

Verdict = Literal["solved", "conflict", "skipped"]
# If a file in conflict must be left alone, return the reason, otherwise ''. The arguments are the
# path, the three versions, and the texts that an earlier run may have written.
InTheWay = Callable[[str, Three[bytes | None], Iterable[bytes | None]], str]

_NO_TEXTS: Three[bytes | None] = Three(None, None, None)


@dataclass(frozen=True, slots=True)
class Scene:
    """Hold the state in which git left a merge."""

    repository: Repository
    trees: Three[str | None] | None  # None if unknown: then moved resources are not followed
    conflicts: tuple[Stages, ...]
    settled: Callable[[str], TreeEntry | None]  # return a file that git merged without a conflict
    options: Callable[[str], Options]
    # these defaults suit a merge of trees, which has no unstaged work
    in_the_way: InTheWay = lambda path, three, texts: ""
    is_as_staged: Callable[[str, bytes], bool] = lambda path, data: True
    merge_all: Callable[[Sequence[Job], float], Sequence[Both]] = merge_all
    seconds: float = 0.0  # the time limit for a file; 0 means no limit
    filters: bool = False  # merge files with a git filter, too
    favors_deletions: bool = False  # let the favoured side decide whether a file is deleted


@dataclass(frozen=True, slots=True)
class FileMerge:
    """Hold the result for a file; `data` is None if the file is deleted or not written."""

    path: str
    situation: str
    verdict: Verdict
    why: str = ""
    data: bytes | None = None
    mode: int = 0o100644
    writes: bool = False
    both: Both | None = None  # None if the file was not merged
    moves: tuple[MovedEdit, ...] = ()  # edits of resources that left or entered this file
    settled_by: str = ""  # the reason why a file was settled without a merge
    favor: str = ""  # the side that wins where both sides changed the same thing
    # the three versions of a file without a conflict into which a resource was moved
    stages: Three[bytes] | None = None
    three: Three[bytes | None] = _NO_TEXTS  # the merged versions, with moved resources unedited

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts that a person must resolve."""
        return self.both.outcome.conflicts if self.both else ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of the merge, one for each place."""
        return self.both.outcome.decisions if self.both else ()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Sentences about the decisions of a policy or of the favoured side."""
        if self.both is None or (self.both.outcome.method == "lines" and self.both.git_clean):
            return ()
        return tuple(self.both.outcome.chosen(self.favor))

    @property
    def method(self) -> str:
        """The method of the merge as in `Outcome`, or `settled_by` if the file was not merged."""
        return self.both.outcome.method if self.both else self.settled_by

    @property
    def git_clean(self) -> bool:
        """Return whether git's line merge alone would have been clean.

        If a resource was moved into the file, this is true, as git leaves such a file unchanged.
        """
        if self.stages is not None:
            return True
        return bool(self.both and self.both.git_clean and not self.moves)

    @property
    def asks(self) -> bool:
        """Return whether a person can answer the conflicts; the answer is no for a `kept` file."""
        return self.verdict == "conflict" and self.method != "kept"

    @property
    def result(self) -> Result:
        """A word that compares the result with git's result."""
        if self.verdict != "solved":
            return "conflict"
        if self.moves:
            return "moved"
        return self.both.result if self.both else "resolved"


@dataclass(frozen=True, slots=True)
class _Look:
    """Hold a file in conflict that is not merged yet."""

    stages: Stages
    options: Options
    three: Three[bytes | None] = _NO_TEXTS
    moves: tuple[MovedEdit, ...] = ()
    obstacle: str = ""

    @property
    def rest(self) -> Three[bytes | None]:
        """The three versions, with the moved resources unedited."""
        return without_edits(self.three, self.moves)

    @property
    def is_on_both(self) -> bool:
        """Return whether both sides have the file."""
        return self.three.ours is not None and self.three.theirs is not None


def settle(
    scene: Scene, is_chosen: Callable[[str], bool] = lambda path: True
) -> tuple[FileMerge, ...]:
    """Return the result for every file in conflict, without writing any file."""
    looks = list(_looks(scene, [stages for stages in scene.conflicts if is_chosen(stages.path)]))
    jobs = {look.stages.path: Job(look.rest, look.options) for look in looks if look.is_on_both}
    merged = dict(zip(jobs, scene.merge_all(list(jobs.values()), scene.seconds), strict=True))
    files = [_settled(scene, look, merged.get(look.stages.path)) for look in looks]
    return _with_targets(scene, files)


def _looks(scene: Scene, chosen: Sequence[Stages]) -> Iterator[_Look]:
    read, at = scene.repository, scene.trees
    arrivals = [
        Arrivals.between(read, at.base, side) if at and side else Arrivals((), read.blob)
        for side in ((at.ours, at.theirs) if at else (None, None))
    ]
    conflicted = {stages.path: stages for stages in scene.conflicts}
    for stages in chosen:
        obstacle = stages.obstacle
        if not (obstacle or scene.filters):
            obstacle = _filtered(scene.repository, stages.path)
        options = scene.options(stages.path)
        if obstacle:
            yield _Look(stages, options, obstacle=obstacle)
            continue
        three = Three(*map(scene.repository.text, stages.entries))
        # a generated file is generated again, so no edit is taken out of it
        moves = () if options.generated else find_moves(stages.path, three, *arrivals)
        follows = (move for move in moves if _can_follow(scene, conflicted.get(move.target), move))
        yield _Look(stages, options, three, tuple(follows))


def _filtered(repository: Repository, path: str) -> str:
    """If a git filter (git-crypt, LFS) converts a path, return the reason; otherwise return ''."""
    name = repository.attribute(path, "filter")
    return f"it passes through the filter {name!r}" if name not in (None, "unset") else ""


def _can_follow(scene: Scene, target: Stages | None, move: MovedEdit) -> bool:
    """Return whether the new file has no conflict except stages that a killed run wrote."""
    # if the new file has a conflict of its own, the edit stays in the old file
    return target is None or move.is_done(Three(*map(scene.repository.text, target.entries)))


def _settled(scene: Scene, look: _Look, both: Both | None) -> FileMerge:
    stages = look.stages
    skipped = FileMerge(stages.path, stages.situation, "skipped")
    if look.obstacle:
        return replace(skipped, why=look.obstacle)
    file = _merged(look, both) if both else _deleted(scene, look)
    in_the_way = scene.in_the_way(stages.path, look.three, _may_be_there(scene, look, file))
    if in_the_way:
        return replace(skipped, why=in_the_way)
    if look.moves:
        return replace(file, why=words_for_source(look.moves), moves=look.moves)
    return file


def _may_be_there(scene: Scene, look: _Look, file: FileMerge) -> Iterator[bytes | None]:
    """Yield the contents that kmerge or its driver may have written to the file."""
    yield file.data
    if look.is_on_both and (look.moves or look.options.favor):
        (both,) = scene.merge_all([Job(look.three, look.options.but(favor=""))], scene.seconds)
        yield both.outcome.text


def _merged(look: _Look, both: Both) -> FileMerge:
    stages, outcome = look.stages, both.outcome
    return FileMerge(
        stages.path,
        stages.situation,
        "solved" if outcome.clean else "conflict",
        "" if outcome.clean and outcome.reason != BY_BLOCKS else outcome.reason,
        outcome.text,
        merged_mode(*stages.entries),
        # a `kept` file must not hold markers; a SOPS file stays as git left it
        writes=outcome.clean or outcome.method != "kept" or look.options.generated,
        both=both,
        favor=look.options.favor,
        three=look.rest,
    )


def _deleted(scene: Scene, look: _Look) -> FileMerge:
    """Return the result for a file that one side deleted and the other side changed."""
    stages, three = look.stages, look.rest
    mode, favored = merged_mode(*stages.entries), look.options.favor
    file = FileMerge(stages.path, stages.situation, "solved", mode=mode, writes=True, three=three)
    if look.moves and changed_nothing_else(three):  # the edits are merged into the new file
        return replace(file, settled_by="moved")
    if favored and scene.favors_deletions:
        data = three.ours if favored == "ours" else three.theirs
        why = f"{favored} taken (rule 13 favor)"
        return replace(file, why=why, data=data, settled_by=f"favor {favored}", favor=favored)
    who = "us" if three.ours is None else "them"
    why = f"deleted by {who}, changed by {'them' if who == 'us' else 'us'}"
    if look.options.generated:
        why += "; a generated file: generate it again, then `git add` or `git rm` it"
    return replace(file, verdict="conflict", why=why, writes=False)


def _with_targets(scene: Scene, files: list[FileMerge]) -> tuple[FileMerge, ...]:
    """Merge the edits of moved resources into the files that now hold the resources."""
    conflicted = {stages.path for stages in scene.conflicts}
    free = sorted(_targets(files) - conflicted)
    entries = {path: _free_entry(scene, path, files) for path in free}
    busy = {path: entry for path, entry in entries.items() if isinstance(entry, str)}
    # if an edit cannot be merged into the new file, only the old file still shows it
    kept = [_blocked(file, busy) if busy.keys() & _targets([file]) else file for file in files]
    moves = [move for file in kept if file.verdict != "skipped" for move in file.moves]
    jobs: list[Job] = []
    arriving: list[tuple[str, TreeEntry, tuple[MovedEdit, ...]]] = []
    for path, entry in entries.items():
        mine = tuple(move for move in moves if move.target == path)
        if not isinstance(entry, str) and mine:
            arriving.append((path, entry, mine))
            at = at_target(scene.repository.blob(entry.oid), mine)
            jobs.append(Job(at, scene.options(path)))
    merged = zip(arriving, jobs, scene.merge_all(jobs, scene.seconds), strict=True)
    return (*kept, *(_target(*there, job, both) for there, job, both in merged))


def _targets(files: Iterable[FileMerge]) -> set[str]:
    """Return the files into which resources of the given files were moved."""
    left = (file for file in files if file.verdict != "skipped")
    return {move.target for file in left for move in file.moves}


def _free_entry(scene: Scene, path: str, files: Iterable[FileMerge]) -> TreeEntry | str:
    """Return the file that resources were moved to, or the reason why it cannot be changed."""
    entry = scene.settled(path)
    if entry is None:
        return "is not there, or has another name"
    if not entry.is_text:
        return "is no regular file"
    data = scene.repository.blob(entry.oid)
    moves = [move for file in files for move in file.moves if move.target == path]
    if not all(move.fits(data) for move in moves):
        return "has no single place for it"
    if not scene.is_as_staged(path, data):
        return "has changes of its own: commit or stash them first"
    return entry


def _target(
    path: str, entry: TreeEntry, moves: tuple[MovedEdit, ...], job: Job, both: Both
) -> FileMerge:
    """Return the merge of a file into which resources were moved."""
    outcome = both.outcome
    return FileMerge(
        path,
        "moved resource",
        "solved" if outcome.clean else "conflict",
        words_for_target(moves),
        outcome.text,
        entry.mode,
        writes=True,
        both=both,
        favor=job.options.favor,
        moves=moves,
        stages=job.three.map(lambda data: data or b""),
        three=job.three,
    )


def _blocked(file: FileMerge, busy: dict[str, str]) -> FileMerge:
    target = next(move.target for move in file.moves if move.target in busy)
    why = f"{file.why}, but {target} {busy[target]}"
    return replace(file, verdict="skipped", writes=False, data=None, why=why)
