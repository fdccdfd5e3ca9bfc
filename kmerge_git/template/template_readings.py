"""The readings of a template: its text with arms of its blocks taken, and words for its actions.

A reading is YAML if renderings are: control lines are gone, an action inside a line is a word
made of its text, an action that fills lines of its own is nothing. In `all` every condition
holds and every opening arm is taken, in `none` no condition holds, `arm1` and so on take the
arms of `else if`, `last` takes each `else`; in the `mix` readings the text of a condition
decides, so that it has one answer in all versions of a file. `not x` is the contrary of `x`
where that is a condition, too. The body of a `define` is a text of its own.
"""

from __future__ import annotations

from kmerge_git.template.action_lexer import ASSIGN, COMMENT, OUTPUT, TOKEN
from kmerge_git.template.template_blocks import BLANK, TEXT, Block
from kmerge_git.template.template_layout import given_column, indent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.template.action_lexer import Action
    from kmerge_git.template.template_blocks import Part, Row


NOWHERE = -2  # no block scalar
_PRIME = (1 << 64) - 59


class ActionWords:
    """The words that stand for actions, and lines that were looked at before.

    What the versions of a file have in common is looked at once. With `scopes` an action that asks
    the dot or a variable has another word below each `range` and `with`: it is another value.
    """

    __slots__ = ("_actions", "_shapes", "scopes")

    def __init__(self, *, scopes: bool = True) -> None:
        self.scopes = scopes
        self._actions: dict[str, str] = {}
        self._shapes: dict[tuple[str, str, str], Shape] = {}

    def word(self, text: str, scope: str = "") -> str:
        """The word for the text of an action."""
        made = f"{TOKEN}{hashed(scope + text if scope and _is_relative(text) else text):016x}"
        self._actions[made] = text
        return made

    def shown(self, text: str) -> str:
        """A text with its actions in the place of their words."""
        for word, action in self._actions.items() if TOKEN in text else ():
            text = text.replace(word, action)
        return text

    def shape(self, line: Row, scope: str = "") -> Shape:
        """How a line is rendered."""
        key = line.kind, line.text, scope
        made = self._shapes.get(key)
        if made is None:
            made = self._shapes[key] = _shape(line, self, scope)
        return made


class Shape:
    """What a line of a template comes to in a rendering."""

    __slots__ = ("column", "hint", "is_blank", "is_output", "key", "scalar", "text", "upto")

    def __init__(self, text: str) -> None:
        self.text = text
        self.column = indent(text)
        self.is_blank = not text.strip()
        self.is_output = False
        self.hint = -1  # the column that `nindent` or `indent` gives its output
        self.scalar = NOWHERE  # the column beyond which the text of a block scalar stands
        self.key = self.column  # of the key behind the dashes
        self.upto = ""  # the line up to a value that is an indented output


def _shape(line: Row, words: ActionWords, scope: str) -> Shape:
    text = line.text.rstrip("\r\n")
    if line.kind == OUTPUT:
        word = words.word(_bare(text, (0, len(text)), line.actions), scope)
        shape = Shape(" " * indent(text) + word)
        shape.is_output = True
        shape.hint = given_column(line.actions[-1].body)
        return shape
    if line.kind in (TEXT, BLANK):
        shape = Shape(text)
    else:
        parts, at, last = [], 0, ""
        number = 0
        for start, end in line.groups:
            first = number
            while number < len(line.actions) and line.actions[number].end <= end:
                number += 1
            last = _group(text, (start, end), line.actions[first:number], words, scope)
            parts += [text[at:start], last]
            at = end
        shape = Shape("".join([*parts, text[at:]]).replace("\n", " "))
        if last and "indent" in line.text and not text[at:].strip():
            before = shape.text.rstrip()[: -len(last)].rstrip(" ")
            if before.endswith((":", "-")):
                shape.upto = before
    _look_at(shape)
    return shape


def _look_at(shape: Shape) -> None:
    """Where the key of a line stands, and whether a block scalar begins behind it."""
    text = shape.text
    column = dash = shape.column
    while text.startswith("- ", column):
        dash = column
        column += len(text) - column - len(text[column + 1 :].lstrip(" "))
    shape.key = column
    if "|" not in text and ">" not in text:
        return
    found = text.partition(" #")[0].split()
    if not found or found[-1][0] not in "|>" or found[-1][1:].strip("+-0123456789"):
        return
    before = found[-2] if len(found) > 1 else ""
    while before[:1] in ("&", "!") and len(found) > 2:
        del found[-2]
        before = found[-2]
    if before.endswith(":"):
        shape.scalar = column
    elif before == "-":
        shape.scalar = dash


