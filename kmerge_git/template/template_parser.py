"""Split a template into its actions, its lines, and blocks of whole lines from opening to `end`.

Actions are found as Go's text/template finds them. Everything that Go's lexer refuses is refused
here too, except for odd numbers. So is every single action that Go's parser refuses: an action
without a value, a keyword or an equals sign inside a pipeline, or a variable that is used where it
is not set.

The parts of the tree joined are the text, byte for byte. Blocks must consist of whole lines. So a
text is refused if a line has a control action next to text, or two actions that end different
blocks.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kmerge_git.tree.documents import YamlText

    Spans = Iterable[tuple[int, int]]
    OpenBlock = tuple[int, str, bool]  # offset, keyword, and whether an `else` may follow
    # The size, kind and word, the body, whether the action trims before and after itself, the
    # words and the strings.
    Spelling = tuple[int, str, str, str, bool, bool, list[str], list[str]]

OPEN, ELSE, END, ASSIGN, COMMENT, OUTPUT = "open", "else", "end", "assign", "comment", "output"

TEXT, BLANK, INLINE = "text", "blank", "inline"  # kinds of lines, and OUTPUT, ASSIGN, COMMENT
DEEPEST = 200  # blocks inside blocks; nobody writes ten
CONTROL = frozenset((OPEN, ELSE, END))

# The prefix of every word that stands for an action while a text is read as YAML.
TOKEN = "kmTpl"  # noqa: S105
OPENING = frozenset(("if", "range", "with", "define", "block"))
KEYWORDS = OPENING.union(("else", "end", "template", "break", "continue"))
SPACE = " \t\r\n"
_SPACES = tuple(SPACE)

# Empty commands of a pipeline, as shapes.
_HOLES = ("||", "(|", "()")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
_BEHIND_A_WORD = frozenset(f"{SPACE}.,|:)(")
_SIGNS = ("+", "-")
_DIGITS = frozenset("0123456789")
_PRIME = (1 << 64) - 59
_QUOTED = {'"': "a string", "'": "a character constant"}
_STRINGS = frozenset("(\"'`")  # after such a character `:=` may be text


class Row:
    """Hold a line with its line end, or several lines if one action spans these lines."""

    __slots__ = ("actions", "groups", "kind", "number", "text")

    def __init__(
        self,
        text: str,
        kind: str,
        number: int = 0,
        groups: tuple[tuple[int, int], ...] = (),
        actions: tuple[Action, ...] = (),
    ) -> None:
        self.text = text
        self.kind = kind
        self.number = number  # of the line in the template, from 0
        self.groups = groups  # spans in the text; `if ... end` in one line is one span
        self.actions = actions  # all actions, including those inside of groups


class Arm:
    """Hold one branch of a block: its opening or `else` line, and the parts below that line."""

    __slots__ = ("action", "header", "parts")

    def __init__(self, header: str, action: Action, parts: Parts) -> None:
        self.header = header
        self.action = action
        self.parts = parts


class Block:
    """Hold a block: the lines from its opening to its `end`, and its whole text."""

    __slots__ = ("arms", "ending", "text", "word")

    def __init__(self, arms: tuple[Arm, ...], ending: str, text: str) -> None:
        self.arms = arms
        self.ending = ending
        self.text = text
        self.word = arms[0].action.word


if TYPE_CHECKING:
    Part = Row | Block
    Parts = Sequence[Part]


def blocks_in(parts: Iterable[Part]) -> Iterator[Block]:
    """Yield the blocks among some parts, and the blocks inside these blocks."""
    for part in parts:
        if isinstance(part, Block):
            yield part
            for arm in part.arms:
                yield from blocks_in(arm.parts)


class Template:
    """Hold a text with actions. The text is split when its parts are first asked for.

    A line that is also in the template `like`, another version of the file, is not parsed again.
    """

    __slots__ = ("_lexed", "_read", "text")

    def __init__(self, text: str, like: Template | None = None) -> None:
        self.text = text
        self._lexed: _Lexed = _Lexed() if like is None else like._lexed
        self._read: tuple[tuple[Part, ...], list[Row]] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the lines and blocks of the template. Joined, these parts are the whole text."""
        return self._taken_apart()[0]

    @property
    def rows(self) -> list[Row]:
        """Return all lines of the template in their order, also those that open and end blocks."""
        return self._taken_apart()[1]

    def _taken_apart(self) -> tuple[tuple[Part, ...], list[Row]]:
        if self._read is None:
            self._read = _taken_apart(self.text, self._lexed)
        return self._read


