"""Save the answers of an unfinished `kmerge resolve`, then write and stage the answered files.

Each answer is saved in git's directory under the id of its conflict. The id is made from all
three versions, so an answer to another merge never counts for this merge. If the process is
killed, no answer is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from kmerge_git.atomic_files import content, read_text, replace_file
from kmerge_git.errors import KmergeError, Refused
from kmerge_git.git import index_stages
from kmerge_git.git.repository import Repository
from kmerge_git.whole.conflict_questions import Answer
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.solving import SolvePlan, carry_out

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
                hint = "`git status` says more"
                raise Refused("somebody has ended this conflict meanwhile", path=path, hint=hint)

    def _refuse_handwork(self, files: Sequence[FileMerge]) -> None:
        """Refuse to overwrite a file that somebody edited while the questions were asked."""
        for path in (file.path for file in files):
            if self._digest(path) != self._seen[path]:
                hint = "take it as it stands, or start again"
                raise Refused("it was edited meanwhile", path=path, hint=hint)

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
                raise Refused("it was edited meanwhile", path=file.path)
            data = file.data or b""
            if data != self._written:
                replace_file(self._file, data)
                self._written = data