def _group(
    text: str, span: tuple[int, int], inside: tuple[Action, ...], words: ActionWords, scope: str
) -> str:
    """What stands for actions inside of a line."""
    if len(inside) == 1 and inside[0].kind in (ASSIGN, COMMENT):
        return ""
    return words.word(_bare(text, span, inside), scope)


def _bare(text: str, span: tuple[int, int], inside: tuple[Action, ...]) -> str:
    """A part of a line with its actions written without trim marks, and no comments."""
    parts = []
    at, end = span
    for one in inside:
        own = "" if one.kind == COMMENT else "{{ " + one.body + " }}"
        parts += [text[at : one.start], own]
        at = one.end
    return "".join([*parts, text[at:end]]).strip()


def _is_relative(text: str) -> bool:
    """Whether an action may ask the dot, or a variable that is not `$`."""
    before = ""
    for mark in text.replace("$.", ""):
        if mark == "$" or (mark == "." and before in " (|,="):
            return True
        before = mark
    return False


def hashed(text: str) -> int:
    """A number that is the same for a text in every run."""
    return int.from_bytes(text.encode("utf-8", "surrogatepass"), "little") % _PRIME


if TYPE_CHECKING:
    Items = list[tuple[Shape, int] | "_Node"]
    Picked = list[tuple[Shape, int]]  # lines of a reading, with their numbers in the template

MIXES = 4
MOST_ARMS = 4  # readings of their own for arms of `else if`


class Rendering:
    """One text that a template may come to; `numbers` are its lines' in the template, from 0."""

    __slots__ = ("name", "numbers", "text")

    def __init__(self, name: str, text: str, numbers: list[int]) -> None:
        self.name = name
        self.text = text
        self.numbers = numbers

    def line_at(self, offset: int) -> int:
        """The line of the template that stands at an offset of the reading."""
        return self.number(self.text.count("\n", 0, offset))

    def number(self, line: int) -> int:
        """The line of the template that is a line of the reading, or the last one."""
        return self.numbers[min(max(line, 0), len(self.numbers) - 1)] if self.numbers else 0


class WantedReadings:
    """Which readings are made: their names, and the conditions that have a contrary."""

    __slots__ = ("conditions", "names")

    def __init__(self, *versions: tuple[Part, ...]) -> None:
        self.conditions: set[str] = set()
        most = max(_most_arms(version, self.conditions) for version in versions)
        self.names = ["all"]
        if most:
            arms = [f"arm{n}" for n in range(1, min(most, MOST_ARMS + 1))]
            last = ["last"] if any(map(_has_last, versions)) else []
            self.names += ["none", *arms, *last, *(f"mix{n}" for n in range(MIXES))]


class _Node:
    """A block whose arms are to be chosen from."""

    __slots__ = ("arms", "has_else", "is_contrary", "name", "number", "word")

    def __init__(self, block: Block, arms: list[Items], conditions: set[str]) -> None:
        self.word = block.word
        self.arms = arms
        self.name = block.arms[0].action.body
        condition = _condition(self.name)
        other = condition.removeprefix("not ") if condition.startswith("not ") else ""
        self.is_contrary = other in conditions
        self.number = hashed(other if self.is_contrary else condition)
        self.has_else = _has_else(block)


def rendered(
    parts: tuple[Part, ...], words: ActionWords, wanted: WantedReadings | None = None
) -> list[Rendering]:
    """Readings of a template, its own or those of several; each is followed by its defines."""
    wanted = wanted or WantedReadings(parts)
    items, _ = _items(parts, (words, wanted.conditions), 0, "")
    found: list[Rendering] = []
    for name in wanted.names:
        texts: dict[str, Picked] = {name: []}
        _pick(items, name, texts, texts[name])
        for own, picked in texts.items():
            lines, numbers = _lines(picked)
            found.append(Rendering(own, "".join(f"{line}\n" for line in lines), numbers))
    return found


# -- which arms


def _items(
    parts: tuple[Part, ...], known: tuple[ActionWords, set[str]], number: int, scope: str
) -> tuple[Items, int]:
    """The lines and blocks of a template, and the number of the line behind them."""
    words, conditions = known
    found: Items = []
    for part in parts:
        if isinstance(part, Block):
            arms = []
            has_dot = words.scopes and part.word in ("range", "with")
            for arm in part.arms:
                number += arm.header.count("\n")
                inner = f"{scope}{arm.action.body}\n" if has_dot else scope
                items, number = _items(arm.parts, known, number, inner)
                arms.append(items)
            found.append(_Node(part, arms, conditions))
            number += part.ending.count("\n")
        else:
            if part.kind not in (ASSIGN, COMMENT):
                found.append((words.shape(part, scope), number))
            number += part.text.count("\n")
    return found, number


