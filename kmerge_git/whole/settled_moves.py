"""Settle a merge, with the resources that both sides moved.

If both sides moved a resource to different files, git's result has the resource twice, without a
conflict. Then the resource is between markers in ours' file, and theirs' file waits for the answer:
both files are unmerged, and in theirs' file nothing is changed. If the two sides edited the
resource differently, both files are unmerged as git left them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.kube.identity import Identity
from kmerge_git.kube.moved_resources import Namesake, destination
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, conflicted
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options, Outcome
from kmerge_git.text.linemerge import Given
from kmerge_git.text.pieces import Hunk
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.both_merges import Both
from kmerge_git.whole.conflicted_files import (
    BY_HAND,
    TAKEN_BACK,
    UNDECIDED_PLACE,
    WAITS,
    FileMerge,
    IsChosen,
    Scene,
    free_entry,
    settle_files,
)
from kmerge_git.whole.moved_edits import (
    Arrivals,
    TakenByBoth,
    cut,
    edited_resources,
    has_resource,
    places,
    taken_by_both,
    without_resource,
)

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
    opened = [
        one
        for one in apart
        if one.ours in sites and one.theirs in sites and not _is_over(scene, sites, one)
    ]
    unclear = _unclear(made, opened)
    staged = set(map(made.staged, opened))
    for path, some in _by_path(unclear, "ours", "theirs"):
        if path not in staged:
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
    paths: set[str] = set()
    while more := {path for one in unclear for path in (one.ours, one.theirs)} - paths:
        paths |= more
        unclear += [o for o in opened if o not in unclear and {o.ours, o.theirs} & paths]
    return unclear


def _by_path(apart: Iterable[TakenByBoth], *sides: str) -> list[tuple[str, list[TakenByBoth]]]:
    """Group resources by the files to which these sides moved them."""
    grouped: dict[str, list[TakenByBoth]] = {}
    for one in apart:
        for side in sides:
            grouped.setdefault(getattr(one, side), []).append(one)
    return sorted(grouped.items())


def _sites(
    scene: Scene, files: Iterable[FileMerge], apart: Iterable[TakenByBoth]
) -> dict[str, _Site]:
    """Return the files to which the resources were moved, as far as the merge has them."""
    known = {file.path: file for file in files}
    conflicts = {stages.path: stages for stages in scene.conflicts}
    sites: dict[str, _Site] = {}
    for path, _ in _by_path(apart, "ours", "theirs"):
        file, stages = known.get(path), conflicts.get(path)
        if stages is not None and file is not None and file.why == UNDECIDED_PLACE:
            data = scene.repository.text(stages.ours)
            mode = stages.ours.mode if stages.ours else 0o100644
            sites[path] = _Site(path, data, mode, file, stages)
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

    def staged(self, one: TakenByBoth) -> str:
        """Return the one of the two files that a person has staged, or '' if there is none."""
        ours, theirs = self.sites[one.ours], self.sites[one.theirs]
        if bool(ours.stages) == bool(theirs.stages) or (ours.file and theirs.file):
            return ""
        return theirs.path if ours.stages else ours.path

    def is_unclear(self, one: TakenByBoth) -> bool:
        """Return whether the resource cannot be put between markers, or has two versions."""
        ours, theirs = self.sites[one.ours], self.sites[one.theirs]
        is_free = not (ours.busy or theirs.busy or self.staged(one))
        if not is_free or ours.data is None or theirs.data is None:
            return True
        here, there = (places(YamlText(d)).get(one.key) for d in (ours.data, theirs.data))
        return here is None or there is None or here.text != there.text

    def left_alone(self, path: str, some: Sequence[TakenByBoth]) -> None:
        """Leave a file unmerged without a change of its text."""
        site, why = self.sites[path], _words(some)
        if site.busy:
            file = FileMerge(path, "moved resource", "skipped", f"{why}, but {site.busy}")
        elif site.data is None and site.file:
            file = replace(site.file, why="; ".join(filter(None, (site.file.why, why))))
        else:
            file = replace(self._file(site, why, site.data, site.data), way=BY_HAND)
        self.files[path] = file

    def ours(self, path: str, some: Sequence[TakenByBoth]) -> None:
        """Put the resources between markers in ours' file."""
        site = self.sites[path]
        left: bytes | None = site.text
        for one in some:
            left = without_resource(left, one.key) if left else left
        at = Three(site.text, site.text, left or b"")
        outcome = _between_markers(at, some, _labelled(self.scene.options(path), some))
        file = self._file(site, _words(some), outcome.text, left or b"")
        own = (site.file.own or site.file.both) if site.file else None
        both = Both(outcome, Given(site.text, True))
        self.files[path] = replace(file, both=both, own=own, three=at, settled_by="")

    def theirs(self, path: str, some: Sequence[TakenByBoth]) -> None:
        """Leave theirs' file unmerged until the conflict in ours' file is answered."""
        site = self.sites[path]
        names = ", ".join(dict.fromkeys(one.ours for one in some))
        file = self._file(
            site, f"{_words(some)}; resolve the conflict in {names}", site.data, site.data
        )
        self.files[path] = replace(file, waits=tuple((one.key, one.ours) for one in some))

    def _file(self, site: _Site, why: str, data: bytes | None, other: bytes | None) -> FileMerge:
        """Return a file in conflict, without a question about the file itself.

        Its stage of ours is the file as it is; those of base and theirs are `other`.
        """
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
            stages=Three(other, site.data, other),
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
    return ", ".join(
        f"{o.resource} was moved to {o.ours} in ours, but to {o.theirs} in theirs" for o in some
    )


