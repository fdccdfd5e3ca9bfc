"""Who decides about every field of an applied object, and what became of it.

In the config: it sets the field. Not there, but applied before: the field goes. In neither: it
belongs to somebody else and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kmerge_git.kube.fieldpath import show
from kmerge_git.patch.apply_config import Applied
from kmerge_git.patch.last_applied import without_annotation
from kmerge_git.patch.schema import FieldRule, Schema
from kmerge_git.patch.values import Map, Value, go_text, same

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path

ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Field:
    """One field: who decides about it, and what became of it."""

    path: str
    owner: str  # "config", "last applied", "live"
    what: str  # "unchanged", "changed", "added", "removed", "stays"
    why: str
    before: Value = ABSENT
    after: Value = ABSENT


class _Sides(NamedTuple):
    """One place in the four objects."""

    config: Value
    last: Value
    live: Value
    result: Value


def explain(applied: Applied, live: Map, schema: Schema | None) -> list[Field]:
    """Every field that the config, the config before or the live object has."""
    config, original = _plain(applied.modified), _plain(applied.original)
    sides = _Sides(config, original, _plain(live), _plain(applied.result))
    return [field for field in _walk(sides, schema, ()) if field is not None]


def _plain(resource: Map) -> Map:
    """The object without the annotation itself."""
    result = without_annotation(resource)
    metadata = result.get("metadata")
    if isinstance(metadata, dict) and metadata.get("annotations") == {}:
        kept = {key: value for key, value in metadata.items() if key != "annotations"}
        return {**result, "metadata": kept}
    return result


def _walk(sides: _Sides, schema: Schema | None, path: Path) -> Iterator[Field | None]:
    maps = _Sides(*(side if isinstance(side, dict) else {} for side in sides))
    for name in dict.fromkeys([*maps.config, *maps.live, *maps.last]):
        below = _Sides(*(side.get(name, ABSENT) for side in maps))
        yield from _walk_field(name, below, schema, (*path, name))


def _walk_field(
    name: str, sides: _Sides, schema: Schema | None, path: Path
) -> Iterator[Field | None]:
    present = [value for value in sides if value is not ABSENT and value is not None]
    if any(present) and all(isinstance(value, dict) for value in present):
        if sides.config is None:
            yield _decided(sides, path)
        field = schema.field(name, in_list=False) if schema else None
        yield from _walk(sides, field.below if field else None, path)
        return
    field = schema.field(name, in_list=True) if schema else None
    lists = {type(value) for value in present} == {list}
    if field is None or field.strategy != "merge" or not lists:
        yield _decided(sides, path)
    else:
        yield from _walk_list(sides, field, path)


def _walk_list(sides: _Sides, field: FieldRule, path: Path) -> Iterator[Field | None]:
    if field.merge_key:
        for text, below in _united([_by_key(side, field.merge_key) for side in sides]):
            yield from _walk(below, field.below, (*path, ((field.merge_key, text),)))
        return
    for text, below in _united([_by_text(side) for side in sides]):
        yield _decided(below, (*path, (("", text),)))


def _united(parts: list[dict[str, Value]]) -> Iterator[tuple[str, _Sides]]:
    """Every key of the four sides, and what each of them has there."""
    for key in dict.fromkeys(key for part in parts for key in part):
        yield key, _Sides(*(part.get(key, ABSENT) for part in parts))


def _by_key(side: Value, key: str) -> dict[str, Value]:
    elements = side if isinstance(side, list) else []
    return {go_text(e[key]): e for e in elements if isinstance(e, dict) and key in e}


def _by_text(side: Value) -> dict[str, Value]:
    return {go_text(value): value for value in side} if isinstance(side, list) else {}


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
