"""The actions of a template, found as Go's text/template finds them.

What its lexer refuses is refused here, and so is what its parser refuses for the shape of one
action alone: an action without a value, a keyword or an equals sign inside a pipeline, a
variable that is not set.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


OPEN, ELSE, END, ASSIGN, COMMENT, OUTPUT = "open", "else", "end", "assign", "comment", "output"

# How every word begins that stands for an action while a text is read as YAML.
TOKEN = "kmTpl"  # noqa: S105
OPENING = frozenset(("if", "range", "with", "define", "block"))
KEYWORDS = OPENING.union(("else", "end", "template", "break", "continue"))
# Commands of a pipeline that have nothing in them, as shapes.
_HOLES = ("||", "(|", "()")


class Action:
    """One `{{ ... }}` of a text: `word` says which block it opens, or which variable it sets."""

    __slots__ = ("body", "end", "kind", "start", "trims_after", "trims_before", "word")

    def __init__(
        self,
        start: int,
        end: int,
        kind: str,
        word: str,
        body: str,
        trims_before: bool,
        trims_after: bool,
    ) -> None:
        self.start = start
        self.end = end  # behind the `}}`
        self.kind = kind
        self.word = word  # of an output: the name it begins with, if it does
        self.body = body  # without delimiters, trim marks and outer white space
        self.trims_before = trims_before
        self.trims_after = trims_after


class Told:
    """What the spelling of an action says, wherever it stands."""

    __slots__ = ("body", "kind", "size", "trims_after", "trims_before", "word")

    def __init__(
        self, size: int, kind: str, word: str, body: str, trims_before: bool, trims_after: bool
    ) -> None:
        self.size = size
        self.kind = kind
        self.word = word
        self.body = body
        self.trims_before = trims_before
        self.trims_after = trims_after


def actions(text: str) -> list[Action]:
    """The actions of a text, in their order."""
    refuse_own_words(text)
    found: list[Action] = []
    known: dict[str, Told] = {}
    at = text.find("{{")
    while at >= 0:
        found.append(action_at(text, at, 0, known))
        at = text.find("{{", found[-1].end)
    return found


def refuse_own_words(text: str) -> None:
    """Refuse a text with a word that could be taken for one that stands for an action."""
    own = text.lower().find(TOKEN.lower())
    if own >= 0:
        raise Unsupported(
            f"a word of the text holds {TOKEN}", line=text.lower().count("\n", 0, own) + 1
        )


def action_at(text: str, start: int, origin: int, known: dict[str, Told]) -> Action:
    """The action at a place, its span as from an origin; what is spelled alike is read once."""
    to_brace = text[start : text.find("}}", start) + 2]
    told = known.get(to_brace)
    if told is None:
        told = _read(text, start)
        if told.size == len(to_brace):
            known[to_brace] = told
    return Action(
        start - origin,
        start - origin + told.size,
        told.kind,
        told.word,
        told.body,
        told.trims_before,
        told.trims_after,
    )


def _read(text: str, start: int) -> Told:
    at = start + 2
    trims = text.startswith("-", at) and text[at + 1 : at + 2] in SPACES
    if trims:
        at += 2
    if text.startswith("/*", at):
        return _comment(text, start, at, trims)
    shape, names, close, end = tokens(text, start, at)
    kind, word = _kind(shape, names)
    if not kind:
        raise refusal(text, start, word)
    return Told(end - start, kind, word, text[at:close].strip(SPACE), trims, end - close == 3)


def _comment(text: str, start: int, at: int, trims: bool) -> Told:
    """A comment: its delimiter follows at once, or behind one white space and a trim mark."""
    star = text.find("*/", at + 2)
    if star < 0:
        raise refusal(text, start, "a comment of the template is not closed")
    close = star + 2
    body = text[at:close]
    if text.startswith("}}", close):
        return Told(close + 2 - start, COMMENT, "", body, trims, False)
    if text[close : close + 1] in SPACES and text.startswith("-}}", close + 1):
        return Told(close + 4 - start, COMMENT, "", body, trims, True)
    raise refusal(text, start, "a comment of the template ends before its delimiter")


def _kind(shape: str, names: list[str]) -> tuple[str, str]:
    """Kind and word of an action; or no kind, and why Go would not take it."""
    word = names[0] if shape[:1] == "w" else ""
    why = _fault(word, shape, names)
    if why:
        return "", why
    if word in OPENING:
        return OPEN, word
    if word in ("else", "end"):
        return (ELSE if word == "else" else END), word
    return (ASSIGN, names[0]) if shape.startswith("v=") else (OUTPUT, word)


def _fault(word: str, shape: str, names: list[str]) -> str:
    """What Go would not take about an action; empty: nothing."""
    if word in OPENING:
        return _no_head(word, shape[1:], names[1:])
    if word in ("end", "break", "continue"):
        return f"more than `{word}` in an action" if shape != "w" else ""
    if word == "else" and shape != "w":
        if shape[1] != "w" or names[1] not in ("if", "with"):
            return "`else` is followed by neither `if` nor `with`"
        return _no_pipeline(shape[2:], names[2:])
    if word == "template":
        if shape[1:2] != "s":
            return "`template` without a name"
        return _no_pipeline(shape[2:], names[1:]) if shape[2:] else ""
    return _no_pipeline(shape, names) if word != "else" else ""


def _no_head(word: str, shape: str, names: list[str]) -> str:
    """Why nothing can be opened by a keyword and what follows it; empty: it can."""
    if word in ("define", "block"):
        if not shape.startswith("s"):
            return f"`{word}` without a name"
        if word == "define":
            return "more than a name behind `define`" if shape != "s" else ""
        return _no_pipeline(shape[1:], names)
    if word == "range" and shape.startswith("v,v="):
        return _no_pipeline(shape[4:], names[2:])
    return _no_pipeline(shape, names)


def _no_pipeline(shape: str, names: list[str]) -> str:
    """Why tokens are no pipeline, with or without a variable that it is for; empty: they are."""
    if shape.startswith("v="):
        shape = shape[2:]
    if shape[:1] in ("", "|") or any(hole in shape for hole in _HOLES):
        return "a value is missing in an action"
    if "=" in shape or "," in shape:
        return "an equals sign or a comma inside a pipeline"
    keyword = next((name for name in names if name in KEYWORDS), "")
    return f"`{keyword}` inside a pipeline" if keyword else ""


SPACE = " \t\r\n"
SPACES = frozenset(SPACE)

_BEHIND_A_WORD = SPACES.union(".,|:)(")
_DIGITS = frozenset("0123456789")
_QUOTED = {'"': "a string", "'": "a character constant"}


def tokens(text: str, start: int, at: int) -> tuple[str, list[str], int, int]:
    """What an action is made of: a letter for each token, the names, its last and its very end."""
    shape, names = [], []
    depth = 0
    while True:
        mark = text[at : at + 1]
        if mark in SPACES:
            at += 1
            while text[at : at + 1] in SPACES:
                at += 1
            if text.startswith("-}}", at):
                close, end = at, at + 3
                break
            continue
        if mark == "}" and text.startswith("}}", at):
            close, end = at, at + 2
            break
        kind, behind = _token(text, start, at)
        if kind in "()":
            depth += 1 if kind == "(" else -1
            if depth < 0:
                raise refusal(text, at, "a parenthesis is closed that was not opened")
        elif kind in "wv":
            names.append(text[at:behind])
        shape.append(kind)
        at = behind
    if depth:
        raise refusal(text, start, "a parenthesis is not closed")
    return "".join(shape), names, close, end


def _token(text: str, start: int, at: int) -> tuple[str, int]:
    """The kind of the token at a place, and where it ends.

    w a word, v a variable, f a field, s a string, n a number or a character, and ( ) | , = as
    they are; `:=` is an `=`, too.
    """
    mark = text[at : at + 1]
    if not mark:
        raise refusal(text, start, "an action of the template is not closed")
    if mark == "." and text[at + 1 : at + 2] not in _DIGITS:
        return "f", _word_end(text, at + 1)
    if mark == "_" or mark.isalpha():
        return "w", _word_end(text, at)
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
    if mark.isdecimal():  # no number for Go, but a word
        return "w", _word_end(text, at)
    if mark == ":":
        if not text.startswith("=", at + 1):
            raise refusal(text, at, "a colon without an equals sign")
        return "=", at + 2
    raise refusal(text, at, f"an action holds {mark!r}")


def _word_end(text: str, at: int) -> int:
    while (mark := text[at : at + 1]) == "_" or mark.isalpha() or mark.isdecimal():
        at += 1
    if mark in _BEHIND_A_WORD or not mark or text.startswith("}}", at):
        return at
    raise refusal(text, at, f"a word is followed by {mark!r}")


def _quote_end(text: str, at: int, mark: str) -> int:
    """Behind a quote, which no line break may stand in, escaped or not."""
    end = at + 1
    while True:
        sign = text[end : end + 1]
        if sign == mark:
            return end + 1
        if sign == "\\":
            end += 1
            sign = text[end : end + 1]
        if sign in ("", "\n"):
            raise refusal(text, at, f"{_QUOTED[mark]} is not closed")
        end += 1


def behind_string(text: str, at: int) -> int:
    """Behind a string, or a character, of an action that was read before."""
    mark = text[at]
    return text.index(mark, at + 1) + 1 if mark == "`" else _quote_end(text, at, mark)


def _number_end(text: str, at: int) -> int:
    """Behind a number: hexadecimal, binary, complex, with underscores, as Go writes them."""
    end = _scanned(text, at)
    if text[end : end + 1] in ("+", "-"):
        end = _scanned(text, end)
        if text[end - 1] != "i":
            raise refusal(text, at, "a number is none")
    mark = text[end : end + 1]
    if mark == "_" or mark.isalpha() or mark.isdecimal() or _DIGITS.isdisjoint(text[at:end]):
        raise refusal(text, at, "a number is none")
    return end


def _scanned(text: str, at: int) -> int:
    digits, power = "0123456789_", "eE"
    if text[at : at + 1] in ("+", "-"):
        at += 1
    if text.startswith("0", at):
        at += 1
        base = text[at : at + 1].lower()
        if base in ("x", "o", "b"):
            at += 1
            digits = {"x": "0123456789abcdefABCDEF_", "o": "01234567_", "b": "01_"}[base]
            power = "pP" if base == "x" else ""
    at = _behind(text, at, digits)
    if text.startswith(".", at):
        at = _behind(text, at + 1, digits)
    if power and text[at : at + 1] in (power[0], power[1]):
        at += 1
        if text[at : at + 1] in ("+", "-"):
            at += 1
        at = _behind(text, at, "0123456789_")
    return at + 1 if text.startswith("i", at) else at


def _behind(text: str, at: int, signs: str) -> int:
    while (mark := text[at : at + 1]) and mark in signs:
        at += 1
    return at


def refusal(text: str, at: int, why: str) -> Unsupported:
    """Says that a text is none that can be read, and where."""
    line_start = text.rfind("\n", 0, at) + 1
    return Unsupported(why, line=text.count("\n", 0, at) + 1, column=at - line_start + 1)


_STRINGS = frozenset("(\"'`")  # behind one of these `:=` may be text


def unset(text: str) -> dict[str, int]:
    """The variables that are used where they are not set, each with its first such place."""
    found: dict[str, int] = {}
    if "$" not in text:
        return found
    known = {"$"}
    above: list[tuple[set[str], set[str]]] = []  # what was known, and what a block adds to it
    added: set[str] = set()
    for action in actions(text):
        if action.kind == END:
            known -= added
            known, added = above.pop()
            continue
        new, used = _variables(action)
        for name in used - known:
            found.setdefault(name, action.start)
        if action.kind == OPEN:
            above.append((known, added))
            added = set()
            if action.word in ("define", "block"):
                known, new = {"$"}, set()
        added |= new - known
        known |= new
    return found


def _variables(action: Action) -> tuple[set[str], set[str]]:
    """The variables that an action sets, and those that it uses."""
    names = list(_names(action.body))
    head, assigned, _ = action.body.partition(":=")
    if action.kind == OUTPUT or not assigned or not _STRINGS.isdisjoint(head):
        return set(), set(names)
    new = list(_names(head))
    return set(new), set(names[len(new) :])


def _names(body: str) -> Iterator[str]:
    """The variables of an action, outside of its strings and comments."""
    at = 0
    while at < len(body):
        mark = body[at]
        if body.startswith("/*", at):
            return
        if mark in "\"'`":
            at = behind_string(body, at) - 1
        elif mark == "$":
            end = at + 1
            while end < len(body) and (body[end] == "_" or body[end].isalnum()):
                end += 1
            yield body[at:end]
            at = end - 1
        at += 1
