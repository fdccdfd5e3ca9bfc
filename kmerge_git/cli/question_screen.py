"""Show a question on a terminal: rows of coloured parts, never more of them than the terminal has.

Texts are cut to the columns so that the difference between them stays visible. The screen is
written downwards only, so a log of it reads as a person saw it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO
from unicodedata import east_asian_width

from kmerge_git.cli.printing import Paint
from kmerge_git.text.diff3 import changes
from kmerge_git.visible import visible

if TYPE_CHECKING:
    from kmerge_git.whole.conflict_questions import Question
    from kmerge_git.whole.saved_answers import Answer


class Screen:
    """Rows, sentences and prompts on a stream."""

    def __init__(self, stream: TextIO, colour: str = "auto") -> None:
        self._stream = stream
        self._paint = Paint(colour, stream)

    def room(self) -> Size:
        """The size of the terminal as it is now."""
        columns, rows = shutil.get_terminal_size()
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return Size(columns, rows)
        # a variable may be older than the window
        return Size(size.columns or columns, size.lines or rows)

    def rows(self, rows: Iterable[Row]) -> None:
        """Rows that fit as they are."""
        for row in rows:
            self._stream.write(self._paint.line(*row) + "\n")

    def say(self, text: str, colour: str = "") -> None:
        """A sentence, on as many rows as it needs."""
        columns = self.room().columns
        self.rows(((row, colour),) for row in wrapped(one_row(text), columns))
        self._stream.flush()

    def prompt(self, text: str) -> None:
        """What an answer stands behind."""
        self._stream.write(self._paint.line((text, "blue"), " "))
        self._stream.flush()

    def echo(self, text: str) -> None:
        """The answer, which a terminal with single keys does not show by itself."""
        self._stream.write(visible(text) + "\n")
        self._stream.flush()


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


Row = tuple[Part, ...]

SIDES = ("base", "ours", "theirs")
_COLOURS = {"base": "", "ours": "green", "theirs": "yellow"}
_LABEL = 24  # characters of a branch's name
_BESIDE = 56  # columns of a value that has its name beside it
_APART = 2  # rows of a prompt, and of the line that the answer ends
_AROUND = 1  # lines around a change


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a terminal."""

    columns: int = 80
    rows: int = 24


@dataclass(frozen=True, slots=True)
class Around:
    """What is told beside a question: where in the row it stands, git's names, what came before."""

    number: int
    total: int
    labels: tuple[str, str, str]
    answer: str = ""
    authors: Mapping[str, str] = field(default_factory=dict)  # by side


def picture(question: Question, around: Around, room: Size) -> list[Row]:
    """The rows of a question, without its prompt."""
    head = _head(question, around, room.columns)
    rows = max(room.rows - len(head) - _APART, 3)
    heads = {
        side: side if side == label else f"{side} ({_short(one_row(label))})"
        for side, label in zip(SIDES, around.labels, strict=True)
    }
    if question.kind == "value":
        return head + _values(question, heads, around.authors, Size(room.columns, rows))
    return head + _versions(question, heads, around.authors, Size(room.columns, rows))


def _short(label: str) -> str:
    """A name of git's, of a long one with a subject in parentheses the name alone."""
    name, _, subject = label.partition(" (")
    return shortened(name if subject and len(label) > _LABEL else label, _LABEL)


def _head(question: Question, around: Around, columns: int) -> list[Row]:
    conflict = question.conflict
    count = f"{around.number} of {around.total}"
    path = shortened(one_row(question.path), columns - len(count) - 2)
    rows: list[Row] = [(), ((count, "bold"), ("  ", ""), (path, "bold"))]
    place = one_row(conflict.spot)
    parts = [place] if cells(place) <= columns else [conflict.resource, conflict.run]
    rows += [((shortened(one_row(part), columns), ""),) for part in parts if part]
    rows += [((row, "dim"),) for row in wrapped(one_row(conflict.told), columns, most=2)]
    if around.answer:
        said = f"answered: {one_row(around.answer)} (Enter keeps it)"
        rows.append(((shortened(said, columns), "bold"),))
    return rows


def in_short(answer: Answer | None) -> str:
    """What was answered, for people; nothing if nothing was."""
    if answer is None or answer.how not in ("value", "lines"):
        return answer.how if answer else ""
    lines = (answer.text or "").strip().split("\n")
    return f"edited: {lines[0].strip()}{' …' if len(lines) > 1 else ''}"


def side_of(question: Question, answer: Answer) -> str:
    """The side whose lines an answer is that named none."""
    return "ours" if answer.text == question.conflict.ours else "theirs"


# -- a value


def _values(
    question: Question, heads: Mapping[str, str], authors: Mapping[str, str], room: Size
) -> list[Row]:
    """One value below the other, so that what differs stands where the others have it."""
    found = {side: question.values.side(side) for side in SIDES}
    texts = {side: _plain(text) for side, text in found.items() if text is not None}
    wide = max(cells(head) for head in heads.values())
    longest = max(map(cells, [*texts.values(), *(_absent(side, found) for side in SIDES)]))
    beside = room.columns - wide - 4
    is_beside = longest <= beside or beside >= _BESIDE
    if not is_beside and room.rows < 6 + len(authors):
        heads, wide, is_beside = {side: side for side in SIDES}, max(map(len, SIDES)), True
    width = room.columns - wide - 4 if is_beside else room.columns - 4
    shown = _painted(texts, max(width, 16))
    rows: list[Row] = []
    for side in SIDES:
        value = shown.get(side) or ((_absent(side, found), "dim"),)
        if is_beside:
            rows.append(((f"  {heads[side]}{' ' * (wide - cells(heads[side]))}  ", ""), *value))
        else:
            rows += [
                ((f"  {shortened(heads[side], room.columns - 2)}", ""),),
                (("    ", ""), *value),
            ]
        rows += _author(authors.get(side), room)
    return rows[: room.rows]


