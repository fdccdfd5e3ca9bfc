"""Show a question on a terminal, in no more rows than the terminal has, and read the answer.

Texts are cut to the width of the terminal so that the difference between them stays visible.
Rows are only appended, so a log of the terminal reads as a person saw it.

Keys are single keys on a terminal, else whole lines. A signal interrupts nothing: the program stops
when it reads the next key. A second signal ends the program at once. In any case the terminal gets
its earlier settings back.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import termios
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import east_asian_width

from kmerge_git.cli.in_and_out import Paint
from kmerge_git.merge.finish.possible_answers import CHOICES
from kmerge_git.text.diff3 import changes
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.visible import visible

if TYPE_CHECKING:
    from kmerge_git.whole.conflict_questions import Answer, Question

Part = tuple[str, str]  # a text and its colour
Row = tuple[Part, ...]
Span = tuple[int, int]

DOTS = "…"
_COLOURS = {"base": "", "ours": "green", "theirs": "yellow"}
_LABEL = 24  # the most characters shown of a branch's name
_ENOUGH = 56  # with so many columns left, a value is on the row of its side's name
_PROMPT = 2  # rows for the prompt and for the answer
_AROUND = 1  # lines shown around a change
_ABOVE = 2  # lines of the file shown above a conflict, and below it
_HIGHER = " (higher)"


@dataclass(frozen=True, slots=True)
class Size:
    """Hold the size of a terminal."""

    columns: int = 80
    rows: int = 24


@dataclass(frozen=True, slots=True)
class Around:
    """Hold what a question shows next to the values, such as its number and an earlier answer."""

    number: int
    total: int
    labels: tuple[str, str, str]
    answer: str = ""
    authors: Mapping[str, str] = field(default_factory=dict)  # side -> author
    higher: str = ""  # the side with the higher version
    above: Sequence[str] = ()  # lines of the file
    below: Sequence[str] = ()


class Screen:
    """Write rows, sentences and prompts to a stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._paint = Paint("auto", stream)

    def room(self) -> Size:
        """Return the size of the terminal as it is now."""
        columns, rows = shutil.get_terminal_size()
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return Size(columns, rows)
        # prefer the real size: $COLUMNS may be older
        return Size(size.columns or columns, size.lines or rows)

    def rows(self, rows: Iterable[Row]) -> None:
        """Write rows that already fit the terminal."""
        for row in rows:
            self._stream.write(self._paint.line(*row) + "\n")

    def say(self, text: str, colour: str = "", most: int = 0) -> None:
        """Write a sentence, wrapped to the width of the terminal in at most `most` rows."""
        self.rows(((row, colour),) for row in wrapped(one_row(text), self.room().columns, most))
        self._stream.flush()

    def prompt(self, text: str) -> None:
        """Write a prompt and stay on its row for the answer."""
        self._stream.write(self._paint.line((text, "blue"), " "))
        self._stream.flush()

    def echo(self, text: str) -> None:
        """Write the answer, because a terminal that reads single keys does not show them."""
        self._stream.write(visible(text) + "\n")
        self._stream.flush()


def picture(question: Question, around: Around, room: Size) -> list[Row]:
    """Return the rows of a question, without its prompt."""
    head = _head(question, around, room.columns)
    names = {
        side: side if side == label else f"{side} ({_short(one_row(label))})"
        for side, label in zip(VERSIONS, around.labels, strict=True)
    }
    show = _values if question.kind == "value" else _versions
    rows = max(room.rows - len(head) - _PROMPT, 3)
    body = show(question, names, around, Size(room.columns, rows))[:rows]
    above, below = _context(around, rows - len(body), room.columns)
    return head + above + body + below


def _context(around: Around, free: int, columns: int) -> tuple[list[Row], list[Row]]:
    """Return the lines next to a conflict in its file, as far as rows are free, first those above.

    The lines lose the indentation that all of them share.
    """
    above, below = around.above[-_ABOVE:], around.below[:_ABOVE]
    margin = _margin([*above, *below])
    rows = [_line("|", f" {line[margin:]}", columns) for line in (*above, *below)]
    return rows[max(len(above) - free, 0) : len(above)], rows[len(above) : max(free, len(above))]


