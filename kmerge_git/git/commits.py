"""A commit as a plain value, and what a range of commits means."""

from __future__ import annotations

from dataclasses import dataclass

from kmerge_git.errors import UsageError


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its id, its tree, its parents, what was said and when."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    subject: str  # the first line of the message
    message: str = ""
    time: int = 0  # seconds, by the clock of whoever made the commit


def ends_of(spec: str) -> tuple[str, str]:
    """The last revision of `REV` or `A..B`, and the one whose history is left out, if any."""
    left, dots, right = spec.partition("..")
    if right.startswith("."):
        raise UsageError(f"{spec!r}: a range is A..B", hint="two dots")
    return (right if dots else left) or "HEAD", (left or "HEAD") if dots else ""
