"""Settle the files that git leaves in conflict, in the same way for every command.

Git merges up to its conflicts, in the index or as a tree, and leaves three versions of every
file that both sides changed. This module merges each such file by itself. Then it merges the
files into which one side moved resources that the other side edited in the old file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from kmerge_git.compare.file_changes import compare
from kmerge_git.git.index_stages import Stages
from kmerge_git.git.merge_sides import SUBMODULE, TreeEntry, merged_mode
from kmerge_git.git.repository import Repository
from kmerge_git.kube.identity import Identity
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.labels import MOST
from kmerge_git.outcome import BY_BLOCKS, SIDES, WHOLE, Conflict, Decision, Options, Outcome
from kmerge_git.text.opaque_files import holds_seal, is_binary
from kmerge_git.whole.both_merges import Both, Job, Result, merge_all
from kmerge_git.whole.moved_edits import (
    Arrivals,
    MovedEdit,
    TakenByBoth,
    at_target,
    changed_nothing_else,
    edits_of_both,
    find_moves,
    find_removals,
    has_resource,
    is_proposal,
    is_taken_away,
    stranger,
    with_base,
    without_edits,
)

EITHER = "run `git checkout --ours FILE` (or `--theirs`), then `git add FILE`"
OR_GONE = "run `git add` to keep the file or `git rm` to delete it"
BY_MARKERS = "resolve its conflict markers, then run `git add`"
BY_HAND = "correct the file, then run `git add`"
NAMES = "run `git add` for the name to keep and `git rm` for the other names"
IN_ONE_SIDE = (
    "run `git checkout --ours FILE` (or `--theirs`), "
    "insert the other side's change, then `git add FILE`"
)
_IN_SUBMODULE = "run `git -C FILE checkout COMMIT`, then `git add FILE`"
_NO_MERGE = ("unset", "binary")  # values of the attribute `merge` with which git keeps ours
_MODE = "run `git add --chmod=+x FILE` or `git add --chmod=-x FILE`"

Verdict = Literal["solved", "conflict", "skipped"]
IsChosen = Callable[[str], bool]
# If a file in conflict must be left alone, return the reason, otherwise ''. The arguments are the
# path, the three versions, and the texts that an earlier run may have written.
InTheWay = Callable[[str, Three[bytes | None], Iterable[bytes | None]], str]

TAKEN_BACK = "taken back"  # git has an edit in the file that belongs to another one
WAITS = "waits"  # the method of a file that waits for the decision about another file
UNDECIDED_PLACE = "the two sides moved a resource to different files"
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
    is_fresh: bool = False  # nobody has looked at the merge yet, or decided anything
    # the tree in which the commits end of which theirs is one, if several are applied one by one
    tip: str = ""
    # return the side that takes a file or its resources away, whoever changed them, or ''
    deletes: Callable[[str], str] = lambda path: ""
    favors_deletions: bool = False  # let the favoured side decide whether a file is deleted
    # return the stages of the files that were in conflict and are resolved
    resolved: Callable[[], Iterable[Stages]] = tuple


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
    # the three versions of a file with the edits of the resources that were moved into the file
    stages: Three[bytes | None] | None = None
    own: Both | None = None  # the merge of that file without these edits, if both sides changed it
    # resources of this file, each with the file in which a conflict decides its place
    waits: tuple[tuple[Identity, str], ...] = ()
    three: Three[bytes | None] = _NO_TEXTS  # the merged versions, with moved resources unedited
    way: str = ""  # what a person does about the file, if no question asks about it
    dropped: tuple[Decision, ...] = ()  # edits of what the other side took away, by a policy

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts that a person must resolve."""
        return self.both.outcome.conflicts if self.both else ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of the merge, one for each place."""
        merges = filter(None, (self.own, self.both))
        merged = (decision for both in merges for decision in both.outcome.decisions)
        return (*self.dropped, *merged)

    @property
    def explained(self) -> tuple[Decision, ...]:
        """Each place where the versions differ, with its three values and the side taken."""
        merges = filter(None, (self.own, self.both))
        merged = (decision for both in merges for decision in both.outcome.explained)
        return (*self.dropped, *merged)

    @property
    def arrivals(self) -> tuple[MovedEdit, ...]:
        """The edits of the resources that were moved into this file."""
        return tuple(move for move in self.moves if move.target == self.path)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Sentences about the decisions of a policy or of the favoured side."""
        dropped = tuple(decision.shown() for decision in self.dropped)
        if self.both is None or (self.both.outcome.method == "lines" and self.both.git_clean):
            return dropped
        return (*dropped, *self.both.outcome.chosen(self.favor))

    @property
    def method(self) -> str:
        """The method of the merge as in `Outcome`, or `settled_by` if the file was not merged."""
        return self.both.outcome.method if self.both else self.settled_by

    @property
    def git_clean(self) -> bool:
        """Return whether git's line merge alone would have been clean.

        Git alone does not merge the edits of resources that were moved into the file.
        """
        both = self.own if self.stages else self.both
        if self.dropped:
            return False
        if both is None:
            return self.stages is not None or self.settled_by == TAKEN_BACK
        return both.git_clean and len(self.arrivals) == len(self.moves)

    @property
    def asks(self) -> bool:
        """Return whether a person can answer the conflicts one by one."""
        return self.verdict == "conflict" and not self.is_whole

    @property
    def is_whole(self) -> bool:
        """Return whether `why` is the only reason of the conflict, which is about the whole file.

        If one side deleted the file, the answer is no, because there is a question about it.
        """
        if self.verdict != "conflict" or self.both is None:
            return self.verdict == "conflict" and self.method == WAITS
        return self.both.outcome.clean or self.method in WHOLE

    @property
    def reason(self) -> str:
        """Return why the file is left, and what a person does about it."""
        return with_way(self.why, self.way)

    @property
    def about(self) -> str:
        """Return what both sides did with the file, and why it has this verdict."""
        why = self.reason
        if self.verdict == "solved" and self.data is None:
            why = f"deleted: {why}" if why else "deleted"
        parts = (self.situation, why)
        return "; ".join(part for part in parts if part and not why.startswith(f"{part}, "))

    @property
    def result(self) -> Result:
        """A word that compares the result with git's result."""
        if self.verdict != "solved":
            return "conflict"
        if self.moves:
            return "moved"
        return self.both.result if self.both and not self.dropped else "resolved"


