"""The lists that a CustomResourceDefinition declares, for the rules that merge by key.

`x-kubernetes-list-type` and `-map-keys` count as they do for server-side apply. About a list that
declares nothing the elements decide, as without the CRD: most authors just never wrote it down.
"""

from __future__ import annotations

from kmerge_git.kube import keytable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Node = Mapping[str, Any]
    Tree = dict[str, dict[str, Any]]

_INFER = ("", "?", "")


def learn_definition(crd: Node) -> tuple[str, str] | None:
    """Make the merge rules know the lists of a CRD; the group and kind, None if it is no CRD."""
    for (group, kind), tree in crd_list_keys(crd).items():
        pod = keytable.fields(keytable.root("v1", "Pod"))
        facts = _facts(tree) | {"metadata": pod["metadata"]}
        keytable.learn(group, kind, keytable.define(facts))
        return group, kind
    return None


def crd_list_keys(crd: Node) -> dict[tuple[str, str], Tree]:
    """(group, kind) -> the tree of the lists that a CRD declares.

    A tree is `{field: facts}`; facts has, each only where it says something: "keys" (the key
    fields) with "defaults" (key -> value), "set": True, "atomic": True; "list": True (the tree
    below is that of each element), "each": True (a map: of every value); "below" (that tree).
    The lists of all versions are united; the later version wins.
    """
    spec = crd.get("spec") if crd.get("kind", "") == "CustomResourceDefinition" else None
    if not isinstance(spec, dict):
        return {}
    names = (str(spec.get("group", "")), str(_map(spec.get("names")).get("kind", "")))
    tree: Tree = {}
    for schema in _schemas(spec):
        _overlay(tree, _lists_below(schema))
    return {names: tree} if all(names) else {}


def _schemas(spec: Node) -> Iterator[Node]:
    for holder in (spec, *_list(spec.get("versions"))):
        for field in ("validation", "schema"):  # v1beta1 and v1
            yield _map(_map(_map(holder).get(field)).get("openAPIV3Schema"))


def _map(value: object) -> Node:
    """A mapping; what is none, in a file that anybody may have written, says nothing."""
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lists_below(schema: Node) -> Tree:
    tree: Tree = {}
    for name, found in _map(schema.get("properties")).items():
        facts: dict[str, Any] = {}
        node = below = _map(found)
        if node.get("type") == "array":
            below = _map(node.get("items"))
            facts = {"list": True, **_declared(node, below)}
        elif isinstance(node.get("additionalProperties"), dict):
            facts = {"each": True}
            below = node["additionalProperties"]
        lists = _lists_below(below)
        if lists:
            facts["below"] = lists
        if lists or facts.keys() & {"keys", "set", "atomic"}:
            tree[name] = facts
    return tree


def _declared(node: Node, element: Node) -> dict[str, Any]:
    kind = node.get("x-kubernetes-list-type")
    keys = tuple(map(str, _list(node.get("x-kubernetes-list-map-keys"))))
    if kind == "map" and keys:
        fields = {key: _map(_map(element.get("properties")).get(key)) for key in keys}
        found = {key: field["default"] for key, field in fields.items() if "default" in field}
        return {"keys": keys, "defaults": found}
    return {str(kind): True} if kind in ("set", "atomic") else {}


def _overlay(tree: Tree, newer: Tree) -> None:
    for name, facts in newer.items():
        old = tree.setdefault(name, {})
        below = facts.get("below", {})
        old.update({k: v for k, v in facts.items() if k != "below"})
        if below:
            _overlay(old.setdefault("below", {}), below)


def _facts(tree: Tree) -> dict[str, keytable.Facts]:
    """A tree in the columns of the key table."""
    return {"": _INFER, **{name: _columns(facts) for name, facts in tree.items()}}


def _columns(facts: dict[str, Any]) -> keytable.Facts:
    below = str(keytable.define(_facts(facts["below"]))) if "below" in facts else ""
    container = "[" if "list" in facts else "{" if "each" in facts else ""
    if "keys" in facts:
        defaults = facts["defaults"]
        words = (f"{key}={defaults[key]}" if key in defaults else key for key in facts["keys"])
        structural = ",".join(words)
    elif "set" in facts:
        structural = "*"
    else:
        structural = "" if "list" not in facts or "atomic" in facts else "?"
    return ("", structural, container + below if below else "")
