"""Describe each change that a merge dropped, in one line.

The merge driver uses this module as well, so it does not load argparse.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.outcome import Decision


LONGEST = 60  # the most characters shown of a value


def loss(decision: Decision, words: dict[str, str], path: str = "", what: str = "") -> str:
    """Describe a dropped change in one line.

    For example `lost: a.yaml: Service/web spec.port: changed on both sides (M2): dest 3, ..`.
    """
    rule = decision.rule.removesuffix(" lost")
    return (
        f"lost: {place(decision, path)}: {what or decision.what} ({rule}){values(decision, words)}"
    )


def is_loss(decision: Decision) -> bool:
    """Return whether the merge dropped a change of one side without reporting a conflict."""
    return decision.rule.endswith(" lost")


def place(decision: Decision, path: str = "") -> str:
    """Return the place of a decision, such as `a.yaml: Deployment/web spec.replicas`."""
    return ": ".join(part for part in (path, decision.place) if part)


def values(decision: Decision, words: dict[str, str]) -> str:
    """Return the values of both sides, such as `: dest 3, updated 2`, or '' if both are unknown."""
    if not (decision.ours or decision.theirs):
        return ""
    dest, other = _short(decision.ours), _short(decision.theirs)
    return f": {words['ours']} {dest}, {words['theirs']} {other}"


def _short(text: str) -> str:
    line = " ".join(text[:1000].split())
    if not line:
        return "has nothing"
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
