"""Texts of several lines in every style without a header: both sides edit lines of one text.

The truth is git's merge of the lines of the text alone, written in the same style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from worlds.lines import git_lines

Words = list[str]
TEXT: Words = ["one one", "two", "three", "four", "five", "six"]
STYLES = {"plain": "", "double quotes": '"', "single quotes": "'"}
SHAPES = {  # a file, and the column of the text below its key
    "map": ("a: 1\nd:{}\nz: 1\n", 2),
    "with a comment": ("a: 1\nd:{}  # note\nz: 1\n", 4),
    "element": ("k:\n- d:{}\n  e: 1\n- e: 2\n", 4),
    "nested": ("x:\n  p:\n    d:{}\n    t: s\n", 6),
}


def _edits() -> Iterator[Callable[[Words], Words]]:
    for at in range(len(TEXT)):
        yield lambda words, at=at: [*words[:at], f"{words[at]} more", *words[at + 1 :]]  # type: ignore[misc]
        yield lambda words, at=at: [*words[:at], *words[at + 1 :]]  # type: ignore[misc]
        yield lambda words, at=at: [*words[:at], "new", *words[at:]]  # type: ignore[misc]
    yield lambda words: [*words, "last"]
    yield lambda words: [*words[:3], "", *words[3:]]


def worlds(style: str) -> Iterator[tuple[str, bytes, bytes, bytes, bytes]]:
    """Every pair of edits: the shape, the three versions, and the result, empty for a conflict."""
    mark = STYLES[style]
    versions = [[*TEXT], *(edit([*TEXT]) for edit in _edits())]
    quoted = [[mark + words[0], *words[1:-1], words[-1] + mark] for words in versions]
    for (name, (shape, column)), is_below in product(SHAPES.items(), (False, True)):
        for ours, theirs in product(quoted, repeat=2):
            sides = (quoted[0], ours, theirs)
            texts = ("".join(f"{word}\n" for word in words).encode() for words in sides)
            lines, is_clean = git_lines(*texts)
            made = [_write(words, shape, column, is_below=is_below) for words in sides]
            words = lines.decode().split("\n")[:-1]
            merged = _write(words, shape, column, is_below=is_below) if is_clean else b""
            yield name, made[0], made[1], made[2], merged


def _write(words: Words, shape: str, column: int, *, is_below: bool) -> bytes:
    margin = "\n" + " " * column
    return shape.format((margin if is_below else " ") + margin.join(words)).encode()
