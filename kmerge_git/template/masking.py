"""Mask a template as YAML: replace each action by a word, and each block by one line.

The masked texts of the three versions are merged like any YAML. Then the result is unmasked: each
masked line is replaced by the actions that it represents. The merge is refused if it changed a
masked line, or if YAML finds the words of a masked text at other places than where they were put.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.kube.listkeys import key_names
from kmerge_git.template.template_layout import (
    DATA,
    DOCUMENT,
    ENTRY,
    LOOSE,
    MAP,
    SCALARS,
    WORDS,
    LineForm,
    Sided,
    Unreadable,
    behind,
    indent,
    key_column,
)
from kmerge_git.template.template_parser import BLANK, COMMENT, INLINE, TEXT, TOKEN, Row, hashed
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kmerge_git.template.template_layout import Placed

# A list element that stands for a block has all fields by which list elements are paired.
_FIELDS = sorted(key_names() | {"key"})
_DIGITS = 16  # the number of hexadecimal digits in a word


class Words:
    """Remember which action each word represents."""

    __slots__ = ("_described", "_known", "columns", "lines", "opened", "texts")

    def __init__(self, described: dict[str, LineForm] | None = None) -> None:
        self._described = {} if described is None else described  # for equal lines
        self._known: set[str] = set()  # lines whose actions have words
        self.opened: dict[str, YamlText] = {}  # the masked texts; equal texts are parsed once
        self.columns: dict[str, set[int]] = {}  # columns of the lines with an `indent` action
        self.texts: dict[str, str] = {}  # the action of each word inside a line
        self.lines: dict[str, str] = {}  # the text of each masked line, without line end

    def line(self, row: Row) -> LineForm:
        """Describe a line with a word in place of each action."""
        line = self._described.get(row.text)
        if line is None or (row.groups and row.text not in self._known):
            self._known.add(row.text)
            plain = self.plain(row)
            line = line or LineForm(row, plain)
            self._described[row.text] = line
        return line

    def plain(self, line: Row) -> str:
        """Return a line with a word in place of each action."""
        parts, at = [], 0
        for start, end in line.groups:
            action = line.text[start:end]
            if "indent" in action:
                self.columns.setdefault(action, set()).add(indent(line.text))
            parts += [line.text[at:start], self._word("V", action)]
            at = end
        return "".join((*parts, line.text[at:]))

    def _word(self, kind: str, text: str) -> str:
        word = f"{TOKEN}{kind}{hashed(text):016x}"
        if self.texts.setdefault(word, text) != text:
            raise Unsupported("two actions of the template have the same hash")
        return word

    def whole(self, column: int, line: Row, block: str) -> str:
        """Mask a line of actions inside a block scalar as one word.

        `block` is the header of the template block that the line belongs to.
        """
        body = line.text.rstrip("\n")
        masked_line = f"{' ' * column}{TOKEN}L{hashed(block + line.text):016x}"
        if self.lines.setdefault(masked_line, body) != body:
            raise Unsupported("two lines of the template have the same hash")
        return masked_line + line.text[len(body) :]

    def comment(self, line: Row) -> str:
        """Mask a template comment as a YAML comment."""
        at, end = indent(line.text), len(line.text.rstrip())
        return f"{line.text[:at]}# {self._word('C', line.text[at:end])}{line.text[end:]}"

    def above_children(self, line: Row) -> str:
        """Mask the last action of a line as a YAML comment, because the line has children.

        The output of the action comes above the children.
        """
        start, end = line.groups[-1]
        before = Row(line.text[:start], line.kind, groups=line.groups[:-1])
        return f"{self.plain(before)}# {self._word('N', line.text[start:end])}{line.text[end:]}"

    def unmasked(self, masked: str, contents: dict[str, str]) -> str:
        """Return the template that a merged masked text represents.

        `contents` has the template text for each masked line of an entry.
        """
        parts = []
        for line in masked.splitlines(keepends=True):
            bare = line.rstrip("\n")
            if bare in contents and TOKEN in bare:
                parts.append(contents[bare])
            elif bare in self.lines:
                parts.append(self.lines[bare] + "\n")
            else:
                parts.append(self._inline(line))
        return "".join(parts)

    def shown(self, message: str) -> str:
        """Return a message about a masked text, with the actions in place of the words."""
        for word, text in self.texts.items() if TOKEN in message else ():
            message = message.replace(word, text)
        return message if TOKEN not in message else message.partition(" at ")[0]

    def _inline(self, line: str) -> str:
        parts: list[str] = []
        at = 0
        while (start := line.find(TOKEN, at)) >= 0:
            end = start + len(TOKEN) + 1 + _DIGITS
            word, before = line[start:end], line[at:start]
            if word not in self.texts:
                raise Sided("the merge would split a line that contains only actions")
            action, kind = self.texts[word], word[len(TOKEN)]
            has_column = kind != "C" and "indent" in action
            if has_column and indent(line) not in self.columns.get(action, ()):
                raise Sided("the merge would move an `indent` action to another column")
            if kind in "CN":
                if not before.endswith("# ") or line[end:].strip():
                    raise Sided("the merge would split a template comment")
                before = before[:-2]
            parts += [before, action]
            at = end
        return "".join((*parts, line[at:]))


class Masked:
    """Hold the masked text of a version, and the token of each line that represents an entry."""

    __slots__ = ("entries", "lines", "opened", "text")

    def __init__(self, lines: dict[int, str], entries: dict[str, str], words: Words) -> None:
        self.lines = lines  # by the id of the unit
        self.entries = entries  # the token of each line that represents an entry
        self.text = "".join(lines.values())
        self.opened = words.opened.setdefault(self.text, YamlText(self.text.encode()))


def masked(units: list[Placed], tokens: dict[int, str], words: Words) -> Masked:
    """Mask the text of a version.

    `tokens` gives the token of each entry by the `id()` of the part that is the entry.
    """
    lines: dict[int, str] = {}
    entries: dict[str, str] = {}
    columns = _columns_of_words(units)
    for number, unit in enumerate(units):
        part = unit.part
        if unit.role == ENTRY:
            line = _entry_line(unit, tokens[id(unit)])
            entries[line] = tokens[id(unit)]
            lines[id(unit)] = f"{line}\n"
            continue
        assert isinstance(part, Row)
        if unit.role == WORDS and part.kind not in (TEXT, BLANK, INLINE):
            line = words.whole(columns.get(number, unit.column + 1), part, unit.plain)
        elif unit.role == DATA and _has_children(units, number):
            line = words.above_children(part)
        elif part.kind == COMMENT and unit.role != WORDS:
            line = words.comment(part)
        else:
            line = unit.plain
        lines[id(unit)] = line
    version = Masked(lines, entries, words)
    _refuse_misread(version)
    return version


def _entry_line(unit: Placed, token: str) -> str:
    """Return the masked line that represents an entry."""
    at, fields = " " * unit.column, ", ".join(f"{field}: {token}" for field in _FIELDS)
    lines = {DOCUMENT: f'--- {{{token}: ""}}', MAP: f'{at}{token}: ""', SCALARS: f'{at}- "{token}"'}
    return lines.get(unit.form, f"{at}- {{{fields}}}")


def _columns_of_words(units: list[Placed]) -> dict[int, int]:
    """Return the columns of the texts in block scalars, for the lines of actions in these texts.

    The keys are the numbers of the lines among the units.
    """
    columns: dict[int, int] = {}
    lines: list[int] = []
    column = -1
    for number, unit in enumerate([*units, None]):
        if unit is None or unit.role not in (WORDS, LOOSE):
            columns |= dict.fromkeys(lines, column) if column >= 0 else {}
            lines, column = [], -1
        elif unit.role == WORDS and unit.part.kind in (TEXT, INLINE):  # type: ignore[union-attr]
            at = indent(unit.plain)
            column = min(column, at) if column >= 0 else at
        elif unit.role == WORDS:
            lines.append(number)
    return columns


def _has_children(units: list[Placed], number: int) -> bool:
    """Return whether a line ends with an action after a key, and the lines below are deeper."""
    unit = units[number]
    row = unit.part
    assert isinstance(row, Row)
    if not row.groups or row.text[row.groups[-1][1] :].strip():
        return False
    key = unit.plain.rstrip()
    if not key[: key.rfind(TOKEN)].rstrip().endswith(":"):
        return False
    below = next((one for one in behind(units, number) if one.role != LOOSE), None)
    if below is None or below.role not in (DATA, ENTRY):
        return False
    return below.column > key_column(unit.plain)


def _refuse_misread(version: Masked) -> None:
    """Refuse a masked text if YAML finds the words at places where they were not put."""
    lines, entries = version.text.removesuffix("\n").split("\n"), version.entries
    fields = {f'{token}: ""' for token in entries.values()}
    if not fields.issuperset(lines):  # otherwise the text is a map of only entries
        _refuse_other_reading(version)
    if sum(line in entries for line in lines) > len(entries):
        raise Unreadable("a template block appears twice")


def _refuse_other_reading(version: Masked) -> None:
    try:
        graphs = [document.graph for document in version.opened.stream.documents]
    except KmergeError:
        raise Unreadable("the text between the template actions is not valid YAML") from None
    names: set[str] = set()
    words = sum(_look_at(graph, names) for graph in graphs if graph is not None)
    if not names.issuperset(version.entries.values()) or words < version.text.count(f"{TOKEN}L"):
        raise Unreadable(
            "a template block or action is on a line where YAML allows no field or element"
        )


def _look_at(root: Any, names: set[str]) -> int:
    """Collect the names of the entries in block collections, and count the words in block scalars.

    A document that is only `--- {...}` counts as an entry. The parser's nodes are looked at,
    because building the nodes of `tree.nodes` is slower; an alias is there the node of its anchor.
    """
    words = 0
    todo = [(root, True)]
    known: set[int] = set()
    while todo:
        node, is_entry = todo.pop()
        if id(node) in known:
            continue
        known.add(id(node))
        if isinstance(node.value, str):
            if is_entry:
                names.add(node.value)
            if node.style in ("|", ">"):
                words += node.value.count(f"{TOKEN}L")
        elif node.id == "mapping":
            if not node.flow_style or node is root:
                names.update(key.value for key, _ in node.value if isinstance(key.value, str))
            elif is_entry:
                values = [value.value for key, value in node.value if key.value == "name"]
                names.update(value for value in values if isinstance(value, str))
            todo += [(value, False) for _, value in node.value]
        else:
            todo += [(element, not node.flow_style) for element in node.value]
    return words
