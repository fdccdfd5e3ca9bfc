"""What is written to an index, through git itself: it keeps the resolve-undo records.

`git checkout -m PATH` brings a conflict back after `git add`, because git notes the three stages
when it replaces them. libgit2 drops these notes, so it is never asked to write an index.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from kmerge_git.errors import GitFailed
from kmerge_git.git.changes import umask
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


def replace_file(worktree: str, git_dir: str, path: str, data: bytes, mode: int) -> None:
    """Put a file into the working tree in one step: a kill leaves the old one or the new one."""
    target = Path(worktree, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        permissions = target.stat().st_mode & 0o777
    except FileNotFoundError:
        permissions = 0o777 if mode & 0o111 else 0o666
        permissions &= ~umask()
    # inside git's directory a leftover of a kill is in nobody's way
    draft = Path(git_dir, f"kmerge-draft-{os.getpid()}")
    _write(draft, data, permissions)
    try:
        os.replace(draft, target)
    except OSError:  # another file system: a linked worktree or a submodule may live on its own
        draft.unlink()
        draft = target.with_name(f".{target.name}.kmerge-{os.getpid()}")
        _write(draft, data, permissions)
        os.replace(draft, target)


def remove_file(worktree: str, path: str) -> None:
    """Take a file out of the working tree."""
    Path(worktree, path).unlink(missing_ok=True)


def _write(draft: Path, data: bytes, permissions: int) -> None:
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(permissions)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _git(worktree: str, argv: list[str], stdin: bytes) -> None:
    command = ["git", "--literal-pathspecs", *argv]
    done = subprocess.run(command, cwd=worktree, input=stdin, capture_output=True, check=False)
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace")
        hint = "another git process holds the index" if "index.lock" in message else ""
        raise GitFailed(["git", *argv], done.returncode, message, hint=hint)
