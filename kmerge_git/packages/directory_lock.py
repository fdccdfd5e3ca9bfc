"""Lock a directory, so that only one command at a time works in it.

The lock ends when its process ends, even if the process is killed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kmerge_git.errors import UsageError

_held: set[str] = set()  # directories that this process has locked, and may lock again


@contextmanager
def alone(root: str) -> Iterator[None]:
    """Lock a directory against other kmerge commands; raise an error if it is locked already."""
    place = os.path.realpath(root)
    if place in _held:
        yield
        return
    handle = _lock(root)
    _held.add(place)
    try:
        yield
    finally:
        _held.discard(place)
        if handle is not None:
            os.close(handle)


def _lock(root: str) -> int | None:
    """Lock the directory itself instead of a lock file; return the handle of the directory.

    Return None where the system has no such locks (Windows, some network file systems).
    """
    try:
        import fcntl

        handle = os.open(root, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            "another kmerge is at work here", path=root, hint="wait for its end"
        ) from None
    except OSError:
        os.close(handle)
        return None
    return handle
