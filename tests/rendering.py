"""The text of manifests: whole files, and the tokens they are made of. Nothing here is random."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from trees import (
    Alias,
    Entry,
    List,
    Map,
    Node,
    Scalar,
    Text,
    is_plain,
    is_plain_key,
    text_of,
    value_of,
)


@dataclass
class Document:
    root: Node
    above: list[str] = field(default_factory=list)  # lines over its marker
    tail: str = ""  # behind its marker


@dataclass
class File:
    documents: list[Document]
    bare: bool = True  # no marker over the first document
    crlf: bool = False
    bom: bool = False
    newline: bool = True  # at the end
    tail: str = ""

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        text = _Writer().file(self)
        if not self.newline and not text.endswith("\n\n"):
            text = text.removesuffix("\n")
        if self.crlf:
            text = text.replace("\n", "\r\n")
        return ("\ufeff" * self.bom + text).encode()

    @property
    def values(self) -> list[object]:
        """What kubectl reads."""
        return [value_of(document.root, {}) for document in self.documents]

    def __repr__(self) -> str:
        return f"<{self.data!r}>"


# name: what stands inside the brackets, and between the members
FLOWS = {
    "line": ("", ", ", ""),
    "padded": (" ", ", ", " "),
    "compact": ("", ",", ""),
    "lines": ("\n", ",\n", "\n"),
    "comma": ("\n", ",\n", ",\n"),
    "comment": (" # in brackets\n", ",\n", "\n"),
}


class _Writer:
    """The lines of a file, and the header of the block scalar that they end with."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.header = ""

    def file(self, made: File) -> str:
        """The text of a file with LF."""
        for number, document in enumerate(made.documents):
            for line in document.above:
                if number or line != "...":
                    self.beside("", line)
            if number or not made.bare:
                self.write("---" + _behind(document.tail))
            self.root(document.root)
        return "".join(line + "\n" for line in self.lines) + made.tail

    def write(self, *lines: str) -> None:
        """Add lines that belong to no block scalar."""
        self.lines += lines
        self.header = ""

    def beside(self, pad: str, line: str) -> None:
        """Add a comment or a blank line, which is no part of a block scalar that it stands below."""
        if self.header:
            line = line.strip(" ")
            if not line and "+" in self.header:
                return
        if line.startswith("\b"):
            self.write(pad[:-2] + line[1:])
        elif line:
            self.write(pad + line)
        else:
            self.lines.append("")

    def root(self, root: Node) -> None:
        """Add the content of a document."""
        if isinstance(root, Map) and root.entries and not root.flow:
            self.block(root, 0)
            return
        written = brackets(root, 0) if isinstance(root, Map) else token(root, 0)
        self.write(written or "null")
        for line in root.foot if isinstance(root, Map) else []:
            self.beside("", line)

    def block(self, made: Map, column: int, dash: str = "") -> None:
        """Add a collection at a column; its first line starts with `dash`."""
        pad = " " * column
        for entry in made.entries:
            for line in entry.above:
                self.beside(pad, line)
            first = len(self.lines)
            if isinstance(made, List):
                self.item(entry, column, made)
            else:
                key = _key(entry)
                start = f"{pad}? {key}\n{pad}:" if entry.question else pad + key
                colon = "" if entry.question else " " * entry.wide + ":"
                self.value(start + colon, entry, column)
            if dash:
                self.lines[first] = dash + self.lines[first][len(dash) :]
                dash = ""
        for line in made.foot:
            self.beside(pad, line)

    def item(self, entry: Entry, column: int, made: List) -> None:
        """Add an element; a collection starts behind the dash where nothing keeps it from there."""
        node, start = entry.node, " " * column + "-"
        block = isinstance(node, Map) and node.entries and not node.flow
        marked = node.anchor or node.tag or entry.tail or made.own_line
        if block and not marked and not node.entries[0].above:
            self.block(node, column + 1 + entry.gap, start + " " * entry.gap)
        else:
            self.value(start, entry, column)

    def value(self, start: str, entry: Entry, column: int) -> None:
        """Add the lines of an entry whose key or dash is `start`."""
        node, tail = entry.node, _behind(entry.tail)
        start += " " * (entry.gap - 1) + _properties(node)
        if isinstance(node, Text):
            pad = " " * (column + node.depth)
            self.write(f"{start} {_header(node)}{tail}")
            self.lines += [pad + line if line else "" for line in node.lines]
            self.header = node.header
        elif isinstance(node, Map) and node.entries and not node.flow:
            dashed = start.lstrip(" ").startswith("-")
            self.write(start + tail)
            self.block(node, column + max(node.step, dashed or not isinstance(node, List)))
        else:
            written = brackets(node, column) if isinstance(node, Map) else token(node, column)
            self.write(start + (f" {written}" if written else "") + tail)


