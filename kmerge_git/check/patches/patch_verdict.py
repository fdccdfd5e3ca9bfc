"""Decide whether a file is a patch, by the first of the rules 0 to 11 that applies.

The rules are in docs/checks.md.
"""

from __future__ import annotations

from collections.abc import Callable
from posixpath import basename, normpath
from typing import NamedTuple

from kmerge_git.check.kustomize.kustomization import (
    Evidence,
    Kustomization,
    PatchEntry,
    is_kustomization,
    is_of_hive,
)
from kmerge_git.check.page_values import (
    List,
    Map,
    Plain,
    Text,
    Value,
    directives_below,
    is_object,
    is_values_file,
    mappings,
    may_be_builtin,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.patches.field_types import FieldType


# The fields at the top of objects, apart from apiVersion and kind.
OBJECT_FIELDS = frozenset(
    (
        "metadata", "spec", "data", "stringData", "binaryData", "rules", "subjects", "roleRef",
        "webhooks", "immutable", "type", "secrets", "imagePullSecrets", "status", "template",
        "parameters", "provisioner", "subsets", "endpoints", "ports", "aggregationRule",
        "automountServiceAccountToken", "value", "globalDefault", "description", "items",
    )
)  # fmt: skip
TELLING_FIELDS = frozenset(("metadata", "spec", "data", "stringData", "binaryData", "rules"))
WORKLOADS = frozenset(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"))
METADATA = frozenset(
    (
        "name", "generateName", "namespace", "labels", "annotations", "finalizers",
        "ownerReferences", "uid", "resourceVersion", "generation", "creationTimestamp",
        "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
    )
)  # fmt: skip
LABELLING = frozenset(("labels", "annotations", "finalizers", "ownerReferences"))
# Fields of specs of built-in kinds that hardly any other file has below `spec`.
SPECS = frozenset(
    (
        "replicas", "selector", "template", "containers", "initContainers", "strategy",
        "updateStrategy", "volumes", "nodeSelector", "tolerations", "affinity", "ports",
        "clusterIP", "externalTrafficPolicy", "loadBalancerIP", "serviceAccountName",
        "imagePullSecrets", "unschedulable", "taints", "jobTemplate", "minReplicas", "maxReplicas",
        "podSelector", "ingressClassName", "accessModes", "persistentVolumeReclaimPolicy",
        "storageClassName", "finalizers", "minAvailable", "maxUnavailable", "suspend", "paused",
    )
)  # fmt: skip
# the start of the name of a kubeadm patch -> apiVersion and kind of the patched object
KUBEADM = {
    **dict.fromkeys(
        ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"), ("v1", "Pod")
    ),
    "kubeletconfiguration": ("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"),
    "corednsdeployment": ("apps/v1", "Deployment"),
}
JOB_OF_KUSTOMIZE = ("builtin", "kustomize.config.k8s.io")


# number of a rule -> the words of a finding about the rule
RULES = {
    0: "an option of the command line says so",
    1: "listed as a resource of {}",
    2: "a patch of {}",
    3: "a patch of the transformer in {}",
    4: "a JSON 6902 patch",
    5: "an inline patch of {}",
    6: "its name is that of a kubeadm patch",
    7: "a script passes it to kubectl patch: {}",
    8: "its name or its folder is that of a patch ({})",
    9: "it has patch directives and is not a whole object",
    10: "it has the fields of an object, but no apiVersion and kind",
    11: "no other rule says that it is a patch",
}

GUESSED = (0, 8, 9)  # the rules that find a patch, but do not say which tool reads it

PATCH = "patch"  # a strategic merge patch
MANIFEST = "manifest"
JSON6902 = "JSON 6902"

BUILTIN, CUSTOM, UNKNOWN = "builtin", "custom", "unknown"  # kinds of the patched object


class Verdict(NamedTuple):
    """Hold whether a file is a patch, by which rule, and which tools read the file.

    In `tools`, K is kubectl with the API server, and Z is kustomize.
    """

    is_a: str
    rule: int
    tools: str = "KZ"
    where: str = ""
    entry: PatchEntry | None = None  # the entry of a kustomization that names the file
    kustomization: Kustomization | None = None  # the kustomization in which to find the target
    is_given: bool = False  # the command line names the tool that reads the file
    type: FieldType | None = None  # of the patched object
    # the words of other patches of the target; None if something unseen changes the target
    others: Callable[[], frozenset[str] | None] = frozenset

    @property
    def is_patch(self) -> bool:
        """Return whether the file is a strategic merge patch."""
        return self.is_a == PATCH

    @property
    def is_known(self) -> bool:
        """Return whether it is known which of the tools reads the file."""
        return self.is_given or self.rule not in GUESSED

    @property
    def known_tools(self) -> str:
        """Return the tools that are known to read the file, or ''."""
        return self.tools if self.is_known else ""

    @property
    def why(self) -> str:
        """Return a text such as `rule 2: a patch of kustomization.yaml`, or '' for a manifest."""
        rule = f"rule {self.rule}: {RULES[self.rule].format(self.where)}"
        return rule if self.is_a != MANIFEST else ""


def classify(
    path: str,
    plains: list[Plain],
    told: str,
    evidence: Evidence,
    script_with: Callable[[str], str],
) -> Verdict:
    """Return the verdict on a file; `script_with` finds a script that passes it to kubectl."""
    roots = [plain.root for plain in plains if plain.root is not None]
    near = evidence.near
    if told:
        return Verdict(_read_as(told, roots), 0, kustomization=near)
    if evidence.listed_by is not None:
        return Verdict(MANIFEST, 1, where=evidence.listed_by.path)
    if evidence.named_by is not None:
        kustomization, entry = evidence.named_by
        is_a = JSON6902 if entry.is_json6902 else _read_as(PATCH, roots)
        rule = entry.rule if is_a == PATCH else 4
        return Verdict(is_a, rule, "Z", entry.page.path, entry, kustomization)
    if _is_json6902(roots):
        return Verdict(JSON6902, 4)
    kubeadm = _kubeadm(path)
    if kubeadm is not None:
        return kubeadm
    is_mentioned = near is not None and normpath(path) in near.mentioned
    if is_mentioned or any(_is_for_another_tool(path, root) for root in roots):
        return Verdict(MANIFEST, 11)
    script = script_with(path)
    if script:
        return Verdict(PATCH, 7, "K", script, kustomization=near)
    has_directive = any(p.dollar and directives_below(p.root) for p in plains)
    return _by_content(path, roots, near, has_directive)


def _is_for_another_tool(path: str, root: Value) -> bool:
    """Return whether a document is for kustomize or Hive, and may hold patches."""
    is_job = root.string("apiVersion").startswith(JOB_OF_KUSTOMIZE)
    return is_job or is_kustomization(path, root) or is_of_hive(root)


def _by_content(
    path: str, roots: list[Value], near: Kustomization | None, has_directive: bool
) -> Verdict:
    """Apply rules 8 to 11, which look at the name, the directives and the fields of a file."""
    maps = [root for root in roots if isinstance(root, Map)]
    if any(is_values_file(path, root) for root in maps):
        return Verdict(MANIFEST, 11)
    ours = [root for root in maps if _is_kubernetes(root, has_directive)]
    reason = (_named_like_a_patch(path) or _not_listed(path, near)) if ours else ""
    rule = _rule_of_parts(ours, reason, has_directive) if ours and (reason or has_directive) else 0
    if rule:
        return Verdict(PATCH, rule, where=reason, kustomization=near)
    if has_directive:
        return Verdict(MANIFEST, 11, kustomization=near)
    if maps and len(maps) == len(roots) and all(_is_part_of_an_object(root) for root in maps):
        return Verdict(PATCH, 10, "K", kustomization=near)
    return Verdict(MANIFEST, 11)


def _rule_of_parts(ours: list[Map], reason: str, has_directive: bool) -> int:
    """Return the rule, 8 or 9, by which the objects of a file are patches; return 0 if none."""
    found = {wholeness(root) for root in ours}
    if reason and (has_directive or (PART in found and WHOLE not in found)):
        return 8
    return 9 if has_directive and PART in found and any(map(_is_partial, ours)) else 0


def _read_as(is_a: str, roots: list[Value]) -> str:
    """Return JSON6902 for a patch whose content is a list; otherwise return `is_a`."""
    return JSON6902 if is_a == PATCH and roots and isinstance(roots[0], List) else is_a


def _is_json6902(roots: list[Value]) -> bool:
    operations = roots[0].values if roots else []
    has_op = ["op" in value.fields for value in operations if isinstance(value, Map)]
    return (
        len(has_op) == len(operations)
        and any(has_op)
        and all("op" in v.fields or v.string("path").startswith("/") for v in operations)
    )


def _kubeadm(path: str) -> Verdict | None:
    """If a file is named like a kubeadm patch, return its verdict; otherwise return None."""
    name = basename(path)
    target, plus, kind = name.rpartition(".")[0].partition("+")
    if not target.startswith(tuple(KUBEADM)) or not name.endswith((".yaml", ".json")):
        return None
    is_in_patches = "patch" in path.rpartition("/")[0].lower()
    is_a = PATCH if kind == "strategic" or not plus else JSON6902
    return Verdict(is_a, 6, "K") if plus or is_in_patches else None


def kubeadm_kind(path: str) -> tuple[str, str]:
    """Return apiVersion and kind of the object that a kubeadm patch changes."""
    return next(kind for start, kind in KUBEADM.items() if basename(path).startswith(start))


def _named_like_a_patch(path: str) -> str:
    """Return the part of a path that contains the word `patch` (not `patched`), or ''."""
    name = basename(path)
    if name.endswith((".yaml", ".yml", ".json", ".kyaml")):
        words = _words(name.rpartition(".")[0])
        if "patch" in words or "patches" in words:
            return name
    return "patches/" if "patches" in normpath(path).split("/")[:-1] else ""


def _words(name: str) -> set[str]:
    """Return the words of a name such as `web-patch`, `webPatch`, `WEB_PATCH` or `HTTPPatch`."""
    spaced = ""
    for before, letter, after in zip(" " + name, name, name[1:] + " ", strict=False):
        starts = letter.isupper() and (before.islower() or after.islower())
        spaced += f" {letter}" if starts else letter if letter.isalpha() else " "
    return set(spaced.lower().split())


def _not_listed(path: str, near: Kustomization | None) -> str:
    """If an overlay's kustomization does not list a file, say so; otherwise return ''."""
    parts = normpath(path).split("/")[:-1]
    if near is None or "overlays" not in parts[:-1]:
        return ""
    return f"a file of an overlay that {near.path} does not list"


def _is_partial(root: Map) -> bool:
    """Return whether an object that contains a directive is a patch.

    A workload with a selector is a patch only if a container lacks its image.
    """
    is_workload = root.string("kind") in WORKLOADS and bool(root.string("apiVersion"))
    if not is_workload or root.get("spec", "selector") is None:
        return True
    maps = mappings(root) if may_be_builtin(root) else ()
    containers = (container for value in maps for _, container in value.maps("containers"))
    return any("image" not in container.fields for container in containers)


def _is_kubernetes(root: Map, has_directive: bool) -> bool:
    """Return whether a mapping is a Kubernetes object or a part of an object.

    If a mapping has a directive, one typical field is enough.
    """
    if root.string("apiVersion") and root.string("kind"):
        return is_object(root)
    return _is_bare_object(root) or (
        has_directive and any(isinstance(root.get(field), Map) for field in TELLING_FIELDS)
    )


def _is_part_of_an_object(root: Map) -> bool:
    """Return whether the fields of a mapping show that it is a part of an object."""
    metadata, spec = root.map("metadata"), root.map("spec")
    labels = metadata.fields if metadata is not None else {}
    known = SPECS.intersection(spec.fields) if spec is not None else LABELLING.intersection(labels)
    return _is_bare_object(root) and METADATA.issuperset(labels) and bool(known)


def _is_bare_object(root: Map) -> bool:
    fields = root.fields.keys()
    return (
        bool(fields)
        and not ("apiVersion" in fields and "kind" in fields)
        and OBJECT_FIELDS.issuperset(fields - {"apiVersion", "kind"})
        and not TELLING_FIELDS.isdisjoint(fields)
        and all(_is_telling(root, f) for f in TELLING_FIELDS & fields)
    )


def _is_telling(root: Map, field: str) -> bool:
    value = root.map(field)
    # many files have `data` at the top; in a ConfigMap or Secret it holds only texts
    return value is not None and (
        field in ("metadata", "spec") or all(isinstance(v, Text) for _, v in value.entries)
    )


# -- whole objects and parts of objects -----------------------------------------------------------

WHOLE, PART, UNDECIDED = "whole", "part", "undecided"

_IMAGES = "template.spec.containers[].image"
_WORKLOAD = ("spec.selector", f"spec.{_IMAGES}")  # patches have no selector
_JOB = (_IMAGES, "template.spec.restartPolicy")
_RULES = ("rules[].verbs",)
_BINDING = ("roleRef", "subjects")
_WEBHOOKS = ("webhooks[].clientConfig", "webhooks[].sideEffects")
# Kind -> the paths without which the API server refuses an object: `[]` means every element of
# a list that is not empty, and `|` separates alternatives.
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
    from kmerge_git.patch.field_shapes import is_builtin_group  # late: few files need the table

    api, kind = root.string("apiVersion"), root.string("kind")
    if not api or not kind:
        return PART
    if not is_builtin_group(api):
        return UNDECIDED  # the required fields of other groups are not known
    if not (root.string("metadata", "name") or root.string("metadata", "generateName")):
        return UNDECIDED if kind.endswith("List") else PART
    required = REQUIRED.get(kind)
    if required is not None:
        alternatives = ([path.split(".") for path in paths.split("|")] for paths in required)
        is_whole = all(any(_has(root, path) for path in paths) for paths in alternatives)
        return WHOLE if is_whole else PART
    fields = (field for value in mappings(root) for field in value.fields.items())
    # a patch removes a field by a null
    has_nulls = any(item.null and key not in WRITTEN_NULLS for key, (_, item) in fields)
    return PART if has_nulls else UNDECIDED


def _has(value: Value | None, steps: list[str]) -> bool:
    if value is None or value.null:
        return False
    if not steps:
        return not isinstance(value, List) or bool(value.values)
    if not steps[0].endswith("[]"):
        return _has(value.get(steps[0]), steps[1:])
    elements = value.items(steps[0][:-2])
    return bool(elements) and all(_has(element, steps[1:]) for element in elements)
