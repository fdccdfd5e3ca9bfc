"""D63, D64, D69: what a kustomization says about a patch, against what the patch is."""

from __future__ import annotations

from kmerge_git.check.kustomization import Kustomization, PatchEntry, is_kustomization
from kmerge_git.check.page import identity
from kmerge_git.check.plain import List, Map, Plain, Value
from kmerge_git.check.registry import ENTRY, ERROR, INFO, OBJECT, PATCH, Found, also, check
from kmerge_git.check.targets import Targets
from kmerge_git.check.verdict import JSON6902
from kmerge_git.check.walk import Spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.damage import ObjectSite


class EntrySite:
    """A patch of a kustomization; `at` is where to speak about it, in whichever file that is."""

    __slots__ = ("at", "entry", "plains", "targets")

    def __init__(
        self, entry: PatchEntry, plains: list[Plain], targets: Targets | None, at: int
    ) -> None:
        self.entry = entry
        self.plains = plains
        self.targets = targets  # None: not known
        self.at = at

    @property
    def roots(self) -> list[Value]:
        """The documents that hold something."""
        return [p.root for p in self.plains if p.root is not None]


@check(
    "D63", ERROR, PATCH, "a kustomize patch without apiVersion, kind or metadata.name",
    tools="Z",
    kubectl="It knows the object from the command line.",
    kustomize="The build fails: `unable to parse SM or JSON patch`; a `target:` does not help.",
    example="patches:\n- target: {kind: Deployment, name: web}\n  patch: |\n    spec:\n"
    "      replicas: 2",
    mend="Add apiVersion, kind and metadata.name; with a `target:` any name will do.",
)  # fmt: skip
def incomplete_identity(spot: Spot) -> Iterator[Found]:
    """What kustomize needs to take a text for a patch."""
    entry = spot.entry
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


@check(
    "D64", ERROR, ENTRY, "a patch that kustomize refuses",
    tools="Z",
    kubectl="Not concerned.",
    kustomize="The build fails.",
    example="patches:\n- path: empty.yaml",
    mend="Write one patch for one entry; a JSON 6902 list needs a `target:`.",
)  # fmt: skip
def refused_patch(site: EntrySite) -> Iterator[Found]:
    """Empty; several documents with a target; a JSON 6902 list without one; two texts."""
    entry, roots = site.entry, site.roots
    if entry.path and entry.inline is not None:
        yield Found(site.at, f"{entry.field} has both path and patch; keep one of them")
    elif not roots:
        yield Found(site.at, "the patch is empty; kustomize refuses it")
    elif entry.target is not None and len(roots) > 1:
        yield Found(site.at, "several documents in one patch with a target; kustomize refuses it")
    elif isinstance(roots[0], List) and entry.target is None:
        yield Found(site.at, "a JSON 6902 patch needs a target; kustomize refuses it without")


@check(
    "D69", ERROR, ENTRY, "a patch for a resource that is not there; deprecated fields",
    tools="Z", needs="T",
    kubectl="Not concerned.",
    kustomize="The build fails: `no matches for Id`; with a `target:` the patch does nothing. The "
    "old fields still work, with a warning.",
    example="patchesStrategicMerge:\n- web-patch.yaml",
    mend="Correct kind or name, or remove the patch; write `patches: [{path: ..}]` for the old "
    "fields.",
)  # fmt: skip
def without_target(site: EntrySite) -> Iterator[Found]:
    """The resource was renamed or removed, its patch was not."""
    targets = site.targets
    if targets is None or not targets.complete:
        return
    target = site.entry.target
    if target is not None:
        if not targets.selected(target):
            kind = target.text("kind") or "*"
            name = target.text("name") or "*"
            yield Found(site.at, f"no resource {kind}/{name} in this kustomization")
        return
    for root in site.roots:
        if not isinstance(root, Map):
            continue
        group, kind, _, name = identity(root)
        if kind and name and not targets.named(group, kind, name):
            yield Found(site.at, f"no resource {kind}/{name} in this kustomization")


@also("D69", OBJECT)
def deprecated_fields(site: ObjectSite) -> Iterator[Found]:
    """`patchesStrategicMerge`, `patchesJson6902`."""
    if is_kustomization(site.path, site.root):
        for field in ("patchesStrategicMerge", "patchesJson6902"):
            if field in site.root.fields:
                message = f"{field} is deprecated, use patches"
                yield Found(site.root.at_key(field), message, path=field, severity=INFO)


def needs_targets(entry: PatchEntry, kustomization: Kustomization | None) -> bool:
    """Whether D69 can say anything about an entry."""
    return kustomization is not None and (entry.is_a != JSON6902 or entry.target is not None)
