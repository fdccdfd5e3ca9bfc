"""The text of a result before its conflicts are spelled: runs of text, and hunks of whole lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Pieces = list["str | Hunk"]


class Hunk:
    """Lines that differ, with every side's text; `place` and `why` go into the label."""

    __slots__ = ("base", "ours", "place", "theirs", "why")

    def __init__(self, base: str, ours: str, theirs: str, place: str, why: str) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.place = place
        self.why = why

    def side(self, name: str) -> str:
        """The lines of one side."""
        text: str = getattr(self, name)
        return text


def side_text(pieces: Pieces, side: str) -> str:
    """The text with every hunk decided for one side."""
    return "".join(p if isinstance(p, str) else p.side(side) for p in pieces)


def is_clean(pieces: Pieces) -> bool:
    """Whether there is no hunk."""
    return all(isinstance(p, str) for p in pieces)


def starts_blank(pieces: Pieces) -> bool:
    """Whether the first line is blank, on any side."""
    for piece in pieces:
        sides = [piece] if isinstance(piece, str) else [piece.side(s) for s in SIDES]
        if any(sides):
            return any(side and len(_trimmed(side)) < len(side) for side in sides)
    return False


def without_blank_start(pieces: Pieces) -> Pieces:
    """The pieces without blank lines at their start."""
    for index, piece in enumerate(pieces):
        if isinstance(piece, Hunk):
            base, ours, theirs = (_trimmed(piece.side(s)) for s in SIDES)
            return [Hunk(base, ours, theirs, piece.place, piece.why), *pieces[index + 1 :]]
        if _trimmed(piece):
            return [_trimmed(piece), *pieces[index + 1 :]]
    return []


def _trimmed(text: str) -> str:
    """A text without the blank lines that it starts with."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1
        if not end or text[start:end].strip():
            break
        start = end
    return text[start:]


def joined(pieces: Pieces) -> Pieces:
    """The pieces with hunks that touch each other made one."""
    result: Pieces = []
    for piece in pieces:
        before = result[-1] if result else None
        if isinstance(piece, Hunk) and isinstance(before, Hunk):
            # named after one of them, and after the same one when the sides are swapped
            named = [(h.place, h.why) for h in (before, piece) if h.why]
            place, why = min(named, default=("", ""))
            base, ours, theirs = (before.side(s) + piece.side(s) for s in SIDES)
            result[-1] = Hunk(base, ours, theirs, place, why)
        elif piece != "":
            result.append(piece)
    return result


def overlay(prefix: str, column: int, pieces: Pieces) -> Pieces:
    """Put a prefix (`  - `) over the indentation of the first line, on every side of a hunk.

    Comment lines above the first entry move above the prefix.
    """
    if not pieces:
        return [prefix]
    first = pieces[0]
    if isinstance(first, str) and _has_entry_line(first):
        return [_over(prefix, column, first), *pieces[1:]]
    if isinstance(first, Hunk) and all(_has_entry_line(first.side(s)) for s in SIDES):
        base, ours, theirs = (_over(prefix, column, first.side(s)) for s in SIDES)
        return [Hunk(base, ours, theirs, first.place, first.why), *pieces[1:]]
    base, ours, theirs = (_over(prefix, column, side_text(pieces, s)) for s in SIDES)
    if is_clean(pieces):
        return [ours]
    hunk = next(p for p in pieces if isinstance(p, Hunk))
    return [Hunk(base, ours, theirs, hunk.place, hunk.why)]


SIDES = ("base", "ours", "theirs")


def _has_entry_line(text: str) -> bool:
    return any(line.strip() and line.lstrip()[0] != "#" for line in text.split("\n"))


def _over(prefix: str, column: int, text: str) -> str:
    dash = prefix.rfind("\n") + 1
    above, own = prefix[:dash], prefix[dash:]
    indent = len(own) - len(own.lstrip(" "))
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and line.lstrip()[0] != "#":
            lead = [" " * indent + x.lstrip() if x.strip() else x for x in lines[:index]]
            return above + "\n".join([*lead, own + line[column:], *lines[index + 1 :]])
    return prefix + text
