"""Make strategic merge patches between two objects, and the three-way patch of `kubectl apply`.

The result is the patch that kubectl would send, with the peculiarities of kubectl. A field with the
strategy `replace` is always sent. A scalar list that was only sorted gives no patch. Elements that
have the same merge key are sent in reverse order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeVar

from kmerge_git.errors import PatchConflict, PatchError
from kmerge_git.kube.fieldpath import show
from kmerge_git.patch import DELETE, ORDER, PATCH, RETAIN_KEYS, is_complete_directive
from kmerge_git.patch.applied_annotation import without_annotation
from kmerge_git.patch.apply_patch import (
    element_type,
    json_merged,
    keyed,
    merge_patches,
    need_key,
    need_merge_key,
    places_of,
    scalar,
    schema_of,
)
from kmerge_git.patch.json_values import At, Map, Value, copied, failure, go_text, same, sorted_keys
from kmerge_git.patch.patch_schema import FieldRule, Schema

Lists = tuple[list[Value], list[Value], list[Value]]  # the changes, the deletions and the order
T = TypeVar("T")


def make_patch(
    original: Map,
    modified: Map,
    schema: Schema | None = None,
) -> Map:
    """Return the strategic merge patch that turns the original object into the modified object."""
    return copied(diff_maps(original, modified, schema or schema_of(modified), (), Wanted()))


def make_patch3(
    original: Map,
    modified: Map,
    current: Map,
    schema: Schema | None = None,
    *,
    overwrite: bool = True,
) -> Map:
    """Return the patch that `kubectl apply` sends to bring the modified config into an object.

    A field that is only in the original config is deleted; a field that is only in the current
    object stays. Without `overwrite`, raise `PatchConflict` if the current object and the patch
    change a field in different ways.
    """
    schema = schema or schema_of(modified)
    delta = diff_maps(current, modified, schema, (), Wanted(deletions=False))
    deletions = diff_maps(original, modified, schema, (), Wanted(changes=False))
    patch = merge_patches(deletions, delta, schema)
    if not overwrite:
        changed = diff_maps(original, current, schema, (), Wanted(order=False))
        place = first_conflict(without_annotation(patch), without_annotation(changed), schema)
        if place is not None:
            raise _conflict(patch, changed, place)
    return patch


def _conflict(patch: Map, changed: Map, at: At = ()) -> PatchConflict:
    """Return an error that shows the conflicting changes.

    `at` is the path of the first conflict.
    """
    from kmerge_git.tree.emit import dump

    return PatchConflict(
        f"patch:\n{dump(sorted_keys(patch))}\n"
        f"conflicts with changes made from original to current:\n{dump(sorted_keys(changed))}\n",
        field=show(at),
        steps=at,
    )


# -- the differences between two objects


@dataclass(frozen=True, slots=True)
class Wanted:
    """Say which kinds of differences the patch should contain."""

    changes: bool = True  # fields that were changed or added
    deletions: bool = True
    order: bool = True  # `$setElementOrder`
    retain_keys: bool = False  # the strategy of this map has `retainKeys`


def diff_maps(original: Map, modified: Map, schema: Schema, at: At, wanted: Wanted) -> Map:
    """Return the patch that turns the original map into the modified map."""
    patch: Map = {}
    for key, value in modified.items():
        if key in original:
            patch |= _diff_field(key, original[key], value, schema, (*at, key), wanted)
        elif wanted.changes:
            patch[key] = value
    if wanted.deletions:
        patch |= dict.fromkeys(key for key in original if key not in modified)
    if wanted.retain_keys:
        gone = any(value is not None and key not in modified for key, value in original.items())
        kept = sorted(key for key, value in modified.items() if value is not None)
        if kept and (patch or gone):
            patch[RETAIN_KEYS] = kept
    return patch


def _diff_field(
    key: str, original: Value, modified: Value, schema: Schema, at: At, wanted: Wanted
) -> Map:
    """Return the keys and values that the patch needs for one field."""
    if key == PATCH:
        if not isinstance(original, str) or not isinstance(modified, str):
            raise failure(f"invalid value for special key: {PATCH}", at)
        return {PATCH: modified} if original != modified else {}
    if type(original) is not type(modified) or not isinstance(modified, dict | list):
        return {key: modified} if wanted.changes and not same(original, modified) else {}
    try:
        field = schema.field(key, in_list=isinstance(modified, list), at=at)
    except PatchError:
        if same(original, modified):
            return {}  # the field is unknown, but nothing changed
        raise
    if isinstance(modified, list):
        return _diff_list_field(key, original, modified, field, at, wanted)
    if field.strategy == "replace":
        return {key: modified} if wanted.changes else {}
    below = replace(wanted, retain_keys=field.retain_keys)
    changes = diff_maps(original, modified, field.below, at, below)
    return {key: changes} if changes else {}


def _diff_list_field(
    key: str,
    original: list[Value],
    modified: list[Value],
    field: FieldRule,
    at: At,
    wanted: Wanted,
) -> Map:
    if field.strategy != "merge" or not original:
        return {key: modified} if wanted.changes and not same(original, modified) else {}
    if element_type(at, original, modified) is dict:
        parts = _diff_maps_list(original, modified, field, at, wanted)
    else:
        parts = _diff_scalars(original, modified, wanted)
    keys = (key, f"{DELETE}/{key}", f"{ORDER}/{key}")
    return {name: part for name, part in zip(keys, parts, strict=True) if part}


def _diff_scalars(original: list[Value], modified: list[Value], wanted: Wanted) -> Lists:
    # kubectl sorts the original list in place, and then compares the two lists: a list
    # that was only sorted gives no patch.
    before, after = sorted(original, key=go_text), sorted(modified, key=go_text)
    pairs = list(_side_by_side(before, after, go_text))
    added = [new for old, new in pairs if old is None]
    removed = [old for old, new in pairs if new is None]
    places = places_of(modified, scalar)
    changes = sorted(added, key=lambda v: places[scalar(v)]) if wanted.changes else []
    deletions = list({scalar(v): v for v in removed}.values()) if wanted.deletions else []
    differ = wanted.changes and not same(before, modified)
    return changes, deletions, modified if wanted.order and (deletions or differ) else []


def _side_by_side(
    before: list[T], after: list[T], text: Callable[[T], str]
) -> Iterator[tuple[T | None, T | None]]:
    """Yield elements with equal texts from two sorted lists in pairs.

    An element without a partner is paired with None.
    """
    i = j = 0
    while i < len(before) or j < len(after):
        is_old = j == len(after) or (i < len(before) and text(before[i]) <= text(after[j]))
        is_new = i == len(before) or (j < len(after) and text(after[j]) <= text(before[i]))
        yield before[i] if is_old else None, after[j] if is_new else None
        i, j = i + is_old, j + is_new


def _diff_maps_list(
    original: list[Map], modified: list[Map], field: FieldRule, at: At, wanted: Wanted
) -> Lists:
    key = need_merge_key(field, at)
    for side in (original, modified):
        for place, element in enumerate(side):
            need_key(element, key, (*at, place))
    changes, deletions = _diff_elements(original, modified, field, at, wanted)
    identity = keyed(key, at)
    places = places_of(modified, identity)
    changes.sort(key=lambda element: places[identity(element)])
    changes += deletions
    moved = len(original) != len(modified) or any(
        identity(a) != identity(b) for a, b in zip(original, modified, strict=True)
    )
    ordered = changes or (wanted.changes and moved)
    order = [{key: element[key]} for element in modified] if wanted.order and ordered else []
    return changes, [], order


def _diff_elements(
    original: list[Map], modified: list[Map], field: FieldRule, at: At, wanted: Wanted
) -> tuple[list[Map], list[Map]]:
    """Return the changed and added elements, and a `$patch: delete` for each removed element."""
    key = field.merge_key
    below = replace(wanted, retain_keys=field.retain_keys)
    changes: list[Map] = []
    deletions: list[Map] = []
    # kubectl's sort function returns "less" for equal keys too, which reverses their order.
    before, after = (
        sorted(_with_keys(side, key), key=lambda one: (one[0], -one[1]))
        for side in (original, modified)
    )
    for old, new in _side_by_side(before, after, itemgetter(0)):
        if old is not None and new is not None:
            pair = diff_maps(old[2], new[2], field.below, (*at, new[1]), below)
            if pair:
                changes.append({key: new[2][key], **pair})
        elif new is not None and wanted.changes:
            changes.append(new[2])
        elif old is not None and new is None and wanted.deletions:
            deletions.append({key: old[2][key], PATCH: "delete"})
    return changes, deletions


def _with_keys(elements: list[Map], key: str) -> list[tuple[str, int, Map]]:
    """Return the elements as tuples: the text of the merge key, the index, and the element."""
    return [(go_text(element[key]), place, element) for place, element in enumerate(elements)]


# -- conflicts: two patches that change one field differently


def first_conflict(left: Map, right: Map, schema: Schema) -> At | None:
    """Return the path of the first field that the two patches change differently, or None.

    If the patches cannot be compared, an error is raised, but only if no conflict is found.
    """
    clashes = list(_clashes(left, right, FieldRule(schema), ()))
    places = [one for one in clashes if not isinstance(one, PatchError)]
    errors = [one for one in clashes if isinstance(one, PatchError)]
    if errors and not places:
        raise errors[0]
    return places[0] if places else None


def _clashes(left: Value, right: Value, known: FieldRule, at: At) -> Iterator[At | PatchError]:
    """Yield the paths where two values conflict, and the errors if values cannot be compared."""
    if isinstance(left, dict) and isinstance(right, dict):
        if any(PATCH in side for side in (left, right)) and not (
            PATCH in left and PATCH in right and same(left[PATCH], right[PATCH])
        ):
            yield at
        elif known.strategy != "replace":
            yield from _of_maps(left, right, known.below, at)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _of_lists(left, right, known, at)
    elif not same(left, right):
        yield at


def _of_maps(left: Map, right: Map, schema: Schema, at: At) -> Iterator[At | PatchError]:
    for key in left:
        # Deletions from a scalar list never conflict with each other, and neither do orders.
        if key not in right or is_complete_directive(key):
            continue
        here = (*at, key)
        try:
            known = FieldRule(schema)
            if isinstance(left[key], dict | list):
                known = schema.field(key, in_list=isinstance(left[key], list), at=here)
            yield from _clashes(left[key], right[key], known, here)
        except PatchError as error:
            yield error


def _of_lists(
    left: list[Value], right: list[Value], known: FieldRule, at: At
) -> Iterator[At | PatchError]:
    if not left and not right:
        return
    kind = element_type(at, left, right)
    plain = FieldRule(known.below)
    if known.strategy == "merge":
        if kind is dict:
            for element in [*right, *left]:
                need_key(element, known.merge_key, at)
            theirs = {text: element for text, _, element in _with_keys(right, known.merge_key)}
            ours = {text: (place, e) for text, place, e in _with_keys(left, known.merge_key)}
            for text, (place, element) in ours.items():
                if text in theirs:
                    yield from _clashes(element, theirs[text], plain, (*at, place))
        return
    if len(left) == len(right) and kind is not dict:
        left, right = _distinct(left), _distinct(right)
    if len(left) != len(right):
        yield at
        return
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        yield from _clashes(a, b, plain, (*at, place))


def _distinct(values: list[Value]) -> list[Value]:
    return sorted({scalar(v): v for v in values}.values(), key=go_text)


# -- JSON merge patches (RFC 7386), for kinds without a schema


def make_json_patch(original: Map, modified: Map) -> Map:
    """Return the JSON merge patch that turns the original object into the modified object."""
    return copied(_difference(original, modified))


def _difference(original: Map, modified: Map) -> Map:
    patch: Map = {}
    for key, value in modified.items():
        before = original.get(key)
        if key in original and isinstance(before, dict) and isinstance(value, dict):
            below = _difference(before, value)
            if below:
                patch[key] = below
        elif key not in original or not same(before, value):
            patch[key] = value
    return patch | dict.fromkeys(key for key in original if key not in modified)


def make_json_patch3(original: Map, modified: Map, current: Map) -> Map:
    """Return the patch that `kubectl apply` sends for a custom resource.

    The patch holds the additions and changes that turn `current` into `modified`, and the deletions
    that turn `original` into `modified`.
    """
    additions = _additions(_difference(current, modified))
    deletions = _deletions(_difference(original, modified))
    if json_has_conflicts(additions, deletions):
        raise _conflict(additions, deletions)
    return copied(json_merged(deletions, additions))


def _additions(patch: Map) -> Map:
    """Return the patch without nulls, and without maps that are empty when nulls are removed."""
    left = {
        key: _additions(value) if isinstance(value, dict) else value
        for key, value in patch.items()
        if value is not None
    }
    return {k: v for k, v in left.items() if v or not isinstance(v, dict) or not patch[k]}


def _deletions(patch: Map) -> Map:
    """Return only the null fields of the patch, with the maps around these fields."""
    left = {
        key: _deletions(value) if isinstance(value, dict) else None
        for key, value in patch.items()
        if value is None or isinstance(value, dict)
    }
    return {key: value for key, value in left.items() if value is None or value}


def json_has_conflicts(left: Value, right: Value) -> bool:
    """Return whether two JSON merge patches conflict.

    Lists are compared element by element, and scalars by type and value.
    """
    if type(left) is not type(right):
        return True
    if isinstance(left, dict):
        return any(json_has_conflicts(v, right[k]) for k, v in left.items() if k in right)
    if isinstance(left, list):
        return len(left) != len(right) or any(map(json_has_conflicts, left, right))
    return not same(left, right)
