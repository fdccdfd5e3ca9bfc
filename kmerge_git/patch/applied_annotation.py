"""Read and write the annotation in which `kubectl apply` keeps the config that it applied last.

The annotation is written byte for byte as kubectl writes it. The annotation is itself a field that
a patch changes, so another spelling of the same config would be a change.
"""

from __future__ import annotations

import json
from math import isfinite

from kmerge_git.errors import PatchError
from kmerge_git.patch.json_values import Map, Value, copied, failure, go_type, no_number

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LIMIT = 262144  # bytes of all annotations of an object together, in the API server

# Go escapes the characters that are special in HTML, and the line breaks of JavaScript.
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "&<>\u2028\u2029"} | {"\ufffd": "\ufffd"})
_INT64 = range(-(2**63), 2**63)


def last_applied(live: Map) -> Map | None:
    """Return the config in the last-applied annotation.

    Return None if there is no annotation, and `{}` if the text of the annotation is empty.
    """
    text = annotation(live)
    if not text:
        return None if text is None else {}
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or no_number(value) is not None:
        raise failure("invalid JSON document", ("metadata", "annotations", LAST_APPLIED))
    return value


def annotation(live: Map) -> str | None:
    """Return the text of the last-applied annotation, or None."""
    metadata = _map(live, ("metadata",))
    text = _map(metadata, ("metadata", "annotations")).get(LAST_APPLIED)
    return None if text is None else str(text)


def without_annotation(patch: Map) -> Map:
    """Return a patch without the last-applied annotation, which differs in any two objects."""
    metadata = patch.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(annotations, dict):
        return patch
    kept = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {**patch, "metadata": {**metadata, "annotations": kept}}


def with_last_applied(target: Map, config: Map) -> Map:
    """Return a copy of an object whose last-applied annotation holds the config."""
    result = copied(target)
    annotations = _annotations(result)
    annotations[LAST_APPLIED] = annotation_text(config)
    size = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    if size > LIMIT:
        raise PatchError(
            f"Too long: must have at most {LIMIT} bytes",
            field="metadata.annotations",
            steps=("metadata", "annotations"),
            hint=f"the annotations have {size} bytes; use server-side apply for this object",
        )
    return result


def annotation_text(config: Map) -> str:
    """Return the compact JSON of the config with sorted keys, without this annotation."""
    plain = copied(config)
    _annotations(plain).pop(LAST_APPLIED, None)
    return go_json(plain) + "\n"


def _annotations(resource: Map) -> Map:
    metadata = resource["metadata"] = _map(resource, ("metadata",))
    annotations = metadata["annotations"] = _map(metadata, ("metadata", "annotations"))
    return annotations


def _map(around: Map, at: tuple[str, ...]) -> Map:
    """Return the map at a key, or an empty map if the key is absent.

    Refuse any other value, as kubectl does.
    """
    value = around.get(at[-1])
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise failure(f"this must be a map, not {go_type(value)}", at)
    return value


def go_json(value: Value) -> str:
    """Return the value as JSON, spelled as Go spells JSON.

    The keys are sorted, there are no spaces, and `<`, `>` and `&` are escaped.
    """
    if isinstance(value, dict):
        entries = (f"{go_json(key)}:{go_json(value[key])}" for key in sorted(value))
        return "{" + ",".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(go_json, value)) + "]"
    if isinstance(value, float) or (type(value) is int and value not in _INT64):
        return _go_number(float(value))
    text = json.dumps(value, ensure_ascii=False)
    return text.translate(_ESCAPES) if isinstance(value, str) else text


def _go_number(value: float) -> str:
    if not isfinite(value):
        raise PatchError(f"unsupported value: {value}", hint="JSON cannot hold this number")
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        text = repr(value)
        if "e" in text:
            from decimal import Decimal

            text = f"{Decimal(text):f}"
        return text.removesuffix(".0")
    mantissa, _, power = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{power[0]}{power[1:].lstrip('0')}"
