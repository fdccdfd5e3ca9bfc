"""The differences between two objects, as a strategic merge patch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeVar

from kmerge_git.errors import PatchError
from kmerge_git.patch.directives import DELETE, ORDER, PATCH, RETAIN_KEYS
from kmerge_git.patch.lists import element_type, identity_of, keyed, need_key, places_of, scalar
from kmerge_git.patch.schema import FieldRule, Schema
from kmerge_git.patch.values import At, Map, Value, failure, go_text, same

T = TypeVar("T")


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
        if key in original:
            _diff_field(patch, key, original[key], value, schema, (*at, key), wanted)
        else:
            _send(patch, key, value, wanted)
    if wanted.deletions:
        patch |= dict.fromkeys(key for key in original if key not in modified)
    if wanted.retain_keys:
        gone = any(value is not None and key not in modified for key, value in original.items())
        kept = sorted(key for key, value in modified.items() if value is not None)
        if kept and (patch or gone):
            patch[RETAIN_KEYS] = kept
    return patch


def _diff_field(
    patch: Map, key: str, original: Value, modified: Value, schema: Schema, at: At, wanted: Wanted
) -> None:
    if key == PATCH:
        _send_marker(patch, original, modified, at)
    elif type(original) is type(modified) in {dict, list}:
        in_list = isinstance(modified, list)
        field = _field(schema, key, original, modified, at, in_list=in_list)
        if field is not None:
            differ = _diff_list_field if in_list else _diff_map_field
            differ(patch, key, original, modified, field, at, wanted)
    elif not same(original, modified):
        _send(patch, key, modified, wanted)


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
    patch: Map, key: str, original: Map, modified: Map, field: FieldRule, at: At, wanted: Wanted
) -> None:
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
    field: FieldRule,
    at: At,
    wanted: Wanted,
) -> None:
    if field.strategy != "merge" or not original:
        if not same(original, modified):
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
    pairs = list(_side_by_side(before, after, go_text))
    added = [new for old, new in pairs if old is None]
    removed = [old for old, new in pairs if new is None]
    places = places_of(modified, scalar)
    changes = sorted(added, key=lambda v: places[scalar(v)]) if wanted.changes else []
    deletions = list({scalar(v): v for v in removed}.values()) if wanted.deletions else []
    differ = wanted.changes and not same(before, modified)
    return changes, deletions, modified if wanted.order and (deletions or differ) else []


def _sorted(values: list[Value]) -> list[Value]:
    return sorted(values, key=go_text)


def _side_by_side(
    before: list[T], after: list[T], text: Callable[[T], str]
) -> Iterator[tuple[T | None, T | None]]:
    """Two sorted lists in pairs of the same text; what one has alone stands beside None."""
    i = j = 0
    while i < len(before) or j < len(after):
        is_old = j == len(after) or (i < len(before) and text(before[i]) <= text(after[j]))
        is_new = i == len(before) or (j < len(after) and text(after[j]) <= text(before[i]))
        yield before[i] if is_old else None, after[j] if is_new else None
        i, j = i + is_old, j + is_new


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
    changes: list[Map] = []
    deletions: list[Map] = []
    pairs = _side_by_side(_by_key(original, key), _by_key(modified, key), itemgetter(0))
    for old, new in pairs:
        if old is not None and new is not None:
            pair = diff_maps(old[2], new[2], field.below, (*at, new[1]), below)
            if pair:
                changes.append({key: new[2][key], **pair})
        elif new is not None and wanted.changes:
            changes.append(new[2])
        elif old is not None and new is None and wanted.deletions:
            deletions.append({key: old[2][key], PATCH: "delete"})
    return changes, deletions


def _by_key(elements: list[Map], key: str) -> list[tuple[str, int, Map]]:
    """The key's text, the place in the list and the element, sorted by the text."""
    # Go's sort here says "less" for equal keys too, which turns them round.
    keyed_elements = [(go_text(e[key]), place, e) for place, e in enumerate(elements)]
    return sorted(keyed_elements, key=lambda one: (one[0], -one[1]))
