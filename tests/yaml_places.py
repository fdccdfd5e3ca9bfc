"""A YAML text as a reader of its own sees it: values, paths, and the lines that each place takes.

PyYAML's event stream and nothing of the package: what judges a check must not share its faults.
A path goes through keyed elements by their key and through others by their value, so that a path
means the same in another version of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.resolver import Resolver

Parser = getattr(yaml, "CSafeLoader", None) or yaml.SafeLoader
KEYS = ("name", "id", "key", "containerPort", "port", "mountPath", "path", "url", "repo", "title")

Path = tuple[object, ...]


class Unreadable(Exception):
    """The text is no YAML."""


@dataclass(slots=True, eq=False)
class Node:
    """A value and the lines that it takes: from `first` up to and without `stop`."""

    kind: str  # map, list, scalar, alias
    first: int
    stop: int
    column: int
    style: str = ""
    text: str = ""
    tag: str = ""
    anchor: str = ""  # that it has, or whose alias it is
    flow: bool = False
    entries: list[Entry] = field(default_factory=list)
    target: Node | None = None  # of an alias


@dataclass(slots=True, eq=False)
class Entry:
    """An entry of a map, an element of a list, or a document, with the lines that it takes."""

    node: Node
    first: int
    stop: int
    column: int  # of the key or the dash
    own: bool  # its lines are nobody else's
    key: Node | None = None
    path: Path = ()
    opened: int = -1  # a document: the line of its `---`


class Nodes:
    """The nodes of a text, with their lines."""

    def __init__(self, text: str) -> None:
        """Read; raises Unreadable."""
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.anchors: set[str] = set()
        self.documents = _Builder(self, text).documents

    def line(self, index: int) -> int:
        return bisect_right(self.starts, index) - 1


class Reading(Nodes):
    """A text that was read, with the paths and values of its nodes."""

    def __init__(self, text: str) -> None:
        """Read; raises Unreadable."""
        super().__init__(text)
        self.value = tuple(value(each.node) for each in self.documents)
        # how often each path, alias and text is there, and what each list holds
        self.paths: Counter[Path] = Counter()
        self.aliases: Counter[Path] = Counter()
        self.texts: dict[Path, Node] = {}
        self.lists: dict[Path, Counter[int]] = {}
        self.entries: list[Entry] = []  # without the documents
        self.parents: dict[Path, Node] = {}
        for each in self.documents:
            each.path = (_document_step(each, len(self.documents)),)
            self.paths[each.path] += 1
            self._walk(each.node, each.path)

    def _walk(self, node: Node, path: Path) -> None:
        if node.kind == "alias":
            self.aliases[path] += 1
        elif node.kind == "scalar":
            self.texts[path] = node
        elif node.kind == "list":
            self.lists[path] = Counter(value(e.node) for e in node.entries)
        self.parents[path] = node
        steps = _steps(node)
        for entry, step in zip(node.entries, steps, strict=True):
            entry.path = (*path, step)
            self.entries.append(entry)
            self.paths[entry.path] += 1
            self._walk(entry.node, entry.path)


def read(text: str) -> Reading | None:
    """The reading of a text, or None."""
    try:
        return Reading(text)
    except Unreadable:
        return None


# -- values


_numbers: dict[object, int] = {}  # of equal values equal numbers


def value(node: Node) -> int:
    """A number that all equal values have; aliases and merge keys are what they stand for."""
    made: object
    if node.kind == "alias":
        return value(node.target) if node.target else _number(("circle", node.anchor))
    if node.kind == "scalar":
        made = (_tag(node), node.text)
    elif node.kind == "list":
        made = ("list", tuple(value(e.node) for e in node.entries))
    else:
        made = ("map", frozenset(_fields(node).items()))
    return _number(made)


def _number(made: object) -> int:
    return _numbers.setdefault(made, len(_numbers))


def _tag(node: Node) -> str:
    if node.tag:
        return node.tag
    return _resolver.resolve(yaml.ScalarNode, node.text, (not node.style, bool(node.style)))


_resolver = Resolver()
CORE = "tag:yaml.org,2002:"
WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
}


def meaning(scalar: Node) -> tuple[str, object]:
    """What a scalar is to every reader: two of one meaning may stand for each other.

    What is a string to one reader and none to another is nothing but its own spelling.
    """
    plain = _plain_meaning(scalar.text)
    if not scalar.tag:
        return ("str", scalar.text) if scalar.style else plain
    name = scalar.tag.removeprefix(CORE)
    if name == "str" or scalar.tag == "!":
        return "str", scalar.text
    return plain if plain[0] == name else (name, scalar.text)


def _plain_meaning(text: str) -> tuple[str, object]:
    if text in WORDS:
        return WORDS[text]
    number = re.fullmatch(r"[-+]?(?:0|[1-9][0-9]{0,39})|0x[0-9a-fA-F]{1,16}", text)
    if number:
        return "int", int(text, 16 if text.startswith("0x") else 10)
    return ("spelling" if _is_no_string_to_somebody(text) else "str"), text


def _is_no_string_to_somebody(text: str) -> bool:
    """Whether a strict reader of YAML 1.1, Go or Python reads a boolean, a number or a date."""
    kind = _resolver.resolve(yaml.ScalarNode, text, (True, False))
    if kind != f"{CORE}str" or text in ("y", "Y", "n", "N"):
        return True
    bare = text.lstrip("+-").replace("_", "")
    if re.fullmatch(r"(?i)0x[0-9a-f]*|0o[0-7]*|0b[01]*|[0-9]+(:[0-9]+)*\.?[0-9]*", bare):
        return True
    return bool(re.fullmatch(r"(?i)([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?", bare)) or bool(
        re.fullmatch(r"[0-9]{4}-[-0-9:.TtZz+ \t]{3,}", text)
    )


def _fields(node: Node) -> dict[int, int]:
    """What a map has by key, with what its merge keys bring."""
    own: dict[int, int] = {}
    merged: dict[int, int] = {}
    for entry in node.entries:
        assert entry.key is not None
        if entry.key.text == "<<" and not entry.key.style:
            source = _target(entry.node)
            for one in source.entries if source.kind == "list" else [Entry(source, 0, 0, 0, False)]:
                found = _target(one.node)
                if found.kind != "map":
                    merged.setdefault(value(entry.key), value(found))
                    continue
                for key, item in _fields(found).items():
                    merged.setdefault(key, item)
        else:
            own[value(entry.key)] = value(entry.node)
    return merged | own


def _target(node: Node) -> Node:
    return node.target if node.kind == "alias" and node.target else node


# -- paths


def _steps(node: Node) -> list[object]:
    """What tells the entries of a collection apart."""
    if node.kind == "map":
        return [("k", e.key.text if e.key else "") for e in node.entries]
    items = [_target(e.node) for e in node.entries]
    for key in KEYS:
        found = [_scalar(item, key) for item in items]
        if all(found) and len(set(found)) == len(found):
            return [("e", key, name) for name in found]
    return [("=", value(item)) for item in items]


def _scalar(node: Node, key: str) -> str:
    for entry in node.entries if node.kind == "map" else ():
        if entry.key is not None and entry.key.text == key and entry.node.kind == "scalar":
            return entry.node.text
    return ""


def _document_step(each: Entry, count: int) -> object:
    root = each.node
    kind = _scalar(root, "kind")
    for entry in root.entries if root.kind == "map" else ():
        if entry.key is not None and entry.key.text == "metadata" and kind:
            name = _scalar(entry.node, "name")
            if name:
                return ("d", kind, _scalar(entry.node, "namespace"), name)
    return ("d", "alone") if count == 1 else ("=", value(root))


# -- reading


class _Builder:
    """Makes nodes of the events of a text."""

    def __init__(self, reading: Nodes, text: str) -> None:
        self.reading = reading
        self.anchors: dict[str, Node | None] = {}
        self.documents: list[Entry] = []
        try:
            self.events = list(yaml.parse(text, Loader=Parser))
        except (yaml.YAMLError, ValueError) as error:
            raise Unreadable(str(error)) from None
        self.at = 0
        while not isinstance(self._next(), yaml.StreamEndEvent):
            event = self.events[self.at - 1]
            if isinstance(event, yaml.DocumentStartEvent):
                self._document(event)

    def _next(self) -> Any:
        self.at += 1
        return self.events[self.at - 1]

    def _document(self, event: Any) -> None:
        self.anchors = {}
        opened = self._line(event.end_mark) if event.explicit else -1
        node = self._node()
        if node.kind == "scalar" and not node.text and not node.style and not node.anchor:
            return  # nothing but comments
        first = opened if opened >= 0 else node.first
        self.documents.append(
            Entry(node, first, node.stop, 0, own=opened != node.first, opened=opened)
        )

    def _line(self, mark: Any) -> int:
        return self.reading.line(mark.index)

    def _node(self) -> Node:
        event = self._next()
        first = self._line(event.start_mark)
        column = event.start_mark.index - self.reading.starts[first]
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise Unreadable(f"undefined alias {event.anchor}")
            target = self.anchors[event.anchor]
            return Node(
                "alias", first, first + 1, column, anchor=event.anchor, target=target, flow=True
            )
        anchor = event.anchor or ""
        tag = getattr(event, "tag", None) or ""
        if anchor:
            self.anchors[anchor] = None  # until it is read
            self.reading.anchors.add(anchor)
        if isinstance(event, yaml.ScalarEvent):
            style = "" if event.style in (None, "") else event.style
            stop = self._stop_of_scalar(event, first, style)
            made = Node("scalar", first, stop, column, style, event.value, tag, anchor)
        else:
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
            made = Node(kind, first, first + 1, column, tag=tag, anchor=anchor)
            made.flow = bool(event.flow_style)
            self._fill(made)
        if anchor:
            self.anchors[anchor] = made
        return made

    def _stop_of_scalar(self, event: Any, first: int, style: str) -> int:
        """The line after the last one that has something of it."""
        end = event.end_mark.index
        last = self.reading.line(max(end - 1, event.start_mark.index))
        if style in ("|", ">"):
            while last > first and not self.reading.lines[last].strip():
                last -= 1
        return last + 1

    def _fill(self, made: Node) -> None:
        end = yaml.MappingEndEvent if made.kind == "map" else yaml.SequenceEndEvent
        while not isinstance(self.events[self.at], end):
            key = self._node() if made.kind == "map" else None
            node = self._node()
            made.entries.append(self._entry(made, key, node))
            made.stop = max(made.stop, node.stop, key.stop if key else 0)
        closing = self._next()
        if made.flow:
            made.stop = self._line(closing.start_mark) + 1

    def _entry(self, made: Node, key: Node | None, node: Node) -> Entry:
        lines = self.reading.lines
        first, column = (key.first, key.column) if key else (node.first, node.column)
        if key is None and not made.flow:
            if not made.entries and (made.anchor or made.tag):  # the list starts with those
                made.column = max(lines[first].rfind("-", 0, column), 0)
            column = made.column
            while first > made.first and lines[first][column : column + 1] != "-":
                first -= 1  # the dash stands alone in a line above
        own = not made.flow and not lines[first][:column].strip(" ")
        return Entry(node, first, max(node.stop, first + 1), column, own, key)
