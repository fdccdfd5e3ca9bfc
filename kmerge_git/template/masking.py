"""A template as YAML: words in the place of its actions, one line in the place of a block.

The masked texts of the three versions are merged as any YAML, and the result is unmasked: every
line of ours in it is replaced by what it stands for. A masked line that comes back in any other
way than it was made is refused, and so is a text that YAML reads otherwise than it was meant.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.kube.listkeys import key_names
from kmerge_git.template.action_lexer import COMMENT, TOKEN
from kmerge_git.template.template_blocks import BLANK, INLINE, TEXT, Row
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
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.template.template_layout import Placed
    from kmerge_git.tree.nodes import Node

# An element that stands for a block has all fields that elements of lists are paired by.
_FIELDS = sorted(key_names() | {"key"})
_DIGITS = 16  # of a word


class Words:
    """The words that stand for actions, and what each stands for."""

    __slots__ = ("columns", "lines", "texts")

    def __init__(self) -> None:
        self.columns: dict[str, set[int]] = {}  # of the lines of actions that give one
        self.texts: dict[str, str] = {}  # of the words inside lines
        self.lines: dict[str, str] = {}  # of whole lines, without their ends

    def plain(self, line: Row) -> str:
        """A line with a word in the place of each of its actions."""
        made, at = [], 0
        for start, end in line.groups:
            action = line.text[start:end]
            if "indent" in action:
                self.columns.setdefault(action, set()).add(indent(line.text))
            made += [line.text[at:start], self._word("V", action)]
            at = end
        return "".join((*made, line.text[at:]))

    def _word(self, kind: str, text: str) -> str:
        word = f"{TOKEN}{kind}{digest(text)}"
        if self.texts.setdefault(word, text) != text:
            raise Unsupported("two actions cannot be told apart")
        return word

    def whole(self, column: int, line: Row, block: str) -> str:
        """A line of actions inside a text, as a word at a column; `end` is that of its block."""
        ending = line.text[len(line.text.rstrip("\n")) :]
        body = line.text[: len(line.text) - len(ending)]
        word = f"{TOKEN}L{digest(f'{block}{line.text}')}"
        made = " " * column + word
        if self.lines.setdefault(made, body) != body:
            raise Unsupported("two lines cannot be told apart")
        return made + ending

    def comment(self, line: Row) -> str:
        """A comment of the template as a comment of YAML."""
        at, end = indent(line.text), len(line.text.rstrip())
        return f"{line.text[:at]}# {self._word('C', line.text[at:end])}{line.text[end:]}"

    def above_children(self, line: Row) -> str:
        """A line whose last action renders lines above others: the action as a comment."""
        start, end = line.groups[-1]
        before = Row(line.text[:start], line.kind, line.groups[:-1])
        return f"{self.plain(before)}# {self._word('N', line.text[start:end])}{line.text[end:]}"

    def unmasked(self, masked: str, contents: dict[str, str]) -> str:
        """The text that a merged masked text stands for; `contents` are the entries'."""
        made = []
        for line in masked.splitlines(keepends=True):
            if TOKEN not in line:
                made.append(line)
                continue
            bare = line.rstrip("\n")
            if bare in contents:
                made.append(contents[bare])
            elif bare in self.lines:
                made.append(self.lines[bare] + "\n")
            else:
                made.append(self._inline(line))
        return "".join(made)

    def shown(self, told: str) -> str:
        """What is told of a masked text, with actions in the place of their words."""
        for word, text in self.texts.items() if TOKEN in told else ():
            told = told.replace(word, text)
        return told if TOKEN not in told else told.partition(" at ")[0]

    def _inline(self, line: str) -> str:
        made: list[str] = []
        at = 0
        while True:
            start = line.find(TOKEN, at)
            if start < 0:
                return "".join((*made, line[at:]))
            end = start + len(TOKEN) + 1 + _DIGITS
            word = line[start:end]
            if word not in self.texts:
                raise Sided("the merge would take a line of actions apart")
            before = line[at:start]
            action, kind = self.texts[word], word[len(TOKEN)]
            if (
                kind != "C"
                and "indent" in action
                and indent(line) not in self.columns.get(action, ())
            ):
                raise Sided("an action that gives a column came back at another one")
            if kind in "CN":
                if not before.endswith("# ") or line[end:].strip():
                    raise Sided("the merge would take a comment apart")
                before = before[:-2]
            made += [before, action]
            at = end


