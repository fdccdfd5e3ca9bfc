"""The lists of an object whose elements have keys: containers by name, ports by number."""

from __future__ import annotations

from kmerge_git.check.page import SOMEWHERE
from kmerge_git.check.plain import List, Map, Value, collections
from kmerge_git.kube import keytable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path


class KeyedList:
    """A list whose elements have keys: pairs of a field and what it counts as if left out."""

    __slots__ = ("keys", "list", "name", "path")

    def __init__(self, path: Path, name: str, list: List, keys: list[tuple[str, str]]) -> None:
        self.path = path
        self.name = name
        self.list = list
        self.keys = keys


def keyed_lists(root: Map) -> Iterator[KeyedList]:
    """Those of an object by the table of its kind, and those of pods in kinds nobody knows."""
    number = keytable.root(root.text("apiVersion"), root.text("kind"))
    met: set[int] = set()
    for found in _keyed(root, number, (), set()):
        met.add(id(found.list))
        yield found
    if met and number < keytable.LEARNED:
        return
    for value in collections(root):
        if isinstance(value, Map) and _is_pod_spec(value):
            for found in _keyed(value, _number_of_pod_specs(), (SOMEWHERE,), set()):
                if id(found.list) not in met:
                    yield found


def _is_pod_spec(value: Map) -> bool:
    containers = value.items("containers")
    return bool(containers) and all(
        isinstance(c, Map) and "name" in c.fields and "image" in c.fields for c in containers
    )


def _number_of_pod_specs() -> int:
    return keytable.below(keytable.fields(keytable.root("v1", "Pod"))["spec"][2])


def _keyed(value: Map, number: int, path: Path, seen: set[int]) -> Iterator[KeyedList]:
    if number < 0 or id(value) in seen:  # an unknown kind; an alias
        return
    seen.add(id(value))
    for name, (_, structural, below) in keytable.fields(number).items():
        if name not in value.fields:
            continue
        item = value.fields[name][1]
        where = (*path, name)
        if isinstance(item, List):
            keys = keytable.keys(structural)
            if keys:
                yield KeyedList(where, name, item, keys)
        if below:
            for inner, place in _mappings(item, below, where):
                yield from _keyed(inner, keytable.below(below), place, seen)


def _mappings(item: Value, below: str, where: Path) -> Iterator[tuple[Map, Path]]:
    """The mappings that have the definition `below`, and where they stand."""
    if isinstance(item, List):
        places = [(value, (*where, number)) for number, value in enumerate(item.values)]
    elif isinstance(item, Map) and below[0] == "{":
        places = [(value, (*where, key)) for key, (_, value) in item.fields.items()]
    else:
        places = [(item, where)]
    return ((value, place) for value, place in places if isinstance(value, Map))
