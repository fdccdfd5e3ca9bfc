"""Compute the result of `kubectl apply` from a config and a live object, without a cluster.

The API server stores neither directives nor nulls, so any that are left are removed. `explain` says
who decides about each field. A field in the config is set. A field that was applied before but is
no longer in the config is removed. Any other field was set by somebody else and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kmerge_git.errors import PatchError
from kmerge_git.kube.fieldpath import show
from kmerge_git.patch import is_complete_directive
from kmerge_git.patch.applied_annotation import LAST_APPLIED, with_last_applied, without_annotation
from kmerge_git.patch.applied_annotation import last_applied as read_last_applied
from kmerge_git.patch.apply_patch import apply_json_patch, apply_patch, without_nulls
from kmerge_git.patch.field_shapes import object_type, root_shape
from kmerge_git.patch.json_values import Map, Value, copied, go_text, same
from kmerge_git.patch.make_patch import make_json_patch3, make_patch3
from kmerge_git.patch.patch_schema import FieldRule, Schema

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path

NO_ANNOTATION = (
    f"the live object is missing the {LAST_APPLIED} annotation, so nothing is deleted from it"
)
ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Applied:
    """Hold the object after `kubectl apply`, and the patch that kubectl sends."""

    result: Map
    patch: Map  # if the object is created, the whole object
    created: bool
    strategic: bool  # if False, the patch is a JSON merge patch
    modified: Map  # the config as it is applied, with its annotation
    original: Map  # the config that was applied before
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether kubectl prints "configured" rather than "unchanged"."""
        return self.created or bool(self.patch)


def apply_config(
    config: Map,
    live: Map,
    *,
    last_applied: Map | None = None,
    schema: Schema | None = None,
    overwrite: bool = True,
) -> Map:
    """Return the live object after `kubectl apply` of the config.

    If `live` is empty, the object is created. `last_applied` is the config that was applied before.
    If `last_applied` is None, that config is read from the annotation of `live`. If no schema is
    given, a built-in kind uses its own schema, and any other kind is merged by JSON merge patch.
    """
    applied = plan_apply(
        config, live, last_applied=last_applied, schema=schema, overwrite=overwrite
    )
    return applied.result


def plan_apply(
    config: Map,
    live: Map,
    *,
    last_applied: Map | None = None,
    schema: Schema | None = None,
    overwrite: bool = True,
    namespace: str = "",
) -> Applied:
    """Plan `kubectl apply`: return the resulting object, the patch and the warnings.

    If the config has no namespace, the config gets `namespace`. If `namespace` is empty too, the
    config gets the namespace of the live object.
    """
    _check(config)
    for name, value in (("live object", live), ("last applied config", last_applied or {})):
        if not isinstance(value, dict):
            raise PatchError(f"the {name} is not a Kubernetes object", hint="a map is expected")
    config = _completed(config, live, namespace)
    modified = with_last_applied(config, config)
    schema = schema or Schema.find(str(config.get("apiVersion", "")), str(config.get("kind", "")))
    if not live:
        created = without_nulls(modified)
        return Applied(created, created, True, schema is not None, modified, {})
    known = last_applied if last_applied is not None else read_last_applied(live)
    warnings = (NO_ANNOTATION,) if known is None else ()
    original = known or {}
    if schema is None:
        patch = make_json_patch3(original, modified, live)
        metadata = patch.get("metadata")
        is_renamed = isinstance(metadata, dict) and "name" in metadata
        if is_renamed or "apiVersion" in patch or "kind" in patch:
            raise PatchError("At least one of apiVersion, kind and name was changed")
        result = apply_json_patch(live, patch)
    else:
        patch = make_patch3(original, modified, live, schema, overwrite=overwrite)
        result = stored(apply_patch(live, patch, schema), live)
    return Applied(result, patch, False, schema is not None, modified, copied(original), warnings)


def _check(config: Map) -> None:
    metadata = config.get("metadata") if isinstance(config, dict) else None
    if not isinstance(metadata, dict):
        raise PatchError("the config is not a Kubernetes object", field="metadata")
    if metadata.get("generateName") and not metadata.get("name"):
        raise PatchError(
            "cannot use generate name with apply",
            field="metadata.generateName",
            steps=("metadata", "generateName"),
        )


def _completed(config: Map, live: Map, namespace: str) -> Map:
    """Return the config with the namespace filled in, and without a last-applied annotation."""
    result = copied(config)
    metadata = result["metadata"]
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        annotations.pop(LAST_APPLIED, None)
    there = live.get("metadata")
    known = namespace or (there.get("namespace") if isinstance(there, dict) else None)
    if known and not metadata.get("namespace"):
        metadata["namespace"] = known
    return result


