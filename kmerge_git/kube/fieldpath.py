"""Paths of fields: parsed, printed, and matched against patterns.

    spec.template.spec.containers[name=app].image
    spec.ports[port=80,protocol=TCP].name     an element by several keys
    metadata.annotations[example.com/config]  a key with dots or other odd characters
    spec.rules[3]                             an element by its place, from 0
    metadata.finalizers[=example.com/a]       an element of a set
    data["a]b"]                               quoted: `\\"`, `\\\\` and `\\n` as in JSON

A path is a tuple of steps: a str is a key of a mapping, an int a place in a list, a tuple of
(field, text) pairs an element of a keyed list; of a set, with an empty field.

In a pattern `*` stands for any step or any part of a text, and `**` for any number of steps;
what is quoted stands for itself. `[name=app]` matches an element with more keys, too.
"""

from __future__ import annotations

from kmerge_git.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Pairs = tuple[tuple[str, str], ...]
    Step = str | int | Pairs
    Path = tuple[Step, ...]
    # A text, and whether it was quoted
    Word = tuple[str, bool]
    Token = Word | int | tuple[tuple[Word, Word], ...]

_ODD_IN_NAME = frozenset(" \t\n\r.,=[]\"'\\/*")
_ODD_IN_BRACKETS = frozenset('\t\n\r,=[]"\\*')
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def parse(text: str) -> Path:
    """The steps of a path."""
    return tuple(_step(token) for token in _tokens(text))


def show(path: Path) -> str:
    """The path as text: `parse(show(path)) == path`."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif isinstance(step, str):
            name = show_field(step)
            out += f".{name}" if out and name[0] != "[" else name
        else:
            out += show_element(step)
    return out


def show_field(name: str) -> str:
    """A key of a mapping: as it is, or in brackets."""
    if name and not any(char in _ODD_IN_NAME for char in name):
        return name
    number = name.isascii() and name.isdigit()
    return f'["{_escape(name)}"]' if number else f"[{_quoted_if_odd(name)}]"


def show_element(pairs: Iterable[tuple[str, str]]) -> str:
    """An element of a keyed list."""
    words = (f"{_quoted_if_odd(f) if f else ''}={_quoted_if_odd(v)}" for f, v in pairs)
    return f"[{','.join(words)}]"


def match(pattern: str, path: Path | str) -> bool:
    """Whether a pattern matches the whole of a path."""
    steps = parse(path) if isinstance(path, str) else path
    tokens = _tokens(pattern)
    reached = {0}  # how many steps the tokens so far may have taken
    for token in tokens:
        if token == ("**", False):
            reached = set(range(min(reached), len(steps) + 1)) if reached else reached
        else:
            reached = {n + 1 for n in reached if n < len(steps) and _matches(token, steps[n])}
    return len(steps) in reached


def _step(token: Token) -> Step:
    if isinstance(token, int):
        return token
    if isinstance(token[0], str):
        return token[0]
    return tuple((field[0], value[0]) for field, value in token)


def _matches(token: Token, step: Step) -> bool:
    if token == ("*", False):
        return True
    if isinstance(token, int) or isinstance(step, int):
        return token == step
    if isinstance(token[0], str):
        return isinstance(step, str) and _glob(token, step)
    if isinstance(step, str):
        return False
    return all(any(_glob(field, f) and _glob(value, v) for f, v in step) for field, value in token)


def _glob(word: Word, text: str) -> bool:
    """Whether a word, in which `*` stands for anything unless it is quoted, matches a text."""
    first, *rest = word[0].split("*")
    if word[1] or not rest:
        return word[0] == text
    last = rest.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in rest:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    at = 1 if text.startswith(".") and len(text) > 1 else 0
    while at < len(text):
        if text[at] == "[":
            token, at = _brackets(text, at + 1)
        else:
            end = at
            while end < len(text) and text[end] not in ".[":
                end += 1
            token, at = (text[at:end], False), end
            if not token[0]:
                raise _error(text, at, "a name is missing")
        tokens.append(token)
        if text[at : at + 1] == ".":
            at += 1
            if at == len(text) or text[at] == "[":
                raise _error(text, at, "a name is missing behind `.`")
        elif at < len(text) and text[at] != "[":
            raise _error(text, at, "`.` or `[` is missing")
    return tokens


def _brackets(text: str, at: int) -> tuple[Token, int]:
    """What stands in brackets: a key, a place, or pairs."""
    pairs: list[tuple[Word, Word]] = []
    while True:
        word, at = _word(text, at, ",=]")
        if text[at : at + 1] == "=":
            value, at = _word(text, at + 1, ",]")
            pairs.append((word, value))
        elif pairs:
            raise _error(text, at, "`=` is missing")
        elif not word[0] and not word[1]:
            raise _error(text, at, "nothing stands in the brackets")
        elif text[at : at + 1] == ",":
            raise _error(text, at, "`=` is missing")
        if text[at : at + 1] == "]":
            break
        if not pairs or text[at : at + 1] != ",":
            raise _error(text, at, "`]` is missing")
        at += 1
    if pairs:
        return tuple(pairs), at + 1
    is_place = not word[1] and word[0].isascii() and word[0].isdigit() and len(word[0]) < 10
    return (int(word[0]) if is_place else word), at + 1


def _word(text: str, at: int, stops: str) -> tuple[Word, int]:
    if text[at : at + 1] == '"':
        return _quoted(text, at + 1)
    end = at
    while end < len(text) and text[end] not in stops:
        end += 1
    return (text[at:end], False), end


def _quoted(text: str, at: int) -> tuple[Word, int]:
    start, out = at, ""
    while at < len(text):
        char = text[at]
        if char == '"':
            return (out, True), at + 1
        if char == "\\":
            at += 1
            char = _UNESCAPED.get(text[at : at + 1], "")
            if not char:
                raise _error(text, at, "an unknown escape")
        out += char
        at += 1
    raise _error(text, start - 1, "the closing quote is missing")


def _quoted_if_odd(text: str) -> str:
    if text and not any(char in _ODD_IN_BRACKETS for char in text):
        return text
    return f'"{_escape(text)}"'


def _escape(text: str) -> str:
    return "".join(_ESCAPED.get(char, char) for char in text)


def _error(text: str, at: int, why: str) -> UsageError:
    return UsageError(
        f"not a field path: {why}",
        column=at + 1,
        excerpt=text,
        hint="write it like `spec.containers[name=app].image`",
    )
