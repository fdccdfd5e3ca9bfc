"""Read the conflicts from the stages of the index, and stage files.

The index is written only through git itself, which keeps the resolve-undo records: when git
replaces the three stages of a file, git notes the stages, so that `git checkout -m PATH` brings
the conflict back after `git add`. libgit2 drops these records, so libgit2 never writes an index.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from kmerge_git.errors import KmergeError
from kmerge_git.git.merge_sides import Entries, TreeEntry
from kmerge_git.git.run_git import HELD, WAIT, ask_git, git, to_its_end
from kmerge_git.git.sides import by_labels

# the words of `git status`, by the stages 1, 2 and 3 that exist
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
    """Hold the stages 1, 2 and 3 of a path in the index."""

    path: str
    base: TreeEntry | None
    ours: TreeEntry | None
    theirs: TreeEntry | None

    @property
    def entries(self) -> Entries:
        """Return the three stages in the order base, ours, theirs."""
        return self.base, self.ours, self.theirs

    @property
    def is_proposal(self) -> bool:
        """Return whether kmerge wrote these stages: git leaves no file in conflict with them.

        The stage of ours is then the result that kmerge proposes.
        """
        return self.base is not None and self.base == self.theirs

    @property
    def situation(self) -> str:
        """Return how the conflict came about, in the words of `git status`."""
        return _SITUATIONS[tuple(entry is not None for entry in self.entries)]

    @property
    def obstacle(self) -> str:
        """If the contents cannot be merged at all, return the reason; otherwise return ''."""
        for entry in self.entries:
            if entry and not entry.is_text:
                kind = "symbolic link" if entry.mode == 0o120000 else "submodule"
                return f"one side has a {kind}"
        if self.situation in ("renamed to two names", "added by us", "added by them"):
            return "the two sides renamed the file differently: choose one name"
        return ""


def read_stages(lines: Iterable[str]) -> tuple[Stages, ...]:
    """Parse git's lines `MODE ID STAGE<tab>PATH` into the stages of each path."""
    entries: dict[str, list[TreeEntry | None]] = {}
    for line in lines:
        about, _, path = line.partition("\t")
        mode, oid, stage = about.split()
        entries.setdefault(path, [None] * 3)[int(stage) - 1] = TreeEntry(oid, int(mode, 8))
    return tuple(Stages(path, *three) for path, three in entries.items())


def resolved_conflicts(top: str) -> tuple[Stages, ...]:
    """Return the staged files that were in conflict; git remembers the conflicts until a commit."""
    listed = git("-C", top, "ls-files", "--resolve-undo", "-z", "--full-name")
    return read_stages(listed.split("\0")[:-1])


# the command that ends an operation when no file is unmerged any more
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
    """Hold the operation that stopped: its name, its three trees and git's names of the sides."""

    # merge, squash, rebase, cherry-pick, revert, am, stash, or '' where git left no trace; or
    # `vendor update`
    name: str
    base: str
    ours: str
    theirs: str
    labels: tuple[str, str, str]  # base, ours, theirs
    package: str = ""  # the directory of an updated package

    @property
    def is_known(self) -> bool:
        """Return whether git names the merged trees; otherwise all three are the empty tree."""
        return not self.base == self.ours == self.theirs

    @property
    def known_ours(self) -> str:
        """Return the tree of ours, or '' if it is unknown."""
        return self.ours if self.is_known else ""

    @property
    def mine(self) -> str:
        """Return the side whose change goes on top of the other side's change, or ''."""
        if self.name in ("merge", "squash"):
            return "ours"
        # a rebase may be at a merge that it makes anew
        is_known = self.name in ("rebase", "cherry-pick", "am")
        return by_labels(self.labels[0], self.labels[2]) if is_known else ""

    @property
    def finish(self) -> str:
        """Return the command that finishes the operation, or '' for a stash."""
        if self.package:
            return f"kmerge vendor update {shlex.quote(self.package)} --continue"
        return _FINISH.get(self.name, "")


