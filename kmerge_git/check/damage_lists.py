"""M05, M06, M08, M09: lists whose elements have keys, as a careless merge leaves them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kmerge_git.check.keyed_lists import KeyedList
from kmerge_git.check.objects import is_set
from kmerge_git.check.plain import Map
from kmerge_git.check.registry import ERROR, KEYED, PATCH_KEYED, WARNING, Check, Found, also
from kmerge_git.check.templates import is_filled_in
from kmerge_git.patch.directives import PATCH

# The lists in which a repeated key breaks the object; in the others it is only odd.
BREAKING = frozenset(
    ("containers", "initContainers", "ephemeralContainers", "env", "ports", "volumes",
     "volumeMounts", "volumeDevices", "topologySpreadConstraints", "resourceClaims",
     "schedulingGates", "versions", "webhooks", "matchConditions", "variables")
)  # fmt: skip
# A node has two addresses of one type where it has two networks, and a container two requests of
# one claim: the keys of these lists are not what tells the elements apart.
REPEATING = frozenset(("addresses", "claims"))

MOST_SIDES = 3  # base, ours and theirs: a merge leaves no more behind


def _elements(found: KeyedList) -> Iterator[Map]:
    """The elements that are mappings and no directives."""
    for value in found.list.values:
        if isinstance(value, Map) and PATCH not in value.fields:
            yield value


@Check(
    "M05", ERROR, KEYED, "two elements with one key in a list that has keys",
    hides=("M22",),
    kubectl="Applying merges the two, or the API server refuses them as duplicates.",
    kustomize="Patches change only one of them.",
    example="env:\n- name: MODE\n  value: a\n- name: MODE\n  value: b",
    counter="env:\n- name: MODE\n  value: a\n- name: LEVEL\n  value: b",
    mend="Keep one of them: both sides of a merge may have added the element.",
)  # fmt: skip
def repeated_element(site: KeyedList) -> Iterator[Found]:
    """A repeated container, env entry, port (number and protocol), volume, mount, webhook, version.

    A port of a container under two names is a warning: the API server takes both and warns, too.
    """
    if site.name in BREAKING:
        yield from _repeated(site)


@Check(
    "M06", WARNING, KEYED, "two elements with one key in another list that has keys",
    hides=("M22",),
    kubectl="Applying on the server refuses them, a patch changes only one.",
    kustomize="Patches change only one of them.",
    example="imagePullSecrets:\n- name: registry\n- name: registry",
    counter="imagePullSecrets:\n- name: registry\n- name: mirror",
    mend="Keep one of them.",
)  # fmt: skip
def repeated_other_element(site: KeyedList) -> Iterator[Found]:
    """A repeated pull secret, host alias, owner reference, condition or the like."""
    if site.name not in BREAKING and site.name not in REPEATING:
        yield from _repeated(site)


def _repeated(site: KeyedList) -> Iterator[Found]:
    seen: dict[tuple[str, ...], Map] = {}
    first, default = site.keys[0]
    for value in _elements(site):
        parts = tuple(value.text(key) or default for key, default in site.keys)
        if not value.text(first) and not default:
            continue
        if parts in seen and not any(is_filled_in(part) for part in parts):
            shown = ", ".join(f"{k}: {p}" for (k, _), p in zip(site.keys, parts, strict=True) if p)
            what, severity = f"two elements with {shown} in {site.name}", ""
            if _is_port_of_two_names(value, seen[parts]):
                what, severity = f"{what} under two names; patches change only one of them", WARNING
            elif site.name not in BREAKING:
                what += "; patches and server-side apply take them for one"
            else:
                what += "; only one of them counts, or the API server refuses them"
            yield Found(value.at, what, path=site.path, severity=severity)
        seen[parts] = value


def _is_port_of_two_names(one: Map, other: Map) -> bool:
    return (
        "containerPort" in one.fields
        and bool(one.text("name") and other.text("name"))
        and one.text("name") != other.text("name")
    )


@also("M08", PATCH_KEYED)
@Check(
    "M08", ERROR, KEYED, "an env entry with both `value` and `valueFrom`",
    kubectl="The API server refuses the object.",
    kustomize="Both end up in the output.",
    example='env:\n- name: A\n  value: "1"\n  valueFrom:\n    secretKeyRef: {name: s, key: a}',
    counter="env:\n- name: A\n  value: \"\"\n  valueFrom:\n    secretKeyRef: {name: s, key: a}",
    mend="Keep one of them: the sides of a merge may have chosen differently.",
)  # fmt: skip
def value_and_value_from(site: KeyedList) -> Iterator[Found]:
    """An env entry has a `value` of one side of a merge and a `valueFrom` of the other.

    An empty `value` says nothing: the API server takes it beside a `valueFrom`.
    """
    if site.name == "env":
        for entry in _elements(site):
            source = entry.map("valueFrom") if is_set(entry, "valueFrom") else None
            if entry.text("value") and source is not None and _is_meant(source.fields):
                at, name = max(entry.at_key("value"), entry.at_key("valueFrom")), entry.text("name")
                message = f"{name} has both value and valueFrom; the API server refuses that"
                yield Found(at, message, path=(*site.path, (("name", name),)))


def _is_meant(sources: Collection[str]) -> bool:
    """Whether somebody may have meant it: an object with every field shows what an API has."""
    return len(sources) <= MOST_SIDES


@also("M09", PATCH_KEYED)
@Check(
    "M09", ERROR, KEYED, "a volume with two sources",
    kubectl="The API server refuses the object: `may not specify more than 1 volume type`.",
    kustomize="Both end up in the output.",
    example="volumes:\n- name: data\n  emptyDir: {}\n  hostPath:\n    path: /data",
    counter="volumes:\n- name: data\n  emptyDir: {}\n- name: logs\n  hostPath:\n    path: /data",
    mend="Keep one of them: the sides of a merge may have chosen differently.",
)  # fmt: skip
def two_volume_sources(site: KeyedList) -> Iterator[Found]:
    """A volume has an `emptyDir` of one side of a merge and a claim of the other."""
    if site.name != "volumes":
        return
    for volume in _elements(site):
        sources = [k for k in volume.fields if k != "name" and k[:1] != "$" and is_set(volume, k)]
        if len(sources) > 1 and _is_meant(sources):
            name = volume.text("name")
            what = f"volume {name} has two sources, {sources[0]} and {sources[1]}"
            message = f"{what}; the API server refuses that"
            path = (*site.path, (("name", name),))
            yield Found(volume.at_key(sources[1]), message, path=path)
