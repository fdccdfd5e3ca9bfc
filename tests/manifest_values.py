"""What a manifest says: its documents by their names, and plain values, read with PyYAML's events alone.

The laws ask this. Nothing of the package is asked, so that both cannot misread a text alike.
"""

from __future__ import annotations

import json

from yaml_places import Node, Nodes, meaning

NULLS = ("", "~", "null", "Null", "NULL")
GONE = object()  # the value of what is not there


class Folded(str):
    """A text whose lines are merged, though it may be one line."""

    __slots__ = ()


def documents(text: str) -> list[tuple[str, Node]]:
    """The documents with what they are called; all that have no identity are called alike."""
    return [(_called(each.node), each.node) for each in Nodes(text).documents]


def _called(root: Node) -> str:
    """Group, kind, namespace and name; nothing where it has no kind, or no name."""
    kind, metadata = text_of(root, "kind"), _below(root, "metadata")
    name = text_of(metadata, "name") or text_of(metadata, "generateName")
    group = text_of(root, "apiVersion").rpartition("/")[0]
    return f"{kind}.{group} {text_of(metadata, 'namespace')}/{name}" if kind and name else ""


def _below(node: Node | None, field: str) -> Node | None:
    entries = node.entries if node is not None and node.kind == "map" else ()
    return next((entry.node for entry in reversed(entries) if name_of(entry.key) == field), None)


def text_of(node: Node | None, field: str) -> str:
    """The text of a scalar field, or nothing."""
    value = _below(node, field)
    if value is None or value.kind != "scalar" or (not value.style and value.text in NULLS):
        return ""
    return value.text


def said(node: Node) -> object:
    """The value as it is written: an alias is a value of its own, and `<<` a key."""
    if node.kind == "map":
        return {name_of(entry.key): said(entry.node) for entry in node.entries}
    if node.kind == "list":
        return [said(entry.node) for entry in node.entries]
    if node.kind == "alias":
        return f"*{node.anchor}"
    kind, value = meaning(node)
    if node.style == ">":
        return Folded(value)
    return value if kind == "str" else f"!{kind} {value}"


def name_of(key: Node | None) -> str:
    """The text of a key."""
    return key.text if key is not None else ""


def same(a: object, b: object) -> bool:
    """Equal, with booleans, integers and floats kept apart."""
    if a is GONE or b is GONE:
        return a is b
    return a == b and show(a) == show(b)


def show(value: object) -> str:
    """A value as JSON."""
    return "nothing" if value is GONE else json.dumps(value, sort_keys=True, ensure_ascii=False)
