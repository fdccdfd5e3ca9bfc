"""Spelling conflicts: hunks become whole-line markers, as git writes and rerere knows them."""

from __future__ import annotations

from kmerge_git.text.markers import conflict
from kmerge_git.text.pieces import Hunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.text.pieces import Pieces


class Marks:
    """How conflicts are spelled: labels (base, ours, theirs), marker size, style."""

    __slots__ = ("labels", "size", "style")

    def __init__(self, labels: tuple[str, str, str], size: int, style: str) -> None:
        self.labels = labels
        self.size = size
        self.style = style


def spell(pieces: Pieces, marks: Marks, resource: str) -> str:
    """The text with markers around every hunk; the cause stands behind our label."""
    return "".join(p if isinstance(p, str) else _hunk(p, marks, resource) for p in pieces)


def _hunk(hunk: Hunk, marks: Marks, resource: str) -> str:
    place = " ".join(part for part in (resource, hunk.place) if part)
    base, ours, theirs = (_one_line(label) for label in marks.labels)
    cause = _one_line(f"{place}: {hunk.why}" if place else hunk.why)
    ours = f"{ours} ({cause})" if ours else f"({cause})"
    with_base = marks.style in ("diff3", "zdiff3")
    # A clash of a whole document is shown whole: half a document would explain nothing.
    style = marks.style if hunk.place else "diff3"
    return conflict(
        hunk.ours,
        hunk.base if with_base else None,
        hunk.theirs,
        (ours, base, theirs),
        marks.size,
        style,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
