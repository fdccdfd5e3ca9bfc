"""Apply a strategic merge patch exactly as the API server and kubectl do.

`merge_map` is the whole algorithm, in the order of kubectl's code: `$patch`, `$retainKeys`, every
`$setElementOrder/f`, then the other keys. Where Go reads a map in random order, this module uses
the order of the document, but `$deleteFromPrimitiveList` comes first. Where Go panics, this module
raises an error.

With `as_patches`, two patches are combined into one patch: deletions and directives are copied
instead of executed.

A list of scalars is an ordered set; a list of maps is merged by its merge key. The order of the
result has two surprises, as in kubectl. New elements come before the elements that the patch does
not name. And the "server order" that `$setElementOrder` uses is an array that earlier deletions and
additions have already overwritten.

`apply_kustomize` applies a `patches:` entry of kustomize 5, which has other rules.
`apply_json_patch` applies a JSON merge patch (RFC 7386) and treats nulls as the library of the API
server: if a list in a patch replaces a value that is not a map, nulls are removed from the maps in
that list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, Literal

from kmerge_git.errors import PatchError
from kmerge_git.patch import DELETE, ORDER, PATCH, RETAIN_KEYS
from kmerge_git.patch.json_values import (
    At,
    Map,
    Value,
    copied,
    failure,
    go_string,
    go_text,
    go_type,
    same,
)
from kmerge_git.patch.patch_schema import FieldRule, Schema

Flavor = Literal["kubectl", "kustomize"]
MergeElement = Callable[[Map, Map, At], Map]
Identity = Callable[[Value], Hashable]
Keys = tuple[str, ...]
# a merged list, and the list that kubectl then takes for the order at the server
Merged = tuple[list[Value], list[Value]]

_GONE: Any = object()  # stands for a field or an element that is removed
_NO_KEY = object()  # the identity of an element without the merge key
_STRATEGIES = ("delete", "replace", "merge")  # of kustomize
_KINDS: dict[type, str] = {dict: "MappingNode", list: "SequenceNode"}


def apply_patch(
    original: Map, patch: Map, schema: Schema | None = None, *, flavor: Flavor = "kubectl"
) -> Map:
    """Return the object after the patch.

    Without `schema`, use the schema of the object's built-in kind. `flavor="kustomize"` applies the
    patch as a kustomize `patches:` entry; if such a patch removes the whole resource, return `{}`.
    """
    if not isinstance(original, dict) or not isinstance(patch, dict):
        raise PatchError("invalid JSON document")
    if flavor == "kustomize":
        return apply_kustomize(original, patch, schema)
    result = copied(merge_map(original, patch, schema or schema_of(original), ()))
    if original.get("kind") and not result.get("kind"):
        text = json.dumps(result, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        raise PatchError(
            f"Object 'Kind' is missing in '{text}'",
            hint="the patch must not remove the kind",
        )
    return result


def schema_of(resource: Map) -> Schema:
    """Return the built-in schema of an object; raise `PatchError` for a custom resource."""
    return Schema.builtin(str(resource.get("apiVersion", "")), str(resource.get("kind", "")))


def merge_patches(first: Map, second: Map, schema: Schema) -> Map:
    """Combine two patches: return a patch with the effect of the first and then the second."""
    return copied(merge_map(first, second, schema, (), as_patches=True))


def merge_map(
    original: Map, patch: Map, schema: Schema, at: At, *, as_patches: bool = False
) -> Map:
    """Return a map after a patch. Neither the given map nor the patch is changed."""
    if PATCH in patch:
        if same(patch[PATCH], "replace"):
            return _plain(patch)
        if same(patch[PATCH], "delete"):
            return {}
        raise _bad_directive(patch, at)
    rest = dict(patch)
    result = _retained(original, rest, at, as_patches=as_patches)
    for key in [key for key in rest if key.startswith(ORDER)]:
        _set_order(result, rest, key, schema, at, as_patches=as_patches)
    for key in sorted(rest, key=lambda key: not key.startswith(DELETE)):
        _merge_field(result, key, rest[key], schema, at, as_patches=as_patches)
    return result


def _retained(original: Map, patch: Map, at: At, *, as_patches: bool) -> Map:
    """Return only those fields of the original that `$retainKeys` lists.

    `$retainKeys` is removed from the patch.
    """
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
            cleaned = without_directives(value if as_patches else without_nulls(value))
            if cleaned is _GONE:
                result.pop(key, None)
            else:
                result[key] = cleaned
        return
    result[key], before = value, result[key]
    if not isinstance(value, dict | list):
        return
    field = schema.field(key, in_list=isinstance(value, list), at=here)
    if isinstance(value, dict):
        if field.strategy != "replace":
            result[key] = merge_map(before, value, field.below, here, as_patches=as_patches)
    elif field.strategy == "merge" or deleting:
        merger = _merger(field.below, as_patches)
        result[key], _ = merge_lists(before, value, field, here, merger, deleting=deleting)


def _merger(below: Schema, as_patches: bool) -> MergeElement:
    """Return the function that merges two elements of a keyed list."""
    return lambda original, patch, at: merge_map(original, patch, below, at, as_patches=as_patches)


def _list_name(key: str, complaint: str, at: At) -> str:
    _, slash, name = key.partition("/")
    if not slash:
        raise failure(complaint, at)
    return name


def without_nulls(value: Value) -> Value:
    """Return the value without null map entries, at every depth; null list items stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def without_directives(value: Value) -> Value:
    """Return the value without the maps that hold `$patch`; other directives stay as data."""
    if isinstance(value, dict):
        if PATCH in value:
            return _GONE
        kept = ((key, without_directives(item)) for key, item in value.items())
        return {key: item for key, item in kept if item is not _GONE}
    if isinstance(value, list):
        return [item for item in map(without_directives, value) if item is not _GONE]
    return value


