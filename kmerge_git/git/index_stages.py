"""The stages of the index: the conflicts that they describe, and how files are staged.

All of it is written through git itself, which keeps the resolve-undo records: `git checkout -m
PATH` brings a conflict back after `git add`, because git notes the three stages when it
replaces them. libgit2 drops these notes, so it is never asked to write an index.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from kmerge_git.errors import GitFailed
from kmerge_git.git.run_git import ask_git, to_its_end
from kmerge_git.git.top_side import by_labels
from kmerge_git.git.touched_files import Entries, TreeEntry

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


def stage_files(worktree: str, paths: Iterable[str], *, sparse: bool = False) -> None:
    """Record the files as they are in the working tree, a missing one as deleted.

    `sparse`: the checkout is sparse; git then has to be told that every path is meant.
    """
    listing = "\0".join(paths).encode("utf-8", "surrogateescape")
    if listing:
        # -f: a file that is tracked is staged even where a pattern would ignore it
        argv = ["add", "-A", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"]
        _git(worktree, argv + (["--sparse"] if sparse else []), listing)


def stage_entries(worktree: str, files: Iterable[tuple[str, TreeEntry | None]]) -> None:
    """Record what the files are, None as deleted, without a look at the working tree.

    Their modes and bytes are those of the merge, whatever the checkout can keep of them.
    """
    nothing = TreeEntry("0" * 40, 0)
    entries = [(path, entry or nothing) for path, entry in files]
    if entries:
        lines = [f"{entry.mode:o} {entry.oid} 0\t{path}" for path, entry in entries]
        _git(worktree, ["update-index", "-z", "--index-info"], _listed(lines))


def mark_unmerged(worktree: str, files: Iterable[Stages]) -> None:
    """Give the files three stages, so that an abort puts them back whatever happens next."""
    lines: list[str] = []
    for file in files:
        lines.append(f"0 {'0' * 40} 0\t{file.path}")
        for stage, entry in enumerate(file.entries, 1):
            if entry:
                lines.append(f"{entry.mode:o} {entry.oid} {stage}\t{file.path}")
    if lines:
        _git(worktree, ["update-index", "-z", "--index-info"], _listed(lines))


def forget(worktree: str, paths: Iterable[str]) -> None:
    """Take paths out of the index, and leave the files."""
    lines = [f"0 {'0' * 40} 0\t{path}" for path in paths]
    if lines:
        _git(worktree, ["update-index", "-z", "--index-info"], _listed(lines))


def check_out(worktree: str, scratch: str, files: Sequence[tuple[str, TreeEntry]]) -> None:
    """Let git write files as it checks them out: filters of its configuration, encodings.

    `scratch` is the name of an index for this alone; the real one keeps the conflicts.
    """
    env = os.environ | {"GIT_INDEX_FILE": scratch}
    lines = [f"{entry.mode:o} {entry.oid} 0\t{path}" for path, entry in files]
    names = [path for path, _ in files]
    try:
        _git(worktree, ["update-index", "-z", "--index-info"], _listed(lines), env)
        _git(worktree, ["checkout-index", "-f", "-z", "--stdin"], _listed(names), env)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(scratch)


def _listed(words: Iterable[str]) -> bytes:
    return "\0".join([*words, ""]).encode("utf-8", "surrogateescape")


def _git(worktree: str, argv: list[str], stdin: bytes, env: dict[str, str] | None = None) -> None:
    command = ("--literal-pathspecs", *argv)
    with to_its_end() as came:
        answer = ask_git(*command, cwd=worktree, stdin=stdin, env=env or os.environ)
    if came:
        raise KeyboardInterrupt
    if answer.code:
        message, hint = answer.err, ""
        if "index.lock" in message:  # git's advice is longer than its reason
            message = message.strip().partition("\n")[0]
            hint = "another git process holds the index"
        raise GitFailed(["git", *argv], answer.code, message, hint=hint)
