"""Find files that git wrongly takes for renamed, so that an edit is in a resource of somebody else.

Git pairs whole files by their lines. Files of overlays or charts are alike or equal, so it can take
a new file for a deleted one of another overlay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.touched_files import Change, TreeEntry
from kmerge_git.kube.moved_resources import Namesake, destination
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.conflicted_files import TAKEN_BACK, FileMerge, Scene
from kmerge_git.whole.moved_edits import Arrivals, edited_resources, places


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
        for path, change in editor.by_old_path.items():
            gone = mover.by_old_path.get(path)
            if path in known or gone is None or gone.new or not is_manifest(path):
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
            why = f"{file.why}; git takes {one.taken} for it, which may be another one"
            data = three.ours or three.theirs
            made[file.path] = replace(file, why=why, data=data, writes=True, stages=three)
        back = FileMerge(one.taken, "moved resource", "solved", mode=one.entry.mode, writes=True)
        data = read(one.entry)
        made.setdefault(one.taken, replace(back, data=data, settled_by=TAKEN_BACK))
    return tuple(made.values())
