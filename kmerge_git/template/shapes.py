"""How the lines of a template are rendered: a word for each action, made of its text."""

from __future__ import annotations

from kmerge_git.template.blocks import BLANK, TEXT
from kmerge_git.template.lexer import ASSIGN, COMMENT, OUTPUT, TOKEN
from kmerge_git.template.places import given_column, indent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.template.blocks import Row
    from kmerge_git.template.lexer import Action

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
