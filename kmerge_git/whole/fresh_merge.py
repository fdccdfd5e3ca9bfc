"""Settle and stage all manifests that git has just left in conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kmerge_git.git.index_stages import Operation, Stages
from kmerge_git.git.line_merges import LineMerges, MergedLines
from kmerge_git.git.merge_command import MergeSite, Start, out_of_the_way, unmerged
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.whole.both_merges import SettingsOf, merge_on_cores
from kmerge_git.whole.conflicted_files import Scene, two_modes, why_left, with_way
from kmerge_git.whole.settled_moves import settle
from kmerge_git.whole.solving import SolvePlan, WorkTree, is_converted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.outcome import Labels


@dataclass(frozen=True, slots=True)
class Task:
    """Hold the merge that git has begun, and git's configuration for merges."""

    repository: Repository
    place: MergeSite
    labels: Labels
    favor: str | None
    config: list[tuple[str, str]]


def plan_merge(task: Task, start: Start) -> SolvePlan:
    """Plan the result for every file that git left in conflict, without writing any file."""
    repository, place = task.repository, task.place
    settings = SettingsOf(repository, task.favor, task.labels, task.config, "ours")
    conflicts = unmerged()
    repository.expect(stages.path for stages in conflicts)
    base = repository.commit(place.bases[0]).tree if place.bases else None
    sides = (repository.commit(oid).tree for oid in (place.ours, place.theirs))
    trees = Three[str | None](base, *sides)
    settings.of_tree(trees.ours or "", conflicts)
    options = _Labelled(repository, settings, trees, conflicts)
    tree = WorkTree(repository, settings, force=False)
    scene = Scene(
        repository,
        trees,
        conflicts,
        repository.staged,
        options,
        partial(_work, repository, settings, tree, LineMerges()),
        tree.is_as_staged,
        merge_on_cores,
        settings.timeout,
        is_fresh=True,
        deletes=settings.deletes,
        filters=True,  # git gives filtered files to its driver, too
    )
    ours = {stages.path for stages in conflicts if _is_ours(stages, settings, start)}
    others = {
        stages.path: with_way(*why_left(repository, stages, settings.refusal(stages.path)))
        for stages in conflicts
        if stages.path not in ours
    }
    done = settle(scene, lambda path: path not in others)
    # like the driver, write our version without markers where a file is `kept`
    files = tuple(
        replace(file, writes=True) if file.method == "kept" and file.data is not None else file
        for file in done.files
    )
    operation = Operation("merge", base or "", trees.ours or "", trees.theirs or "", task.labels)
    return SolvePlan(operation, files, others, tuple(settings.problems), notes=done.notes)


def _is_ours(stages: Stages, settings: SettingsOf, start: Start) -> bool:
    """Return whether git gave the file to the driver, or had nothing to give of a manifest."""
    if stages.path in out_of_the_way(start.answer.out):
        return False
    if stages.path in start.given:
        return True
    is_not_given = None in (stages.ours, stages.theirs) or two_modes(stages)
    return bool(is_not_given) and settings.takes(stages.path)


class _Labelled:
    """Return the merge options for a path, with git's side labels if the file was renamed."""

    def __init__(
        self,
        repository: Repository,
        settings: Callable[[str], Options],
        trees: Three[str | None],
        conflicts: Sequence[Stages],
    ) -> None:
        self._repository = repository
        self._settings = settings
        self._trees = trees
        self._stages = {stages.path: stages for stages in conflicts}
        self._names: dict[str, dict[str, list[str]]] = {}

    def __call__(self, path: str) -> Options:
        options = self._settings(path)
        stages = self._stages.get(path)
        if stages is None or None in (stages.ours, stages.theirs):
            return options
        places = [
            self._place(tree, path, entry.oid) if tree and entry else ""
            for tree, entry in zip(self._trees.each(), stages.entries, strict=True)
        ]
        if all(place in ("", path) for place in places):
            return options
        base, ours, theirs = (
            f"{label}:{place}" if place else label
            for label, place in zip(options.labels, places, strict=True)
        )
        return options.but(labels=(base, ours, theirs))

    def _place(self, tree: str, path: str, oid: str) -> str:
        """Return the path of a file on one side; find a renamed file by its blob id."""
        if self._repository.entry(tree, path):
            return path
        if tree not in self._names:  # read all names once, as a renamed folder has many files
            self._names[tree] = _names_by_text(tree)
        names = self._names[tree].get(oid, [])
        return names[0] if len(names) == 1 else ""


def _names_by_text(tree: str) -> dict[str, list[str]]:
    """Return the paths of the files in a tree, grouped by blob id."""
    names: dict[str, list[str]] = {}
    for entry in ask_git("ls-tree", "-r", "-z", "--full-tree", tree).out.split("\0")[:-1]:
        kind, _, name = entry.partition("\t")
        names.setdefault(kind.rpartition(" ")[2], []).append(name)
    return names


def _work(
    repository: Repository,
    options: Callable[[str], Options],
    tree: WorkTree,
    lines: LineMerges,
    path: str,
    three: Three[bytes | None],
    texts: Iterable[bytes | None],
) -> str:
    """If somebody has changed a file since git wrote it, return the reason to skip it; else ''."""
    if is_converted(repository, path):
        return ""  # only git knows the converted text in the working tree
    versions = three.map(lambda data: data or b"").each()
    merged = MergedLines(lines, versions, options(path).but(favor=""))
    # markers are not made for this: without them `in_the_way` knows a text that git has left
    if merged.clean and tree.is_as_staged(path, repository.to_worktree(path, merged.text)):
        return ""
    return tree.in_the_way(path, three, texts)
