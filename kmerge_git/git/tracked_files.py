"""Read the files of the index and of commits: their names, bytes and attributes.

Two readers give the same answers. libgit2 reads without another process, but importing libgit2
costs more time than a dozen starts of a bare interpreter, so a few files are read through one `git
cat-file --batch`. That process also reads what libgit2 refuses (sha256, reftable). Both readers
honour `GIT_INDEX_FILE`, which git gives to hooks, because `git commit -a` has an index of its own.
"""

from __future__ import annotations

import os

from kmerge_git.bounds import LIBGIT2_FILES
from kmerge_git.errors import GitFailed, KmergeError, UsageError
from kmerge_git.git.run_git import ask_git, git_bytes
from kmerge_git.git.spawned_git import show_call, started
from kmerge_git.git.touched_files import SUBMODULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from kmerge_git.git.repository import Repository


class ThroughGit:
    """Read blobs through a running `git cat-file --batch`."""

    def __init__(self, top: str) -> None:
        import subprocess

        argv = ["git", "-C", top, "cat-file", "--batch"]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=nothing)
        show_call(argv, None, started())
        assert process.stdin and process.stdout
        self._top, self._process = top, process
        self._into, self._out = process.stdin, process.stdout

    def read(self, name: str) -> bytes | None:
        """Return the blob that `:0:PATH`, `HEAD:PATH` or an id names, or None if there is none."""
        if "\n" in name:  # a line break would end the name
            answer = ask_git("-C", self._top, "cat-file", "blob", name)
            return None if answer.code else answer.data
        self._into.write(os.fsencode(name) + b"\n")
        self._into.flush()
        header = self._out.readline()
        if not header:
            raise GitFailed(["git", "cat-file", "--batch"], 1, "it ended early")
        parts = header.split()
        if len(parts) != 3 or not parts[2].isdigit():
            return None
        return self._out.read(int(parts[2]) + 1)[:-1] if parts[1] == b"blob" else None

    def __del__(self) -> None:
        self._into.close()
        self._out.close()
        self._process.wait()


class ThroughLibgit2:
    """Read blobs through libgit2 in this process."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def read(self, name: str) -> bytes | None:
        """Return the blob that `:0:PATH`, `HEAD:PATH` or an id names, or None if there is none."""
        at = self._repository
        if ":" not in name:
            return at.blob(name)
        revision, _, path = name.removeprefix(":0").partition(":")
        try:
            entry = at.entry(at.commit(revision).tree, path) if revision else at.staged(path)
        except UsageError:  # before the first commit
            return None
        return None if entry is None or entry.mode == SUBMODULE else at.text(entry)


Blobs = ThroughGit | ThroughLibgit2  # read by the names that git takes, paths from the top


def blobs_of(top: str, files: int = 0) -> Blobs:
    """Return the reader of blobs that is faster for this number of files."""
    if files < LIBGIT2_FILES:
        return ThroughGit(top)
    from kmerge_git.git.repository import Repository

    try:
        return ThroughLibgit2(Repository.open(top))
    except KmergeError:
        return ThroughGit(top)


def top_of_tree() -> str | None:
    """Return the top of the working tree around the current folder, or None outside of a tree."""
    try:
        top = git_bytes("rev-parse", "--show-toplevel")
    except (GitFailed, UsageError):
        return None
    return os.fsdecode(top.removesuffix(b"\n")) or None


def staged_paths(top: str, both: Collection[str]) -> list[str]:
    """Return the files that the next commit adds or changes, as paths from the top.

    `both` are the files that both sides of an unfinished merge changed. These files count as well:
    a file that was resolved to ours as a whole equals the last commit, and yet a change may be
    lost.
    """
    flags = ("--cached", "--name-only", "-z", "--no-renames", "--diff-filter=ACMT")
    changed = names_in(git_bytes("-C", top, "diff", *flags))
    merged = sorted(set(both) & set(tracked(top))) if both else []
    return list(dict.fromkeys(changed + merged))


def tracked(top: str, *patterns: str) -> list[str]:
    """Return the tracked files that match the patterns, as paths from the top."""
    return names_in(git_bytes("-C", top, "ls-files", "-z", "--", *patterns))


def committed(top: str, revision: str) -> list[str]:
    """Return the files of a commit, as paths from the top."""
    return names_in(
        git_bytes("-C", top, "ls-tree", "-r", "-z", "--full-tree", "--name-only", revision)
    )


def names_in(out: bytes) -> list[str]:
    """Split the names that git prints with `-z`."""
    return [os.fsdecode(name) for name in out.split(b"\0") if name]
