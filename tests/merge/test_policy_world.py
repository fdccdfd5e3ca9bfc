"""Every pair of edits of a short list of versions, under policies: what is clean is the truth."""

from __future__ import annotations

from functools import cache

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.policies import BASE, LISTS, POLICIES, Word, is_in_two_gaps, truth, worlds

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.outcome import Outcome
from kmerge_git.text.markers import resolve

WORLDS = part(worlds())


@cache
def merged(name: str, policy: str, ours: Word, theirs: Word) -> Outcome:
    """Merge two versions of a list under a policy."""
    made, rules = LISTS[name], list(POLICIES[policy])
    texts = map(made.write, (BASE, ours, theirs))
    return merge_files(*texts, policy=policy_for(rules), line_merge=git_lines)


def readings(name: str, outcome: Outcome) -> list[Word]:
    """Return the elements of a result; with conflicts, those of both sides."""
    if outcome.clean:
        return [LISTS[name].read(outcome.text)]
    sides = (resolve(outcome.text.decode(), side) for side in ("ours", "theirs"))
    return [LISTS[name].read(text.encode()) for text in sides]


def most(name: str, words: list[Word]) -> int:
    return max(sum(each == name for each, _ in word) for word in words)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", LISTS)
def test_what_is_clean_is_the_truth(name: str, policy: str) -> None:
    wrong = []
    for edits, ours, theirs in WORLDS:
        outcome = merged(name, policy, ours, theirs)
        wanted = truth(ours, theirs, policy)
        found = LISTS[name].read(outcome.text) if outcome.clean else ()
        is_wrong = outcome.clean and (dict(found) != wanted or len(found) > len(wanted))
        if is_wrong and not ("without" in name and is_in_two_gaps(ours, theirs)):
            wrong.append((edits, found))
        if not outcome.clean and "clash" not in wanted.values() and "without" not in name:
            wrong.append((edits, outcome.conflicts))
    assert not wrong, f"{len(wrong)} of {len(WORLDS)}: {wrong[:5]}"


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != "none"])
@pytest.mark.parametrize("name", LISTS)
def test_a_policy_divides_no_element(name: str, policy: str) -> None:
    wrong = []
    for edits, ours, theirs in WORLDS:
        plain, ruled = (
            readings(name, merged(name, which, ours, theirs)) for which in ("none", policy)
        )
        if any(most(each, ruled) > max(1, most(each, plain)) for each in "abcd"):
            wrong.append((edits, ruled, plain))
    assert not wrong, f"{len(wrong)} of {len(WORLDS)}: {wrong[:5]}"


def test_a_union_refuses_two_versions_of_one_element() -> None:
    ours, theirs = (("a", "2.0.0"), ("b", "1.1.0")), (("a", "2.1.0"), *BASE)
    assert not merged("without keys", "union", ours, theirs).clean
    outcome = merged("without keys", "union and higher", ours, theirs)
    assert readings("without keys", outcome) == [(("a", "2.1.0"), ("b", "1.1.0"))]
