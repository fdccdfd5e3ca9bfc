"""A template as a tree: lines, and blocks of whole lines from an opening to its `end`.

The pieces of a tree joined are the text byte for byte. What would not be a tree of whole lines
is refused: a control action beside text, two of them that end different blocks in one line.
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
    Told,
    action_at,
    refusal,
    refuse_own_words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


TEXT, BLANK, INLINE = "text", "blank", "inline"  # and OUTPUT, ASSIGN, COMMENT of the lexer
DEEPEST = 200  # blocks inside blocks; nobody writes ten
CONTROL = frozenset((OPEN, ELSE, END))
COMMENT_OR_CONTROL = CONTROL.union((COMMENT,))


class Row:
    """A line with its end; several of them where an action goes over lines."""

    __slots__ = ("actions", "groups", "kind", "text")

    def __init__(
        self,
        text: str,
        kind: str,
        groups: tuple[tuple[int, int], ...] = (),
        actions: tuple[Action, ...] = (),
    ) -> None:
        self.text = text
        self.kind = kind
        self.groups = groups  # spans in the text; what `if ... end` encloses in a line is one
        self.actions = actions  # of groups the inner ones, too


class Arm:
    """One way through a block: the whole line of its opening or `else`, and what it holds."""

    __slots__ = ("action", "header", "parts")

    def __init__(self, header: str, action: Action, parts: tuple[Part, ...]) -> None:
        self.header = header
        self.action = action
        self.parts = parts


class Block:
    """Lines from an opening to its `end`."""

    __slots__ = ("arms", "ending", "word")

    def __init__(self, arms: tuple[Arm, ...], ending: str, word: str) -> None:
        self.arms = arms
        self.ending = ending
        self.word = word  # of the opening

    @property
    def text(self) -> str:
        """All of its lines."""
        found: list[str] = []
        todo: list[str | Part] = [self]
        while todo:
            part = todo.pop()
            if isinstance(part, str):
                found.append(part)
            elif isinstance(part, Row):
                found.append(part.text)
            else:
                todo.append(part.ending)
                for arm in reversed(part.arms):
                    todo += reversed(arm.parts)
                    todo.append(arm.header)
        return "".join(found)


if TYPE_CHECKING:
    Part = Row | Block

KNOWN = 12  # texts: three versions and a result, with bodies of theirs
MOST_KNOWN = 60_000  # characters of such a text
_KNOWN: dict[str, tuple[Part, ...]] = {}


def parse(text: str) -> tuple[Part, ...]:
    """The lines and blocks of a template, which joined are its text.

    Those of the last texts are known: each guard of a merge asks for them again.
    """
    parts = _KNOWN.get(text)
    if parts is None:
        parts = _parsed(text)
        if len(text) <= MOST_KNOWN:
            if len(_KNOWN) >= KNOWN:
                _KNOWN.clear()
            _KNOWN[text] = parts
    return parts


def _parsed(text: str) -> tuple[Part, ...]:
    if text.count("\r") != text.count("\r\n"):
        raise refusal(text, _lone_return(text), "a lone carriage return")
    refuse_own_words(text)
    parts: list[Part] = []
    above: list[_Opened] = []
    for row in _rows(text):
        if row.kind not in CONTROL:
            parts.append(row)
            continue
        action = next(action for action in row.actions if action.kind in CONTROL)
        if action.kind == OPEN:
            above.append(_Opened(parts, row.text, action))
            parts = []
            continue
        opened = above[-1]
        opened.arms.append(Arm(opened.header, opened.action, tuple(parts)))
        if action.kind == ELSE:
            opened.header, opened.action = row.text, action
            parts = []
        else:
            above.pop()
            parts = opened.before
            parts.append(Block(tuple(opened.arms), row.text, opened.word))
    return tuple(parts)


class _Opened:
    """A block whose `end` was not seen yet."""

    __slots__ = ("action", "arms", "before", "header", "word")

    def __init__(self, before: list[Part], header: str, action: Action) -> None:
        self.before = before
        self.arms: list[Arm] = []
        self.header = header
        self.action = action
        self.word = action.word


def _lone_return(text: str) -> int:
    at = text.find("\r")
    while text.startswith("\n", at + 1):
        at = text.find("\r", at + 1)
    return at


def _rows(text: str) -> Iterator[Row]:
    """Every line; the kind of one that begins or ends something is the kind of that action."""
    known: dict[str, Told] = {}
    nest: list[_Nested] = []
    start, size, at = 0, len(text), text.find("{{")
    while start < size:
        end = text.find("\n", start) + 1 or size
        found = []
        while start <= at < end:
            action = action_at(text, at, start, known)
            _nested(text, start, action, nest)
            found.append(action)
            behind = start + action.end
            if behind > end:
                end = text.find("\n", behind) + 1 or size
            at = text.find("{{", behind)
        line = text[start:end]
        if found:
            yield _row(text, start, line, tuple(found))
        else:
            yield Row(line, BLANK if line == "\n" or not line.strip(SPACE) else TEXT)
        start = end
    if nest:
        raise refusal(text, nest[-1].at, f"`{nest[-1].word}` without an end")


class _Nested:
    """A block that is open at a place of a text."""

    __slots__ = ("at", "other", "word")

    def __init__(self, at: int, word: str) -> None:
        self.at = at
        self.word = word
        self.other = word in ("if", "with", "range")  # whether an `else` may follow


def _nested(text: str, start: int, action: Action, nest: list[_Nested]) -> None:
    """Take an action into what is open; refuse an `else` or `end` where Go takes none."""
    if action.kind not in CONTROL:
        return
    at = start + action.start
    if action.kind == OPEN:
        if action.word == "define" and nest:
            raise refusal(text, at, "`define` inside a block")
        if len(nest) == DEEPEST:
            raise refusal(text, at, f"more than {DEEPEST} blocks inside each other")
        nest.append(_Nested(at, action.word))
    elif not nest:
        raise refusal(text, at, f"`{action.word}` without a block")
    elif action.kind == END:
        nest.pop()
    else:
        condition = action.body[len("else") :].lstrip(SPACE)
        opened = nest[-1]
        if not opened.other or (condition and not condition.startswith(opened.word)):
            raise refusal(text, at, "an `else` that its block cannot have")
        opened.other = bool(condition)


def _row(text: str, start: int, line: str, inside: tuple[Action, ...]) -> Row:
    groups = _groups(inside)
    if groups is not None:
        for action in inside:
            if action.word == "define" and action.kind == OPEN:  # its name says what it is
                raise refusal(text, start + action.start, "a whole `define` in one line")
        return Row(line, _kind(line, groups, inside), groups, inside)
    control = _alone(text, start, line, inside)
    return Row(line, control.kind, ((control.start, control.end),), inside)


def _alone(text: str, start: int, line: str, inside: tuple[Action, ...]) -> Action:
    """The control action of a line that has nothing else but comments."""
    controls = [action for action in inside if action.kind in CONTROL]
    if len(controls) > 1:
        raise refusal(
            text, start + controls[1].start, "blocks begin or end in the middle of a line"
        )
    if not _is_bare(line, [(a.start, a.end) for a in inside if a.kind in COMMENT_OR_CONTROL]):
        name = controls[0].word
        raise refusal(
            text, start + controls[0].start, f"`{name}` beside something else in its line"
        )
    return controls[0]


def _groups(inside: tuple[Action, ...]) -> tuple[tuple[int, int], ...] | None:
    """The spans of a line's outermost actions; None if a block of it begins or ends elsewhere."""
    found = []
    depth = start = 0
    for action in inside:
        if not depth:
            start = action.start
        if action.kind == OPEN:
            depth += 1
        elif action.kind == END:
            depth -= 1
        elif action.kind == ELSE and not depth:
            return None
        if depth < 0:
            return None
        if not depth:
            found.append((start, action.end))
    return None if depth else tuple(found)


def _kind(line: str, groups: tuple[tuple[int, int], ...], inside: tuple[Action, ...]) -> str:
    """What a line with actions is to those who merge it."""
    if not _is_bare(line, groups):
        return INLINE
    kinds = {action.kind for action in inside}
    if len(kinds) == 1:
        return inside[0].kind
    if OUTPUT in kinds or not _is_bare(line, [(a.start, a.end) for a in inside]):
        return OUTPUT
    return ASSIGN if ASSIGN in kinds else OUTPUT


def _is_bare(line: str, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether a line has nothing but white space outside of its spans."""
    at = 0
    for start, end in spans:
        if line[at:start].strip(SPACE):
            return False
        at = end
    return not line[at:].strip(SPACE)
