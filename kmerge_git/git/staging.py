"""What is written to an index, through git itself: it keeps the resolve-undo records.

`git checkout -m PATH` brings a conflict back after `git add`, because git notes the three stages
when it replaces them. libgit2 drops these notes, so it is never asked to write an index.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable

from kmerge_git.errors import GitFailed
from kmerge_git.git.conflicts import Stages


def stage_files(worktree: str, paths: Iterable[str], *, sparse: bool = False) -> None:
    """Record the files as they are in the working tree, a missing one as deleted.

    `sparse`: the checkout is sparse; git then has to be told that every path is meant.
    """
    listing = "\0".join(paths).encode("utf-8", "surrogateescape")
    if listing:
        # -f: a file that is tracked is staged even where a pattern would ignore it
        argv = ["add", "-A", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"]
        _git(worktree, argv + (["--sparse"] if sparse else []), listing)


def mark_unmerged(worktree: str, files: Iterable[Stages]) -> None:
    """Give the files three stages, so that an abort puts them back whatever happens next."""
    lines: list[str] = []
    for file in files:
        lines.append(f"0 {'0' * 40} 0\t{file.path}")
        for stage, entry in enumerate(file.entries, 1):
            if entry:
                lines.append(f"{entry.mode:o} {entry.oid} {stage}\t{file.path}")
    if lines:
        listing = "\0".join([*lines, ""]).encode("utf-8", "surrogateescape")
        _git(worktree, ["update-index", "-z", "--index-info"], listing)


def _git(worktree: str, argv: list[str], stdin: bytes) -> None:
    command = ["git", "--literal-pathspecs", *argv]
    done = subprocess.run(command, cwd=worktree, input=stdin, capture_output=True, check=False)
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace")
        hint = "another git process holds the index" if "index.lock" in message else ""
        raise GitFailed(["git", *argv], done.returncode, message, hint=hint)
