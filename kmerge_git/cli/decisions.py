"""What came of a place of a merge, in a line: for `--explain` and `kmerge explain`."""

from __future__ import annotations

from kmerge_git.cli.losses import place
from kmerge_git.merge.inwords import in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.outcome import Decision

LONGEST = 70  # characters of a value
AROUND = 12  # characters that are shown in front of what differs in two long ones


def explain_line(decision: Decision) -> str:
    """`Deployment/web spec.replicas: changed -> theirs: base 1, ours 1, theirs 3 (rule 1: ..)`."""
    return (
        f"{place(decision)}: {decision.what} -> {decision.side}{_three(decision)} ({by(decision)})"
    )


def by(decision: Decision) -> str:
    """`rule 12 policy higher: both changed it, and a policy for the field decides`."""
    words = in_words(decision.rule)
    return f"rule {decision.rule}: {words}" if words else f"rule {decision.rule}"


def _three(decision: Decision) -> str:
    values = {"base": decision.base, "ours": decision.ours, "theirs": decision.theirs}
    if not any(values.values()):
        return ""
    return ": " + ", ".join(f"{name} {short(value)}" for name, value in values.items())


def beside(old: str, new: str) -> tuple[str, str]:
    """Two values side by side: of long ones what differs, and a little around it."""
    if max(len(old), len(new)) <= LONGEST or not (old and new):
        return short(old), short(new)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    first = max(start - AROUND, 0)
    if first <= AROUND:
        return short(old), short(new)
    return f"…{short(old[first:])}", f"…{short(new[first:])}"


def short(text: str) -> str:
    """A value that fits in a line."""
    if not text:
        return "(nothing)"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