def digest(text: str) -> str:
    """A name for a text that no other has."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=_DIGITS // 2).hexdigest()


class Masked:
    """The masked text of a version: the line of each unit, and which lines stand for entries."""

    __slots__ = ("entries", "lines", "text")

    def __init__(self) -> None:
        self.text = ""
        self.lines: dict[int, str] = {}  # by the identity of the unit
        self.entries: dict[str, str] = {}  # the token of each line that stands for one


def masked(units: list[Placed], tokens: dict[int, str], words: Words) -> Masked:
    """The text of a version; `tokens` are those of its entries, by the identity of the unit."""
    made = Masked()
    columns = _columns_of_words(units)
    for number, unit in enumerate(units):
        part = unit.part
        if unit.role == ENTRY:
            line = _entry_line(unit, tokens[id(unit)])
            made.entries[line] = tokens[id(unit)]
            made.lines[id(unit)] = f"{line}\n"
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
        made.lines[id(unit)] = line
    made.text = "".join(made.lines.values())
    _refuse_misread(made.text, made.entries)
    return made


def _entry_line(unit: Placed, token: str) -> str:
    """The line that stands for an entry."""
    at = " " * unit.column
    if unit.form == DOCUMENT:
        return f'--- {{{token}: ""}}'
    if unit.form == MAP:
        return f'{at}{token}: ""'
    if unit.form == SCALARS:
        return f'{at}- "{token}"'
    return f"{at}- {{{', '.join(f'{field}: {token}' for field in _FIELDS)}}}"


def _columns_of_words(units: list[Placed]) -> dict[int, int]:
    """The columns of the texts inside block scalars, by the numbers of their lines of actions."""
    found: dict[int, int] = {}
    lines: list[int] = []
    column = -1
    for number, unit in enumerate(units):
        if unit.role not in (WORDS, LOOSE):
            found |= dict.fromkeys(lines, column) if column >= 0 else {}
            lines, column = [], -1
        elif unit.role == WORDS and unit.part.kind in (TEXT, INLINE):  # type: ignore[union-attr]
            at = indent(unit.plain)
            column = min(column, at) if column >= 0 else at
        elif unit.role == WORDS:
            lines.append(number)
    return found | (dict.fromkeys(lines, column) if column >= 0 else {})


def _has_children(units: list[Placed], number: int) -> bool:
    """Whether an action that ends a line has deeper lines below it."""
    unit = units[number]
    row = unit.part
    assert isinstance(row, Row)
    if not row.groups or row.text[row.groups[-1][1] :].strip():
        return False
    key = unit.plain.rstrip()
    if not key[: key.rfind(TOKEN)].rstrip().endswith(":"):
        return False
    for below in behind(units, number):
        if below.role in (DATA, ENTRY):
            return below.column > key_column(unit.plain)
        if below.role != LOOSE:
            return False
    return False


def _refuse_misread(text: str, lines: dict[str, str]) -> None:
    """Refuse a masked text that YAML reads otherwise than it is meant."""
    try:
        roots = [document.root for document in split(Source.of(text)).documents]
    except KmergeError:
        raise Unreadable("the text between the actions is no YAML") from None
    found = _Found()
    for root in roots:
        if root is not None:
            found.look_at(root)
    if not found.entries.issuperset(lines.values()) or found.words < text.count(TOKEN + "L"):
        raise Unreadable("a block or an output stands where no field or element can stand")
    if sum(line in lines for line in text.split("\n")) > len(lines):
        raise Unreadable("a block stands twice")


class _Found:
    """What stands where entries of block collections stand, and how many words are in texts."""

    __slots__ = ("entries", "words")

    def __init__(self) -> None:
        self.entries: set[str] = set()
        self.words = 0

    def look_at(self, root: Node) -> None:
        """Walk over a document; `--- {...}` is one that is an entry."""
        todo = [(root, True)]
        while todo:
            node, is_entry = todo.pop()
            if isinstance(node, Scalar):
                self.words += node.value.count(TOKEN + "L") if node.style in ("|", ">") else 0
                if is_entry:
                    self.entries.add(node.value)
            elif isinstance(node, Mapping):
                self._names(node, is_entry=is_entry, is_root=node is root)
                todo += [(entry.value, False) for entry in node.entries]
            elif isinstance(node, Sequence):
                todo += [(entry.value, not node.flow) for entry in node.entries]

    def _names(self, node: Mapping, *, is_entry: bool, is_root: bool) -> None:
        if not node.flow or is_root:
            self.entries |= {entry.name for entry in node.entries}
        elif is_entry:
            name = node.get("name")
            if isinstance(name, Scalar):
                self.entries.add(name.value)
