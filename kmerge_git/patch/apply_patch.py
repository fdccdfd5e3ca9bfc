"""Applies a strategic merge patch exactly as the API server and kubectl do.

`merge_map` is the whole algorithm, in upstream's order: `$patch`, `$retainKeys`, every
`$setElementOrder/f`, then the other keys. Where Go walks a map in random order, or panics,
this has one answer: document order, `$deleteFromPrimitiveList` first, and an error.

With `as_patches` two patches become one: deletions and parallel keys are copied, not executed.

Lists of scalars are ordered sets, lists of maps are merged by their merge key. The order of
the result has the two traps of upstream: new elements come before those that the patch does
not name, and the "server order" of `$setElementOrder` is a piece of memory that the deletions
and additions before it have written to.

Applies a patch as a `patches:` entry of kustomize 5 does, where that differs from the server.

Maps: `$patch: delete` removes the key, `merge` is a word, new content is walked too, so that
directives work in it. Keyed lists: the patch's elements go to the front, the keys are those of
server-side apply (port and protocol) and compared as text. The other directives are plain fields.

Where kustomize loses data without a word (an element without its key makes it drop the other
elements, or ignore the patch), this is an error instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from typing import Any, Literal

from kmerge_git.errors import PatchError
from kmerge_git.patch.directives import DELETE, ORDER, PATCH, RETAIN_KEYS
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


MergeElement = Callable[[Map, Map, At], Map]
Identity = Callable[[Value], Hashable]
Placed = tuple[int, Value]  # an element and its place at the server
# a merged list, and what upstream takes for the server's order afterwards
Merged = tuple[list[Value], list[Value]]

_NO_KEY = object()  # the identity of an element without the merge key


def merge_lists(
    original: list[Value],
    patch: list[Value],
    field: FieldRule,
    at: At,
    merge_element: MergeElement,
    *,
    deleting: bool = False,
) -> Merged:
    """The patch list merged into the original; `deleting`: its scalars are to be removed."""
    if not original and not patch:
        return original, original
    if element_type(at, original, patch) is not dict:
        return _merge_scalars(original, patch, field, at, deleting=deleting)
    if not field.merge_key:
        why = f"cannot merge lists without merge key for {field.below.name()}"
        raise failure(why, at)
    return _merge_maps(original, patch, field.merge_key, at, merge_element)


def element_type(at: At, *lists: list[Value]) -> type:
    """The one type of all elements; mixed types, and lists in lists, are errors."""
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
    if field.merge_key:
        # Upstream looks for the merge key in the texts.
        raise failure(bad_type({}, original[0] if original else patch[0]), at)
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
    for here, element in plain:
        identity = identity_of(element[key], here)
        place = kept.find(identity)
        if place is None:
            kept.append(element, identity)
        else:
            kept.elements[place] = merge_element(kept.elements[place], element, here)
    for element in kept.elements:
        need_key(element, key, at)
    return in_order(kept.elements, additions, before, keyed(key, at)), kept.server


class _Survivors:
    """The original's elements under deletions and additions, and upstream's view of its memory.

    In Go both are one array: a deletion shifts what follows, and an addition is written into the
    place that became free. `server` is the array as it looks to those who kept its old length.
    """

    def __init__(self, original: list[Value], key: str, at: At) -> None:
        self.elements = list(original)
        self.server = list(original)
        self._ids = [identity_of(e[key], at) if key in e else _NO_KEY for e in original]
        self._places: dict[Hashable, int] | None = None

    def delete(self, identity: Hashable) -> None:
        while identity in self._ids:
            place, length = self._ids.index(identity), len(self._ids)
            del self._ids[place], self.elements[place]
            self.server[place : length - 1] = self.server[place + 1 : length]

    def find(self, identity: Hashable) -> int | None:
        if self._places is None:  # the deletions are over
            self._places = {known: place for place, known in reversed([*enumerate(self._ids)])}
        return self._places.get(identity)

    def append(self, element: Map, identity: Hashable) -> None:
        if len(self.elements) < len(self.server):
            self.server[len(self.elements)] = element
        assert self._places is not None  # find() comes first
        self._places[identity] = len(self.elements)
        self.elements.append(element)


def _special(element: Map, key: str, at: At) -> str:
    directive = element[PATCH]
    if directive == "delete":
        need_key(element, key, at)
    elif directive == "merge":
        raise failure("merging lists cannot yet be specified in the patch", at)
    elif directive != "replace":
        raise failure(bad_directive(directive, element), at)
    return str(directive)


def in_order(
    merged: list[Value], listed: list[Value], server: list[Value], identity: Identity
) -> list[Value]:
    """The merged elements: those listed in that order, woven into the server's order."""
    wanted = places_of(listed, identity)
    known = places_of(server, identity)
    named: list[tuple[int, int, Value]] = []  # the place in the list, at the server, the element
    rest: list[tuple[int, Value]] = []  # the place at the server, the element
    for element in merged:
        one = identity(element)
        if one in wanted:
            named.append((wanted[one], known.get(one, -1), element))
        else:
            rest.append((known.get(one, len(known)), element))
    named.sort(key=lambda item: item[0])
    rest.sort(key=lambda item: item[0])
    return _woven(rest, [item[1:] for item in named], len(known))


