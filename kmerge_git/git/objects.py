"""Read and write the objects of a repository: what kmerge needs of it, and the way by git itself.

libgit2 does the same in one process (`git.libgit2`). Git is asked where libgit2 is not installed
or refuses the repository: SHA-256 names, a reftable, an extension that it does not know.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from kmerge_git.errors import GitFailed, Unsupported
from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.git.run_git import (
    GIVEN,
    OFFLINE,
    GitAnswer,
    ask_git,
    ask_here,
    environment,
)
from kmerge_git.git.tracked_files import Blobs

FOLDER = 0o40000
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # in all repositories, whatever names it


class Objects(Protocol):
    """Read and write the objects of one repository; ids are hexadecimal.

    An object that is not here raises `Absent`, except where the result may be None.
    """

    worktree: str | None
    git_dir: str
    is_shallow: bool  # the history is cut off

    def close(self) -> None:
        """Close all files and end all processes; a process that is forked next shares none."""

    def find(self, name: str) -> tuple[str, str, bytes] | None:
        """Return id, kind and bytes of the object that an id or any name of git stands for."""

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry of the file at a path of a tree."""

    def walk(self, starts: Sequence[str], hidden: Sequence[str]) -> Iterator[str]:
        """Yield the commits that the starts reach and the hidden ones do not, newest first."""

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """Return the first merge base, or None if the histories are unrelated."""

    def has_other_bases(self, base: str, ours: str, theirs: str) -> bool:
        """Return whether the two commits have other merge bases besides `base`."""

    def changes(self, old: str | None, new: str, *, renames: bool) -> list[Change]:
        """Return the changes from one tree to another; `old` may be None for the empty tree."""

    def write(self, kind: str, data: bytes) -> str:
        """Write an object and return its id."""


class Absent(Exception):
    """Report the id of an object that is not here."""

    def __init__(self, oid: str) -> None:
        super().__init__(oid)
        self.oid = oid


# `could not fetch ID from promisor remote`, `unable to read tree (ID)`, `Could not read ID`
LOST = re.compile(r"(?:fetch |read |tree |object |\()([0-9a-f]{40,64})\b")
_RENAMES = ("-M50%", "-l400")  # the most pairs that libgit2 compares, too


def own_environment(*, alone: bool) -> dict[str, str]:
    """Return the environment for git; `alone` leaves out what binds it to another repository."""
    env = environment(any_repository=alone) | OFFLINE
    env["GIT_NO_REPLACE_OBJECTS"] = "1"  # as libgit2 reads, and as the scratch repository is
    if alone:
        env |= {name: os.environ[name] for name in GIVEN if name in os.environ}
        env.pop("GIT_ATTR_SOURCE", None)
    return env


def place_of(git_dir: str, worktree: str | None) -> list[str]:
    """Return the options that name a repository to git."""
    return [f"--git-dir={git_dir}", *([f"--work-tree={worktree}"] if worktree else ())]


