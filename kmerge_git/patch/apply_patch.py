"""Applies a strategic merge patch exactly as the API server and kubectl do.

`merge_map` is the whole algorithm, in upstream's order: `$patch`, `$retainKeys`, every
`$setElementOrder/f`, then the other keys. Where Go walks a map in random order, or panics, there
is one answer here: document order, `$deleteFromPrimitiveList` first, and an error.

With `as_patches` two patches become one: deletions and parallel keys are copied, not executed.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Literal

from kmerge_git.errors import PatchError
from kmerge_git.patch.directives import DELETE, ORDER, PATCH, RETAIN_KEYS
from kmerge_git.patch.lists import (
    Merged,
    MergeElement,
    bad_directive,
    bad_type,
    element_type,
    identity_of,
    in_order,
    keyed,
    merge_lists,
    need_key,
    scalar,
)
from kmerge_git.patch.schema import FieldRule, Schema
from kmerge_git.patch.values import At, Map, Value, copied, failure, go_text, same

Flavor = Literal["kubectl", "kustomize"]
_DROPPED = object()


def apply_patch(
    original: Map, patch: Map, schema: Schema | None = None, *, flavor: Flavor = "kubectl"
) -> Map:
    """The object after the patch; without a schema, that of the object's own built-in kind.

    `flavor="kustomize"` does what a kustomize `patches:` entry does; a patch that removes the
    whole resource gives `{}` there.
    """
    if not isinstance(original, dict) or not isinstance(patch, dict):
        raise PatchError("invalid JSON document")
    if flavor == "kustomize":
        from kmerge_git.patch.kustomize import apply_kustomize

        return apply_kustomize(original, patch, schema)
    result = copied(merge_map(original, patch, schema or schema_of(original), ()))
    if original.get("kind") and not result.get("kind"):
        text = json.dumps(result, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        raise PatchError(
            f"Object 'Kind' is missing in '{text}'",
            hint="the patch must leave the object its kind",
        )
    return result


def schema_of(resource: Map) -> Schema:
    """The built-in schema of an object; a custom resource has none: an error."""
    return Schema.builtin(str(resource.get("apiVersion", "")), str(resource.get("kind", "")))


def merge_patches(first: Map, second: Map, schema: Schema) -> Map:
    """One patch that does what both do, the second after the first."""
    return copied(merge_map(first, second, schema, (), as_patches=True))


def merge_map(
    original: Map, patch: Map, schema: Schema, at: At, *, as_patches: bool = False
) -> Map:
    """One map under a patch; neither is changed."""
    if PATCH in patch:
        return _executed(patch, at)
    rest = dict(patch)
    result = _retained(original, rest, at, as_patches=as_patches)
    for key in [key for key in rest if key.startswith(ORDER)]:
        _set_order(result, rest, key, schema, at, as_patches=as_patches)
    for key in sorted(rest, key=lambda key: not key.startswith(DELETE)):
        _merge_field(result, key, rest[key], schema, at, as_patches=as_patches)
    return result


def _executed(patch: Map, at: At) -> Map:
    if same(patch[PATCH], "replace"):
        return {key: value for key, value in patch.items() if key != PATCH}
    if same(patch[PATCH], "delete"):
        return {}
    raise failure(bad_directive(patch[PATCH], patch), at)


def _retained(original: Map, patch: Map, at: At, *, as_patches: bool) -> Map:
    """A copy of the original without what `$retainKeys` does not list; takes the key out."""
    if RETAIN_KEYS not in patch:
        return dict(original)
    keys = patch.pop(RETAIN_KEYS)
    bad = failure("invalid patch format of retainKeys", (*at, RETAIN_KEYS))
    if as_patches:
        if RETAIN_KEYS in original and not same(original[RETAIN_KEYS], keys):
            raise bad
        return {**original, RETAIN_KEYS: keys}
    if not isinstance(keys, list) or any(isinstance(key, dict | list) for key in keys):
        raise bad
    listed = {scalar(key) for key in keys}
    for key, value in patch.items():
        if value is not None and not key.startswith((DELETE, ORDER)) and scalar(key) not in listed:
            raise bad
    return {key: value for key, value in original.items() if scalar(key) in listed}


def _merge_field(
    result: Map, key: str, value: Value, schema: Schema, at: At, *, as_patches: bool
) -> None:
    here = (*at, key)
    deleting = key.startswith(DELETE)
    if deleting and as_patches:
        result[key] = value
        return
    if deleting:
        key = _list_name(key, "invalid patch format of primitive list", here)
    if value is None:
        result.pop(key, None)
        if not as_patches:
            return
    if key not in result or type(result[key]) is not type(value):
        if not deleting:
            _take(result, key, value if as_patches else without_nulls(value))
    elif isinstance(value, dict):
        field = schema.field(key, in_list=False, at=here)
        if field.strategy == "replace":
            result[key] = value
        else:
            result[key] = merge_map(result[key], value, field.below, here, as_patches=as_patches)
    elif isinstance(value, list):
        field = schema.field(key, in_list=True, at=here)
        if field.strategy != "merge" and not deleting:
            result[key] = value
        else:
            merger = _merger(field.below, as_patches)
            result[key], _ = merge_lists(result[key], value, field, here, merger, deleting=deleting)
    else:
        result[key] = value


def _merger(below: Schema, as_patches: bool) -> MergeElement:
    """Merges the elements of a keyed list."""
    return lambda original, patch, at: merge_map(original, patch, below, at, as_patches=as_patches)


def _list_name(key: str, complaint: str, at: At) -> str:
    _, slash, name = key.partition("/")
    if not slash:
        raise failure(complaint, at)
    return name


def _take(result: Map, key: str, value: Value) -> None:
    cleaned = without_directives(value)
    if cleaned is _DROPPED:
        result.pop(key, None)
    else:
        result[key] = cleaned


def without_nulls(value: Value) -> Value:
    """The value without null map entries, at every depth; null list items stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def without_directives(value: Value) -> Value:
    """The value without every map that holds `$patch`; the other directives stay as data."""
    if isinstance(value, dict):
        if PATCH in value:
            return _DROPPED
        kept = ((key, without_directives(item)) for key, item in value.items())
        return {key: item for key, item in kept if item is not _DROPPED}
    if isinstance(value, list):
        items = (without_directives(item) for item in value)
        return [item for item in items if item is not _DROPPED]
    return value