@dataclass(frozen=True, slots=True)
class _Look:
    """Hold a file in conflict that is not merged yet."""

    stages: Stages
    options: Options
    three: Three[bytes | None] = _NO_TEXTS
    moves: tuple[MovedEdit, ...] = ()
    drops: tuple[MovedEdit, ...] = ()  # edits of resources that a side takes away by a policy
    remover: str = ""  # the side that takes the whole file away by a policy
    obstacle: str = ""
    way: str = BY_MARKERS  # what a person does about the obstacle
    twins: tuple[MovedEdit, ...] = ()  # the edits of resources that both sides moved to this file
    is_proposal: bool = False  # the file waits for the decision in which file a resource stays

    @property
    def rest(self) -> Three[bytes | None]:
        """The three versions, with the moved resources unedited."""
        return with_base(without_edits(self.three, (*self.moves, *self.drops)), self.twins)

    @property
    def is_on_both(self) -> bool:
        """Return whether both sides have the file, so that it can be merged."""
        return None not in (self.three.ours, self.three.theirs) and not self.is_proposal

    def has(self, move: MovedEdit) -> bool:
        """Return whether an earlier run has written the edit into the stages of the new file."""
        is_here = move.target == self.stages.path
        return is_here and (self.is_proposal or move.is_done(self.three))


