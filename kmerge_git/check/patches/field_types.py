"""The fields of the built-in kinds: their names, types and how a patch merges them.

Two tables are walked side by side: the field shapes have every field's name and type, the list
keys how lists and maps merge. Only patches are looked up, so this is imported late.

Where a field belongs that stands at the wrong place of an object.
"""

from __future__ import annotations

from functools import cache

from kmerge_git.check.page_values import List, Map, Text, Value
from kmerge_git.kube import keytable
from kmerge_git.patch.field_shapes import nearest_root_shape, object_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path


class FieldType:
    """The type of a value; `of` is what is in a list or map, `struct` the fields of an object."""

    __slots__ = ("keys", "kind", "merge_key", "of", "strategies", "struct", "type")

    def __init__(self, kind: str) -> None:
        self.kind = kind  # list, map, struct, scalar, free (any value)
        self.type = ""  # of a scalar: string, integer, number, boolean, ...
        self.of: FieldType | None = None
        self.struct: ObjectType | None = None
        self.strategies = ""  # letters: m = merge, r = replace, k = retainKeys
        self.merge_key = ""  # what pairs the elements in a strategic merge patch
        self.keys: tuple[str, ...] = ()  # what tells the elements apart on the server

    @property
    def merges(self) -> bool:
        """Return whether a list with this type is merged by a patch."""
        return "m" in self.strategies

    @property
    def of_maps(self) -> bool:
        """Return whether it is a list of objects."""
        return self.kind == "list" and self.of is not None and self.of.kind in ("struct", "map")


class ObjectType:
    """An object type: its Go name and its fields."""

    __slots__ = ("_fields", "_rules", "_shapes", "name", "names")

    def __init__(self, name: str, shapes: dict[str, str], number: int) -> None:
        self.name = name
        self.names = list(shapes)  # of its fields
        self._shapes = shapes
        self._rules = keytable.fields(number) if number >= 0 else {}
        self._fields: dict[str, FieldType] = {}

    def field(self, name: str) -> FieldType | None:
        """Return the type of a field, or None if there is none of that name."""
        if name in self._fields:
            return self._fields[name]
        shape = self._shapes.get(name)
        if shape is None:
            return None
        strategic, structural, below = self._rules.get(name, ("", "", ""))
        made = _field_type(shape, keytable.below(below))
        made.strategies, _, made.merge_key = strategic.partition(":")
        made.keys = tuple(field for field, _ in keytable.keys(structural))
        self._fields[name] = made
        return made


def root_type(api_version: str, kind: str) -> FieldType | None:
    """Return the type of a built-in kind, or None."""
    shape = nearest_root_shape(api_version, kind)
    return _field_type(shape, keytable.root(api_version, kind)) if shape else None


def _field_type(shape: str, number: int) -> FieldType:
    if shape.startswith(("[]", "{}")):
        made = FieldType("list" if shape[0] == "[" else "map")
        made.of = _field_type(shape[2:], number)
    elif shape.startswith("@"):
        made = FieldType("struct")
        made.struct = _object_type(shape, number)
    elif shape in ("object", "any"):
        made = FieldType("free")
    else:
        made = FieldType("scalar")
        made.type = shape
    return made


@cache
def _object_type(shape: str, number: int) -> ObjectType:
    known = object_type(shape)
    assert known is not None
    return ObjectType(*known, number)


def typed(root: Map) -> Iterator[tuple[Path, str, Text]]:
    """Return the path, the type and the value of every scalar of an object of a built-in kind."""
    yield from _typed(root, root_type(root.text("apiVersion"), root.text("kind")), (), set())


def _typed(
    value: Value, field: FieldType | None, path: Path, seen: set[int]
) -> Iterator[tuple[Path, str, Text]]:
    if field is None or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Text):
        if field.kind == "scalar":
            yield path, field.type, value
    elif isinstance(value, List):
        for n, item in enumerate(value.values):
            yield from _typed(item, field.of, (*path, n), seen)
    elif isinstance(value, Map):
        for key, (_, item) in value.fields.items():
            below = field.struct.field(key) if field.struct else field.of
            yield from _typed(item, below, (*path, key), seen)


DEEPEST = 4  # steps below where it stands
TOP = ("apiVersion", "kind", "metadata")


def belongs(root: FieldType | None, path: Path, key: str) -> str:
    """Return the path of the nearest field of that name, below or above, or nothing."""
    steps = tuple(step if isinstance(step, str) else "[]" for step in path)
    start = _at(root, steps)
    below = _below(start, key) if start is not None else []
    above = [steps[:n] for n in range(len(steps) - 1, -1, -1) if _has(_at(root, steps[:n]), key)]
    if below and (not above or len(below) <= len(steps) - len(above[0])):
        return _shown((*steps, *below))
    if above and (above[0] or key not in TOP):
        return _shown((*above[0], key))
    return ""


def _has(type: FieldType | None, key: str) -> bool:
    return type is not None and type.struct is not None and type.struct.field(key) is not None


def _at(root: FieldType | None, steps: tuple[str, ...]) -> FieldType | None:
    type = root
    for step in steps:
        if type is None:
            break
        type = type.struct.field(step) if type.struct else type.of
    return type


def _below(start: FieldType, key: str) -> tuple[str, ...]:
    """Return the shortest way down from a type to a field of a name, or nothing."""
    level: list[tuple[tuple[str, ...], FieldType]] = [((), start)]
    for _ in range(DEEPEST):
        below: list[tuple[tuple[str, ...], FieldType]] = []
        for reached, type in level:
            way, here = reached, type
            while here.kind in ("list", "map") and here.of is not None:
                way, here = (*way, "[]"), here.of
            if here.struct is None:
                continue
            if here.struct.field(key) is not None:
                return (*way, key)
            names = (n for n in here.struct.names if n not in ("metadata", "status"))
            fields = ((name, here.struct.field(name)) for name in names)
            below += [((*way, name), field) for name, field in fields if field is not None]
        level = below
    return ()


def _shown(steps: tuple[str, ...]) -> str:
    text = ""
    for step in steps:
        text += step if step == "[]" or not text else f".{step}"
    return text
