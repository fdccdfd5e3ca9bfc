"""Validate a value by a JSON schema, with the few keywords that our schemas use."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import kmerge_git

DESCRIBED = ("merge", "resolve", "check")  # the commands whose `--json` has a schema

TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool}
KNOWN = {
    *("$schema", "$comment", "$defs", "definitions", "title", "description"),
    *("type", "properties", "required", "additionalProperties", "items"),
    *("enum", "const", "pattern", "minimum", "anyOf"),
}


@functools.cache
def schema_of(command: str) -> dict[str, Any]:
    """The schema of a command's `--json`, from the package."""
    file = Path(kmerge_git.__file__).parent / "report" / f"{command}.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return schema


def wrong_output(words: Sequence[str], out: str) -> list[str]:
    """What the schema finds wrong with all that a call of kmerge printed on stdout."""
    asks = not {"--json", "--format=json", "json"}.isdisjoint(words)
    if not (out and asks and words[0] in DESCRIBED) or "--undo" in words:
        return []
    try:
        return wrong(json.loads(out), schema_of(words[0]))
    except json.JSONDecodeError as error:
        return [f"{error}: {out}"]


def wrong(value: Any, schema: dict[str, Any]) -> list[str]:
    """What a JSON schema (of the keywords that our files use) finds wrong with a value."""
    return [*_wrong(value, schema, schema, "")]


def _wrong(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        group, name = schema["$ref"].split("/")[1:]
        schema = root[group][name]
    assert set(schema) <= KNOWN
    kind = schema.get("type")
    if kind == "integer":
        if not isinstance(value, int) or isinstance(value, bool):
            yield f"{at}: no integer"
    elif kind and not isinstance(value, TYPES[kind]):
        yield f"{at}: no {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not allowed"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} has another form"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{at}: {value} is too small"
    if "anyOf" in schema and all([*_wrong(value, one, root, at)] for one in schema["anyOf"]):
        yield f"{at}: none of the forms"
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{at}: lacks {name}"
        properties = schema.get("properties", {})
        for name, inner in value.items():
            if name in properties:
                yield from _wrong(inner, properties[name], root, f"{at}/{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{at}: {name} is not allowed"
            elif "additionalProperties" in schema:
                yield from _wrong(inner, schema["additionalProperties"], root, f"{at}/{name}")
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _wrong(inner, schema.get("items", {}), root, f"{at}/{number}")