def refuse_unwritable(git_dir: str, files: Iterable[str] = ()) -> None:
    """Raise an error if the index cannot be written now, or a file cannot be replaced.

    A command asks this before it writes the first file, so that no file is written and not staged.
    """
    lock = os.path.join(git_dir, "index.lock")
    if os.path.lexists(lock):
        raise KmergeError(HELD.format(lock), hint=WAIT)
    for folder in dict.fromkeys([git_dir, *map(_existing_folder, files)]):
        if not os.access(folder, os.W_OK):
            why = (
                "the disk is read-only"
                if _is_read_only(folder)
                else "kmerge cannot write to this folder"
            )
            raise KmergeError(why, path=folder, hint="nothing was changed")


def _is_read_only(folder: str) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _existing_folder(file: str) -> str:
    folder = os.path.dirname(file)
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def stage_files(worktree: str, paths: Iterable[str], *, sparse: bool = False) -> None:
    """Stage the files as they are in the working tree; stage a missing file as deleted.

    `sparse` means that the checkout is sparse: git then needs an option to stage every path.
    """
    names = [*paths]
    if names:
        # -f: a file that is tracked is staged even where a pattern would ignore it
        argv = ["add", "-A", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"]
        _git(worktree, argv + (["--sparse"] if sparse else []), names)


def stage_entries(worktree: str, files: Iterable[tuple[str, TreeEntry | None]]) -> None:
    """Stage the given entries, whatever is in the working tree; None means a deleted file.

    The modes and bytes are those of the merge, even if the checkout cannot keep them.
    """
    _update(worktree, [_entry_line(path, entry) for path, entry in files])


def mark_unmerged(worktree: str, files: Iterable[Stages]) -> None:
    """Give each file its three stages in the index, so that an abort can restore the file."""
    lines: list[str] = []
    for file in files:
        stages = [(number, entry) for number, entry in enumerate(file.entries, 1) if entry]
        # mode 0 removes the path; the id must only have the length of this repository's ids
        lines += [_entry_line(file.path, TreeEntry(entry.oid, 0)) for _, entry in stages[:1]]
        lines += [_entry_line(file.path, entry, number) for number, entry in stages]
    _update(worktree, lines)


def check_out(worktree: str, scratch: str, files: Sequence[tuple[str, TreeEntry]]) -> None:
    """Let git write files into the working tree, using git's configured filters and encodings.

    `scratch` is the name of a temporary index, because the real index keeps the conflicts.
    """
    env = os.environ | {"GIT_INDEX_FILE": scratch}
    try:
        _update(worktree, [_entry_line(path, entry) for path, entry in files], env)
        _git(worktree, ["checkout-index", "-f", "-z", "--stdin"], [path for path, _ in files], env)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(scratch)


_NO_ID = "0" * 40


def _entry_line(path: str, entry: TreeEntry | None, stage: int = 0) -> str:
    """Return a line for `git update-index`; without an entry the line removes the path."""
    entry = entry or TreeEntry(_NO_ID, 0)
    return f"{entry.mode:o} {entry.oid} {stage}\t{path}"


def _update(worktree: str, lines: list[str], env: dict[str, str] | None = None) -> None:
    removed = f"0 {_NO_ID} "
    if any(line.startswith(removed) for line in lines):
        named = git("rev-parse", "--show-object-format", cwd=worktree).strip()
        longer = f"0 {'0' * 64} " if named == "sha256" else removed
        lines = [
            longer + line.removeprefix(removed) if line.startswith(removed) else line
            for line in lines
        ]
    if lines:
        _git(worktree, ["update-index", "-z", "--index-info"], lines, env)


def _git(
    worktree: str, argv: list[str], words: list[str], env: dict[str, str] | None = None
) -> None:
    command = ("--literal-pathspecs", *argv)
    listing = "\0".join([*words, ""])
    with to_its_end() as came:
        answer = ask_git(*command, cwd=worktree, stdin=listing, env=env or os.environ)
    if came:
        raise KeyboardInterrupt
    answer.checked()
