"""The versions of a file that `kmerge check` compares: before the commit, and the sides of a merge.

Git is asked only where a check wants to know: most files need none of this.
"""

from __future__ import annotations

import os
from functools import cache, cached_property

from kmerge_git.check.merges.history import NOTHING, GitVersions, MergeVersions
from kmerge_git.cli.check_places import from_top_of, git_directory, is_beyond, top_here
from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.git.blobs import Blobs
    from kmerge_git.git.conflicts import Stages
    from kmerge_git.git.mergesides import MergeSides
    from kmerge_git.git.sides import Entries
    from kmerge_git.kube.identity import Identity
    from kmerge_git.tree.nodes import Node

    VersionsOf = Callable[[str], GitVersions]

# what lies in git's folder while something is merged, and the variables of `git merge`
_TRACES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "SQUASH_MSG")
_VARIABLE = "GITHEAD_"
# values of the attribute `merge` under which a file is merged by what is in it
MERGING = ("set", "unset", "text", "union", "kmerge")


def versions_on_disk() -> VersionsOf:
    """The versions in git of files of the working tree; none outside of a repository."""
    folder = git_directory()
    if not folder:
        return lambda path: NOTHING
    reader = cache(_reader)
    merging = cache(lambda: may_be_merging(folder))

    def head(path: str) -> bytes | None:
        return found.of(path).head if (found := reader()) else None

    def merge(path: str) -> MergeVersions | None:
        return found.of(path).merge if merging() and (found := reader()) else None

    return lambda path: GitVersions(lambda: head(path), lambda: merge(path))


def _reader() -> Versions | None:
    from kmerge_git.git.blobs import blobs_of

    top = top_here()
    return Versions(top, blobs_of(top)) if top else None


def may_be_merging(git_directory: str) -> bool:
    """Whether something may be merged here just now; told without a question to git."""
    found = git_directory
    if os.path.isfile(found):  # `gitdir: PATH`, relative to the file
        with open(found, encoding="utf-8", errors="surrogateescape") as file:
            pointer = file.read().partition("gitdir:")[2].strip()
        found = os.path.join(os.path.dirname(found), pointer)
    return any(name.startswith(_VARIABLE) for name in os.environ) or any(
        os.path.exists(os.path.join(found, name)) for name in _TRACES
    )


class Versions:
    """The versions of files in a repository, in a merge in progress or in that of a commit."""

    def __init__(
        self, top: str, blobs: Blobs, commit: MergeSides | None = None, *, is_merging: bool = True
    ) -> None:
        self._top = top
        self._blobs = blobs
        self._is_merging = is_merging  # or may be
        self._commit = commit  # None: what is staged, and the merge in progress

    def of(self, path: str) -> GitVersions:
        """The versions of a file, by its path from the current folder."""
        name = from_top_of(self._top, path)
        if is_beyond(name):
            return NOTHING
        head = self._commit.ours if self._commit else "HEAD"
        return GitVersions(lambda: self._blobs.read(f"{head}:{name}"), lambda: self._merge(name))

    # -- in a merge ------------------------------------------------------------------------------

    @cached_property
    def sides(self) -> MergeSides | None:
        """The commits that are merged, if any are."""
        if not self._is_merging:
            return None
        from kmerge_git.git.mergesides import in_progress

        return self._commit or in_progress()

    def _merge(self, name: str) -> MergeVersions | None:
        if not self._is_merging:
            return None
        if self.sides is None:
            entries = self._applied(name)
            return MergeVersions(self._texts(entries), None) if entries else None
        case = self.sides.cases().get(name)
        if case is None or not case.is_text:
            return None
        at = self._texts(case.entries)
        result = self._blobs.read(f"{self.sides.result or ':0'}:{name}")
        if self._is_link(name, result):
            return None
        return MergeVersions(
            at,
            result,
            lost=lambda side: self._lost(at, side, name),
            was_in_conflict=lambda: self._was_in_conflict(at, name),
            elsewhere=self._elsewhere,
        )

    def _is_link(self, name: str, result: bytes | None) -> bool:
        """Whether the merge made a symbolic link of a file: its text is where it leads to."""
        if result is None or b"\n" in result:
            return False
        from kmerge_git.git.blobs import answer

        rev = self.sides.result if self.sides else ""
        words = ("ls-tree", "-z", rev) if rev else ("ls-files", "-sz")
        return answer("--literal-pathspecs", "-C", self._top, *words, "--", name)[:6] == b"120000"

    def _texts(self, entries: Entries) -> Three[bytes | None]:
        return Three(*(self._blobs.read(entry.oid) if entry else None for entry in entries))

    def _applied(self, name: str) -> Entries | None:
        """The sides of a file in which a commit that git applies was in conflict."""
        stages = self._resolved.get(name) if self._is_applying else None
        if stages is None or not (stages.ours and stages.theirs):
            return None
        head = self._blobs.read(f"HEAD:{name}")  # git remembers them longer than it needs them
        return stages.entries if head == self._blobs.read(stages.ours.oid) else None

    @cached_property
    def _is_applying(self) -> bool:
        from kmerge_git.git.mergesides import is_applying

        return is_applying()

    @cached_property
    def _resolved(self) -> dict[str, Stages]:
        """The files of which somebody has decided since the merge: they were in conflict."""
        from kmerge_git.git.undo import resolved_conflicts

        return {stages.path: stages for stages in resolved_conflicts(self._top)}

    def _was_in_conflict(self, at: Three[bytes | None], name: str) -> bool:
        """Whether somebody had to decide about a file, and so may have decided on purpose."""
        if self.sides is not None and self.sides.is_one_side:
            return True
        if self._commit is None:
            return name in self._resolved
        from kmerge_git.text.linemerge import TemporaryFiles

        base, ours, theirs = (text or b"" for text in at.each())
        return TemporaryFiles((base, ours, theirs)).result()[1] != 0

    def _lost(self, at: Three[bytes | None], side: str, name: str) -> tuple[str, ...]:
        """The fields that one side, as it is, has not, though they merge clean."""
        from kmerge_git.check.merges.lost import differences
        from kmerge_git.pipeline import merge_files  # of few files anybody asks

        if self._is_decided(name):
            return ()
        base, ours, theirs = (text or b"" for text in at.each())
        made = merge_files(base, ours, theirs, path=name, favor=side)
        if made.method == "kept" or not made.clean:
            return ()
        return differences(at.side(side) or b"", made.text, name)

    def _is_decided(self, name: str) -> bool:
        """Whether attributes say what becomes of a file: another driver, a generator."""
        drivers, generated = self._attributes
        return drivers.get(name, "set") not in MERGING or generated.get(name) in ("set", "true")

    @cached_property
    def _attributes(self) -> tuple[dict[str, str], dict[str, str]]:
        """Driver and generator of all files of the merge: a question for each takes too long."""
        from kmerge_git.git.checkattribute import in_working_tree

        names = self.sides.cases() if self.sides else ()
        drivers, generated = (
            in_working_tree(self._top, names, about) for about in ("merge", "kmerge-generated")
        )
        return drivers, generated

    def _elsewhere(self, wanted: Identity) -> list[Node]:
        """A resource as the other files of the merge have it: it may have moved."""
        from kmerge_git.kube.identity import identity
        from kmerge_git.text.source import Source
        from kmerge_git.tree.documents import split

        found = []
        for oid in self.sides.blobs() if self.sides else ():
            data = self._blobs.read(oid) or b""
            if wanted.name.encode() not in data:
                continue
            try:
                roots = split(Source(data)).roots
            except KmergeError:
                continue
            found += [root for root in roots if identity(root) == wanted]
        return found
