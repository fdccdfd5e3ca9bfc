"""M11, M28: find the changes of a side that the result of a merge does not have."""

from __future__ import annotations

from kmerge_git.bounds import FOUND_PLACES, MESSAGE_NAMES
from kmerge_git.check.merges.judged_file import judged_file
from kmerge_git.check.merges.merge_walk import GONE
from kmerge_git.check.registry import (
    CHARTS,
    ERROR,
    MERGED,
    MERGED_TEMPLATE,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.finding import DROPPED
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kmerge_git.check.merges.merged_files import SidedFile
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.verdict.losses import Judged

_MEANT = (
    "If the loss is intended, commit with `KMERGE_CHECK_IGNORE={id} git commit`, or, to accept it "
    f"forever, add a line `{DROPPED}: {{line}}` to the end of the message of the merge commit."
)


@Check(
    "M11", ERROR, MERGED, "a merge dropped all changes of one side",
    by_comment=False,
    kubectl="The file is valid, but the changes of one branch are lost.",
    kustomize="The file is valid, but the changes of one branch are lost.",
    example="# base:\nreplicaCount: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicaCount: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1",
    counter="# base:\nreplicaCount: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicaCount: 3\nimage:\n  name: web\n  tag: v1\n"
    "# committed:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1",
    mend="`git checkout -m -- FILE` restores the conflicts of FILE and discards your edits in this "
    "file. `git merge --abort` cancels the whole merge. "
    + _MEANT.format(id="M11", line="FILE"),
)  # fmt: skip
def side_dropped(merged: SidedFile) -> Iterator[Found]:
    """Find a merged file that has none of the changes of one side.

    If both sides changed only the same places, taking one side loses nothing.
    """
    file = judged_file(merged)
    for side in file.dropped:
        rows = [row for row in file.lost if row.side == side]
        names = list(dict.fromkeys(map(place_of, rows)))
        left = len(names) - MESSAGE_NAMES
        more = f" and {left} more" if left > 0 else ""
        who = f"only {side}" if file.is_of_one_side else "both sides"
        what = f"{who} changed this file, but the merge has no change of {side}; lost: "
        what += f"{', '.join(names[:MESSAGE_NAMES])}{more}"
        yield Found(0, what, severity=file.severity(rows), meant=merged.name)


@Check(
    "M28", ERROR, MERGED, "a change that was lost in a merge",
    by_comment=False,
    kubectl="The file is valid, but a change of one branch is lost.",
    kustomize="The file is valid, but a change of one branch is lost.",
    example="# base:\nreplicaCount: 1\nport: 80\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicaCount: 2\nport: 80\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicaCount: 1\nport: 81\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicaCount: 2\nport: 80\nimage:\n  name: web\n  tag: v2",
    counter="# base:\nreplicaCount: 1\nport: 80\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicaCount: 2\nport: 80\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicaCount: 1\nport: 81\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicaCount: 2\nport: 81\nimage:\n  name: web\n  tag: v2",
    mend="Make the change again. "
    + _MEANT.format(id="M28", line="FILE FIELD"),
)  # fmt: skip
def change_lost(merged: SidedFile) -> Iterator[Found]:
    """Find each change of a side that the result does not have, and the order of documents.

    A field whose value is on no side is not lost: somebody chose that value.
    """
    file = judged_file(merged)
    gone = [odd.path for odd in merged.odd(GONE)] if file.lost else []
    rows = [
        row
        for row in file.lost
        if row.side not in file.dropped
        and not (row.is_gone and any(_is_in(row, place) for place in gone))
    ]
    for row in rows[:FOUND_PLACES]:
        meant = f"{merged.name} {place_of(row)}"
        severity = file.severity([row])
        yield Found(row.at, message_of(row), path=row.path, severity=severity, meant=meant)
    left = rows[FOUND_PLACES:]
    if left:
        what = f"{counted(len(left), 'more lost change')} in this file"
        yield Found(0, what, severity=file.severity(left), meant=merged.name)
    turned = merged.turned()
    if turned:
        document, name, other = turned
        what = f"{name} is after {other}, but before it on one side of the merge"
        yield Found(document.start, what, severity=WARNING, meant=f"{merged.name} {name}")


also("M11", MERGED_TEMPLATE)(side_dropped)
also("M28", MERGED_TEMPLATE)(change_lost)


_AT = "# file: Chart.yaml\nversion: "
_RAISED = f"# base:\n{_AT}1.2.0\n# ours:\n{_AT}1.3.0\n# file: values.yaml\na: 1\n# theirs:\n{_AT}"


@Check(
    "M29", WARNING, CHARTS, "two releases of a chart with the same version",
    by_comment=False,
    kubectl="The chart is valid, but two different releases have the same version.",
    kustomize="The chart is valid, but two different releases have the same version.",
    example=f"{_RAISED}1.3.0\n# committed:\n{_AT}1.3.0",
    counter=f"{_RAISED}1.2.1\n# committed:\n{_AT}1.3.0",
    mend="Raise the version once more, unless one side cherry-picked the release of the other "
    "side.",
)  # fmt: skip
def raised_alike(messages: Iterable[str]) -> Iterator[Found]:
    """Report charts that both sides raised to one version, though other files of them differ."""
    for message in messages:
        yield Found(0, message)


def _is_in(row: Judged, place: Path) -> bool:
    """Return whether a place is that of a field or list whose lost parts M21 reports."""
    return row.path[: len(place)] == place


def place_of(row: Judged) -> str:
    """Return the resource and the field of a lost change; lines of a template have no field."""
    return row.place or "a line of the template"


def message_of(row: Judged) -> str:
    """Return the message about a lost change."""
    who = "both sides" if row.side == "both" else row.side
    before = row.values.base
    after = row.values.ours if row.side == "both" else row.values.side(row.side)
    place = place_of(row)
    if row.kind == "line":
        return f"{place}: {who} changed this text, but the merge lacks the changed line: {after}"
    if row.kind == "order":
        return f"{place}: {who} changed the order, but the merge has the old order"
    if not after:
        return f"{place}: {who} deleted this, but the merge still has it"
    if not before:
        return f"{place}: {who} added this, but the merge does not have it"
    if not row.result:
        return f"{place}: {who} changed this, but the merge does not have it"
    return f"{place}: {who} changed it from {before} to {after}, but the merge has {row.result}"
