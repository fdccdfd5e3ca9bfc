"""Say how a strategic merge patch treats each field of a kind: its strategy and its merge key.

A `Schema` describes one kind, or one field inside a kind. A field is looked up only if both objects
hold a map there, or both hold a list. kubectl does the same, and every schema error of kubectl
comes from such a lookup. The data comes from the built-in tables or from an OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kmerge_git.errors import PatchError
from kmerge_git.kube import keytable
from kmerge_git.patch.field_shapes import object_type, root_shape
from kmerge_git.patch.json_values import failure

Node = Mapping[str, Any]
Place = Any  # a place in a source; None if any value is allowed below it
# The place of a field, its strategies, its merge key, and the keys of server-side apply.
Facts = tuple[Place, tuple[str, ...], str, tuple[str, ...]]

NO_DOCUMENT = "this is not an OpenAPI document"
_STRATEGIES = {"m": "merge", "r": "replace", "k": "retainKeys"}
# The Go kind that kubectl's error names for each shape.
_GO_KINDS = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "any": "interface",
}
_OPAQUE = {
    "object": "RawExtension",
    "quantity": "Quantity",
    "integer|string": "IntOrString",
}


@dataclass(frozen=True, slots=True)
class FieldRule:
    """Say how a patch merges a field: the strategy, the merge key and the schema of the content."""

    below: Schema
    strategy: str = ""  # "", "merge" or "replace"
    retain_keys: bool = False
    merge_key: str = ""
    list_keys: tuple[str, ...] = ()  # the keys of server-side apply, which kustomize uses


@dataclass(frozen=True, slots=True)
class Schema:
    """Look up the fields of a kind, or of a field inside a kind."""

    source: Builtin | Definitions
    place: Place = None

    @classmethod
    def builtin(cls, api_version: str, kind: str, *, complete: bool = False) -> Schema:
        """Return the schema of a built-in kind (Kubernetes 1.21 to 1.36).

        By default the schema has only the fields with a strategy. In all other fields a map is
        merged and a list is replaced. With `complete` the schema has every field, and an unknown
        field raises the error that kubectl prints.
        """
        schema = cls.find(api_version, kind, complete=complete)
        if schema is None:
            group, _, version = api_version.rpartition("/")
            raise PatchError(
                f"strategic merge patch is not supported for {group}/{version}, Kind={kind} "
                "locally, try --type merge"
            )
        return schema

    @classmethod
    def find(cls, api_version: str, kind: str, *, complete: bool = False) -> Schema | None:
        """Return the schema of a built-in kind, or None for a custom resource."""
        number = keytable.root(api_version, kind)
        if not 0 <= number < keytable.LEARNED:  # a CRD has list keys, but no strategies
            return None
        return cls(Builtin(), (number, root_shape(api_version, kind) if complete else ""))

    @classmethod
    def from_definitions(cls, definitions: Mapping[str, Any], root: str) -> Schema:
        """Return a complete schema from OpenAPI v2 definitions; v3 schemas work too.

        `definitions` is the document, or its `definitions` part; `root` is the name of one
        definition.
        """
        known = definitions_of(definitions)
        if root not in known:
            raise PatchError(f"the schema has no definition {root}")
        return cls(Definitions(known), (root, known[root]))

    def field(self, name: str, *, in_list: bool, at: tuple[str | int, ...] = ()) -> FieldRule:
        """Return the rule of a field.

        `in_list` says that both objects hold a list in the field; otherwise both hold a map.
        """
        try:
            below, strategies, key, keys = self.source.look_up(self.place, name, in_list=in_list)
        except UnknownField as unknown:
            raise failure(str(unknown), at) from None
        rest = [s for s in strategies if s != "retainKeys"]
        if len(strategies) > 2 or len(rest) > 1:
            raise failure(f"unexpected patch strategy: [{' '.join(strategies)}]", at)
        return FieldRule(
            Schema(self.source, below),
            rest[0] if rest else "",
            "retainKeys" in strategies,
            key,
            keys or ((key,) if key else ()),
        )

    def name(self) -> str:
        """Return the name that kubectl's errors use for this schema.

        It is a Go kind or an OpenAPI name.
        """
        return self.source.name(self.place)


class UnknownField(Exception):
    """Report that the schema does not have a field; the message is the message of kubectl."""


# -- the built-in kinds


class Builtin:
    """Look up fields in the built-in tables.

    A place is the number of a definition (-1 if there is none) and a shape. If the shape is empty,
    only the list key table is used, and a field that is not in this table has no strategy.
    """

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        """Return the place and the merge rules of a field, or raise `UnknownField`."""
        number, shape = place
        return _facts(number, shape, name, in_list)

    def name(self, place: Place) -> str:
        """Return the Go kind of the object type at a place."""
        shape = place[1]
        return _go_kind(shape) if shape else "struct"


@lru_cache(maxsize=4096)  # the names come from files
def _facts(number: int, shape: str, name: str, in_list: bool) -> Facts:
    # the shape is looked up first, for kubectl's error
    inner = _field_shape(shape, name) if shape else ""
    if in_list and inner.startswith(("@", "{}")):
        raise UnknownField("expected slice or array type, but got: struct")
    known = keytable.fields(number) if number >= 0 else {}
    strategic, structural, below = known.get(name, ("", "", ""))
    letters, _, key = strategic.partition(":")
    return (
        (keytable.below(below), inner.removeprefix("[]") if in_list else inner),
        tuple(_STRATEGIES[letter] for letter in letters),
        key,
        tuple(field for field, _ in keytable.keys(structural)),
    )


def _field_shape(shape: str, name: str) -> str:
    known = (_OPAQUE[shape], {}) if shape in _OPAQUE else object_type(shape)
    if known is None:
        raise UnknownField(
            f"merging an object in json but data type is not struct, instead is: {_go_kind(shape)}"
        )
    go_name, fields = known
    if name not in fields:
        raise UnknownField(
            f'unable to find api field in struct {go_name} for the json field "{name}"'
        )
    return fields[name]


def _go_kind(shape: str) -> str:
    kinds = {"{}": "map", "[]": "slice"}
    if shape.startswith("@"):
        return "struct"
    return kinds.get(shape[:2]) or _GO_KINDS.get(shape, shape)


# -- OpenAPI documents


def schema_for(document: Node, api_version: str, kind: str) -> Schema | None:
    """Return the schema of a kind, which is found by `x-kubernetes-group-version-kind`."""
    group, _, version = api_version.rpartition("/")
    wanted = {"group": group, "version": version, "kind": kind}
    for name, node in definitions_of(document).items():
        if wanted in [dict(gvk) for gvk in node.get("x-kubernetes-group-version-kind", [])]:
            return Schema.from_definitions(document, name)
    return None


def definitions_of(document: Node) -> dict[str, Node]:
    """Return the definitions of an OpenAPI v2 or v3 document, or of a plain map of definitions."""
    components = document.get("components")
    schemas = components.get("schemas") if isinstance(components, Mapping) else None
    definitions = document.get("definitions") or schemas or document
    if not isinstance(definitions, Mapping) or not all(
        isinstance(node, Mapping) for node in definitions.values()
    ):
        raise PatchError(NO_DOCUMENT, hint="`kubectl get --raw /openapi/v2` prints such a document")
    return dict(definitions)


@dataclass(frozen=True, slots=True)
class Definitions:
    """Look up fields in OpenAPI v2 definitions as kubectl does.

    A place is the name of a definition and the definition itself.
    """

    definitions: dict[str, Node]

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        """Return the place and the merge rules of a field, or raise `UnknownField`."""
        path, node = self._resolved(place) if place else ("", None)
        if node is None:
            return None, (), "", ()
        if "properties" not in node:
            raise UnknownField(f"expected kind, but got {_shape(node)}")
        if name not in node["properties"]:
            raise UnknownField(f'unable to find api field "{name}" in {path}')
        field = node["properties"][name]
        strategies = str(field.get("x-kubernetes-patch-strategy", "")).split(",")
        key = str(field.get("x-kubernetes-patch-merge-key", ""))
        list_keys = tuple(field.get("x-kubernetes-list-map-keys", ()))
        below: Place = (f"{path}.{name}", field)
        if in_list:
            below = self._elements(below)
        return below, tuple(s for s in strategies if s), key, list_keys

    def name(self, place: Place) -> str:
        """Return the name of the definition."""
        return str(place[0]) if place else "arbitrary"

    def _elements(self, place: Place) -> Place:
        path, node = self._resolved(place)
        if node is None:
            return None
        if node.get("type") != "array" and "items" not in node:
            raise UnknownField(f"expected array, but got {_shape(node)}")
        return (path, node.get("items", {}))

    def _resolved(self, place: Place) -> tuple[str, Node | None]:
        """Follow each `$ref`, and return the name and the definition at the end.

        The definition is None if the field has no type: any value is allowed then.
        """
        path, node = place
        for _ in range(100):  # without a limit, refs that form a circle would never end
            ref = _ref(node)
            if ref is None:
                break
            path = ref.rpartition("/")[2]
            if path not in self.definitions:
                raise UnknownField(f"unknown model in reference: {path}")
            node = self.definitions[path]
        untyped = not node.get("type") and "properties" not in node
        return path, None if untyped else node


def _ref(node: Node) -> str | None:
    if "$ref" in node:
        return str(node["$ref"])
    parts = node.get("allOf") or []
    return _ref(parts[0]) if len(parts) == 1 else None  # v3 wraps a ref with a default in `allOf`


def _shape(node: Node) -> str:
    if "properties" in node:
        return "kind"
    return {"object": "map", "array": "slice"}.get(str(node.get("type")), "primitive")