def settle_files(
    scene: Scene,
    arrivals: tuple[Arrivals, Arrivals],
    taken: Sequence[TakenByBoth],
    is_chosen: IsChosen,
) -> tuple[FileMerge, ...]:
    """Return the result for every file in conflict, without writing any file.

    `taken` are the resources that both sides took out of a file.
    """
    chosen = [stages for stages in scene.conflicts if is_chosen(stages.path)]
    looks = {look.stages.path: look for look in _looks(scene, arrivals, chosen)}
    for path in {one.ours for one in taken if one.ours == one.theirs} & looks.keys():
        looks[path] = _with_twins(looks[path], [one for one in taken if one.ours == path])
    merged = _merge_rests(scene, looks)
    files = [_settled(scene, look, merged.get(path)) for path, look in looks.items()]
    return _with_targets(scene, files, looks)


def _with_twins(look: _Look, taken: Iterable[TakenByBoth]) -> _Look:
    """Return the file with the edits of the resources that both sides moved to it."""
    if look.obstacle or look.is_proposal:
        return look
    three = look.three.map(lambda data: data or b"")
    return replace(look, twins=tuple(e for one in taken for e in edits_of_both(one, three)))


def _looks(
    scene: Scene, arrivals: tuple[Arrivals, Arrivals], chosen: Sequence[Stages]
) -> Iterator[_Look]:
    here, there = arrivals
    if scene.tip and scene.trees:  # a later commit may bring back what this one takes away
        there = Arrivals.between(scene.repository, scene.trees.base, scene.tip)
    for stages in chosen:
        obstacle = "" if stages.is_proposal else stages.obstacle
        if not (obstacle or scene.filters):
            name = scene.repository.attribute(stages.path, "filter")  # git-crypt, LFS
            is_filtered = name not in (None, "unset")
            obstacle = f"git converts this file with the filter {name!r}" if is_filtered else ""
        options = scene.options(stages.path)
        if obstacle:
            yield _Look(stages, options, obstacle=obstacle)
            continue
        three = Three(*map(scene.repository.text, stages.entries))
        if stages.is_proposal and is_proposal(three):
            yield _Look(stages, options, three, is_proposal=True)
            continue
        obstacle = stranger(stages, three, *arrivals)
        if obstacle:
            yield _Look(stages, options, obstacle=obstacle, way=BY_HAND)
            continue
        yield _with_moves(_Look(stages, options, three), scene, arrivals, (here, there))


def _with_moves(
    look: _Look,
    scene: Scene,
    arrivals: tuple[Arrivals, Arrivals],
    in_the_end: tuple[Arrivals, Arrivals],
) -> _Look:
    """Return the file with the edits of resources that one side moved, or took away by a policy."""
    path, three = look.stages.path, look.three
    # no edit is taken out of a file that a program writes as a whole
    is_one_piece = look.options.generated or holds_seal(*filter(None, three.each()))
    moves = () if is_one_piece else find_moves(path, three, *arrivals)
    remover = scene.deletes(path)
    if remover == "" or moves:
        return replace(look, moves=moves)
    here = in_the_end[SIDES.index(remover)]
    if is_taken_away(path, three, remover, here):
        return replace(look, remover=remover)
    return replace(look, drops=() if is_one_piece else find_removals(path, three, remover, here))


def _merge_rests(scene: Scene, looks: dict[str, _Look]) -> dict[str, Both]:
    """Merge each file without the edits that follow a resource to another file.

    If an edit cannot follow its resource, because the new file has a conflict of its own, the edit
    is put back into the old file in `looks`, and the old file is merged again.
    """
    merged: dict[str, Both] = {}
    again = [*looks]
    while again:
        jobs = {p: Job(looks[p].rest, looks[p].options) for p in again if looks[p].is_on_both}
        done = scene.merge_all(list(jobs.values()), scene.seconds)
        merged |= zip(jobs, done, strict=True)
        again = []
        for path, look in looks.items():
            follows = partial(_can_follow, scene, looks, merged)
            moves, twins = (tuple(filter(follows, edits)) for edits in (look.moves, look.twins))
            if (moves, twins) != (look.moves, look.twins):
                looks[path] = replace(look, moves=moves, twins=twins)
                again.append(path)
    return merged


