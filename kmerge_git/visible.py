"""Make foreign text safe to show in labels, on terminals and in reports.

A name, a subject or a value can hold anything: codes that control a terminal, marks that turn the
direction of the text, invisible marks, line ends, and characters that represent undecodable bytes.
All printed text goes through this module.
"""

from __future__ import annotations

_NAMED = {"\n": "\\n", "\r": "\\r"}
# besides control characters: marks of direction, of no width, and of lines and paragraphs
_MARKS = frozenset(
    "\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\ufeff\ufff9\ufffa\ufffb"
    "\u2060\u2061\u2062\u2063\u2064\u2065\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f"
)


def visible(text: str) -> str:
    """Return the text on one line, with escapes for all invisible characters except tabs."""
    if text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def label(text: str) -> str:
    """Return the text as a conflict label: each line end and each run of spaces is one space."""
    return " ".join(visible(text.replace("\n", " ").replace("\r", " ")).split())


def shortened(text: str, most: int) -> str:
    """Return the text; if it has more than `most` characters, cut it and end it with `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 file` or `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _shown(char: str) -> str:
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if (code < 0x20 and char != "\t") or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if 0xDC80 <= code < 0xDD00:  # Python's character for a byte that is no text
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if char in _MARKS or 0xD800 <= code < 0xE000 else char