def _short(label: str) -> str:
    """Shorten git's name of a side; drop the subject in parentheses first."""
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
        text = f"answer: {one_row(around.answer)} (press Enter to keep it)"
        rows.append(((shortened(text, columns), "bold"),))
    return rows


def in_short(question: Question, answer: Answer | None) -> str:
    """Return an answer as one line such as `theirs: 1.4.2`, or '' if there is no answer."""
    if answer is None:
        return ""
    how = side_of(question, answer) if answer.how == "higher" else answer.how
    text = question.values.side(how) if how in VERSIONS else answer.text
    first, more, _ = (_absent(question, how) if text is None else text).strip().partition("\n")
    return f"{how if how in CHOICES else 'edited'}: {first.strip()}{' …' if more else ''}"


def side_of(question: Question, answer: Answer) -> str:
    """Return the side whose lines the answer `higher` took."""
    return "ours" if answer.text == question.conflict.ours else "theirs"


def _absent(question: Question, side: str) -> str:
    """Return the words for a version that has nothing at the place of a conflict."""
    return "(none)" if side == "base" or question.values.base is None else "(deleted)"


# -- a value


def _values(question: Question, names: Mapping[str, str], around: Around, room: Size) -> list[Row]:
    """Return the rows of the values, one below the other, so that differences line up."""
    texts = {
        side: _plain(text) for side in VERSIONS if (text := question.values.side(side)) is not None
    }
    no_text = {side: _absent(question, side) for side in VERSIONS}
    wide = max(cells(name) for name in names.values())
    longest = max(map(cells, [*texts.values(), *no_text.values()]))
    gaps = 4 + (len(_HIGHER) if around.higher else 0)
    free = room.columns - wide - gaps
    is_one_row = longest <= free or free >= _ENOUGH
    if not is_one_row and room.rows < 6 + len(around.authors):
        names, wide, is_one_row = {side: side for side in VERSIONS}, max(map(len, VERSIONS)), True
    shown = _painted(texts, max(room.columns - (wide if is_one_row else 0) - gaps, 16))
    rows: list[Row] = []
    for side in VERSIONS:
        value = shown.get(side) or ((no_text[side], "dim"),)
        value += ((_HIGHER, "dim"),) if side == around.higher else ()
        name = names[side]
        if is_one_row:
            rows.append(((f"  {name}{' ' * (wide - cells(name))}  ", ""), *value))
        else:
            rows += [((f"  {shortened(name, room.columns - 2)}", ""),), (("    ", ""), *value)]
        rows += _author(around.authors.get(side), room)
    return rows


def _painted(texts: Mapping[str, str], width: int) -> dict[str, Row]:
    """Shorten texts so that their differences stay visible; colour the changes of each side."""
    rows = {}
    for (side, text), excerpt in zip(
        texts.items(), aligned(list(texts.values()), width), strict=True
    ):
        other = texts.get("base") if side != "base" else None
        if other is None:  # without a base, colour the difference of the two sides
            other = texts.get({"ours": "theirs", "theirs": "ours"}.get(side, ""), text)
        rows[side] = excerpt.painted(text, other, _COLOURS[side])
    return rows


# -- several lines


