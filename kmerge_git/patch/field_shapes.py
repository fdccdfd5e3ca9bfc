"""Look up the shape of every field of every built-in kind.

A shape describes the type of a field. A shape is a type such as `string` or `integer`, or `@12` for
an object type. A shape may also be `[]` followed by the shape of each element, or `{}` followed by
the shape of each value. A merge does not need the shapes, because the list key table has the fields
with a strategy. The shapes are used for kubectl's schema errors, for the checks, and for computing
what the API server stores.
"""

from __future__ import annotations

import json
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def root_shape(api_version: str, kind: str) -> str:
    """Return the shape of the objects of a built-in kind, or '' for an unknown kind.

    Such a shape is an object type like `@12`.
    """
    number = _table()["roots"].get(api_version, {}).get(kind)
    return "" if number is None else f"@{number}"


def nearest_root_shape(api_version: str, kind: str) -> str:
    """Return the shape of the objects of a built-in kind.

    If the version is unknown, use the newest version of the API group.
    """
    group = api_version.rpartition("/")[0]
    group = "apps" if group == "extensions" else group
    newest = (v for v in _table()["roots"] if v.rpartition("/")[0] == group and root_shape(v, kind))
    return root_shape(api_version, kind) or root_shape(next(newest, ""), kind)


def object_type(shape: str) -> tuple[str, dict[str, str]] | None:
    """Return the Go name of an object type like `@12`, and the shapes of its fields.

    Return None if the shape is not an object type.
    """
    if not shape.startswith("@"):
        return None
    name, fields = _table()["definitions"][int(shape[1:])]
    return name, fields


def version_of(kind: str) -> str:
    """Return the apiVersion of a built-in kind, or '' if several API groups have such a kind."""
    versions = [version for version in _table()["roots"] if root_shape(version, kind)]
    groups = {version.rpartition("/")[0] for version in versions} - {"extensions"}
    return versions[0] if len(groups) == 1 else ""


def is_builtin_group(api_version: str) -> bool:
    """Return whether an apiVersion belongs to an API group of Kubernetes itself."""
    group = api_version.rpartition("/")[0]
    return any(version.rpartition("/")[0] == group for version in _table()["roots"])


@cache
def _table() -> dict[str, Any]:
    with open(__file__.removesuffix("py") + "json", encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table
