"""Kubernetes objects as plain values: who each is, where its directives stand, and which of its
lists have elements with keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kmerge_git.check.page_values import SOMEWHERE, List, Map, Value, mappings, scalars
from kmerge_git.kube import keytable
from kmerge_git.kube.identity import Identity
from kmerge_git.patch.directives import PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path

# parts of the names of fields that hold what somebody else merges into something
PASSING = ("patch", "overlay", "override", "kustomiz", "merge", "strategic")


def objects(root: Value | None) -> Iterator[Map]:
    """Yield the object that a document is, or the objects in a list of objects."""
    if not isinstance(root, Map) or not (root.string("kind") and root.string("apiVersion")):
        return
    if root.string("kind").endswith("List") and "items" in root.fields:
        for item in root.items("items"):
            yield from objects(item)
    else:
        yield root


def is_object(root: Value) -> bool:
    """Return whether a map claims to be a Kubernetes object; `apiVersion: v1alpha1` does not."""
    api = root.string("apiVersion")
    return bool(root.string("kind")) and (api == "v1" or "/" in api)


def identity(root: Value) -> Identity:
    """Return the identity of an object as it is written; parts that are not there are empty."""
    group, _, version = root.string("apiVersion").rpartition("/")
    words = (root.string("metadata", word) for word in ("namespace", "name", "generateName"))
    namespace, name, generate_name = words
    return Identity(group, root.string("kind"), namespace, name, version, generate_name)


def api_version(group: str, version: str) -> str:
    """Return the `apiVersion` of a group and a version; the group may be empty."""
    return f"{group}/{version}" if group else version


def may_be_builtin(root: Value) -> bool:
    """Return whether an object may be of a kind of Kubernetes itself, by its group."""
    group, slash, _ = root.string("apiVersion").partition("/")
    return bool(group) and (not slash or "." not in group or group.endswith(".k8s.io"))


def is_values_file(path: str, root: Value | None) -> bool:
    """Return whether a text has the values of a Helm chart, as `values-prod.yaml` has."""
    *folders, last = path.lower().split("/")
    name, _, suffix = last.rpartition(".")
    words = name.replace("_", "-").replace(".", "-").split("-")
    is_named_so = suffix in ("yaml", "yml") and "values" in (*folders[-1:], *words)
    return is_named_so and isinstance(root, Map) and not root.string("apiVersion")


def passed_on(root: Map) -> Iterator[Value]:
    """Yield the values that a custom object, or a chart, gives to a tool to patch with."""
    for value in mappings(root) if not may_be_builtin(root) else ():
        yield from (item for key, (_, item) in value.fields.items() if is_passed_on(key))


def is_passed_on(key: str) -> bool:
    """Return whether a key of an unknown kind holds something that another tool patches with."""
    word = key.lower()
    return any(part in word for part in PASSING)


def words_of(value: Value | None) -> Iterator[str]:
    """Yield every key and every scalar at and below a value, and the parts of paths."""
    for text in scalars(value):
        yield text.text
        if text.text.startswith("/"):
            yield from text.text.split("/")
    for inner in mappings(value):
        yield from inner.fields


def is_set(map: Map, key: str) -> bool:
    """Return whether a patch sets a field; null and a map with `$patch: delete` remove it."""
    return map.has(key) and map.string(key, PATCH) != "delete"


def directives_below(value: Value | None) -> list[tuple[int, str]]:
    """Return offset and key of every directive at and below a value, in the order of the text.

    Leave out the fields of a schema that describes patches: `$patch: {type: string}`.
    """
    return sorted(
        (at, key)
        for inner in mappings(value)
        for key, (at, item) in inner.fields.items()
        if is_directive(key) and not isinstance(item, Map)
    )


# -- lists whose elements have keys: containers by name, ports by number --------------------------


class KeyedList(NamedTuple):
    """A list whose elements have keys."""

    path: Path
    name: str
    elements: list[Value]
    keys: list[tuple[str, str]]  # each field of the key, and its value where it is left out


def keyed_lists(root: Map) -> list[KeyedList]:
    """Return the keyed lists of an object; of an unknown kind those of the pods in it."""
    number = keytable.root(root.string("apiVersion"), root.string("kind"))
    known = _keyed(root, number, (), set())
    if known and number < keytable.LEARNED:
        return known
    seen = {id(one.elements) for one in known}
    pods = keytable.below(keytable.fields(keytable.root("v1", "Pod"))["spec"][2])
    for value in mappings(root):
        if _is_pod_spec(value):
            of_pod = _keyed(value, pods, (SOMEWHERE,), set())
            known += [one for one in of_pod if id(one.elements) not in seen]
    return known


def _is_pod_spec(value: Map) -> bool:
    containers = value.items("containers")
    return bool(containers) and all(c.fields.keys() >= {"name", "image"} for c in containers)


def _keyed(value: Map, number: int, path: Path, seen: set[int]) -> list[KeyedList]:
    if number < 0 or id(value) in seen:  # an unknown kind; an alias
        return []
    seen.add(id(value))
    lists = []
    for name, (_, structural, below) in keytable.fields(number).items():
        item = value.get(name)
        if item is None:
            continue
        where = (*path, name)
        if isinstance(item, List) and (keys := keytable.keys(structural)):
            lists.append(KeyedList(where, name, item.values, keys))
        for step, inner in _mappings(item, below) if below else ():
            lists += _keyed(inner, keytable.below(below), (*where, *step), seen)
    return lists


def _mappings(item: Value, below: str) -> list[tuple[Path, Map]]:
    """Return the mappings that have the definition `below`, and the steps to them."""
    if isinstance(item, Map) and below[0] != "{":
        return [((), item)]
    return [((step,), one) for step, one in item.entries if isinstance(one, Map)]
