"""Merges two lists the way upstream does: scalars as ordered sets, maps by their merge key.

Also the order of the result, with the two traps of upstream: new elements come before those the
patch does not name, and the "server order" of `$setElementOrder` is a piece of memory that the
deletions and additions before it have written to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from kmerge_git.patch.directives import PATCH
from kmerge_git.patch.schema import FieldRule
from kmerge_git.patch.values import At, Map, Value, failure, go_string, go_text, go_type

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
