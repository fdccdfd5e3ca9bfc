"""Files in and out: `-` is stdin, results replace files by rename."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kmerge_git import time_limit
from kmerge_git.errors import UsageError


def read(path: str) -> bytes:
    """The bytes of a file; `-` is stdin, `REV:PATH` one of git if no file has that name."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        if ":" in path and not os.path.lexists(path):
            found = _of_git(path)
            if found is not None:
                return found
        why = error.strerror or str(error)
        hint = "give a file" if os.path.isdir(path) else "check its name and permissions"
        raise UsageError(f"cannot read it: {why}", path=path, hint=hint) from None


def _of_git(name: str) -> bytes | None:
    """The file that `REV:PATH` stands for; None if git knows nothing of the kind."""
    from kmerge_git.git import revision_paths  # few names hold a colon

    found = revision_paths.blob(name)
    missing = None if found is not None else revision_paths.why_missing(name)
    if missing is not None:
        raise missing
    return found


def is_file(path: str) -> bool:
    """Whether `read` would find something there."""
    if path == "-" or os.path.isfile(path):
        return True
    return ":" in path and not os.path.lexists(path) and _of_git(path) is not None


def _refuse_revision(path: str) -> None:
    """Nothing can be written to `REV:PATH`."""
    if ":" not in path or os.path.lexists(path):
        return
    from kmerge_git.git import revision_paths

    if revision_paths.names_revision(path):
        hint = "write to a file, or to stdout; `./` before a name makes it a file's"
        raise UsageError(
            "a file of a commit or of the index cannot be written", path=path, hint=hint
        )


def write(path: str | None, data: bytes) -> None:
    """Replace a file by rename, its mode kept; without a path, or for `-`, write to stdout.

    What is there and no regular file (a pipe, `/dev/null`) is written to, never replaced.
    """
    time_limit.stop()
    if path is None or path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    _refuse_revision(path)
    target = os.path.realpath(path)
    from kmerge_git.atomic_files import replace_file  # most commands only read

    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(data)
            return
        replace_file(target, data, durable=False)
    except OSError as error:
        why = error.strerror or str(error)
        hint = "check the directory and its permissions, or use another -o"
        raise UsageError(f"cannot write it: {why}", path=path, hint=hint) from None


def inside(path: str, worktree: str | None) -> str:
    """Return a path of the command line as git names it: from the top of the working tree."""
    if not path:  # of a variable that is not set; git refuses it, too
        raise UsageError("a path is empty", hint="`.` is this folder")
    if worktree is None:
        return path
    top = Path(worktree).resolve()
    # the file itself may be a link: only its directory is resolved
    given = Path(path)
    full = given.parent.resolve() / given.name if given.name not in ("", "..") else given.resolve()
    try:
        return full.relative_to(top).as_posix()
    except ValueError:
        raise UsageError(
            "is outside of the working tree", path=path, hint=f"give a path below {top}"
        ) from None
