"""What git's line merge says. Without a process, two changes that touch are a clash."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

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


def git_itself(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """What git merge-file says: the text, with its conflicts, and whether it is clean."""
    with TemporaryDirectory() as folder:
        names = ("ours", "base", "theirs")
        for name, data in zip(names, (ours, base, theirs), strict=True):
            Path(folder, name).write_bytes(data)
        command = ["git", "merge-file", "-p", *(f"-L{name}" for name in names), *names]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return done.stdout, done.returncode == 0
