"""Solve the conflicts of the index: first make a plan, then write and stage the files.

The process can be killed at any step. Files that were not in conflict first get three stages, so
that an abort restores them. Then every file is replaced in one step, and at the end git stages
the solved files. A file that holds somebody's work is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kmerge_git.atomic_files import content, read_text, replace_file
from kmerge_git.errors import KmergeError
from kmerge_git.git import index_stages
from kmerge_git.git.index_stages import Operation, Stages, resolved_conflicts
from kmerge_git.git.line_merges import LineMerges
from kmerge_git.git.manifests import is_selected
from kmerge_git.git.merge_sides import TreeEntry
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES, Options
from kmerge_git.text.markers import has_new_conflict, marker_size_for, resolve
from kmerge_git.text.opaque_files import holds_seal
from kmerge_git.whole.both_merges import SettingsOf
from kmerge_git.whole.conflicted_files import BY_MARKERS, FileMerge, Scene, why_left, with_way
from kmerge_git.whole.operation import current_operation, tip_of
from kmerge_git.whole.settled_moves import settle

BY_RERERE = "resolved by rerere: check the file, then run `git add`"
EDITED = "edited after the merge: run `git add`, or `git checkout -m FILE` to start again"


@dataclass(frozen=True, slots=True)
class Wishes:
    """Hold the options that the user gave."""

    paths: tuple[str, ...] = ()
    favor: str | None = None
    json: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class SolvePlan:
    """Hold the files to solve, and the conflicts that are left alone."""

    operation: Operation
    files: tuple[FileMerge, ...]
    others: Mapping[str, str] = field(default_factory=dict)  # path to reason
    problems: tuple[str, ...] = ()  # invalid settings
    options: Callable[[str], Options] = Options
    notes: tuple[str, ...] = ()  # about resources that one side moved and the other side deleted

    @property
    def is_solved(self) -> bool:
        """Return whether no selected manifest remains in conflict."""
        return all(file.verdict == "solved" for file in self.files)


def make_plan(
    repository: Repository,
    wishes: Wishes,
    *,
    is_ours: Callable[[str, bytes], bool] = lambda path, found: False,
) -> SolvePlan:
    """Plan the result for every manifest in conflict, without writing any file.

    `is_ours` returns whether an unfinished `kmerge resolve` wrote the content of a file.
    """
    operation = current_operation(repository)
    options = SettingsOf(repository, wishes.favor, operation.labels, mine=operation.mine)
    conflicts = repository.conflicts()
    options.of_tree(operation.known_ours, conflicts)
    others = {}
    for stages in conflicts:
        refusal = options.refusal(stages.path, json=wishes.json)
        why = with_way(*why_left(repository, stages, refusal)) if refusal else ""
        why = why or _refusal_of_name(repository, operation, stages)
        if why:
            others[stages.path] = why
    tree = WorkTree(repository, options, force=wishes.force, is_ours=is_ours)
    scene = Scene(
        repository,
        Three(operation.base, operation.ours, operation.theirs) if operation.is_known else None,
        conflicts,
        repository.staged,
        options,
        tree.in_the_way,
        tree.is_as_staged,
        seconds=options.timeout,
        favors_deletions=True,
        tip=tip_of(repository, operation),
        deletes=options.deletes,
        resolved=lambda: resolved_conflicts(repository.worktree or ""),
    )
    done = settle(scene, lambda path: path not in others and is_selected(path, wishes.paths))
    return SolvePlan(operation, done.files, others, tuple(options.problems), options, done.notes)


def _refusal_of_name(repository: Repository, operation: Operation, stages: Stages) -> str:
    """If a person has to choose the name of a file, return the reason; otherwise return ''.

    Git only suggests some names, and its stages do not show which. To solve the content of such
    a file would accept the suggested name.
    """
    if not operation.is_known or None in (stages.ours, stages.theirs):
        return ""
    there = [repository.entry(tree, stages.path) for tree in (operation.ours, operation.theirs)]
    if stages.base is None and all(there):
        oids = [entry.oid for entry in there if entry]
        is_added = oids == [entry.oid for entry in stages.entries if entry]
        return "" if is_added else f"two files were renamed to this name: {BY_MARKERS}"
    if stages.base is not None and any(there):
        return ""
    # one side has the name of a renamed file, and both sides have the name of an added file
    wanted = [v for k, v in repository.settings() if k.lower() == "merge.directoryrenames"]
    is_asked = (wanted or ["conflict"])[-1].lower() == "conflict"
    why = "one side renamed the file's folder; choose the path of the file and run `git add`"
    return why if is_asked else ""


class WorkTree:
    """Find out which files on the disk somebody has edited since the merge."""

    def __init__(
        self,
        repository: Repository,
        options: Callable[[str], Options],
        *,
        force: bool,
        is_ours: Callable[[str, bytes], bool] = lambda path, found: False,
    ) -> None:
        self._top = Path(repository.worktree or "")
        self._repository = repository
        self._tree = repository.noted("AUTO_MERGE")
        self._options = options
        self._force = force
        self._is_ours = is_ours
        self._lines = LineMerges()

    def in_the_way(
        self, path: str, three: Three[bytes | None], texts: Iterable[bytes | None]
    ) -> str:
        """If somebody has edited a file since the merge, return the reason to skip it, else ''."""
        if any((self._top / folder).is_symlink() for folder in Path(path).parents):
            return "a parent folder is now a symbolic link"
        if self._force:
            return ""
        data = content(self._top, path)
        if data is None or self._is_ours(path, data):
            return ""
        left = self._left_by_git(path)
        if left is not None and _plain(left) == _plain(data):
            return ""
        size = self._options(path).marker_size
        if is_left_by_a_merge(data, three, texts, self._lines, size, may_be_side=left is None):
            return ""
        return BY_RERERE if self._is_by_rerere(path, three, left) else EDITED

    def _left_by_git(self, path: str) -> bytes | None:
        """Return a file as in AUTO_MERGE, the tree that git wrote in the merge, if it is there."""
        if not self._tree:
            return None
        try:
            entry = self._repository.entry(self._tree, path)
            return self._repository.text(entry) if entry is not None and entry.is_text else None
        except (KmergeError, ValueError):  # the recorded tree has been deleted
            return None

    def _is_by_rerere(self, path: str, three: Three[bytes | None], left: bytes | None) -> bool:
        """Return whether rerere saw the markers of a file, and lists the file no more."""
        versions = [(data or b"").decode("latin-1") for data in three.each()]
        is_marked = left is None or has_new_conflict(left.decode("latin-1"), versions)
        if None in (three.ours, three.theirs) or not is_marked:
            return False
        listed = Path(self._repository.git_dir, "MERGE_RR")  # `ID<tab>PATH` and NUL for each
        paths = {line.partition("\t")[2] for line in read_text(listed).split("\0")}
        return listed.exists() and path not in paths

    def is_as_staged(self, path: str, data: bytes) -> bool:
        """Return whether a file without a conflict has its staged content on the disk."""
        try:
            present = content(self._top, path)
        except KmergeError:  # the path is a folder or not readable
            return False
        if present is not None:
            return _plain(present) == _plain(data)
        # a missing file is as staged only if a sparse checkout left it out
        answer = ask_git("ls-files", "-t", "-z", "--", f":(top,literal){path}", cwd=self._top)
        return answer.out.startswith("S ")


def carry_out(repository: Repository, plan: SolvePlan, *, fresh: bool = False) -> None:
    """Write and stage the files of a plan; an interruption at any step loses nothing.

    `fresh` means that git has just written every file. Then no write waits for the disk, as in git,
    and the merge result itself is staged instead of the checked-out file.
    """
    worktree = repository.worktree or ""
    writes = [file for file in plan.files if file.writes]
    targets = (os.path.join(worktree, file.path) for file in writes)
    index_stages.refuse_unwritable(repository.git_dir, targets)
    # with these stages `git checkout -m` can show the conflict that was solved
    moved = [file for file in writes if file.stages]
    index_stages.mark_unmerged(worktree, [_stages(repository, file) for file in moved])
    by_git: list[tuple[str, TreeEntry]] = []
    for file in writes:
        if file.data is not None and (b"\0" in file.data or is_converted(repository, file.path)):
            by_git.append((file.path, _stored(repository, file.data, file)))
            continue
        try:
            _write(repository, worktree, file, durable=not fresh)
        except OSError as error:
            hint = "nothing was staged: make the file writable and try again"
            raise KmergeError(error.strerror or str(error), path=file.path, hint=hint) from error
    if by_git:
        index_stages.check_out(worktree, f"{repository.git_dir}kmerge-index-{os.getpid()}", by_git)
    _stage(repository, [file for file in writes if file.verdict == "solved"], fresh=fresh)


def _stage(repository: Repository, files: Sequence[FileMerge], *, fresh: bool) -> None:
    worktree = repository.worktree or ""
    if fresh:
        entries = (
            (f.path, _stored(repository, f.data, f) if f.data is not None else None) for f in files
        )
        index_stages.stage_entries(worktree, entries)
        return
    sparse = ("core.sparsecheckout", "true") in repository.settings()
    index_stages.stage_files(worktree, [file.path for file in files], sparse=sparse)


def _stages(repository: Repository, file: FileMerge) -> Stages:
    three = file.stages.each() if file.stages else ()
    entries = (None if data is None else _stored(repository, data, file) for data in three)
    return Stages(file.path, *entries)


def _stored(repository: Repository, data: bytes, file: FileMerge) -> TreeEntry:
    return TreeEntry(repository.store(data), file.mode)


def is_converted(repository: Repository, path: str) -> bool:
    """Return whether a filter or an encoding attribute lets only git write a file."""
    names = ("filter", "working-tree-encoding")
    return any(repository.attribute(path, name) not in (None, "unset") for name in names)


def _write(repository: Repository, worktree: str, file: FileMerge, *, durable: bool) -> None:
    target = Path(worktree, file.path)
    if file.data is None:
        target.unlink(missing_ok=True)
        return
    replace_file(
        target,
        repository.to_worktree(file.path, file.data),
        drafts=repository.git_dir,  # a draft left by a killed process does no harm there
        new_mode=0o777 if file.mode & 0o111 else 0o666,
        durable=durable,
        parents=True,
    )


def is_left_by_a_merge(
    data: bytes | None,
    three: Three[bytes | None],
    merged: Iterable[bytes | None],
    lines: LineMerges,
    size: int = 7,
    *,
    may_be_side: bool = True,
) -> bool:
    """Return whether a file is missing, equals one side, or is the result of a merge.

    Such a file can be overwritten, except one side of an encrypted file, or a side if it is known
    that git left something else (`may_be_side`): somebody took this side. Labels and conflict
    styles may differ, so markers are resolved to each side before the file is compared with git's
    merge and with the texts in `merged`.
    """
    if data is None:
        return True
    plain = _plain(data)
    sizes = _sizes(three, size)
    versions = [side for side in three.each() if side]
    is_side = plain in map(_plain, versions)
    if is_side and (may_be_side or holds_seal(*versions)):
        return not holds_seal(*versions)  # a person begins with one side of an encrypted file
    for text in (_plain(text) for text in merged if text is not None):
        if any(_readings(plain, size) == _readings(text, size) for size in sizes):
            return True
    sides = three.map(lambda side: side or b"")
    # compare with line ends, too: if one side changed them, every line is in conflict
    return any(
        _is_left(text, of, lines, size)
        for text, of in ((plain, sides.map(_plain)), (data, sides))
        for size in sizes
    )


def _sizes(three: Three[bytes | None], size: int) -> set[int]:
    """Return the sizes of the markers that git and kmerge give to a conflict in a file."""
    texts = three.map(lambda data: (data or b"").decode("latin-1"))
    sides = (texts.ours, texts.theirs)
    return {size, marker_size_for(sides, size), marker_size_for(texts.each(), size)}


def _is_left(text: bytes, three: Three[bytes], lines: LineMerges, size: int) -> bool:
    found = _readings(text, size)
    last = text[:-1].rpartition(b"\n")[2]
    is_ended = text.endswith(b"\n") and last.startswith(b">" * size)
    for patience in (False, True):
        ours, theirs = lines.readings(three.each(), patience=patience)
        if is_ended:  # git ends the line before a marker
            ours, theirs = _ended(ours), _ended(theirs)
        if found == (ours, theirs):
            return True
    return False


def _ended(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"


def _plain(data: bytes) -> bytes:
    """Return a text with the line ends that git stores."""
    return data.replace(b"\r\n", b"\n")


def _readings(data: bytes, size: int) -> tuple[bytes, bytes]:
    """Return two texts: all conflicts resolved to ours, and all resolved to theirs."""
    text = data.decode("utf-8", "surrogateescape")
    ours, theirs = (resolve(text, side, size).encode("utf-8", "surrogateescape") for side in SIDES)
    return ours, theirs
