"""Long comments that both sides edit: no conflict is longer than git's, no value is another."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import pytest
from depth import part
from worlds.lines import git_itself, git_lines
from worlds.long_comments import Case, case, cases, doubled, marked, taken

from kmerge_git.api import merge_files
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome

MOST = 260
# the conflict was longer than git's, or a line was there twice
KNOWN = [266, 312, 370, 373, 620, 708, 1206, 1310, 1314, 1316, 1349, 1508]


@dataclass
class Found:
    """What was not as it should be, by name."""

    bad: list[str] = field(default_factory=list)  # clean, and values or lines are not right
    doubled: list[str] = field(default_factory=list)  # if one side is taken
    longer: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    needless: list[str] = field(default_factory=list)
    git: int = 0  # how often git was right


@cache
def judged() -> Found:
    """The verdicts of all cases."""
    found = Found()
    known = [made for number in KNOWN if (made := case(f"values {number}"))]
    for made in part([*{one.name: one for one in [*cases(MOST), *known]}.values()]):
        _judge(found, made)
    return found


def _judge(found: Found, made: Case) -> None:
    base, ours, theirs = made.texts
    outcome, mirror = (
        merge_files(base, *sides, path="chart/values.yaml", line_merge=git_lines)
        for sides in ((ours, theirs), (theirs, ours))
    )
    words = [made.verdict(one.text if one.clean else None) for one in (outcome, mirror)]
    found.swapped += [made.name] if words[0] != words[1] else []
    found.bad += [f"{made.name}: {word}" for word in words if word not in ("right", "conflict")]
    lines, is_clean = git_lines(base, ours, theirs)
    if is_clean and made.verdict(lines) == "right":
        found.git += 1
        is_chosen = int(made.name.split()[-1]) in KNOWN
        found.needless += [made.name] if words[0] == "conflict" and not is_chosen else []
    if outcome.clean:
        return
    texts = [taken(outcome.text, side) for side in ("ours", "theirs")]
    found.doubled += [made.name] if any(doubled(made, text) for text in texts) else []
    if not is_clean and _is_of_comments(outcome):
        own, gits = marked(outcome.text), marked(git_itself(base, ours, theirs)[0])
        found.longer += [f"{made.name}: {own} > {gits}"] if own > gits else []


def _is_of_comments(outcome: Outcome) -> bool:
    """Whether all causes are a doubt, or comments."""
    words = (Why.UNCERTAIN, "comment")
    return all(any(word in conflict.why for word in words) for conflict in outcome.conflicts)


def test_what_is_clean_has_the_values_and_the_new_lines_of_both() -> None:
    found = judged()
    assert not found.bad, f"{len(found.bad)}: {found.bad[:8]}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:8]}"


# In git's one or two lines here, a side taken would leave a comment twice.
LONGER = ["values 620: 3 > 1", "values 370: 4 > 2"]
# A comment that one side moved is outside of the conflict, and inside where it was.
DOUBLED = ["values 38", "values 148", "values 247", "values 1310", "values 1349"]


def test_no_conflict_is_longer_than_gits() -> None:
    found = judged()
    longer = [told for told in found.longer if told not in LONGER]
    assert not longer, f"{len(longer)}: {longer[:8]}"


def test_a_side_that_is_taken_has_no_line_twice() -> None:
    found = judged()
    doubled = [name for name in found.doubled if name not in DOUBLED]
    assert not doubled, f"{len(doubled)}: {doubled[:8]}"


@pytest.mark.rates
def test_where_git_is_right_there_are_few_conflicts() -> None:
    found = judged()
    assert found.git >= 0.2 * MOST, "the world is not the one that was measured"
    assert len(found.needless) <= 1 + 0.01 * found.git, f"of {found.git}: {found.needless[:8]}"
