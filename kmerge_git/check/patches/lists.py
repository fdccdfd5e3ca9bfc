"""D10-D18: `$patch` in lists, and the keys that pair their elements."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.patches.maps import literal_list
from kmerge_git.check.patches.spots import ABSENT, ListSpot, Spot
from kmerge_git.check.patches.verdict import CUSTOM
from kmerge_git.check.plain import List, Map, Value, alike
from kmerge_git.check.registry import ELEMENT, ERROR, LIST, MAP, WARNING, Check, Found, also
from kmerge_git.patch.directives import PATCH, is_directive

BOTH = "kubectl merges both, kustomize keeps the first; make one of them"
OF_KUBECTL = "kubectl takes both for one and merges them, whatever else tells them apart"


@also("D05", LIST)
def inside_replaced_list(spot: ListSpot) -> Iterator[Found]:
    """Directives and nulls in the elements that `- $patch: replace` puts in place of the list."""
    if spot.is_replaced:
        yield from literal_list(spot.list, spot.path)


@Check(
    "D10", ERROR, ELEMENT, "an element to delete without its merge key",
    needs="S", hides=("D15",),
    kubectl="The API server refuses the patch: `does not contain declared merge key`.",
    kustomize="Every element of the list is deleted.",
    example="containers:\n- image: side:1\n  $patch: delete",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Name the element by its merge key.",
)  # fmt: skip
def delete_without_key(spot: Spot) -> Iterator[Found]:
    """`- {image: x, $patch: delete}`: the list is keyed by name, and no name is given."""
    key = spot.merge_key
    if spot.directive == "delete" and key and key not in spot.map.fields:
        needs = f'$patch: delete needs the merge key "{key}"'
        yield Found(spot.at, f"{needs}; kustomize would delete every element")


@Check(
    "D11", WARNING, ELEMENT, "an element to delete with more than its key",
    needs="S",
    kubectl="Only the merge key is read, the rest is ignored.",
    kustomize="Only the merge key is read, the rest is ignored.",
    example="containers:\n- name: side\n  image: side:1\n  $patch: delete",
    counter="containers:\n- $patch: delete\n  name: side\n- name: web\n  image: web:2",
    mend="Keep the key and `$patch: delete` alone.",
)  # fmt: skip
def delete_with_content(spot: Spot) -> Iterator[Found]:
    """Fields beside the merge key of an element with `$patch: delete`."""
    key = spot.merge_key
    if spot.directive != "delete" or not key or key not in spot.map.fields:
        return
    keys = {key, *spot.server_keys}
    extra = [k for k in spot.map.fields if k not in keys and not is_directive(k)]
    if extra:
        verb = "is" if len(extra) == 1 else "are"
        yield Found(spot.map.at_key(extra[0]), f"{', '.join(extra)} {verb} ignored; drop it")


@Check(
    "D12", ERROR, LIST, "`$patch: replace` in an element with content",
    hides=("D13",),
    kubectl="The whole list is replaced, and this element with its content is dropped.",
    kustomize="Nothing happens: what the element has else is thrown away as well (kustomize#2037).",
    counter="containers:\n- $patch: replace\n- name: web\n  image: web:2",
    example="containers:\n- name: web\n  image: web:2\n  $patch: replace",
    mend="Write `- $patch: replace` as an element of its own to replace the list. One element "
    "alone cannot be replaced: delete its fields with null.",
)  # fmt: skip
def replace_in_element(spot: ListSpot) -> Iterator[Found]:
    """`$patch: replace` beside other fields: it is about the list, not about the element."""
    effect = "replaces the WHOLE list and this element is dropped"
    if "K" not in spot.tools:
        effect = "has no effect in kustomize, which ignores the whole element"
    elif "Z" in spot.tools:
        effect = f"kubectl {effect}; kustomize ignores the element"
    mend = 'to replace the list, write "- $patch: replace" as an element of its own'
    for _, element in spot.maps():
        is_added = "K" not in spot.tools and spot.found(element) is ABSENT
        if element.text(PATCH) == "replace" and len(element.fields) > 1 and not is_added:
            yield Found(element.at_key(PATCH), f"{effect}; {mend}")


@Check(
    "D13", WARNING, LIST, "a replaced list with elements to delete, or with several markers",
    kubectl="The list is replaced; deleting in it is moot.",
    kustomize="The list is replaced; deleting in it is moot.",
    example="containers:\n- $patch: replace\n- name: side\n  $patch: delete\n- name: web",
    counter="containers:\n- $patch: replace\n- name: web\n  image: web:2",
    mend="Keep one `- $patch: replace` and the elements that shall be there.",
)  # fmt: skip
def replace_and_delete(spot: ListSpot) -> Iterator[Found]:
    """Elements with `$patch: delete`, or more markers, in a list that one marker replaces."""
    marked = [(v, v.text(PATCH)) for _, v in spot.maps() if PATCH in v.fields]
    replaced = [v for v, text in marked if text == "replace"]
    for value in replaced[1:]:
        yield Found(value.at_key(PATCH), "the list is replaced already; drop this marker")
    if replaced:
        for value, text in marked:
            if text == "delete":
                yield Found(value.at_key(PATCH), "the list is replaced, the delete is moot")


@Check(
    "D14", ERROR, LIST, "`$patch` in a list that is not merged",
    needs="S", hides=("D04", "D10", "D11", "D12", "D13", "D15"),
    kubectl="The list is replaced as a whole and the directive is stored as a field.",
    kustomize="The list is replaced as a whole and the directive stays in the output.",
    example="tolerations:\n- key: spot\n  $patch: delete",
    counter="tolerations:\n- key: spot\n  operator: Exists",
    mend="Write the whole list as it shall be.",
)  # fmt: skip
def directive_in_atomic_list(spot: ListSpot) -> Iterator[Found]:
    """`$patch` in a list that is replaced: tolerations, envFrom, any list of a custom resource."""
    custom = spot.spot.kind == CUSTOM
    atomic = spot.field is not None and spot.field.kind == "list" and not spot.field.merges
    if not (custom or atomic):
        return
    effect = "replaced as a whole; $patch would be stored as a field; write the whole list"
    for _, element in spot.maps():
        if PATCH in element.fields:
            yield Found(element.at_key(PATCH), f"{spot.key} is {effect}")


@also("D14", MAP)
def directive_in_replaced_map(spot: Spot) -> Iterator[Found]:
    """`$patch` in a map with the strategy replace: the selector of a PodDisruptionBudget."""
    if "K" in spot.tools and "r" in spot.strategies and spot.directive in ("delete", "replace"):
        message = "kubectl replaces this map and stores $patch as a field; write the whole map"
        yield Found(spot.at, message)


@Check(
    "D15", ERROR, ELEMENT, "an element without its merge key",
    needs="S",
    kubectl="The API server refuses the patch: `does not contain declared merge key`.",
    kustomize="The other elements of the list are lost (kustomize#5369).",
    example="containers:\n- image: web:2",
    counter="containers:\n- name: web\n  image: web:2",
    mend="Add the merge key, so that it is clear which element is meant.",
)  # fmt: skip
def element_without_key(spot: Spot) -> Iterator[Found]:
    """An element of a keyed list that has no merge key to be paired by."""
    key = spot.merge_key
    if key and key not in spot.map.fields and PATCH not in spot.map.fields:
        effect = "kubectl refuses it, kustomize loses the other elements"
        yield Found(spot.map.at, f'lacks "{key}"; {effect}')


@Check(
    "D16", ERROR, LIST, "elements of different types",
    hides=("D15",),
    needs="S",
    kubectl="The API server refuses it: `list element types are not identical`.",
    kustomize="The other elements of the list are lost.",
    counter="args:\n- --port\n- null",
    example="containers:\n- null\n- name: web",
    mend="Write every element as a map with its merge key.",
)  # fmt: skip
def mixed_elements(spot: ListSpot) -> Iterator[Found]:
    """A list with a null or a scalar beside maps, or a null in a list of scalars that is merged."""
    values, field = spot.list.values, spot.field
    if field is None or not (field.merges or field.of_maps):
        return  # what may be in it, nobody knows; or it replaces the other one as it is
    wanted = "map" if field.of_maps else "scalar"
    refused = "a merged list" if field.merges else "a list of maps"
    for value in values:
        kind = _kind(value)
        if kind != wanted:
            crash = " and may crash kubectl" if kind == "null" and value is values[0] else ""
            lost = "; kustomize loses the other elements" if field.merges and field.of_maps else ""
            message = f"elements of different types: a {kind} among {wanted}s is refused"
            yield Found(value.at, f"{message} in {refused}{crash}{lost}")


@Check(
    "D17", ERROR, LIST, "two elements with one merge key",
    needs="S",
    kubectl="Both are merged into the same element, the last one wins.",
    kustomize="The first one wins and moves to the front of the list, the other is thrown away.",
    counter="containers:\n- name: side\n  image: side:2\n- name: web\n  image: web:3",
    example="containers:\n- name: side\n  image: side:2\n- name: side\n  image: side:3",
    mend="Make one element of them.",
)  # fmt: skip
def repeated_key(spot: ListSpot) -> Iterator[Found]:
    """Two elements of a patch list with the same merge key."""
    seen: dict[tuple[str, ...], Map] = {}
    for keys, element in _plain_keys(spot):
        # kubectl pairs ports by number alone; kustomize looks at the protocol too
        for key, effect in ((keys, BOTH), (keys[:1], OF_KUBECTL)):
            if key in seen:
                severity = WARNING if alike(seen[key], element) else ""  # nothing is lost
                what = f"two elements with {spot.merge_key}: {key[0]}; {effect}"
                yield Found(element.at, what, severity=severity)
                break
            if "K" not in spot.spot.verdict.known_tools:
                break
        for key in (keys, keys[:1]):
            seen.setdefault(key, element)


@Check(
    "D18", ERROR, LIST, "an element that is deleted and set",
    needs="S",
    kubectl="The element is made new, without what the old one had.",
    kustomize="The first of the two counts: the element is only deleted, or only changed.",
    counter="containers:\n- name: side\n  $patch: delete\n- name: new\n  image: side:2",
    example="containers:\n- name: side\n  $patch: delete\n- name: side\n  image: side:2",
    mend="Delete it, or change it; to start afresh, replace the whole list.",
)  # fmt: skip
def deleted_and_set(spot: ListSpot) -> Iterator[Found]:
    """Two elements with the same merge key, one of them with `$patch: delete`."""
    key = spot.merge_key
    if not key or spot.is_replaced:
        return
    # a port may change its protocol: both tools delete the one and add the other
    keys = (key, *(k for k in (spot.field.keys if spot.field else ()) if k != key))
    deleted = [tuple(map(v.text, keys)) for _, v in spot.maps() if v.text(PATCH) == "delete"]
    for _, element in spot.maps():
        name = element.text(key)
        if name and PATCH not in element.fields and tuple(map(element.text, keys)) in deleted:
            effect = "kubectl makes a new element, kustomize does only the first of both"
            yield Found(element.at, f"{key}: {name} is deleted and set; {effect}")


def _plain_keys(spot: ListSpot) -> Iterator[tuple[tuple[str, ...], Map]]:
    """The elements without a directive, with what tells them apart: the merge key first."""
    key = spot.merge_key
    if not key or spot.field is None:
        return
    more = [k for k in spot.field.keys if k != key]
    for _, element in spot.maps():
        if PATCH not in element.fields and element.text(key):
            yield (element.text(key), *map(element.text, more)), element


def _kind(value: Value) -> str:
    if isinstance(value, Map):
        return "map"
    if isinstance(value, List):
        return "list"
    return "null" if value.null else "scalar"
