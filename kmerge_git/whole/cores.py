"""Work on many items in forked processes, and do here what such a process did not report.

A child sends each result as soon as there is one, and skips Python's exit handlers. If it dies,
fails or hangs, this process works on the rest of its items: that costs time, never an item. Each
child leads a process group, so that the git processes that it started end with it.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar

from kmerge_git.bounds import CHILD_SECONDS
from kmerge_git.errors import TimeUp
from kmerge_git.git.scratch_merges import PREFIX

Item = TypeVar("Item")
Result = TypeVar("Result")

_HEAD = 8  # bytes in front of a result: its length


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


def children_for(items: int, few: int, most: int | None = None) -> int:
    """Return how many processes to fork for some items; 0 if forking is unsafe or does not pay.

    For fewer than `few` items it does not. There are at most `most` processes, one for each core.
    """
    count = min(cores() if most is None else most, items // (few // 2))
    may_fork = sys.platform != "darwin" and threading.active_count() == 1
    return count if count > 1 and may_fork else 0


def on_cores(
    items: Sequence[Item], work: Callable[[Item], Result], children: int, seconds: float
) -> Generator[Result]:
    """Yield the result of each item, in order; without children, work on an item when it is asked.

    `seconds` of CPU is the time limit of an item, 0 means none: a child that takes much longer
    hangs. `work` must open its files itself, because forked processes would share an open one.
    """
    patience = seconds * TimeUp.PATIENCE + CHILD_SECONDS if seconds else float("inf")
    started: dict[int, _Child[Result]] = {}
    try:
        for number in range(children):
            with suppress(OSError):  # no process can start: this one does the work
                started[number] = _Child(items[number::children], work)
        for at, item in enumerate(items):
            child = started.get(at % children) if children else None
            if child is not None and _has_result(child, started.values(), patience):
                yield child.results.popleft()
            else:
                yield work(item)
    finally:
        for child in started.values():
            child.end()


def _has_result(child: _Child[Result], started: Iterable[_Child[Result]], patience: float) -> bool:
    """Wait for the next result of a child; return False if the child died or hangs.

    The results of the others are read as well, so that none of them waits for a full pipe.
    """
    latest = time.monotonic() + patience
    while child.is_open and not child.results:
        left = latest - time.monotonic()
        if left <= 0:
            child.end()
            break
        by_pipe = {each.out: each for each in started if each.is_open}
        # without a limit `left` is infinite, which `select` does not take
        for pipe in select.select(by_pipe, [], [], min(left, 60.0))[0]:
            by_pipe[pipe].read()
    return bool(child.results)


class _Child(Generic[Result]):
    """Hold a child process, and those of its results that were read and not taken."""

    def __init__(self, items: Sequence[Item], work: Callable[[Item], Result]) -> None:
        self.results: deque[Result] = deque()
        self.is_open = True
        self._data = bytearray()
        self._folder = tempfile.mkdtemp(prefix=PREFIX)  # for its files: it may be killed
        self.out, into = os.pipe()
        try:
            self._pid = os.fork()
            if not self._pid:
                os.close(self.out)  # or a child whose parent was killed would wait for a reader
                tempfile.tempdir = self._folder
                _serve(items, work, into)
        except OSError:
            os.close(self.out)
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        finally:
            os.close(into)
        with suppress(OSError):  # the child does the same; whoever comes first
            os.setpgid(self._pid, self._pid)

    def read(self) -> None:
        """Read what the child has sent; an incomplete result waits for its rest."""
        chunk = os.read(self.out, 1 << 16)
        self._data += chunk
        while len(self._data) >= _HEAD:
            end = _HEAD + int.from_bytes(self._data[:_HEAD], "big")
            if len(self._data) < end:
                break
            self.results.append(pickle.loads(self._data[_HEAD:end]))  # noqa: S301 - our own child
            del self._data[:end]
        if not chunk:
            self.end()

    def end(self) -> None:
        """Kill the process, and git processes that it started, and free what it holds."""
        if not self.is_open:
            return
        self.is_open = False
        os.close(self.out)
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        shutil.rmtree(self._folder, ignore_errors=True)


def _serve(items: Sequence[Item], work: Callable[[Item], Result], into: int) -> NoReturn:
    """Work on the items in the child process, send each result and exit."""
    try:
        os.setpgid(0, 0)
        collect_rarely()
        for item in items:
            result = pickle.dumps(work(item))
            data = len(result).to_bytes(_HEAD, "big") + result
            while data:
                data = data[os.write(into, data) :]
    finally:
        os._exit(0)
