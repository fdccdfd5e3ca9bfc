"""What git's line merge says, without a process: two changes that touch are a clash."""

from __future__ import annotations

from kmerge_git.text.diff3 import diff3


def git_lines(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """The text, and whether it is clean; no text where it is not."""
    versions = [data.splitlines(keepends=True) for data in (base, ours, theirs)]
    regions = diff3(*versions)
    if any(region.kind == "clash" for region in regions):
        return b"", False
    _, mine, yours = versions
    parts = (yours[r.t0 : r.t1] if r.kind == "theirs" else mine[r.o0 : r.o1] for r in regions)
    return b"".join(line for part in parts for line in part), True
