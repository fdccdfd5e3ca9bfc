"""The word after a whole merge: what was resolved, what was followed, what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kmerge_git.cli.accounts import counted
from kmerge_git.cli.files import say
from kmerge_git.whole.merging import plain, plain_decision
from kmerge_git.whole.settling import FileMerge
from kmerge_git.whole.solving import SolvePlan

MOST = 10  # lines of one sort


def tell_merge(plan: SolvePlan, left: Sequence[str]) -> None:
    """A few lines on stderr; none where git alone would have done the same."""
    for line in plan.problems:
        say(f"kmerge: {line}")
    for line in _lines(plan, left):
        say(f"kmerge: {line}")


def _lines(plan: SolvePlan, left: Sequence[str]) -> Iterator[str]:
    by_git = _in_conflict_by_git(plan)
    resolved = [path for path in by_git if path not in left]
    if resolved:
        rest = f", {len(by_git) - len(resolved)} left" if len(by_git) > len(resolved) else ""
        yield (
            f"git alone leaves {counted(len(by_git), 'file')} in conflict: "
            f"{len(resolved)} resolved by structure{rest}"
        )
    yield from _some(list(_followed(plan)))
    better = [file.path for file in plan.files if file.result == "improved"]
    if better:
        yield f"git's lines merge clean, structure says otherwise and stands: {_names(better)}"
    # where a policy or a favoured side decided
    yield from _some([f"{file.path}: {words}" for file in plan.files for words in file.chosen])
    slow = [f"{file.path}: {_reason(file)}" for file in plan.files if "no result" in _reason(file)]
    yield from _some(slow)
    if left:
        mine = [line for file in plan.files for line in _what_is_left(file, left)]
        yield from _some(mine)
        if plan.others:
            yield f"left as git left it, no manifest: {_names(plan.others)}"
        yield _what_next([file for file in plan.files if file.path in left], plan.others)


def _what_next(files: Sequence[FileMerge], others: Sequence[str]) -> str:
    """How to finish what is left of manifests, of other files, or of both."""
    if not any(file.asks for file in files):
        why = "`kmerge explain` says why; then " if files else ""
        return f"{why}edit, `git add` and `git commit`"
    by_hand = others or not all(file.asks for file in files)
    rest = ", of the rest edit and `git add`" if by_hand else ""
    return (
        f"`kmerge resolve` asks field by field{rest}, `kmerge explain` says why; then `git commit`"
    )


def _in_conflict_by_git(plan: SolvePlan) -> list[str]:
    """What git alone would have left to a person."""
    mine = [f.path for f in plan.files if not f.git_clean]
    return [*mine, *plan.others]


def _followed(plan: SolvePlan) -> Iterator[str]:
    for file in plan.files:
        for move in file.moves if file.stages and file.verdict == "solved" else ():
            yield f"{move.resource} moved to {move.target}: its change in {move.source} follows it"


def _what_is_left(file: FileMerge, left: Sequence[str]) -> Iterator[str]:
    if file.path not in left:
        return
    if file.conflicts:
        by_lines = file.why if file.method == "lines" else ""
        for conflict in file.conflicts:
            yield f"left: {file.path}: {conflict.shown()}" + (f" ({by_lines})" if by_lines else "")
    else:
        yield f"left: {file.path}: {file.why}"


def _reason(file: FileMerge) -> str:
    return file.both.outcome.reason if file.both else ""


def _some(lines: list[str]) -> list[str]:
    rest = len(lines) - MOST
    return lines if rest <= 0 else [*lines[:MOST], f"... and {rest} more"]


def _names(paths: Sequence[str]) -> str:
    return ", ".join(_some(list(paths)))


def as_json(
    code: int, plan: SolvePlan | None, left: Sequence[str] = (), *, by_git: bool = False
) -> dict[str, Any]:
    """The merge for programs; a schema grows by fields, and changes with its number."""
    files = plan.files if plan else ()
    return {
        "schema": 1,
        "exit": code,
        "made_by": "git" if by_git else "kmerge",
        "clean": code == 0,
        "git_alone": _in_conflict_by_git(plan) if plan else [],
        "left": list(left),
        "files": [_file(file) for file in files],
        "problems": list(plan.problems) if plan else [],
    }


def _file(file: FileMerge) -> dict[str, Any]:
    return {
        "path": file.path,
        "situation": file.situation,
        "result": file.result,
        "git": "clean" if file.git_clean else "conflict",
        "method": file.method,
        "why": file.why,
        "moves": [
            {"resource": move.resource, "from": move.source, "to": move.target}
            for move in file.moves
        ],
        "decided": [plain_decision(d) for d in file.decisions if d.is_settled],
        "conflicts": [plain(conflict) for conflict in file.conflicts],
    }
