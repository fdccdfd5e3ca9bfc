"""The conflicts that were resolved since the merge: the index keeps their stages until a commit."""

from __future__ import annotations

import os

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.run_git import git_bytes
from kmerge_git.git.touched_files import TreeEntry


def resolved_conflicts(top: str) -> tuple[Stages, ...]:
    """The files that were in conflict and are staged, as git remembers them."""
    told = git_bytes("-C", top, "ls-files", "--resolve-undo", "-z", "--full-name")
    found: dict[str, list[TreeEntry | None]] = {}
    for line in told.split(b"\0"):
        about, _, path = line.partition(b"\t")
        if path:
            mode, oid, stage = about.decode().split()
            entries = found.setdefault(os.fsdecode(path), [None, None, None])
            entries[int(stage) - 1] = TreeEntry(oid, int(mode, 8))
    return tuple(Stages(path, *entries) for path, entries in found.items())
