"""What stands between the delimiters of an action, token by token, as Go reads it."""

from __future__ import annotations

from kmerge_git.errors import Unsupported

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
