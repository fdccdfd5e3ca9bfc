"""Which documents of a merge say what was decided, and what becomes of those that do not."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.text.pieces import Hunk, side_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.documents import Merged, Resource


class Unproved(Unsupported):
    """A text that is not what was decided: a bug, or an alias that lost its anchor."""


def prove(merged: Merged, side: str) -> None:
    """Every document that was merged inside says what its plan says."""
    for resource in merged.resources:
        if not _holds(resource, side):
            raise Unproved(
                f"the merged text of {resource.name or 'a document'} did not pass the proof"
            )


def give_up_unproved(merged: Merged) -> None:
    """Documents whose text is not what was decided become a conflict as a whole."""
    for resource in merged.resources:
        if not (_holds(resource, "ours") and _holds(resource, "theirs")):
            texts = resource.at.map(lambda d: d.content if d is not None else "")
            why = "cannot be merged by structure"
            resource.pieces = [Hunk(texts.base, texts.ours, texts.theirs, "", why)]
            resource.plan = resource.elided = None


def _holds(resource: Resource, side: str) -> bool:
    from kmerge_git.merge.verify.proof import holds

    if resource.plan is None:
        return True
    text = (resource.opening or "---\n") + side_text(resource.pieces, side)
    return holds(text, resource.plan, side)