# -- the order of a list


def _set_order(
    result: Map, patch: Map, key: str, schema: Schema, at: At, *, as_patches: bool
) -> None:
    """Execute a directive `$setElementOrder/f`: merge the list `f`, and sort the result.

    The list `f` and the directive are removed from the patch.
    """
    here, order = (*at, key), patch.pop(key)
    if as_patches and not same(result.setdefault(key, order), order):
        raise failure("invalid patch format of setElementOrder list", here)
    _need(list, order, here)
    name = _list_name(key, "invalid patch format of setElementOrder list", here)
    there = (*at, name)
    for side in (result, patch):
        if name in side:
            _need(list, side[name], there)
    field = schema.field(name, in_list=True, at=there)
    ours, theirs = result.get(name), patch.get(name)
    _check_order(theirs or [], order, field, here)
    if not order or (ours is None and theirs is None):
        return  # kubectl sorts by an empty order at random, so an empty order is ignored
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
    """Return the merged list before sorting, and the list in the order of the server."""
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
    named = [element for element in order[: texts[0] if texts else None] if key in element]
    wanted = {identity_of(element[key], at) for element in named}
    for element in merged:
        need_key(element, key, at)
        if texts and identity_of(element[key], at) not in wanted:
            raise failure(f"value for key {texts[0]} is not a map", (*at, texts[0]))
    for place, element in enumerate(order):
        need_key(element, key, (*at, place))


def _check_order(patch: list[Value], order: list[Value], field: FieldRule, at: At) -> None:
    """Refuse a list in a patch that does not follow the order list of `$setElementOrder`.

    Every element of the patch must be in the order list, in the same relative order.
    """
    if not patch or not order:
        return
    key = field.merge_key
    left = []
    for element in patch:
        if key:
            _need(dict, element, at)
        if not (key and same(element.get(PATCH), "delete")):
            left.append(element)
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


def _equal(left: Value, right: Value, key: str, at: At) -> bool:
    if not key:
        return same(left, right)
    for element in (left, right):
        need_key(element, key, at)
    return identity_of(left[key], at) == identity_of(right[key], at)


# -- lists


