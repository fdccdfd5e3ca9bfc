"""Whether two patches of one object clash: changes to the same field that are not the same."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.errors import PatchError
from kmerge_git.patch.directives import PATCH, is_complete_directive
from kmerge_git.patch.lists import element_type, need_key
from kmerge_git.patch.schema import FieldRule, Schema
from kmerge_git.patch.values import At, Map, Value, go_text, same


def first_conflict(left: Map, right: Map, schema: Schema) -> At | None:
    """Where both patches first change one field differently.

    The whole of both is walked: an error counts only if there is no conflict anywhere.
    """
    met = list(_clashes(left, right, FieldRule(schema), ()))
    places = [one for one in met if not isinstance(one, PatchError)]
    errors = [one for one in met if isinstance(one, PatchError)]
    if errors and not places:
        raise errors[0]
    return places[0] if places else None


def json_has_conflicts(left: Value, right: Value) -> bool:
    """The same for JSON merge patches: lists by length and index, scalars by typed equality."""
    if type(left) is not type(right):
        return True
    if isinstance(left, dict):
        return any(json_has_conflicts(v, right[k]) for k, v in left.items() if k in right)
    if isinstance(left, list):
        return len(left) != len(right) or any(map(json_has_conflicts, left, right))
    return not same(left, right)


def _clashes(left: Value, right: Value, known: FieldRule, at: At) -> Iterator[At | PatchError]:
    """Where two values clash, and the errors on the way."""
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
        # Deletions from a set never clash with each other, and an order is no content.
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
            theirs = _by_key(right, known.merge_key, at)
            for key, (place, element) in _by_key(left, known.merge_key, at).items():
                if key in theirs:
                    yield from _clashes(element, theirs[key][1], plain, (*at, place))
        return
    if len(left) == len(right) and kind is not dict:
        left, right = _distinct(left), _distinct(right)
    if len(left) != len(right):
        yield at
        return
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        yield from _clashes(a, b, plain, (*at, place))


def _by_key(elements: list[Map], key: str, at: At) -> dict[str, tuple[int, Map]]:
    for element in elements:
        need_key(element, key, at)
    return {go_text(element[key]): (place, element) for place, element in enumerate(elements)}


def _distinct(values: list[Value]) -> list[Value]:
    return sorted({(type(v), v): v for v in values}.values(), key=go_text)
