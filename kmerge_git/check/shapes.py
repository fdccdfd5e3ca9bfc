"""The fields of the built-in kinds: their names, types and how a patch merges them.

Two tables are walked side by side: patch/field_shapes.json has every field's name and type,
kube/list_keys.json how lists and maps merge. Only patches are looked up, so they are read late.
"""

from __future__ import annotations

import os

from kmerge_git.check.plain import List, Map, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Field:
    """The type of a value; `of` is what is in a list or map, `struct` the fields of an object."""

    __slots__ = ("keys", "kind", "merge_key", "of", "strategies", "struct", "type")

    def __init__(self, kind: str) -> None:
        self.kind = kind  # list, map, struct, scalar, free (any value)
        self.type = ""  # of a scalar: string, integer, number, boolean, ...
        self.of: Field | None = None
        self.struct: Struct | None = None
        self.strategies = ""  # letters: m = merge, r = replace, k = retainKeys
        self.merge_key = ""  # what pairs the elements in a strategic merge patch
        self.keys: tuple[str, ...] = ()  # what tells the elements apart on the server

    @property
    def merges(self) -> bool:
        """Whether a list with this type is merged by a patch."""
        return "m" in self.strategies

    @property
    def of_maps(self) -> bool:
        """Whether it is a list of objects."""
        return self.kind == "list" and self.of is not None and self.of.kind in ("struct", "map")


class Struct:
    """An object type: its Go name and its fields."""

    __slots__ = ("_fields", "_rules", "_shapes", "name")

    def __init__(self, name: str, shapes: dict[str, str], rules: dict[str, list[str]]) -> None:
        self.name = name
        self._shapes = shapes
        self._rules = rules
        self._fields: dict[str, Field] = {}

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return list(self._shapes)

    def field(self, name: str) -> Field | None:
        """The type of a field, or None if there is none of that name."""
        if name in self._fields:
            return self._fields[name]
        shape = self._shapes.get(name)
        if shape is None:
            return None
        smp, structural, ref = [*self._rules.get(name, []), "", "", ""][:3]
        made = _field(shape, ref.lstrip("[{"))
        letters, _, made.merge_key = smp.partition(":")
        made.strategies = letters
        keys = structural.split(",") if structural and structural != "*" else []
        made.keys = tuple(k.partition("=")[0] for k in keys)
        self._fields[name] = made
        return made


def root(api_version: str, kind: str) -> Struct | None:
    """The type of a built-in kind, or None."""
    shapes, rules = _shapes(), _rules()
    number = shapes["roots"].get(_known_version(shapes["roots"], api_version, kind), {}).get(kind)
    if number is None:
        return None
    version = _known_version(rules.roots, api_version, kind)
    return _struct(number, rules.roots.get(version, {}).get(kind, ""))


def version_of(kind: str) -> str:
    """The apiVersion of a built-in kind whose name only one group has, or nothing."""
    found = [v for v, kinds in _shapes()["roots"].items() if kind in kinds]
    groups = {v.rpartition("/")[0] for v in found} - {"extensions"}
    return str(found[0]) if len(groups) == 1 else ""


def is_builtin_group(api_version: str) -> bool:
    """Whether an apiVersion belongs to a group of Kubernetes itself."""
    group = api_version.rpartition("/")[0]
    return any(v.rpartition("/")[0] == group for v in _shapes()["roots"])


def _known_version(roots: dict[str, dict[str, Any]], api_version: str, kind: str) -> str:
    """The apiVersion itself or, where the table lacks it, the newest of its group."""
    if kind in roots.get(api_version, {}):
        return api_version
    group = api_version.rpartition("/")[0]
    older = "apps" if group == "extensions" else group
    for version, kinds in roots.items():
        if version.rpartition("/")[0] == older and kind in kinds:
            return version
    return ""


def _field(shape: str, rule: str) -> Field:
    if shape.startswith(("[]", "{}")):
        made = Field("list" if shape[0] == "[" else "map")
        made.of = _field(shape[2:], rule)
    elif shape.startswith("@"):
        made = Field("struct")
        made.struct = _struct(int(shape[1:]), rule)
    elif shape in ("object", "any"):
        made = Field("free")
    else:
        made = Field("scalar")
        made.type = shape
    return made


def _struct(number: int, rule: str) -> Struct:
    if (number, rule) not in _structs:
        name, shapes = _shapes()["definitions"][number]
        _structs[number, rule] = Struct(name, shapes, _rules().definitions.get(rule, {}))
    return _structs[number, rule]


