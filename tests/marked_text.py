"""A text with conflicts, as a reader of its own sees it: nothing of the package is asked.

What judges how conflicts are written must not share the faults of who writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

SIZE = 7
LONGER = 4  # than what looks like a marker in a version
SECTIONS = {"<": "ours", "|": "base", "=": "theirs", ">": ""}  # what a marker opens
FOLLOWING = {"": "<", "ours": "|=", "base": "=", "theirs": ">"}  # what may end a section


def size_for(texts: Iterable[str], size: int = SIZE) -> int:
    """The size of the markers in a merge of these texts, which may have lines that look like some."""
    looks_so = re.compile(
        rf"^(?:([<|>])\1{{{size - 1},}}(?=[ \t\r\n]|\Z)|={{{size},}}(?=\r?\n|\Z))", re.MULTILINE
    )
    longest = max((len(found[0]) for text in texts for found in looks_so.finditer(text)), default=0)
    return longest + LONGER if longest else size


def lines_of(text: str, size: int) -> Iterator[tuple[int, str, str]]:
    """The lines but for the markers: number of the conflict, section ("" outside), and the line."""
    conflict, at = 0, ""
    for line in text.split("\n"):
        char = _marker(line, size)
        if char and char in FOLLOWING[at]:
            conflict += char == "<"
            at = SECTIONS[char]
        else:
            yield conflict, at, line


def decided(text: str, side: str, size: int) -> str:
    """The text with every conflict decided for `ours`, `base` or `theirs`."""
    return "\n".join(line for _, at, line in lines_of(text, size) if at in ("", side))


def _marker(line: str, size: int) -> str:
    """The character of a line that is a marker."""
    char = line[:1]
    is_one = char and char in "<|=>" and line.startswith(char * size)
    behind = line[size:].removesuffix("\r")
    return char if is_one and (not behind or (behind[0] in " \t" and char != "=")) else ""
