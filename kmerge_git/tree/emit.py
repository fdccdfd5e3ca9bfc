"""Write new values as YAML, in the style of kubectl.

This module writes only values that have no text yet; it never rewrites a user's file. Besides the
checks, this is the only module that imports ruamel.yaml.
"""

from __future__ import annotations

import re
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.representer import SafeRepresenter

from kmerge_git.errors import Unsupported
from kmerge_git.tree.same import respell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_STR = "tag:yaml.org,2002:str"
_WIDEST = 1 << 30  # lines are never folded: a folded line is a changed line
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|.)")
_LINE = re.compile(r"\n(?!\n)")  # a line break before a line that is not empty
_BREAK = re.compile("[\n\x85\u2028\u2029]")
_LONGEST_KEY = 1000  # libyaml reads `key: value` up to 1024 characters; a longer key needs `? key`


def dump(value: object, indent: int = 2, list_offset: int = 0) -> str:
    """Return a value as a block of YAML.

    The dashes of a list are `list_offset` columns to the right of its key.
    """
    if isinstance(value, str):
        return _one_line(value) + "\n"
    writer = _Writer(indent, list_offset)
    if isinstance(value, dict) and value:
        writer.mapping(value, 0, "")
    elif isinstance(value, list | tuple) and value:
        writer.sequence(value, 0, "")
    else:
        return with_ruamel(value, indent, list_offset)
    return "".join(writer.parts)


class _Writer:
    """Write YAML like ruamel.yaml, but ten times as fast; leave unusual values to ruamel.yaml."""

    __slots__ = ("indent", "known", "offset", "parts")

    def __init__(self, indent: int, offset: int) -> None:
        self.indent = indent
        self.offset = offset
        self.parts: list[str] = []
        self.known: dict[str, str] = {}  # the token of each key

    def mapping(self, value: dict[object, object], column: int, opening: str) -> None:
        """Write the entries of a mapping.

        If the first entry follows a dash, `opening` is the text before that entry.
        """
        pad = " " * column
        for key, inner in value.items():
            token = self.key(key)
            if token:
                self.parts.append(f"{opening or pad}{token}:")
                self.value(inner, column, column + self.indent)
            else:
                text = with_ruamel({key: inner}, self.indent, self.offset)
                self.parts.append((opening or pad) + _LINE.sub("\n" + pad, text[:-1]) + "\n")
            opening = ""

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
        if isinstance(value, str):
            if "\n" in value and _fits_block(value):
                self.block(value, below, step)
            else:
                self.parts.append(f" {_token(value)}\n")
        elif value is None or isinstance(value, bool):
            self.parts.append({None: " null\n", True: " true\n", False: " false\n"}[value])
        elif type(value) is int:
            self.parts.append(f" {value}\n")
        elif isinstance(value, float) and "." in repr(value) and "e" not in repr(value):
            self.parts.append(f" {value!r}\n")
        elif isinstance(value, dict | list | tuple):
            self.parts.append(" {}\n" if isinstance(value, dict) else " []\n")
        else:
            self.parts.append(" " + with_ruamel(value, self.indent, self.offset))

    def block(self, text: str, below: int, step: int) -> None:
        """Write a text of several lines as a `|` block scalar."""
        bare = text.rstrip("\n")
        chomping = {0: "-", 1: ""}.get(len(text) - len(bare), "+")
        hint = str(step) if text[0] in " \t\n" else ""
        pad = " " * below
        lines = text.removesuffix("\n").split("\n")
        body = "".join(f"{pad}{line}\n" if line else "\n" for line in lines)
        self.parts.append(f" |{hint}{chomping}\n{body}")

    def key(self, key: object) -> str:
        """Return a key as a token on one line, or '' if the key needs a `?`."""
        if not isinstance(key, str) or len(key) > _LONGEST_KEY // 10 or _BREAK.search(key):
            return ""
        token = self.known.get(key)
        if token is None:
            token = self.known[key] = _token(key)
        return token


def with_ruamel(value: object, indent: int, list_offset: int) -> str:
    """Write a value with ruamel.yaml, which defines the style and can write unusual values."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.Emitter = _Emitter
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.width = _WIDEST
    yaml.indent(mapping=indent, sequence=list_offset + 2, offset=list_offset)
    stream = StringIO()
    yaml.dump(value, stream)
    text = stream.getvalue()
    if text.endswith("\n...\n"):
        text = text[:-4]
    if isinstance(value, list | tuple) and value and list_offset:
        return _dedent(text, list_offset)
    return text


def _dedent(text: str, columns: int) -> str:
    """Move a top-level list to column 0, because ruamel.yaml indents the list."""
    return "\n".join(line.removeprefix(" " * columns) for line in text.split("\n"))


class _Representer(SafeRepresenter):
    """Represent only plain values. If an object occurs again, write it again, without an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Emitter(Emitter):
    """Indent the lines of a block scalar relative to its parent, whatever the list offset is."""

    MAX_SIMPLE_KEY_LENGTH = _LONGEST_KEY

    def determine_block_hints(self, text: Any) -> tuple[str, int, str]:
        """Return the part of a `|` header that follows the `|`.

        If the text begins with blanks or empty lines, libyaml needs the indentation in the header.
        """
        step = int(self.indent or 0) - int(self.indents.values[-1][0] or 0)
        if self.indents.last_seq():  # counted from the dash
            step -= self.sequence_dash_offset
        hint = str(step) if text[0] in " \t\n" else ""
        bare = text.rstrip("\n")
        chomping = {0: "-", 1: ""}.get(len(text) - len(bare), "+")
        return hint + chomping, step, chomping


def _represent_str(representer: Any, text: str) -> Any:
    return representer.represent_scalar(_STR, text, style=_style(text))


def _style(text: str) -> str | None:
    """Return the style that a text needs: `|` for lines, a quote, or None for plain text."""
    if "\n" in text and _fits_block(text):
        return "|"
    return None if _one_line(text) == text else '"'


def _one_line(text: str) -> str:
    plain = respell(text, "")
    quoted = respell(text, '"') if plain is None else plain
    if quoted is None:
        raise Unsupported("a lone surrogate (half a character) cannot be written as YAML")
    return quoted


def _token(text: str) -> str:
    """Return the text as a token on one line, with the same escapes as in ruamel.yaml."""
    token = _one_line(text)
    if token[0] == '"' and "\\" in token:
        return _ESCAPE.sub(lambda found: found[0][:2] + found[0][2:].upper(), token)
    return token


def _fits_block(text: str) -> bool:
    """Return whether all lines can be in a block scalar, with no invisible characters."""
    lines = text.split("\n")
    return any(lines) and not any(
        line.endswith((" ", "\t")) or respell(line.replace("\t", " "), "'") is None
        for line in lines
    )


def _represent_none(representer: Any, value: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


_Representer.add_representer(str, _represent_str)
_Representer.add_representer(type(None), _represent_none)
