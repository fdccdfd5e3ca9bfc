"""D61-D63: patches and directives that one of the tools does not understand."""

from __future__ import annotations

from kmerge_git.check.objects import directives_below
from kmerge_git.check.page import shown
from kmerge_git.check.plain import List, Map
from kmerge_git.check.registry import (
    ERROR,
    LIST_DIRECTIVE,
    PATCH,
    RETAINED,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.check.spots import CUSTOM, KeySpot, ListDirective, Spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path


@also("D61", RETAINED)
@Check(
    "D61", ERROR, LIST_DIRECTIVE, "a directive that kustomize does not know",
    tools="Z",
    kubectl="It is executed.",
    kustomize="It is not executed and ends up in the output.",
    example="$setElementOrder/containers:\n- name: web\n- name: side",
    mend="Drop it. Kustomize deletes with `$patch: delete` and null, and has no order directive.",
)  # fmt: skip
def unknown_to_kustomize(here: ListDirective | KeySpot) -> Iterator[Found]:
    """`$setElementOrder`, `$deleteFromPrimitiveList` or `$retainKeys` in a patch for kustomize."""
    yield Found(here.at, f"kustomize does not know {here.key}; it ends up in the output; drop it")


@Check(
    "D62", ERROR, PATCH, "a strategic merge patch for a custom resource",
    needs="S", refused_by="K",
    kubectl="The API server refuses it (415); kubectl says `strategic merge patch is not "
    "supported`.",
    kustomize="Lists are replaced, not merged, unless the kustomization has an `openapi:` field.",
    example="apiVersion: example.com/v1\nkind: Database\nmetadata:\n  name: db\nspec:\n"
    "  groups:\n  - name: a",
    mend="Use a JSON merge patch (`kubectl patch --type merge`); with kustomize write the whole "
    "list, or name the keys of the lists in `openapi:`.",
)  # fmt: skip
def custom_resource(spot: Spot) -> Iterator[Found]:
    """Lists or directives in a patch of a kind whose schema is not built in."""
    if spot.kind != CUSTOM:
        return
    lists = list(_lists(spot.map, (), set()))
    directives = directives_below(spot.map)
    if "K" in spot.tools and (lists or directives):
        at = min([d[0] for d in directives] + [found[0] for found in lists])
        yield Found(at, "the API server refuses it; use a JSON merge patch")
    elif "K" not in spot.tools:
        for at, path in lists:
            yield Found(
                at,
                f"list {shown(path)} is replaced, not merged (no openapi: field)",
                path=path,
                severity=WARNING,
            )


def _lists(value: Map, path: Path, seen: set[int]) -> Iterator[tuple[int, Path]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    for key, (at, item) in value.fields.items():
        where = (*path, key)
        if isinstance(item, List):
            yield at, where
        elif isinstance(item, Map):
            yield from _lists(item, where, seen)


@Check(
    "D63", ERROR, PATCH, "a kustomize patch without apiVersion, kind or metadata.name",
    tools="Z",
    kubectl="It knows the object from the command line.",
    kustomize="The build fails: `unable to parse SM or JSON patch`; a `target:` does not help.",
    example="patches:\n- target: {kind: Deployment, name: web}\n  patch: |\n    spec:\n"
    "      replicas: 2",
    mend="Add apiVersion, kind and metadata.name; with a `target:` any name will do.",
)  # fmt: skip
def incomplete_identity(spot: Spot) -> Iterator[Found]:
    """A patch that kustomize cannot take for one: it lacks what names a resource."""
    entry = spot.verdict.entry
    if entry is None or entry.holder.endswith("Policy"):
        return
    metadata = spot.map.map("metadata")
    missing = [k for k in ("apiVersion", "kind") if not spot.map.text(k)]
    if metadata is None or not (metadata.text("name") or metadata.text("generateName")):
        missing.append("metadata.name")
    if missing:
        yield Found(
            spot.map.at,
            f"without {' and '.join(missing)} kustomize is unable to parse SM or JSON patch; "
            "add it" + (", even with a target" if entry.target else ""),
        )
