"""What of a resource is lost where a list of a patch takes the place of the whole list."""

from __future__ import annotations

from kmerge_git.check.page import shown
from kmerge_git.check.plain import List, Map, Text, Value, alike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path

# Fields that tell the elements of a list apart, where no schema says which does.
NAMES = ("name", "id", "key", "host", "type")


class Loss:
    """A list of a patch, where it stands, and what the target has and it lacks."""

    __slots__ = ("at", "lost", "path")

    def __init__(self, at: int, path: Path, lost: list[str]) -> None:
        self.at = at
        self.path = path
        self.lost = lost


def losses(patch: Map, target: Map) -> list[Loss]:
    """Every list of a patch that takes something from the target."""
    return list(_losses(patch, target, (), set()))


def _losses(patch: Map, target: Map, path: Path, seen: set[int]) -> Iterator[Loss]:
    if id(patch) in seen:
        return
    seen.add(id(patch))
    for key, (at, item) in patch.fields.items():
        there, where = target.get(key), (*path, key)
        if isinstance(item, Map) and isinstance(there, Map):
            yield from _losses(item, there, where, seen)
        elif isinstance(item, List) and isinstance(there, List):
            lost = _lost(item, there, where)
            if lost:
                yield Loss(at, where, lost)


def _lost(patch: List, target: List, path: Path) -> list[str]:
    """What a list lacks: elements, and fields of those that it has. An empty one means it."""
    name = _name_of(patch.values, target.values)
    partners = _partners(target.values, patch.values, name)
    if not patch.values or (not name and all(found is None for found in partners)):
        return []  # other values were meant, or none
    lost = []
    for number, (element, found) in enumerate(zip(target.values, partners, strict=True)):
        here: Path = (*path, ((name, _text(element, name)),) if name else number)
        if found is None:
            lost.append(_shown(element, here))
        elif isinstance(found, Map) and isinstance(element, Map):
            lost += _fields_lost(found, element, here)
    return lost


def _fields_lost(patch: Map, target: Map, path: Path) -> list[str]:
    """The fields that a map of a replaced list lacks, at any depth."""
    lost = []
    for key, (_, there) in target.fields.items():
        item, where = patch.get(key), (*path, key)
        if item is None:
            lost += [] if there.null else [shown(where)]
        elif isinstance(item, Map) and isinstance(there, Map):
            lost += _fields_lost(item, there, where)
        elif isinstance(item, List) and isinstance(there, List):
            lost += _lost(item, there, where)
    return lost


def _name_of(*lists: list[Value]) -> str:
    """The field that tells the elements of each list apart, or nothing."""
    for name in NAMES:
        texts = [[_text(value, name) for value in values] for values in lists]
        if all(all(found) and len(set(found)) == len(found) for found in texts):
            return name
    return ""


def _partners(target: list[Value], patch: list[Value], name: str) -> list[Value | None]:
    """For each element of a target what stands for it in a patch: by name, value or order."""
    if name:
        named = {_text(value, name): value for value in patch}
        return [named.get(_text(element, name)) for element in target]
    left = list(patch)
    found: list[Value | None] = []
    for element in target:
        same = next((value for value in left if alike(value, element)), None)
        left = [value for value in left if value is not same]
        found.append(same)
    others = iter([value for value in left if isinstance(value, Map)])
    return [
        next(others, None) if one is None and isinstance(element, Map) else one
        for element, one in zip(target, found, strict=True)
    ]


def _text(element: Value, name: str) -> str:
    return element.text(name) if isinstance(element, Map) else ""


def _shown(element: Value, path: Path) -> str:
    if isinstance(element, Text):
        return f'"{element.text}" of {shown(path[:-1])}'
    return shown(path)
