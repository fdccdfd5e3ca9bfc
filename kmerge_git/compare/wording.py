"""Values for people: short, in YAML's spelling, and never cut so that two of them look alike."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.compare.change import FieldValue
from kmerge_git.tree.nodes import Scalar
from kmerge_git.tree.scalars import respell

LONG = 72  # characters of a value on one line
_HEAD = 32  # and of what two long texts begin with
_AROUND = 12  # characters that are shown beside what differs in two long texts
_ENCRYPTED = "ENC["


def short(value: object) -> str:
    """A value on one line, cut if need be."""
    return cut(flow(value))


def flow(value: object) -> str:
    """A value on one line, all of it."""
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
    """A string, in quotes where it would be something else without them."""
    if value.startswith(_ENCRYPTED):
        return "(encrypted)"
    spelled = respell(value, "")
    if spelled is None:
        spelled = respell(value, '"')
    return spelled if spelled is not None else repr(value)


def _key(name: str) -> str:
    return name if name.isprintable() and ": " not in name else text(name)


def cut(told: str) -> str:
    """The beginning of a long text, and how long it is."""
    if len(told) <= LONG:
        return told
    return f"{told[: LONG - 1]}… ({len(told)} characters)"


def written(value: FieldValue | None) -> str:
    """A value on one line; a number or a word as it is written, `1.10` and not 1.1."""
    if value is None:
        return ""
    node = value.node
    if isinstance(node, Scalar) and not (node.style or node.tag or isinstance(value.plain, str)):
        return node.value or "null"
    return flow(value.plain)


def both(old: FieldValue | None, new: FieldValue | None) -> tuple[str, str]:
    """Two values side by side: of long ones what differs is shown, not what they begin with."""
    a, b = written(old), written(new)
    if a == b:  # they are encrypted
        return a, "another one"
    if max(len(a), len(b)) <= LONG:
        return a, b
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    stop = 0
    while stop < min(len(a), len(b)) - start and a[-1 - stop] == b[-1 - stop]:
        stop += 1
    return _middle(a, start, len(a) - stop), _middle(b, start, len(b) - stop)


def _middle(told: str, start: int, stop: int) -> str:
    """What differs, with a little around it."""
    first, last = max(start - _AROUND, 0), min(stop + _AROUND, len(told))
    if first <= _HEAD:
        first = 0
    shown = told[first:last]
    if len(shown) > 2 * LONG:
        shown = f"{shown[:LONG]}… ({len(shown)} characters) …{shown[-_AROUND:]}"
    head = told[:_HEAD] + "…" if first else ""  # the name of an image, the scheme of a URL
    return head + shown + ("…" if last < len(told) else "")


def line(text: str, *, full: bool) -> str:
    """A line of a text; one without an end says so, for that alone may be what changed."""
    shown = text.removesuffix("\n")
    shown = shown if full else cut(shown)
    return shown if text.endswith("\n") else f"{shown} (no line end)"


def block(value: object, indent: str = "") -> Iterator[str]:
    """A value as lines, nearly as YAML has it."""
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
    """Whether an element takes more than a line."""
    return value is not None and len(flow(value.plain)) > LONG


def element(value: FieldValue | None, key: str) -> str:
    """An element of a list in a word or two: `NAME=value` of a variable, else all of it."""
    plain = value.plain if value else None
    if isinstance(plain, dict) and {"name", "value"} == plain.keys():
        name, said = plain["name"], plain["value"]
        if isinstance(said, str | int | float) and "\n" not in str(said):
            told = "(encrypted)" if flow(said) == "(encrypted)" else str(said)
            return cut(f"{name}={told}" if told else f'{name}=""')
    told = flow(plain)
    return told if len(told) <= LONG or not key else key
