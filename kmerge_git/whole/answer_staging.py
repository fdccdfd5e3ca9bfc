"""Write files with the answers to their conflicts, and stage those that are decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from kmerge_git.atomic_files import content, replace_file
from kmerge_git.errors import KmergeError, Refused
from kmerge_git.git import index_stages
from kmerge_git.git.repository import Repository
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.saved_answers import SavedAnswers, digest
from kmerge_git.whole.solving import SolvePlan, carry_out


class IndexStaging:
    """The working tree and the index of a stopped merge."""

    def __init__(
        self, repository: Repository, plan: SolvePlan, saved: SavedAnswers, paths: Iterable[str]
    ) -> None:
        self._repository = repository
        self._worktree = repository.worktree or ""
        self._plan = plan
        self._saved = saved
        self._stages = {stages.path: stages for stages in repository.conflicts()}
        self._staged: set[str] = set()
        self._seen = {path: self._digest(path) for path in paths}  # files as they were last seen
        for known in (saved.answers, saved.written):
            saved.forget(known.keys() - self._stages.keys())

    def content(self, path: str) -> bytes:
        """Return what a file of the working tree holds."""
        return content(Path(self._worktree), path) or b""

    def is_touched(self, path: str) -> bool:
        """Return whether a file may hold answers that were taken back since."""
        return path in self._staged or path in self._saved.written

    def stage(self, path: str) -> None:
        """Stage a file as it is in the working tree."""
        is_sparse = ("core.sparsecheckout", "true") in self._repository.settings()
        index_stages.stage_files(self._worktree, [path], sparse=is_sparse)
        self._staged.add(path)

    def write(self, asked: Sequence[FileMerge], settled: Sequence[FileMerge]) -> None:
        """Write files with their answers, and those that need none; stage what is decided."""
        self._refuse_ended(asked)
        self._refuse_handwork(asked)
        # git does not stage a second time that a file is gone
        again = [
            file.path
            for file in asked
            if file.path in self._staged and (file.verdict != "solved" or file.data is None)
        ]
        index_stages.mark_unmerged(self._worktree, [self._stages[path] for path in again])
        self._staged.difference_update(again)
        # the digest of a decided file, too: a kill may come before it is staged
        self._saved.will_write(
            (file.path, self._repository.to_worktree(file.path, file.data))
            for file in asked
            if file.data is not None
        )
        try:
            carry_out(self._repository, replace(self._plan, files=(*settled, *asked)))
        except KmergeError:  # the index may be held by another: the file is written all the same
            ours = (f for f in asked if self._saved.is_ours(f.path, self.content(f.path)))
            self._seen |= {file.path: self._digest(file.path) for file in ours}
            raise
        self._seen |= {file.path: self._digest(file.path) for file in asked}
        self._staged.update(file.path for file in asked if file.verdict == "solved")

    def _refuse_ended(self, files: Sequence[FileMerge]) -> None:
        """Refuse to write for a conflict that somebody else has ended."""
        now = {stages.path for stages in self._repository.conflicts()} | self._staged
        for path in (file.path for file in files):
            if path in self._stages and path not in now:
                hint = "`git status` says more"
                raise Refused("somebody has ended this conflict meanwhile", path=path, hint=hint)

    def _refuse_handwork(self, files: Sequence[FileMerge]) -> None:
        """Refuse to overwrite what somebody did in a file while the questions were asked."""
        for path in (file.path for file in files):
            if self._digest(path) != self._seen[path]:
                hint = "take it as it stands, or start again"
                raise Refused("it was edited meanwhile", path=path, hint=hint)

    def _digest(self, path: str) -> str:
        data = content(Path(self._worktree), path)
        return "" if data is None else digest(data)


class FileStaging:
    """The one file of a merge tool: no index knows of it, or git stages it."""

    def __init__(self, path: str, data: bytes) -> None:
        self._file = Path(path)
        self._written = data

    def content(self, path: str) -> bytes:
        """Return what the file holds."""
        return self._file.read_bytes()

    def is_touched(self, path: str) -> bool:
        """Return that the file has to be written whatever was answered."""
        return True

    def stage(self, path: str) -> None:
        """Let the file be as it is."""

    def write(self, asked: Sequence[FileMerge], settled: Sequence[FileMerge]) -> None:
        """Write the file with its answers."""
        for file in asked:
            if self.content(file.path) != self._written:
                raise Refused("it was edited meanwhile", path=file.path)
            data = file.data or b""
            if data != self._written:
                replace_file(self._file, data)
                self._written = data