def merge_lists(
    original: list[Value],
    patch: list[Value],
    field: FieldRule,
    at: At,
    merge_element: MergeElement,
    *,
    deleting: bool = False,
) -> Merged:
    """Merge the list of a patch into the original list.

    With `deleting`, the list of the patch holds the scalars to remove.
    """
    if not original and not patch:
        return original, original
    if element_type(at, original, patch) is not dict:
        return _merge_scalars(original, patch, field, at, deleting=deleting)
    return _merge_maps(original, patch, need_merge_key(field, at), at, merge_element)


def need_merge_key(field: FieldRule, at: At) -> str:
    """Return the merge key of a list of maps; if there is no merge key, raise `PatchError`."""
    if not field.merge_key:
        raise failure(f"cannot merge lists without merge key for {field.below.name()}", at)
    return field.merge_key


def element_type(at: At, *lists: list[Value]) -> type:
    """Return the common type of all elements; refuse mixed types, and lists inside lists."""
    kinds = [type(element) for elements in lists for element in elements]
    if not kinds:
        raise failure("no elements in any of the given slices", at)
    if kinds[0] is list:
        raise failure("lists of lists are not supported", at)
    if kinds[0] is type(None) or any(kind is not kinds[0] for kind in kinds):
        raise failure(f"list element types are not identical: {go_text(list(lists))}", at)
    return kinds[0]


def _merge_scalars(
    original: list[Value], patch: list[Value], field: FieldRule, at: At, *, deleting: bool
) -> Merged:
    named = {scalar(value) for value in patch}
    if deleting:
        return [v for v in original if scalar(v) not in named], original
    if field.merge_key:  # kubectl expects maps if the list has a merge key
        _need(dict, original[0] if original else patch[0], at)
    united = list({scalar(value): value for value in [*original, *patch]}.values())
    return in_order(united, patch, original, scalar), original


def _merge_maps(
    original: list[Value], patch: list[Value], key: str, at: At, merge_element: MergeElement
) -> Merged:
    kept = _Survivors(original, key, at)
    plain: list[tuple[At, Map]] = []
    replace = False
    for position, element in enumerate(patch):
        here = (*at, position)
        if PATCH not in element:
            plain.append((here, element))
        elif _special(element, key, here) == "replace":
            replace = True
        else:
            kept.delete(identity_of(element[key], here))
    for here, element in plain:
        need_key(element, key, here)
    additions = [element for _, element in plain]
    if replace:
        return in_order(additions, [], additions, keyed(key, at)), kept.server
    before = list(kept.elements)
    places = {known: place for place, known in reversed([*enumerate(kept.identities)])}
    for here, element in plain:
        place = places.setdefault(identity_of(element[key], here), len(kept.elements))
        if place == len(kept.elements):
            kept.append(element)
        else:
            kept.elements[place] = merge_element(kept.elements[place], element, here)
    for element in kept.elements:
        need_key(element, key, at)
    return in_order(kept.elements, additions, before, keyed(key, at)), kept.server


class _Survivors:
    """Delete and add elements of a list, and keep the "server order" that kubectl sees.

    In Go, `elements` and `server` share one array: a deletion shifts the later elements, and an
    addition is written into the free slot. `server` is that array as kubectl reads it, still with
    the old length.
    """

    def __init__(self, original: list[Value], key: str, at: At) -> None:
        self.elements = list(original)
        self.server = list(original)
        self.identities = [identity_of(e[key], at) if key in e else _NO_KEY for e in original]

    def delete(self, identity: Hashable) -> None:
        while identity in self.identities:
            place, length = self.identities.index(identity), len(self.elements)
            del self.identities[place], self.elements[place]
            self.server[place : length - 1] = self.server[place + 1 : length]

    def append(self, element: Map) -> None:
        if len(self.elements) < len(self.server):
            self.server[len(self.elements)] = element
        self.elements.append(element)


def _special(element: Map, key: str, at: At) -> str:
    directive = element[PATCH]
    if directive == "delete":
        need_key(element, key, at)
    elif directive == "merge":
        raise failure("merging lists cannot yet be specified in the patch", at)
    elif directive != "replace":
        raise _bad_directive(element, at)
    return str(directive)


