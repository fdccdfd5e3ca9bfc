"""Three directories to one: moved resources first, then file by file.

Manifests are merged by resource and field. Any other file is taken from the side that changed it;
where both did, the destination's stays and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kmerge_git.errors import CannotParse, KmergeError
from kmerge_git.merge.kyaml.api import Result
from kmerge_git.merge.three import Three, under, whose
from kmerge_git.packages.files import File, Package, is_manifest
from kmerge_git.packages.moves import Move, gather
from kmerge_git.packages.ways import Ways
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

Files = Three[File | None]
NOT_MERGED = Result(b"")


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
        """`added`, `deleted`, `changed` or `same`."""
        if self.before == self.after:
            return "same"
        return "added" if self.before is None else "deleted" if self.after is None else "changed"


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
    gathered, moves = gather(at)
    results = []
    paths = sorted({*gathered.base, *gathered.ours, *gathered.theirs})
    for number, path in enumerate(paths):
        files = under(gathered, path)
        if is_manifest(path, files.ours or files.theirs):
            result = _manifest(path, files, how)
        else:
            result = _other(path, files, how.two_way)
        results.append(replace(result, before=at.ours.get(path)))
        done(number + 1)
    return Merged(results, moves)


def _other(path: str, files: Files, two_way: bool) -> ResultFile:
    base, ours, theirs = files.base, files.ours, files.theirs
    side = whose(files)
    if side == "ours" or (two_way and theirs is None):
        return ResultFile(path, ours, ours)
    if side or two_way:
        return ResultFile(path, ours, theirs)
    how = "deleted" if theirs is None else "added" if base is None else "changed"
    mine = "deleted" if ours is None else "added" if base is None else "changed"
    why = f"{mine} in dest, {how} otherwise in updated"
    return ResultFile(path, ours, ours, unmerged=f"{why}; dest's version is kept")


def _manifest(path: str, files: Files, how: Ways) -> ResultFile:
    base, ours, theirs = files.base, files.ours, files.theirs
    if base == ours == theirs or (base is None and theirs is None):
        return ResultFile(path, ours, ours)
    mode = _mode(files)
    try:
        merged = how.manifest(files.map(lambda file: file.data if file is not None else b""), path)
    except KmergeError as error:
        if base == ours:
            return ResultFile(path, ours, theirs)
        if base == theirs:
            return ResultFile(path, ours, ours)
        if isinstance(error, CannotParse):
            raise
        return ResultFile(path, ours, ours, unmerged=f"{error.why}; dest's version is kept")
    after = None if _is_gone(merged.data, files) else File(merged.data, mode)
    return ResultFile(path, ours, after, merged)


def _mode(files: Files) -> int:
    at = files.map(lambda file: file.mode if file else None)
    takes_theirs = at.ours is None or (at.ours == at.base and at.theirs is not None)
    chosen = at.theirs if takes_theirs else at.ours
    return chosen if chosen is not None else 0o644


def _is_gone(data: bytes, files: Files) -> bool:
    """Whether nothing is left of a file that one side removed, or that never had anything."""
    if files.ours is not None and files.theirs is not None:
        return False
    try:
        return not split(Source(data)).documents
    except KmergeError:
        return False
