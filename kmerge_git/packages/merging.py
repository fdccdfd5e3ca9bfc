"""Three directories to one: renamed files first, then moved resources, then file by file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kmerge_git.merge.kyaml.api import Result
from kmerge_git.merge.three import Three, under
from kmerge_git.packages.filemerge import NOT_MERGED, merge_file
from kmerge_git.packages.files import File, Package
from kmerge_git.packages.follow import Followed, folders, follow
from kmerge_git.packages.moves import Move, gather
from kmerge_git.packages.ways import Ways


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One file of the result, beside what the destination had."""

    path: str
    before: File | None
    after: File | None
    merged: Result = NOT_MERGED
    unmerged: str = ""  # why this is left to a person; the destination's stays
    note: str = ""  # what a person should know, and need not decide
    source: str = ""  # where it was before it was renamed

    @property
    def is_conflict(self) -> bool:
        """Whether a person must decide: there are markers inside, or it could not be merged."""
        return bool(self.merged.conflicts or self.unmerged)

    @property
    def status(self) -> str:
        """`added`, `deleted`, `changed`, `renamed` or `same`."""
        if self.before == self.after:
            return "same"
        if self.before is None:
            return "renamed" if self.source else "added"
        return "deleted" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class Merged:
    """Every file of the result in the order of paths, and what moved between files."""

    files: list[ResultFile]
    moves: list[Move]

    @property
    def changes(self) -> dict[str, File | None]:
        """What is to be written over the destination; None takes a file away."""
        return {r.path: r.after for r in self.files if r.status != "same"}


def merge_packages(
    at: Three[Package], how: Ways, *, done: Callable[[int], None] = lambda count: None
) -> Merged:
    """Merge what changed from base to theirs into ours, which lies in the destination.

    Two-way the base is empty. No file is read or written; `done` hears how many files are merged.
    """
    followed = follow(at, how.words)
    gathered, moves = gather(followed.at, followed.named_by_dest)
    results = {}
    paths = {*gathered.base, *gathered.ours, *gathered.theirs, *at.ours}
    for number, path in enumerate(sorted(paths)):
        found = merge_file(path, under(gathered, path), how)
        results[path] = ResultFile(
            path,
            at.ours.get(path),
            found.after,
            found.merged,
            "; ".join(filter(None, [followed.refused.get(path, ""), found.unmerged])),
            followed.notes.get(path, ""),
            followed.sources.get(path, "") if found.after is not None else "",
        )
        done(number + 1)
    _keep_folders_apart(results, how)
    made = [move for move in [*_renames(followed, results), *moves] if _is_made(move, results)]
    return Merged([*results.values()], made)


def _is_made(move: Move, results: dict[str, ResultFile]) -> bool:
    """Whether the destination had it elsewhere so far; the same update once more moves nothing."""
    found = [results[path] for path in (move.source, move.target) if path in results]
    return any(file.status != "same" for file in found)


def _renames(followed: Followed, results: dict[str, ResultFile]) -> list[Move]:
    return [
        Move("", source, target)
        for target, source in sorted(followed.sources.items())
        if target in results and results[target].after is not None
    ]


def _keep_folders_apart(results: dict[str, ResultFile], how: Ways) -> None:
    """What would be a file and a folder at once: dest's stays, and it is told."""
    for path in list(results):
        if results[path].after is None:
            continue
        for folder in folders(path):
            other = results.get(folder)
            if other is None or other.after is None:
                continue
            late = path if results[path].before is None else folder
            why = f"a folder in one version, a file in another; {how.words.ours}'s stays"
            results[late] = replace(results[late], after=results[late].before, unmerged=why)
