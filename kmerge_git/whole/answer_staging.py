"""Save the answers of an unfinished `kmerge resolve`, then write and stage the answered files.

Each answer is saved in git's directory under the id of its conflict. The id is made from all
three versions, so an answer to another merge never counts for this merge. If the process is
killed, no answer is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from kmerge_git.atomic_files import content, read_text, replace_file
from kmerge_git.errors import KmergeError, Refused, UsageError
from kmerge_git.git import index_stages
from kmerge_git.git.index_stages import Operation, Stages, resolved_conflicts
from kmerge_git.git.line_merges import LineMerges
from kmerge_git.git.manifests import is_selected
from kmerge_git.git.merge_sides import merged_mode
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import git
from kmerge_git.merge.three import Three
from kmerge_git.whole.both_merges import Job, SettingsOf, merge_all
from kmerge_git.whole.conflict_questions import Answer
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.moved_edits import is_proposal
from kmerge_git.whole.operation import current_operation
from kmerge_git.whole.solving import SolvePlan, WorkTree, carry_out

FILE = "kmerge-answers"
# git writes these files when an operation stops, and keeps them until the operation ends
_BEGUN = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "AUTO_MERGE",
)


class SavedAnswers:
    """Hold the saved answers by path and id, and the digests of the files that kmerge wrote."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder  # if None, nothing is saved
        self.answers: dict[str, dict[str, Answer]] = {}
        self.written: dict[str, list[str]] = {}
        self._load()
        # the answers of this process: another process may answer at the same time
        self._own = {path: dict(answers) for path, answers in self.answers.items()}

    def is_ours(self, path: str, data: bytes) -> bool:
        """Return whether an earlier run wrote this content to the file."""
        return digest(data) in self.written.get(path, ())

    def forget_older(self) -> None:
        """Forget the answers if they were given before the operation in progress began."""
        if self._folder:
            begun = max(_written_at(self._folder / name) for name in _BEGUN)
            if _written_at(self._folder / FILE) < begun:
                self.forget({*self.answers, *self.written})

    def remember(self, path: str, answers: Mapping[str, Answer]) -> None:
        """Save the answers of a file; do not overwrite answers that another process has saved."""
        self._load()
        before = self._own.get(path, {})
        others = self.answers.get(path, {}).items()
        kept = {id_: one for id_, one in others if id_ in answers or id_ not in before}
        new = {id_: one for id_, one in answers.items() if before.get(id_) != one}
        self.answers[path] = kept | new
        self._own[path] = dict(answers)
        self._save()

    def will_write(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Save the digests of the files that will be written to the working tree."""
        self._load()
        for path, data in files:
            self.written[path] = [*self.written.get(path, [])[-1:], digest(data)]
        self._save()

    def forget(self, paths: Iterable[str]) -> None:
        """Forget the answers and digests of the given files."""
        gone = set(paths)
        self._load()
        for path in gone:
            self._own.pop(path, None)
        if gone & (self.answers.keys() | self.written.keys()):
            self.answers = {k: v for k, v in self.answers.items() if k not in gone}
            self.written = {k: v for k, v in self.written.items() if k not in gone}
            self._save()

    def _save(self) -> None:
        if self._folder is None:
            return
        file = self._folder / FILE
        answers = {
            path: {id_: [one.how, one.text] for id_, one in of.items()}
            for path, of in self.answers.items()
            if of
        }
        if not answers and not self.written:
            file.unlink(missing_ok=True)
            return
        data = json.dumps({"schema": 1, "answers": answers, "written": self.written}).encode()
        replace_file(file, data, drafts=self._folder, durable=False)

    def _load(self) -> None:
        """Load the saved answers; leave out what no run of kmerge can have saved."""
        if self._folder is None:
            return
        try:
            saved = json.loads(read_text(self._folder / FILE) or "{}")
        except (ValueError, RecursionError):
            return
        self.answers = {
            path: {id_: Answer(*one) for id_, one in answers.items() if _is_answer(one)}
            for path, answers in _dict(saved, "answers").items()
            if isinstance(answers, dict)
        }
        self.written = {
            path: [digest for digest in digests if isinstance(digest, str)][-2:]
            for path, digests in _dict(saved, "written").items()
            if isinstance(digests, list)
        }


def _dict(saved: Any, name: str) -> dict[str, Any]:
    inner = saved.get(name) if isinstance(saved, dict) else None
    return inner if isinstance(inner, dict) else {}


def _is_answer(saved: Any) -> bool:
    is_pair = isinstance(saved, list) and len(saved) == 2 and isinstance(saved[0], str)
    return is_pair and (saved[1] is None or isinstance(saved[1], str))


def _written_at(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def digest(data: bytes) -> str:
    """Return the digest that identifies the content of a file."""
    return sha256(data).hexdigest()


class IndexStaging:
    """Write files to the working tree and the index of a stopped merge."""

    def __init__(
        self, repository: Repository, plan: SolvePlan, saved: SavedAnswers, paths: Iterable[str]
    ) -> None:
        self._repository = repository
        self._worktree = repository.worktree or ""
        self._plan = plan
        self._saved = saved
        self._stages = {stages.path: stages for stages in repository.conflicts()}
        self._staged: set[str] = set()
        self._seen = {path: self._digest(path) for path in paths}  # digests when last seen
        for known in (saved.answers, saved.written):
            saved.forget(known.keys() - self._stages.keys())

    def refuse_unwritable(self) -> None:
        """Raise an error if a conflicted file or the index cannot be written now."""
        files = (os.path.join(self._worktree, path) for path in self._stages)
        index_stages.refuse_unwritable(self._repository.git_dir, files)

    def content(self, path: str) -> bytes:
        """Return the content of a file in the working tree."""
        return content(Path(self._worktree), path) or b""

    def is_touched(self, path: str) -> bool:
        """Return whether a file may hold answers that the user has taken back."""
        return path in self._staged or path in self._saved.written

    def stage(self, path: str) -> None:
        """Stage the present content of a file in the working tree."""
        is_sparse = ("core.sparsecheckout", "true") in self._repository.settings()
        index_stages.stage_files(self._worktree, [path], sparse=is_sparse)
        self._staged.add(path)

    def write(self, asked: Sequence[FileMerge], settled: Sequence[FileMerge]) -> None:
        """Write the files with answers and the files without questions; stage the decided files."""
        self.refuse_unwritable()
        self._refuse_ended(asked)
        self._refuse_handwork(asked)
        # git cannot stage the deletion of a file twice
        again = [
            file.path
            for file in asked
            if file.path in self._staged and (file.verdict != "solved" or file.data is None)
        ]
        index_stages.mark_unmerged(self._worktree, [self._stages[path] for path in again])
        self._staged.difference_update(again)
        # save the digests of decided files, too: the process may be killed before they are staged
        self._saved.will_write(
            (file.path, self._repository.to_worktree(file.path, file.data))
            for file in asked
            if file.data is not None
        )
        try:
            carry_out(self._repository, replace(self._plan, files=(*settled, *asked)))
        except KmergeError:  # another process may lock the index: the file is written all the same
            ours = (f for f in asked if self._saved.is_ours(f.path, self.content(f.path)))
            self._seen |= {file.path: self._digest(file.path) for file in ours}
            raise
        self._seen |= {file.path: self._digest(file.path) for file in asked}
        self._staged.update(file.path for file in asked if file.verdict == "solved")

    def _refuse_ended(self, files: Sequence[FileMerge]) -> None:
        """Refuse to write a file if somebody has ended its conflict since the start."""
        now = {stages.path for stages in self._repository.conflicts()} | self._staged
        for path in (file.path for file in files):
            if path in self._stages and path not in now:
                hint = "run `git status` for details"
                raise Refused("this conflict was resolved by another command", path=path, hint=hint)

    def _refuse_handwork(self, files: Sequence[FileMerge]) -> None:
        """Refuse to overwrite a file that somebody edited while the questions were asked."""
        for path in (file.path for file in files):
            if self._digest(path) != self._seen[path]:
                hint = "take the file as it is on disk, or start the command again"
                raise Refused("the file was edited in the meantime", path=path, hint=hint)

    def _digest(self, path: str) -> str:
        data = content(Path(self._worktree), path)
        return "" if data is None else digest(data)


class FileStaging:
    """Write the file that git passed to the merge tool; never stage the file."""

    def __init__(self, path: str, data: bytes) -> None:
        self._file = Path(path)
        self._written = data

    def content(self, path: str) -> bytes:
        """Return the content of the file."""
        return self._file.read_bytes()

    def refuse_unwritable(self) -> None:
        """Do nothing, because git has just written the file."""

    def is_touched(self, path: str) -> bool:
        """Return True, so that the file is always written."""
        return True

    def stage(self, path: str) -> None:
        """Do nothing, because a merge tool does not stage its file."""

    def write(self, asked: Sequence[FileMerge], settled: Sequence[FileMerge]) -> None:
        """Write the file with its answers."""
        for file in asked:
            if self.content(file.path) != self._written:
                raise Refused(
                    "the file was edited in the meantime",
                    path=file.path,
                    hint="run `git mergetool` again",
                )
            data = file.data or b""
            if data != self._written:
                replace_file(self._file, data)
                self._written = data


# -- a resolved conflict is restored
#
# Git keeps the three versions of a resolved file even after the commit. So a conflict comes back
# only while its operation is in progress, or while the staged file is not committed. The index is
# written before the file, so nothing is lost if the process is killed in between.

_FORCE = "run `git add` first, or use --force to discard these edits"


@dataclass(frozen=True, slots=True)
class Undone:
    """Hold a file that is in conflict again; `was` is the id of the blob staged before, or ''."""

    path: str
    situation: str
    was: str = ""


def undo(repository: Repository, paths: Sequence[str], *, force: bool = False) -> list[Undone]:
    """Restore the conflicts of all given files, or of none; `force` discards unstaged work.

    If a file is still in conflict, discard the saved answers.
    """
    saved = SavedAnswers(Path(repository.git_dir))
    staged, begun = _chosen(repository, tuple(paths), saved)
    chosen = [*staged, *begun]
    for stages in chosen:
        if not all(entry.is_text for entry in stages.entries if entry):
            hint = "run `git checkout -m -- FILE` if both sides have the file"
            raise UsageError(stages.obstacle, path=stages.path, hint=hint)
    operation = current_operation(repository, tuple(chosen))
    settings = SettingsOf(repository, labels=operation.labels)
    settings.of_tree(operation.known_ours, chosen)
    files = [_in_conflict(repository, stages, settings) for stages in chosen]
    if not force:
        _refuse_committed(repository, operation, staged)
        _refuse_work(repository, staged)
        tree = WorkTree(repository, settings, force=False, is_ours=saved.is_ours)
        _refuse_handwork(tree, files[len(staged) :])
    before = [repository.staged(stages.path) for stages in chosen]
    index_stages.mark_unmerged(repository.worktree or "", staged)
    carry_out(repository, SolvePlan(operation, tuple(files)))
    saved.forget(stages.path for stages in chosen)
    pairs = zip(chosen, before, strict=True)
    return [Undone(s.path, s.situation, entry.oid if entry else "") for s, entry in pairs]


def _chosen(
    repository: Repository, paths: tuple[str, ...], saved: SavedAnswers
) -> tuple[list[Stages], list[Stages]]:
    """Return the selected resolved files, and the selected files with answers and conflicts."""
    conflicts = repository.conflicts()
    unmerged = {stages.path for stages in conflicts}
    staged = [s for s in resolved_conflicts(repository.worktree or "") if s.path not in unmerged]
    begun = [s for s in conflicts if saved.answers.get(s.path) or s.path in saved.written]
    names = {stages.path for stages in (*staged, *begun)}
    for path in paths:  # report a path that selects no file
        if not any(is_selected(name, (path,)) for name in names):
            raise _nothing_to_undo(path, unmerged)
    begun = [stages for stages in begun if is_selected(stages.path, paths)]
    return _with_partners(repository, staged, paths), begun


def _with_partners(
    repository: Repository, staged: list[Stages], paths: tuple[str, ...]
) -> list[Stages]:
    """Return the selected files; files that were decided together come back together.

    A resource that the sides moved to two files is decided in both files at once.
    """
    chosen = [stages for stages in staged if is_selected(stages.path, paths)]
    if not any(stages.is_proposal for stages in chosen):
        return chosen

    def waited(stages: Stages) -> bool:
        three = Three(*map(repository.text, stages.entries))
        return stages.is_proposal and is_proposal(three)

    if any(map(waited, chosen)):
        chosen += [stages for stages in staged if stages not in chosen and waited(stages)]
    return chosen


def _nothing_to_undo(path: str, unmerged: set[str]) -> UsageError:
    if any(is_selected(name, (path,)) for name in unmerged):
        hint = "run `kmerge resolve` to resolve the conflict"
        return UsageError(
            "the file is still in conflict: there is nothing to undo", path=path, hint=hint
        )
    hint = "run `git ls-files --resolve-undo` to list what can be undone"
    return UsageError("git has no record of a conflict in this file", path=path, hint=hint)


def _refuse_committed(repository: Repository, operation: Operation, chosen: list[Stages]) -> None:
    if operation.name:
        return
    head = repository.commit("HEAD").tree
    for stages in chosen:
        if repository.staged(stages.path) == repository.entry(head, stages.path):
            why = "no merge is in progress, and the file equals its last committed version"
            raise UsageError(why, path=stages.path, hint="use --force to restore its conflict")


def _refuse_work(repository: Repository, chosen: list[Stages]) -> None:
    """Refuse to overwrite unstaged work, which git has not saved."""
    top = Path(repository.worktree or "")
    # let git compare, which ignores line ends, filters and file dates
    words = ("diff", "--name-only", "--no-ext-diff", "--no-renames", "--no-relative", "-z")
    changed = {*git(*words, cwd=top).split("\0")}
    for stages in chosen:
        path = stages.path
        if path in changed if repository.staged(path) else os.path.lexists(top / path):
            raise UsageError("the file was edited after it was staged", path=path, hint=_FORCE)


def _refuse_handwork(tree: WorkTree, files: Sequence[FileMerge]) -> None:
    """Refuse to overwrite a file in conflict that somebody has edited."""
    for file in files:
        if tree.in_the_way(file.path, file.three, [file.data]):
            raise UsageError("the file was edited after the merge", path=file.path, hint=_FORCE)


def _in_conflict(repository: Repository, stages: Stages, settings: SettingsOf) -> FileMerge:
    """Return the file as a merge would leave it in conflict."""
    three = Three(*map(repository.text, stages.entries))
    data = three.ours if three.ours is not None else three.theirs
    if None not in (three.ours, three.theirs):
        data = _marked(stages.path, three, settings)
    mode = merged_mode(*stages.entries)
    path, situation = stages.path, stages.situation
    return FileMerge(path, situation, "conflict", "", data, mode, writes=True, three=three)


def _marked(path: str, three: Three[bytes | None], settings: SettingsOf) -> bytes:
    """Return kmerge's merge with markers or, if it has no conflict, git's line merge."""
    options = settings(path).but(favor="")
    if settings.takes(path):
        (both,) = merge_all([Job(three, options)], settings.timeout)
        return both.git if both.outcome.clean else both.outcome.text
    texts = three.map(lambda data: data or b"")
    text, count = LineMerges().merge_file(texts.each(), options)
    return text if count >= 0 else texts.ours