def in_order(
    merged: list[Value], listed: list[Value], server: list[Value], identity: Identity
) -> list[Value]:
    """Return the merged elements in the order of `listed`.

    Between these, the elements that are not in `listed` keep the order of the server.
    """
    wanted, known = places_of(listed, identity), places_of(server, identity)
    unknown = len(known)
    named = [element for element in merged if identity(element) in wanted]
    named.sort(key=lambda element: wanted[identity(element)])
    rest = [(known.get(identity(e), unknown), e) for e in merged if identity(e) not in wanted]
    rest.sort(key=itemgetter(0))
    woven: list[Value] = []
    taken = 0
    for element in named:
        place = known.get(identity(element), -1)
        while taken < len(rest) and rest[taken][0] < place and rest[taken][0] != unknown:
            woven.append(rest[taken][1])
            taken += 1
        woven.append(element)
    return woven + [element for _, element in rest[taken:]]


# -- the identity of an element


def places_of(elements: list[Value], identity: Identity) -> dict[Hashable, int]:
    """Return the index of each identity; if an identity repeats, return the first index."""
    return {identity(elements[place]): place for place in reversed(range(len(elements)))}


def scalar(value: Value) -> Hashable:
    """Return a key for a scalar in a set. The keys of `1`, `1.0` and `true` differ."""
    return (type(value), value)


def keyed(key: str, at: At) -> Identity:
    """Return a function that identifies a map by its merge key. A missing key counts as null."""
    return lambda element: identity_of(element.get(key), at)


def identity_of(value: Value, at: At) -> Hashable:
    """Return a key for the value of a merge key in a set.

    Refuse a map or a list. kubectl panics in this case.
    """
    if isinstance(value, dict | list):
        raise failure(f"the merge key must be a scalar, not {go_text(value)}", at)
    return scalar(value)


def need_key(element: Value, key: str, at: At) -> None:
    """Refuse an element that is not a map, or that lacks the merge key."""
    _need(dict, element, at)
    if key not in element:
        why = f"map: {go_text(element)} does not contain declared merge key: {key}"
        raise failure(why, at)


def _need(kind: type, value: Value, at: At) -> None:
    if not isinstance(value, kind):
        raise failure(f"expected a {go_type(kind())}, but received a {go_type(value)}", at)


def _bad_directive(element: Map, at: At) -> PatchError:
    why = f"unknown patch type: {go_string(element[PATCH])} in map: {go_text(element)}"
    return failure(why, at)


# -- kustomize


def apply_kustomize(original: Map, patch: Map, schema: Schema | None = None) -> Map:
    """Return the object after a kustomize patch, or `{}` if the patch removes the object.

    In maps, `$patch: delete` removes the key, `$patch: merge` changes nothing, and directives work
    in new content too. In keyed lists, the elements of the patch go to the front. Elements are
    paired by the text of the keys that server-side apply uses (port and protocol). All other
    directives are plain fields.

    If an element lacks its key, kustomize silently drops the other elements or ignores the patch.
    This function raises an error for such a patch.
    """
    if schema is None:
        kind = str(original.get("kind", ""))
        schema = Schema.find(str(original.get("apiVersion", "")), kind)
    strategy = _strategy(patch, ())
    if strategy == "delete":
        return {}
    if strategy == "replace":  # kustomize restores name and kind, and ignores the rest
        return copied(original)
    return copied(_kustomized_map(original, _plain(patch), schema, ()))


def _strategy(patch: Map, at: At) -> str:
    strategy = patch.get(PATCH, "merge")
    if strategy not in _STRATEGIES:
        word = "null" if strategy is None else go_text(strategy)
        raise failure(f"unknown patch strategy '{word}'", at)
    return str(strategy)


def _plain(patch: Map) -> Map:
    return {key: value for key, value in patch.items() if key != PATCH}