class _Lexed:
    """Hold the actions and the lines with actions that are parsed already."""

    __slots__ = ("actions", "lines")

    def __init__(self) -> None:
        self.actions: dict[str, Spelling] = {}
        self.lines: dict[str, Row] = {}


def templates(texts: Three[YamlText]) -> Three[Template]:
    """Return the versions of a file as templates."""
    base = Template(texts.base.source.text)
    ours, theirs = (Template(text.source.text, base) for text in (texts.ours, texts.theirs))
    return Three(base, ours, theirs)


def _taken_apart(text: str, lexed: _Lexed) -> tuple[tuple[Part, ...], list[Row]]:
    """Return the lines and blocks of a text, and all its lines.

    A line with the opening, `else` or `end` of a block has the kind of that action.
    """
    lone = text.replace("\r\n", "\n\n").find("\r")
    if lone >= 0:
        raise refusal(text, lone, "there is a carriage return without a line feed")
    refuse_own_words(text)
    rows: list[Row] = []
    parts: list[Part] = []
    nest: list[OpenBlock] = []
    above: list[tuple[int, list[Part], list[Arm]]] = []  # of each open block: start, before, arms
    start, number, size, at = 0, 0, len(text), text.find("{{")
    while start < size:
        end = text.find("\n", start) + 1 or size
        line = text[start:end]
        if not start <= at < end:
            row = Row(line, TEXT if line.strip(SPACE) else BLANK, number)
        else:
            row = _with_actions(text, start, line, lexed, nest)
            row.number = number
            end = start + len(row.text)
            number += row.text.count("\n") - 1
            at = text.find("{{", end)
        rows.append(row)
        if row.kind not in CONTROL:
            parts.append(row)
        elif row.kind == END:
            opened, parts, arms = above.pop()
            parts.append(Block(tuple(arms), row.text, text[opened:end]))
        else:
            if row.kind == OPEN:
                above.append((start, parts, []))
            parts = []
            action = next(action for action in row.actions if action.kind in CONTROL)
            above[-1][-1].append(Arm(row.text, action, parts))
        start, number = end, number + 1
    if nest:
        at, word, _ = nest[-1]
        raise refusal(text, at, f"`{word}` has no `end`")
    return tuple(parts), rows


def _with_actions(text: str, start: int, line: str, lexed: _Lexed, nest: list[OpenBlock]) -> Row:
    """Return the line at an offset, with its actions. An action may end in a later line."""
    known = lexed.lines.get(line)
    if known is not None:
        for action in known.actions:
            if action.kind in CONTROL:
                _nested(text, start + action.start, action, nest)
        return Row(line, known.kind, 0, known.groups, known.actions)
    end = start + len(line)
    inside: list[Action] = []
    at = text.find("{{", start)
    while start <= at < end:
        action = action_at(text, at, lexed.actions)
        _nested(text, at, action, nest)
        inside.append(action)
        if action.end > end:
            end = text.find("\n", action.end) + 1 or len(text)
        at = text.find("{{", action.end)
    row = _row(text, start, end, tuple(inside))
    for action in inside:
        action.start -= start
        action.end -= start
    if row.text == line:
        lexed.lines[line] = row
    return row


def _nested(text: str, at: int, action: Action, nest: list[OpenBlock]) -> None:
    """Add an action to the open blocks; refuse an `else` or `end` where Go refuses it."""
    if action.kind == OPEN:
        if action.word == "define" and nest:
            raise refusal(text, at, "`define` is inside a block")
        if len(nest) == DEEPEST:
            raise refusal(text, at, f"blocks are nested deeper than {DEEPEST} levels")
        nest.append((at, action.word, action.word in ("if", "with", "range")))
    elif action.kind in CONTROL and not nest:
        raise refusal(text, at, f"`{action.word}` is outside of a block")
    elif action.kind == END:
        nest.pop()
    elif action.kind == ELSE:
        condition = action.body[len("else") :].lstrip(SPACE)
        start, word, takes_else = nest[-1]
        if not takes_else or (condition and not condition.startswith(word)):
            raise refusal(text, at, "this `else` is not allowed in its block")
        nest[-1] = start, word, bool(condition)


