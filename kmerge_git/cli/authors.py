"""Find the last change of a conflict's lines on each side, and its author."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmerge_git.bounds import SAME_LINES
from kmerge_git.errors import KmergeError
from kmerge_git.git.repository import last_change

if TYPE_CHECKING:
    from kmerge_git.git.index_stages import Operation
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.conflict_questions import Question

# what git may call the commit whose tree is theirs
_NAMES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD^")


class Authors:
    """The authors of both sides of an operation."""

    def __init__(self, repository: Repository, operation: Operation) -> None:
        self._repository = repository
        self._trees = {"ours": operation.ours, "theirs": operation.theirs}
        self._revisions = self._commits(operation) if operation.is_known else {}

    def of(self, question: Question) -> dict[str, str]:
        """Return `a1b2c3d4e5 Ada: subject` by side, where that is known for sure."""
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
        """Return the commits whose trees are merged; of a stash the one that git made of it."""
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
        """Return the first and the last line of each place where a side has these lines."""
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
