"""The conflicted files of an index: what the stages say about how each conflict came about."""

from __future__ import annotations

from dataclasses import dataclass

from kmerge_git.git.mine import by_labels
from kmerge_git.git.sides import Entries, TreeEntry

# which of the stages 1, 2 and 3 are there
_SITUATIONS: dict[tuple[bool, ...], str] = {
    (True, True, True): "both modified",
    (False, True, True): "both added",
    (True, False, True): "deleted by us",
    (True, True, False): "deleted by them",
    (True, False, False): "renamed to two names",
    (False, True, False): "added by us",
    (False, False, True): "added by them",
}


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages 1, 2 and 3 of a path in the index."""

    path: str
    base: TreeEntry | None
    ours: TreeEntry | None
    theirs: TreeEntry | None

    @property
    def entries(self) -> Entries:
        """The three stages in their order."""
        return self.base, self.ours, self.theirs

    @property
    def situation(self) -> str:
        """How the conflict came about, in the words of `git status`."""
        return _SITUATIONS[tuple(entry is not None for entry in self.entries)]

    @property
    def obstacle(self) -> str:
        """Why the contents cannot be merged at all, or nothing."""
        for entry in self.entries:
            if entry and not entry.is_text:
                kind = "symbolic link" if entry.mode == 0o120000 else "submodule"
                return f"a {kind} on one side"
        if self.situation in ("renamed to two names", "added by us", "added by them"):
            return "renamed differently by the two sides: the name is yours to choose"
        return ""


# what ends an operation when nothing is unmerged any more
_FINISH = {
    "merge": "git commit",
    "squash": "git commit",
    "rebase": "git rebase --continue",
    "cherry-pick": "git cherry-pick --continue",
    "revert": "git revert --continue",
    "am": "git am --continue",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """The operation that stopped: its name, its three trees and git's words for the sides."""

    # merge, squash, rebase, cherry-pick, revert, am, stash, or '' where git left no trace
    name: str
    base: str
    ours: str
    theirs: str
    labels: tuple[str, str, str]  # base, ours, theirs

    @property
    def is_known(self) -> bool:
        """Whether git tells which trees were merged; else all three are the empty tree."""
        return not self.base == self.ours == self.theirs

    @property
    def mine(self) -> str:
        """The side whose change goes on top of the other's; nothing where there is none."""
        if self.name in ("merge", "squash"):
            return "ours"
        # a rebase may be at a merge that it makes anew
        is_known = self.name in ("rebase", "cherry-pick", "am")
        return by_labels(self.labels[0], self.labels[2]) if is_known else ""

    @property
    def finish(self) -> str:
        """The command that ends it; nothing where there is nothing to end (a stash)."""
        return _FINISH.get(self.name, "")