def _row(text: str, start: int, end: int, inside: tuple[Action, ...]) -> Row:
    spans = _groups(inside)
    if spans is None:
        control = _alone(text, start, end, inside)
        kind, spans = control.kind, [(control.start, control.end)]
    else:
        for action in inside:
            if action.word == "define" and action.kind == OPEN:  # a definition is known by its name
                raise refusal(text, action.start, "a `define` begins and ends on the same line")
        kind = _kind(text, start, end, spans, inside)
    return Row(
        text[start:end], kind, 0, tuple((at - start, to - start) for at, to in spans), inside
    )


def _alone(text: str, start: int, end: int, inside: tuple[Action, ...]) -> Action:
    """Return the control action of a line; refuse anything but comments next to the action."""
    controls = [action for action in inside if action.kind in CONTROL]
    if len(controls) > 1:
        raise refusal(text, controls[1].start, "blocks begin or end in the middle of a line")
    control = controls[0]
    around = [(a.start, a.end) for a in inside if a is control or a.kind == COMMENT]
    if not _is_bare(text, start, end, around):
        raise refusal(text, control.start, f"`{control.word}` is not alone on its line")
    return control


def _groups(inside: tuple[Action, ...]) -> list[tuple[int, int]] | None:
    """Return the spans of the outermost blocks and actions of a line.

    Return None if a block of the line begins or ends in another line.
    """
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
    """Return the kind of a line with actions: the merge treats each kind in another way."""
    if not _is_bare(text, start, end, spans):
        return INLINE
    kinds = {action.kind for action in inside}
    if len(kinds) == 1:
        return inside[0].kind
    if OUTPUT in kinds or not _is_bare(text, start, end, [(a.start, a.end) for a in inside]):
        return OUTPUT
    return ASSIGN if ASSIGN in kinds else OUTPUT


def _is_bare(text: str, at: int, end: int, spans: Spans) -> bool:
    """Return whether a range of a text has only white space outside of the given spans."""
    for start, stop in (*spans, (end, end)):
        if text[at:start].strip(SPACE):
            return False
        at = stop
    return True


# -- actions


class Action:
    """Describe one template action.

    `word` is the keyword of the block that the action opens, or the variable that the action sets.
    In a template `start` and `end` are offsets in the line of the action.
    """

    __slots__ = (
        *("body", "end", "kind", "start", "strings", "trims_after", "trims_before", "word"),
        "words",
    )

    def __init__(
        self,
        start: int,
        size: int,
        kind: str,
        word: str,
        body: str,
        trims_before: bool,
        trims_after: bool,
        words: list[str],
        strings: list[str],
    ) -> None:
        self.start = start
        self.end = start + size  # behind the `}}`
        self.kind = kind
        self.word = word  # for an output: its first name, if it has one
        self.body = body  # without delimiters, trim marks and outer white space
        self.trims_before = trims_before
        self.trims_after = trims_after
        self.words = words  # the names, fields and variables, such as `$x.a.b`
        self.strings = strings  # the contents of the strings


def refuse_own_words(text: str) -> None:
    """Refuse a text that already contains the prefix of the words that replace actions."""
    lowered = text.lower()
    at = lowered.find(TOKEN.lower())
    if at >= 0:
        raise Unsupported(
            f"the text contains the reserved word {TOKEN}", line=lowered.count("\n", 0, at) + 1
        )


def action_at(text: str, start: int, known: dict[str, Spelling]) -> Action:
    """Return the action at an offset.

    An action is not parsed again if the same text is in `known`.
    """
    to_brace = text[start : text.find("}}", start) + 2]
    spelling = known.get(to_brace)
    if spelling is None:
        spelling = _read(text, start)
        if spelling[0] == len(to_brace):
            known[to_brace] = spelling
    return Action(start, *spelling)


