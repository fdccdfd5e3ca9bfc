"""Distinguish complete objects from patches, whatever the file names are.

For each kind, this module lists fields without which the API server refuses an object.
"""

from __future__ import annotations

from kmerge_git.check.page_values import List, Map, Value, mappings
from kmerge_git.patch.field_shapes import is_builtin_group

WHOLE, PART, UNDECIDED = "whole", "part", "undecided"

_IMAGES = "template.spec.containers[].image"
_WORKLOAD = ("spec.selector", f"spec.{_IMAGES}")  # patches have no selector
_JOB = (_IMAGES, "template.spec.restartPolicy")
_RULES = ("rules[].verbs",)
_BINDING = ("roleRef", "subjects")
_WEBHOOKS = ("webhooks[].clientConfig", "webhooks[].sideEffects")
# Kind -> the paths that every object must have: `[]` stands for every element of a list that is not
# empty, and `|` separates alternatives.
REQUIRED = {
    **dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), _WORKLOAD),
    "ReplicationController": ("spec.template.metadata.labels", f"spec.{_IMAGES}"),
    "Pod": ("spec.containers[].name", "spec.containers[].image"),
    "Job": tuple(f"spec.{path}" for path in _JOB),
    "CronJob": ("spec.schedule", *(f"spec.jobTemplate.spec.{path}" for path in _JOB)),
    "Service": (
        "spec.ports[].port|spec.externalName",
        "spec.selector|spec.clusterIP|spec.externalName|spec.externalIPs",
    ),
    "Role": _RULES,
    "ClusterRole": ("rules[].verbs|aggregationRule",),
    "RoleBinding": _BINDING,
    "ClusterRoleBinding": _BINDING,
    "CustomResourceDefinition": ("spec.group", "spec.names", "spec.scope", "spec.versions"),
    "Ingress": ("spec.rules[].http.paths[].backend|spec.defaultBackend|spec.backend",),
    "NetworkPolicy": ("spec.podSelector",),
    "PodDisruptionBudget": ("spec.selector", "spec.minAvailable|spec.maxUnavailable"),
    "HorizontalPodAutoscaler": ("spec.scaleTargetRef", "spec.maxReplicas"),
    "PersistentVolumeClaim": ("spec.accessModes", "spec.resources.requests.storage"),
    "PersistentVolume": ("spec.accessModes", "spec.capacity"),
    "StorageClass": ("provisioner",),
    "PriorityClass": ("value",),
    "IngressClass": ("spec.controller",),
    "RuntimeClass": ("handler",),
    "APIService": ("spec.groupPriorityMinimum", "spec.versionPriority"),
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingWebhookConfiguration": _WEBHOOKS,
    "ResourceQuota": ("spec.hard",),
    "LimitRange": ("spec.limits[].type",),
    "Endpoints": ("subsets",),
    "EndpointSlice": ("addressType", "endpoints"),
}
# fields that tools write as null into whole objects
WRITTEN_NULLS = ("creationTimestamp", "status")


def wholeness(root: Map) -> str:
    """Return WHOLE for a complete object, PART for a part of an object, else UNDECIDED."""
    api, kind = root.string("apiVersion"), root.string("kind")
    if not api or not kind:
        return PART
    if not is_builtin_group(api):
        return UNDECIDED  # the required fields of other groups are not known
    if not (root.string("metadata", "name") or root.string("metadata", "generateName")):
        return UNDECIDED if kind.endswith("List") else PART
    required = REQUIRED.get(kind)
    if required is not None:
        return WHOLE if all(_has_one(root, paths) for paths in required) else PART
    return PART if _has_nulls(root) else UNDECIDED


def _has_one(root: Map, paths: str) -> bool:
    return any(_has(root, path.split(".")) for path in paths.split("|"))


def _has(value: Value | None, steps: list[str]) -> bool:
    if value is None or value.null:
        return False
    if not steps:
        return not isinstance(value, List) or bool(value.values)
    if not steps[0].endswith("[]"):
        return _has(value.get(steps[0]), steps[1:])
    elements = value.items(steps[0][:-2])
    return bool(elements) and all(_has(element, steps[1:]) for element in elements)


def _has_nulls(root: Map) -> bool:
    """Return whether an object contains a null, by which a patch removes a field."""
    return any(
        item.null and key not in WRITTEN_NULLS
        for value in mappings(root)
        for key, (_, item) in value.fields.items()
    )
