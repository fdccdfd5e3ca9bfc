"""M04: what is wrong with the files of one kustomization together."""

from __future__ import annotations

from kmerge_git.check.registry import ERROR, SET, Check, Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.kustomization import Kustomization
    from kmerge_git.check.world import World


@Check(
    "M04", ERROR, SET, "the same resource in two files of one kustomization",
    kubectl="Both are applied, one after the other; the last one wins.",
    kustomize="The build fails: `may not add resource with an already registered id`.",
    example="resources:\n- web.yaml    # has Deployment/web\n- app.yaml    # has it too",
    mend="Keep it in one file: one side of a merge may have moved it while the other kept it.",
)  # fmt: skip
def same_resource_in_two_files(
    kustomization: Kustomization, world: World, changed: set[str]
) -> Iterator[Found]:
    """A resource that one side of a merge moved to another file, and its old copy."""
    seen: dict[tuple[str, str, str, str], str] = {}
    for path, at in _files(kustomization, world, changed):
        for identity, line in world.identities(path) or ():
            if not identity[1] or not identity[3]:
                continue
            first = seen.setdefault(identity, path)
            if first != path:
                yield Found(
                    at, f"{identity[1]}/{identity[3]} in line {line} of {path} is in {first} too"
                )


def _files(
    kustomization: Kustomization, world: World, changed: set[str]
) -> Iterator[tuple[str, int]]:
    """The files that may have a resource twice, and where the kustomization names them.

    Where the kustomization itself did not change, a file that did not change either is read
    only if it holds the name of a resource of one that did: parsing is what takes time.
    """
    own = [
        (path, at)
        for path, _, at, field in kustomization.resources
        if field == "resources" and not world.is_directory(path)
    ]
    everything = kustomization.path in changed
    names = {
        identity[3].encode()
        for path, _ in own
        if path in changed
        for identity, _ in world.identities(path) or ()
    }
    for path, at in own:
        if everything or path in changed or _mentions(world.read(path) or b"", names):
            yield path, at


def _mentions(data: bytes, names: set[bytes]) -> bool:
    return any(name in data for name in names)
