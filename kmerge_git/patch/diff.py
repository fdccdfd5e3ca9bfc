"""The differences between two objects, as a strategic merge patch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kmerge_git.errors import PatchError
from kmerge_git.patch.directives import DELETE, ORDER, PATCH, RETAIN_KEYS
from kmerge_git.patch.lists import element_type, identity_of, keyed, need_key, places_of, scalar
from kmerge_git.patch.schema import FieldRule, Schema
from kmerge_git.patch.values import At, Map, Value, failure, go_text, same


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which differences go into the patch."""

    changes: bool = True  # changed and added fields
    deletions: bool = True
    order: bool = True  # `$setElementOrder`
    retain_keys: bool = False  # the map at hand stands under `retainKeys`


def diff_maps(original: Map, modified: Map, schema: Schema, at: At, wanted: Wanted) -> Map:
    """The patch between two maps."""
    patch: Map = {}
    for key, value in modified.items():
        here = (*at, key)
        if key not in original:
            _send(patch, key, value, wanted)
        elif key == PATCH:
            _send_marker(patch, original[key], value, here)
        elif type(original[key]) is not type(value):
            _send(patch, key, value, wanted)
        elif isinstance(value, dict):
            _diff_map_field(patch, key, original[key], value, schema, here, wanted)
        elif isinstance(value, list):
            _diff_list_field(patch, key, original[key], value, schema, here, wanted)
        elif not same(original[key], value):
            _send(patch, key, value, wanted)
    if wanted.deletions:
        patch |= dict.fromkeys(key for key in original if key not in modified)
    if wanted.retain_keys:
        gone = any(value is not None and key not in modified for key, value in original.items())
        kept = sorted(key for key, value in modified.items() if value is not None)
        if kept and (patch or gone):
            patch[RETAIN_KEYS] = kept
    return patch


def _send(patch: Map, key: str, value: Value, wanted: Wanted) -> None:
    if wanted.changes:
        patch[key] = value


def _send_marker(patch: Map, original: Value, modified: Value, at: At) -> None:
    if not isinstance(original, str) or not isinstance(modified, str):
        raise failure(f"invalid value for special key: {PATCH}", at)
    if original != modified:
        patch[PATCH] = modified


def _field(
    schema: Schema, key: str, original: Value, modified: Value, at: At, *, in_list: bool
) -> FieldRule | None:
    """The field, or None where it is unknown but nothing changed."""
    try:
        return schema.field(key, in_list=in_list, at=at)
    except PatchError:
        if same(original, modified):
            return None
        raise


def _diff_map_field(
    patch: Map, key: str, original: Map, modified: Map, schema: Schema, at: At, wanted: Wanted
) -> None:
    field = _field(schema, key, original, modified, at, in_list=False)
    if field is None:
        return
    if field.strategy == "replace":
        _send(patch, key, modified, wanted)
        return
    below = replace(wanted, retain_keys=field.retain_keys)
    changes = diff_maps(original, modified, field.below, at, below)
    if changes:
        patch[key] = changes


def _diff_list_field(
    patch: Map,
    key: str,
    original: list[Value],
    modified: list[Value],
    schema: Schema,
    at: At,
    wanted: Wanted,
) -> None:
    field = _field(schema, key, original, modified, at, in_list=True)
    if field is None:
        return
    if field.strategy != "merge":
        if not same(original, modified):
            _send(patch, key, modified, wanted)
        return
    if not original:
        if modified:
            _send(patch, key, modified, wanted)
        return
    differ = _diff_maps_list if element_type(at, original, modified) is dict else _diff_scalars
    changes, deletions, order = differ(original, modified, field, at, wanted)
    if changes:
        patch[key] = changes
    if deletions:
        patch[f"{DELETE}/{key}"] = deletions
    if order:
        patch[f"{ORDER}/{key}"] = order


Lists = tuple[list[Value], list[Value], list[Value]]  # changes, deletions, order


def _diff_scalars(
    original: list[Value], modified: list[Value], field: FieldRule, at: At, wanted: Wanted
) -> Lists:
    # Upstream sorts the original in place, and then asks whether the two lists differ: a list
    # that was only brought into sorted order gives no patch.
    before, after = _sorted(original), _sorted(modified)
    added, removed = _compare(before, after, go_text)
    places = places_of(modified, scalar)
    changes = sorted(added, key=lambda v: places[scalar(v)]) if wanted.changes else []
    deletions = list({scalar(v): v for v in removed}.values()) if wanted.deletions else []
    differ = wanted.changes and not same(before, modified)
    return changes, deletions, modified if wanted.order and (deletions or differ) else []


def _sorted(values: list[Value]) -> list[Value]:
    return sorted(values, key=go_text)


def _compare(
    before: list[Value], after: list[Value], text: Callable[[Value], str]
) -> tuple[list[Value], list[Value]]:
    """What two sorted lists have alone: added, removed."""
    added, removed, i, j = [], [], 0, 0
    while i < len(before) or j < len(after):
        if j == len(after) or (i < len(before) and text(before[i]) < text(after[j])):
            removed.append(before[i])
            i += 1
        elif i == len(before) or text(before[i]) > text(after[j]):
            added.append(after[j])
            j += 1
        else:
            i, j = i + 1, j + 1
    return added, removed


def _diff_maps_list(
    original: list[Value], modified: list[Value], field: FieldRule, at: At, wanted: Wanted
) -> Lists:
    key = field.merge_key
    if not key:
        raise failure(f"cannot merge lists without merge key for {field.below.name()}", at)
    for side in (original, modified):
        for place, element in enumerate(side):
            need_key(element, key, (*at, place))
    changes, deletions = _diff_elements(original, modified, field, at, wanted)
    places = places_of(modified, keyed(key, at))
    changes.sort(key=lambda element: places[identity_of(element[key], at)])
    changes += deletions
    moved = len(original) != len(modified) or any(
        identity_of(a[key], at) != identity_of(b[key], at)
        for a, b in zip(original, modified, strict=True)
    )
    ordered = changes or (wanted.changes and moved)
    order = [{key: element[key]} for element in modified] if wanted.order and ordered else []
    return changes, [], order


def _diff_elements(
    original: list[Map], modified: list[Map], field: FieldRule, at: At, wanted: Wanted
) -> tuple[list[Map], list[Map]]:
    """Changed and added elements, and the directives that delete the others."""
    key = field.merge_key
    below = replace(wanted, retain_keys=field.retain_keys)
    before, after = _by_key(original, key), _by_key(modified, key)
    changes: list[Map] = []
    deletions: list[Map] = []
    i = j = 0
    while i < len(before) or j < len(after):
        left, _, old = before[i] if i < len(before) else _END
        right, place, new = after[j] if j < len(after) else _END
        if i < len(before) and j < len(after) and left == right:
            pair = diff_maps(old, new, field.below, (*at, place), below)
            if pair:
                changes.append({key: new[key], **pair})
            i, j = i + 1, j + 1
        elif i == len(before) or (j < len(after) and left > right):
            if wanted.changes:
                changes.append(new)
            j += 1
        else:
            if wanted.deletions:
                deletions.append({key: old[key], PATCH: "delete"})
            i += 1
    return changes, deletions


_Keyed = tuple[str, int, Map]  # the key's text, the place in the list, the element
_END: _Keyed = ("", 0, {})


def _by_key(elements: list[Map], key: str) -> list[_Keyed]:
    # Go's sort here says "less" for equal keys too, which turns them round.
    keyed_elements = [(go_text(e[key]), place, e) for place, e in enumerate(elements)]
    return sorted(keyed_elements, key=lambda one: (one[0], -one[1]))
