"""Follow a resource through kustomizations: its old and new names, and the targets that select it.

kustomize compares group, version, kind, name and namespace. A missing namespace is `default`. For a
kind without namespaces the namespace is ignored (measured with kustomize 5.5).

A `target:` selects resources by regular expressions, which may be slow or malicious.
"""

from __future__ import annotations

import re

from kmerge_git.check.page_values import Map, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.identity import Identity

    Key = tuple[str, str, str, str, str]  # group, version, kind, namespace, name
    Labels = dict[str, str]

YES, NO, PERHAPS = "yes", "no", "perhaps"
LONGEST = 1000  # the most characters of a pattern
STEPS = 1_000_000  # the most ways through a text that a match may try
# An escaped character, or a set, matches one character; the first of a set may be a bracket.
ESCAPED_OR_SET = r"\\.?|\[\^?.?(?:\\.?|[^\]\\])*\]?"
OF_CLUSTER = {
    "": ("Namespace", "Node", "PersistentVolume", "ComponentStatus"),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding"),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "admissionregistration.k8s.io": (
        "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
    ),
    "storage.k8s.io": ("StorageClass", "VolumeAttachment", "CSIDriver", "CSINode"),
    "scheduling.k8s.io": ("PriorityClass",),
    "node.k8s.io": ("RuntimeClass",),
    "policy": ("PodSecurityPolicy",),
    "networking.k8s.io": ("IngressClass",),
    "certificates.k8s.io": ("CertificateSigningRequest",),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
}  # fmt: skip
NO_PREFIX = ("Namespace", "CustomResourceDefinition", "APIService")
NO_NAMESPACE = "_non_namespaceable_"  # the namespace that selectors compare


class Gathered:
    """Hold a resource of a build; `vague` means that a step may have renamed or removed it.

    Its identity is unknown then.
    """

    __slots__ = (
        "annotations", "by", "group", "kind", "labels", "line", "name", "namespace",
        "past", "path", "vague", "version", "who",
    )  # fmt: skip

    def __init__(
        self,
        who: Identity,
        path: str = "",
        line: int = 0,
        labels: Labels | None = None,
        annotations: Labels | None = None,
    ) -> None:
        self.who = who  # the identity as it is written
        self.group = who.group
        self.version = who.version
        self.kind = who.kind
        self.name = who.name
        self.namespace = who.namespace
        self.path = path  # empty for a generated resource
        self.line = line
        self.labels = labels  # None if the labels are not known
        self.annotations = annotations
        self.by = ""  # the entry that adds the resource to a build
        self.past: tuple[Key, ...] = ()  # its earlier keys
        self.vague = False

    @property
    def key(self) -> Key:
        """Return the key of the resource. No other resource of a build may have the same key."""
        return key_of(self.group, self.version, self.kind, self.namespace, self.name)

    def change(self, field: str, value: str) -> None:
        """Change a field of the identity. Patches may still use the old identity."""
        self.past = (*self.past, self.key)
        setattr(self, field, value)

    def mark(self, **more: Labels | None) -> None:
        """Add labels or annotations to the resource. None says that these are no longer known."""
        for slot, texts in more.items():
            known = getattr(self, slot)
            setattr(self, slot, None if known is None or texts is None else known | texts)

    @property
    def origin(self) -> str:
        """Return the file of the resource, or the entry that generates the resource."""
        return self.path or self.by

    def __str__(self) -> str:
        inside = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind}/{inside}{self.name}"


def is_of_cluster(group: str, kind: str) -> bool:
    """Return whether the objects of a kind belong to no namespace."""
    return kind in OF_CLUSTER.get(group, ())


def key_of(group: str, version: str, kind: str, namespace: str, name: str) -> Key:
    """Return a key for the identity of a resource. Two resources of a build may not share a key."""
    inside = NO_NAMESPACE if is_of_cluster(group, kind) else namespace or "default"
    return group, version, kind, inside, name


# -- selectors -----------------------------------------------------------------------------------


def selects(target: Map, one: Gathered) -> str:
    """Return whether a `target:` selects a resource: YES, NO or PERHAPS."""
    if one.vague:
        return PERHAPS
    spaces = [one.who.namespace or "default", one.namespace or "default"]
    wanted = {
        "name": [one.who.name, one.name], "kind": [one.kind],
        "namespace": [NO_NAMESPACE] if is_of_cluster(one.group, one.kind) else spaces,
        "group": [one.group], "version": [one.version],
    }  # fmt: skip
    answers = {matches(target.string(field), values) for field, values in wanted.items()}
    for field, labels in (("labelSelector", one.labels), ("annotationSelector", one.annotations)):
        answers.add(_has_labels(target.string(field), labels))
    return NO if NO in answers else PERHAPS if PERHAPS in answers else YES


def _has_labels(selector: str, labels: Labels | None) -> str:
    """Return whether labels match a selector such as `a=b,c!=d,e in (f, g),h,!i`."""
    if not selector:
        return YES
    if labels is None or "<" in selector or ">" in selector:
        return PERHAPS
    return YES if all(_meets(part, labels) for part in _requirements(selector)) else NO


def _requirements(selector: str) -> list[str]:
    """Split a label selector at its commas, except for commas inside parentheses."""
    parts = [""]
    depth = 0
    for char in selector:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _meets(part: str, labels: Labels) -> bool:
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        if sign in part:
            name, _, value = part.partition(sign)
            return (labels.get(name.strip()) == value.strip()) == equal
    words = part.replace("(", " (").split(None, 2)
    if len(words) == 3 and words[1] in ("in", "notin"):
        values = [value.strip() for value in words[2].strip("() ").split(",")]
        return (labels.get(words[0]) in values) == (words[1] == "in")
    if part.startswith("!"):
        return part[1:].strip() not in labels
    return part in labels


def texts_of(root: Value, *keys: str) -> Labels:
    """Return the labels, or the annotations, at the given keys as plain texts."""
    value = root.get(*keys)
    fields = value.fields if value is not None else {}
    return {key: text.text for key, (_, text) in fields.items() if isinstance(text, Text)}


# -- patterns ------------------------------------------------------------------------------------


def matches(pattern: str, values: list[str]) -> str:
    """Return whether a pattern matches the whole of at least one value: YES, NO or PERHAPS.

    kustomize matches any pattern quickly, but Python may take years. If a pattern may take too
    long, the pattern is not tried and the answer is PERHAPS.
    """
    if not pattern or pattern in values:
        return YES
    if pattern.replace("-", "a").isalnum():  # a plain name, as in most targets
        return NO
    if _ways(pattern, max(map(len, values), default=0)) > STEPS:
        return PERHAPS
    try:
        return YES if any(re.fullmatch(f"(?:{pattern})", value) for value in values) else NO
    except (re.error, OverflowError, RecursionError):
        return PERHAPS


def _ways(pattern: str, length: int) -> int:
    """Return an upper bound for the number of ways in which a pattern can match a text.

    The bound of a pattern with a repeated group is more than STEPS.
    """
    if len(pattern) > LONGEST:
        return STEPS + 1
    ways, branches, before = length + 1, [1], ""
    for char in re.sub(ESCAPED_OR_SET, "x", pattern, flags=re.DOTALL):
        if char in "*+{":
            ways *= STEPS if before == ")" else length + 1
        elif char == "?" and before not in ("", "(", "*", "+", "?", "}"):
            ways *= 2
        elif char == "(":
            branches.append(1)
        elif char == "|":
            branches[-1] += 1
        elif char == ")" and len(branches) > 1:
            ways *= branches.pop()
        before = char
        if ways > STEPS:
            break
    return ways * branches[0]
