"""Files in and out: `-` is stdin, results replace files by rename."""

from __future__ import annotations

import os
import sys

from kmerge_git.cli import guard
from kmerge_git.errors import UsageError
from kmerge_git.visible import visible


def read(path: str) -> bytes:
    """The bytes of a file; `-` is stdin."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        why = error.strerror or str(error)
        hint = "give a file" if os.path.isdir(path) else "check its name and permissions"
        raise UsageError(f"cannot read it: {why}", path=path, hint=hint) from None


def write(path: str | None, data: bytes) -> None:
    """Replace a file by rename, its mode kept; without a path, or for `-`, write to stdout.

    What is there and no regular file (a pipe, `/dev/null`) is written to, never replaced.
    """
    guard.stop()
    if path is None or path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = os.path.realpath(path)
    fresh = f"{target}.kmerge-{os.getpid()}"
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(data)
            return
        with open(fresh, "xb") as file:
            file.write(data)
        if os.path.exists(target):
            os.chmod(fresh, os.stat(target).st_mode & 0o7777)
        os.replace(fresh, target)
    except OSError as error:
        if os.path.exists(fresh):
            os.unlink(fresh)
        why = error.strerror or str(error)
        hint = "check the directory and its permissions, or use another -o"
        raise UsageError(f"cannot write it: {why}", path=path, hint=hint) from None


def say(text: str) -> None:
    """One line for people, on stderr."""
    print(visible(text), file=sys.stderr)


def tell(text: str) -> None:
    """One line for people, on stdout."""
    print(visible(text))
