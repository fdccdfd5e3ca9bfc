"""Find the commit and the author that last changed the lines of a conflict, for each side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmerge_git.bounds import SAME_LINES
from kmerge_git.errors import KmergeError
from kmerge_git.git.repository import last_change

if TYPE_CHECKING:
    from kmerge_git.git.index_stages import Operation
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.conflict_questions import Question

# the refs that may name the commit of theirs
_NAMES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD^")


class Authors:
    """Find the authors of the two sides of a merge, rebase or other operation."""

    def __init__(self, repository: Repository, operation: Operation) -> None:
        self._repository = repository
        self._trees = {"ours": operation.ours, "theirs": operation.theirs}
        self._revisions = self._commits(operation) if operation.is_known else {}

    def of(self, question: Question) -> dict[str, str]:
        """Return a text like `a1b2c3d4e5 Ada: subject` by side, if the last change is certain."""
        authors = {}
        for side, revision in self._revisions.items():
            lines = question.conflict.ours if side == "ours" else question.conflict.theirs
            changes = {
                last_change(self._repository.worktree or ".", revision, question.path, *span)
                for span in self._spans(side, question.path, lines)
            }
            change = changes.pop() if len(changes) == 1 else None
            if change is not None:
                authors[side] = f"{change[0]} {change[1]}: {change[2]}"
        return authors

    def _commits(self, operation: Operation) -> dict[str, str]:
        """Return the commit of each side; for a stash, theirs is the commit of `git stash`."""
        commits = {"ours": "HEAD"}
        for name in (*_NAMES, *(self._repository.stashes() if operation.name == "stash" else ())):
            try:
                commit = self._repository.commit(name)
            except KmergeError:
                continue
            if commit.tree == operation.theirs:
                return commits | {"theirs": commit.oid}
        return commits

    def _spans(self, side: str, path: str, lines: str) -> list[tuple[int, int]]:
        """Find lines in a side's file; return the first and last line number of each place."""
        entry = self._repository.entry(self._trees[side], path)
        if not lines or entry is None:
            return []
        text = "\n" + self._repository.blob(entry.oid).decode("utf-8", "replace")
        text = text.replace("\r\n", "\n")
        wanted = "\n" + lines.removesuffix("\n")
        spans = []
        at = text.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if text[end : end + 1] in ("", "\n"):
                first = text.count("\n", 0, at + 1)
                spans.append((first, first + wanted.count("\n") - 1))
            at = text.find(wanted, end)
        return spans if len(spans) <= SAME_LINES else []
