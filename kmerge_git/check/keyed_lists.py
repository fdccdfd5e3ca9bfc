"""The lists of an object whose elements have keys: containers by name, ports by number."""

from __future__ import annotations

from kmerge_git.check.plain import SOMEWHERE, List, Map, Value, collections
from kmerge_git.kube import keytable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


class KeyedList:
    """A list whose elements have keys: pairs of a field and what it counts as if left out."""

    __slots__ = ("keys", "list", "name", "path")

    def __init__(self, path: Path, name: str, list: List, keys: list[tuple[str, str]]) -> None:
        self.path = path
        self.name = name
        self.list = list
        self.keys = keys


def keyed_lists(root: Map) -> list[KeyedList]:
    """Those of an object by the table of its kind, and those of pods in kinds nobody knows."""
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
    """The mappings that have the definition `below`, and the steps to them."""
    if isinstance(item, Map) and below[0] != "{":
        return [((), item)]
    items: list[tuple[Path, Value]] = []
    if isinstance(item, List):
        items = [((number,), value) for number, value in enumerate(item.values)]
    elif isinstance(item, Map):
        items = [((key,), value) for key, (_, value) in item.fields.items()]
    return [(step, value) for step, value in items if isinstance(value, Map)]