class _Rules:
    """kube/list_keys.json, as its generator describes it."""

    __slots__ = ("definitions", "roots")

    def __init__(self, lines: list[str]) -> None:
        self.roots: dict[str, dict[str, str]] = {}
        self.definitions: dict[str, dict[str, list[str]]] = {}
        for line in lines:
            head, *words = line.split(" ")
            if head[0].isdigit():
                parts = [word.split("|") for word in words]
                self.definitions[head] = {name: rest for name, *rest in parts}
            elif head != "#":
                kinds = [word.partition("=") for word in words]
                self.roots[head] = {kind: number for kind, _, number in kinds}


def keyed_lists(root: Map) -> Iterator[tuple[str, str, List, list[tuple[str, str]]]]:
    """The lists of an object whose elements have keys: path, name, list, (key, default) each."""
    rules = _rules()
    api, kind = root.text("apiVersion"), root.text("kind")
    number = rules.roots.get(_known_version(rules.roots, api, kind), {}).get(kind, "")
    yield from _keyed(root, number, "", set())


def keyed_lists_of_pod(
    spec: Map, path: str
) -> Iterator[tuple[str, str, List, list[tuple[str, str]]]]:
    """The same for a PodSpec inside an object of a kind that is not known."""
    rules = _rules()
    pod = rules.definitions[rules.roots["v1"]["Pod"]]
    yield from _keyed(spec, pod["spec"][2], path, set())


def _keyed(
    value: Map, number: str, path: str, seen: set[int]
) -> Iterator[tuple[str, str, List, list[tuple[str, str]]]]:
    if id(value) in seen:
        return  # an alias
    seen.add(id(value))
    fields = value.fields
    for name, facts in _rules().definitions.get(number, {}).items():
        if name not in fields:
            continue
        item = fields[name][1]
        where = f"{path}.{name}" if path else name
        below = facts[2].lstrip("[{") if len(facts) > 2 else ""
        if isinstance(item, List):
            structural = facts[1] if len(facts) > 1 else ""
            if structural and structural != "*":
                keys = [key.partition("=") for key in structural.split(",")]
                yield where, name, item, [(key, default) for key, _, default in keys]
            if below:
                for n, element in enumerate(item.values):
                    if isinstance(element, Map):
                        yield from _keyed(element, below, f"{where}[{n}]", seen)
        elif isinstance(item, Map) and below:
            if facts[2][0] == "{":
                for key, (_, element) in item.fields.items():
                    if isinstance(element, Map):
                        yield from _keyed(element, below, f"{where}.{key}", seen)
            else:
                yield from _keyed(item, below, where, seen)


class Typed:
    """A scalar of an object and the type that its field has."""

    __slots__ = ("path", "type", "value")

    def __init__(self, path: str, type: str, value: Text) -> None:
        self.path = path
        self.type = type
        self.value = value


def typed(root: Map) -> Iterator[Typed]:
    """Every scalar of an object of a built-in kind, with its type."""
    struct = root_of(root)
    if struct is not None:
        made = Field("struct")
        made.struct = struct
        yield from _typed(root, made, "", set())


def root_of(value: Map) -> Struct | None:
    """The type of an object of a built-in kind, or None."""
    return root(value.text("apiVersion"), value.text("kind"))


def _typed(value: Value, field: Field | None, path: str, seen: set[int]) -> Iterator[Typed]:
    if field is None or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Text):
        if field.kind == "scalar":
            yield Typed(path, field.type, value)
    elif isinstance(value, List):
        for n, item in enumerate(value.values):
            yield from _typed(item, field.of, f"{path}[{n}]", seen)
    elif isinstance(value, Map):
        for key, (_, item) in value.fields.items():
            below = field.struct.field(key) if field.struct else field.of
            yield from _typed(item, below, f"{path}.{key}" if path else key, seen)


_loaded: dict[str, Any] = {}
_structs: dict[tuple[int, str], Struct] = {}


def _shapes() -> dict[str, Any]:
    if "shapes" not in _loaded:
        import json

        _loaded["shapes"] = json.loads(_read("patch", "field_shapes.json"))
    shapes: dict[str, Any] = _loaded["shapes"]
    return shapes


def _rules() -> _Rules:
    if "rules" not in _loaded:
        text = _read("kube", "list_keys.json")
        _loaded["rules"] = _Rules([line.rstrip(",")[1:-1] for line in text.splitlines()[1:-1]])
    rules: _Rules = _loaded["rules"]
    return rules


def _read(package: str, name: str) -> str:
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(home, package, name), encoding="utf-8") as file:
        return file.read()