def _can_follow(
    scene: Scene, looks: dict[str, _Look], merged: dict[str, Both], move: MovedEdit
) -> bool:
    """Return whether the new file has no conflict of its own, and has the resource once."""
    look, both = looks.get(move.target), merged.get(move.target)
    if look is None:
        return all(stages.path != move.target for stages in scene.conflicts)
    if look.has(move):
        return True
    if both is None or not both.outcome.clean or move in look.twins:
        return bool(both and both.outcome.clean and move.fits(both.outcome.text))
    # if the new file was renamed, it may have held another resource of this name before
    other = look.three.theirs if move.mover == "ours" else look.three.ours
    is_new = not any(has_resource(data or b"", move.key) for data in (look.three.base, other))
    return is_new and move.fits(both.outcome.text)


def _settled(scene: Scene, look: _Look, both: Both | None) -> FileMerge:
    stages = look.stages
    skipped = FileMerge(stages.path, stages.situation, "skipped")
    if look.obstacle:
        way = way_out(stages) if stages.obstacle else look.way
        return replace(skipped, why=look.obstacle, way=way)
    if look.is_proposal:
        return replace(skipped, why=UNDECIDED_PLACE)
    file = _merged(look, both) if both else _deleted(scene, look)
    in_the_way = scene.in_the_way(stages.path, look.three, _may_be_there(scene, look, file))
    if in_the_way:
        about = f"{file.why}; " if file.is_whole else ""
        return replace(skipped, why=f"{about}{in_the_way}")
    if look.moves:
        why = ", ".join(f"{move.resource} was moved to {move.target}" for move in look.moves)
        return replace(file, why=why, moves=look.moves)
    return file


def _may_be_there(scene: Scene, look: _Look, file: FileMerge) -> Iterator[bytes | None]:
    """Yield the contents that kmerge or its driver may have written to the file."""
    yield file.data
    if look.is_on_both and (look.moves or look.drops or look.options.favor):
        (both,) = scene.merge_all([Job(look.three, look.options.but(favor=""))], scene.seconds)
        yield both.outcome.text


def _merged(look: _Look, both: Both) -> FileMerge:
    stages, outcome = look.stages, both.outcome
    modes = two_modes(stages) if outcome.clean else ""
    is_left = modes or (outcome.method in WHOLE and not look.options.generated)
    return FileMerge(
        stages.path,
        stages.situation,
        "solved" if outcome.clean and not modes else "conflict",
        modes or ("" if outcome.clean and outcome.reason != BY_BLOCKS else outcome.reason),
        outcome.text,
        merged_mode(*stages.entries),
        # a binary file stays as git left it; a generated file must not hold markers
        writes=outcome.clean or outcome.method != "kept" or look.options.generated,
        both=both,
        favor=look.options.favor,
        three=look.rest,
        way=way_out(stages, outcome) if is_left else "",
        dropped=tuple(_dropped(edit) for edit in look.drops),
    )


def _dropped(edit: MovedEdit) -> Decision:
    """Return the decision of a policy to drop an edit together with the resource."""
    old, new = (t.encode("utf-8", "surrogateescape") for t in (edit.base_text, edit.edited_text))
    return _taken_away(edit.resource, edit.mover, old, new, edit.source)


def _taken_away(what: str, remover: str, old: bytes, new: bytes, path: str) -> Decision:
    """Return the decision of a policy that something stays away, although it was changed."""
    why = Why.OURS_GONE if remover == "ours" else Why.THEIRS_GONE
    named = [("" if c.resource == what else c.resource, c) for c in compare(old, new, path)]
    words = (f"{of} {c.field or ', '.join(c.what) or c.how}".strip() for of, c in named)
    names = [*dict.fromkeys(words)]
    rest = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    changed = f"{', '.join(names[:MOST])}{rest}"
    return Decision(what, "", f"{why} ({changed})", remover, "12 policy deletion")


