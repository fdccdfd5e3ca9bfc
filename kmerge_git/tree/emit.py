"""Writes YAML that did not exist before, in the style of kubectl.

A user's file is never written again here: only values that have no text yet. Besides the checks
this is the only module that imports ruamel.yaml.
"""

from __future__ import annotations

from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.representer import SafeRepresenter

from kmerge_git.errors import Unsupported
from kmerge_git.tree.scalars import respell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STR = "tag:yaml.org,2002:str"
_WIDEST = 1 << 30  # lines are never folded: a folded line is a changed line
_LONGEST_KEY = 1000  # libyaml reads `key: value` up to 1024 characters, `? key` behind that


def dump(value: object, indent: int = 2, list_offset: int = 0) -> str:
    """The value as a block of YAML; `list_offset` is the columns from a parent to its dashes."""
    if isinstance(value, str):
        return _one_line(value) + "\n"
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
    """Moves a list at the top to the margin; ruamel.yaml gives it the offset of any list."""
    pad = " " * columns
    return "\n".join(line.removeprefix(pad) for line in text.split("\n"))


class _Representer(SafeRepresenter):
    """Plain values only, the same object twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Emitter(Emitter):
    """Counts the indentation of a block scalar from its parent, whatever the list offset is."""

    MAX_SIMPLE_KEY_LENGTH = _LONGEST_KEY

    def determine_block_hints(self, text: Any) -> tuple[str, int, str]:
        """The header of a `|`; libyaml finds no indentation behind blanks, tabs or empty lines."""
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
    """None where the plain text is safe with every reader, `|` for lines, else quotes."""
    if "\n" in text and _fits_block(text):
        return "|"
    return None if _one_line(text) == text else '"'


def _one_line(text: str) -> str:
    plain = respell(text, "")
    quoted = respell(text, '"') if plain is None else plain
    if quoted is None:
        raise Unsupported("half a character (a lone surrogate) cannot be written as YAML")
    return quoted


def _fits_block(text: str) -> bool:
    """Whether every line can stand in a block scalar, with nothing that a person cannot see."""
    lines = text.split("\n")
    return any(lines) and not any(
        line.endswith((" ", "\t")) or respell(line.replace("\t", " "), "'") is None
        for line in lines
    )


def _represent_none(representer: Any, value: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


_Representer.add_representer(str, _represent_str)
_Representer.add_representer(type(None), _represent_none)
