"""Small readings of the text around a node: blanks, comments, anchors, tags."""

from __future__ import annotations

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
    """Anchor, tag, and where the value itself starts."""
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
    """The end of the name of an anchor or alias; `:` is no part of it."""
    while text[position : position + 1].isalnum() or text[position : position + 1] in ("-", "_"):
        position += 1
    return position
