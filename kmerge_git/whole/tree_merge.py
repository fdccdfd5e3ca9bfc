"""One merge of two commits on trees: git's up to its conflicts, from there the engine's."""

from __future__ import annotations

from dataclasses import dataclass

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.repository import Repository
from kmerge_git.git.scratch_merges import MergedTree, Message, Scratch, merge_tree
from kmerge_git.git.touched_files import TreeEntry
from kmerge_git.merge.three import Three
from kmerge_git.whole.conflicted_files import FileMerge, Scene, settle
from kmerge_git.whole.path_options import SettingsOf

# conflicts that are about what is in a file, or whether it is there; its stages tell all of them
_TOLD_BY_STAGES = ("contents", "binary", "modify/delete", "rename/delete")


@dataclass(frozen=True, slots=True)
class Sides:
    """What is merged: three trees, and the two commits that git may find their base of."""

    trees: Three[str]
    ours: str = ""
    theirs: str = ""

    @property
    def is_made_up(self) -> bool:
        """Whether git must be told the base: it has no history, or more than one base."""
        return not self.ours


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """Everything that is not simply git's answer."""

    merged: MergedTree
    files: tuple[FileMerge, ...]  # manifests that both sides changed
    others: tuple[Stages, ...]  # what no merge of manifests settles
    stuck: tuple[Message, ...]  # about where files are: names, folders

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left to a person."""
        solved = all(file.verdict == "solved" for file in self.files)
        return solved and not self.others and not self.stuck


def merge_trees(
    at: Scratch,
    sides: Sides,
    settings: SettingsOf,
    *,
    keep: bool = False,
    is_timed: bool = True,
) -> TreeMerge:
    """Make the merge; `keep` leaves git's objects in the repository.

    `is_timed`: a file may take as long as the settings say.
    """
    seconds = settings.timeout if is_timed else 0.0
    made = _made(at, sides, settings, seconds, keep=keep, with_text=False)
    if made.stuck or any(file.verdict == "skipped" for file in made.files):
        # What we do not write is git's: so it has to make these files, too. And it merges a file
        # before it looks whether its new name is free: a stage can be what it came to.
        return _made(at, sides, settings, seconds, keep=keep, with_text=True)
    return made


def _made(
    at: Scratch,
    sides: Sides,
    settings: SettingsOf,
    seconds: float,
    *,
    keep: bool,
    with_text: bool,
) -> TreeMerge:
    trees = sides.trees
    ours, theirs = (trees.ours, trees.theirs) if sides.is_made_up else (sides.ours, sides.theirs)
    base = trees.base if sides.is_made_up else None
    merged = merge_tree(at, ours, theirs, base=base, keep=keep, with_text=with_text)
    stuck = tuple(message for message in merged.messages if _is_stuck(at, merged, message))
    named = {path for message in stuck for path in message.paths}
    others = tuple(
        stages
        for stages in merged.conflicts
        if stages.path in named or not settings.takes(stages.path)
    )
    left = {stages.path for stages in others}
    scene = Scene(
        at.repository,
        trees.map(lambda tree: tree),
        merged.conflicts,
        lambda path: at.repository.entry(merged.tree, path),
        settings,
        seconds=seconds,
    )
    files = settle(scene, lambda path: path not in left)
    return TreeMerge(merged, files, others, stuck)


def _is_stuck(at: Scratch, merged: MergedTree, message: Message) -> bool:
    kinds = {f"CONFLICT ({kind})" for kind in _TOLD_BY_STAGES}
    if not message.is_conflict or message.kind in kinds:
        return False
    if message.kind != "CONFLICT (file/directory)":
        return True
    # git says it of a file, too, that nobody but the side with the directory has touched
    left = {stages.path for stages in merged.conflicts}
    return any(path in left or at.repository.entry(merged.tree, path) for path in message.paths)


def result_of(repository: Repository, made: TreeMerge) -> str:
    """The tree of a merge, written into this repository, with markers where it is in conflict."""
    wanted: dict[str, TreeEntry | None] = {}
    for file in made.files:
        if file.verdict == "skipped":  # git made it
            continue
        data = file.data
        if not file.writes:  # git's text where ours must not stand: what our driver was called for
            data = file.both.git if file.both else None
            if data is None:
                continue
        entry = None if data is None else TreeEntry(repository.store(data), file.mode)
        wanted[file.path] = entry
    return repository.with_files(made.merged.tree, wanted) if wanted else made.merged.tree
