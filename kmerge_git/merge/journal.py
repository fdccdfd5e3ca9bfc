"""The journal of a merge: every decision with its place, its side and its rule.

It also settles clashes: by a favourite side, or by a policy for the place.
"""

from __future__ import annotations

from kmerge_git.kube.fieldpath import show
from kmerge_git.outcome import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.tree.nodes import Entry

    Policy = Callable[[Path, list[Entry], list[Entry], list[Entry]], "tuple[str, str] | None"]


class Journal:
    """Collects decisions; says which side wins a clash, if any does."""

    __slots__ = ("decisions", "favor", "policy", "resource")

    def __init__(self, favor: str = "", policy: Policy | None = None) -> None:
        self.decisions: list[Decision] = []
        self.favor = favor
        self.policy = policy
        self.resource = ""  # the resource that is being merged

    def note(
        self, path: Path, what: str, side: str, rule: str, ours: str = "", theirs: str = ""
    ) -> None:
        """Remember a decision."""
        place = show(path)
        self.decisions.append(Decision(self.resource, place, what, side, rule, ours, theirs))

    def settle(
        self, path: Path, base: list[Entry], ours: list[Entry], theirs: list[Entry], why: str
    ) -> str:
        """`ours` or `theirs` where a policy or the favourite side decides, else nothing."""
        if self.policy is not None:
            decided = self.policy(path, base, ours, theirs)
            if decided is not None:
                side, rule = decided
                self.note(path, why, side, rule)
                return side
        if self.favor:
            self.note(path, why, self.favor, "13 favor")
            return self.favor
        self.note(path, why, "conflict", "1")
        return ""
