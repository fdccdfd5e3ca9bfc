"""The text of a result before its conflicts are spelled: runs of text, and hunks of whole lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Pieces = list["str | Hunk"]

VERSIONS = ("base", "ours", "theirs")


class Hunk:
    """Lines that differ, with the text of every side; `place`, `why` and `about` make the label."""

    __slots__ = ("about", "base", "is_whole", "ours", "place", "theirs", "why")

    def __init__(
        self,
        base: str,
        ours: str,
        theirs: str,
        place: str,
        why: str,
        about: object = None,
        *,
        is_whole: bool = False,
    ) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.place = place
        self.why = why
        self.about = about  # the things that clash, for the label
        self.is_whole = is_whole  # no part of it may be decided without the others

    def side(self, name: str) -> str:
        """Return the lines of one side."""
        text: str = getattr(self, name)
        return text

    def map(self, change: Callable[[str], str]) -> Hunk:
        """Return the hunk with the lines of every side changed."""
        return self.but(change(self.base), change(self.ours), change(self.theirs))

    def but(self, base: str, ours: str, theirs: str) -> Hunk:
        """Return the same conflict with other lines."""
        return Hunk(base, ours, theirs, self.place, self.why, self.about, is_whole=self.is_whole)


def side_text(pieces: Pieces, side: str) -> str:
    """Return the text with every hunk decided for one side."""
    return "".join(p if isinstance(p, str) else p.side(side) for p in pieces)


def is_clean(pieces: Pieces) -> bool:
    """Return whether there is no hunk."""
    return all(isinstance(p, str) for p in pieces)


def joined(pieces: Pieces) -> Pieces:
    """Return the pieces, with hunks that touch each other joined to one."""
    result: Pieces = []
    for piece in pieces:
        before = result[-1] if result else None
        if isinstance(piece, Hunk) and isinstance(before, Hunk):
            # named after one of them, and after the same one when the sides are swapped
            named = [h for h in (before, piece) if h.why]
            one = min(named, key=lambda h: (h.place, h.why), default=before)
            result[-1] = one.but(*(before.side(s) + piece.side(s) for s in VERSIONS))
        elif piece != "":
            result.append(piece)
    return result