def _kustomized(original: Value, patch: Value, schema: Schema | None, at: At) -> Value:
    """Return the patched value of a field, or `_GONE` if the patch removes the field."""
    if patch is None:
        return _GONE
    absent = original is _GONE or original is None
    if not absent and _kind(original) != _kind(patch):
        raise failure(f"wrong node kind: expected {_kind(original)} but got {_kind(patch)}", at)
    if not isinstance(patch, dict):
        return patch
    if absent and patch.get(PATCH) not in _STRATEGIES:
        return _kustomized_map({}, patch, schema, at)  # here any other directive is data
    strategy = _strategy(patch, at)
    if strategy == "delete":
        return _GONE
    keep = strategy == "merge" and not absent
    return _kustomized_map(original if keep else {}, _plain(patch), schema, at)


def _kind(value: Value) -> str:
    return _KINDS.get(type(value), "ScalarNode")


def _kustomized_map(original: Map, patch: Map, schema: Schema | None, at: At) -> Map:
    result = dict(original)
    for key, value in patch.items():
        here = (*at, key)
        before = result.get(key, _GONE)
        field = schema.field(key, in_list=isinstance(value, list), at=here) if schema else None
        if isinstance(value, list) and field and field.strategy == "merge":
            result[key] = _kustomized_list(before, value, field, here)
        else:
            result[key] = _kustomized(before, value, field.below if field else None, here)
    return {key: value for key, value in result.items() if value is not _GONE}


def _kustomized_list(original: Value, patch: list[Value], field: FieldRule, at: At) -> Value:
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
    maps = [element for element in [*original, *patch] if isinstance(element, dict)]
    if not maps:
        return list({go_text(value): value for value in [*patch, *original]}.values())
    return _kustomized_elements(original, patch, _used_keys(maps, field.list_keys), field, at)


def _used_keys(elements: list[Map], keys: Keys) -> Keys:
    """Return those list keys that at least one element has.

    If no element has a list key, return all list keys.
    """
    return tuple(key for key in keys if any(key in element for element in elements)) or keys


def _kustomized_elements(
    original: list[Value], patch: list[Value], keys: Keys, field: FieldRule, at: At
) -> list[Value]:
    places: dict[Keys, int] = {}
    for place, element in enumerate(original):
        if isinstance(element, dict) and all(key in element for key in keys):
            places.setdefault(_texts(element, keys), place)
    rest = list(original)
    seen: set[Keys] = set()
    front: list[Value] = []
    for position, element in enumerate(patch):
        here = (*at, position)
        if not isinstance(element, dict):
            raise failure(f"the element is not a map: {go_text(element)}", here)
        for key in keys:
            need_key(element, key, here)
        identity = _texts(element, keys)
        if identity in seen:
            continue  # of two elements with the same keys the first wins
        seen.add(identity)
        place = places.get(identity, -1)
        before = rest[place] if place >= 0 else _GONE
        # In kustomize `$patch: replace` on one element has no effect (kustomize#2037).
        ignored = place >= 0 and element.get(PATCH) == "replace"
        after = before if ignored else _kustomized(before, element, field.below, here)
        # Modified elements go to the front too, except in lists with more than one key.
        stays = place >= 0 and len(field.list_keys) > 1
        if place >= 0:
            rest[place] = after if stays else _GONE
        if not stays:
            front.append(after)
    return [element for element in [*front, *rest] if element is not _GONE]


def _texts(element: Map, keys: Keys) -> Keys:
    return tuple(go_text(element[key]) for key in keys)


# -- JSON merge patches (RFC 7386), for kinds without a schema


def apply_json_patch(original: Map, patch: Map) -> Map:
    """Return the object after the patch.

    Maps are merged, a field that is null in the patch is deleted, and lists and scalars are
    replaced.
    """
    if not isinstance(original, dict) or not isinstance(patch, dict):
        raise PatchError("invalid JSON document")
    return copied(json_merged(original, patch))


def json_merged(original: Map, patch: Map) -> Map:
    """Return a map after a JSON merge patch, sharing objects with both."""
    result = dict(original)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif not isinstance(result.get(key), dict):
            result[key] = without_nulls(value)
        else:
            result[key] = json_merged(result[key], value) if isinstance(value, dict) else value
    return result