def _deleted(scene: Scene, look: _Look) -> FileMerge:
    """Return the result for a file that one side deleted and the other side changed."""
    stages, three = look.stages, look.rest
    mode, favored = merged_mode(*stages.entries), look.options.favor
    file = FileMerge(stages.path, stages.situation, "solved", mode=mode, writes=True, three=three)
    if look.moves and changed_nothing_else(three):  # the edits are merged into the new file
        return replace(file, settled_by="moved")
    if look.remover:
        base, ours, theirs = (data or b"" for data in look.three.each())
        dropped = _taken_away("the file", look.remover, base, ours or theirs, stages.path)
        why = f"{look.remover} taken (rule {dropped.rule})"
        return replace(file, why=why, settled_by="policy deletion", dropped=(dropped,))
    if favored and scene.favors_deletions:
        data = three.ours if favored == "ours" else three.theirs
        why = f"{favored} taken (rule 13 favor)"
        return replace(file, why=why, data=data, settled_by=f"favor {favored}", favor=favored)
    who = "us" if three.ours is None else "them"
    why = f"deleted by {who}, changed by {'them' if who == 'us' else 'us'}"
    if look.options.generated:
        why += "; a generated file: regenerate it, then run `git add` or `git rm`"
    return replace(file, verdict="conflict", why=why, writes=False)


def _with_targets(
    scene: Scene, files: list[FileMerge], looks: dict[str, _Look]
) -> tuple[FileMerge, ...]:
    """Merge the edits of moved resources into the files that now hold the resources."""
    targets = _targets(files) | {path for path, look in looks.items() if look.twins}
    if not targets:
        return tuple(files)
    homes = {path: _home(scene, path, files) for path in sorted(targets)}
    files = _without_blocked(files, {p: home for p, home in homes.items() if isinstance(home, str)})
    wanted = list(_wanted(scene, files, looks, homes))
    merged = scene.merge_all([job for *_, job in wanted], scene.seconds)
    made = [_target(*each, both) for each, both in zip(wanted, merged, strict=True)]
    changed = {file.path: file for file in made}
    rest = [file for file in made if all(file.path != known.path for known in files)]
    return (*(changed.get(file.path, file) for file in files), *rest)


def _wanted(
    scene: Scene, files: Iterable[FileMerge], looks: dict[str, _Look], homes: dict[str, _Home | str]
) -> Iterator[tuple[_Home, tuple[MovedEdit, ...], Job]]:
    """Yield each new file, the edits that follow a resource to it, and the merge of the edits."""
    arriving = _arriving(files, looks)
    for path, home in homes.items():
        look, moves = looks.get(path), tuple(arriving.get(path, ()))
        twins = look.twins if look else ()
        if not isinstance(home, str) and (moves or twins):
            options = look.options if look else scene.options(path)
            yield home, moves, Job(at_target(home.data, (*moves, *twins)), options)


def _arriving(files: Iterable[FileMerge], looks: dict[str, _Look]) -> dict[str, list[MovedEdit]]:
    """Return the edits to merge into each new file, without those that a killed run has written."""
    arriving: dict[str, list[MovedEdit]] = {}
    for move in (move for file in files if file.verdict != "skipped" for move in file.moves):
        look = looks.get(move.target)
        if look is None or not look.has(move):
            arriving.setdefault(move.target, []).append(move)
    return arriving


def _targets(files: Iterable[FileMerge]) -> set[str]:
    """Return the files into which resources of the given files were moved."""
    left = (file for file in files if file.verdict != "skipped")
    return {move.target for file in left for move in file.moves}


@dataclass(frozen=True, slots=True)
class _Home:
    """Hold a file into which resources were moved, without the edits of these resources."""

    path: str
    data: bytes
    mode: int
    file: FileMerge | None = None  # the merge of the file, if both sides changed it


def _home(scene: Scene, path: str, files: Iterable[FileMerge]) -> _Home | str:
    """Return the file that resources were moved to, or the reason why it cannot be changed."""
    file = next((file for file in files if file.path == path), None)
    if file is None:
        moves = [move for file in files for move in file.moves if move.target == path]
        entry = free_entry(scene, path, moves)
        if isinstance(entry, str):
            return entry
        return _Home(path, scene.repository.blob(entry.oid), entry.mode)
    if file.verdict == "skipped":
        return f"was skipped: {file.why}"
    return _Home(path, file.data or b"", file.mode, file)