def _labelled(options: Options, some: Sequence[TakenByBoth]) -> Options:
    """Return the options with a label that names theirs' file, as git names renamed files."""
    names = {one.theirs for one in some}
    base, ours, theirs = options.labels
    return (
        options.but(labels=(base, ours, f"{theirs}:{names.pop()}")) if len(names) == 1 else options
    )


def _between_markers(at: Three[bytes], some: Sequence[TakenByBoth], options: Options) -> Outcome:
    """Return ours' file with each of the resources as a conflict that theirs would take away."""
    lines, end = Source(at.ours).text, 0
    documents: list[MergedDocument] = []
    for start, stop, one in sorted(_parts(at.ours, some), key=lambda part: part[:2]):
        text = lines[max(start, end) : stop]
        hunk = Hunk(
            text, text, "", "", f"moved to {one.ours} in ours, but to {one.theirs} in theirs"
        )
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


# -- files that git wrongly takes for renamed
#
# Git pairs whole files by their lines. Files of overlays or charts are alike or equal, so it can
# take a new file for a deleted one of another overlay: an edit comes to somebody else's resource.


@dataclass(frozen=True, slots=True)
class WrongRename:
    """Hold an edited file that the other side deleted, and the file to which git took the edit."""

    stages: Stages  # of the deleted file, where git has no conflict
    taken: str
    entry: TreeEntry  # the file `taken` as the side has it that added it


def wrong_renames(scene: Scene, ours: Arrivals, theirs: Arrivals) -> Iterator[WrongRename]:
    """Yield the files that git took for renamed ones of equal content, without a conflict."""
    known = {stages.path for stages in scene.conflicts}
    for mover, editor in ((ours, theirs), (theirs, ours)):
        both = mover.by_old_path.keys() & editor.by_old_path.keys()
        gone = {path for path in both - known if not mover.by_old_path[path].new}
        for path, change in editor.by_old_path.items() if gone else ():
            if path not in gone or not is_manifest(path):
                continue
            for taken in _taken(scene, change, mover, editor):
                if _is_wrong(path, taken, change, mover):
                    sides = (None, change.new) if mover is ours else (change.new, None)
                    assert change.old is not None  # the base has the file
                    yield WrongRename(Stages(path, change.old, *sides), taken, change.old)


def _taken(scene: Scene, change: Change, mover: Arrivals, editor: Arrivals) -> Iterator[str]:
    """Yield the files of the mover that have the edited text in git's result."""
    for path in mover.new_files(change.old.oid) if change.old and change.new else ():
        found = scene.settled(path)
        is_edited = found is not None and change.new is not None and found.oid == change.new.oid
        if is_edited and path not in editor.added:
            yield path


def _is_wrong(path: str, taken: str, change: Change, mover: Arrivals) -> bool:
    """Return whether the edit belongs to another file, or to one of several."""
    assert change.old is not None and change.new is not None  # the caller's case
    oid = change.old.oid
    gone = [p for p, c in mover.by_old_path.items() if c.old and c.old.oid == oid and not c.new]
    fresh = mover.new_files(oid)
    text = mover.read(oid).decode("utf-8", "replace")
    if len(gone) > 1 or len(fresh) > 1:
        before, after = ([Namesake(one, text) for one in files] for files in (gone, fresh))
        return destination(before[gone.index(path)], before, after) != taken
    old, edited = (places(YamlText(mover.read(entry.oid))) for entry in (change.old, change.new))
    # git is right about a resource that no other new file has
    keys = [key for key in edited_resources(old, edited) or old if [*mover.of(key)] != [taken]]
    return any(mover.target(path, key, old[key], b"") != taken for key in keys)


def taken_back(scene: Scene, wrong: list[WrongRename]) -> Scene:
    """Return the scene with the edits in the old files, which are in conflict there."""
    stages = (*scene.conflicts, *(one.stages for one in wrong))
    entries = {one.taken: one.entry for one in wrong}
    return replace(
        scene, conflicts=stages, settled=lambda path: entries.get(path) or scene.settled(path)
    )


def with_old_files(
    scene: Scene, files: tuple[FileMerge, ...], wrong: list[WrongRename]
) -> tuple[FileMerge, ...]:
    """Return the files with what git must take back: it has the edits in the new files."""
    if not wrong:
        return files
    read = scene.repository.text
    made = {file.path: file for file in files}
    for one in wrong:
        file = made.get(one.stages.path)
        if file is None or file.verdict == "skipped":
            continue
        if file.verdict == "conflict" and not file.writes:
            three = Three(*map(read, one.stages.entries))
            why = f"{file.why}; git assumes that the file was renamed to {one.taken}"
            data = three.ours or three.theirs
            made[file.path] = replace(file, why=why, data=data, writes=True, stages=three)
        back = FileMerge(one.taken, "moved resource", "solved", mode=one.entry.mode, writes=True)
        data = read(one.entry)
        made.setdefault(one.taken, replace(back, data=data, settled_by=TAKEN_BACK))
    return tuple(made.values())
