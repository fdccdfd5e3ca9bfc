"""D19-D22: elements of lists, compared with the schema and with the target."""

from __future__ import annotations

from kmerge_git.check.directives import directives_below
from kmerge_git.check.plain import Map, Text, Value
from kmerge_git.check.registry import ELEMENT, ERROR, WARNING, Check, Found
from kmerge_git.check.walk import ABSENT, Spot
from kmerge_git.check.words import number_kind
from kmerge_git.patch.directives import PATCH, RETAIN_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# The fields of a volume that are no source.
VOLUME_FIELDS = ("name", PATCH, RETAIN_KEYS)


@Check(
    "D19", ERROR, ELEMENT, "directives below an element that the target lacks",
    tools="K", needs="T", hides=("D06",),
    kubectl="In a new element no directive is executed: it is stored as a field.",
    kustomize="They are executed.",
    example="# the Deployment has no container named new\ncontainers:\n- name: new\n  env:\n"
    "  - name: A\n    $patch: delete",
    mend="Drop the directives, or check the name of the element.",
)  # fmt: skip
def directive_in_new_element(spot: Spot) -> Iterator[Found]:
    """A directive where nothing is there to change."""
    if spot.target is not ABSENT or PATCH in spot.map.fields:
        return
    for at, key in directives_below(spot.map):
        if not (key == RETAIN_KEYS and at == spot.map.at_key(RETAIN_KEYS)):  # D43 says it
            yield Found(
                at,
                f"the target has no such element, so {key} is not executed but stored as a "
                "field; drop it",
            )


@Check(
    "D20", ERROR, ELEMENT, "a merge key of another type than the schema says",
    tools="K", needs="S",
    kubectl='`"80"` and `80` are two keys: a second entry is added.',
    kustomize="They are one key.",
    example='ports:\n- port: "80"\n  targetPort: 8080',
    mend="Write the key with the type of the field.",
)  # fmt: skip
def key_of_other_type(spot: Spot) -> Iterator[Found]:
    """`port: "80"`."""
    parent = spot.element_of
    key = parent.merge_key if parent else ""
    value = spot.map.get(key) if key else None
    field = spot.field(key) if key else None
    if field is None or field.kind != "scalar" or not isinstance(value, Text) or value.null:
        return
    is_number = number_kind(value)
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
    """A port that kustomize may not find."""
    parent = spot.element_of
    if parent is None or parent.field is None or "protocol" not in parent.field.keys:
        return
    key = parent.merge_key
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
    example="# the base has value: x\nenv:\n- name: A\n  valueFrom:\n    fieldRef:\n"
    "      fieldPath: spec.nodeName",
    mend="Set the old field to null in the same patch; for a volume `$retainKeys` works with "
    "kubectl too.",
)  # fmt: skip
def switched_source(spot: Spot) -> Iterator[Found]:
    """`value` to `valueFrom` or back; one volume source to another."""
    parent, target = spot.element_of, spot.target
    if parent is None or not isinstance(target, Map) or PATCH in spot.map.fields:
        return
    if parent.key == "env":
        for new, old in (("value", "valueFrom"), ("valueFrom", "value")):
            if _set(spot.map, new) and _set(target, old) and old not in spot.map.fields:
                yield Found(
                    spot.map.at_key(new), f"value and valueFrom would both remain; add {old}: null"
                )
    elif parent.key == "volumes" and not ("K" in spot.tools and RETAIN_KEYS in spot.map.fields):
        new_sources = [k for k in spot.map.fields if k not in VOLUME_FIELDS and _set(spot.map, k)]
        for old in target.fields:
            if old in VOLUME_FIELDS or old in spot.map.fields or not _set(target, old):
                continue
            for new in new_sources[:1]:
                yield Found(
                    spot.map.at_key(new),
                    f"the volume would have two sources, {old} and {new}; add {old}: null",
                )


def _set(value: Map, key: str) -> bool:
    found: Value | None = value.get(key)
    return found is not None and not (isinstance(found, Text) and found.null)
