"""What is written to an index, through git itself: it keeps the resolve-undo records.

`git checkout -m PATH` brings a conflict back after `git add`, because git notes the three stages
when it replaces them. libgit2 drops these notes, so it is never asked to write an index.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from kmerge_git.errors import GitFailed
from kmerge_git.git.call import run, to_its_end
from kmerge_git.git.conflicts import Stages
from kmerge_git.git.sides import TreeEntry


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
    command = ["git", "--literal-pathspecs", *argv]
    with to_its_end() as came:
        done = run(command, cwd=worktree, input=stdin, capture_output=True, env=env)
    if came:
        raise KeyboardInterrupt
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace")
        hint = ""
        if "index.lock" in message:  # git's advice is longer than its reason
            message, hint = (
                message.strip().partition("\n")[0],
                "another git process holds the index",
            )
        raise GitFailed(["git", *argv], done.returncode, message, hint=hint)
