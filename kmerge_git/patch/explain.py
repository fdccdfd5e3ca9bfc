"""Why every field of an applied object is what it is: the tables of apply as an answer.

In the config: it sets the field. Not there, but applied before: the field goes. In neither: it
belongs to somebody else and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kmerge_git.kube.fieldpath import show
from kmerge_git.patch.apply_config import Applied
from kmerge_git.patch.schema import Schema
from kmerge_git.patch.values import Map, Value, copied, go_text, same

ABSENT: Any = object()
Path = tuple[str | int | tuple[tuple[str, str], ...], ...]  # of kube.fieldpath


@dataclass(frozen=True, slots=True)
class Field:
    """One field: who decides about it, and what became of it."""

    path: str
    owner: str  # "config", "last applied", "live"
    what: str  # "unchanged", "changed", "added", "removed", "stays"
    why: str
    before: Value = ABSENT
    after: Value = ABSENT


@dataclass(frozen=True, slots=True)
class _Sides:
    """One place in the four objects."""

    config: Value
    last: Value
    live: Value
    result: Value

    def each(self) -> tuple[Value, Value, Value, Value]:
        return self.config, self.last, self.live, self.result


def explain(applied: Applied, live: Map, schema: Schema | None) -> list[Field]:
    """Every field that the config, the config before or the live object has."""
    config, original = _plain(applied.modified), _plain(applied.original)
    sides = _Sides(config, original, _plain(live), _plain(applied.result))
    return [field for field in _walk(sides, schema, ()) if field is not None]


def _plain(resource: Map) -> Map:
    """The object without the annotation itself."""
    from kmerge_git.patch.conflicts import LAST_APPLIED

    result = copied(resource)
    metadata = result.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and isinstance(annotations, dict):
        annotations.pop(LAST_APPLIED, None)
        if not annotations:
            del metadata["annotations"]
    return result


def _walk(sides: _Sides, schema: Schema | None, path: Path) -> Iterator[Field | None]:
    for name in _names(sides):
        below = _Sides(*(_get(side, name) for side in sides.each()))
        here = (*path, name)
        present = [value for value in below.each() if value is not ABSENT and value is not None]
        if present and all(isinstance(value, dict) for value in present) and any(present):
            if below.config is None:
                yield _decided(below, here)
            field = _lookup(schema, name, in_list=False)
            yield from _walk(below, field.below if field else None, here)
            continue
        field = _lookup(schema, name, in_list=True)
        lists = bool(present) and all(isinstance(value, list) for value in present)
        if lists and field and field.strategy == "merge" and field.merge_key:
            yield from _walk_elements(below, field.merge_key, field.below, here)
        elif lists and field and field.strategy == "merge":
            yield from _walk_set(below, here)
        else:
            yield _decided(below, here)


def _walk_elements(sides: _Sides, key: str, schema: Schema, path: Path) -> Iterator[Field | None]:
    parts = [_by_key(side, key) for side in sides.each()]
    for name in dict.fromkeys(name for part in parts for name in part):
        below = _Sides(*(part.get(name, ABSENT) for part in parts))
        yield from _walk(below, schema, (*path, ((key, name),)))


def _walk_set(sides: _Sides, path: Path) -> Iterator[Field | None]:
    parts = [
        {go_text(value): value for value in side} if isinstance(side, list) else {}
        for side in sides.each()
    ]
    for text in dict.fromkeys(text for part in parts for text in part):
        below = _Sides(*(part.get(text, ABSENT) for part in parts))
        yield _decided(below, (*path, (("", text),)))


def _by_key(side: Value, key: str) -> dict[str, Map]:
    elements = side if isinstance(side, list) else []
    return {go_text(e[key]): e for e in elements if isinstance(e, dict) and key in e}


def _names(sides: _Sides) -> list[str]:
    found: dict[str, None] = {}
    for side in (sides.config, sides.live, sides.last):
        found |= dict.fromkeys(side if isinstance(side, dict) else ())
    return list(found)


def _get(side: Value, name: str) -> Value:
    return side.get(name, ABSENT) if isinstance(side, dict) else ABSENT


def _lookup(schema: Schema | None, name: str, *, in_list: bool) -> Any:
    return schema.field(name, in_list=in_list) if schema else None


def _decided(sides: _Sides, path: Path) -> Field | None:
    place, live, after = show(path), sides.live, sides.result
    if sides.config is not ABSENT:
        return _by_config(sides, place)
    if live is ABSENT:
        return None  # applied once, gone already
    if after is not ABSENT:
        if same(live, after):
            why = "not in the config, not applied before: it belongs to somebody else"
            return Field(place, "live", "stays", why, live, after)
        return Field(place, "config", "changed", "a part of what the config sets", live, after)
    if sides.last is not ABSENT:
        why = "applied before, and gone from the config"
        return Field(place, "last applied", "removed", why, live)
    why = "not in the config; what held it was removed or replaced as a whole"
    return Field(place, "config", "removed", why, live)


def _by_config(sides: _Sides, place: str) -> Field | None:
    live, after = sides.live, sides.result
    if sides.config is None:
        if live is ABSENT:
            return None
        return Field(place, "config", "removed", "null in the config", live)
    if live is ABSENT:
        return Field(place, "config", "added", "in the config, not in the live object", live, after)
    if same(live, after):
        return Field(place, "config", "unchanged", "the live object is as the config", live, after)
    why = "the config sets it"
    if sides.last is not ABSENT and same(sides.last, sides.config):
        why += "; somebody changed the live object since"
    return Field(place, "config", "changed", why, live, after)
