"""Schemas from OpenAPI documents, for kinds and versions the package does not know."""

from __future__ import annotations

from kmerge_git.patch.definitions import NO_DOCUMENT, Node, definitions_of
from kmerge_git.patch.schema import Schema

__all__ = ["NO_DOCUMENT", "definitions_of", "schema_for"]


def schema_for(document: Node, api_version: str, kind: str) -> Schema | None:
    """The schema of a kind, found by `x-kubernetes-group-version-kind`."""
    group, _, version = api_version.rpartition("/")
    wanted = {"group": group, "version": version, "kind": kind}
    for name, node in definitions_of(document).items():
        if wanted in [dict(gvk) for gvk in node.get("x-kubernetes-group-version-kind", [])]:
            return Schema.from_definitions(document, name)
    return None
