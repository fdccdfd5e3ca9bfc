"""All manifests of a merge at once: what git left in conflict a moment ago, settled and staged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kmerge_git.git.index_stages import Operation, Stages
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.git.merge_command import MergeSite, Start, out_of_the_way, unmerged
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.whole.conflicted_files import FileMerge, Scene, settle
from kmerge_git.whole.cores import merge_on_cores
from kmerge_git.whole.path_options import SettingsOf
from kmerge_git.whole.solving import SolvePlan, WorkTree, is_converted

Labels = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """A merge that is to be made, and what git's configuration says about merges."""

    repository: Repository
    place: MergeSite
    labels: Labels
    favor: str | None
    config: list[tuple[str, str]]


def plan_merge(task: Task, start: Start) -> SolvePlan:
    """Decide about everything that git left in conflict; nothing is written."""
    repository, place = task.repository, task.place
    settings = SettingsOf(repository, task.favor, task.labels, task.config, "ours")
    conflicts = unmerged()
    base = repository.commit(place.bases[0]).tree if place.bases else None
    sides = (repository.commit(oid).tree for oid in (place.ours, place.theirs))
    trees = Three[str | None](base, *sides)
    options = _Labelled(repository, settings, trees, conflicts)
    scene = Scene(
        repository,
        trees,
        conflicts,
        repository.staged,
        options,
        _JustMerged(repository, settings),
        merge_on_cores,
        settings.timeout,
        filters=True,  # git gives them to its driver as well
    )
    ours = {stages.path for stages in conflicts if _is_ours(stages, settings, start)}
    files = tuple(map(_as_the_driver, settle(scene, ours.__contains__)))
    others = tuple(stages.path for stages in conflicts if stages.path not in ours)
    operation = Operation("merge", base or "", trees.ours or "", trees.theirs or "", task.labels)
    return SolvePlan(operation, files, others, tuple(settings.problems))


def _is_ours(stages: Stages, settings: SettingsOf, start: Start) -> bool:
    """Whether git gave the file to the driver, or never asked one because a side deleted it."""
    if stages.path in out_of_the_way(start.answer.out):
        return False
    if stages.path in start.given:
        return True
    return None in (stages.ours, stages.theirs) and settings.takes(stages.path)


def _as_the_driver(file: FileMerge) -> FileMerge:
    """A sealed file holds ours, unmarked."""
    if file.method == "kept" and file.data is not None:
        return replace(file, writes=True)
    return file


class _Labelled:
    """The settings of a path, with the names that git gives to the sides of a renamed file."""

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
        """Where a side has the text; where it has the file elsewhere, by the text alone."""
        if self._repository.entry(tree, path):
            return path
        if tree not in self._names:  # of all files, once: a folder that is renamed has many
            self._names[tree] = _names_by_text(tree)
        names = self._names[tree].get(oid, [])
        return names[0] if len(names) == 1 else ""


def _names_by_text(tree: str) -> dict[str, list[str]]:
    """The files of a tree, by the ids of their texts."""
    found: dict[str, list[str]] = {}
    for entry in ask_git("ls-tree", "-r", "-z", "--full-tree", tree).out.split("\0")[:-1]:
        kind, _, name = entry.partition("\t")
        found.setdefault(kind.rpartition(" ")[2], []).append(name)
    return found


class _JustMerged:
    """The working tree right after git's part: what git wrote there needs no second look."""

    def __init__(self, repository: Repository, options: Callable[[str], Options]) -> None:
        self._repository = repository
        self._tree = WorkTree(repository, options, force=False)
        self._options = options
        self._lines = Libgit2LineMerge()

    def in_the_way(
        self, path: str, three: Three[bytes | None], made: Iterable[bytes | None]
    ) -> str:
        """As in `WorkTree`: work that somebody did there meanwhile."""
        if is_converted(self._repository, path):
            return ""  # what git makes of its text in the working tree only git knows
        texts = three.map(lambda data: data or b"").each()
        text, count = self._lines.merge_file(*texts, self._options(path).but(favor=""))
        text = self._repository.to_worktree(path, text)
        if count >= 0 and self._tree.is_as_staged(path, text):
            return ""
        return self._tree.in_the_way(path, three, made)

    def is_as_staged(self, path: str, data: bytes) -> bool:
        """As in `WorkTree`."""
        return self._tree.is_as_staged(path, data)
