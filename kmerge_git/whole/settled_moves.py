"""Settle a merge, with the resources that both sides moved.

If both sides moved a resource to different files, git's result has the resource twice, without a
conflict. Then the resource stays in ours' file, between markers, and is taken out of theirs' file.
Both files are unmerged until a person has decided the conflict in ours' file. In the index, the
stage of ours has this proposal, and the stages of base and theirs have theirs' arrangement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kmerge_git.git.index_stages import Stages
from kmerge_git.kube.identity import Identity
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, conflicted
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options, Outcome
from kmerge_git.text.pieces import Hunk
from kmerge_git.text.source import Source
from kmerge_git.whole.both_merges import Job
from kmerge_git.whole.conflicted_files import (
    UNDECIDED_PLACE,
    WAITS,
    FileMerge,
    IsChosen,
    Scene,
    free_entry,
    settle_files,
)
from kmerge_git.whole.moved_edits import Arrivals, MovedEdit, at_target, text_in, with_resource
from kmerge_git.whole.taken_by_both import (
    TakenByBoth,
    cut,
    edit_apart,
    has_resource,
    is_known,
    taken_by_both,
    without_resource,
)
from kmerge_git.whole.wrong_renames import taken_back, with_old_files, wrong_renames

if TYPE_CHECKING:
    from kmerge_git.text.pieces import Pieces


@dataclass(frozen=True, slots=True)
class Settled:
    """Hold the results of all files, and a sentence for each resource moved here, deleted there."""

    files: tuple[FileMerge, ...]
    notes: tuple[str, ...] = ()


def settle(scene: Scene, is_chosen: IsChosen = lambda path: True) -> Settled:
    """Return the result for every file in conflict, without writing any file."""
    read, at = scene.repository, scene.trees
    ours, theirs = (
        Arrivals.between(read, at.base, side) if at and side else Arrivals((), read.blob)
        for side in ((at.ours, at.theirs) if at else (None, None))
    )
    wrong = list(wrong_renames(scene, ours, theirs)) if scene.is_fresh else []
    scene = taken_back(scene, wrong) if wrong else scene
    taken = tuple(taken_by_both(ours, theirs))
    if taken:
        by_git = _given_two_names(scene)
        taken = tuple(one for one in taken if one.source not in by_git)
    files = settle_files(scene, (ours, theirs), taken, is_chosen)
    files = with_old_files(scene, files, wrong)
    notes = tuple(one.words for one in taken if not (one.ours and one.theirs))
    apart = [o for o in taken if o.is_apart and (is_chosen(o.ours) or is_chosen(o.theirs))]
    return Settled(_with_apart(scene, files, apart) if apart else files, notes)


def _given_two_names(scene: Scene) -> set[str]:
    """Return the files that both sides renamed, and whose two names git has in conflict itself."""
    every = (*scene.conflicts, *scene.resolved())
    return {stages.path for stages in every if stages.ours is None and stages.theirs is None}


@dataclass(frozen=True, slots=True)
class _Site:
    """Hold a file to which a side moved a resource, as it is if nobody decides about the resource.

    `data` is None if the file has conflicts of its own.
    """

    path: str
    data: bytes | None
    mode: int
    file: FileMerge | None = None  # the merge of the file, if both sides changed it
    stages: Stages | None = None  # the stages of an earlier run
    busy: str = ""  # the reason why the file cannot be changed

    @property
    def text(self) -> bytes:
        return self.data or b""

    def holds(self, key: Identity, side: str) -> bool:
        """Return whether the file has the resource; look at one side if it has a conflict."""
        data = self.data
        if data is None and self.file is not None:
            data = self.file.three.side(side)
        return has_resource(data or b"", key)


def _with_apart(
    scene: Scene, files: tuple[FileMerge, ...], apart: list[TakenByBoth]
) -> tuple[FileMerge, ...]:
    """Return the files with a conflict for each resource that the sides moved to two files."""
    sites = _sites(scene, files, apart)
    made = _Made(scene, sites)
    opened: list[TakenByBoth] = []
    for one in apart:
        if one.ours in sites and one.theirs in sites and not _is_over(scene, sites, one):
            opened += [] if made.decided(one) else [one]
    unclear = _unclear(made, opened)
    for path, some in _by_path(unclear, "ours", "theirs"):
        made.left_alone(path, some)
    clear = [one for one in opened if one not in unclear]
    for path, some in _by_path(clear, "ours"):
        made.ours(path, some)
    for path, some in _by_path(clear, "theirs"):
        made.theirs(path, some)
    new = made.finished()
    known = {file.path for file in files}
    rest = [file for path, file in new.items() if path not in known]
    return (*(new.get(file.path, file) for file in files), *rest)


def _unclear(made: _Made, opened: list[TakenByBoth]) -> list[TakenByBoth]:
    """Return the resources whose files keep their texts.

    If a resource of a file is unclear, all resources of the file are.
    """
    crossing = {one.ours for one in opened} & {one.theirs for one in opened}
    unclear = [one for one in opened if made.is_unclear(one) or {one.ours, one.theirs} & crossing]
    while more := [o for o in opened if o not in unclear and _touches(o, unclear)]:
        unclear += more
    return unclear


def _by_path(apart: Iterable[TakenByBoth], *sides: str) -> list[tuple[str, list[TakenByBoth]]]:
    """Group resources by the files to which these sides moved them."""
    grouped: dict[str, list[TakenByBoth]] = {}
    for one in apart:
        for side in sides:
            grouped.setdefault(getattr(one, side), []).append(one)
    return sorted(grouped.items())


def _touches(one: TakenByBoth, others: Iterable[TakenByBoth]) -> bool:
    paths = {path for other in others for path in (other.ours, other.theirs)}
    return bool(paths & {one.ours, one.theirs})


def _sites(
    scene: Scene, files: Iterable[FileMerge], apart: Iterable[TakenByBoth]
) -> dict[str, _Site]:
    """Return the files to which the resources were moved, as far as the merge has them."""
    known = {file.path: file for file in files}
    conflicts = {stages.path: stages for stages in scene.conflicts}
    has_theirs = {one.theirs for one in apart}
    sites: dict[str, _Site] = {}
    for path in sorted({one.ours for one in apart} | has_theirs):
        file, stages = known.get(path), conflicts.get(path)
        if stages is not None and file is not None and file.why == UNDECIDED_PLACE:
            entry = stages.theirs if path in has_theirs else stages.ours
            data = scene.repository.text(entry)
            sites[path] = _Site(path, data, entry.mode if entry else 0o100644, file, stages)
        elif file is not None and file.verdict != "skipped":
            data = file.data if file.verdict == "solved" else None
            sites[path] = _Site(path, data, file.mode, file)
        elif file is None and stages is None:
            there = free_entry(scene, path)
            if not isinstance(there, str):
                sites[path] = _Site(path, scene.repository.blob(there.oid), there.mode)
            elif scene.settled(path):
                data = scene.repository.text(scene.settled(path))
                sites[path] = _Site(path, data, 0o100644, busy=there)
    return sites


def _is_over(scene: Scene, sites: dict[str, _Site], one: TakenByBoth) -> bool:
    """Return whether the merge has the resource in one file only, or a person decided about it."""
    ours, theirs = sites[one.ours], sites[one.theirs]
    if ours.stages or theirs.stages:
        return False
    if not (ours.holds(one.key, "ours") and theirs.holds(one.key, "theirs")):
        return True
    done = {stages.path for stages in scene.resolved() if stages.is_proposal}
    return bool(done & {one.ours, one.theirs})


@dataclass
class _Made:
    """Make the results of the files with resources that were moved to two files."""

    scene: Scene
    sites: dict[str, _Site]
    files: dict[str, FileMerge] = field(default_factory=dict)
    merged: dict[Identity, str] = field(default_factory=dict)  # the resources with both edits

    def decided(self, one: TakenByBoth) -> bool:
        """Take over the decision if a person has staged one of the two files."""
        ours, theirs = self.sites[one.ours], self.sites[one.theirs]
        if bool(ours.stages) == bool(theirs.stages) or (ours.file and theirs.file):
            return False
        waiting, staged = (ours, theirs) if ours.stages else (theirs, ours)
        if waiting.stages is None:
            return False
        has_it = has_resource(staged.text, one.key)
        if has_it and not is_known(one, waiting.text, staged.text):
            self._leave(waiting, _words([one]))
            return True
        data = without_resource(waiting.text, one.key) if has_it else waiting.data
        self.sites[waiting.path] = replace(waiting, data=data)
        why = f"{_words([one])}, decided in {staged.path}"
        file = FileMerge(waiting.path, waiting.stages.situation, "solved", why, data, waiting.mode)
        self.files.setdefault(waiting.path, replace(file, writes=True, settled_by=WAITS))
        self.files[waiting.path] = replace(self.files[waiting.path], data=data)
        return True

    def is_unclear(self, one: TakenByBoth) -> bool:
        """Return whether the resource cannot be put between markers."""
        ours, theirs = self.sites[one.ours], self.sites[one.theirs]
        if ours.busy or theirs.busy or ours.data is None or theirs.data is None:
            return True
        texts = ours.data, theirs.data
        return edit_apart(one, *texts) is None or None in (cut(t, one.key) for t in texts)

    def left_alone(self, path: str, some: Sequence[TakenByBoth]) -> None:
        """Leave a file unmerged without a change of its text."""
        self._leave(self.sites[path], _words(some))

    def _leave(self, site: _Site, why: str) -> None:
        if site.busy:
            file = FileMerge(site.path, "moved resource", "skipped", f"{why}, but {site.busy}")
        elif site.data is None and site.file:
            file = replace(site.file, why="; ".join(filter(None, (site.file.why, why))))
        else:
            data = site.data
            file = self._file(site, why, data, Three(data, data, data))
        self.files[site.path] = file

    def ours(self, path: str, some: Sequence[TakenByBoth]) -> None:
        """Put the resources between markers in ours' file."""
        site = self.sites[path]
        edits: list[MovedEdit] = []
        for one in some:
            edit = edit_apart(one, site.text, self.sites[one.theirs].text)
            edits += [edit] if edit else []
        at = at_target(site.text, edits)
        options = _labelled(self.scene.options(path), some)
        (both,) = self.scene.merge_all([Job(at.map(bytes), options)], self.scene.seconds)
        left: bytes | None = site.text
        for one in some:
            left = without_resource(left, one.key) if left else left
        file = self._file(
            site, _words(some), both.outcome.text, Three(left or b"", site.data, left or b"")
        )
        if both.outcome.clean:
            for edit in edits:
                self.merged[edit.key] = text_in(both.outcome.text, edit.key, edit.whole) or ""
        if both.outcome.clean and options.favor:
            why = f"{file.why}, {options.favor} taken (rule 13 favor)"
            data = both.outcome.text if options.favor == "ours" else left
            self.files[path] = replace(file, why=why, verdict="solved", data=data)
            return
        if both.outcome.clean:
            outcome = _between_markers(at, both.outcome.text, some, options)
            both = replace(both, outcome=outcome)
        own = (site.file.own or site.file.both) if site.file else None
        data = both.outcome.text
        self.files[path] = replace(
            file, data=data, both=both, own=own, three=at, settled_by="", favor=options.favor
        )

    def theirs(self, path: str, some: Sequence[TakenByBoth]) -> None:
        """Take the resources out of theirs' file, which then waits for the decision."""
        site = self.sites[path]
        full, left = site.text, site.data
        for one in some:
            edit = edit_apart(one, self.sites[one.ours].text, site.text)
            if edit and self.merged.get(one.key):
                full = with_resource(full, one.key, self.merged[one.key], whole=edit.whole)
            left = without_resource(left, one.key) if left else left
        names = ", ".join(dict.fromkeys(one.ours for one in some))
        file = self._file(
            site, f"{_words(some)}; decided in {names}", left, Three(full, left, full)
        )
        file = replace(file, waits=tuple((one.key, one.ours) for one in some))
        favor = self.scene.options(path).favor
        if favor and all(self.files[one.ours].verdict == "solved" for one in some):
            file = replace(file, verdict="solved", data=left if favor == "ours" else full)
            file = replace(file, why=f"{_words(some)}, {favor} taken (rule 13 favor)", waits=())
        self.files[path] = file

    def _file(
        self, site: _Site, why: str, data: bytes | None, stages: Three[bytes | None]
    ) -> FileMerge:
        """Return a file in conflict, without a question about the file itself."""
        situation = site.file.situation if site.file else "moved resource"
        moves = site.file.moves if site.file else ()
        return FileMerge(
            site.path,
            situation,
            "conflict",
            why,
            data,
            site.mode,
            writes=True,
            moves=moves,
            settled_by=WAITS,
            stages=stages,
        )

    def finished(self) -> dict[str, FileMerge]:
        """Return the files, without those that somebody has edited since the merge."""
        return {path: self._unless_edited(file) for path, file in self.files.items()}

    def _unless_edited(self, file: FileMerge) -> FileMerge:
        site = self.sites[file.path]
        if site.stages is None:
            return file
        three = Three(*map(self.scene.repository.text, site.stages.entries))
        in_the_way = self.scene.in_the_way(file.path, three, [file.data])
        return (
            replace(file, verdict="skipped", why=in_the_way, writes=False) if in_the_way else file
        )


