"""Hold what nobody decided: hunks among the texts of a merge, and placeholders in a merge base.

A merged text is a sequence of plain texts and hunks, before the conflicts are written.

In a criss-cross history, git first merges the merge bases into one base, and cannot ask a person
about conflicts. The text of either merge base would be a wrong base at such a place: if a side
later returned to that text, the next merge would take that side as unchanged. A placeholder is a
unique word with a hash. A placeholder differs from every text of a side, so the next merge either
decides the place or reports a conflict.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Pieces = list["str | Hunk"]

VERSIONS = ("base", "ours", "theirs")
UNDECIDED = "kmerge-undecided"  # the beginning of every placeholder


class Hunk:
    """Hold the lines of a conflict: the text of base, ours and theirs.

    The conflict label is made from `place`, `why` and `about`.
    """

    __slots__ = ("about", "base", "is_whole", "ours", "place", "refused", "theirs", "why")

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
        refused: str = "",
    ) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.place = place
        self.why = why
        self.about = about  # the values that clash, for the label
        self.refused = refused  # why a policy for these lines of a text does not decide them
        self.is_whole = is_whole  # whether the hunk must be resolved as a whole

    def side(self, name: str) -> str:
        """Return the lines of one side of the hunk."""
        text: str = getattr(self, name)
        return text

    def map(self, change: Callable[[str], str]) -> Hunk:
        """Return the hunk with the lines of every side changed by a function."""
        return self.but(change(self.base), change(self.ours), change(self.theirs))

    def but(self, base: str, ours: str, theirs: str) -> Hunk:
        """Return the same hunk with other lines."""
        about = self.place, self.why, self.about
        return Hunk(base, ours, theirs, *about, is_whole=self.is_whole, refused=self.refused)


def side_text(pieces: Pieces, side: str) -> str:
    """Return the text with every hunk resolved to one side."""
    return "".join(p if isinstance(p, str) else p.side(side) for p in pieces)


def is_clean(pieces: Pieces) -> bool:
    """Return whether the pieces hold no hunk."""
    return all(isinstance(p, str) for p in pieces)


def joined(pieces: Pieces) -> Pieces:
    """Return the pieces; join hunks that follow each other directly into one hunk."""
    result: Pieces = []
    for piece in pieces:
        before = result[-1] if result else None
        if isinstance(piece, Hunk) and isinstance(before, Hunk):
            # The name of the joined hunk must stay the same when the sides are swapped.
            named = [h for h in (before, piece) if h.why]
            one = min(named, key=lambda h: (h.place, h.why), default=before)
            result[-1] = one.but(*(before.side(s) + piece.side(s) for s in VERSIONS))
        elif piece != "":
            result.append(piece)
    return result


def digest(base: str, ours: str, theirs: str) -> str:
    """Return a hash of three texts that does not depend on the order of the two sides."""
    from hashlib import sha256  # few merges are merges of merge bases

    texts = (base, *sorted((ours, theirs)))
    return sha256("".join(f"{len(text)}:{text}" for text in texts).encode()).hexdigest()[:40]


def without_placeholders(text: str) -> str:
    """Return the text without the lines that hold a placeholder."""
    if UNDECIDED not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if UNDECIDED not in line)
