"""Read the characters around a node: blanks, comments, anchors, tags, and odd line breaks.

YAML 1.1 knows line breaks that nobody types: a lone CR, U+0085, U+2028, U+2029. libyaml starts a
new line at them, git and people do not, so it is unclear which lines belong to a node. They are
accepted inside of quoted and block scalars, where they are only text; anywhere else the file is
left to the line merge. A byte order mark inside of a text is refused with them (two files with a
mark may have been joined): libyaml takes it for a part of the next token.
"""

from __future__ import annotations

from kmerge_git.errors import CannotParse
from kmerge_git.text.source import Source

_BLANKS = " \t\n\r\x85\u2028\u2029\ufeff"


def skip(text: str, position: int, indicators: str) -> int:
    """Move over white space, comments, and the given indicators."""
    while position < len(text):
        char = text[position]
        if char == "#":
            line_end = text.find("\n", position)
            position = line_end if line_end >= 0 else len(text)
        elif char in _BLANKS or char in indicators:
            position += 1
        else:
            break
    return position


def properties(text: str, start: int, end: int) -> tuple[str, str, int]:
    """Return anchor, tag, and where the value itself starts."""
    anchor = tag = ""
    at = start
    while at < end and text[at] in "&!":
        if text[at] == "&":
            stop = name_end(text, at + 1)
            anchor = text[at + 1 : stop]
        elif text.startswith("!<", at):
            stop = text.find(">", at) + 1
            tag = text[at:stop]
        else:
            stop = at
            while stop < end and text[stop] not in " \t\n\r,[]{}":
                stop += 1
            tag = text[at:stop]
        if stop >= end:
            return anchor, tag, end
        at = skip(text, stop, "")
    return anchor, tag, min(at, end)


def name_end(text: str, position: int) -> int:
    """Return the end of the name of an anchor or alias; `:` is no part of it."""
    while text[position : position + 1].isalnum() or text[position : position + 1] in ("-", "_"):
        position += 1
    return position


ODD_BREAKS = "\r\x85\u2028\u2029\ufeff"
MOST = 1_000  # in a document: the surroundings of each are looked at


def has_odd_breaks(text: str) -> bool:
    """Return whether there are any; a CR in front of a LF is none."""
    return first_odd_break(text, 0, len(text)) >= 0


def refuse_many(source: Source, start: int, end: int) -> None:
    """Refuse a region with so many that to look at each of them would take too long."""
    text = source.text[start:end]
    if sum(map(text.count, ODD_BREAKS)) - text.count("\r\n") > MOST:
        why = f"more than {MOST:,} unusual line breaks in a document"
        at = first_odd_break(source.text, start, end)
        raise source.error(why, at, "replace them by normal line breaks")


def first_odd_break(text: str, start: int, end: int) -> int:
    """Return the offset of the first odd break of a region, or -1."""
    found = [text.find(char, start, end) for char in ODD_BREAKS[1:]]
    carriage = text.find("\r", start, end)
    while carriage >= 0 and text.startswith("\n", carriage + 1):
        carriage = text.find("\r", carriage + 2, end)
    return min((at for at in (carriage, *found) if at >= 0), default=-1)


def odd_break_outside(text: str, start: int, end: int, scalars: list[tuple[int, int]]) -> int:
    """Return the first odd break of a region outside of these spans, which are in order, or -1."""
    for first, last in scalars:
        at = first_odd_break(text, start, first)
        if at >= 0:
            return at
        start = last
    return first_odd_break(text, start, end)


def refuse(source: Source, at: int) -> CannotParse:
    """Return the error for an odd break."""
    char = source.text[at]
    name = "byte order mark" if char == "\ufeff" else "line break"
    why = f"an unusual {name} (U+{ord(char):04X}) outside of a quoted text"
    return source.error(why, at, "replace it by a normal line break, or remove it")
