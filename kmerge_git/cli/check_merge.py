"""`kmerge check --merge` and `--merge-of REV`: a merge is compared with its sides.

What a side has already is no damage of the merge: such findings are left out.
"""

from __future__ import annotations

from collections import Counter

from kmerge_git.check.checked_texts import World, nowhere
from kmerge_git.check.merges.git_versions import NOTHING
from kmerge_git.check.registry import HISTORY, MERGED, MERGED_UNREAD, get
from kmerge_git.check.run import Run, check_files
from kmerge_git.cli.check_files import (
    Versions,
    disk_world,
    is_manifest_name,
    staged_world,
    world_of,
)
from kmerge_git.cli.check_repository import from_here, from_top_of, top_of
from kmerge_git.cli.printing import say
from kmerge_git.errors import UsageError
from kmerge_git.git.merge_sides import MergeSides, in_progress, of_commit
from kmerge_git.git.tracked_files import blobs_of, committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.cli.check_files import VersionsOf
    from kmerge_git.finding import Finding

BESIDE = (HISTORY, MERGED, MERGED_UNREAD)
# of a merge the checks of merges are asked, if nothing else is selected, and whether patches have
# a target still
SELECTED = ["merge-damage", "D69"]


class MergeCheck:
    """A merge whose files are checked: the one in progress, or a commit."""

    def __init__(self, rev: str = "", *, staged: bool = False) -> None:
        self._top = top_of("--merge-of" if rev else "--merge")
        self._staged = staged
        found: MergeSides | str | None = None if rev else in_progress()
        found = found or of_commit(rev or "HEAD")
        if isinstance(found, str):
            if rev:
                raise UsageError(f"it is {found}", path=rev, hint="name a merge of two commits")
            say(f"kmerge: no merge is in progress, and HEAD is {found}: nothing to compare")
            found = None
        self.sides = found
        self._blobs = blobs_of(self._top, len(found.cases()) if found else 0)

    def world(self, paths: list[str]) -> tuple[World, VersionsOf, list[str]]:
        """How to read the files of the merge, their versions, and which ones to check."""
        if self.sides is None:
            return nowhere(), lambda path: NOTHING, []
        names = [name for name in self.sides.cases() if is_manifest_name(name)]
        chosen = self._chosen(names, paths)
        if self.sides.result:
            rev = self.sides.result
            versions = Versions(self._top, self._blobs, self.sides)
            return self._world(rev), versions.of, chosen
        world, of, _ = staged_world(chosen) if self._staged else disk_world(chosen)
        return world, of, chosen

    def _chosen(self, names: list[str], paths: list[str]) -> list[str]:
        """Those that are named, or lie in a folder that is."""
        wanted = [from_top_of(self._top, path) for path in paths]
        for path, place in zip(paths, wanted, strict=True):
            if place != "." and not any(n == place or n.startswith(f"{place}/") for n in names):
                hint = "name files that both sides changed, or none for all of them"
                raise UsageError("not both sides of the merge changed it", path=path, hint=hint)
        return [
            from_here(self._top, name)
            for name in names
            if not wanted or any(w in (".", name) or name.startswith(f"{w}/") for w in wanted)
        ]

    def _world(self, rev: str) -> World:
        return world_of(self._top, self._blobs, rev, lambda: committed(self._top, rev))

    def brought(self, findings: list[Finding], chosen: frozenset[str] | None) -> list[Finding]:
        """The findings that neither side has already."""
        # what is said beside the sides is said of no side
        paths = sorted({f.file for f in findings if get(f.id).scope not in BESIDE})
        if self.sides is None or not paths:
            return findings
        known: Counter[tuple[str, ...]] = Counter()
        for rev in (self.sides.ours, self.sides.theirs):
            worker = Run(self._world(rev), chosen)
            known |= Counter(map(_words, check_files(paths, worker)))
        left = []
        for finding in findings:
            if known[_words(finding)]:
                known[_words(finding)] -= 1
            else:
                left.append(finding)
        return left


def _words(finding: Finding) -> tuple[str, ...]:
    """What is the same of a finding wherever in its file it stands."""
    return finding.file, finding.id, finding.path, finding.message
