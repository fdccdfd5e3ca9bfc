"""Write new values as YAML, in the style of kubectl.

This module writes only values that have no text yet; it never rewrites a user's file.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.tree.plain_values import ODD_FLOATS
from kmerge_git.tree.same import respell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_KEY = 1000  # libyaml reads `key: value` up to 1024 characters; a longer key needs `? key`


def dump(value: object, indent: int = 2, list_offset: int = 0) -> str:
    """Return a plain value as a block of YAML; its lines are never folded.

    The dashes of a list are `list_offset` columns to the right of its key.
    """
    writer = _Writer(indent, list_offset)
    if isinstance(value, dict) and value:
        writer.mapping(value, 0, "")
    elif isinstance(value, list | tuple) and value:
        writer.sequence(value, 0, "")
    else:
        writer.parts.append(_token(value) + "\n")
    return "".join(writer.parts)


class _Writer:
    """Collect the parts of the text of a value."""

    __slots__ = ("indent", "offset", "parts")

    def __init__(self, indent: int, offset: int) -> None:
        self.indent = indent
        self.offset = offset
        self.parts: list[str] = []

    def mapping(self, value: dict[str, object], column: int, opening: str) -> None:
        """Write the entries of a mapping.

        If the first entry follows a dash, `opening` is the text before that entry.
        """
        pad = " " * column
        for key, inner in value.items():
            token = _token(key)
            if len(token) > _LONGEST_KEY:
                token = f"? {token}\n{pad}"
            self.parts.append(f"{opening or pad}{token}:")
            opening = ""
            self.value(inner, column, column + self.indent)

    def sequence(self, value: Sequence[object], column: int, opening: str) -> None:
        """Write the elements of a sequence, with the dashes at the given column."""
        pad = " " * column
        for inner in value:
            dash = (opening or pad) + "-"
            opening = ""
            if isinstance(inner, dict) and inner:
                self.mapping(inner, column + 2, dash + " ")
            elif isinstance(inner, list | tuple) and inner:
                self.sequence(inner, column + 2 + self.offset, dash + " " * (1 + self.offset))
            else:
                self.parts.append(dash)
                self.scalar(inner, column + 2, 2)

    def value(self, inner: object, column: int, below: int) -> None:
        """Write the value after a key."""
        if isinstance(inner, dict) and inner:
            self.parts.append("\n")
            self.mapping(inner, below, "")
        elif isinstance(inner, list | tuple) and inner:
            self.parts.append("\n")
            self.sequence(inner, column + self.offset, "")
        else:
            self.scalar(inner, below, self.indent)

    def scalar(self, value: object, below: int, step: int) -> None:
        """Write a scalar or an empty collection; `below` is the column of the lines below a `|`."""
        if isinstance(value, str) and "\n" in value and _fits_block(value):
            self.block(value, below, step)
        else:
            self.parts.append(f" {_token(value)}\n")

    def block(self, text: str, below: int, step: int) -> None:
        """Write a text of several lines as a `|` block scalar."""
        bare = text.rstrip("\n")
        chomping = {0: "-", 1: ""}.get(len(text) - len(bare), "+")
        hint = str(step) if text[0] in " \t\n" else ""
        pad = " " * below
        lines = text.removesuffix("\n").split("\n")
        body = "".join(f"{pad}{line}\n" if line else "\n" for line in lines)
        self.parts.append(f" |{hint}{chomping}\n{body}")


def _token(value: object) -> str:
    """Return a scalar or an empty collection on one line."""
    if isinstance(value, str):
        plain = respell(value, "")
        quoted = respell(value, '"') if plain is None else plain
        if quoted is None:
            raise Unsupported("half a character (a lone surrogate) cannot be written as YAML")
        return quoted
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return ODD_FLOATS.get(repr(value), repr(value))


def _fits_block(text: str) -> bool:
    """Return whether all lines can be in a block scalar, with no invisible characters."""
    lines = text.split("\n")
    return any(lines) and not any(
        line.endswith((" ", "\t")) or respell(line.replace("\t", " "), "'") is None
        for line in lines
    )
