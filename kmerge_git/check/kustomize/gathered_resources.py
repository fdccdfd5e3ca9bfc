"""Follow a resource through kustomizations: the names it has had, and the targets that select it.

kustomize counts group, version, kind, name and namespace; no namespace is `default`, and none
counts where the kind belongs to the cluster (measured with kustomize 5.5).

A `target:` selects resources by patterns: regular expressions that a stranger may have written.
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
LONGEST = 1000  # characters of a pattern
STEPS = 1_000_000  # that trying all ways through a text may take
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
NO_NAMESPACE = "_non_namespaceable_"  # as a selector sees it


class Gathered:
    """A resource of a build is `vague` once something unseen may have renamed or removed it."""

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
        self.who = who  # as it is written
        self.group = who.group
        self.version = who.version
        self.kind = who.kind
        self.name = who.name
        self.namespace = who.namespace
        self.path = path  # empty: generated
        self.line = line
        self.labels = labels  # None: not known
        self.annotations = annotations
        self.by = ""  # the entry that brings it into a build
        self.past: tuple[Key, ...] = ()  # the keys that it had before
        self.vague = False

    @property
    def key(self) -> Key:
        """Return the key that no other resource of a build may have."""
        return key_of(self.group, self.version, self.kind, self.namespace, self.name)

    def change(self, field: str, value: str) -> None:
        """Change a field of its identity; patches may still name it by the old one."""
        self.past = (*self.past, self.key)
        setattr(self, field, value)

    def mark(self, **more: Labels | None) -> None:
        """Add `labels` or `annotations`; None says that nobody knows which."""
        for slot, texts in more.items():
            known = getattr(self, slot)
            setattr(self, slot, None if known is None or texts is None else known | texts)

    @property
    def origin(self) -> str:
        """Return its file, or the entry that generates it."""
        return self.path or self.by

    def __str__(self) -> str:
        inside = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind}/{inside}{self.name}"


def is_of_cluster(group: str, kind: str) -> bool:
    """Return whether a kind has no namespace."""
    return kind in OF_CLUSTER.get(group, ())


def key_of(group: str, version: str, kind: str, namespace: str, name: str) -> Key:
    """Return the key of an identity: no other resource of a build may have the same."""
    inside = NO_NAMESPACE if is_of_cluster(group, kind) else namespace or "default"
    return group, version, kind, inside, name


# -- selectors -----------------------------------------------------------------------------------


def selects(target: Map, one: Gathered) -> str:
    """Return whether a `target:` selects a resource: YES, NO, or PERHAPS."""
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
    """Return whether labels meet a selector: `a=b,c!=d,e in (f, g),h,!i`."""
    if not selector:
        return YES
    if labels is None or "<" in selector or ">" in selector:
        return PERHAPS
    return YES if all(_meets(part, labels) for part in _requirements(selector)) else NO


def _requirements(selector: str) -> list[str]:
    """Return the parts of a selector; a comma inside of brackets separates no parts."""
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
    """Return the labels or annotations below keys as plain texts."""
    value = root.get(*keys)
    fields = value.fields if value is not None else {}
    return {key: text.text for key, (_, text) in fields.items() if isinstance(text, Text)}


# -- patterns ------------------------------------------------------------------------------------


def matches(pattern: str, values: list[str]) -> str:
    """Return whether a pattern matches one of the values as a whole: YES, NO, or PERHAPS.

    kustomize's expressions take a time that grows with the text, Python's may take years: those
    that could are not tried.
    """
    if not pattern or pattern in values:
        return YES
    if pattern.replace("-", "a").isalnum():  # a name, as most are
        return NO
    if _ways(pattern, max(map(len, values), default=0)) > STEPS:
        return PERHAPS
    try:
        return YES if any(re.fullmatch(f"(?:{pattern})", value) for value in values) else NO
    except (re.error, OverflowError, RecursionError):
        return PERHAPS


def _ways(pattern: str, length: int) -> int:
    """Return an upper bound of the ways through a text; a repeated group has too many."""
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
