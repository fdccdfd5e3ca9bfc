"""Applies a patch as a `patches:` entry of kustomize 5 does, where that differs from the server.

Maps: `$patch: delete` removes the key, `merge` is a word, new content is walked too, so that
directives work in it. Keyed lists: the patch's elements go to the front, the keys are those of
server-side apply (port and protocol) and compared as text. The other directives are plain fields.

Where kustomize loses data without a word (an element without its key makes it drop the other
elements, or ignore the patch), this is an error instead.
"""

from __future__ import annotations

from typing import Any

from kmerge_git.patch.directives import PATCH
from kmerge_git.patch.lists import need_key
from kmerge_git.patch.schema import FieldRule, Schema
from kmerge_git.patch.values import At, Map, Value, copied, failure, go_text

_GONE: Any = object()
_DIRECTIVES = ("delete", "replace", "merge")
_KINDS: dict[type, str] = {dict: "MappingNode", list: "SequenceNode"}


def apply_kustomize(original: Map, patch: Map, schema: Schema | None = None) -> Map:
    """The object after the patch; `{}` if the patch removes it."""
    if schema is None:
        kind = str(original.get("kind", ""))
        schema = Schema.find(str(original.get("apiVersion", "")), kind)
    directive = _directive(patch, ())
    if directive == "delete":
        return {}
    if directive == "replace":
        return copied(original)  # kustomize puts name and kind back, and nothing else arrives
    return copied(_merge_map(original, _plain(patch), schema, ()))


def _directive(patch: Map, at: At) -> str:
    directive = patch.get(PATCH, "merge")
    if directive not in _DIRECTIVES:
        word = "null" if directive is None else go_text(directive)
        raise failure(f"unknown patch strategy '{word}'", at)
    return str(directive)


def _plain(patch: Map) -> Map:
    return {key: value for key, value in patch.items() if key != PATCH}


def _merge(original: Value, patch: Value, schema: Schema | None, at: At) -> Value:
    """The value of a field; `_GONE`: the field goes."""
    if patch is None:
        return _GONE
    absent = original is _GONE or original is None
    if not absent and _kind(original) != _kind(patch):
        why = f"wrong node kind: expected {_kind(original)} but got {_kind(patch)}"
        raise failure(why, at)
    if not isinstance(patch, dict):
        return patch
    if absent and patch.get(PATCH) not in _DIRECTIVES:
        return _merge_map({}, patch, schema, at)  # what the directive may be, it is data here
    directive = _directive(patch, at)
    if directive == "delete":
        return _GONE
    keep = directive == "merge" and not absent
    return _merge_map(original if keep else {}, _plain(patch), schema, at)


def _kind(value: Value) -> str:
    return _KINDS.get(type(value), "ScalarNode")


def _merge_map(original: Map, patch: Map, schema: Schema | None, at: At) -> Map:
    result = dict(original)
    for key, value in patch.items():
        here = (*at, key)
        before = result.get(key, _GONE)
        field = schema.field(key, in_list=isinstance(value, list), at=here) if schema else None
        if isinstance(value, list) and field and field.strategy == "merge":
            after = _merge_list(before, value, field, here)
        else:
            after = _merge(before, value, field.below if field else None, here)
        if after is _GONE:
            result.pop(key, None)
        else:
            result[key] = after
    return result


def _merge_list(original: Value, patch: list[Value], field: FieldRule, at: At) -> Value:
    if original is _GONE or original is None:
        original = []
    if not isinstance(original, list):
        raise failure(f"wrong node kind: expected {_kind(original)} but got SequenceNode", at)
    markers = [e[PATCH] for e in patch if isinstance(e, dict) and e.keys() == {PATCH}]
    patch = [e for e in patch if not (isinstance(e, dict) and e.keys() == {PATCH})]
    if len(set(map(go_text, markers))) > 1:
        raise failure(f"the list has more than one directive: {go_text(markers)}", at)
    if "delete" in markers:
        return _GONE
    if "replace" in markers:
        original = []
    if not any(isinstance(element, dict) for element in [*original, *patch]):
        return list({go_text(value): value for value in [*patch, *original]}.values())
    keys = _used_keys([*original, *patch], field.list_keys)
    return _merge_elements(original, patch, keys, field, at)


def _used_keys(elements: list[Value], keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that any element has: a second key nobody writes counts for nothing."""
    used = (key for key in keys if any(isinstance(e, dict) and key in e for e in elements))
    return tuple(used) or keys


def _merge_elements(
    original: list[Value], patch: list[Value], keys: tuple[str, ...], field: FieldRule, at: At
) -> list[Value]:
    places: dict[tuple[str, ...], int] = {}
    for place, element in enumerate(original):
        if isinstance(element, dict) and all(key in element for key in keys):
            places.setdefault(_identity(element, keys), place)
    rest = list(original)
    seen: set[tuple[str, ...]] = set()
    front: list[Value] = []
    for position, element in enumerate(patch):
        here = (*at, position)
        identity = _patch_identity(element, keys, here)
        if identity in seen:
            continue  # the first of two wins
        seen.add(identity)
        found = places.get(identity)
        before = _GONE if found is None else rest[found]
        # `$patch: replace` on one element has no effect there (kustomize#2037).
        ignored = found is not None and element.get(PATCH) == "replace"
        after = before if ignored else _merge(before, element, field.below, here)
        # Modified elements go to the front too, but for lists with more than one key.
        stays = found is not None and len(field.list_keys) > 1
        if found is not None:
            rest[found] = after if stays else _GONE
        if not stays:
            front.append(after)
    return [element for element in [*front, *rest] if element is not _GONE]


def _identity(element: Map, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(go_text(element[key]) for key in keys)


def _patch_identity(element: Value, keys: tuple[str, ...], at: At) -> tuple[str, ...]:
    if not isinstance(element, dict):
        raise failure(f"the element is no map: {go_text(element)}", at)
    for key in keys:
        need_key(element, key, at)
    return _identity(element, keys)
