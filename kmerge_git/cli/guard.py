"""The time that a command may take for one file: `KMERGE_TIMEOUT` seconds, 0 for no limit.

The driver has a clock of its own: when that rings, git's line merge goes on. A command has nobody
to go on, so it ends with an error, and nothing is written.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager

from kmerge_git.errors import TimeUp, UsageError
from kmerge_git.system import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from kmerge_git.merge.kyaml.kyaml_merges import Result
    from kmerge_git.merge.three import Three
    from kmerge_git.packages.package_rules import Ways

SECONDS = 60.0


@contextmanager
def within(path: str) -> Iterator[None]:
    """Let what is done for one file take no longer; `TimeUp` if it does."""
    seconds = limit()
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    try:
        before = signal.signal(signal.SIGALRM, _ring)
    except ValueError:  # only the main thread may
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except TimeUp:
        raise TimeUp(path, seconds) from None
    finally:
        stop()
        signal.signal(signal.SIGALRM, before)


def watched(how: Ways) -> Ways:
    """The same rules, each file under the clock."""
    manifest, text = how.manifest, how.text

    def merge_manifest(texts: Three[bytes], path: str) -> Result:
        with within(path):
            return manifest(texts, path)

    def merge_text(texts: Three[bytes], path: str) -> Result:
        with within(path):
            return text(texts, path)

    how.manifest, how.text = merge_manifest, merge_text
    return how


def stop() -> None:
    """Let the rest take its time: what is written is written whole."""
    if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is _ring:
        signal.setitimer(signal.ITIMER_REAL, 0)


def limit() -> float:
    """How many seconds a file may take; 0: as many as it needs."""
    given = variable("KMERGE_TIMEOUT")
    if not given:
        return SECONDS
    try:
        seconds = float(given.removesuffix("s"))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise UsageError(f"KMERGE_TIMEOUT: `{given}` is no number of seconds")
    return seconds


def _ring(number: int, frame: FrameType | None) -> None:
    raise TimeUp
