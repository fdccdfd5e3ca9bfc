"""Where a schema comes from: the built-in tables here, OpenAPI documents in `definitions`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from kmerge_git.kube import keytable
from kmerge_git.patch.field_shapes import object_type

Place = Any  # where a source stands in itself; None: below here everything is allowed

_STRATEGIES = {"m": "merge", "r": "replace", "k": "retainKeys"}
# What Go calls a value of that shape when it is asked for its fields.
_GO_KINDS = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "any": "interface",
}
_OPAQUE = {
    "object": "RawExtension",
    "quantity": "Quantity",
    "integer|string": "IntOrString",
}


class Facts(NamedTuple):
    """What a source says about a field."""

    below: Place = None
    strategies: tuple[str, ...] = ()
    merge_key: str = ""
    list_keys: tuple[str, ...] = ()


class UnknownField(Exception):
    """The schema has no such field; the text is upstream's."""


class Builtin:
    """The built-in tables: a place is the number of a definition (-1: none) and its shape.

    Without a shape only the key table is asked: a field that it does not name is a plain one.
    """

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        """The facts of a field; raises `UnknownField`."""
        number, shape = place
        return _facts(number, shape, name, in_list)

    def name(self, place: Place) -> str:
        """The Go kind."""
        shape = place[1]
        return _go_kind(shape) if shape else "struct"


@lru_cache(maxsize=4096)  # the names come from files
def _facts(number: int, shape: str, name: str, in_list: bool) -> Facts:
    # the shape is looked up first, for kubectl's error
    inner = _field_shape(shape, name) if shape else ""
    if in_list and inner.startswith("[]"):
        inner = inner[2:]
    elif in_list and inner.startswith(("@", "{}")):
        raise UnknownField("expected slice or array type, but got: struct")
    known = keytable.fields(number) if number >= 0 else {}
    strategic, structural, below = known.get(name, ("", "", ""))
    letters, _, key = strategic.partition(":")
    return Facts(
        (keytable.below(below), inner),
        tuple(_STRATEGIES[letter] for letter in letters),
        key,
        tuple(field for field, _ in keytable.keys(structural)),
    )


def _field_shape(shape: str, name: str) -> str:
    known = (_OPAQUE[shape], {}) if shape in _OPAQUE else object_type(shape)
    if known is None:
        raise UnknownField(
            f"merging an object in json but data type is not struct, instead is: {_go_kind(shape)}"
        )
    go_name, fields = known
    if name not in fields:
        raise UnknownField(
            f'unable to find api field in struct {go_name} for the json field "{name}"'
        )
    return fields[name]


def _go_kind(shape: str) -> str:
    if shape.startswith("{}"):
        return "map"
    if shape.startswith("@"):
        return "struct"
    return "slice" if shape.startswith("[]") else _GO_KINDS.get(shape, shape)
