"""Kubernetes objects as plain values: who each is, where its directives stand, and which of its
lists have elements with keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.page_values import SOMEWHERE, List, Map, Value, collections, scalars
from kmerge_git.kube import keytable
from kmerge_git.kube.identity import Identity
from kmerge_git.patch.directives import PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


# parts of the names of fields that hold what somebody else merges into something
PASSING = ("patch", "overlay", "override", "kustomiz", "merge", "strategic")


def objects(root: Value | None) -> Iterator[Map]:
    """Return the object that a document is, or the objects in a list of objects."""
    if not isinstance(root, Map) or not (root.text("kind") and root.text("apiVersion")):
        return
    if root.text("kind").endswith("List") and "items" in root.fields:
        for item in root.items("items"):
            yield from objects(item)
    else:
        yield root


def is_object(root: Map) -> bool:
    """Return whether a map claims to be a Kubernetes object; `apiVersion: v1alpha1` does not."""
    api = root.text("apiVersion")
    return bool(root.text("kind")) and (api == "v1" or "/" in api)


def identity(root: Map) -> Identity:
    """Return the identity of an object as it is written; parts that are not there are empty."""
    group, _, version = root.text("apiVersion").rpartition("/")
    metadata = root.map("metadata") or Map(root.at)
    name, generate_name = metadata.text("name"), metadata.text("generateName")
    namespace = metadata.text("namespace")
    return Identity(group, root.text("kind"), namespace, name, version, generate_name)


def may_be_builtin(root: Map) -> bool:
    """Return whether an object may be of a kind of Kubernetes itself, by its group."""
    group, slash, _ = root.text("apiVersion").partition("/")
    return bool(group) and (not slash or "." not in group or group.endswith(".k8s.io"))


def is_values_file(path: str, root: Value | None) -> bool:
    """Return whether a text has the values of a Helm chart, as `values-prod.yaml` has."""
    *folders, last = path.lower().split("/")
    name, _, suffix = last.rpartition(".")
    if suffix not in ("yaml", "yml") or not isinstance(root, Map) or root.text("apiVersion"):
        return False
    return "values" in (*folders[-1:], *name.replace("_", "-").replace(".", "-").split("-"))


def passed_on(root: Map) -> Iterator[Value]:
    """Return the values that a custom object, or a chart, gives to a tool to patch with."""
    if not may_be_builtin(root):
        for value in collections(root):
            if isinstance(value, Map):
                yield from (item for key, (_, item) in value.fields.items() if is_passed_on(key))


def is_passed_on(key: str) -> bool:
    """Return whether a key of an unknown kind holds something that another tool patches with."""
    word = key.lower()
    return any(part in word for part in PASSING)


def words_of(value: Value | None) -> Iterator[str]:
    """Return every key and every scalar at and below a value, and the parts of paths."""
    for text in scalars(value):
        yield text.text
        if text.text.startswith("/"):
            yield from text.text.split("/")
    for inner in collections(value):
        if isinstance(inner, Map):
            yield from inner.fields


def is_set(map: Map, key: str) -> bool:
    """Return whether a patch sets a field; null and a map with `$patch: delete` remove it."""
    value = map.get(key)
    return map.has(key) and not (isinstance(value, Map) and value.text(PATCH) == "delete")


def directives_below(value: Value | None) -> list[tuple[int, str]]:
    """Return offset and key of every directive at and below a value, in the order of the text.

    Leave out the fields of a schema that describes patches: `$patch: {type: string}`.
    """
    return sorted(
        (at, key)
        for inner in collections(value)
        if isinstance(inner, Map)
        for key, (at, item) in inner.fields.items()
        if is_directive(key) and not isinstance(item, Map)
    )


class KeyedList:
    """A list whose elements have keys: pairs of a field and what it counts as if left out."""

    __slots__ = ("keys", "list", "name", "path")

    def __init__(self, path: Path, name: str, list: List, keys: list[tuple[str, str]]) -> None:
        self.path = path
        self.name = name
        self.list = list
        self.keys = keys


def keyed_lists(root: Map) -> list[KeyedList]:
    """Return the keyed lists of an object; of an unknown kind those of the pods in it."""
    number = keytable.root(root.text("apiVersion"), root.text("kind"))
    found = _keyed(root, number, (), set())
    if found and number < keytable.LEARNED:
        return found
    met = {id(one.list) for one in found}
    for value in collections(root):
        if isinstance(value, Map) and _is_pod_spec(value):
            pods = keytable.below(keytable.fields(keytable.root("v1", "Pod"))["spec"][2])
            of_pod = _keyed(value, pods, (SOMEWHERE,), set())
            found += [one for one in of_pod if id(one.list) not in met]
    return found


def _is_pod_spec(value: Map) -> bool:
    containers = value.items("containers")
    return bool(containers) and all(
        isinstance(c, Map) and "name" in c.fields and "image" in c.fields for c in containers
    )


def _keyed(value: Map, number: int, path: Path, seen: set[int]) -> list[KeyedList]:
    if number < 0 or id(value) in seen:  # an unknown kind; an alias
        return []
    seen.add(id(value))
    found = []
    for name, (_, structural, below) in keytable.fields(number).items():
        if name not in value.fields:
            continue
        item = value.fields[name][1]
        where = (*path, name)
        if isinstance(item, List) and (keys := keytable.keys(structural)):
            found.append(KeyedList(where, name, item, keys))
        for step, inner in _mappings(item, below) if below else ():
            found += _keyed(inner, keytable.below(below), (*where, *step), seen)
    return found


def _mappings(item: Value, below: str) -> list[tuple[Path, Map]]:
    """Return the mappings that have the definition `below`, and the steps to them."""
    if isinstance(item, Map) and below[0] != "{":
        return [((), item)]
    items: list[tuple[Path, Value]] = []
    if isinstance(item, List):
        items = [((number,), value) for number, value in enumerate(item.values)]
    elif isinstance(item, Map):
        items = [((key,), value) for key, (_, value) in item.fields.items()]
    return [(step, value) for step, value in items if isinstance(value, Map)]
