"""OpenAPI definitions as the source of a schema: `$ref`s, types and the patch extensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kmerge_git.errors import PatchError
from kmerge_git.patch.sources import Facts, Place, UnknownField

Node = Mapping[str, Any]

NO_DOCUMENT = "this is no OpenAPI document"


def definitions_of(document: Node) -> dict[str, Node]:
    """The definitions of a v2 or v3 document; a bare map of them is taken as it is."""
    components = document.get("components")
    found = document.get("definitions") or (
        components.get("schemas") if isinstance(components, Mapping) else None
    )
    definitions = found or document
    if not isinstance(definitions, Mapping) or not all(
        isinstance(node, Mapping) for node in definitions.values()
    ):
        raise PatchError(NO_DOCUMENT, hint="`kubectl get --raw /openapi/v2` prints a cluster's own")
    return dict(definitions)


@dataclass(frozen=True, slots=True)
class Definitions:
    """Looks fields up as upstream's OpenAPI v2 does; a place is a name and its definition."""

    definitions: dict[str, Node]

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        """The facts of a field; raises `UnknownField`."""
        if place is None:
            return Facts()
        path, node = self._resolved(place)
        if node is None:
            return Facts()
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
        return Facts(below, tuple(s for s in strategies if s), key, list_keys)

    def name(self, place: Place) -> str:
        """The name of the definition."""
        return str(place[0]) if place else "arbitrary"

    def _elements(self, place: Place) -> Place:
        path, node = self._resolved(place)
        if node is None:
            return None
        if node.get("type") != "array" and "items" not in node:
            raise UnknownField(f"expected array, but got {_shape(node)}")
        return (path, node.get("items", {}))

    def _resolved(self, place: Place) -> tuple[str, Node | None]:
        """The definition behind `$ref`s; None where the field has no type: anything goes."""
        path, node = place
        for _ in range(100):  # a circle of bare refs would never end
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
    return _ref(parts[0]) if len(parts) == 1 else None  # v3 wraps a ref with a default like this


def _shape(node: Node) -> str:
    kind = node.get("type")
    if "properties" in node:
        return "kind"
    return {"object": "map", "array": "slice"}.get(str(kind), "primitive")
