"""Merge many files on all cores, in forked child processes that send back plain values.

A child process merges in memory, without a repository, and skips Python's exit handlers. If a
child process fails, the parent process merges the files of that child.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kmerge_git.bounds import CHILD_SECONDS, FEW_MERGES
from kmerge_git.outcome import Outcome
from kmerge_git.whole.both_merges import Both, Job, merge_all

# Forking and sending results back takes about 10 ms; merging a small file takes 2 ms.


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def collect_rarely() -> None:
    """Make Python's cyclic garbage collector run rarely in this process.

    A merge makes no reference cycles, so Python frees its objects without the collector, which
    would take a quarter of the time.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def merge_on_cores(
    jobs: Sequence[Job], seconds: float = 0.0, *, most: int | None = None
) -> list[Both]:
    """Merge each file separately, in at most `seconds` per file; 0 means no limit."""
    count = min(cores() if most is None else most, len(jobs) // (FEW_MERGES // 2))
    if count < 2 or not _may_fork():
        return merge_all(jobs, seconds)
    order = sorted(range(len(jobs)), key=lambda at: -_size(jobs[at]))
    parts = [order[first::count] for first in range(count)]
    children: list[_Child] = []
    try:
        for part in parts[1:]:
            with suppress(OSError):  # no process can start: the parent merges the files
                children.append(_Child.start([jobs[at] for at in part], part, seconds))
        merged = dict(zip(parts[0], merge_all([jobs[at] for at in parts[0]], seconds), strict=True))
        for child in children:
            merged |= child.results()
    finally:
        for child in children:
            child.end()
    missing = [at for at in range(len(jobs)) if at not in merged]
    merged |= zip(missing, merge_all([jobs[at] for at in missing], seconds), strict=True)
    return [merged[at] for at in range(len(jobs))]


def _may_fork() -> bool:
    """Return whether this process can fork safely, that is, has no other thread."""
    return hasattr(os, "fork") and sys.platform != "darwin" and threading.active_count() == 1


def _size(job: Job) -> int:
    return sum(len(data or b"") for data in job.three.each())


@dataclass(frozen=True, slots=True)
class _Child:
    """Hold a child process that merges some of the files."""

    pid: int
    out: int
    part: Sequence[int]
    latest: float  # the time at which the results must be there

    @classmethod
    def start(cls, jobs: Sequence[Job], part: Sequence[int], seconds: float) -> _Child:
        out, into = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(out)
            os.close(into)
            raise
        if not pid:
            _work(jobs, into, seconds)
        os.close(into)
        wait = seconds * len(jobs) + CHILD_SECONDS if seconds else float("inf")
        return cls(pid, out, part, time.monotonic() + wait)

    def results(self) -> dict[int, Both]:
        """Return the merges of the child process; return none if the process died or hangs."""
        data = b""
        while chunk := self._chunk():
            data += chunk
        try:
            return dict(zip(self.part, pickle.loads(data), strict=True))  # noqa: S301 - our own child
        except (EOFError, ValueError, pickle.UnpicklingError):
            return {}

    def _chunk(self) -> bytes:
        left = self.latest - time.monotonic()
        ready, _, _ = select.select([self.out], [], [], max(0.0, left) if left < 1e6 else None)
        return os.read(self.out, 1 << 20) if ready else b""

    def end(self) -> None:
        """Kill the process and free its resources."""
        os.close(self.out)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _work(jobs: Sequence[Job], into: int, seconds: float) -> None:
    """Merge the files in the child process, send the results and exit."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the child; the parent reports it
        collect_rarely()
        merged = zip(jobs, merge_all(jobs, seconds), strict=True)
        data = pickle.dumps([_plain(job, both) for job, both in merged])
        while data:
            data = data[os.write(into, data) :]
    finally:
        os._exit(0)


def _plain(job: Job, both: Both) -> Both:
    """Return a merge as plain values, with decisions only if the caller will show them."""
    full = both.outcome
    decisions = full.decisions if job.options.favor or job.options.policy else ()
    outcome = Outcome(
        full.text,
        full.clean,
        full.method,
        conflicts=full.conflicts,
        decisions=decisions,
        reason=full.reason,
    )
    return replace(both, outcome=outcome)