def _versions(
    question: Question, names: Mapping[str, str], around: Around, room: Size
) -> list[Row]:
    """Show the changes of each side as a small diff."""
    texts = _texts(question)
    base = _lines(texts["base"])
    bodies = {
        side: _changes(base, _lines(texts[side]), room.columns) if texts[side] else []
        for side in ("ours", "theirs")
    }
    fixed = 2 + sum(side in around.authors for side in bodies)
    most = _shares([len(body) for body in bodies.values()], room.rows - fixed)
    rows: list[Row] = []
    for (side, body), share in zip(bodies.items(), most, strict=True):
        nothing = ": deleted" if texts["base"] else ": nothing"
        verdict = (":" if body else ": same as the base") if texts[side] else nothing
        rows.append(((f"  {shortened(names[side] + verdict, room.columns - 2)}", "bold"),))
        rows += _author(around.authors.get(side), room)
        rest = len(body) - share
        rows += body[: share - 1] if rest > 0 else body
        if rest > 0:
            more = f"  … {rest + 1} more lines, press `e` to see all"
            rows.append(((shortened(more, room.columns), "dim"),))
    return rows


def _texts(question: Question) -> dict[str, str | None]:
    """Return the lines of the three versions without the indentation that all lines share."""
    conflict = question.conflict
    texts = dict(zip(VERSIONS, (conflict.base, conflict.ours, conflict.theirs), strict=True))
    margin = _margin([line for text in texts.values() for line in text.split("\n")])
    return {
        side: "\n".join(x[margin:] for x in text.split("\n"))
        if text
        else question.values.side(side)
        for side, text in texts.items()
    }


def _margin(lines: Iterable[str]) -> int:
    """Return the width of the indentation that all lines share, apart from blank lines."""
    return min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip(" ")), default=0)


def _changes(old: list[str], new: list[str], columns: int) -> list[Row]:
    """Return the rows of a diff; cut a line and its replacement at the same columns."""
    rows: list[Row] = []
    at = 0
    for i0, i1, j0, j1 in changes(old, new):
        first = max(i0 - _AROUND, at)
        if first > at and at:
            rows.append((("  …", "dim"),))
        rows += [_line(" ", line, columns) for line in old[first:i0]]
        gone, come = old[i0:i1], new[j0:j1]
        if len(gone) == len(come):
            pairs = [_pair(*both, columns) for both in zip(gone, come, strict=True)]
            rows += [left for left, _ in pairs] + [right for _, right in pairs]
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
    text = _plain(line)
    (excerpt,) = aligned([text], columns - 4, is_head=True)
    return (
        (f"  {sign}{excerpt.text(text)}", {"-": "red", "+": "green", "|": "dim"}.get(sign, "")),
    )