def _read(text: str, start: int) -> Spelling:
    at = start + 2
    trims = text.startswith("-", at) and text.startswith(_SPACES, at + 1)
    at += 2 * trims
    if text.startswith("/*", at):
        return _comment(text, start, at, trims)
    shape, names, (words, strings), close = _tokens(text, start, at)
    trims_after = text.startswith("-", close)
    word = names[0] if shape[:1] == "w" else ""
    why = _fault(word, shape, names)
    if why:
        raise refusal(text, start, why)
    kind = {"else": ELSE, "end": END}.get(word, OPEN if word in OPENING else OUTPUT)
    if shape.startswith("v="):
        kind, word = ASSIGN, names[0]
    end = close + 2 + trims_after
    body = text[at:close].strip(SPACE)
    return end - start, kind, word, body, trims, trims_after, words, strings


def _comment(text: str, start: int, at: int, trims: bool) -> Spelling:
    """Read a template comment.

    The end delimiter must follow directly, or after one white space and a trim mark.
    """
    star = text.find("*/", at + 2)
    if star < 0:
        raise refusal(text, start, "a template comment is not closed")
    close = star + 2
    trims_after = text.startswith(_SPACES, close) and text.startswith("-}}", close + 1)
    if not trims_after and not text.startswith("}}", close):
        raise refusal(text, start, "a template comment does not end with `*/}}`")
    size = close + 2 + 2 * trims_after - start
    return size, COMMENT, "", text[at:close], trims, trims_after, [], []


def _fault(word: str, shape: str, names: list[str]) -> str:
    """Return the reason why Go refuses an action, or ''."""
    if word in ("end", "break", "continue"):
        return f"an action has something after `{word}`" if shape != "w" else ""
    if word == "else":
        if shape == "w":
            return ""
        if shape[1] != "w" or names[1] not in ("if", "with"):
            return "`else` is followed by neither `if` nor `with`"
        return _no_pipeline(shape[2:], names[2:])
    if word in ("template", "define", "block"):
        rest = shape[2:]
        if shape[1:2] != "s":
            return f"`{word}` has no name"
        if word == "define":
            return "`define` is followed by more than a name" if rest else ""
        return _no_pipeline(rest, names[1:]) if rest or word == "block" else ""
    if word == "range" and shape.startswith("wv,v="):
        return _no_pipeline(shape[5:], names[3:])
    is_head = word in OPENING
    return _no_pipeline(shape[is_head:], names[is_head:])


def _no_pipeline(shape: str, names: list[str]) -> str:
    """Return the reason why tokens are not a valid pipeline, or ''.

    A pipeline may set a variable.
    """
    shape = shape.removeprefix("v=")
    if shape[:1] in ("", "|") or any(hole in shape for hole in _HOLES):
        return "a value is missing in an action"
    if "=" in shape or "," in shape:
        return "a pipeline contains an equals sign or a comma"
    keyword = next((name for name in names if name in KEYWORDS), "")
    return f"a pipeline contains `{keyword}`" if keyword else ""


# -- the tokens of an action


def _tokens(
    text: str, start: int, at: int
) -> tuple[str, list[str], tuple[list[str], list[str]], int]:
    """Split an action into tokens.

    Return the kinds of the tokens, the names, the words and strings, and the end offset.
    """
    shape, names = "", []
    words: list[str] = []
    strings: list[str] = []
    depth = 0
    while True:
        begin = at
        while text[at : at + 1] in _SPACES:
            at += 1
        if text.startswith("}}", at) or (at > begin and text.startswith("-}}", at)):
            break
        kind, behind = _token(text, start, at)
        token = text[at:behind]
        depth += (kind == "(") - (kind == ")")
        if depth < 0:
            raise refusal(text, at, "a closing parenthesis has no opening parenthesis")
        if kind == "s":
            strings.append(token[1:-1])
        elif kind in "wv":
            names.append(token)
        if kind == "f" and at == begin and shape[-1:] in ("w", "v", "f"):
            words[-1] += token
        elif kind in "wvf":
            words.append(token)
        shape += kind
        at = behind
    if depth:
        raise refusal(text, start, "a parenthesis is not closed")
    return shape, names, (words, strings), at


