"""Mask a template as YAML: words in the place of its actions, one line in the place of a block.

The masked texts of the three versions are merged as any YAML, and the result is unmasked: each
masked line in it gives way to the actions that it stands for. A masked line that comes back in any
other way than it was made is refused, and so is a text that YAML reads otherwise than it was meant.
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
    Sided,
    Unreadable,
    behind,
    indent,
    key_column,
)
from kmerge_git.template.template_parser import BLANK, COMMENT, INLINE, TEXT, TOKEN, Row
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.template.template_layout import Placed
    from kmerge_git.tree.nodes import Node

# An element that stands for a block has all fields that elements of lists are paired by.
_FIELDS = sorted(key_names() | {"key"})
_DIGITS = 16  # of a word


class Words:
    """Remembers which word stands for which action."""

    __slots__ = ("columns", "lines", "opened", "texts")

    def __init__(self) -> None:
        self.opened: dict[str, YamlText] = {}  # the masked texts; equal ones are opened once
        self.columns: dict[str, set[int]] = {}  # of the lines of actions that give one
        self.texts: dict[str, str] = {}  # of the words inside lines
        self.lines: dict[str, str] = {}  # of whole lines, without their ends

    def plain(self, line: Row) -> str:
        """Return a line with a word in the place of each of its actions."""
        parts, at = [], 0
        for start, end in line.groups:
            action = line.text[start:end]
            if "indent" in action:
                self.columns.setdefault(action, set()).add(indent(line.text))
            parts += [line.text[at:start], self._word("V", action)]
            at = end
        return "".join((*parts, line.text[at:]))

    def _word(self, kind: str, text: str) -> str:
        word = f"{TOKEN}{kind}{digest(text)}"
        if self.texts.setdefault(word, text) != text:
            raise Unsupported("two actions cannot be told apart")
        return word

    def whole(self, column: int, line: Row, block: str) -> str:
        """Mask a line of actions in a text as one word; `block` is the header of its block."""
        body = line.text.rstrip("\n")
        masked_line = f"{' ' * column}{TOKEN}L{digest(f'{block}{line.text}')}"
        if self.lines.setdefault(masked_line, body) != body:
            raise Unsupported("two lines cannot be told apart")
        return masked_line + line.text[len(body) :]

    def comment(self, line: Row) -> str:
        """Return a comment of the template as a comment of YAML."""
        at, end = indent(line.text), len(line.text.rstrip())
        return f"{line.text[:at]}# {self._word('C', line.text[at:end])}{line.text[end:]}"

    def above_children(self, line: Row) -> str:
        """Mask a line whose last action renders lines above its children: make it a comment."""
        start, end = line.groups[-1]
        before = Row(line.text[:start], line.kind, groups=line.groups[:-1])
        return f"{self.plain(before)}# {self._word('N', line.text[start:end])}{line.text[end:]}"

    def unmasked(self, masked: str, contents: dict[str, str]) -> str:
        """Return the template for a merged masked text; `contents` has the text of each entry."""
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
        """Return a message about a masked text, with actions in the place of their words."""
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
                raise Sided("the merge would take a line of actions apart")
            action, kind = self.texts[word], word[len(TOKEN)]
            has_column = kind != "C" and "indent" in action
            if has_column and indent(line) not in self.columns.get(action, ()):
                raise Sided("an action that gives a column came back at another one")
            if kind in "CN":
                if not before.endswith("# ") or line[end:].strip():
                    raise Sided("the merge would take a comment apart")
                before = before[:-2]
            parts += [before, action]
            at = end
        return "".join((*parts, line[at:]))


def digest(text: str) -> str:
    """Return a name for a text that no other has."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=_DIGITS // 2).hexdigest()


class Masked:
    """Holds the masked text of a version, and which of its lines stand for entries."""

    __slots__ = ("entries", "lines", "opened", "text")

    def __init__(self, lines: dict[int, str], entries: dict[str, str], words: Words) -> None:
        self.lines = lines  # by the identity of the unit
        self.entries = entries  # the token of each line that stands for one
        self.text = "".join(lines.values())
        self.opened = words.opened.setdefault(self.text, YamlText(self.text.encode()))


def masked(units: list[Placed], tokens: dict[int, str], words: Words) -> Masked:
    """Mask the text of a version; `tokens` are those of its entries, by identity of the unit."""
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
    """Return the line that stands for an entry."""
    at, fields = " " * unit.column, ", ".join(f"{field}: {token}" for field in _FIELDS)
    lines = {DOCUMENT: f'--- {{{token}: ""}}', MAP: f'{at}{token}: ""', SCALARS: f'{at}- "{token}"'}
    return lines.get(unit.form, f"{at}- {{{fields}}}")


def _columns_of_words(units: list[Placed]) -> dict[int, int]:
    """Return the column of the text around each line of actions in a block scalar, by number."""
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
    """Return whether an action that ends a line has deeper lines below it."""
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
    """Refuse a masked text if YAML reads its words at other places than they were put."""
    lines, entries = version.text.removesuffix("\n").split("\n"), version.entries
    fields = {f'{token}: ""' for token in entries.values()}
    if not fields.issuperset(lines):  # else it is one map of entries
        _refuse_other_reading(version)
    if sum(line in entries for line in lines) > len(entries):
        raise Unreadable("a block stands twice")


def _refuse_other_reading(version: Masked) -> None:
    try:
        roots = version.opened.roots
    except KmergeError:
        raise Unreadable("the text between the actions is no YAML") from None
    names: set[str] = set()
    words = sum(_look_at(root, names) for root in roots)
    if not names.issuperset(version.entries.values()) or words < version.text.count(f"{TOKEN}L"):
        raise Unreadable("a block or an output stands where no field or element can stand")


def _look_at(root: Node, names: set[str]) -> int:
    """Collect the names of entries of block collections, and count the words in block scalars.

    A document `--- {...}` is an entry itself.
    """
    words = 0
    todo = [(root, True)]
    while todo:
        node, is_entry = todo.pop()
        if isinstance(node, Scalar):
            words += node.value.count(f"{TOKEN}L") if node.style in ("|", ">") else 0
            names |= {node.value} if is_entry else set()
        elif isinstance(node, Mapping):
            name = node.get("name")
            if not node.flow or node is root:
                names |= {entry.name for entry in node.entries}
            elif is_entry and isinstance(name, Scalar):
                names.add(name.value)
            todo += [(entry.value, False) for entry in node.entries]
        elif isinstance(node, Sequence):
            todo += [(entry.value, not node.flow) for entry in node.entries]
    return words
