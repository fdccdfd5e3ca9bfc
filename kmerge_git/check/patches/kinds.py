"""D61-D63: patches and directives that one of the tools does not understand."""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.objects import directives_below
from kmerge_git.check.patches.losses import losses
from kmerge_git.check.patches.spots import KeySpot, ListDirective, Spot
from kmerge_git.check.patches.verdict import CUSTOM
from kmerge_git.check.plain import List, Map, collections
from kmerge_git.check.registry import (
    ERROR,
    LIST_DIRECTIVE,
    RETAINED,
    WARNING,
    Check,
    Found,
    also,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 5  # names of what is lost in one message


@also("D61", RETAINED)
@Check(
    "D61", ERROR, LIST_DIRECTIVE, "a directive that kustomize does not know",
    tools="Z",
    kubectl="It is executed.",
    kustomize="It is not executed and ends up in the output.",
    counter="containers:\n- name: web\n  $patch: delete",
    example="$setElementOrder/containers:\n- name: web\n- name: side",
    mend="Drop it. Kustomize deletes with `$patch: delete` and null, and has no order directive.",
)  # fmt: skip
def unknown_to_kustomize(here: ListDirective | KeySpot) -> Iterator[Found]:
    """`$setElementOrder`, `$deleteFromPrimitiveList` or `$retainKeys` in a patch for kustomize."""
    verdict = here.spot.verdict
    what = f"kustomize does not know {here.key}; it ends up in the output"
    if verdict.is_known:
        yield Found(here.at, f"{what}; drop it")
    elif verdict.rule == 0 or verdict.kustomization is not None:
        mend = "drop it, or say with --tool kubectl who reads this patch"
        yield Found(here.at, f"{what}; {mend}", severity=WARNING)


@Check(
    "D62", ERROR, registry.PATCH, "a strategic merge patch for a custom resource",
    needs="ST", refused_by="K",
    kubectl="The API server refuses it (415); kubectl says `strategic merge patch is not "
    "supported`.",
    kustomize="Lists are replaced, not merged, unless the kustomization has an `openapi:` field. "
    "What the resource loses by that is told, as a warning.",
    example="apiVersion: example.com/v1\nkind: Database\nmetadata:\n  name: db\nspec:\n"
    "  groups:\n  - name: a\n# file: target.yaml\napiVersion: example.com/v1\nkind: Database\n"
    "metadata:\n  name: db\nspec:\n  groups:\n  - name: a\n  - name: b",
    counter="apiVersion: example.com/v1\nkind: Database\nmetadata:\n  name: db\nspec:\n"
    "  size: 2\n# file: target.yaml\napiVersion: example.com/v1\nkind: Database\n"
    "metadata:\n  name: db\nspec:\n  groups:\n  - name: a\n  size: 1",
    mend="Use a JSON merge patch (`kubectl patch --type merge`); with kustomize write the whole "
    "list, or name the keys of the lists in `openapi:`.",
)  # fmt: skip
def custom_resource(spot: Spot) -> Iterator[Found]:
    """Lists or directives for kubectl, lost elements for kustomize, in a patch of a custom kind."""
    if spot.kind != CUSTOM:
        return
    if "K" in spot.verdict.known_tools:
        directives = [at for at, _ in directives_below(spot.map)]
        places = directives + list(_lists(spot.map))
        if places:
            yield Found(min(places), "the API server refuses it; use a JSON merge patch")
    elif isinstance(spot.target, Map):
        found = losses(spot.map, spot.target)
        names = [name for loss in found for name in loss.lost]
        if names:
            more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
            yield Found(
                found[0].at,
                "lists of a custom resource are replaced, not merged (no openapi: field); lost: "
                + ", ".join(names[:MOST])
                + more,
                path=found[0].path,
                severity=WARNING,
            )


def _lists(root: Map) -> Iterator[int]:
    """Where the lists of a patch stand."""
    for value in collections(root):
        for at, item in value.fields.values() if isinstance(value, Map) else ():
            if isinstance(item, List):
                yield at


@Check(
    "D63", ERROR, registry.PATCH, "a kustomize patch without apiVersion, kind or metadata.name",
    tools="Z",
    kubectl="It knows the object from the command line.",
    kustomize="The build fails: `unable to parse SM or JSON patch`; a `target:` does not help.",
    example="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- target: {kind: Deployment, name: web}\n  patch: |\n    spec:\n      replicas: 2",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- target: {kind: Deployment, name: web}\n  patch: |\n    kind: Deployment\n    metadata:\n"
    "      name: any\n    spec:\n      replicas: 2",
    mend="Add apiVersion, kind and metadata.name; with a `target:` any name will do, and "
    "apiVersion may be left out.",
)  # fmt: skip
def incomplete_identity(spot: Spot) -> Iterator[Found]:
    """A patch that kustomize cannot take for one: it lacks what names a resource."""
    entry = spot.verdict.entry
    if entry is None or entry.holder.endswith("Policy"):
        return
    metadata = spot.map.map("metadata")
    missing = [k for k in ("apiVersion", "kind") if not spot.map.text(k)]
    if entry.target is not None and missing == ["apiVersion"]:
        missing = []  # the target is found without it
    if metadata is None or not (metadata.text("name") or metadata.text("generateName")):
        missing.append("metadata.name")
    if missing:
        effect = "is unable to parse SM or JSON patch"
        if missing == ["apiVersion"]:
            effect = "finds no resource"
        mend = "add it, even with a target" if entry.target else "add it"
        yield Found(spot.map.at, f"without {' and '.join(missing)} kustomize {effect}; {mend}")