def _set_order(
    result: Map, patch: Map, key: str, schema: Schema, at: At, *, as_patches: bool
) -> None:
    """Executes one `$setElementOrder/f`: merges the list f and orders it; takes both keys out."""
    here, order = (*at, key), patch.pop(key)
    if as_patches and not same(result.setdefault(key, order), order):
        raise failure("invalid patch format of setElementOrder list", here)
    if not isinstance(order, list):
        raise failure(bad_type([], order), here)
    name = _list_name(key, "invalid patch format of setElementOrder list", here)
    there = (*at, name)
    for side in (result, patch):
        if name in side and not isinstance(side[name], list):
            raise failure(bad_type([], side[name]), there)
    field = schema.field(name, in_list=True, at=there)
    ours, theirs = result.get(name), patch.get(name)
    _check_order(theirs or [], order, field, here)
    if not order or (ours is None and theirs is None):
        return  # upstream sorts by an empty order into chance: it says nothing
    patch.pop(name, None)
    merged, server = _merged(ours, theirs, field, there, as_patches=as_patches)
    result[name] = _ordered(merged, order, server, field, here)
    element_type(there, ours or [], theirs or [])


def _merged(
    ours: list[Value] | None,
    theirs: list[Value] | None,
    field: FieldRule,
    at: At,
    *,
    as_patches: bool,
) -> Merged:
    """The list before `$setElementOrder` orders it, and the order it has at the server."""
    server = ours or []
    if theirs is None:
        return server, server
    if ours is None:
        return without_directives(theirs), server
    if field.strategy == "merge":
        return merge_lists(ours, theirs, field, at, _merger(field.below, as_patches))
    return theirs, server


def _ordered(
    merged: list[Value], order: list[Value], server: list[Value], field: FieldRule, at: At
) -> list[Value]:
    if not field.merge_key:
        if any(isinstance(element, dict | list) for element in [*merged, *order]):
            raise failure("the list has no merge key, so its order cannot be set", at)
        return in_order(merged, order, server, scalar)
    _check_order_keys(merged, order, field.merge_key, at)
    return in_order(merged, order, server, keyed(field.merge_key, at))


def _check_order_keys(merged: list[Value], order: list[Value], key: str, at: At) -> None:
    texts = [place for place, element in enumerate(order) if not isinstance(element, dict)]
    wanted: set[Hashable] = set()
    for element in order[: texts[0]] if texts else order:
        if key in element:
            wanted.add(identity_of(element[key], at))
    for element in merged:
        need_key(element, key, at)
        if texts and identity_of(element[key], at) not in wanted:
            raise failure(f"value for key {texts[0]} is not a map", (*at, texts[0]))
    for place, element in enumerate(order):
        need_key(element, key, (*at, place))


def _check_order(patch: list[Value], order: list[Value], field: FieldRule, at: At) -> None:
    """The patch's elements must stand in the order list, in the same relative order."""
    if not patch or not order:
        return
    key = field.merge_key
    left = [e for e in patch if not (key and same(_directive(e, at), "delete"))]
    place = 0
    while left and place < len(order):
        if isinstance(left[0], dict) and PATCH in left[0]:
            left.pop(0)
            continue
        if _equal(left[0], order[place], key, at):
            left.pop(0)
        place += 1
    if left:
        why = f"The order in patch list:\n{go_text(patch)}\n doesn't match {ORDER} list:\n"
        raise failure(why + go_text(order), at)


def _directive(element: Value, at: At) -> Value:
    if not isinstance(element, dict):
        raise failure(bad_type({}, element), at)
    return element.get(PATCH)


def _equal(left: Value, right: Value, key: str, at: At) -> bool:
    if not key:
        return same(left, right)
    for element in (left, right):
        need_key(element, key, at)
    return identity_of(left[key], at) == identity_of(right[key], at)
