"""Kubernetes objects as plain values: which there are, who each is, where its directives stand."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.plain import Map, Value, collections, scalars
from kmerge_git.kube.identity import Identity
from kmerge_git.patch.directives import PATCH, is_directive

# parts of the names of fields that hold what somebody else merges into something
PASSING = ("patch", "overlay", "override", "kustomiz", "merge", "strategic")


def objects(root: Value | None) -> Iterator[Map]:
    """An object, or the items of a list of objects."""
    if not isinstance(root, Map) or not (root.text("kind") and root.text("apiVersion")):
        return
    if root.text("kind").endswith("List") and "items" in root.fields:
        for item in root.items("items"):
            yield from objects(item)
    else:
        yield root


def is_object(root: Map) -> bool:
    """Whether it says that it is one; `apiVersion: v1alpha1` without a group is another's."""
    api = root.text("apiVersion")
    return bool(root.text("kind")) and (api == "v1" or "/" in api)


def identity(root: Map) -> Identity:
    """The identity of an object as it is written; parts that are not there are empty."""
    group, _, version = root.text("apiVersion").rpartition("/")
    metadata = root.map("metadata") or Map(root.at)
    name, generate_name = metadata.text("name"), metadata.text("generateName")
    namespace = metadata.text("namespace")
    return Identity(group, root.text("kind"), namespace, name, version, generate_name)


def may_be_builtin(root: Map) -> bool:
    """Whether an object may be of a kind of Kubernetes itself, by its group."""
    group, slash, _ = root.text("apiVersion").partition("/")
    return bool(group) and (not slash or "." not in group or group.endswith(".k8s.io"))


def is_values_file(path: str, root: Value | None) -> bool:
    """Whether a text has the values of a Helm chart: `values-prod.yaml`, `values/prod.yaml`."""
    *folders, last = path.lower().split("/")
    name, _, suffix = last.rpartition(".")
    if suffix not in ("yaml", "yml") or not isinstance(root, Map) or root.text("apiVersion"):
        return False
    return "values" in (*folders[-1:], *name.replace("_", "-").replace(".", "-").split("-"))


def passed_on(root: Map) -> Iterator[Value]:
    """What an object of another kind, or the values of a chart, hand to somebody who patches."""
    if not may_be_builtin(root):
        for value in collections(root):
            if isinstance(value, Map):
                yield from (item for key, (_, item) in value.fields.items() if is_passed_on(key))


def is_passed_on(key: str) -> bool:
    """Whether what stands below a key of a kind that nobody knows goes to somebody who patches."""
    word = key.lower()
    return any(part in word for part in PASSING)


def words_of(value: Value | None) -> Iterator[str]:
    """Every key and every scalar at and below a value; of paths the parts."""
    for text in scalars(value):
        yield text.text
        if text.text.startswith("/"):
            yield from text.text.split("/")
    for inner in collections(value):
        if isinstance(inner, Map):
            yield from inner.fields


def is_set(map: Map, key: str) -> bool:
    """Whether a patch sets a field: null removes it, and so does `$patch: delete` in its map."""
    value = map.get(key)
    return map.has(key) and not (isinstance(value, Map) and value.text(PATCH) == "delete")


def directives_below(value: Value | None) -> list[tuple[int, str]]:
    """Offset and key of every directive at and below a value, in the order of the text.

    A field of a schema that describes patches is none: `$patch: {type: string}`.
    """
    return sorted(
        (at, key)
        for inner in collections(value)
        if isinstance(inner, Map)
        for key, (at, item) in inner.fields.items()
        if is_directive(key) and not isinstance(item, Map)
    )
