"""Resolve every conflict to the favoured side."""

from __future__ import annotations

from kmerge_git.merge.verify import line_damage
from kmerge_git.outcome import Outcome
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.plan import Journal
    from kmerge_git.merge.three import Three
    from kmerge_git.outcome import Options


def favored(merged: Outcome, texts: Three[YamlText], options: Options, journal: Journal) -> Outcome:
    """Return the merge with all conflicts resolved to the favoured side.

    If the resolved file would be damaged, leave the conflicts in the merge.
    """
    data: bytes = merged.open_merge.decided(options.favor)
    if line_damage.breaks(YamlText(data, options.path), texts):
        return merged
    journal.favor(options.favor, merged.conflicts)
    return Outcome(data, True, merged.method, reason=merged.reason)
