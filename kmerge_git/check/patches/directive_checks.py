"""D01-D22: find wrong uses of `$patch` in mappings, in lists and in the elements of lists."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.checked_texts import shown
from kmerge_git.check.page_values import (
    List,
    Map,
    Text,
    Value,
    alike,
    directives_below,
    is_integer,
    is_set,
)
from kmerge_git.check.patches.patch_verdict import CUSTOM
from kmerge_git.check.patches.patch_walk import ABSENT, ListSpot, Spot
from kmerge_git.check.registry import ELEMENT, ERROR, LIST, MAP, WARNING, Check, Found, also
from kmerge_git.patch import PATCH, RETAIN_KEYS, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


# An object of a built-in kind needs these fields at every place where it has them.
NEEDED = ("spec", "template", "jobTemplate", "metadata")
# The fields of a volume that are not a source.
VOLUME_FIELDS = ("name", PATCH, RETAIN_KEYS)
KINDS: dict[type[Value], str] = {Map: "map", List: "list"}
BOTH = "kubectl merges both, kustomize uses the first; combine them"
OF_KUBECTL = "kubectl treats both as one element and merges them, even if they differ"


@Check(
    "D01", ERROR, MAP, "an unknown value of `$patch`",
    hides=("D03", "D04", "D05", "D06", "D07", "D08", "D10", "D11", "D12", "D13"),
    kubectl="The API server refuses the whole patch: `unknown patch type`. If the target does not "
    "have the map, the map is dropped without a message.",
    kustomize="The build fails, or kustomize copies the line to the output.",
    example="strategy:\n  $patch: remove",
    counter="strategy:\n  $patch: replace\n  type: Recreate",
    mend="Write `$patch: replace` or `$patch: delete`, in lower case.",
)  # fmt: skip
def unknown_value(spot: Spot) -> Iterator[Found]:
    """Find a `$patch` whose value is not replace, delete or merge, such as `remove` or null."""
    value = spot.directive
    if value not in (None, "replace", "delete", "merge"):
        place = f"{shown(spot.path)}: " if spot.path else ""
        message = f'"$patch: {value or "(nothing)"}" is not valid; use replace or delete'
        yield Found(spot.at, place + message)


@Check(
    "D02", ERROR, MAP, "`$patch: merge`",
    kubectl="The API server refuses the patch: `unknown patch type: merge`, or `merging lists "
    "cannot yet be specified in the patch`.",
    kustomize="kustomize ignores and removes the line. An element that has only its merge key "
    "then changes nothing (reported as a warning).",
    example="containers:\n- name: side\n  $patch: merge",
    counter="containers:\n- name: side\n  image: side:2",
    mend="Remove the line: both tools merge without it.",
)  # fmt: skip
def merge_value(spot: Spot) -> Iterator[Found]:
    """Find `$patch: merge`, which kustomize knows and the API server refuses."""
    if spot.directive == "merge" and "K" not in spot.tools:
        others = spot.map.fields.keys() - {PATCH, spot.merge_key, *spot.server_keys}
        if spot.element_of is not None and not others:
            what = "merging is the default, so this element changes nothing; did you mean delete?"
            yield Found(spot.at, what, severity=WARNING)
    elif spot.directive == "merge":
        yield Found(
            spot.at,
            "the API server refuses $patch: merge; merging is the default, so remove the line",
            fix=("drop",) if len(spot.map.fields) > 1 else (),
        )


@Check(
    "D03", ERROR, MAP, "other fields next to `$patch: delete` in a map",
    kubectl="The other fields are ignored without a message.",
    kustomize="The other fields are ignored without a message.",
    counter="rollingUpdate:\n  $patch: replace\n  maxSurge: 1",
    example="rollingUpdate:\n  $patch: delete\n  maxSurge: 1",
    mend="Remove the other fields, or write `$patch: replace` to replace the map with them.",
)  # fmt: skip
def siblings_of_delete(spot: Spot) -> Iterator[Found]:
    """Find fields next to `$patch: delete`; no tool reads such fields."""
    if spot.directive != "delete" or spot.element_of is not None or not spot.path:
        return
    others = [k for k in spot.map.fields if not is_directive(k)]
    if others:
        names = ", ".join(others[:4]) + (", .." if len(others) > 4 else "")
        verb = "is" if len(others) == 1 else "are"
        yield Found(spot.map.at_key(others[0]), f"{names} {verb} ignored next to $patch: delete")


@Check(
    "D04", WARNING, MAP, "`$patch: delete` of a whole `spec`, or in a map where null is better",
    kubectl="kubectl leaves an empty map, to which the API server may add defaults again. An "
    "object without its `spec` is refused (reported as an error).",
    kustomize="kustomize removes the key. This is wrong only for a `spec`.",
    example="spec:\n  $patch: delete",
    counter="strategy:\n  rollingUpdate: null",
    mend="Write null as the value (`rollingUpdate: null`): then both tools remove the key.",
)  # fmt: skip
def delete_of_a_map(spot: Spot) -> Iterator[Found]:
    """Find `$patch: delete` in a map that is the value of a field instead of a list element."""
    if spot.directive != "delete" or spot.element_of is not None or not spot.path:
        return
    name = str(spot.path[-1])
    if name in NEEDED and spot.kind != CUSTOM:
        message = f"this deletes all of {name}, which the object needs; delete only a part of it"
        yield Found(spot.at, message, severity=ERROR)
    elif "K" in spot.tools and spot.target is not ABSENT:
        yield Found(
            spot.at,
            f"kubectl leaves an empty map; write {name}: null to remove the key",
            fix=("null",) if len(spot.map.fields) == 1 else (),
        )


@Check(
    "D05", ERROR, MAP, "directives or nulls below `$patch: replace`",
    tools="K",
    kubectl="Everything below `$patch: replace` is stored unchanged: a directive becomes a field. "
    "A null becomes an empty value (reported as a warning).",
    kustomize="kustomize applies directives at any depth.",
    example="strategy:\n  $patch: replace\n  type: Recreate\n  rollingUpdate: null",
    counter="strategy:\n  $patch: replace\n  type: Recreate",
    mend="Remove these directives and nulls: `$patch: replace` already removes everything that is "
    "not written below it.",
)  # fmt: skip
def inside_replace(spot: Spot) -> Iterator[Found]:
    """Find directives and nulls at any depth of a map with `$patch: replace`."""
    if spot.directive == "replace" and spot.element_of is None:
        yield from _literal(spot.map, spot.path, set(), top=True)


def _literal(value: Value, path: Path, seen: set[int], *, top: bool) -> Iterator[Found]:
    if id(value) in seen:
        return
    seen.add(id(value))
    for step, item in value.entries:
        key = str(step) if value.fields else ""
        if is_directive(key):
            effect = "but stored as a field by kubectl; remove it"
            message = f"{key} has no effect below $patch: replace, {effect}"
            if not top:
                yield Found(value.at_key(key), message, path=path)
        elif key and item.null:
            message = f"null removes nothing below $patch: replace, but is stored; remove {key}"
            yield Found(value.at_key(key), message, path=(*path, key), severity=WARNING)
        else:
            yield from _literal(item, (*path, step), seen, top=False)


@Check(
    "D06", ERROR, MAP, "`$patch: replace` on a map that the target does not have",
    tools="K", needs="T",
    kubectl="The API server drops the whole map, including the content in the patch.",
    kustomize="kustomize adds the map with its content.",
    example="strategy:\n  $patch: replace\n  type: Recreate\n"
    "# file: target.yaml\nreplicas: 2",
    counter="strategy:\n  $patch: replace\n  type: Recreate\n"
    "# file: target.yaml\nstrategy:\n  type: RollingUpdate",
    mend="Remove the directive: a new map does not need it.",
)  # fmt: skip
def replace_of_nothing(spot: Spot) -> Iterator[Found]:
    """Find `$patch: replace` in a map that the patched object does not have."""
    if spot.directive == "replace" and spot.target is ABSENT and spot.element_of is None:
        effect = "the API server drops the map and its content; remove the directive"
        yield Found(spot.at, f"the target has no such map, so {effect}")


@Check(
    "D07", ERROR, MAP, "`$patch` at the top of a patch",
    kubectl="`$patch: delete` leaves an object without a kind, which the API server refuses. "
    "`$patch: replace` removes all fields that the patch does not have.",
    kustomize="`$patch: delete` removes the resource, as intended. With `$patch: replace`, the "
    "patch is ignored.",
    example="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n$patch: replace",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- path: web.yaml\n# file: web.yaml\n$patch: delete\napiVersion: apps/v1\n"
    "kind: Deployment\nmetadata:\n  name: web",
    mend="Delete a resource with `kubectl delete` or with a kustomize patch. To replace a "
    "resource, apply the whole manifest.",
)  # fmt: skip
def at_root(spot: Spot) -> Iterator[Found]:
    """Find `$patch: replace` at the top of a patch, or `$patch: delete` in a patch for kubectl."""
    if spot.path or spot.element_of is not None:
        return
    if spot.directive == "replace":
        yield Found(
            spot.at,
            "with $patch: replace at the top, kustomize ignores the patch and kubectl loses all "
            "other fields; write only the fields that change",
        )
    elif spot.directive == "delete" and "K" in spot.tools:
        yield Found(
            spot.at,
            "only kustomize can delete a resource with $patch: delete at the top; "
            "with kubectl use `kubectl delete`",
        )


@Check(
    "D08", WARNING, MAP, "`$patch` next to `$retainKeys`, `$setElementOrder/..` or "
    "`$deleteFromPrimitiveList/..`",
    kubectl="kubectl applies only `$patch`. Next to `$patch: replace`, it stores the other "
    "directives as fields.",
    kustomize="Next to `$patch: replace`, kustomize copies the other directives to the output.",
    counter="strategy:\n  $patch: replace\n  type: Recreate",
    example="strategy:\n  $patch: replace\n  $retainKeys: [type]\n  type: Recreate",
    mend="Keep only one of the directives.",
)  # fmt: skip
def beside_parallel(spot: Spot) -> Iterator[Found]:
    """Find another directive next to `$patch` in a map; only `$patch` has an effect."""
    if spot.directive not in ("replace", "delete", "merge"):
        return
    effect, severity = "is ignored next to $patch; remove it", ""
    if spot.directive == "replace":
        effect, severity = "is stored as a field next to $patch: replace; remove it", ERROR
    for key in spot.map.fields:
        if key != PATCH and is_directive(key):
            yield Found(spot.map.at_key(key), f"{key} {effect}", severity=severity)


@also("D05", LIST)
def inside_replaced_list(spot: ListSpot) -> Iterator[Found]:
    """Find directives and nulls in the elements of a list with `- $patch: replace`."""
    for number, element in spot.maps() if spot.is_replaced else ():
        if PATCH not in element.fields:
            yield from _literal(element, (*spot.path, number), set(), top=False)


@Check(
    "D10", ERROR, ELEMENT, "an element with `$patch: delete` but without its merge key",
    needs="S", hides=("D15",),
    kubectl="The API server refuses the patch: `does not contain declared merge key`.",
    kustomize="kustomize deletes every element of the list.",
    example="containers:\n- image: side:1\n  $patch: delete",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Add the merge key of the element that should be deleted.",
)  # fmt: skip
def delete_without_key(spot: Spot) -> Iterator[Found]:
    """Find an element with `$patch: delete` that lacks the merge key, such as its name."""
    key = spot.merge_key
    if spot.directive == "delete" and key and key not in spot.map.fields:
        needs = f'$patch: delete needs the merge key "{key}"'
        yield Found(spot.at, f"{needs}; kustomize would delete every element")


@Check(
    "D11", WARNING, ELEMENT, "an element with `$patch: delete` and more than its merge key",
    needs="S",
    kubectl="Only the merge key is read; the other fields are ignored.",
    kustomize="Only the merge key is read; the other fields are ignored.",
    example="containers:\n- name: side\n  image: side:1\n  $patch: delete",
    counter="containers:\n- $patch: delete\n  name: side\n- name: web\n  image: web:2",
    mend="Keep only the merge key and `$patch: delete`.",
)  # fmt: skip
def delete_with_content(spot: Spot) -> Iterator[Found]:
    """Find fields next to the merge key of an element with `$patch: delete`."""
    key = spot.merge_key
    if spot.directive != "delete" or not key or key not in spot.map.fields:
        return
    keys = {key, *spot.server_keys}
    extra = [k for k in spot.map.fields if k not in keys and not is_directive(k)]
    if extra:
        verb = "is" if len(extra) == 1 else "are"
        yield Found(
            spot.map.at_key(extra[0]), f"{', '.join(extra)} {verb} ignored next to $patch: delete"
        )


@Check(
    "D12", ERROR, LIST, "`$patch: replace` in an element with other fields",
    hides=("D13",),
    kubectl="kubectl replaces the whole list and drops this element.",
    kustomize="kustomize ignores the directive and the whole element (kustomize#2037).",
    counter="containers:\n- $patch: replace\n- name: web\n  image: web:2",
    example="containers:\n- name: web\n  image: web:2\n  $patch: replace",
    mend="Write `- $patch: replace` as an element of its own to replace the list. A single "
    "element cannot be replaced: delete its fields with null.",
)  # fmt: skip
def replace_in_element(spot: ListSpot) -> Iterator[Found]:
    """Find `$patch: replace` in a list element that has other fields as well.

    The directive replaces the whole list.
    """
    effect = "kubectl replaces the whole list and drops this element"
    if "K" not in spot.tools:
        effect = "kustomize ignores this whole element"
    elif "Z" in spot.tools:
        effect = f"{effect}; kustomize ignores the element"
    mend = 'to replace the list, write "- $patch: replace" as an element of its own'
    for element in spot.marked("replace"):
        is_added = "K" not in spot.tools and spot.found(element) is ABSENT
        if len(element.fields) > 1 and not is_added:
            yield Found(element.at_key(PATCH), f"{effect}; {mend}")


@Check(
    "D13", WARNING, LIST, "a list with `- $patch: replace` and also elements to delete, or a "
    "second `$patch: replace`",
    kubectl="The whole list is replaced, so there is nothing to delete in it.",
    kustomize="The whole list is replaced, so there is nothing to delete in it.",
    example="containers:\n- $patch: replace\n- name: side\n  $patch: delete\n- name: web",
    counter="containers:\n- $patch: replace\n- name: web\n  image: web:2",
    mend="Keep one `- $patch: replace` and the elements that the list should have.",
)  # fmt: skip
def replace_and_delete(spot: ListSpot) -> Iterator[Found]:
    """In a list with `- $patch: replace`, find a second one, or elements to delete."""
    replaced = spot.marked("replace")
    for value in replaced[1:]:
        yield Found(value.at_key(PATCH), "the list is already replaced; remove this marker")
    for value in spot.marked("delete") if replaced else ():
        yield Found(
            value.at_key(PATCH),
            "the list is replaced, so there is nothing to delete; remove this element",
        )


@Check(
    "D14", ERROR, LIST, "`$patch` in a list that patches always replace as a whole",
    needs="S", hides=("D04", "D10", "D11", "D12", "D13", "D15"),
    kubectl="kubectl replaces the whole list and stores the directive as a field.",
    kustomize="kustomize replaces the whole list and copies the directive to the output.",
    example="tolerations:\n- key: spot\n  $patch: delete",
    counter="tolerations:\n- key: spot\n  operator: Exists",
    mend="Write the whole list as it should be.",
)  # fmt: skip
def directive_in_atomic_list(spot: ListSpot) -> Iterator[Found]:
    """Find `$patch` in a list that patches replace as a whole, such as tolerations."""
    field = spot.field
    is_atomic = field is not None and field.kind == "list" and not field.merges
    effect = "replaced as a whole, and $patch would be stored as a field; write the whole list"
    for element in spot.marked() if is_atomic or spot.spot.kind == CUSTOM else ():
        yield Found(element.at_key(PATCH), f"{spot.key} is {effect}")


@also("D14", MAP)
def directive_in_replaced_map(spot: Spot) -> Iterator[Found]:
    """Find `$patch` in a map that patches replace as a whole, such as some selectors."""
    if "K" in spot.tools and "r" in spot.strategies and spot.directive in ("delete", "replace"):
        message = "kubectl replaces this map and stores $patch as a field; write the whole map"
        yield Found(spot.at, message)


@Check(
    "D15", ERROR, ELEMENT, "an element without its merge key",
    needs="S",
    kubectl="The API server refuses the patch: `does not contain declared merge key`.",
    kustomize="kustomize loses the other elements of the list (kustomize#5369).",
    example="containers:\n- image: web:2",
    counter="containers:\n- name: web\n  image: web:2",
    mend="Add the merge key of the element that the patch changes.",
)  # fmt: skip
def element_without_key(spot: Spot) -> Iterator[Found]:
    """Find an element of a keyed list that lacks the merge key."""
    key = spot.merge_key
    if key and key not in spot.map.fields and PATCH not in spot.map.fields:
        effect = "kubectl refuses it, and kustomize loses the other elements"
        yield Found(spot.map.at, f'this element lacks "{key}"; {effect}')


@Check(
    "D16", ERROR, LIST, "elements of different types in one list",
    hides=("D15",),
    needs="S",
    kubectl="The API server refuses the patch: `list element types are not identical`.",
    kustomize="kustomize loses the other elements of the list.",
    counter="args:\n- --port\n- null",
    example="containers:\n- null\n- name: web",
    mend="Write every element as a map with its merge key.",
)  # fmt: skip
def mixed_elements(spot: ListSpot) -> Iterator[Found]:
    """Find a null or a scalar in a list of maps, or a null in a merged list of scalars."""
    values, field = spot.list.values, spot.field
    if field is None or not (field.merges or field.of_maps):
        return  # the element type is not known, or the list replaces that of the target
    wanted = "map" if field.of_maps else "scalar"
    refused = "a merged list" if field.merges else "a list of maps"
    for value in values:
        kind = KINDS.get(type(value), "null" if value.null else "scalar")
        if kind != wanted:
            crash = " and may crash" if kind == "null" and value is values[0] else ""
            lost = "; kustomize loses the other elements" if field.merges and field.of_maps else ""
            message = f"elements of different types: kubectl refuses a {kind} among {wanted}s"
            yield Found(value.at, f"{message} in {refused}{crash}{lost}")


@Check(
    "D17", ERROR, LIST, "two elements of a patch with the same merge key",
    needs="S",
    kubectl="kubectl merges the two elements. If a field has two values, the last one wins.",
    kustomize="kustomize moves the first element to the front and ignores the other one.",
    counter="containers:\n- name: side\n  image: side:2\n- name: web\n  image: web:3",
    example="containers:\n- name: side\n  image: side:2\n- name: side\n  image: side:3",
    mend="Combine the two elements into one.",
)  # fmt: skip
def repeated_key(spot: ListSpot) -> Iterator[Found]:
    """Find two elements of a patch list with the same merge key."""
    seen: dict[tuple[str, ...], Map] = {}
    # kubectl pairs ports only by number; kustomize compares the protocol as well
    known = "K" in spot.spot.verdict.known_tools
    for names, element in _by_names(spot):
        ways = [(names, BOTH), (names[:1], OF_KUBECTL)][: 1 + known]
        for key, effect in [way for way in ways if way[0] in seen][:1]:
            severity = WARNING if alike(seen[key], element) else ""  # nothing is lost
            what = f"two elements with {spot.merge_key}: {key[0]}; {effect}"
            yield Found(element.at, what, severity=severity)
        for key in (names, names[:1]):
            seen.setdefault(key, element)


@Check(
    "D18", ERROR, LIST, "an element that a patch both deletes and sets",
    needs="S",
    kubectl="kubectl creates the element again, without the fields of the old one.",
    kustomize="kustomize reads only the first of the two entries, so it either deletes or changes "
    "the element.",
    counter="containers:\n- name: side\n  $patch: delete\n- name: new\n  image: side:2",
    example="containers:\n- name: side\n  $patch: delete\n- name: side\n  image: side:2",
    mend="Either delete the element or change it. To drop its old fields as well, replace the "
    "whole list.",
)  # fmt: skip
def deleted_and_set(spot: ListSpot) -> Iterator[Found]:
    """Find two elements with the same merge key, of which one has `$patch: delete`."""
    # a port may change its protocol: both tools delete the old port and add the new port
    keys = _keys(spot)
    deleted = [tuple(map(element.string, keys)) for element in spot.marked("delete")]
    for names, element in _by_names(spot) if not spot.is_replaced else ():
        if names in deleted:
            effect = "kubectl creates a new element, kustomize uses only the first of the two"
            yield Found(element.at, f"{keys[0]}: {names[0]} is both deleted and set; {effect}")


def _keys(spot: ListSpot) -> tuple[str, ...]:
    """Return the fields that identify the elements of a list, starting with the merge key."""
    keys = spot.field.keys if spot.field else ()
    return (spot.merge_key, *(key for key in keys if key != spot.merge_key))


def _by_names(spot: ListSpot) -> list[tuple[tuple[str, ...], Map]]:
    """Return the elements without a `$patch`, each with the values of its keys."""
    maps = [m for _, m in spot.maps() if PATCH not in m.fields and m.string(spot.merge_key)]
    return [(tuple(map(element.string, _keys(spot))), element) for element in maps]


@Check(
    "D19", ERROR, ELEMENT, "directives in an element that the target does not have",
    tools="K", needs="T", hides=("D06",),
    kubectl="Directives in a new element have no effect: they are stored as fields.",
    kustomize="kustomize applies these directives.",
    example="containers:\n- name: new\n  env:\n  - name: A\n    $patch: delete\n"
    "# file: target.yaml\ncontainers:\n- name: web",
    counter="containers:\n- name: web\n  env:\n  - name: A\n    $patch: delete\n"
    "# file: target.yaml\ncontainers:\n- name: web\n  env:\n  - name: A\n    value: x",
    mend="Remove the directives, or check the name of the element.",
)  # fmt: skip
def directive_in_new_element(spot: Spot) -> Iterator[Found]:
    """Find a directive in an element that the patch adds to a list.

    The API server stores the directive unchanged.
    """
    if spot.target is not ABSENT or PATCH in spot.map.fields:
        return
    for at, key in directives_below(spot.map):
        if not (key == RETAIN_KEYS and at == spot.map.at_key(RETAIN_KEYS)):  # D43 reports it
            what = f"{key} is stored as a field; remove it"
            yield Found(at, f"the target has no such element, so {what}")


@Check(
    "D20", ERROR, ELEMENT, "a merge key whose type differs from the schema",
    tools="K", needs="S", hides=("D78",),
    kubectl='For kubectl, `"80"` and `80` are different keys, so it adds a second element.',
    kustomize='For kustomize, `"80"` and `80` are the same key.',
    counter="ports:\n- port: 80\n  targetPort: 8080",
    example='ports:\n- port: "80"\n  targetPort: 8080',
    mend="Write the key with the type that the field has.",
)  # fmt: skip
def key_of_other_type(spot: Spot) -> Iterator[Found]:
    """Find a merge key of the wrong type: `port: "80"` for a number, or `name: 80` for a string."""
    key = spot.merge_key
    value, field = spot.map.get(key), spot.field(key)
    if not key or field is None or not isinstance(value, Text) or value.null:
        return
    is_number = value.is_plain and is_integer(value.text)
    if field.type == "integer" and not is_number:
        yield Found(value.at, f"{key} must be a number, or kubectl adds a second entry")
    elif field.type == "string" and is_number:
        yield Found(
            value.at,
            f"{key} must be a string, or kubectl refuses it or adds a second entry; quote it",
        )


@Check(
    "D21", ERROR, ELEMENT, "a port whose `protocol` is only in the patch or only in the base",
    tools="Z", needs="ST",
    kubectl="kubectl matches ports only by their number.",
    kustomize="kustomize matches ports by number and by the protocol as written in the file. It "
    "ignores the element of the patch if only the patch or only the base has the "
    "protocol (kustomize#3620).",
    example="ports:\n- containerPort: 8080\n  name: http\n"
    "# file: target.yaml\nports:\n- containerPort: 8080\n  protocol: TCP",
    counter="ports:\n- containerPort: 8080\n  name: http\n"
    "# file: target.yaml\nports:\n- containerPort: 8080",
    mend="Write the protocol as the base does, or omit it if the base omits it.",
)  # fmt: skip
def port_paired_with_nothing(spot: Spot) -> Iterator[Found]:
    """Find a port whose protocol is written only in the patch or only in the target."""
    key, parent, protocol = spot.merge_key, spot.element_of, spot.map.string("protocol")
    if "protocol" not in spot.server_keys or parent is None or not spot.name:
        return
    same = (value for value in parent.target_maps if value.string(key) == spot.name)
    there = [value.string("protocol") for value in same]
    if not there or protocol in there or (protocol and "" not in there):
        return  # the port is new, or its partner is found
    which = " and ".join(there)
    effect = f"is {which} in the base; add protocol" + f": {which}" * (len(there) == 1)
    if protocol:
        effect = "has no protocol in the base; remove it"
    message = f"kustomize ignores this element: {key} {spot.name} {effect}"
    yield Found(spot.map.at_key(key), message)


@Check(
    "D22", ERROR, ELEMENT, "a new `valueFrom`, `value` or volume source, but the old one remains",
    needs="T",
    kubectl="The object then has the old and the new field. The API server refuses that unless "
    "`value` is empty.",
    kustomize="The output has the old and the new field, and the API server refuses it.",
    example="env:\n- name: A\n  valueFrom:\n    fieldRef:\n      fieldPath: spec.nodeName\n"
    "# file: target.yaml\nenv:\n- name: A\n  value: x",
    counter="env:\n- name: A\n  value: null\n  valueFrom:\n    fieldRef:\n"
    "      fieldPath: spec.nodeName\n# file: target.yaml\nenv:\n- name: A\n  value: x",
    mend="Set the old field to null in the same patch. With kubectl, you can also use "
    "`$retainKeys` for a volume.",
)  # fmt: skip
def switched_source(spot: Spot) -> Iterator[Found]:
    """Find a patch that adds `valueFrom` to a `value`, or a second source to a volume."""
    parent, target = spot.element_of, spot.target
    if parent is None or not isinstance(target, Map) or PATCH in spot.map.fields:
        return
    if parent.key == "env":
        yield from _two_values(spot, target)
    elif parent.key == "volumes" and not ("K" in spot.tools and RETAIN_KEYS in spot.map.fields):
        yield from _two_sources(spot, target)


def _two_values(spot: Spot, target: Map) -> Iterator[Found]:
    entry = spot.map
    if spot.leaves("valueFrom") and target.string("value") and "value" not in entry.fields:
        at = entry.at_key("valueFrom")
        yield Found(at, "value and valueFrom would both remain; add value: null")
    elif entry.string("value") and _remains(spot, target, "valueFrom"):
        at = entry.at_key("value")
        yield Found(at, "value and valueFrom would both remain; add valueFrom: null")


def _two_sources(spot: Spot, target: Map) -> Iterator[Found]:
    volume = spot.map
    new = next((k for k in volume.fields if k not in VOLUME_FIELDS and is_set(volume, k)), "")
    for old in target.fields if new else ():
        if old not in VOLUME_FIELDS and old != new and _remains(spot, target, old):
            message = f"the volume would have two sources, {old} and {new}; add {old}: null"
            yield Found(volume.at_key(new), message)


def _remains(spot: Spot, target: Map, field: str) -> bool:
    """Return whether a field of the target remains after the patch.

    After `$patch: delete`, kubectl leaves an empty map, so the field remains. Any other field that
    the patch changes does not count, because the patch does not switch to another field then.
    """
    is_changed = field in spot.map.fields
    is_emptied = is_changed and not is_set(spot.map, field) and spot.leaves(field)
    return target.has(field) and (is_emptied or not is_changed)
