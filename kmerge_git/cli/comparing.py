"""Comparisons for commands: each file under the clock."""

from __future__ import annotations

from kmerge_git.cli.printing import say
from kmerge_git.compare.folder_changes import ComparedFile, FileVersion, compared
from kmerge_git.errors import TimeUp
from kmerge_git.time_limit import within


def watched(
    path: str, old: FileVersion | None, new: FileVersion | None, source: str = ""
) -> ComparedFile:
    """A comparison under the clock: what takes too long is compared by lines."""
    try:
        with within(path):
            return compared(path, old, new, source)
    except TimeUp as up:
        say(f"kmerge: {up}; compared by lines")
        return compared(path, old, new, source, by_fields=False)
