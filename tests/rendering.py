"""Writes plain values as YAML in every manner that people use, decided by hashes alone.

Two calls with the same look write the same value at the same path alike, whatever stands around
it. An element of a list is known by its name, or else by its value, so that an inserted element
changes no other one's text.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from kmerge_git.tree.scalars import respell

BOM = b"\xef\xbb\xbf"
Notes = dict[str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """How a file is written; the default look is kubectl's."""

    seed: int = 0
    indent: int = 2
    offset: int = 0  # columns from a key to the dashes below it
    eol: str = "\n"
    bom: bool = False
    final_newline: bool = True
    comments: int = 0  # in ten: entries with a comment above, behind, or a blank line
    flow: int = 0  # in ten: collections in brackets
    styles: int = 0  # in ten: scalars in another style than the plainest
    mixed: bool = False  # each collection has its own indentation
    anchors: bool = False  # repeated collections become aliases and merge keys
    markers: int = 0  # 0: `---` between documents, 1: also first, 2: with comments and `...`


def render(
    values: tuple[object, ...] | list[object], look: Look, notes: Notes | None = None
) -> bytes:
    """A file that holds these documents."""
    writer = _Writer(look, notes or {})
    for number, value in enumerate(values):
        writer.document(number, value)
    text = "\n".join(writer.lines) + "\n"
    if not look.final_newline and not text.endswith("\n\n"):
        text = text.removesuffix("\n")
    return (BOM if look.bom else b"") + text.replace("\n", look.eol).encode()