def _lines(text: str | None) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """Divide the rows between the two sides; rows that one side does not need go to the other."""
    first, second = wanted
    given = max(min(first, room - min(second, room // 2)), 1)
    return [given, max(min(second, room - given), 1)]


def _author(author: str | None, room: Size) -> list[Row]:
    return [((f"    {shortened(one_row(author), room.columns - 4)}", "dim"),)] if author else []


def _plain(text: str) -> str:
    """Return a text on one row, with invisible characters and trailing blanks made visible."""
    shown = one_row(text)
    bare = shown.rstrip(" ")
    return bare + "·" * (len(shown) - len(bare))


# -- texts cut to the columns


class Excerpt:
    """Hold the spans of a long text that are shown; dots replace the omitted parts."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans

    def text(self, text: str) -> str:
        """Return the shown parts of the text."""
        return "".join(part for part, _ in self._parts(text, (0, 0), ""))

    def painted(self, text: str, other: str, colour: str) -> Row:
        """Return the shown parts of the text; colour the part that differs from the other text."""
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
    """Return an excerpt of each text, so that the excerpts of different texts look different.

    If `is_head` is true, each excerpt is the beginning of its text.
    """
    rooms = [_characters(text, width) for text in texts]
    too_long = [text for text, room in zip(texts, rooms, strict=True) if len(text) > room]
    spots = {_common(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :] if a != b}
    windows = _windows(max(map(len, too_long)), sorted(spots), min(rooms)) if too_long else []
    excerpts = []
    for text, room in zip(texts, rooms, strict=True):
        length, tail = len(text), (room - 1) // 2
        if length <= room:
            spans = [(0, length)]
        elif is_head:
            spans = [(0, room - 1)]
        elif windows:
            spans = [(min(start, length), min(stop, length)) for start, stop in windows]
        else:  # omit the middle
            spans = [(0, room - 1 - tail), (length - tail, length)]
        excerpts.append(Excerpt(spans))
    return excerpts


def one_row(text: str) -> str:
    """Return a text without control characters; spell tabs, because their width is unknown."""
    return visible(text).replace("\t", "\\t")


def shortened(text: str, width: int) -> str:
    """Return a text; if it is too long, omit the middle."""
    (excerpt,) = aligned([text], width)
    return excerpt.text(text)


def wrapped(text: str, width: int, most: int = 0) -> list[str]:
    """Wrap a text at blanks; if `most` is given, cut the text after so many rows."""
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
    """Return how many columns a text takes at most."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _characters(text: str, width: int) -> int:
    """Return how many characters of a text surely fit; some characters take two columns."""
    width = max(width, 16)
    if len(text) == cells(text):
        return width
    return max(len(text) if cells(text) <= width else 0, width // 2)


def _windows(longest: int, spots: Sequence[int], room: int) -> list[Span]:
    """Return the spans to show in all texts: around each spot where two texts begin to differ."""
    if spots and spots[-1] - spots[0] < room * 2 // 3:  # one span shows all spots
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


def _differing(text: str, other: str) -> Span:
    """Return the span in which a text differs from another text, extended to whole words."""
    start = _common(text, other)
    stop = len(text) - _common(text[start:][::-1], other[start:][::-1])
    while start and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while stop < len(text) and stop and text[stop].isalnum() and text[stop - 1].isalnum():
        stop += 1
    return start, stop


def _common(one: str, other: str) -> int:
    """Return how many characters at the beginning of the two texts are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


AGAIN = "\f"  # Ctrl-L, or the program was continued: show the question again
RESIZED = "resized"
ESCAPE = "Esc"
ENTER = ""
_SETTLED = 0.15  # seconds without a change of size before the question is shown again
_SEQUENCE = 0.05  # seconds without a byte after which a key of several bytes is complete
_ENDINGS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_LFLAGS, _CHARS = 3, 6  # indexes in the result of `tcgetattr`


class Keys:
    """Read keys from a terminal, or lines if stdin is not a terminal, inside a `with` block."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self.is_single = source.isatty() and os.environ.get("TERM") != "dumb"
        self._typed = b""
        self._is_at_end = False
        self._before: list[Any] | None = None  # the terminal's earlier settings
        self._handlers: dict[int, Any] = {}
        self._ended_by = 0
        self._is_back = self._is_resized = self._is_lent = False
        self._woken: tuple[int, int] | None = None
        self._waker = -1

    def __enter__(self) -> Keys:
        self._listen()
        self._take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._give_back()
        self._stop_listening()
        if self.is_killed:
            _die_of(self._ended_by)

    @property
    def echoes(self) -> bool:
        """Return whether the terminal itself shows the typed keys."""
        return self._source.isatty() and not self.is_single

    @property
    def is_killed(self) -> bool:
        """Return whether a signal other than Ctrl-C asked the process to end."""
        return self._ended_by not in (0, signal.SIGINT)

    def read(self) -> str | None:
        """Return the next key, or the next line without outer blanks; return None at the end."""
        while not self._ended_by:
            if self._is_back:
                self._is_back = False
                return AGAIN
            word = self._key() if self.is_single else self._line()
            if word is not None:
                return None if word == "\x04" else word
            if self._is_at_end:
                return None
            if not self._fill(_SETTLED if self._is_resized else None) and self._is_resized:
                self._is_resized = False
                return RESIZED
        return None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let another program use the terminal and get the signals of keys such as Ctrl-C."""
        self._give_back()
        before = self._mode()
        # set a handler, because the other program would inherit an ignored signal
        numbers = (signal.SIGINT, signal.SIGQUIT)
        handlers = [(number, signal.signal(number, lambda *of: None)) for number in numbers]
        self._is_lent = True
        try:
            yield
        finally:
            self._is_lent = False
            for number, handler in handlers:
                signal.signal(number, handler)
            if before is not None and before != self._mode():  # the program crashed
                self._set(before)
            self._take()

    # -- typed keys

    def _key(self) -> str | None:
        if not self._typed:
            return None
        length = 1
        if self._typed[0] >= 0x80 or self._typed[:1] == b"\x1b":
            # an arrow, a pasted text or a message of the terminal: none of its bytes is an answer
            while not self._is_at_end and self._fill(_SEQUENCE):
                pass
            length = len(self._typed)
        key, self._typed = self._typed[:length], self._typed[length:]
        if key[:1] == b"\x1b":
            return ESCAPE
        return ENTER if key in (b"\r", b"\n") else key.decode("utf-8", "surrogateescape")

    def _line(self) -> str | None:
        line, end, rest = self._typed.partition(b"\n")
        if not end and not (line and self._is_at_end):
            return None
        self._typed = rest
        return line.decode("utf-8", "surrogateescape").strip()

    def _fill(self, seconds: float | None) -> bool:
        """Wait for a key or a signal; return False if neither came in time."""
        file = self._source.fileno()
        wake = self._woken[0] if self._woken else -1
        ready, _, _ = select.select([file, *([wake] if wake >= 0 else [])], [], [], seconds)
        if wake in ready:
            os.read(wake, 4096)
        if file in ready:
            try:
                data = os.read(file, 4096)
            except OSError:  # the terminal is gone
                data = b""
            self._is_at_end = not data
            self._typed += data
        return bool(ready)

    # -- the terminal

    def _take(self) -> None:
        """Set the terminal to single keys, and drop keys typed before the question was shown."""
        if not self.is_single:
            return
        file = self._source.fileno()
        with suppress(termios.error):
            self._before = termios.tcgetattr(file)
            mode = termios.tcgetattr(file)
            mode[_LFLAGS] &= ~(termios.ICANON | termios.ECHO)
            mode[_CHARS][termios.VMIN], mode[_CHARS][termios.VTIME] = 1, 0
            termios.tcsetattr(file, termios.TCSAFLUSH, mode)
            self._typed = b""

    def _give_back(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            self._set(before)

    def _mode(self) -> list[Any] | None:
        """Return the settings of the terminal, or None if stdin is not a terminal."""
        with suppress(termios.error, ValueError):
            return termios.tcgetattr(self._source.fileno())
        return None

    def _set(self, mode: list[Any]) -> None:
        with suppress(termios.error, ValueError):
            termios.tcsetattr(self._source.fileno(), termios.TCSADRAIN, mode)

    # -- signals

    def _listen(self) -> None:
        self._woken = os.pipe()
        for end in self._woken:
            os.set_blocking(end, False)
        try:
            self._waker = signal.set_wakeup_fd(self._woken[1], warn_on_full_buffer=False)
        except ValueError:  # signals can be handled only in the main thread
            return
        answers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
            **dict.fromkeys(_ENDINGS, self._end),
            signal.SIGTSTP: self._stop_for_a_while,
            signal.SIGWINCH: self._resize,
        }
        for number, handler in answers.items():
            if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores SIGHUP
                self._handlers[number] = signal.signal(number, handler)

    def _stop_listening(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._woken:
            with suppress(ValueError):
                signal.set_wakeup_fd(self._waker)
            for end in self._woken:
                os.close(end)
            self._woken = None

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self._ended_by:
            self._ended_by = number
            return
        self._give_back()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        _die_of(number)

    def _stop_for_a_while(self, number: int, frame: FrameType | None) -> None:
        was_taken = self._before is not None
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # from here on the process is in the foreground again
        signal.signal(number, self._stop_for_a_while)
        if was_taken:
            self._take()
        self._is_back = not self._is_lent

    def _resize(self, number: int, frame: FrameType | None) -> None:
        self._is_resized = True


def _die_of(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
