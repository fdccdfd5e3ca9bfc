"""Texts cut to the columns of a terminal, so that what tells them apart is still to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from kmerge_git.visible import visible

Part = tuple[str, str]  # a text and its colour
Span = tuple[int, int]

DOTS = "…"


class Excerpt:
    """The spans of a text that are shown, with dots for all that is not."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans

    def text(self, text: str) -> str:
        """What is shown of the text."""
        return "".join(part for part, _ in self._parts(text, (0, 0), ""))

    def painted(self, text: str, other: str, colour: str) -> tuple[Part, ...]:
        """The same, with a colour where it differs from another text."""
        return tuple(self._parts(text, _differing(text, other), colour))

    def _parts(self, text: str, differing: Span, colour: str) -> list[Part]:
        parts: list[Part] = []
        end = 0
        for start, stop in self._spans:
            if start > end:
                parts.append((DOTS, "dim"))
            left = min(max(differing[0], start), stop)
            right = min(max(differing[1], left), stop)
            pieces = (text[start:left], ""), (text[left:right], colour), (text[right:stop], "")
            parts += [piece for piece in pieces if piece[0]]
            end = stop
        return [*parts, (DOTS, "dim")] if end < len(text) else parts


def aligned(texts: Sequence[str], width: int, *, is_head: bool = False) -> list[Excerpt]:
    """The excerpts of texts that are shown together: two that differ look different.

    `is_head`: what fits from the start on; for a text that is compared with none.
    """
    rooms = [_characters(text, width) for text in texts]
    too_long = [text for text, room in zip(texts, rooms, strict=True) if len(text) > room]
    spots = {_common(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :] if a != b}
    windows = _windows(max(map(len, too_long)), sorted(spots), min(rooms)) if too_long else []
    found = []
    for text, room in zip(texts, rooms, strict=True):
        if len(text) <= room:
            found.append(Excerpt([(0, len(text))]))
        elif is_head:
            found.append(Excerpt([(0, room - 1)]))
        else:
            found.append(Excerpt(_within(text, windows) if windows else _ends(text, room)))
    return found


def one_row(text: str) -> str:
    """A text of others as it may stand in a row; of a tab nobody knows how wide it is."""
    return visible(text).replace("\t", "\\t")


def shortened(text: str, width: int) -> str:
    """A text without its middle, if it is too long."""
    (excerpt,) = aligned([text], width)
    return excerpt.text(text)


def wrapped(text: str, width: int, most: int = 0) -> list[str]:
    """A text on several rows, at its blanks where it has some; `most` rows, the last one cut."""
    rows: list[str] = []
    rest = text
    while cells(rest) > width and not (most and len(rows) == most - 1):
        room = _characters(rest, width)
        at = rest.rfind(" ", 1, room + 1)
        at = at if at > 0 else room
        rows.append(rest[:at])
        rest = rest[at:].lstrip(" ")
    return [*rows, shortened(rest, width)] if rest else rows


def cells(text: str) -> int:
    """The columns that a text takes, or a few more."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _characters(text: str, width: int) -> int:
    """How many characters of a text surely fit: some take two columns."""
    width = max(width, 16)
    return (
        width if len(text) == cells(text) else max(len(text) * (cells(text) <= width), width // 2)
    )


def _ends(text: str, room: int) -> list[Span]:
    tail = (room - 1) // 2
    return [(0, room - 1 - tail), (len(text) - tail, len(text))]


def _windows(longest: int, spots: Sequence[int], room: int) -> list[Span]:
    """Where the texts part, with a little of what stands before: the same for all of them."""
    if spots and spots[-1] - spots[0] < room * 2 // 3:  # one window shows all of them
        apart, size = spots[-1] - spots[0], max(room - 2, 2)
        start = max(min(spots[0] - (size - apart) // 3, longest - size), 0)
        return [(start, start + size)]
    spans: list[Span] = []
    for spot in spots:
        size = max((room - len(spots) - 1) // len(spots), 2)
        start = max(min(spot - size // 3, longest - size), 0)
        stop = start + size
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, stop))
    return spans


def _within(text: str, spans: Sequence[Span]) -> list[Span]:
    return [(min(start, len(text)), min(stop, len(text))) for start, stop in spans]


def _differing(text: str, other: str) -> Span:
    """What of a text is not in the other one, in whole words."""
    start = _common(text, other)
    tail = _common(text[start:][::-1], other[start:][::-1])
    stop = len(text) - tail
    while start and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while stop < len(text) and stop and text[stop].isalnum() and text[stop - 1].isalnum():
        stop += 1
    return start, stop


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))
