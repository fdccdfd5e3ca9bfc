"""Merge each case of a world in both orders of the sides, and count what the answers are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from worlds.lines import git_lines
from worlds.listings import Listing, Tokens
from worlds.moved_edits import Answers, verdict

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome

Case = tuple[Tokens, Tokens, Tokens, Answers]


@dataclass
class Verdicts:
    """The counts, and the cases that are not as they should be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    git_was_right: list[str] = field(default_factory=list)

    def add(self, other: Verdicts) -> None:
        """Count the cases of another world as well."""
        self.counts += other.counts
        self.git_was_right += other.git_was_right


def verdicts(listing: Listing, cases: Iterable[Case]) -> Verdicts:
    """Merge the cases; a result that is right by the edits alone counts as wrong."""
    judged = Verdicts()
    for base, ours, theirs, answers in cases:
        name = " | ".join(map(" ".join, (base, ours, theirs)))
        trio = [listing.write(version) for version in (base, ours, theirs)]
        both = [
            merge_files(trio[0], *sides, path=listing.path, line_merge=git_lines)
            for sides in (trio[1:], trio[:0:-1])
        ]
        answer, mirrored = (
            verdict(listing, answers, outcome.text if outcome.clean else None) for outcome in both
        )
        is_single = len(answers.lawful) == 1 and not answers.may_conflict
        judged.counts += Counter(
            {"all": 1, answer: 1, "single": is_single, "found": is_single and answer == "right"}
        )
        for word, outcome in zip((answer, mirrored), both, strict=True):
            if word in ("wrong", "bold"):
                judged.wrong.append(f"{name}: {listing.read(outcome.text)}")
        if _shown(listing, both[0]) != _shown(listing, both[1], mirrored=True):
            judged.swapped.append(name)
        lines, is_clean = git_lines(*trio)
        if is_clean and verdict(listing, answers, lines) == "right":
            judged.counts["git was right"] += 1
            if not both[0].clean:
                judged.git_was_right.append(name)
    return judged


SWAPPED = {"ours": "theirs", "theirs": "ours"}


def _shown(listing: Listing, outcome: Outcome, *, mirrored: bool = False) -> object:
    """Return the elements of a result, or the places and causes of its conflicts."""
    if outcome.clean:
        return sorted(listing.read(outcome.text) or [])
    words = SWAPPED if mirrored else {}
    causes = [re.sub(r"\w+", lambda m: words.get(m[0], m[0]), c.why) for c in outcome.conflicts]
    places = zip(outcome.conflicts, causes, strict=True)
    return sorted((c.resource, c.field, sorted(cause.split(", "))) for c, cause in places)
