"""What a question looks like: rows of coloured parts, never more of them than the terminal has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kmerge_git.cli.excerpts import Part, aligned, cells, one_row, shortened, wrapped
from kmerge_git.text.diff3 import changes

if TYPE_CHECKING:
    from kmerge_git.whole.kept import Answer
    from kmerge_git.whole.questions import Question

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
