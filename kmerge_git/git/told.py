"""What git is asked, told on stderr to people who want to see it (`--verbose`)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import monotonic

from kmerge_git.git.questions import listeners

_is_on = False


def listen(is_on: bool) -> None:
    """Tell of every command from now on, or of none."""
    global _is_on
    _is_on = is_on
    listeners[:] = [tell] if is_on else []


def begin() -> float:
    """When a command starts."""
    return monotonic() if _is_on else 0.0


def tell(
    argv: Sequence[str], code: int | None, began: float | None = None, cwd: object = None
) -> None:
    """A command as a shell would take it, then how it ended (None: it goes on), and its time."""
    if not _is_on or sys.stderr is None:
        return
    import os
    from shlex import quote

    from kmerge_git.visible import visible

    facts = [] if cwd is None or str(cwd) in (".", os.getcwd()) else [f"in {cwd}"]
    facts.append("left running" if code is None else f"exit {code}")
    if code is not None and began is not None:
        facts.append(f"{(monotonic() - began) * 1000:.0f} ms")
    line = f"kmerge: {' '.join(map(quote, argv))}  # {', '.join(facts)}"
    print(visible(line), file=sys.stderr, flush=True)
