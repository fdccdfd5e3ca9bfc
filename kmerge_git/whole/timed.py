"""Merges one after the other, none of which may take too long: git's line merge stands then."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from kmerge_git.errors import TimeUp
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.outcome import GENERATED, Conflict, Outcome
from kmerge_git.whole.merging import Both, Job, merge_both


def merge_all(
    jobs: Sequence[Job], seconds: float = 0.0, lines: Libgit2LineMerge | None = None
) -> list[Both]:
    """Merge files that know nothing of each other; `seconds` for each, 0: no limit."""
    lines = lines or Libgit2LineMerge()
    found = []
    with _clock(seconds) as ring_in:
        for job in jobs:
            try:
                ring_in(seconds)
                both = merge_both(job.three, job.options, lines)
                ring_in(0)
            except TimeUp:
                both = _by_lines(job, lines, seconds)
            found.append(both)
    return found


def _by_lines(job: Job, lines: Libgit2LineMerge, seconds: float) -> Both:
    texts = job.three.map(lambda data: data or b"")
    text, count = lines.merge_file(*texts.each(), job.options.but(favor=""))
    late = f"no result within {seconds:g} s"
    if job.options.generated and count:
        found = Outcome(texts.ours, False, "kept", conflicts=(Conflict("", "", GENERATED),))
        found.reason = f"{late}; {GENERATED}"
        return Both(found, text if count >= 0 else texts.ours, False)
    why = f"{late}, git's line merge instead"
    conflicts = tuple(Conflict("", "", "the lines conflict") for _ in range(count))
    if count < 0:
        text, conflicts = texts.ours, (Conflict("", "", why),)
    outcome = Outcome(text, count == 0, "lines", conflicts=conflicts, reason=why)
    return Both(outcome, text, count == 0, is_late=True)


@contextmanager
def _clock(seconds: float) -> Iterator[Callable[[float], object]]:
    """A function that lets `TimeUp` be raised in so many seconds, with 0 never."""
    is_main = threading.current_thread() == threading.main_thread()
    if not (seconds and is_main and hasattr(signal, "setitimer")):  # or another clock would stop
        yield lambda seconds: None
        return
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise TimeUp