def _behind(comment: str) -> str:
    return f"  {comment}" if comment else ""


def _properties(node: Node) -> str:
    return (f" &{node.anchor}" if node.anchor else "") + (f" {node.tag}" if node.tag else "")


def _header(node: Text) -> str:
    """The header with the indentation in figures, which lines that start with blanks need."""
    first = next(filter(None, node.lines), "")
    header = node.header
    if first.startswith((" ", "\t")) and "2" not in header:
        header = header[0] + "2" + header[1:]
    return header.replace("2", str(node.depth))


def brackets(made: Map, column: int) -> str:
    """A collection in brackets; a member's lines stand deeper than `column`."""
    left, right = "[]" if isinstance(made, List) else "{}"
    opening, comma, closing = FLOWS[made.flow or "line"]
    parts = [_member(entry, column + 2, made.flow) for entry in made.entries]
    if not parts:
        return left + right
    if "\n" in comma:
        pad = " " * (column + 2)
        parts = [pad + part for part in parts]
        closing += " " * column
    return left + opening + comma.join(parts) + closing + right


def _member(entry: Entry, column: int, style: str) -> str:
    node = entry.node
    value = brackets(node, column) if isinstance(node, Map) else token(node, column, flow=True)
    value = f"{_properties(node)} {value}".lstrip()
    if entry.key is None:
        return value
    key = _key(entry, flow=True)
    return f"{key}:{value}" if style == "compact" and key[-1] in "'\"" else f"{key}: {value}"


def _key(entry: Entry, *, flow: bool = False) -> str:
    key = entry.key or ""
    return key if is_plain_key(entry, flow=flow) else quoted(key, entry.quote or '"')


def token(node: Node, column: int, *, flow: bool = False) -> str:
    """A scalar; a second line of it stands deeper than `column`."""
    if isinstance(node, Alias):
        return f"*{node.name}" + " " * flow  # or a comma would be part of the name
    if isinstance(node, Text):
        return quoted(text_of(node), '"')
    assert isinstance(node, Scalar)
    if node.cut and not flow:
        lines = _cut(node)
        if lines:
            return lines[0] + "\n" + " " * (column + 2) + lines[1]
    if not node.style and not node.text:
        return "null" if flow else ""
    plain = not node.style and is_plain(node.text, flow=flow)
    return node.text if plain else quoted(node.text, node.style)


def _cut(node: Scalar) -> list[str]:
    """The two lines of a scalar of several words; nothing where it has to be one line."""
    words = node.text.split(" ")
    parts = [" ".join(words[: node.cut]), " ".join(words[node.cut :])]
    if not all((*words, *parts)) or not node.text.isprintable():
        return []
    if not node.style:
        return parts if all(map(is_plain, (*parts, node.text))) else []
    one, two = (quoted(part, node.style) for part in parts)
    return [one[:-1] + " \\" * (node.style == "\\"), two[1:]]


def quoted(text: str, quote: str) -> str:
    """A text in quotes; in double ones where single ones cannot hold it."""
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    text = json.dumps(text, ensure_ascii=False)
    for char in "\x85\u2028\ufeff":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
