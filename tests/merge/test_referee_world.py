"""The referee beside the truth: it accepts every lawful result of a short list, and few others."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest
from depth import part
from worlds.judged import FORMS, OLD, Word, candidates, lawful, read, sides

from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.referee import violations
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Stream, split

PAIRS = 60  # of sides, for each form
RESULTS = 12  # of each pair, and as many of the lawful ones


@cache
def stream(name: str, word: Word) -> Stream:
    """The file with these elements."""
    return split(Source(FORMS[name].write(word).encode()))


def objects(name: str, ours: Word, theirs: Word, result: Word) -> bool:
    """Whether the referee objects to a result."""
    versions = (stream(name, word) for word in (OLD, ours, theirs))
    return bool(violations(Three(*versions), stream(name, result)))


def pairs() -> list[tuple[Word, Word]]:
    """Some pairs of sides; in a third of them both make the same edits."""
    random = Random(3)
    found = []
    for n in range(PAIRS):
        theirs = random.choice(sides("2" if n % 3 else "1"))
        found.append((random.choice(sides("1")), theirs))
    return found


@pytest.mark.parametrize(
    "ours, theirs, allowed, forbidden",
    [
        # an edited element goes where the other side moved it
        ("cab", "abc2", "c2ab", "abc2 cab c2abc abcc2 c2a"),
        ("cab", "ac2b", "c2ab", "ac2b cab"),
        ("ba1c", "abc2", "ba1c2", "a1bc2 bac2 ba1c"),
        ("ca1b", "ba2c", "", "ca1b ba2c ca2b"),
        # edited here, deleted there: neither is right
        ("a1bc", "bc", "", "a1bc bc abc"),
        ("bca1", "cb", "", "cba1 cb ca1b"),
        # both added it beside the same neighbour
        ("abcn", "acnb", "acnb nacb", "acnnb acb"),
        ("abcn", "cnab", "cnab", "cnabn cab"),
        # the neighbour is the next one that neither side moved or deleted
        ("cnab", "nac1b", "c1nab", "c1nabn nc1nab"),
        # it has no neighbour in common
        ("nabc", "abcn", "nabcn", "nabc abcn"),
    ],
)
def test_the_laws_say(ours: str, theirs: str, allowed: str, forbidden: str) -> None:
    mine, yours = read(ours), read(theirs)
    for results, expected in ((allowed, True), (forbidden, False)):
        for result in map(read, results.split()):
            for both in ((mine, yours), (yours, mine)):
                assert lawful(*both, result) is expected, result
                ordered = [name for name in FORMS if FORMS[name].ordered]
                assert all(objects(name, *both, result) is not expected for name in ordered), result


@pytest.mark.parametrize("name", FORMS)
def test_no_lawful_result_is_refused_and_few_others_are_accepted(name: str) -> None:
    form, random = FORMS[name], Random(5)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for ours, theirs in part(pairs()):
        results = list(candidates(ours, theirs))
        right = [result for result in results if lawful(ours, theirs, result, form.ordered)]
        for result in random.sample(results, RESULTS) + right[:RESULTS]:
            is_right = lawful(ours, theirs, result, form.ordered)
            objected = objects(name, ours, theirs, result)
            assert not (is_right and objected), (ours, theirs, result)
            verdicts[is_right, objected] += 1
    assert verdicts[False, True] >= 0.95 * (verdicts[False, True] + verdicts[False, False])
