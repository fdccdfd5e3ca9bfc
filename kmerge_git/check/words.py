"""Plain words as YAML 1.1 (kubectl, Helm, Argo CD) and YAML 1.2 readers take them."""

from __future__ import annotations

from functools import lru_cache

from kmerge_git.check.plain import List, Map, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path

YES_NO = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
}
_DIGITS = frozenset("0123456789")


@lru_cache(maxsize=1)  # it is asked for each document of a file
def may_differ(text: str) -> bool:
    """Whether some word of a text could be read differently; cheap, and true too often."""
    for mark in ",[]{}:":
        text = text.replace(mark, " ")
    words = set(text.split())
    if not words.isdisjoint(YES_NO):
        return True
    return any(word[4:5] == "-" for word in words)


def is_plain(value: Text) -> bool:
    """Whether the reader decides what the scalar is."""
    return not value.style and not value.tag


def is_integer(text: str) -> bool:
    """Whether a plain word is a decimal integer."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return bool(digits) and _DIGITS.issuperset(digits)


def is_date(text: str) -> bool:
    """Whether a plain word is a day, as `2020-01-31`; a whole time is the same to all readers."""
    parts = text.split("-")
    if len(parts) != 3 or len(parts[0]) != 4 or not all(map(_DIGITS.issuperset, parts)):
        return False
    month, day = parts[1:]
    return all(0 < len(p) <= 2 for p in (month, day)) and int(month) <= 12 and int(day) <= 31


def scalars_with_paths(root: Value | None) -> Iterator[tuple[Text, Path]]:
    """Every scalar value of a document, with the keys and numbers that lead to it."""
    todo: list[tuple[Value | None, Path]] = [(root, ())]
    seen: set[int] = set()
    while todo:
        value, path = todo.pop()
        if isinstance(value, Text):
            yield value, path
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Map):
                todo += [(item, (*path, key)) for key, (_, item) in value.fields.items()]
            elif isinstance(value, List):
                todo += [(item, (*path, number)) for number, item in enumerate(value.values)]
