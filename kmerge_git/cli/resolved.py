"""What came of the questions: the files that are staged, those that are not, and what is next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kmerge_git.cli.accounts import counted
from kmerge_git.cli.files import say, tell
from kmerge_git.errors import KmergeError

if TYPE_CHECKING:
    from kmerge_git.whole.resolving import Resolving

MERGETOOL = "mergetool"
_LINES = 10  # files that are told of each kind


def told(resolving: Resolving, staged: Collection[str], failed: Mapping[str, str]) -> int:
    """Tell what became of the files and what ends the operation; the exit code."""
    left = _left(resolving)
    if not stages(resolving):
        return _told_of_one(left, staged, failed)
    unmerged = _unmerged()
    left = left if unmerged is None else _within(unmerged, left)
    known = {*left, *failed, *(path for path, _ in resolving.unasked)}
    unasked = sorted(set(unmerged or ()) - known)
    _lines("staged", list(staged))
    _lines("left", [f"{path}: {counted(n, 'conflict')}" for path, n in left.items()])
    _lines("left", [f"{path}: not written: {why}" for path, why in failed.items()])
    _lines("alone", [f"{path}: {why}" for path, why in resolving.unasked])
    _lines("alone", [f"{path}: not asked for" for path in unasked])
    said = _begin(resolving, staged)
    rest = len(known) + len(unasked)
    operation = resolving.operation
    if rest:
        more = "; `kmerge resolve` goes on" if left or failed else ""
        said += f", {counted(rest, 'file')} left in conflict{more}"
    elif operation.name == "stash":
        said += "; the stash entry is kept: `git stash list`"
    elif operation.finish:
        said += f"; finish with `{operation.finish}`"
    say(f"kmerge: {said}")
    return 1 if left or failed else 0


def _begin(resolving: Resolving, staged: Collection[str]) -> str:
    if staged or resolving.questions or resolving.unasked:
        return f"{counted(len(staged), 'file')} staged"
    return "nothing is in conflict"


def _left(resolving: Resolving) -> dict[str, int]:
    """How many questions of each file have no answer."""
    left: dict[str, int] = {}
    for question in resolving.left:
        left[question.path] = left.get(question.path, 0) + 1
    return left


def _within(unmerged: Collection[str], left: Mapping[str, int]) -> dict[str, int]:
    """Those that still are in conflict: somebody may have ended some of them meanwhile."""
    return {path: count for path, count in left.items() if path in unmerged}


def stages(resolving: Resolving) -> bool:
    """Whether a file that is written is staged as well; what a merge tool wrote, git stages."""
    return resolving.operation.name != MERGETOOL


def _told_of_one(left: Mapping[str, int], written: Iterable[str], failed: Mapping[str, str]) -> int:
    for path in written:
        say(f"kmerge: {path}: merged, no conflict is left")
    for path, count in left.items():
        say(f"kmerge: {path}: {counted(count, 'conflict')} left")
    for path, why in failed.items():
        say(f"kmerge: {path}: not written: {why}")
    return 1 if left or failed else 0


def _unmerged() -> list[str] | None:
    """All that git still calls unmerged, asked about or not; None: this is no repository."""
    from kmerge_git.git.repository import Repository

    try:
        return [stages.path for stages in Repository.open().conflicts()]
    except KmergeError:  # three files in no repository may be asked about as well
        return None


def _lines(what: str, lines: Sequence[str]) -> None:
    for line in lines[:_LINES]:
        tell(f"{what:<7} {line}")
    if len(lines) > _LINES:
        tell(f"{what:<7} and {len(lines) - _LINES} more")
