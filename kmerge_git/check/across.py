"""M04: what is wrong with the files of one kustomization together."""

from __future__ import annotations

from kmerge_git.check.kustomization import Kustomization
from kmerge_git.check.registry import ERROR, SET, Found, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.world import World


class SetSite:
    """A kustomization, where its files are read from, and which of them may have changed."""

    __slots__ = ("changed", "kustomization", "world")

    def __init__(self, kustomization: Kustomization, world: World, changed: set[str]) -> None:
        self.kustomization = kustomization
        self.world = world
        self.changed = changed

    def files(self) -> Iterator[tuple[str, int]]:
        """The files that may have a resource twice, and where the kustomization names them.

        Where the kustomization itself did not change, a file that did not change either is read
        only if it holds the name of a resource of one that did: parsing is what takes time.
        """
        own = [
            (path, at)
            for path, _, at, field in self.kustomization.resources
            if field == "resources" and not self.world.is_directory(path)
        ]
        everything = self.kustomization.path in self.changed
        names = {
            identity[3].encode()
            for path, _ in own
            if path in self.changed
            for identity, _ in self.world.identities(path) or ()
        }
        for path, at in own:
            if everything or path in self.changed or self.mentions(path, names):
                yield path, at

    def mentions(self, path: str, names: set[bytes]) -> bool:
        """Whether a file holds one of these names."""
        data = self.world.read(path) or b""
        return any(name in data for name in names)


@check(
    "M04", ERROR, SET, "the same resource in two files of one kustomization",
    kubectl="Both are applied, one after the other; the last one wins.",
    kustomize="The build fails: `may not add resource with an already registered id`.",
    example="resources:\n- web.yaml    # has Deployment/web\n- app.yaml    # has it too",
    mend="Keep it in one file: one side of a merge may have moved it while the other kept it.",
)  # fmt: skip
def same_resource_in_two_files(site: SetSite) -> Iterator[Found]:
    """A moved resource and its old copy."""
    seen: dict[tuple[str, str, str, str], str] = {}
    for path, at in site.files():
        for identity, line in site.world.identities(path) or ():
            if not identity[1] or not identity[3]:
                continue
            first = seen.setdefault(identity, path)
            if first != path:
                yield Found(
                    at, f"{identity[1]}/{identity[3]} in line {line} of {path} is in {first} too"
                )
