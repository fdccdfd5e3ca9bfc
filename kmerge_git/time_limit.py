"""Limit the time that a command spends on a file to `KMERGE_TIMEOUT` seconds; 0 means no limit.

The driver has a timer of its own: when that timer ends, git's line merge takes over. Merges of
whole repositories do the same. Any other command ends with an error, and nothing is written.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager

from kmerge_git.bounds import FILE_SECONDS
from kmerge_git.errors import TimeUp, UsageError
from kmerge_git.system import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


@contextmanager
def within(path: str) -> Iterator[None]:
    """Limit the time for the work on one file; raise `TimeUp` when the time is over."""
    seconds = limit()
    with alarm(seconds) as ring_in:
        ring_in(seconds)
        try:
            yield
        except TimeUp:
            raise TimeUp(path, seconds) from None


@contextmanager
def alarm(seconds: float) -> Iterator[Callable[[float], object]]:
    """Yield a function that starts a timer, which raises `TimeUp` after a number of seconds.

    Calling the function with 0 stops the timer. The function does nothing if `seconds` is 0, or
    outside of the main thread.
    """
    try:
        before = signal.signal(signal.SIGALRM, _ring) if seconds else None
    except ValueError:  # only in the main thread
        before = None
    if before is None:
        yield lambda seconds: None
        return
    try:
        yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stop() -> None:
    """Stop the timer, so that files are written whole and people can take their time."""
    if signal.getsignal(signal.SIGALRM) is _ring:
        signal.setitimer(signal.ITIMER_REAL, 0)


def limit() -> float:
    """Return the time limit for one file in seconds; 0 means no limit."""
    given = variable("KMERGE_TIMEOUT")
    if not given:
        return FILE_SECONDS
    try:
        seconds = float(given.removesuffix("s"))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise UsageError(f"KMERGE_TIMEOUT: `{given}` is no number of seconds")
    return seconds


def _ring(number: int, frame: FrameType | None) -> None:
    raise TimeUp
