"""Is this file a patch? The first rule that says yes or no decides (docs/checks.md, rules 0-11)."""

from __future__ import annotations

from collections.abc import Callable
from posixpath import basename, normpath

from kmerge_git.check.evidence import Evidence
from kmerge_git.check.kustomization import Kustomization, PatchEntry, is_kustomization
from kmerge_git.check.objects import directives_below
from kmerge_git.check.plain import List, Map, Plain, Text, Value, collections
from kmerge_git.check.verdict import JSON6902, MANIFEST, PATCH, Verdict

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
# how the names of kubeadm's patches begin -> apiVersion and kind of what they are for
KUBEADM = {
    **dict.fromkeys(
        ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"), ("v1", "Pod")
    ),
    "kubeletconfiguration": ("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"),
    "corednsdeployment": ("apps/v1", "Deployment"),
}
JOB_OF_KUSTOMIZE = ("builtin", "kustomize.config.k8s.io")


def classify(
    path: str,
    plains: list[Plain],
    told: str,
    evidence: Evidence,
    script_with: Callable[[str], str],
) -> Verdict:
    """The verdict about a file; `script_with` finds the script that gives it to kubectl patch."""
    roots = [p.root for p in plains if p.root is not None]
    near = evidence.near
    if told:
        return _told(told, roots, near)
    if evidence.listed_by is not None:
        return Verdict(MANIFEST, 1, where=evidence.listed_by.path)
    if evidence.named_by is not None:
        return _named(*evidence.named_by, roots)
    if _is_json6902(roots):
        return Verdict(JSON6902, 4)
    kubeadm = _kubeadm(path)
    if kubeadm is not None:
        return kubeadm
    if _for_kustomize_itself(path, roots) or (near is not None and near.names(path)):
        return Verdict(MANIFEST, 11)
    script = script_with(path)
    if script:
        return Verdict(PATCH, 7, "K", script, kustomization=near)
    has_directive = any(p.dollar and directives_below(p.root) for p in plains)
    return _by_content(path, roots, near, has_directive)


def _by_content(
    path: str, roots: list[Value], near: Kustomization | None, has_directive: bool
) -> Verdict:
    """Rules 8 to 11: what the name, the directives and the fields of a file say."""
    maps = [root for root in roots if isinstance(root, Map)]
    if has_directive or any(_is_kubernetes(root) for root in maps):
        reason = _named_like_a_patch(path) or _not_listed(path, near)
        if reason:
            return Verdict(PATCH, 8, where=reason, kustomization=near)
    if has_directive:
        partial = any(_is_partial(root) for root in maps)
        return Verdict(PATCH if partial else MANIFEST, 9 if partial else 11, kustomization=near)
    if maps and len(maps) == len(roots) and all(_is_bare_object(root) for root in maps):
        return Verdict(PATCH, 10, "K", kustomization=near)
    return Verdict(MANIFEST, 11)


def _told(told: str, roots: list[Value], near: Kustomization | None) -> Verdict:
    if told == PATCH and _is_json6902(roots):
        return Verdict(JSON6902, 4)
    return Verdict(told, 0, kustomization=near)


def _named(kustomization: Kustomization | None, entry: PatchEntry, roots: list[Value]) -> Verdict:
    if entry.is_json6902 or _is_json6902(roots):
        return Verdict(JSON6902, 4, "Z", entry.page.path, entry, kustomization)
    return Verdict(PATCH, entry.rule, "Z", entry.page.path, entry, kustomization)


def _is_json6902(roots: list[Value]) -> bool:
    first = roots[0] if roots else None
    return isinstance(first, List) and all(
        isinstance(v, Map) and "op" in v.fields for v in first.values
    )


def _kubeadm(path: str) -> Verdict | None:
    """What kubeadm takes for its patch by the name: `kube-apiserver0+strategic.yaml`."""
    name = basename(path)
    stem = name.rpartition(".")[0]
    target, plus, kind = stem.partition("+")
    if not target.startswith(tuple(KUBEADM)) or not name.endswith((".yaml", ".json")):
        return None
    if plus:
        is_a = PATCH if kind == "strategic" else JSON6902
        return Verdict(is_a, 6, "K")
    return Verdict(PATCH, 6, "K") if "patch" in path.rpartition("/")[0].lower() else None


def kubeadm_kind(path: str) -> tuple[str, str]:
    """What a kubeadm patch is for."""
    return next(kind for start, kind in KUBEADM.items() if basename(path).startswith(start))


def _named_like_a_patch(path: str) -> str:
    """What in the path says patch, or nothing; `dispatch` only contains the letters."""
    name = basename(path)
    bare = name.lower().replace("dispatch", "")
    if "patch" in bare and name.endswith((".yaml", ".yml", ".json", ".kyaml")):
        return name
    return "patches/" if "patches" in normpath(path).split("/")[:-1] else ""


def _not_listed(path: str, near: Kustomization | None) -> str:
    """A file of an overlay that its kustomization does not mention."""
    parts = normpath(path).split("/")[:-1]
    if near is None or "overlays" not in parts[:-1]:
        return ""
    return f"an overlay's file that {near.path} does not list"


def _for_kustomize_itself(path: str, roots: list[Value]) -> bool:
    """Whether kustomize reads a file itself: kustomizations, generators, transformers."""
    return any(
        is_kustomization(path, root)
        or (isinstance(root, Map) and root.text("apiVersion").startswith(JOB_OF_KUSTOMIZE))
        for root in roots
    )


def _is_partial(root: Map) -> bool:
    """Whether the API server would refuse a mapping as an object: parts of it are missing."""
    return _lacks_identity(root) or any(
        "image" not in container.fields
        for value in collections(root)
        if isinstance(value, Map)
        for _, container in value.maps("containers")
    )


def _lacks_identity(root: Map) -> bool:
    """Whether it lacks apiVersion or kind, or is a workload without selector."""
    if not root.text("apiVersion") or not root.text("kind"):
        return True
    if root.text("kind") not in WORKLOADS:
        return False
    spec = root.map("spec")
    return spec is None or "selector" not in spec.fields


def _is_kubernetes(root: Map) -> bool:
    return bool(root.text("apiVersion") and root.text("kind")) or _is_bare_object(root)


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
    value = root.get(field)
    if not isinstance(value, Map):
        return False
    # `data` stands at the top of many files; that of a ConfigMap or Secret holds only texts
    return field in ("metadata", "spec") or all(
        isinstance(item, Text) for _, item in value.fields.values()
    )