class GitObjects:
    """Read and write the objects of one repository by git (see `Objects`)."""

    def __init__(self, path: str, *, alone: bool = False) -> None:
        self._env = own_environment(alone=alone)
        self.git_dir, self.worktree, self.is_shallow = self._find_place(path, alone=alone)
        self._words = place_of(self.git_dir, self.worktree)
        self._blobs: Blobs | None = None

    def _find_place(self, path: str, *, alone: bool) -> tuple[str, str | None, bool]:
        """Return the git directory, the top of the working tree, and whether it is shallow."""
        at = [f"--git-dir={path}"] if alone else []
        asked = ("--absolute-git-dir", "--is-shallow-repository", "--is-bare-repository")
        answer = ask_git(*at, "rev-parse", *asked, "--show-toplevel", cwd=path, env=self._env)
        words = answer.out.split("\n")[:-1]
        if len(words) < 3:
            ask_here("--git-dir", cwd=Path(path))  # raises the error that tells why
        if len(words) > 4:
            raise Unsupported("kmerge needs a repository path without a line break", path=path)
        git_dir, shallow, bare, *top = words
        # this folder may be inside of it
        if not top and bare == "false" and os.path.basename(git_dir) == ".git":
            top = [os.path.dirname(git_dir)]
        return f"{git_dir}/", top[0] if top else None, shallow == "true"

    def close(self) -> None:
        """End all processes."""
        self._blobs = None

    def find(self, name: str) -> tuple[str, str, bytes] | None:
        """Return id, kind and bytes of the object that an id or any name of git stands for."""
        if "\n" in name:  # a line break would end the name
            return None
        name = self._empty_tree if name == EMPTY_TREE else name
        if self._blobs is None:
            self._blobs = Blobs(self._cwd, words=self._words, env=self._env)
        try:
            return self._blobs.find(name)
        except GitFailed:  # in a partial clone git may end where it may not fetch
            self._blobs = None
            return None

    @property
    def _cwd(self) -> str:
        return self.worktree or self.git_dir

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry of the file at a path of a tree."""
        entry = TreeEntry(tree, FOLDER)
        for name in os.fsencode(path).split(b"/"):
            if entry.mode != FOLDER:
                return None
            found = self.find(entry.oid)
            if found is None:
                raise Absent(entry.oid)
            node = next((node for each, node in nodes(found[2], tree) if each == name), None)
            if node is None:
                return None
            entry = TreeEntry(node[1].hex(), node[0])
        return None if entry.mode == FOLDER else entry

    def walk(self, starts: Sequence[str], hidden: Sequence[str]) -> Iterator[str]:
        """Yield the commits that the starts reach and the hidden ones do not, newest first."""
        listing = "".join(f"{oid}\n" for oid in [*starts, *(f"^{oid}" for oid in hidden)])
        yield from self._asked("rev-list", "--date-order", "--stdin", stdin=listing).split()

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """Return the first merge base, or None if the histories are unrelated."""
        return next(iter(self._bases(ours, theirs)), None)

    def has_other_bases(self, base: str, ours: str, theirs: str) -> bool:
        """Return whether the two commits have other merge bases besides `base`."""
        return self._bases(ours, theirs) != [base]

    def _bases(self, ours: str, theirs: str) -> list[str]:
        return self._asked("merge-base", "--all", ours, theirs, none=1).split()

    def changes(self, old: str | None, new: str, *, renames: bool) -> list[Change]:
        """Return the changes from one tree to another; `old` may be None for the empty tree."""
        trees = [
            tree if tree != EMPTY_TREE else self._empty_tree for tree in (old or EMPTY_TREE, new)
        ]
        flags = ("-r", "-z", "--raw", "--no-abbrev", *(_RENAMES if renames else ()))
        words = iter(self._asked("diff-tree", *flags, *trees).split("\0")[:-1])
        return [change for word in words for change in _changes(word, words)]

    @property
    def _empty_tree(self) -> str:
        return self._asked("hash-object", "-t", "tree", "--stdin").strip()

    def write(self, kind: str, data: bytes) -> str:
        """Write an object and return its id."""
        return self._asked("hash-object", "-w", "-t", kind, "--stdin", stdin=data).strip()

    def _asked(self, *words: str, stdin: str | bytes = "", none: int = 0) -> str:
        """Return the output of git; exit code `none` is an answer, too."""
        answer = self._ask(*words, stdin=stdin)
        if answer.code and (lost := LOST.search(answer.err)):  # `none` may have this cause, too
            raise Absent(lost[1])
        return answer.out if answer.code == none else answer.checked().out

    def _ask(self, *words: str, stdin: str | bytes = "") -> GitAnswer:
        return ask_git(*self._words, *words, cwd=self._cwd, stdin=stdin, env=self._env)


Node = tuple[int, bytes]  # mode and id
_NODES = {size: re.compile(rb"(?s)([0-7]+) ([^\0]+)\0(.{%d})" % (size // 2)) for size in (40, 64)}


def nodes(data: bytes, oid: str) -> Iterator[tuple[bytes, Node]]:
    """Yield the names in a tree with their modes and ids; `oid` is any id of the repository."""
    found = _NODES[len(oid)].findall(data)
    if len(b"".join(map(b"".join, found))) + 2 * len(found) != len(data):
        raise ValueError("this is not a tree")
    return ((name, (int(mode, 8), each)) for mode, name, each in found)


def _changes(word: str, words: Iterator[str]) -> Iterator[Change]:
    """Parse a change that `git diff-tree -z` prints; the paths are the next words.

    A file that became a link was deleted and added, as libgit2 says.
    """
    old_mode, new_mode, old, new, status = word.removeprefix(":").split(" ")
    path = next(words)
    target = next(words) if status[0] in "RC" else path
    before = None if status[0] == "A" else TreeEntry(old, int(old_mode, 8))
    after = None if status[0] == "D" else TreeEntry(new, int(new_mode, 8))
    if status[0] == "T":
        yield Change(path, path, before, None)
        before = None
    yield Change(path, target, before, after)
