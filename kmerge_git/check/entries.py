"""D64, D69: what a kustomization says about a patch, against what the patch is."""

from __future__ import annotations

from kmerge_git.check.kustomization import PatchEntry, is_kustomization
from kmerge_git.check.objects import identity
from kmerge_git.check.page import shown
from kmerge_git.check.plain import List, Map, Value
from kmerge_git.check.registry import ENTRY, ERROR, INFO, INLINE, OBJECT, Check, Found, also
from kmerge_git.kube.identity import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.targets import Targets


@Check(
    "D64", ERROR, ENTRY, "a patch that kustomize refuses",
    tools="Z",
    kubectl="Not concerned.",
    kustomize="The build fails.",
    example="patches:\n- path: empty.yaml",
    mend="Write one patch for one entry; a JSON 6902 list needs a `target:`.",
)  # fmt: skip
def refused_patch(
    entry: PatchEntry, roots: list[Value], targets: Targets | None, at: int
) -> Iterator[Found]:
    """Empty; several documents with a target; a JSON 6902 list without one; two texts."""
    if entry.path and entry.inline is not None:
        yield Found(at, f"{shown(entry.field)} has both path and patch; keep one of them")
    elif not roots:
        yield Found(at, "the patch is empty; kustomize refuses it")
    elif entry.target is not None and len(roots) > 1:
        yield Found(at, "several documents in one patch with a target; kustomize refuses it")
    elif isinstance(roots[0], List) and entry.target is None:
        yield Found(at, "a JSON 6902 patch needs a target; kustomize refuses it without")


@also("D64", INLINE)
def unreadable_patch(entry: PatchEntry) -> Iterator[Found]:
    """The text of an inline patch that is no YAML."""
    if entry.inline is not None:
        message = f"{shown(entry.field)} is no YAML; kustomize refuses this patch"
        yield Found(entry.inline.at, message)


@Check(
    "D69", ERROR, ENTRY, "a patch for a resource that is not there; deprecated fields",
    tools="Z", needs="T",
    kubectl="Not concerned.",
    kustomize="The build fails: `no matches for Id`; with a `target:` the patch does nothing. The "
    "old fields still work, with a warning.",
    example="patchesStrategicMerge:\n- web-patch.yaml",
    mend="Correct kind or name, or remove the patch; write `patches: [{path: ..}]` for the old "
    "fields.",
)  # fmt: skip
def without_target(
    entry: PatchEntry, roots: list[Value], targets: Targets | None, at: int
) -> Iterator[Found]:
    """The resource was renamed or removed, its patch was not."""
    if targets is None or not targets.complete:
        return
    if entry.target is not None:
        if not targets.selected(entry.target):
            kind = entry.target.text("kind") or "*"
            name = entry.target.text("name") or "*"
            yield Found(at, f"no resource {kind}/{name} in this kustomization")
        return
    for root in roots:
        if not isinstance(root, Map):
            continue
        wanted = identity(root)
        if wanted.kind and wanted.name and not targets.named(wanted):
            yield Found(at, f"no resource {describe(wanted)} in this kustomization")


@also("D69", OBJECT)
def deprecated_fields(path: str, root: Map) -> Iterator[Found]:
    """`patchesStrategicMerge`, `patchesJson6902`."""
    if is_kustomization(path, root):
        for field in ("patchesStrategicMerge", "patchesJson6902"):
            if field in root.fields:
                message = f"{field} is deprecated, use patches"
                yield Found(root.at_key(field), message, path=(field,), severity=INFO)
