"""Make the readings of a template: YAML texts that stand for what the template may render.

In a reading, one branch of each block is chosen, and words replace the actions. Control lines are
removed, an action inside a line becomes a word made of its text, and an action on a line of its own
is removed. In the reading `all` every condition is true and the first branch of each block is
taken; in `none` no condition is true; `arm1` and so on take the branches of `else if`; `last` takes
each `else`. A `mix` reading has a mask, in which the bit of a condition's number says whether the
condition is true. Of two conditions with different numbers each is true in some reading in which
the other is false. A condition has the same answer in all versions of a file. `not x` gets the
opposite answer of `x`. The body of a `define` becomes a text of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from kmerge_git.template.template_layout import given_column, indent, scalar_above
from kmerge_git.template.template_parser import (
    ASSIGN,
    BLANK,
    COMMENT,
    OUTPUT,
    TEXT,
    TOKEN,
    Block,
    blocks_in,
    hashed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kmerge_git.template.template_parser import Action, Part, Row

    Picked = list[tuple["Shape", int]]  # lines of a reading, with their numbers in the template
    Items = list[tuple["Shape", int] | "_Node"]

FEW_BITS = 2  # of the numbers of conditions: up to 4 conditions have different numbers
MOST_BITS = 5  # the same in thorough readings
MOST_NUMBERS = 1 << MOST_BITS
ALL_WAYS = 5  # conditions that are combined in every way in thorough readings
MOST_ROUNDS = 3  # of thorough `mix` readings; each round takes other arms of `else if`
MOST_ARMS = 4  # readings for arms of `else if`


class Rendering:
    """Hold a text that a template may render.

    `numbers` gives the template line of each line of the text; both are counted from 0.
    """

    __slots__ = ("_ends", "name", "numbers", "text")

    def __init__(self, name: str, text: str, numbers: list[int]) -> None:
        self.name = name
        self.text = text
        self.numbers = numbers
        self._ends: list[int] = []  # where the lines end; found when a place is asked for

    def line_at(self, offset: int) -> int:
        """Return the number of the template line for an offset in the reading."""
        self._ends = self._ends or [*accumulate(len(line) + 1 for line in self.text.split("\n"))]
        return self.number(bisect_right(self._ends, offset))

    def number(self, line: int) -> int:
        """Return the number of the template line for a line of the reading."""
        return self.numbers[min(max(line, 0), len(self.numbers) - 1)] if self.numbers else 0


class WantedReadings:
    """Hold the names of the wanted readings, and the conditions of all versions, with numbers.

    With `thorough` there are more `mix` readings than a merge takes time for.
    """

    __slots__ = ("conditions", "names")

    def __init__(self, *versions: Sequence[Part], thorough: bool = False) -> None:
        blocks = [block for version in versions for block in blocks_in(version)]
        asking = [block for block in blocks if block.word not in ("define", "block")]
        asked = dict.fromkeys(_condition(block.arms[0].action.body) for block in asking)
        self.conditions = {condition: number for number, condition in enumerate(asked)}
        self.names = ["all"]
        if asking:
            most = max(len(block.arms) - _has_else(block) for block in asking)
            arms = [f"arm{n}" for n in range(1, min(most, MOST_ARMS + 1))]
            last = ["last"] if any(map(_has_else, blocks)) else []
            self.names += ["none", *arms, *last]
            masks = [*_masks(len(asked), thorough=thorough)]
            rounds = min(max(len(_rest(block)) for block in asking), MOST_ROUNDS)
            for turn in range(rounds if thorough else 1):
                self.names += [f"mix{turn}-{mask}" for mask in masks]


def _masks(count: int, *, thorough: bool) -> Iterator[int]:
    """Yield masks whose bits say which conditions are true, for so many conditions."""
    if thorough and count <= ALL_WAYS:
        yield from range(1, (1 << count) - 1)
        return
    for bit in range(min((count - 1).bit_length(), MOST_BITS if thorough else FEW_BITS)):
        ones = sum(1 << number for number in range(MOST_NUMBERS) if number >> bit & 1)
        yield from (ones, (1 << MOST_NUMBERS) - 1 - ones)


def rendered(
    parts: Sequence[Part], words: ActionWords, wanted: WantedReadings | None = None
) -> list[Rendering]:
    """Return the wanted readings of a template.

    The texts of the definitions follow each reading. Without `wanted`, make the readings that the
    template itself needs.
    """
    wanted = wanted or WantedReadings(parts)
    items = _items(parts, words, wanted.conditions, "")
    readings: list[Rendering] = []
    known: dict[tuple[int, ...], tuple[str, list[int]]] = {}  # by the numbers of the picked lines
    for name in wanted.names:
        texts: dict[str, Picked] = {name: []}
        _pick(items, name, texts, texts[name])
        for own, picked in texts.items():
            key = tuple([number for _, number in picked])
            known[key] = known.get(key) or _reading_text(picked)
            readings.append(Rendering(own, *known[key]))
    return readings


# -- the choice of arms


class _Node:
    """Hold a block with the lines and inner blocks of each branch."""

    __slots__ = ("arms", "block", "is_contrary", "number")

    def __init__(self, block: Block, arms: list[Items], conditions: dict[str, int]) -> None:
        self.block = block
        self.arms = arms
        condition = _condition(block.arms[0].action.body)
        other = condition.removeprefix("not ") if condition.startswith("not ") else ""
        self.is_contrary = other in conditions
        asked = other if self.is_contrary else condition
        number = conditions.get(asked)
        self.number = hashed(asked) if number is None else number


def _items(
    parts: Iterable[Part], words: ActionWords, conditions: dict[str, int], scope: str
) -> Items:
    """Return the lines and blocks that a template can render."""
    items: Items = []
    for part in parts:
        if isinstance(part, Block):
            has_dot = words.scopes and part.word in ("range", "with")
            scopes = [f"{scope}{arm.action.body}\n" if has_dot else scope for arm in part.arms]
            arms = [
                _items(arm.parts, words, conditions, inner)
                for arm, inner in zip(part.arms, scopes, strict=True)
            ]
            items.append(_Node(part, arms, conditions))
        elif part.kind not in (ASSIGN, COMMENT):
            items.append((words.shape(part, scope), part.number))
    return items


def _condition(body: str) -> str:
    """Return the condition of an action that opens a block, without a variable that is set."""
    _, _, asked = body.rpartition(":=")
    words = (asked if asked != body else body.partition(" ")[2]).split()
    return " ".join(words).replace("$.", ".").replace("not (", "not ").rstrip(")")


def _has_else(block: Block) -> bool:
    """Return whether the last branch of a block is an `else` without a condition."""
    return len(block.arms) > 1 and block.arms[-1].action.body == "else"


def _rest(block: Block) -> list[int]:
    """Return the numbers of the branches that a block takes if its first condition is false."""
    return [*range(1, len(block.arms)), *(() if _has_else(block) else (-1,))]


def _pick(items: Items, name: str, texts: dict[str, Picked], into: Picked) -> None:
    """Append the lines of a reading to `into`.

    The body of a `define` goes into a text of its own.
    """
    for item in items:
        if not isinstance(item, _Node):
            into.append(item)
        elif item.block.word == "define":
            own = f"{name}: {item.block.arms[0].action.body}"
            _pick(item.arms[0], name, texts, texts.setdefault(own, []))
        else:
            number = _arm(item, name)
            if number >= 0:
                _pick(item.arms[number], name, texts, into)


def _arm(of: _Node, name: str) -> int:
    """Return the number of the branch that a reading takes, or -1 if it takes no branch."""
    if of.block.word == "block":
        return 0
    rest = _rest(of.block)
    if name in ("all", "none"):
        return 0 if (name == "all") != of.is_contrary else rest[-1]
    has_else = rest[-1] >= 0
    if name == "last":
        return rest[-1] if has_else or of.is_contrary else 0
    if name.startswith("arm"):
        which = int(name[3:])
        return which if which < len(of.arms) - has_else else _arm(of, "all")
    turn, mask = map(int, name[3:].split("-"))
    if (mask >> of.number % MOST_NUMBERS & 1) != of.is_contrary:
        return 0
    return rest[(of.number + turn) % len(rest)]


# -- the lines of a reading


def _reading_text(picked: Picked) -> tuple[str, list[int]]:
    """Return the text of a reading, and the number of each line in the template."""
    lines: list[tuple[str, int]] = []
    scalar, column = -1, 0
    for at, (shape, number) in enumerate(picked):
        text = shape.text
        if scalar >= 0:  # inside a block scalar every line is text
            if shape.is_output:
                if max(shape.column, shape.hint) <= scalar:
                    continue
                text = " " * column + text.lstrip(" ")
            elif shape.column <= scalar and not shape.is_blank:
                scalar = -1
        if scalar < 0:
            if shape.is_output:
                continue
            if shape.scalar >= 0:
                scalar = shape.scalar
                column = _column_of_text(picked, at + 1, scalar)
            elif shape.upto and _has_more(picked, at, shape):
                text = shape.upto
        lines.append((text, number))
    return "".join([f"{line}\n" for line, _ in lines]), [number for _, number in lines]


def _column_of_text(picked: Picked, at: int, scalar: int) -> int:
    """Return the column at which the text of a block scalar begins."""
    for number in range(at, len(picked)):
        shape, _ = picked[number]
        if not (shape.is_output or shape.is_blank):
            return shape.column if shape.column > scalar else scalar + 2
    return scalar + 2


def _has_more(picked: Picked, at: int, of: Shape) -> bool:
    """Return whether the lines below continue the value of a line."""
    for number in range(at + 1, len(picked)):
        shape, _ = picked[number]
        if shape.is_output or shape.is_blank or shape.text.startswith("#", shape.column):
            continue
        if shape.column == of.key and of.upto.endswith(":"):
            return shape.text.startswith("- ", shape.column) and of.key == of.column
        return shape.column > (of.key if of.upto.endswith(":") else of.column)
    return False


# -- one line


class ActionWords:
    """Give each action a word, and remember how each line is rendered.

    A line that several versions of a file share is parsed only once. With `scopes`, an action that
    uses the dot or a variable gets a different word in each `range` and `with`, because the value
    is different there.
    """

    __slots__ = ("_actions", "_shapes", "scopes")

    def __init__(self, *, scopes: bool = True) -> None:
        self.scopes = scopes
        self._actions: dict[str, str] = {}
        self._shapes: dict[tuple[str, str, str], Shape] = {}

    def word(self, text: str, scope: str = "") -> str:
        """Return the word for the text of an action."""
        word = f"{TOKEN}{hashed(scope + text if scope and _is_relative(text) else text):016x}"
        self._actions[word] = text
        return word

    def shown(self, text: str) -> str:
        """Return a text with the actions in place of the words."""
        for word, action in self._actions.items() if TOKEN in text else ():
            text = text.replace(word, action)
        return text

    def shape(self, line: Row, scope: str = "") -> Shape:
        """Return the shape of a line, which describes how the line is rendered."""
        key = line.kind, line.text, scope
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = _shape(line, self, scope)
        return shape


class Shape:
    """Describe how a line of a template is rendered."""

    __slots__ = ("column", "hint", "is_blank", "is_output", "key", "scalar", "text", "upto")

    def __init__(self, text: str) -> None:
        self.text = text
        self.column = indent(text)
        self.is_blank = not text.strip()
        self.is_output = False
        self.hint = -1  # the column at which `nindent` or `indent` puts the output
        self.scalar = -1  # the column of the key or dash of a block scalar
        self.key = self.column  # the column of the key after the dashes
        self.upto = ""  # the text before a value that is an indented output


def _shape(line: Row, words: ActionWords, scope: str) -> Shape:
    text = line.text.rstrip("\r\n")
    spans = [(one.start, one.end, one) for one in line.actions]
    if line.kind == OUTPUT:
        shape = Shape(" " * indent(text) + words.word(_bare(text, 0, len(text), spans), scope))
        shape.is_output = True
        shape.hint = given_column(line.actions[-1].body)
        return shape
    parts, at, last = [], 0, ""
    for start, end in line.groups:
        inside = [span for span in spans if start <= span[0] < end]
        is_shown = len(inside) > 1 or inside[0][2].kind not in (ASSIGN, COMMENT)
        last = words.word(_bare(text, start, end, inside), scope) if is_shown else ""
        parts += [text[at:start], last]
        at = end
    whole = "".join([*parts, text[at:]])
    shape = Shape(whole if line.kind in (TEXT, BLANK) else whole.replace("\n", " "))
    if last and "indent" in line.text and not text[at:].strip():
        before = shape.text.rstrip()[: -len(last)].rstrip(" ")
        if before.endswith((":", "-")):
            shape.upto = before
    while shape.text.startswith("- ", shape.key):
        shape.key = len(shape.text) - len(shape.text[shape.key + 1 :].lstrip(" "))
    shape.scalar = scalar_above(shape.text)
    return shape


def _bare(text: str, at: int, end: int, spans: Iterable[tuple[int, int, Action]]) -> str:
    """Return a part of a line without comments and trim marks."""
    parts = []
    for start, behind, action in spans:
        own = "" if action.kind == COMMENT else "{{ " + action.body + " }}"
        parts += [text[at:start], own]
        at = behind
    return "".join([*parts, text[at:end]]).strip()


def _is_relative(text: str) -> bool:
    """Return whether an action may use the dot or a variable other than `$`."""
    before = ""
    for mark in text.replace("$.", ""):
        if mark == "$" or (mark == "." and before in " (|,="):
            return True
        before = mark
    return False