def _without_blocked(files: list[FileMerge], busy: dict[str, str]) -> list[FileMerge]:
    """Skip the files whose edits cannot be merged into a new file: only they show these edits."""
    while True:
        blocked = {file.path for file in files if busy.keys() & _targets([file])}
        if not blocked:
            return files
        files = [_blocked(file, busy) if file.path in blocked else file for file in files]
        busy |= {file.path: f"was skipped: {file.why}" for file in files if file.path in blocked}


def free_entry(scene: Scene, path: str, moves: Iterable[MovedEdit] = ()) -> TreeEntry | str:
    """Return a file without a conflict, or the reason why the edits cannot be merged into it."""
    entry = scene.settled(path)
    if entry is None:
        return "does not exist or was renamed"
    if not entry.is_text:
        return "is not a regular file"
    data = scene.repository.blob(entry.oid)
    if holds_seal(data):
        return "is encrypted"
    if not all(move.fits(data) for move in moves):
        return "has no unique position for the resource"
    if not scene.is_as_staged(path, data):
        return "has uncommitted changes: commit or stash them first"
    return entry


def _target(home: _Home, moves: tuple[MovedEdit, ...], job: Job, both: Both) -> FileMerge:
    """Return the merge of a file into which resources were moved."""
    outcome, own = both.outcome, home.file
    came = [f"{move.resource} was moved from {move.source}" for move in moves]
    words = ", ".join(filter(None, (own.why if own else "", *came)))
    return FileMerge(
        home.path,
        own.situation if own else "moved resource",
        "solved" if outcome.clean else "conflict",
        words,
        outcome.text,
        home.mode,
        writes=True,
        both=both,
        favor=job.options.favor,
        moves=(*(own.moves if own else ()), *moves),
        stages=job.three,
        three=job.three,
        own=own.both if own else None,
    )


def _blocked(file: FileMerge, busy: dict[str, str]) -> FileMerge:
    target = next(move.target for move in file.moves if move.target in busy)
    why = f"{file.why}, but {target} {busy[target]}"
    return replace(file, verdict="skipped", writes=False, data=None, why=why)


# -- why a file is left in conflict, and how a person decides it


def two_modes(stages: Stages) -> str:
    """If both sides added a file with different modes, return the reason; otherwise return ''."""
    ours, theirs = stages.ours, stages.theirs
    if stages.base or not (ours and theirs and ours.is_text and theirs.is_text):
        return ""
    if ours.mode == theirs.mode:
        return ""
    return f"added with mode {ours.mode:o} in ours and {theirs.mode:o} in theirs"


def way_out(stages: Stages, outcome: Outcome | None = None) -> str:
    """Return what a person does about a file; return '' if the reason itself already says this."""
    if any(entry and entry.mode == SUBMODULE for entry in stages.entries):
        return _IN_SUBMODULE
    if outcome is None:
        if None in (stages.ours, stages.theirs):
            return (
                NAMES
                if all(entry is None or entry.is_text for entry in stages.entries)
                else OR_GONE
            )
        return EITHER
    if outcome.method == "sealed":
        return IN_ONE_SIDE
    return _MODE if outcome.clean else EITHER


def why_left(repository: Repository, stages: Stages, refusal: str) -> tuple[str, str]:
    """Return why a file that kmerge does not merge is left, and what a person does about it.

    `refusal` says why kmerge does not merge files of that path.
    """
    if stages.obstacle:
        return stages.obstacle, way_out(stages)
    if None in (stages.ours, stages.theirs):
        return f"{refusal}, {stages.situation}", OR_GONE
    reasons = [refusal, two_modes(stages)]
    texts = [repository.text(entry) or b"" for entry in stages.entries]
    if any(map(is_binary, texts)):
        reasons.append("binary")
    if reasons[-1] == "binary" or repository.attribute(stages.path, "merge") in _NO_MERGE:
        way = EITHER
    else:
        way = _MODE if reasons[1] else ""
    return ", ".join(filter(None, reasons)) or "the git attributes set no merge driver", way


def with_way(why: str, way: str) -> str:
    """Return a reason, and behind it what a person does about it."""
    return f"{why}; {way}" if way else why
