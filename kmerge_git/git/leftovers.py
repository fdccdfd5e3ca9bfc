"""What a killed merge left inside git's directory: nobody reads it, nobody else removes it.

Every such file has the number of its process in its name, so that those of others stay.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"kmerge-(?:attributes|given|index|draft)-(\d+)(?:-\w+)?(?:\.lock)?")
_OLD = 24 * 3600  # seconds; numbers of processes come back


def sweep(git_dir: Path) -> None:
    """Remove the files of processes that are no more."""
    with suppress(OSError), os.scandir(git_dir) as found:
        for entry in found:
            name = _NAME.fullmatch(entry.name)
            if name and (_is_gone(int(name[1])) or _is_old(entry)):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_gone(process: int) -> bool:
    if os.name != "posix":  # there a question would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def _is_old(entry: os.DirEntry[str]) -> bool:
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD
