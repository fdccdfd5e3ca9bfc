"""D19-D22: elements of lists, compared with the schema and with the target."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.objects import directives_below
from kmerge_git.check.plain import Map, Text
from kmerge_git.check.registry import ELEMENT, ERROR, WARNING, Check, Found
from kmerge_git.check.spots import ABSENT, Spot
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
    tools="K", needs="S",
    kubectl='`"80"` and `80` are two keys: a second entry is added.',
    kustomize="They are one key.",
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
    "D21", WARNING, ELEMENT, "a port without `protocol`",
    tools="Z", needs="S",
    kubectl="It pairs ports by number alone.",
    kustomize="The patch is ignored if the entry of the base has a protocol (kustomize#3620).",
    example="ports:\n- containerPort: 8080\n  name: http",
    mend="Add `protocol: TCP`.",
)  # fmt: skip
def port_without_protocol(spot: Spot) -> Iterator[Found]:
    """A port that kustomize pairs by number and protocol, with the number alone."""
    key = spot.merge_key
    if "protocol" not in spot.server_keys:
        return
    if "protocol" in spot.map.fields or key not in spot.map.fields:
        return
    target = spot.target
    if target is ABSENT or (isinstance(target, Map) and "protocol" not in target.fields):
        return
    yield Found(
        spot.map.at_key(key),
        "kustomize ignores this patch if the base entry has a protocol; add protocol: TCP",
    )


@Check(
    "D22", WARNING, ELEMENT, "a value or source is switched without removing the old one",
    needs="T",
    kubectl="Both remain, and the API server refuses the object.",
    kustomize="Both remain in the output.",
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
        yield from _two_values(spot.map, target)
    elif parent.key == "volumes" and not ("K" in spot.tools and RETAIN_KEYS in spot.map.fields):
        yield from _two_sources(spot.map, target)


def _two_values(entry: Map, target: Map) -> Iterator[Found]:
    for new, old in (("value", "valueFrom"), ("valueFrom", "value")):
        if entry.has(new) and target.has(old) and old not in entry.fields:
            message = f"value and valueFrom would both remain; add {old}: null"
            yield Found(entry.at_key(new), message)


def _two_sources(volume: Map, target: Map) -> Iterator[Found]:
    new = next((k for k in volume.fields if k not in VOLUME_FIELDS and volume.has(k)), "")
    for old in target.fields if new else ():
        if old not in VOLUME_FIELDS and old not in volume.fields and target.has(old):
            message = f"the volume would have two sources, {old} and {new}; add {old}: null"
            yield Found(volume.at_key(new), message)
