"""What the API server stores of a merged object: its types know no directives and no nulls."""

from __future__ import annotations

from kmerge_git.patch.directives import is_complete_directive
from kmerge_git.patch.field_shapes import object_type, root_shape
from kmerge_git.patch.values import Map, Value


def stored(resource: Map, live: Map) -> Map:
    """The object without leftover directives, and without nulls that the live object had not.

    Free-form parts stay as they are: the data of a ControllerRevision is a patch.
    """
    shape = root_shape(str(resource.get("apiVersion", "")), str(resource.get("kind", "")))
    return _kept_map(resource, live, shape or "any")


def _kept(value: Value, live: Value, shape: str) -> Value:
    if isinstance(value, list):
        known = live if isinstance(live, list) else []
        cleaned = [_kept(item, None, shape.removeprefix("[]")) for item in value]
        pairs = zip(value, cleaned, strict=True)
        return [item if item != clean and item in known else clean for item, clean in pairs]
    if not isinstance(value, dict) or shape == "object":
        return value
    return _kept_map(value, live if isinstance(live, dict) else {}, shape)


def _kept_map(value: Map, live: Map, shape: str) -> Map:
    known = object_type(shape)
    free = shape.startswith("{}")
    result: Map = {}
    for key, item in value.items():
        if item is None and (key not in live or live[key] is not None):
            continue
        if free:
            result[key] = _kept(item, live.get(key), shape[2:])
        elif not is_complete_directive(key):
            below = known[1].get(key, "any") if known else "any"
            result[key] = _kept(item, live.get(key), below)
    return result
