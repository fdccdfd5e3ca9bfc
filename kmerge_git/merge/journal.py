"""The journal of a merge: every decision with its place, its side and its rule."""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.outcome import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.outcome import Conflict

FAVOR = "13 favor"


class Note:
    """A decision at a place, with the texts of both sides where one of them loses."""

    __slots__ = ("ours", "path", "rule", "side", "theirs", "what")

    def __init__(
        self, path: Path, what: str, side: str, rule: str, ours: str = "", theirs: str = ""
    ) -> None:
        self.path = path
        self.what = what
        self.side = side
        self.rule = rule  # its number in docs/merge-rules.md
        self.ours = ours
        self.theirs = theirs

    def favored(self, side: str) -> Note:
        """Return the note with a favoured side: that side wins the conflict."""
        if self.side != "conflict":
            return self
        return Note(self.path, self.what, side, FAVOR, self.ours, self.theirs)


class Journal:
    """Collect the notes of a merge, resource by resource."""

    __slots__ = ("notes", "resource", "unnoted")

    def __init__(self, resource: str = "") -> None:
        self.notes: list[tuple[str, Note]] = []
        self.resource = resource  # the resource that is being merged
        # conflicts of comments and of doubtful places that were decided for the favoured side
        self.unnoted: tuple[Decision, ...] = ()

    def write(self, notes: Iterable[Note]) -> None:
        """Remember decisions."""
        self.notes += [(self.resource, note) for note in notes]

    def trial(self) -> Journal:
        """Return an empty journal for decisions that may be dropped."""
        return Journal(self.resource)

    def adopt(self, trial: Journal) -> None:
        """Remember the decisions of a trial."""
        self.notes += trial.notes

    def settled(self) -> list[tuple[str, Path]]:
        """Return the places that a policy or the favourite side decided, each with its resource."""
        return [(r, note.path) for r, note in self.notes if note.rule.startswith(("12", "13"))]

    def favor(self, side: str, conflicts: Iterable[Conflict]) -> None:
        """Remember that every conflict was decided for a side."""
        whole = {c.resource for c in conflicts if not c.field}
        self.notes = [
            (resource, note.favored(side))
            for resource, note in self.notes
            # of a resource that is one conflict, no other conflict was left
            if not (note.side == "conflict" and note.path and resource in whole)
        ]
        noted = {(resource, fieldpath.show(note.path)) for resource, note in self.notes}
        self.unnoted = tuple(
            Decision(c.resource, c.field, c.why, side, FAVOR)
            for c in conflicts
            if (c.resource, c.field) not in noted
        )

    def decisions(self) -> tuple[Decision, ...]:
        """Return the notes for people: with places as text."""
        noted = (
            Decision(resource, fieldpath.show(n.path), n.what, n.side, n.rule, n.ours, n.theirs)
            for resource, n in self.notes
        )
        return (*noted, *self.unnoted)
