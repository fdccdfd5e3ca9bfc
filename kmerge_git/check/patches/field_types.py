"""Look up the fields of the built-in kinds: their names and types, and how patches merge them.

Two tables are read together: the field shapes have the name and type of every field, and the list
keys tell how lists and maps are merged. Only patches need this module, so it is imported late.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from kmerge_git.kube import keytable
from kmerge_git.patch.field_shapes import nearest_root_shape, object_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path, Step

DEEPEST = 4  # steps below a place to search for a field
TOP = ("apiVersion", "kind", "metadata")


class FieldType(NamedTuple):
    """Describe the type of a field.

    For a list or map, `of` is the type of the elements; for an object, `struct` describes the
    fields.
    """

    kind: str  # list, map, struct, scalar, free (any value)
    type: str = ""  # the type of a scalar: string, integer, number, boolean, ...
    of: FieldType | None = None
    struct: ObjectType | None = None
    strategies: str = ""  # letters: m = merge, r = replace, k = retainKeys
    merge_key: str = ""  # the field that pairs elements in a strategic merge patch
    keys: tuple[str, ...] = ()  # the fields that identify elements on the server

    @property
    def merges(self) -> bool:
        """Return whether patches merge a list of this type."""
        return "m" in self.strategies

    @property
    def of_maps(self) -> bool:
        """Return whether the type is a list of objects."""
        return self.kind == "list" and self.of is not None and self.of.kind in ("struct", "map")

    def below(self, step: Step) -> FieldType | None:
        """Return the type of the value at one step below this type, or None if there is none."""
        return self.struct.field(str(step)) if self.struct else self.of


class ObjectType:
    """Describe a type of objects by its name in Go and its fields."""

    __slots__ = ("_fields", "_rules", "_shapes", "name", "names")

    def __init__(self, name: str, shapes: dict[str, str], number: int) -> None:
        self.name = name
        self.names = list(shapes)  # the names of the fields
        self._shapes = shapes
        self._rules = keytable.fields(number) if number >= 0 else {}
        self._fields: dict[str, FieldType] = {}

    def field(self, name: str) -> FieldType | None:
        """Return the type of a field, or None if there is no field of that name."""
        if name in self._fields:
            return self._fields[name]
        shape = self._shapes.get(name)
        if shape is None:
            return None
        strategic, structural, below = self._rules.get(name, ("", "", ""))
        strategies, _, merge_key = strategic.partition(":")
        keys = tuple(field for field, _ in keytable.keys(structural))
        type = _field_type(shape, keytable.below(below))
        self._fields[name] = type._replace(strategies=strategies, merge_key=merge_key, keys=keys)
        return self._fields[name]


def root_type(api_version: str, kind: str) -> FieldType | None:
    """Return the type of a built-in kind, or None for other kinds."""
    shape = nearest_root_shape(api_version, kind)
    return _field_type(shape, keytable.root(api_version, kind)) if shape else None


def type_below(type: FieldType | None, *steps: Step) -> FieldType | None:
    """Follow steps down from a type; return the type at the end, or None if there is none."""
    for step in steps:
        type = type.below(step) if type is not None else None
    return type


def _field_type(shape: str, number: int) -> FieldType:
    if shape.startswith(("[]", "{}")):
        kind = "list" if shape[0] == "[" else "map"
        return FieldType(kind, of=_field_type(shape[2:], number))
    if shape.startswith("@"):
        return FieldType("struct", struct=_object_type(shape, number))
    return FieldType("free") if shape in ("object", "any") else FieldType("scalar", shape)


@cache
def _object_type(shape: str, number: int) -> ObjectType:
    known = object_type(shape)
    assert known is not None
    return ObjectType(*known, number)


# -- the right place of a misplaced field ---------------------------------------------------------


def belongs(root: FieldType | None, path: Path, key: str) -> str:
    """Return the path of the nearest field named `key`, below or above a path, or '' if none."""
    steps = tuple(step if isinstance(step, str) else "[]" for step in path)
    start = type_below(root, *steps)
    below = _below(start, key) if start is not None else ()
    holders = (steps[:n] for n in range(len(steps) - 1, -1, -1))
    types = ((holder, type_below(root, *holder)) for holder in holders)
    above = [holder for holder, type in types if type and type.struct and type.struct.field(key)]
    place: tuple[str, ...] = ()
    if below and (not above or len(below) <= len(steps) - len(above[0])):
        place = (*steps, *below)
    elif above and (above[0] or key not in TOP):
        place = (*above[0], key)
    return ".".join(place).replace(".[]", "[]")


def _below(start: FieldType, key: str) -> tuple[str, ...]:
    """Return the shortest path from a type down to a field named `key`, or () if there is none."""
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