class _Writer:
    """The lines of a file, and the anchors that were set in its current document."""

    def __init__(self, look: Look, notes: Notes) -> None:
        self.look = look
        self.notes = notes
        self.lines: list[str] = []
        self.anchors: list[tuple[object, str]] = []
        self.kept = -1  # the number of lines behind a `|+`, where a blank line would be content

    def pick(self, path: str, what: str, count: int) -> int:
        """A number below `count` that depends on the look's seed, the path and the purpose."""
        return zlib.crc32(f"{what}\0{path}\0{self.look.seed}".encode()) // 7 % count

    def often(self, path: str, what: str, of_ten: int) -> bool:
        return of_ten > 0 and self.pick(path, what, 10) < of_ten

    def document(self, number: int, value: object) -> None:
        look, path = self.look, _identity(value, number)
        self.anchors = []
        if number and look.markers == 2 and self.often(path, "dots", 3):
            self.lines.append("...")
        if look.markers == 2 and number == 0 and self.often(path, "prologue", 5):
            self.lines += ["# a file", ""]
        if number or look.markers:
            comment = " # next" if look.markers == 2 and self.often(path, "marked", 5) else ""
            self.lines.append("---" + comment)
        if self.often(path, "top", look.comments):
            self.lines += ["# the head of the document", ""]
        self.node("", value, path, -1, at_top=True)

    def node(
        self, prefix: str, value: object, path: str, column: int, *, at_top: bool = False
    ) -> None:
        """Write a value behind `prefix`, which is `key:`, `-` or nothing; `column` is its parent's."""
        if isinstance(value, dict | list) and value:
            if self.aliased(prefix, value, path):
                return
            if not self.often(path, "flow", self.look.flow) or at_top:
                self.block(prefix, value, path, column, at_top)
                return
        gap = " " * (1 + self.spaced(path)) if prefix else ""
        first, *rest = ["null"] if at_top and value is None else self.token(value, path, column)
        self.lines.append(
            (prefix + gap + first if first else prefix) + self.trailing(path, first, rest)
        )
        self.lines += rest
        if first.startswith("|") and "+" in first:
            self.kept = len(self.lines)

    def block(self, prefix: str, value: dict | list, path: str, column: int, at_top: bool) -> None:
        in_list = prefix.endswith("-")
        anchor = self.anchor(value, path)
        step = (2, 3, 4, 8)[self.pick(path, "step", 4)] if self.look.mixed else self.look.indent
        inner = 0 if at_top else column + step
        if isinstance(value, list) and not in_list and not at_top:
            offset = self.look.offset
            inner = column + (
                (0, 1, 2, 4)[self.pick(path, "step", 4)] if self.look.mixed else offset
            )
        if in_list and not anchor and not self.often(path, "own line", self.look.styles // 3):
            inner = column + 2 + self.spaced(path)
            first = len(self.lines)
            self.entries(value, path, inner, in_line=True)
            self.lines[first] = prefix + self.lines[first][len(prefix) :]
            return
        if prefix or anchor:
            head = f"{prefix} {anchor}" if prefix and anchor else prefix + anchor
            self.lines.append(head + self.trailing(path, "", []))
        self.entries(value, path, inner)

    def entries(self, value: dict | list, path: str, column: int, *, in_line: bool = False) -> None:
        pad = " " * column
        pairs = self.merged(value) if isinstance(value, dict) else [(None, item) for item in value]
        for number, (key, item) in enumerate(pairs):
            below = f"{path}.{key}" if key is not None else f"{path}[{_identity(item, -1)}]"
            if not (in_line and number == 0):
                self.above(below, pad, number)
            if key is None:
                self.node(pad + "-", item, below, column)
            elif key == "<<" and isinstance(item, _Alias):
                self.lines.append(f"{pad}<<: *{item.name}")
            elif self.often(below, "question", self.look.styles // 5):
                self.lines.append(f"{pad}? {self.key(key, below)}")
                self.node(pad + ":", item, below, column)
            else:
                space = " " if self.often(below, "wide", self.look.styles // 4) else ""
                self.node(f"{pad}{self.key(key, below)}{space}:", item, below, column)

    # Comments

    def above(self, path: str, pad: str, number: int) -> None:
        if not self.often(path, "above", self.look.comments):
            return
        kind = self.pick(path, "kind", 5)
        if kind in (0, 3) and number and len(self.lines) != self.kept:
            self.lines.append("")
        if kind in (1, 2, 3):
            self.lines.append(f"{pad}# about {path[-12:]!r}")
        if kind == 2:
            self.lines.append(f"{pad}#   and more - of: it")
        if kind == 4 and number:
            self.lines += [f"{pad}# on its own", ""]

    def trailing(self, path: str, token: str, rest: list[str]) -> str:
        """A comment that stands behind a line; a scalar over several lines has none."""
        if rest and token[:1] not in ("|", ">"):
            return ""
        note = self.notes.get(path)
        if note is None and not self.often(path, "behind", self.look.comments):
            return ""
        return " " * (1 + self.spaced(path)) + "# " + (note or f"why {len(path)}")

    def spaced(self, path: str) -> int:
        return self.pick(path, "gap", 3) if self.often(path, "spaced", self.look.styles // 3) else 0

    # Anchors

    def anchor(self, value: object, path: str) -> str:
        if not self.look.anchors or self.pick(path, "anchor", 3):
            return ""
        name = f"a{len(self.anchors)}"
        self.anchors.append((value, name))
        return "&" + name

    def aliased(self, prefix: str, value: object, path: str) -> bool:
        for known, name in self.anchors:
            if _same(known, value) and prefix:
                self.lines.append(f"{prefix} *{name}" + self.trailing(path, "*", []))
                return True
        return False

    def merged(self, value: dict) -> list[tuple[str, object]]:
        """The pairs of a mapping, some of them behind a merge key."""
        for known, name in self.anchors:
            if isinstance(known, dict) and len(known) < len(value) and "<<" not in value:
                own = {key: item for key, item in value.items() if key not in known}
                if _same({**known, **own}, value) and len(own) + len(known) == len(value):
                    return [("<<", _Alias(name)), *own.items()]
        return list(value.items())

    # Tokens

    def key(self, key: str, path: str) -> str:
        plain = respell(key, "")
        if plain is None or self.often(path, "quoted key", self.look.styles // 4):
            return _quote(key, self.pick(path, "key quote", 2))
        return plain

    def token(self, value: object, path: str, column: int) -> list[str]:
        """The lines of a scalar or of a flow collection; all but the first are indented."""
        if isinstance(value, dict | list):
            return self.flow(value, path, column)
        if not isinstance(value, str):
            return [self.word(value, path)]
        styled = self.often(path, "style", self.look.styles)
        pad = " " * (
            max(column, 0) + 1 + self.pick(path, "deep", 3) if styled else max(column, 0) + 2
        )
        if column >= 0 and "\n" in value and _fits_block(value):
            return self.literal(value, path, pad, max(column, 0))
        if styled and column >= 0:
            folded = self.folded(value, path, pad, column)
            if folded:
                return folded
            if self.pick(path, "tag", 8) == 0:
                return ["!!str " + _quote(value, 1)]
            return [_quote(value, self.pick(path, "quote", 2))]
        plain = respell(value, "")
        return [plain if plain is not None else _quote(value, self.pick(path, "quote", 2))]

    def word(self, value: object, path: str) -> str:
        if value is None:
            options = ["null", "~", ""] if self.often(path, "word", self.look.styles) else ["null"]
            return options[self.pick(path, "null", len(options))]
        if isinstance(value, bool):
            word = "true" if value else "false"
            return word.title() if self.often(path, "word", self.look.styles // 3) else word
        return repr(value)

    def literal(self, value: str, path: str, pad: str, column: int) -> list[str]:
        bare = value.rstrip("\n")
        chomping = ("-", "", "+")[min(len(value) - len(bare), 2)] if bare else "+"
        hint = ""
        if value[0] in " \t\n" or self.often(path, "hint", self.look.styles // 3):
            hint = str(len(pad) - column)
        header = "|" + (hint + chomping if self.pick(path, "order", 2) else chomping + hint)
        lines = value.split("\n")
        lines = lines[:-1] if value.endswith("\n") else lines
        return [header] + [pad + line if line else "" for line in lines]

    def folded(self, value: str, path: str, pad: str, column: int) -> list[str]:
        """A string of words over several lines, in one of four styles; nothing where none fits."""
        words = value.split(" ")
        if len(words) < 2 or not all(words) or "\n" in value or "\t" in value:
            return []
        if any(respell(word, "'") is None for word in words):
            return []
        cut = 1 + self.pick(path, "cut", len(words) - 1)
        one, two = " ".join(words[:cut]), " ".join(words[cut:])
        kind = self.pick(path, "fold", 4)
        if kind == 0:
            return [
                f">{len(pad) - column}-" if self.pick(path, "hint", 2) else ">-",
                pad + one,
                pad + two,
            ]
        if (
            kind == 1
            and all(respell(word, "") for word in words)
            and respell(value, "") is not None
        ):
            return [one, pad + two]
        if kind == 2:
            return ["'" + one.replace("'", "''"), pad + two.replace("'", "''") + "'"]
        first, second = _quote(one, 1), _quote(two, 1)
        if self.pick(path, "escape", 2):
            return [first[:-1] + " \\", pad + second[1:]]
        return [first[:-1], pad + second[1:]]

    def flow(self, value: dict | list, path: str, column: int) -> list[str]:
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        items = [self.flow_item(*pair, path) for pair in _pairs(value)]
        wide = " " if isinstance(value, dict) and self.pick(path, "padded", 2) else ""
        line = opening + wide + ", ".join(items) + wide + closing
        if not items or len(line) > 900 or not self.often(path, "lines", self.look.flow):
            return [line] if items else [opening + closing]
        pad = " " * (max(column, 0) + 2)
        comma = "," if self.pick(path, "comma", 2) else ""
        note = " # in brackets" if self.often(path, "in flow", self.look.comments) else ""
        body = [f"{pad}  {item}," for item in items[:-1]] + [f"{pad}  {items[-1]}{comma}"]
        return [opening + note, *body, pad + closing]

    def flow_item(self, key: str | None, value: object, path: str) -> str:
        below = f"{path}.{key}" if key is not None else f"{path}[{_identity(value, -1)}]"
        if isinstance(value, dict | list):
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            token = (
                opening
                + ", ".join(self.flow_item(*pair, below) for pair in _pairs(value))
                + closing
            )
        elif isinstance(value, str):
            quoted = self.often(below, "style", self.look.styles)
            plain = None if quoted else respell(value, "", flow=True)
            token = plain if plain is not None else _quote(value, 1)
        else:
            token = self.word(value, below) or "null"
        if key is None:
            return token
        plain = respell(key, "", flow=True)
        return f"{plain if plain is not None else _quote(key, 1)}: {token}"


@dataclass(frozen=True, slots=True)
class _Alias:
    name: str


def note_path(values: tuple[object, ...], path: tuple[int | str, ...]) -> str:
    """The name under which the renderer knows a place in the documents."""
    number, *rest = path
    value = values[int(number)]
    name = _identity(value, int(number))
    for step in rest:
        value = value[step]  # type: ignore[index]
        name += f".{step}" if isinstance(step, str) else f"[{_identity(value, -1)}]"
    return name


def _pairs(value: dict | list) -> list[tuple[str | None, object]]:
    return list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]


def _identity(value: object, number: int) -> str:
    """What an element of a list, or a document, is known by."""
    if isinstance(value, dict):
        metadata = value.get("metadata")
        if isinstance(metadata, dict) and "name" in metadata:
            return f"{value.get('kind')}/{metadata['name']}"
        for field in ("name", "containerPort", "mountPath"):
            if field in value:
                return f"{field}={value[field]}"
        return "map" if number < 0 else f"map {number}"
    return repr(value)[:40] if number < 0 else f"doc {number}"


def _same(one: object, two: object) -> bool:
    """Equal, with types kept apart: `True == 1` in Python."""
    return repr(one) == repr(two)


def _quote(text: str, kind: int) -> str:
    quoted = respell(text, "'\""[kind])
    return quoted if quoted is not None else str(respell(text, '"'))


def _fits_block(text: str) -> bool:
    lines = text.split("\n")
    return any(line.strip() for line in lines) and all(
        respell(line.replace("\t", " "), "'") is not None for line in lines
    )