def _woven(left: list[Placed], right: list[Placed], unknown: int) -> list[Value]:
    out: list[Value] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i][0] < right[j][0] and left[i][0] != unknown:
            out.append(left[i][1])
            i += 1
        else:
            out.append(right[j][1])
            j += 1
    return out + [element for _, element in (*left[i:], *right[j:])]


def places_of(elements: list[Value], identity: Identity) -> dict[Hashable, int]:
    """Identity -> the first place where it stands."""
    places: dict[Hashable, int] = {}
    for place, element in enumerate(elements):
        places.setdefault(identity(element), place)
    return places


def scalar(value: Value) -> Hashable:
    """A scalar as a set member: `1`, `1.0` and true differ."""
    return (type(value), value)


def keyed(key: str, at: At) -> Identity:
    """The identity of a map: its value of the merge key (absent counts as null)."""

    def identity(element: Map) -> Hashable:
        value = element.get(key)
        return (type(value), value) if isinstance(value, str | int) else identity_of(value, at)

    return identity


def identity_of(value: Value, at: At) -> Hashable:
    """The value of a merge key as a set member; a map or list there makes upstream panic."""
    if isinstance(value, dict | list):
        raise failure(f"the merge key must be a scalar, here it is {go_text(value)}", at)
    return (type(value), value)


def need_key(element: Value, key: str, at: At) -> None:
    if not isinstance(element, dict):
        raise failure(bad_type({}, element), at)
    if key not in element:
        why = f"map: {go_text(element)} does not contain declared merge key: {key}"
        raise failure(why, at)


def bad_type(expected: Value, received: Value) -> str:
    return f"expected a {go_type(expected)}, but received a {go_type(received)}"


def bad_directive(directive: Value, element: Map) -> str:
    return f"unknown patch type: {go_string(directive)} in map: {go_text(element)}"


_GONE: Any = object()
_DIRECTIVES = ("delete", "replace", "merge")
_KINDS: dict[type, str] = {dict: "MappingNode", list: "SequenceNode"}


def apply_kustomize(original: Map, patch: Map, schema: Schema | None = None) -> Map:
    """The object after the patch; `{}` if the patch removes it."""
    if schema is None:
        kind = str(original.get("kind", ""))
        schema = Schema.find(str(original.get("apiVersion", "")), kind)
    directive = _directive_kustomize_patch(patch, ())
    if directive == "delete":
        return {}
    if directive == "replace":
        return copied(original)  # kustomize puts name and kind back, and nothing else arrives
    return copied(_merge_map(original, _plain(patch), schema, ()))


def _directive_kustomize_patch(patch: Map, at: At) -> str:
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
    directive = _directive_kustomize_patch(patch, at)
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
