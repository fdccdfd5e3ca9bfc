"""Show paths of fields to people, and match paths against the patterns of policies.

    spec.template.spec.containers[name=app].image
    spec.ports[port=80,protocol=TCP].name     an element by several keys
    items[Deployment/web].spec                a resource in a list of resources
    metadata.annotations[example.com/config]  a key with dots or other special characters
    spec.rules[3]                             an element by its index in the base, from 0
    data["a]b"]                               quoted: `\\"`, `\\\\` and `\\n` as in JSON

A path is a tuple of steps. A str is a key of a mapping, and an int is an index in a list. A tuple
is an element of a list by its keys: (field, text) pairs, or only the name of a resource.

In a pattern, `*` matches any one key of a mapping, `[*]` matches any step in brackets, and `**`
matches any number of steps. `[name=app]` also matches an element with more keys, and `[app]`
matches an element whose only key is `app`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Element = tuple[tuple[str, str] | str, ...]
    Step = str | int | Element
    Path = tuple[Step, ...]
    # a key, `*` or `**`; or a step in brackets, as the written text and as its parts
    Word = str | tuple[str, Element]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_ODD_IN_NAME = frozenset(" \t\n\r.,=[]\"'\\/*")
_ODD_IN_BRACKETS = frozenset('\t\n\r,=[]"\\*')
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def show(path: Path, *, quoted: bool = False) -> str:
    """Return the path as text; with `quoted`, write all keys but plain keys in brackets.

    Findings use `quoted`. Directives such as `$setElementOrder/containers` count as plain keys.
    """
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif not isinstance(step, str):
            out += f"[{','.join(_part(part, quoted) for part in step)}]"
        elif not _is_bare(step) if quoted else _is_odd(step):
            out += f"[{_spelled(step, quoted)}]"
        else:
            out += f".{step}" if out else step
    return out


def together(shown: list[str]) -> list[str]:
    """Shorten the paths in a list: keep only the last step if the parent was just shown.

    For example, return `spec.requests.cpu` and `.memory`.
    """
    known, out = "", []
    for path in shown:
        parent = _parent(path)
        out.append(path[len(parent) :] if parent and parent == known else path)
        known = parent
    return out


def _parent(path: str) -> str:
    """Return a path in text form without its last step, or '' if that step is not a plain key."""
    parent, _, last = path.rpartition(".")
    is_plain = last.count("[") == last.count("]") and not {*path} & {'"', " "}
    return parent if is_plain else ""


def _part(part: tuple[str, str] | str, quoted: bool) -> str:
    if isinstance(part, str):
        return _spelled(part, quoted)
    field, text = part
    return f"{_spelled(field, False) if field else ''}={_spelled(text, quoted)}"


def _is_bare(key: str) -> bool:
    """Return whether a key is shown without brackets in a finding.

    Directives such as `$setElementOrder/containers` are shown without brackets, too.
    """
    return bool(key) and (_PLAIN | {"/"} if key[0] == "$" else _PLAIN).issuperset(key.lstrip("$"))


def _is_odd(key: str) -> bool:
    """Return whether a key of a mapping is shown in brackets."""
    return not key or not _ODD_IN_NAME.isdisjoint(key)


def _spelled(text: str, quoted: bool) -> str:
    if text and not quoted and _ODD_IN_BRACKETS.isdisjoint(text):
        return text
    return '"' + "".join(_ESCAPED.get(char, char) for char in text) + '"'


def matches(words: list[Word], path: Path) -> bool:
    """Return whether a pattern matches a path.

    If a pattern matches a list, it also matches the elements of the list that are given by index.
    """
    if _meet(words, path):
        return True
    return bool(path) and isinstance(path[-1], int) and _meet(words, path[:-1])


def _meet(words: list[Word], path: Path) -> bool:
    reached = {0}  # the numbers of steps that the words so far may match
    for word in words:
        if word == "**":
            reached = set(range(min(reached), len(path) + 1)) if reached else reached
        else:
            reached = {n + 1 for n in reached if n < len(path) and _means(word, path[n])}
    return len(path) in reached


def _means(word: Word, step: Step) -> bool:
    """Return whether a word of a pattern matches a step of a path."""
    if isinstance(word, str):
        return isinstance(step, str) and word in ("*", step)
    raw, parts = word
    if isinstance(step, str):
        if raw[:1] == '"':
            return parts == (step,)
        return _is_odd(step) and (raw in ("*", step) or parts == (step,))
    if isinstance(step, int) or raw == "*":
        return raw in ("*", str(step))
    if len(parts) == 1 and isinstance(parts[0], str):
        return [part if isinstance(part, str) else part[1] for part in step] == [parts[0]]
    return bool(parts) == bool(step) and set(parts).issubset(step)


def pattern(text: str) -> list[Word]:
    """Return the words of a pattern, one word for each step.

    Every text is accepted; a malformed pattern matches nothing.
    """
    words: list[Word] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            parts, end = _brackets(text, at + 1)
            words.append((text[at + 1 : end], parts))
            at = end + 1
        else:
            end = at
            while end < len(text) and text[end] not in ".[":
                end += 1
            words += [text[at:end]] if end > at else []
            at = end
        at += text[at : at + 1] == "."
    return words


def _brackets(text: str, at: int) -> tuple[Element, int]:
    """Return the parts of a step that is in brackets, and the offset where the brackets end."""
    parts: list[tuple[str, str] | str] = []
    while at < len(text) and text[at] != "]":
        word, at = _word(text, at, ",=]")
        if text[at : at + 1] == "=":
            value, at = _word(text, at + 1, ",]")
            parts.append((word, value))
        else:
            parts.append(word)
        at += text[at : at + 1] == ","
    return tuple(parts), at


def _word(text: str, at: int, stops: str) -> tuple[str, int]:
    """Return the text from `at` to the next stop character or closing quote, and its end offset."""
    word, end = "", at
    if text[at : at + 1] != '"':
        while end < len(text) and text[end] not in stops:
            end += 1
        return text[at:end], end
    end += 1
    while end < len(text) and text[end] != '"':
        escaped = text[end] == "\\"
        end += escaped
        char = text[end : end + 1]
        word += _UNESCAPED.get(char, char) if escaped else char
        end += 1
    return word, end + 1
