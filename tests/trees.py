"""A manifest as a tree that knows how it is written, and its plain values.

Every node and entry carries its own spelling, so that a change of one leaves the text of all
others as it was. The values are told without the text and without the package: what is read can
be compared with what was meant.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

Made = TypeVar("Made")


@dataclass
class Node:
    anchor: str = ""
    tag: str = ""


@dataclass
class Scalar(Node):
    text: str = "x"
    style: str = ""  # '', "'", '"', or '\\': in double quotes, with its line break escaped
    cut: int = 0  # the words on its first line; 0: all


@dataclass
class Text(Node):
    """A block scalar."""

    lines: list[str] = field(default_factory=list)
    header: str = "|"  # a digit stands for the indentation
    depth: int = 2


@dataclass
class Alias(Node):
    name: str = ""


@dataclass
class Map(Node):
    entries: list[Entry] = field(default_factory=list)
    flow: str = ""  # '' or a key of FLOWS
    foot: list[str] = field(default_factory=list)
    step: int = 2  # columns to the entries


@dataclass
class List(Map):
    own_line: bool = False  # dashes stand alone on their lines


@dataclass
class Entry:
    node: Node
    key: str | None = None
    above: list[str] = field(default_factory=list)  # comments and blank lines
    tail: str = ""
    question: bool = False
    wide: bool = False  # a blank before the colon
    gap: int = 1  # blanks behind the colon or the dash
    quote: str = ""  # around the key


def copied(made: Made) -> Made:
    """A tree of its own, the same in every respect."""
    return pickle.loads(pickle.dumps(made))  # several times as fast as copy.deepcopy


def collections(root: Node) -> Iterator[Map]:
    """A collection and all below it."""
    if isinstance(root, Map):
        yield root
        for entry in root.entries:
            yield from collections(entry.node)


def entries(root: Node) -> Iterator[Entry]:
    """All entries of a tree."""
    for made in collections(root):
        yield from made.entries


# -- plain scalars

MEANINGS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null")),
    **dict.fromkeys(("true", "True", "yes", "on", "y"), True),
    **dict.fromkeys(("false", "no"), False),
    "010": 8,
    "0x1F": 31,
    "1e3": 1000,
    "-5": -5,
    "1.10": 1.1,
    "3.10": 3.1,
    "-0.25": -0.25,
}


def meaning(word: str) -> object:
    """What a plain scalar is to kubectl."""
    if word in MEANINGS:
        return MEANINGS[word]
    return int(word) if word.isdecimal() else word


def is_plain(text: str, *, flow: bool = False) -> bool:
    """Whether a text can stand without quotes."""
    odd = not text or text[0] in " ,[]{}#&*!|>'\"%@`" or text[-1] in " :"
    odd = odd or (text[0] in "-?:" and text[1:2] in ("", " ")) or ": " in text or " #" in text
    odd = odd or text.startswith(("---", "...")) or not text.isprintable()
    return not odd and not (flow and (set(text) & set(",[]{}") or text[0] in "?:"))


def is_plain_key(entry: Entry, *, flow: bool = False) -> bool:
    """Whether a key can stand without quotes; null is no key."""
    key = entry.key or ""
    return key == "<<" or (
        not entry.quote and is_plain(key, flow=flow) and meaning(key) is not None
    )


# -- values


def value_of(node: Node, anchors: dict[str, object]) -> object:
    """The plain value of a node; a KeyError where an alias has no anchor, or `<<` no mapping."""
    value: object
    if isinstance(node, Alias):
        value = anchors[node.name]
    elif isinstance(node, List):
        value = [value_of(entry.node, anchors) for entry in node.entries]
    elif isinstance(node, Map):
        value = _mapping(node, anchors)
    elif isinstance(node, Text):
        value = text_of(node)
    else:
        assert isinstance(node, Scalar)
        value = node.text if node.style or node.tag else meaning(node.text)
    if node.anchor:
        anchors[node.anchor] = value
    return value


def _mapping(node: Map, anchors: dict[str, object]) -> dict[str, object]:
    own: dict[str, object] = {}
    merged: dict[str, object] = {}
    for entry in node.entries:
        value = value_of(entry.node, anchors)
        if entry.key == "<<":
            if not isinstance(value, dict):
                raise KeyError("<<")
            merged |= value
        else:
            key = meaning(entry.key or "")
            own[json.dumps(key) if is_plain_key(entry) and key != entry.key else entry.key] = value
    return merged | own


def text_of(node: Text) -> str:
    """The value of a block scalar."""
    if node.header.startswith(">"):
        text = _folded(node.lines)
    else:
        text = "".join(line + "\n" for line in node.lines)
    bare = text.rstrip("\n")
    if "+" in node.header:
        return text
    return bare if "-" in node.header or not bare else bare + "\n"


def _folded(lines: list[str]) -> str:
    """A line break between two lines of words is a blank; one beside a deeper line stays."""
    text, breaks, deep = "", 0, False
    for line in lines:
        if not line:
            breaks += 1
            continue
        deeper = line[0] in " \t"
        if not text:
            text = "\n" * breaks + line
        elif deep or deeper:
            text += "\n" * (breaks + 1) + line
        else:
            text += ("\n" * breaks or " ") + line
        breaks, deep = 0, deeper
    return text + "\n" * (breaks + bool(text.strip("\n")))
