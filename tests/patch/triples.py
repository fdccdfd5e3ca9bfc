"""Generated triples of a three-way patch: the last config, the new one, the live object."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from kmerge_git.patch.applied_annotation import LAST_APPLIED, annotation_text

from .generated import KINDS, make_object

Value = Any


def make_triple(rnd: Random) -> tuple[Value, Value, Value]:
    """(original, modified, live): related, as after some changes of people and controllers."""
    kind = rnd.choice(list(KINDS))
    original, modified, live = (make_object(rnd, kind) for _ in range(3))
    if rnd.random() < 0.6:
        modified = _mixed(rnd, original, modified)
    if rnd.random() < 0.7:
        live = _mixed(rnd, original, live)
    if rnd.random() < 0.2:
        _with_nulls(rnd, modified)
    custom = rnd.random() < 0.2
    for side in (original, modified, live):
        side["metadata"] |= {"name": "x", "namespace": "default"}
        if custom:
            side |= {"apiVersion": "example.com/v1", "kind": "Foo"}
    if rnd.random() < 0.85:
        annotations = live["metadata"].setdefault("annotations", {})
        annotations[LAST_APPLIED] = annotation_text(original)
    return original, modified, live


def _mixed(rnd: Random, one: Value, other: Value) -> Value:
    result = deepcopy(one)
    for key, value in other.items():
        if key in {"apiVersion", "kind"}:
            continue
        if rnd.random() < 0.4:
            result[key] = deepcopy(value)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _mixed(rnd, result[key], value)
    return result


def _with_nulls(rnd: Random, value: Value) -> None:
    for key in value:
        if key in {"apiVersion", "kind", "metadata", "name"}:
            continue
        if rnd.random() < 0.15:
            value[key] = None
        elif isinstance(value[key], dict):
            _with_nulls(rnd, value[key])
