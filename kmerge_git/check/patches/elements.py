"""D19-D22: elements of lists, compared with the schema and with the target."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.objects import directives_below, is_set
from kmerge_git.check.patches.spots import ABSENT, Spot
from kmerge_git.check.plain import List, Map, Text
from kmerge_git.check.registry import ELEMENT, ERROR, Check, Found
from kmerge_git.check.words import is_integer, is_plain
from kmerge_git.patch.directives import PATCH, RETAIN_KEYS

# The fields of a volume that are no source.
VOLUME_FIELDS = ("name", PATCH, RETAIN_KEYS)


@Check(
    "D19", ERROR, ELEMENT, "directives below an element that the target lacks",
    tools="K", needs="T", hides=("D06",),
    kubectl="In a new element no directive is executed: it is stored as a field.",
    kustomize="They are executed.",
    example="containers:\n- name: new\n  env:\n  - name: A\n    $patch: delete\n"
    "# file: target.yaml\ncontainers:\n- name: web",
    counter="containers:\n- name: web\n  env:\n  - name: A\n    $patch: delete\n"
    "# file: target.yaml\ncontainers:\n- name: web\n  env:\n  - name: A\n    value: x",
    mend="Drop the directives, or check the name of the element.",
)  # fmt: skip
def directive_in_new_element(spot: Spot) -> Iterator[Found]:
    """A directive below an element that the API server appends to the list as it is."""
    if spot.target is not ABSENT or PATCH in spot.map.fields:
        return
    for at, key in directives_below(spot.map):
        if not (key == RETAIN_KEYS and at == spot.map.at_key(RETAIN_KEYS)):  # D43 says it
            what = f"{key} is not executed but stored as a field; drop it"
            yield Found(at, f"the target has no such element, so {what}")


@Check(
    "D20", ERROR, ELEMENT, "a merge key of another type than the schema says",
    tools="K", needs="S", hides=("D78",),
    kubectl='`"80"` and `80` are two keys: a second entry is added.',
    kustomize="They are one key.",
    counter="ports:\n- port: 80\n  targetPort: 8080",
    example='ports:\n- port: "80"\n  targetPort: 8080',
    mend="Write the key with the type of the field.",
)  # fmt: skip
def key_of_other_type(spot: Spot) -> Iterator[Found]:
    """`port: "80"` where the schema has a number, or `name: 80` where it has a string."""
    key = spot.merge_key
    value, field = spot.map.get(key), spot.field(key)
    if not key or field is None or not isinstance(value, Text) or value.null:
        return
    is_number = is_plain(value) and is_integer(value.text)
    if field.type == "integer" and not is_number:
        yield Found(value.at, f"{key} is a number here; kubectl adds a second entry")
    elif field.type == "string" and is_number:
        yield Found(
            value.at, f"{key} is a string here; kubectl adds a second entry or refuses it; quote it"
        )


@Check(
    "D21", ERROR, ELEMENT, "a port with `protocol` where the base has it without, or without",
    tools="Z", needs="ST",
    kubectl="It pairs ports by number alone.",
    kustomize="It pairs them by number and protocol as they are written, and ignores the element "
    "if one of the two leaves the protocol out (kustomize#3620).",
    example="ports:\n- containerPort: 8080\n  name: http\n"
    "# file: target.yaml\nports:\n- containerPort: 8080\n  protocol: TCP",
    counter="ports:\n- containerPort: 8080\n  name: http\n"
    "# file: target.yaml\nports:\n- containerPort: 8080",
    mend="Write the protocol as the base has it, or leave it out where the base does.",
)  # fmt: skip
def port_paired_with_nothing(spot: Spot) -> Iterator[Found]:
    """A port whose number the target has, but not with what the patch says of its protocol."""
    key, outer = spot.merge_key, spot.element_of
    if "protocol" not in spot.server_keys or outer is None or not spot.map.text(key):
        return
    target = outer.target.values if isinstance(outer.target, List) else []
    there = [v.text("protocol") for v in target if isinstance(v, Map) and _same(key, v, spot.map)]
    protocol = spot.map.text("protocol")
    if not there or protocol in there or (protocol and "" not in there):
        return  # a new port, or one that is found
    number = f"{key} {spot.map.text(key)}"
    if protocol:
        message = f"kustomize ignores this element: {number} has no protocol in the base; drop it"
    else:
        which = " and ".join(there)
        message = f"kustomize ignores this element: {number} is {which} in the base; add protocol"
        message += f": {which}" if len(there) == 1 else ""
    yield Found(spot.map.at_key(key), message)


def _same(key: str, one: Map, other: Map) -> bool:
    return one.text(key) == other.text(key)


@Check(
    "D22", ERROR, ELEMENT, "a value or source is switched without removing the old one",
    needs="T",
    kubectl="Both remain, and the API server refuses the object; but an empty `value` may stay.",
    kustomize="Both remain in the output, which the API server refuses.",
    example="env:\n- name: A\n  valueFrom:\n    fieldRef:\n      fieldPath: spec.nodeName\n"
    "# file: target.yaml\nenv:\n- name: A\n  value: x",
    counter="env:\n- name: A\n  value: null\n  valueFrom:\n    fieldRef:\n"
    "      fieldPath: spec.nodeName\n# file: target.yaml\nenv:\n- name: A\n  value: x",
    mend="Set the old field to null in the same patch; for a volume `$retainKeys` works with "
    "kubectl too.",
)  # fmt: skip
def switched_source(spot: Spot) -> Iterator[Found]:
    """The target has `value`, the patch `valueFrom`, or the other way; or two volume sources."""
    parent, target = spot.element_of, spot.target
    if parent is None or not isinstance(target, Map) or PATCH in spot.map.fields:
        return
    if parent.key == "env":
        yield from _two_values(spot, target)
    elif parent.key == "volumes" and not ("K" in spot.tools and RETAIN_KEYS in spot.map.fields):
        yield from _two_sources(spot, target)


def _two_values(spot: Spot, target: Map) -> Iterator[Found]:
    entry = spot.map
    if spot.leaves("valueFrom") and target.text("value") and "value" not in entry.fields:
        at = entry.at_key("valueFrom")
        yield Found(at, "value and valueFrom would both remain; add value: null")
    elif entry.text("value") and _remains(spot, target, "valueFrom"):
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
    """Whether a field of the target stays: what kubectl deletes by `$patch` does, as an empty map.

    What the patch changes of it is another matter: then it does not switch to another one.
    """
    if field in spot.map.fields and is_set(spot.map, field):
        return False
    return target.has(field) and (field not in spot.map.fields or spot.leaves(field))
