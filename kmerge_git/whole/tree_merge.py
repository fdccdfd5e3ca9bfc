"""Merge two commits without a working tree: git merges, then kmerge settles git's conflicts."""

from __future__ import annotations

from dataclasses import dataclass

from kmerge_git.errors import Unsupported
from kmerge_git.git.index_stages import Stages
from kmerge_git.git.merge_sides import TreeEntry
from kmerge_git.git.repository import Commit, Repository
from kmerge_git.git.scratch_merges import MergedTree, Message, Scratch, merge_tree
from kmerge_git.merge.three import Three
from kmerge_git.whole.both_merges import SettingsOf, merge_all, merge_on_cores
from kmerge_git.whole.conflicted_files import FileMerge, Scene
from kmerge_git.whole.settled_moves import settle

# conflicts about the content or the deletion of a file, which the stages of the file show
_TOLD_BY_STAGES = ("contents", "binary", "modify/delete", "rename/delete")


@dataclass(frozen=True, slots=True)
class Sides:
    """Hold the three trees of a merge, and the two commits if git can find the merge base."""

    trees: Three[str]
    ours: str = ""
    theirs: str = ""
    tip: str = ""  # the tree in which the commits end of which theirs is one

    @classmethod
    def of_commits(cls, repository: Repository, base: str, ours: Commit, theirs: Commit) -> Sides:
        """Return the sides of a merge of two commits."""
        trees = Three(repository.commit(base).tree, ours.tree, theirs.tree)
        if repository.is_criss_cross(base, ours.oid, theirs.oid):
            return cls(trees)
        return cls(trees, ours.oid, theirs.oid)

    @property
    def is_made_up(self) -> bool:
        """Return whether git cannot find the base, because there is no history or several bases."""
        return not self.ours


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """Hold git's merge of trees, and the files that kmerge or a person settles."""

    merged: MergedTree
    files: tuple[FileMerge, ...]  # manifests that both sides changed
    others: tuple[Stages, ...]  # conflicts that no merge of manifests settles
    stuck: tuple[Message, ...]  # conflicts about names of files and folders
    notes: tuple[str, ...] = ()  # about resources that one side moved and the other side deleted

    @property
    def is_clean(self) -> bool:
        """Return whether no conflict is left for a person."""
        solved = all(file.verdict == "solved" for file in self.files)
        return solved and not self.others and not self.stuck


def base_of(repository: Repository, ours: Commit, theirs: Commit) -> str | None:
    """Return the merge base, or None if there is none; refuse a shallow clone without a base."""
    base = repository.merge_base(ours.oid, theirs.oid)
    if base is None and repository.is_shallow:
        why = "the common ancestor is missing: this is a shallow clone"
        raise Unsupported(why, hint="run `git fetch --unshallow`")
    return base


def merge_trees(
    at: Scratch,
    sides: Sides,
    settings: SettingsOf,
    *,
    is_timed: bool = True,
    on_all_cores: bool = False,
    with_text: bool = False,
) -> TreeMerge:
    """Merge two commits.

    With `is_timed`, the time limit of the settings applies. With `on_all_cores`, many files are
    merged in forked processes. With `with_text`, git merges the texts.
    """
    ours, theirs, base = sides.ours, sides.theirs, None
    if sides.is_made_up:
        base, ours, theirs = sides.trees.each()
    merged = merge_tree(at, ours, theirs, base=base, with_text=with_text)
    stuck = tuple(message for message in merged.messages if _is_stuck(at, merged, message))
    named = {path for message in stuck for path in message.paths}
    others = tuple(s for s in merged.conflicts if s.path in named or not settings.takes(s.path))
    left = {stages.path for stages in others}
    scene = Scene(
        at.repository,
        Three[str | None](*sides.trees.each()),
        merged.conflicts,
        lambda path: at.repository.entry(merged.tree, path),
        settings,
        merge_all=merge_on_cores if on_all_cores else merge_all,
        seconds=settings.timeout if is_timed else 0.0,
        is_fresh=True,
        tip=sides.tip,
        deletes=settings.deletes,
    )
    done = settle(scene, lambda path: path not in left)
    files = done.files
    if not with_text and (stuck or any(file.verdict == "skipped" for file in files)):
        # Git has to merge the files that kmerge does not write. For a conflict about a name, git
        # merges the content first, so a stage can hold the result of that merge.
        return merge_trees(
            at, sides, settings, is_timed=is_timed, on_all_cores=on_all_cores, with_text=True
        )
    return TreeMerge(merged, files, others, stuck, done.notes)


def _is_stuck(at: Scratch, merged: MergedTree, message: Message) -> bool:
    kinds = {f"CONFLICT ({kind})" for kind in _TOLD_BY_STAGES}
    if not message.is_conflict or message.kind in kinds:
        return False
    if message.kind != "CONFLICT (file/directory)":
        return True
    # git also reports a file that only the side with the directory has changed
    left = {stages.path for stages in merged.conflicts}
    return any(path in left or at.repository.entry(merged.tree, path) for path in message.paths)


def result_of(repository: Repository, made: TreeMerge) -> str:
    """Write the result of a merge, with markers for conflicts, and return the id of the tree."""
    wanted: dict[str, TreeEntry | None] = {}
    for file in made.files:
        if file.verdict == "skipped" or not (file.writes or file.both):  # git's tree has it
            continue
        # if our text must not be written, take git's line merge
        data = file.data if file.writes or file.both is None else file.both.git
        wanted[file.path] = None if data is None else TreeEntry(repository.store(data), file.mode)
    return repository.with_files(made.merged.tree, wanted) if wanted else made.merged.tree
