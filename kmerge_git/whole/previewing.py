"""Preview a merge or rebase, file by file; no branch and no file is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from kmerge_git.errors import Unsupported, UsageError
from kmerge_git.git.repository import Commit, Repository
from kmerge_git.git.scratch_merges import Message, Scratch
from kmerge_git.git.unasked import unasked
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Decision
from kmerge_git.whole.both_merges import DRIVER, Result, SettingsOf
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.raised_charts import in_words, raised_alike
from kmerge_git.whole.tree_merge import Sides, TreeMerge, base_of, merge_trees, result_of

Mode = Literal["merge", "rebase"]
State = Literal["merge", "fast-forward", "up to date"]
_KINDS = {"both modified": "changed by both", "both added": "added by both"}


@dataclass(frozen=True, slots=True)
class FilePreview:
    """Hold the preview of a file that both sides changed."""

    path: str
    kind: str
    result: Result
    git_clean: bool
    note: str = ""
    method: str = ""
    conflicts: tuple[Conflict, ...] = ()
    driver: bool = False  # `git merge` uses our driver for this file in this clone
    decided: tuple[Decision, ...] = ()  # decisions of a policy or of a favoured side
    chosen: tuple[str, ...] = ()  # the same decisions in words
    old: str = ""  # the name of the file in the base, if it was renamed
    texts: tuple[bytes, bytes] | None = None  # git's text and kmerge's, if they differ
    asks: bool = False  # a person can answer the conflicts one by one

    @property
    def situation(self) -> str:
        """The changes of both sides, in the words of `kmerge merge` and `kmerge resolve`."""
        return next((known for known, kind in _KINDS.items() if kind == self.kind), self.kind)


@dataclass(frozen=True, slots=True)
class Step:
    """Hold one three-way merge: the whole merge, or one commit of a rebase."""

    title: str
    commit: str
    criss_cross: bool
    files: tuple[FilePreview, ...]
    tree: str = ""  # the result of a clean rebase step; deleted with the scratch folder
    notes: tuple[str, ...] = ()  # about resources that one side moved and the other side deleted

    @property
    def is_clean(self) -> bool:
        """Return whether no file is in conflict."""
        return all(file.result != "conflict" for file in self.files)


@dataclass(frozen=True, slots=True)
class Preview:
    """Hold the steps of a merge or rebase; a rebase stops at the first step with a conflict."""

    mode: Mode
    state: State
    ours: str
    theirs: str
    base: str
    steps: tuple[Step, ...] = ()
    untried: int = 0
    kept: str = ""  # the id of the resulting tree, if the caller wanted one
    unasked: tuple[str, ...] = ()  # files that git merges otherwise: no attribute asks our driver

    @property
    def is_clean(self) -> bool:
        """Return whether the merge or rebase would have no conflict."""
        return all(step.is_clean for step in self.steps)

    @property
    def beyond_git(self) -> int:
        """The number of clean files that `git merge` would leave in conflict in this clone.

        Git does not use the driver for these files, or the driver cannot see that a resource moved.
        """
        files = [file for step in self.steps for file in step.files]
        solved = [f for f in files if f.result in ("resolved", "moved") and not f.git_clean]
        return sum(f.result == "moved" or not f.driver for f in solved)


def preview_merge(
    repository: Repository,
    at: Scratch,
    ours: Commit,
    theirs: Commit,
    settings: SettingsOf,
    *,
    keep: bool = False,
) -> Preview:
    """Preview the merge of `theirs` into `ours`; with `keep`, store the resulting tree."""
    preview = without_steps("merge", repository, ours, theirs)
    if preview.state != "merge":
        newest = ours if preview.state == "up to date" else theirs
        return replace(preview, kept=newest.tree) if keep else preview
    sides = Sides.of_commits(repository, preview.base, ours, theirs)
    if sides.is_made_up and keep:
        why = "a merge with several merge bases needs a working tree"
        raise Unsupported(why, hint="run `git merge` with the kmerge driver")
    merge = merge_trees(at, sides, settings, on_all_cores=True)
    files = files_of(at.repository, sides.trees, merge)
    notes = (*merge.notes, *_raised(at.repository, sides.trees))
    step = Step(theirs.subject, theirs.oid, sides.is_made_up, files, notes=notes)
    if keep:
        at.hand_over(merge.merged.tree, (ours.tree, theirs.tree), repository)
    kept = result_of(repository, merge) if keep else ""
    onto = "" if settings.into == "HEAD" else ours.tree
    return _with_drivers(replace(preview, steps=(step,), kept=kept), repository, settings, onto)


def _raised(repository: Repository, trees: Three[str]) -> Iterator[str]:
    """Yield a note for each chart that both sides raised to one version."""
    ours, theirs = (repository.changes(trees.base, side) for side in (trees.ours, trees.theirs))

    def is_there(path: str) -> bool:
        return any(repository.entry(tree, path) for tree in (trees.ours, trees.theirs))

    for path, version, files in raised_alike(ours, theirs, repository.blob, is_there):
        yield f"warning: {path}: {in_words(version, files)}"


def preview_rebase(
    repository: Repository, at: Scratch, ours: Commit, upstream: Commit, settings: SettingsOf
) -> Preview:
    """Preview a rebase of the commit `ours` onto the upstream."""
    preview = without_steps("rebase", repository, ours, upstream)
    if preview.state == "up to date":
        own = repository.commits(f"{upstream.oid}..{ours.oid}")
        if any(len(commit.parents) > 1 for commit in own):
            preview = replace(preview, state="merge")  # the rebase flattens the merges
    if preview.state != "merge":
        return preview
    todo = _commits_to_replay(repository, ours, upstream)
    steps: list[Step] = []
    tree = upstream.tree
    for commit in todo:
        trees = Three(repository.commit(commit.parents[0]).tree, tree, commit.tree)
        merge = merge_trees(at, Sides(trees, tip=ours.tree), settings)
        files = files_of(at.repository, trees, merge)
        steps.append(
            Step(
                commit.subject,
                commit.oid,
                False,
                files,
                notes=(*merge.notes, *_raised(at.repository, trees)),
            )
        )
        if not steps[-1].is_clean:
            break
        tree = result_of(at.repository, merge)
        steps[-1] = replace(steps[-1], tree=tree)
    preview = replace(preview, steps=tuple(steps), untried=len(todo) - len(steps))
    return _with_drivers(preview, repository, settings, upstream.tree)


def without_steps(mode: Mode, repository: Repository, ours: Commit, theirs: Commit) -> Preview:
    """Return a preview without steps, which is complete if one commit contains the other."""
    base = base_of(repository, ours, theirs)
    if base is None:
        hint = "`git merge` would need --allow-unrelated-histories"
        raise UsageError("the two histories have no common ancestor", hint=hint)
    state: State = "merge"
    if base in (ours.oid, theirs.oid):
        state = "up to date" if base == theirs.oid else "fast-forward"
    return Preview(mode, state, ours.oid, theirs.oid, base)


def _commits_to_replay(repository: Repository, ours: Commit, upstream: Commit) -> list[Commit]:
    """Return the commits that `git rebase` picks, the oldest first.

    Merges and commits whose change is already upstream are left out. Empty commits are kept.
    """
    there, mine = (
        [commit for commit in repository.commits(f"{left}..{right}") if len(commit.parents) == 1]
        for left, right in ((ours.oid, upstream.oid), (upstream.oid, ours.oid))
    )
    ids = repository.patch_ids([*there, *mine])
    known = {ids[commit.oid] for commit in there} - {""}
    return [commit for commit in reversed(mine) if ids[commit.oid] not in known]


def files_of(read: Repository, trees: Three[str], merge: TreeMerge) -> tuple[FilePreview, ...]:
    """Return the merged files that both sides changed, and all files in conflict."""
    names = _Names(read, trees)
    arrived = [file for file in merge.files if file.situation == "moved resource"]
    rows = [_of_ours(file, names) for file in merge.files if file not in arrived]
    ours = {file.path for file in merge.files}
    rows += [
        FilePreview(path, "changed by both", "clean", True, names.note(path), "lines")
        for path in merge.merged.merged
        if path not in ours
    ]
    rows += _left(merge, names)
    rows.sort(key=lambda row: row.path)
    return (*rows, *(_of_ours(file, names) for file in arrived))


@dataclass(frozen=True)
class _Names:
    """Find the old names of files that one side renamed."""

    read: Repository
    trees: Three[str]

    def note(self, path: str) -> str:
        """Return `renamed from old.yaml` if one side renamed the file, otherwise ''."""
        old = self.old(path)
        return f"renamed from {old}" if old else ""

    def old(self, path: str) -> str:
        """Return the name of a file in the base if one side renamed the file, otherwise ''."""
        return "" if self.read.entry(self.trees.base, path) else self._renamed.get(path, "")

    @cached_property
    def _renamed(self) -> dict[str, str]:
        sides = (self.trees.ours, self.trees.theirs)
        changes = [c for side in sides for c in self.read.changes(self.trees.base, side)]
        return {c.new_path: c.old_path for c in changes if c.old and c.new_path != c.old_path}


def _of_ours(file: FileMerge, names: _Names) -> FilePreview:
    note, is_improved = file.why, file.result == "improved"
    if not (file.both or file.moves or file.waits) and file.verdict == "conflict":
        note = ""  # the kind, `deleted by us`, is enough
    renamed = "" if file.moves or file.stages else names.note(file.path)
    if not file.is_whole:  # the reason of another conflict is shown with the conflict
        note = renamed or note
    elif renamed:
        note = f"{renamed}; {note}"
    return FilePreview(
        file.path,
        _KINDS.get(file.situation, file.situation),
        file.result,
        file.git_clean,
        note,
        file.method if file.both else "",
        file.conflicts,
        decided=tuple(d for d in file.decisions if d.is_settled),
        chosen=file.chosen,
        old=names.old(file.path),
        asks=file.asks,
        texts=(file.both.git, file.both.outcome.text) if is_improved and file.both else None,
    )


def _left(merge: TreeMerge, names: _Names) -> Iterator[FilePreview]:
    """Yield the conflicts that only a person can resolve."""
    seen: set[str] = set()
    for message in merge.stuck:
        if seen.isdisjoint(message.paths):
            yield _stuck(message)
        seen.update(message.paths)
    for stages in merge.others:
        if stages.path not in seen:
            is_by_lines = not stages.obstacle and stages.ours and stages.theirs
            yield FilePreview(
                stages.path,
                _KINDS.get(stages.situation, stages.situation),
                "conflict",
                False,
                stages.obstacle or names.note(stages.path),
                "lines" if is_by_lines else "",
            )


def _stuck(message: Message) -> FilePreview:
    """Return the preview of a conflict about file names."""
    kind = message.kind.removeprefix("CONFLICT (").removesuffix(")")
    first, *rest = message.paths
    if kind == "rename/rename" and len(rest) > 1:
        return FilePreview(first, "renamed to two names", "conflict", False, " and ".join(rest))
    if kind == "file/directory" and rest:  # the first path is git's temporary name
        note = f"git moves the file to {first}"
        return FilePreview(rest[-1], "file and directory", "conflict", False, note)
    return FilePreview(first, kind, "conflict", False, message.text.partition(": ")[2])


def _with_drivers(
    preview: Preview, repository: Repository, settings: SettingsOf, onto: str
) -> Preview:
    """Set `driver` on the files for which `git merge` uses kmerge's driver in this clone.

    `onto` is the tree that git checks out first, or '' to merge into the working tree as it is.
    """
    if not any(key.lower() == f"merge.{DRIVER}.driver" for key, _ in repository.settings()):
        return preview
    paths = list({file.path for step in preview.steps for file in step.files})
    left = unasked(repository.worktree, onto, paths) if repository.worktree and onto else None
    if left is None:
        left = {path: "" for path in paths if settings.driver(path) != DRIVER}
    steps = [
        replace(
            step, files=tuple(replace(file, driver=file.path not in left) for file in step.files)
        )
        for step in preview.steps
    ]
    differing = [
        file.path
        for step in steps
        for file in step.files
        if not file.driver and (file.asks or file.result in ("resolved", "improved"))
    ]
    return replace(preview, steps=tuple(steps), unasked=tuple(dict.fromkeys(differing)))