def _painted(texts: Mapping[str, str], width: int) -> dict[str, Row]:
    """The texts cut so that they still differ, what a side changed in its colour."""
    cut = aligned(list(texts.values()), width)
    rows = {}
    for (side, text), spans in zip(texts.items(), cut, strict=True):
        other = texts.get("base") if side != "base" else None
        if other is None:  # new on both sides: what tells them apart
            other = texts.get({"ours": "theirs", "theirs": "ours"}.get(side, ""), text)
        rows[side] = spans.painted(text, other, _COLOURS[side])
    return rows


def _absent(side: str, found: Mapping[str, str | None]) -> str:
    return "(deleted)" if side != "base" and found["base"] is not None else "(not there)"


# -- several lines


def _versions(
    question: Question, heads: Mapping[str, str], authors: Mapping[str, str], room: Size
) -> list[Row]:
    """What each side made of the base, as a small diff."""
    found = _texts(question)
    base = _lines(found["base"])
    bodies = {}
    for side in ("ours", "theirs"):
        text = found[side]
        bodies[side] = _changes(base, _lines(text), room.columns) if text else []
    fixed = 2 + sum(side in authors for side in bodies)
    most = _shares([len(body) for body in bodies.values()], room.rows - fixed)
    rows: list[Row] = []
    for (side, body), share in zip(bodies.items(), most, strict=True):
        title = shortened(heads[side] + _verdict(side, found, body), room.columns - 2)
        rows.append(((f"  {title}", "bold"),))
        rows += _author(authors.get(side), room)
        if len(body) > share:
            more = f"  … {len(body) - share + 1} more lines, `e` shows all"
            rows += [*body[: share - 1], ((shortened(more, room.columns), "dim"),)]
        else:
            rows += body
    return rows[: room.rows]


def _texts(question: Question) -> dict[str, str | None]:
    """The lines of the sides without the indentation that all of them share."""
    conflict = question.conflict
    texts = dict(zip(SIDES, (conflict.base, conflict.ours, conflict.theirs), strict=True))
    lines = [x for text in texts.values() for x in text.split("\n") if x.strip(" ")]
    margin = min((len(x) - len(x.lstrip(" ")) for x in lines), default=0)
    return {
        side: "\n".join(x[margin:] for x in text.split("\n"))
        if text
        else question.values.side(side)
        for side, text in texts.items()
    }


def _verdict(side: str, found: Mapping[str, str | None], body: Sequence[Row]) -> str:
    if found[side]:
        return ":" if body else ": as in the base"
    return ": deletes it" if found["base"] else ": nothing"


def _changes(old: list[str], new: list[str], columns: int) -> list[Row]:
    """The lines of a diff, each cut to its row; a line and what became of it are cut alike."""
    rows: list[Row] = []
    at = 0
    for i0, i1, j0, j1 in changes(old, new):
        first = max(i0 - _AROUND, at)
        if first > at and at:
            rows.append((("  …", "dim"),))
        rows += [_line(" ", line, columns) for line in old[first:i0]]
        gone, come = old[i0:i1], new[j0:j1]
        if len(gone) == len(come):
            cut = [_pair(*both, columns) for both in zip(gone, come, strict=True)]
            rows += [left for left, _ in cut] + [right for _, right in cut]
        else:
            rows += [_line("-", line, columns) for line in gone]
            rows += [_line("+", line, columns) for line in come]
        at = min(i1 + _AROUND, len(old))
        rows += [_line(" ", line, columns) for line in old[i1:at]]
    return rows


def _pair(gone: str, come: str, columns: int) -> tuple[Row, Row]:
    texts = [_plain(gone), _plain(come)]
    left, right = aligned(texts, columns - 4)
    return (
        (("  -", "red"), (left.text(texts[0]), "red")),
        (("  +", "green"), (right.text(texts[1]), "green")),
    )


def _line(sign: str, line: str, columns: int) -> Row:
    colour = {"-": "red", "+": "green"}.get(sign, "")
    text = _plain(line)
    (spans,) = aligned([text], columns - 4, is_head=True)
    return ((f"  {sign}{spans.text(text)}", colour),)


def _lines(text: str | None) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """How many rows each gets: what one does not need is the other's."""
    first, second = wanted
    given = max(min(first, room - min(second, room // 2)), 1)
    return [given, max(min(second, room - given), 1)]


def _author(told: str | None, room: Size) -> list[Row]:
    return [((f"    {shortened(one_row(told), room.columns - 4)}", "dim"),)] if told else []


def _plain(text: str) -> str:
    """A text on one row: what cannot be seen is spelled, blanks at its end as well."""
    shown = one_row(text)
    bare = shown.rstrip(" ")
    return bare + "·" * (len(shown) - len(bare))