def _words(some: Iterable[TakenByBoth]) -> str:
    return ", ".join(f"{o.resource} moved to {o.ours} here, to {o.theirs} there" for o in some)


def _labelled(options: Options, some: Sequence[TakenByBoth]) -> Options:
    """Return the options with a label that names theirs' file, as git names renamed files."""
    names = {one.theirs for one in some}
    base, ours, theirs = options.labels
    return (
        options.but(labels=(base, ours, f"{theirs}:{names.pop()}")) if len(names) == 1 else options
    )


def _between_markers(
    at: Three[bytes], text: bytes, some: Sequence[TakenByBoth], options: Options
) -> Outcome:
    """Return ours' file with each of the resources as a conflict that theirs would take away."""
    parts = list(_parts(text, some))
    lines, end = Source(text).text, 0
    documents: list[MergedDocument] = []
    for start, stop, one in sorted(parts, key=lambda part: part[:2]):
        base = cut(at.base, one.key)
        why = f"moved to {one.ours} here, to {one.theirs} there"
        hunk = Hunk(base[1] if base else "", lines[max(start, end) : stop], "", "", why)
        pieces: Pieces = [lines[end:start], hunk] if start > end else [hunk]
        documents.append(MergedDocument(NO_DOCUMENT, one.resource, None, pieces))
        end = stop
    if lines[end:]:
        documents.append(MergedDocument(NO_DOCUMENT, "", None, [lines[end:]]))
    return conflicted(MergedFile([], documents, ""), at.map(Source), options)


def _parts(text: bytes, some: Iterable[TakenByBoth]) -> Iterator[tuple[int, int, TakenByBoth]]:
    for one in some:
        parts = cut(text, one.key)
        if parts:
            yield len(parts[0]), len(parts[0]) + len(parts[1]), one
