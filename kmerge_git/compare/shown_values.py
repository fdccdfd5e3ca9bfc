"""Show values as short YAML; different values always look different."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kmerge_git.compare.change import FieldValue
from kmerge_git.tree.nodes import Scalar
from kmerge_git.tree.same import respell
from kmerge_git.visible import counted

LONG = 72  # the most characters of a value on one line
WIDTH = 160  # the most characters of a line
_BREAKS = (" -> ", " ", ".")  # a line that is too long is broken before the first of them
_HEAD = 32  # characters that are shown of the common beginning of two long texts
_AROUND = 12  # characters that are shown around the difference of two long texts
_ENCRYPTED = "ENC["
ENCRYPTED = "(encrypted)"


def flow(value: object) -> str:
    """Return a value on one line, without shortening the value."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def text(value: str) -> str:
    """Return a string as YAML, in quotes if YAML would read the bare string differently."""
    if value.startswith(_ENCRYPTED):
        return ENCRYPTED
    spelled = respell(value, "") if value != ENCRYPTED else None
    if spelled is None:
        spelled = respell(value, '"')
    return spelled if spelled is not None else repr(value)


def _key(name: str) -> str:
    return name if name.isprintable() and ": " not in name else text(name)


def cut(spelled: str) -> str:
    """Shorten a long text, and append the length of the whole text."""
    if len(spelled) <= LONG:
        return spelled
    return f"{spelled[: LONG - 1]}… ({len(spelled)} characters)"


def written(value: FieldValue | None) -> str:
    """Return a value on one line; keep the spelling of a number (`1.10`, not `1.1`)."""
    if value is None:
        return ""
    node = value.node
    if isinstance(node, Scalar) and not (node.style or node.tag or isinstance(value.plain, str)):
        return node.value or "null"
    return flow(value.plain)


def both(old: FieldValue | None, new: FieldValue | None, *, full: bool = False) -> tuple[str, str]:
    """Return two values as texts; of long values, return the part around the difference."""
    a, b = written(old), written(new)
    if a == b:  # encrypted values look the same
        return a, "another value"
    if looks(a) == looks(b):
        a, b = _escaped(a), _escaped(b)
    if full or max(len(a), len(b)) <= LONG:
        return a, b
    start, stop = _common(a, b)
    return _middle(a, start, len(a) - stop), _middle(b, start, len(b) - stop)


def apart(spelled: str, others: Sequence[str]) -> str:
    """Make a text look different from others; of a long text, return the part that differs."""
    if any(looks(spelled) == looks(other) for other in others):
        spelled, others = _escaped(spelled), [_escaped(other) for other in others]
    if len(spelled) <= LONG:
        return spelled
    start, stop = max((_common(spelled, other) for other in others), key=sum, default=(0, 0))
    if start < LONG - _AROUND:  # the difference is in the beginning
        return cut(spelled)
    return _middle(spelled, start, len(spelled) - stop)


def looks(spelled: str) -> str:
    """Normalize a text so that texts that look the same become equal (spaces, accents)."""
    if spelled.isascii():
        return spelled
    import unicodedata  # import late: few texts need it

    seen = unicodedata.normalize("NFC", spelled)
    return "".join(" " if unicodedata.category(char) == "Zs" else char for char in seen)


def _escaped(spelled: str) -> str:
    return spelled.encode("ascii", "backslashreplace").decode()


def _common(a: str, b: str) -> tuple[int, int]:
    """Return the lengths of the common beginning and the common end of two texts."""
    start = _prefix(a, b, min(len(a), len(b)))
    return start, _prefix(a[::-1], b[::-1], min(len(a), len(b)) - start)


def _prefix(a: str, b: str, most: int) -> int:
    least = 0
    while least < most:  # binary search, as lines of megabytes are common
        middle = (least + most + 1) // 2
        if a[least:middle] == b[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _middle(spelled: str, start: int, stop: int) -> str:
    """Return a part of a text, with a few characters around it."""
    first, last = max(start - _AROUND, 0), min(stop + _AROUND, len(spelled))
    if first <= _HEAD:
        first = 0
    shown = spelled[first:last]
    if len(shown) > 2 * LONG:
        shown = f"{shown[:LONG]}… ({len(shown)} characters) …{shown[-_AROUND:]}"
    head = spelled[:_HEAD] + "…" if first else ""  # the name of an image, the scheme of a URL
    return head + shown + ("…" if last < len(spelled) else "")


def line(text: str, others: Sequence[str], *, full: bool) -> str:
    """Make a line look different from the lines `others`, even if only the ends differ."""
    shown = text.removesuffix("\n")
    bare = shown.rstrip(" \t")
    blanks = len(shown) - len(bare)
    spelled = bare if full else apart(bare, [other.rstrip(" \t\n") for other in others])
    if blanks and any(other.rstrip(" \t\n") == bare for other in others):
        spelled += f" ({counted(blanks, 'trailing space')})"
    return spelled if text.endswith("\n") else f"{spelled} (no newline at the end)"


def folded(line: str) -> Iterator[str]:
    """Yield a line that is too long as several lines; those that continue it are indented."""
    indent = " " * (len(line) - len(line.lstrip()) + 6)
    start = len(indent)
    while len(line) > WIDTH:
        colon = line.find(": ", start, WIDTH) + 1
        # the value below its path, if that makes two lines or the path is long
        is_below = start + len(line) - colon <= WIDTH or colon > WIDTH // 2
        found = (line.rfind(mark, start + 1, WIDTH + len(mark)) for mark in _BREAKS)
        at = colon if colon and is_below else next((at for at in found if at > 0), WIDTH)
        yield line[:at]
        line = indent + line[at:].lstrip(" ")
    yield line


def block(value: object, indent: str = "") -> Iterator[str]:
    """Yield a value as lines that look like YAML."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _entry(f"{indent}{_key(name)}:", item, indent + "  ")
    elif isinstance(value, list) and value:
        for item in value:
            lines = list(block(item, indent + "  "))
            yield f"{indent}- {lines[0].lstrip()}"
            yield from lines[1:]
    elif isinstance(value, str) and "\n" in value:
        yield from (f"{indent}{line}" for line in value.removesuffix("\n").split("\n"))
    else:
        yield indent + flow(value)


def _entry(head: str, item: object, indent: str) -> Iterator[str]:
    if isinstance(item, dict | list) and item and len(flow(item)) > LONG - len(head):
        yield head
        yield from block(item, indent)
    elif isinstance(item, str) and "\n" in item:
        yield f"{head} |"
        yield from block(item, indent)
    else:
        yield f"{head} {flow(item)}"


def is_large(value: FieldValue | None) -> bool:
    """Return whether an element needs more than one line."""
    return value is not None and len(flow(value.plain)) > LONG


def element(value: FieldValue | None) -> str:
    """Return a list element on one line; show an environment variable as `NAME=value`."""
    plain = value.plain if value else None
    if isinstance(plain, dict) and {"name", "value"} == plain.keys():
        name, said = plain["name"], plain["value"]
        if isinstance(said, str) and "\n" not in said:  # the value of a variable is a string
            shown = ENCRYPTED if said.startswith(_ENCRYPTED) else said
            return cut(f"{name}={shown}" if shown else f'{name}=""')
    return flow(plain)
