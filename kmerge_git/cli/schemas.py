"""`--schema FILE`: a cluster's OpenAPI document, beside the built-in table."""

from __future__ import annotations

import argparse
import json
from typing import Any

from kmerge_git.cli import files
from kmerge_git.errors import PatchError, UsageError
from kmerge_git.patch.openapi import NO_DOCUMENT, definitions_of, schema_for
from kmerge_git.patch.schema import Schema
from kmerge_git.tree.values import load

Definitions = dict[str, Any]


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Define `--schema`."""
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the cluster's OpenAPI document (kubectl get --raw /openapi/v2), for kinds that the "
        "built-in table does not know; its fields are complete, unknown ones are errors",
    )


def add_type(parser: argparse.ArgumentParser) -> None:
    """Define `--type`, the kind of a patch."""
    parser.add_argument(
        "--type",
        choices=("strategic", "merge"),
        default="strategic",
        help="merge: a JSON merge patch (RFC 7386), as custom resources need (default: strategic)",
    )


def read_schema(path: str | None) -> Definitions | None:
    """The OpenAPI document of `--schema`."""
    if path is None:
        return None
    data = files.read(path)
    try:
        found = json.loads(data)
    except ValueError:
        documents = load(data, path)
        found = documents[0] if documents else None
    if not isinstance(found, dict):
        raise UsageError(NO_DOCUMENT, path=path)
    try:
        definitions_of(found)
    except PatchError as error:
        error.path = path
        raise
    return found


def find_schema(document: Definitions | None, resource: dict[str, Any]) -> Schema | None:
    """The schema of an object: the document's, else the built-in one, else none."""
    version, kind = str(resource.get("apiVersion", "")), str(resource.get("kind", ""))
    found = schema_for(document, version, kind) if document else None
    return found or Schema.find(version, kind)


def need_schema(document: Definitions | None, resource: dict[str, Any]) -> Schema:
    """The schema of an object; none for a custom resource is an error."""
    version, kind = str(resource.get("apiVersion", "")), str(resource.get("kind", ""))
    return find_schema(document, resource) or Schema.builtin(version, kind)