def _most_arms(parts: tuple[Part, ...], conditions: set[str]) -> int:
    """The most arms with a condition that a block has; all conditions come into the set."""
    most = 0
    for part in parts:
        if isinstance(part, Block):
            if part.word not in ("define", "block"):
                most = max(most, len(part.arms) - _has_else(part))
                conditions.add(_condition(part.arms[0].action.body))
            for arm in part.arms:
                most = max(most, _most_arms(arm.parts, conditions))
    return most


def _has_last(parts: tuple[Part, ...]) -> bool:
    """Whether a block among parts has an `else`."""
    blocks = [part for part in parts if isinstance(part, Block)]
    return any(
        _has_else(block) or any(_has_last(arm.parts) for arm in block.arms) for block in blocks
    )


def _condition(body: str) -> str:
    """What an opening action asks, without the variable that it sets."""
    _, _, asked = body.rpartition(":=")
    words = (asked if asked != body else body.partition(" ")[2]).split()
    return " ".join(words).replace("$.", ".").replace("not (", "not ").rstrip(")")


def _has_else(block: Block) -> bool:
    """Whether the last arm of a block has no condition."""
    return len(block.arms) > 1 and block.arms[-1].action.body == "else"


def _pick(items: Items, name: str, texts: dict[str, Picked], into: Picked) -> None:
    """Put the lines of a reading together; the body of a `define` becomes a text of its own."""
    for item in items:
        if not isinstance(item, _Node):
            into.append(item)
        elif item.word == "define":
            _pick(item.arms[0], name, texts, texts.setdefault(f"{name}: {item.name}", []))
        else:
            number = _arm(item, name)
            if number >= 0:
                _pick(item.arms[number], name, texts, into)


def _arm(of: _Node, name: str) -> int:
    """The arm that a reading takes, or -1."""
    if of.word == "block":
        return 0
    rest: list[int] = [*range(1, len(of.arms)), *((-1,) if not of.has_else else ())]
    if name in ("all", "none"):
        return 0 if (name == "all") != of.is_contrary else rest[-1]
    if name == "last":
        return rest[-1] if of.has_else or of.is_contrary else 0
    which = int(name[3:])
    if name.startswith("arm"):
        return which if which < len(of.arms) - of.has_else else _arm(of, "all")
    # of two readings in a row one takes the arms that the other one does not take
    if ((of.number >> (which // 2) & 1) == which % 2) != of.is_contrary:
        return 0
    return rest[(of.number >> (8 + which)) % len(rest)]


# -- the lines of a reading


def _lines(picked: Picked) -> tuple[list[str], list[int]]:
    """The lines of a reading, and their numbers in the template."""
    lines: list[str] = []
    numbers: list[int] = []
    scalar, column = NOWHERE, 0
    for at, (shape, number) in enumerate(picked):
        text = shape.text
        if scalar != NOWHERE:  # in a block scalar everything is text
            if shape.is_output:
                if max(shape.column, shape.hint) <= scalar:
                    continue
                text = " " * column + text.lstrip(" ")
            elif shape.column <= scalar and not shape.is_blank:
                scalar = NOWHERE
        if scalar == NOWHERE:
            if shape.is_output:
                continue
            if shape.scalar != NOWHERE:
                scalar = shape.scalar
                column = _column_of_text(picked, at + 1, scalar)
            elif shape.upto and _has_more(picked, at, shape):
                text = shape.upto
        lines.append(text)
        numbers.append(number)
    return lines, numbers


def _column_of_text(picked: Picked, at: int, scalar: int) -> int:
    """The column at which the text of a block scalar stands."""
    for number in range(at, len(picked)):
        shape, _ = picked[number]
        if not (shape.is_output or shape.is_blank):
            return shape.column if shape.column > scalar else scalar + 2
    return scalar + 2


def _has_more(picked: Picked, at: int, of: Shape) -> bool:
    """Whether lines below belong to the value of a line."""
    for number in range(at + 1, len(picked)):
        shape, _ = picked[number]
        if shape.is_output or shape.is_blank or shape.text.startswith("#", shape.column):
            continue
        if shape.column == of.key and of.upto.endswith(":"):
            return shape.text.startswith("- ", shape.column) and of.key == of.column
        return shape.column > of.key if of.upto.endswith(":") else shape.column > of.column
    return False
