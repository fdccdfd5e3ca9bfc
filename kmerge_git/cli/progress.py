"""A progress bar on stderr, with rate and remaining time; only where stderr is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from kmerge_git.visible import visible

_WIDTH = 30
_PAUSE = 0.1  # seconds between two pictures


class Progress:
    """Counts up to a total; `close` takes the bar away again."""

    def __init__(
        self,
        total: int,
        unit: str,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._is_on = total > 0 and self._stream.isatty()
        self._total = total
        self._unit = unit
        self._clock = clock
        self._start = clock()
        self._shown = self._start - _PAUSE

    def update(self, done: int) -> None:
        """Show how far it is."""
        now = self._clock()
        if self._is_on and (now - self._shown >= _PAUSE or done >= self._total):
            self._shown = now
            line = bar(done, self._total, self._unit, now - self._start)
            self._stream.write(f"\r{line}\x1b[K")
            self._stream.flush()

    def close(self) -> None:
        """Leave the line as it was before."""
        if self._is_on:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


@contextmanager
def waiting(what: str, stream: TextIO | None = None) -> Iterator[None]:
    """Show what is waited for, where it cannot be counted."""
    out = stream or sys.stderr
    is_on = out.isatty()
    if is_on:
        out.write(f"\r{visible(what)} ...\x1b[K")
        out.flush()
    try:
        yield
    finally:
        if is_on:
            out.write("\r\x1b[K")
            out.flush()


def bar(done: int, total: int, unit: str, seconds: float) -> str:
    """The picture: bar, counts, rate, remaining time."""
    share = min(done / total, 1.0) if total else 1.0
    filled = int(share * _WIDTH)
    picture = "#" * filled + "." * (_WIDTH - filled)
    line = f"[{picture}] {share:4.0%} {done}/{total} {unit}"
    if not done or seconds <= 0:
        return line
    rate = done / seconds
    return f"{line}, {rate:.0f}/s, {_clock((total - done) / rate)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
