"""Limit the time that a command spends on a file to `KMERGE_TIMEOUT` seconds; 0 means no limit.

Two timers run: one counts the CPU of this process without its children, and the other one ends a
process that waits, after three times as many seconds on the wall clock.

The driver has timers of its own: when one ends, git's line merge takes over. Merges of whole
repositories do the same. Any other command ends with an error, and nothing is written.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager

from kmerge_git.bounds import FILE_SECONDS
from kmerge_git.errors import TimeUp, UsageError
from kmerge_git.system import variable

_SIGNALS = (signal.SIGPROF, signal.SIGALRM)  # of the CPU, of the wall clock

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
        except (TimeUp, SystemError) as error:
            up = time_up(error)
            raise TimeUp(path, seconds, is_wall_clock=up.is_wall_clock) from None


@contextmanager
def alarm(seconds: float) -> Iterator[Callable[[float], object]]:
    """Yield a function that starts the timers, which raise `TimeUp` after a number of seconds.

    Calling the function with 0 stops the timers. The function does nothing if `seconds` is 0, or
    outside of the main thread.
    """
    try:
        before = [(number, signal.signal(number, _ring)) for number in _SIGNALS] if seconds else []
    except ValueError:  # only in the main thread
        before = []
    if not before:
        yield lambda seconds: None
        return
    try:
        yield _ring_in
    finally:
        _ring_in(0)
        for number, handler in before:
            signal.signal(number, handler)


def time_up(error: TimeUp | SystemError) -> TimeUp:
    """Return the `TimeUp` that an error is, or raise another error again.

    If a timer rings while a function of libgit2 returns, the interpreter wraps the error.
    """
    up = error if isinstance(error, TimeUp) else error.__cause__
    if isinstance(up, TimeUp):
        return up
    raise error


def stop() -> None:
    """Stop the timers, so that files are written whole and people can take their time."""
    if signal.getsignal(signal.SIGALRM) is _ring:
        _ring_in(0)


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
        raise UsageError(f"KMERGE_TIMEOUT: `{given}` is not a number of seconds")
    return seconds


def _ring_in(seconds: float) -> None:
    for number in _SIGNALS:
        signal.signal(number, _ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * TimeUp.PATIENCE)


def _ring(number: int, frame: FrameType | None) -> None:
    for other in _SIGNALS:  # the other timer may have rung; the interpreter reports an ignored one
        signal.signal(other, lambda *_: None)
    raise TimeUp(is_wall_clock=number == signal.SIGALRM)
