"""Every field of every built-in kind with its shape: for kubectl's schema errors and the checks.

Merging never needs it: the strategic fields come from the list key table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kmerge_git.patch.schema import Facts, Place, Schema, Source, UnknownField

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


@dataclass(frozen=True, slots=True)
class Struct:
    """A Go type: its name, and field -> shape."""

    name: str
    fields: dict[str, str]


def root_shape(api_version: str, kind: str) -> str:
    """The shape of a built-in kind, `@12`; empty for an unknown one."""
    number = _table()["roots"].get(api_version, {}).get(kind)
    return "" if number is None else f"@{number}"


def struct_of(shape: str) -> Struct | None:
    """The fields below a shape like `@12`; None below anything else."""
    if not shape.startswith("@"):
        return None
    name, fields = _table()["definitions"][int(shape[1:])]
    return Struct(name, fields)


def complete_schema(api_version: str, kind: str, schema: Schema) -> Schema:
    """A schema that also knows which fields there are; of a version the table lists."""
    shape = root_shape(api_version, kind)
    return Schema(_Complete(schema.source), (schema.place, shape)) if shape else schema


@dataclass(frozen=True, slots=True)
class _Complete:
    """Looks up the shape first, for the error, then the strategies."""

    strategic: Source

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        if place is None:
            return Facts()
        inner, shape = place
        below_shape = _field_shape(shape, name)
        if in_list and below_shape.startswith("[]"):
            below_shape = below_shape[2:]
        elif in_list and below_shape.startswith(("@", "{}")):
            raise UnknownField("expected slice or array type, but got: struct")
        facts = self.strategic.look_up(inner, name, in_list=in_list)
        return facts._replace(below=(facts.below, below_shape))

    def name(self, place: Place) -> str:
        shape = place[1]
        return "struct" if shape.startswith("@") else _go_kind(shape)


def _field_shape(shape: str, name: str) -> str:
    struct = Struct(_OPAQUE[shape], {}) if shape in _OPAQUE else struct_of(shape)
    if struct is None:
        raise UnknownField(
            f"merging an object in json but data type is not struct, instead is: {_go_kind(shape)}"
        )
    if name not in struct.fields:
        raise UnknownField(
            f'unable to find api field in struct {struct.name} for the json field "{name}"'
        )
    return struct.fields[name]


def _go_kind(shape: str) -> str:
    if shape.startswith("{}"):
        return "map"
    return "slice" if shape.startswith("[]") else _GO_KINDS.get(shape, shape)


@cache
def _table() -> dict[str, Any]:
    text = files("kmerge_git.patch").joinpath("field_shapes.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]