# -- what the API server stores


def stored(resource: Map, live: Map) -> Map:
    """Return the object as the API server stores it: without directives and without new nulls.

    A null that the live object already has stays. Free-form parts are not changed: for example, the
    data of a ControllerRevision is itself a patch.
    """
    shape = root_shape(str(resource.get("apiVersion", "")), str(resource.get("kind", "")))
    return _stored_map(resource, live, shape or "any")


def _stored(value: Value, live: Value, shape: str) -> Value:
    if isinstance(value, list):
        known = live if isinstance(live, list) else []
        cleaned = [_stored(item, None, shape.removeprefix("[]")) for item in value]
        pairs = zip(value, cleaned, strict=True)
        return [item if item != clean and item in known else clean for item, clean in pairs]
    if not isinstance(value, dict) or shape == "object":
        return value
    return _stored_map(value, live if isinstance(live, dict) else {}, shape)


def _stored_map(value: Map, live: Map, shape: str) -> Map:
    known = object_type(shape)
    free = shape.startswith("{}")
    result: Map = {}
    for key, item in value.items():
        is_new_null = item is None and live.get(key, ABSENT) is not None
        if is_new_null or (not free and is_complete_directive(key)):
            continue
        below = shape[2:] if free else known[1].get(key, "any") if known else "any"
        result[key] = _stored(item, live.get(key), below)
    return result


# -- who decides about each field


@dataclass(frozen=True, slots=True)
class Field:
    """Say who decides about a field, and how the apply changes the field."""

    path: str
    owner: str  # "config", "last applied", "live"
    what: str  # "unchanged", "changed", "added", "removed", "stays"
    why: str
    before: Value = ABSENT
    after: Value = ABSENT


class _Sides(NamedTuple):
    """Hold the values of one field in the four objects that `kubectl apply` compares."""

    config: Value
    last: Value
    live: Value
    result: Value


def explain(applied: Applied, live: Map, schema: Schema | None) -> list[Field]:
    """Say who decides about each field.

    The fields are those of the config, the last applied config and the live object.
    """
    objects = (applied.modified, applied.original, live, applied.result)
    fields = _walk(_Sides(*map(_without_annotations, objects)), schema, ())
    return [field for field in fields if field is not None]


def _without_annotations(resource: Map) -> Map:
    """Return the object without the last-applied annotation.

    If `annotations` is empty after that, remove `annotations` too.
    """
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
    if field is None or field.strategy != "merge" or {*map(type, present)} != {list}:
        yield _decided(sides, path)
    else:
        yield from _walk_list(sides, field, path)


def _walk_list(sides: _Sides, field: FieldRule, path: Path) -> Iterator[Field | None]:
    tables = [_elements(side, field.merge_key) for side in sides]
    for text in dict.fromkeys(text for table in tables for text in table):
        below = _Sides(*(table.get(text, ABSENT) for table in tables))
        here = (*path, ((field.merge_key, text),))
        if field.merge_key:
            yield from _walk(below, field.below, here)
        else:
            yield _decided(below, here)


def _elements(side: Value, key: str) -> dict[str, Value]:
    """Return the elements of a list, keyed by the text of the merge key of each element.

    If the list has no merge key, the whole text of an element is its key.
    """
    elements = side if isinstance(side, list) else []
    if not key:
        return {go_text(value): value for value in elements}
    return {go_text(e[key]): e for e in elements if isinstance(e, dict) and key in e}


def _decided(sides: _Sides, path: Path) -> Field | None:
    place, live, after = show(path), sides.live, sides.result
    if sides.config is not ABSENT:
        return _by_config(sides, place)
    if live is ABSENT:
        return None  # it was applied before, and is already gone
    if after is not ABSENT:
        if same(live, after):
            why = "neither in the config nor applied last time: set by somebody else"
            return Field(place, "live", "stays", why, live, after)
        return Field(
            place, "config", "changed", "part of a value that the config sets", live, after
        )
    if sides.last is not ABSENT:
        why = "applied last time, but no longer in the config"
        return Field(place, "last applied", "removed", why, live)
    why = "not in the config; the map or list around it was removed or replaced"
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
        return Field(
            place, "config", "unchanged", "the live object has the same value", live, after
        )
    why = "the config sets it"
    if sides.last is not ABSENT and same(sides.last, sides.config):
        why += "; somebody changed the live object after the last apply"
    return Field(place, "config", "changed", why, live, after)
