"""Take a template apart into lines, and blocks of whole lines from an opening to its `end`.

The pieces of the tree joined are the text byte for byte. A text that would not be a tree of whole
lines is refused: a control action beside text, two of them that end different blocks in one line.
"""

from __future__ import annotations

from kmerge_git.template.action_lexer import (
    ASSIGN,
    COMMENT,
    ELSE,
    END,
    OPEN,
    OUTPUT,
    SPACE,
    Action,
    action_at,
    refusal,
    refuse_own_words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kmerge_git.template.action_lexer import Spelling

    Spans = Iterable[tuple[int, int]]

TEXT, BLANK, INLINE = "text", "blank", "inline"  # and OUTPUT, ASSIGN, COMMENT of the lexer
DEEPEST = 200  # blocks inside blocks; nobody writes ten
CONTROL = frozenset((OPEN, ELSE, END))


class Row:
    """A line with its end; several of them where an action goes over lines."""

    __slots__ = ("actions", "groups", "kind", "number", "start", "text")

    def __init__(
        self,
        text: str,
        kind: str,
        start: int = 0,
        groups: tuple[tuple[int, int], ...] = (),
        actions: tuple[Action, ...] = (),
    ) -> None:
        self.text = text
        self.kind = kind
        self.start = start  # its offset in the template
        self.number = 0  # of the line in the template, from 0
        self.groups = groups  # spans in its text; `if ... end` in one line is one of them
        self.actions = actions  # all of them, those inside of groups, too


class Arm:
    """One way through a block: the whole line of its opening or `else`, and the parts below it."""

    __slots__ = ("action", "header", "parts")

    def __init__(self, header: str, action: Action, parts: Sequence[Part]) -> None:
        self.header = header
        self.action = action
        self.parts = parts


class Block:
    """Lines from an opening to its `end`."""

    __slots__ = ("arms", "ending", "word")

    def __init__(self, arms: tuple[Arm, ...], ending: str) -> None:
        self.arms = arms
        self.ending = ending
        self.word = arms[0].action.word

    @property
    def text(self) -> str:
        """Return all of its lines."""
        return "".join(_lines(self))


if TYPE_CHECKING:
    Part = Row | Block


def blocks_in(parts: Iterable[Part]) -> Iterator[Block]:
    """Yield the blocks among some parts, and those inside of them."""
    for part in parts:
        if isinstance(part, Block):
            yield part
            for arm in part.arms:
                yield from blocks_in(arm.parts)


def _lines(part: Part) -> Iterator[str]:
    if isinstance(part, Row):
        yield part.text
        return
    for arm in part.arms:
        yield arm.header
        for inner in arm.parts:
            yield from _lines(inner)
    yield part.ending


class Template:
    """A text with actions, which is taken apart once, when that is first needed."""

    __slots__ = ("_read", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._read: tuple[tuple[Part, ...], list[Action]] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return its lines and blocks, which joined are its text."""
        return self._taken_apart()[0]

    @property
    def actions(self) -> list[Action]:
        """Return its actions in their order."""
        return self._taken_apart()[1]

    def _taken_apart(self) -> tuple[tuple[Part, ...], list[Action]]:
        if self._read is None:
            self._read = _taken_apart(self.text)
        return self._read


def parse(text: str) -> tuple[Part, ...]:
    """Return the lines and blocks of a text."""
    return Template(text).parts


def _taken_apart(text: str) -> tuple[tuple[Part, ...], list[Action]]:
    if text.count("\r") != text.count("\r\n"):
        raise refusal(text, _lone_return(text), "a lone carriage return")
    refuse_own_words(text)
    actions: list[Action] = []
    parts: list[Part] = []
    above: list[tuple[list[Part], list[Arm]]] = []  # of open blocks: before them, arms
    for row in _rows(text, actions):
        if row.kind == END:
            parts, arms = above.pop()
            parts.append(Block(tuple(arms), row.text))
        elif row.kind in CONTROL:
            if row.kind == OPEN:
                above.append((parts, []))
            parts = []
            action = next(action for action in row.actions if action.kind in CONTROL)
            above[-1][1].append(Arm(row.text, action, parts))
        else:
            parts.append(row)
    return tuple(parts), actions


def _lone_return(text: str) -> int:
    at = text.find("\r")
    while text.startswith("\n", at + 1):
        at = text.find("\r", at + 1)
    return at


def _rows(text: str, actions: list[Action]) -> Iterator[Row]:
    """Yield every line, and add its actions to a list.

    The kind of a line that begins or ends something is the kind of that action.
    """
    known: dict[str, Spelling] = {}
    nest: list[_Nested] = []
    start, number, size, at = 0, 0, len(text), text.find("{{")
    while start < size:
        end = text.find("\n", start) + 1 or size
        first = len(actions)
        while start <= at < end:
            action = action_at(text, at, known)
            _nested(text, action, nest)
            actions.append(action)
            if action.end > end:
                end = text.find("\n", action.end) + 1 or size
            at = text.find("{{", action.end)
        row = _row(text, start, end, tuple(actions[first:]))
        row.number = number
        yield row
        start, number = end, number + row.text.count("\n")
    if nest:
        raise refusal(text, nest[-1].at, f"`{nest[-1].word}` without an end")


class _Nested:
    """A block that is open at a place of a text."""

    __slots__ = ("at", "takes_else", "word")

    def __init__(self, at: int, word: str) -> None:
        self.at = at
        self.word = word
        self.takes_else = word in ("if", "with", "range")


def _nested(text: str, action: Action, nest: list[_Nested]) -> None:
    """Add an action to the open blocks; refuse an `else` or `end` where Go takes none."""
    at = action.start
    if action.kind == OPEN:
        if action.word == "define" and nest:
            raise refusal(text, at, "`define` inside a block")
        if len(nest) == DEEPEST:
            raise refusal(text, at, f"more than {DEEPEST} blocks inside each other")
        nest.append(_Nested(at, action.word))
    elif action.kind in CONTROL and not nest:
        raise refusal(text, at, f"`{action.word}` without a block")
    elif action.kind == END:
        nest.pop()
    elif action.kind == ELSE:
        condition = action.body[len("else") :].lstrip(SPACE)
        opened = nest[-1]
        is_other = condition and not condition.startswith(opened.word)
        if not opened.takes_else or is_other:
            raise refusal(text, at, "an `else` that its block cannot have")
        opened.takes_else = bool(condition)


def _row(text: str, start: int, end: int, inside: tuple[Action, ...]) -> Row:
    line = text[start:end]
    if not inside:
        return Row(line, TEXT if line.strip(SPACE) else BLANK, start)
    spans = _groups(inside)
    if spans is None:
        control = _alone(text, start, end, inside)
        kind, spans = control.kind, [(control.start, control.end)]
    else:
        for action in inside:
            if action.word == "define" and action.kind == OPEN:  # its name says what it is
                raise refusal(text, action.start, "a whole `define` in one line")
        kind = _kind(text, start, end, spans, inside)
    return Row(line, kind, start, tuple((at - start, to - start) for at, to in spans), inside)


def _alone(text: str, start: int, end: int, inside: tuple[Action, ...]) -> Action:
    """Return the control action of a line that has nothing else but comments."""
    controls = [action for action in inside if action.kind in CONTROL]
    if len(controls) > 1:
        raise refusal(text, controls[1].start, "blocks begin or end in the middle of a line")
    control = controls[0]
    around = [(a.start, a.end) for a in inside if a is control or a.kind == COMMENT]
    if not _is_bare(text, start, end, around):
        raise refusal(text, control.start, f"`{control.word}` beside something else in its line")
    return control


def _groups(inside: tuple[Action, ...]) -> list[tuple[int, int]] | None:
    """Return the spans of outermost actions; None if a block begins or ends elsewhere."""
    spans = []
    depth = start = 0
    for action in inside:
        if not depth:
            start = action.start
        depth += (action.kind == OPEN) - (action.kind == END)
        if depth < 0 or (action.kind == ELSE and not depth):
            return None
        if not depth:
            spans.append((start, action.end))
    return None if depth else spans


def _kind(text: str, start: int, end: int, spans: Spans, inside: tuple[Action, ...]) -> str:
    """Return the kind of a line with actions for those who merge it."""
    if not _is_bare(text, start, end, spans):
        return INLINE
    kinds = {action.kind for action in inside}
    if len(kinds) == 1:
        return inside[0].kind
    if OUTPUT in kinds or not _is_bare(text, start, end, [(a.start, a.end) for a in inside]):
        return OUTPUT
    return ASSIGN if ASSIGN in kinds else OUTPUT


def _is_bare(text: str, at: int, end: int, spans: Spans) -> bool:
    """Return whether a part of a text has nothing but white space outside of some spans."""
    for start, stop in (*spans, (end, end)):
        if text[at:start].strip(SPACE):
            return False
        at = stop
    return True