def _token(text: str, start: int, at: int) -> tuple[str, int]:
    """Return the kind of the token at an offset, and the end of the token.

    The kind is w for a word, v for a variable, f for a field, s for a string, and n for a number or
    a character. The signs ( ) | , = are their own kinds, and `:=` has the kind `=`.
    """
    mark = text[at : at + 1]
    if not mark:
        raise refusal(text, start, "a template action is not closed")
    if mark == "." and text[at + 1 : at + 2] not in _DIGITS:
        return "f", _word_end(text, at + 1)
    if mark == "$":
        return "v", _word_end(text, at + 1)
    if mark in "()|=,":
        return mark, at + 1
    if mark in _QUOTED:
        return ("s" if mark == '"' else "n"), _quote_end(text, at, mark)
    if mark == "`":
        end = text.find("`", at + 1)
        if end < 0:
            raise refusal(text, at, "a raw string is not closed")
        return "s", end + 1
    if mark in "+-." or mark in _DIGITS:
        return "n", _number_end(text, at)
    if _is_of_a_word(mark):  # digits of other scripts too, which are no numbers for Go
        return "w", _word_end(text, at)
    if mark == ":":
        if not text.startswith("=", at + 1):
            raise refusal(text, at, "an action contains `:` without `=` after it")
        return "=", at + 2
    raise refusal(text, at, f"an action contains {mark!r}")


def _is_of_a_word(mark: str) -> bool:
    return mark == "_" or mark.isalpha() or mark.isdecimal()


def _word_end(text: str, at: int) -> int:
    piece = text[at : at + 50]
    at += len(piece) - len(piece.lstrip(_LETTERS))  # fast for nearly all words
    while (mark := text[at : at + 1]).isalpha() or mark == "_" or mark.isdecimal():
        at += 1
    if mark in _BEHIND_A_WORD or not mark or text.startswith("}}", at):
        return at
    raise refusal(text, at, f"a word is followed by {mark!r}")


def _quote_end(text: str, at: int, mark: str) -> int:
    """Return the offset after a quoted string.

    Refuse a string with a line break, even if the line break is escaped.
    """
    end = at + 1
    while (sign := text[end : end + 1]) != mark:
        if sign == "\\":
            end += 1
            sign = text[end : end + 1]
        if sign in ("", "\n"):
            raise refusal(text, at, f"{_QUOTED[mark]} is not closed")
        end += 1
    return end + 1


def _number_end(text: str, at: int) -> int:
    """Return the end of a number; whether Go knows such a number is not checked."""
    end = at + 1
    while _is_of_a_word(text[end : end + 1]) or text.startswith(".", end):
        is_exponent = text[end] in "eEpP" and text.startswith(_SIGNS, end + 1)
        end += 1 + is_exponent
    if not any(digit in _DIGITS for digit in text[at:end]):
        raise refusal(text, at, "a number has no digits")
    return end


def refusal(text: str, at: int, why: str) -> Unsupported:
    """Return the error for a text that cannot be parsed, with the place of the error."""
    return Source.of(text).place(Unsupported(why), at)


# -- the variables


def unset(of: Iterable[tuple[int, Action]]) -> dict[str, int]:
    """Return the variables that are used where they are not set, each with its first place.

    Helm refuses such a template whatever the values are.
    """
    places: dict[str, int] = {}
    known = {"$"}
    above: list[tuple[set[str], set[str]]] = []  # the known variables, and the block's own
    added: set[str] = set()
    for place, action in of:
        if action.kind == END:
            known -= added
            known, added = above.pop()
            continue
        new, used = _variables(action)
        for name in used - known:
            places.setdefault(name, place)
        if action.kind == OPEN:
            above.append((known, added))
            added = set()
            if action.word in ("define", "block"):
                known, new = {"$"}, set()
        added |= new - known
        known |= new
    return places


def _variables(action: Action) -> tuple[set[str], set[str]]:
    """Return the variables that an action sets, and the variables that it uses."""
    names = [word.partition(".")[0] for word in action.words if word[0] == "$"]
    head, assigned, _ = action.body.partition(":=")
    sets = action.kind != OUTPUT and assigned and _STRINGS.isdisjoint(head)
    count = head.count("$") if sets else 0
    return set(names[:count]), set(names[count:])


def hashed(text: str) -> int:
    """Return a number for a text. The number is the same in every process."""
    return int.from_bytes(text.encode("utf-8", "surrogatepass"), "little") % _PRIME
