"""What both sides inserted is there once, also where the lines around it repeat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.shared_insertions import (
    FORMS,
    Case,
    Form,
    Words,
    every_case,
    is_decided,
    samples,
    some_cases,
    truth,
)

from kmerge_git.api import merge_files

SHORT, LONG = 400, 120  # cases of a form, of which there are 342,513 short ones
SEED = 1


@dataclass
class Verdicts:
    """What merges came to, in both orders of the sides, and what git's line merge does."""

    merges: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)  # right if a replacement costs two
    conflict: int = 0
    needless: int = 0  # conflicts where there is one right result
    decided: int = 0  # of these, where no alignment of the same cost contradicts it
    swapped: list[str] = field(default_factory=list)
    git: dict[str, int] = field(default_factory=lambda: {"right": 0, "wrong": 0, "conflict": 0})


def judge(form: Form, cases: Iterable[Case]) -> Verdicts:
    """Merge each case in both orders of the sides, and compare with what is right."""
    verdicts = Verdicts()
    for base, ours, theirs in cases:
        allowed = truth(base, ours, theirs)
        answers = []
        for sides in ((ours, theirs), (theirs, ours)):
            texts = [form.write(words) for words in (base, *sides)]
            outcome = merge_files(*texts, line_merge=git_lines)
            answers.append((outcome.clean, form.read(outcome.text) if outcome.clean else None))
            text, is_clean = git_lines(*texts)
            verdicts.git[_verdict(is_clean, form.read(text), allowed)] += 1
        # where two insertions have no order, our own comes first
        are_right = all(clean and result in allowed for clean, result in answers)
        if answers[0] != answers[1] and not (are_right and form is FORMS["comments"]):
            either = " or ".join(_shown(result) for _, result in answers)
            verdicts.swapped.append(f"{_shown(base, ours, theirs)}: {either}")
        for sides, (clean, result) in zip(((ours, theirs), (theirs, ours)), answers, strict=True):
            verdict = _verdict(clean, result, allowed)
            verdicts.merges += 1
            verdicts.right += verdict == "right"
            verdicts.conflict += verdict == "conflict"
            if verdict == "wrong" and not _is_moved_and_gone(base, sides, result):
                other = truth(base, ours, theirs, replacing=2)
                kind = verdicts.disputed if result in other else verdicts.wrong
                expected = _shown(*sorted(allowed)) or "a conflict"
                kind.append(f"{_shown(base, *sides)}: {_shown(result)}, not {expected}")
            elif verdict == "conflict" and len(allowed) == 1:
                verdicts.needless += 1
                verdicts.decided += is_decided(base, ours, theirs)
    return verdicts


def _is_moved_and_gone(base: Words, sides: tuple[Words, Words], result: Words | None) -> bool:
    """Return whether the result lacks a word that one side moved and the other deleted.

    The edits of this world are no moves, but may look like one. What one side deletes is gone,
    wherever the other moved it (`worlds.sequences`).
    """
    return any(
        base.count(word) == 1
        and sorted(side.count(word) for side in sides) == [0, 1]
        and word not in (result or ())
        for word in base
    )


def _shown(*several: Words | None) -> str:
    """Some lists of words, or nothing, as `[a b] + [a '' b]`."""
    return " + ".join(
        "nothing" if words is None else f"[{' '.join(word or repr('') for word in words)}]"
        for words in several
    )


def _verdict(clean: bool, result: Words | None, allowed: set[Words]) -> str:
    if not clean:
        return "conflict"
    return "right" if result in allowed else "wrong"


def cases_of(form: Form, size: str) -> list[Case]:
    """The cases that a test takes: of all short lists some, or some longer ones."""
    if size == "short":
        return part(some_cases(form.words, SEED, SHORT))
    return part(samples(SEED, LONG, form.common))


@cache
def verdicts_of(name: str, size: str) -> Verdicts:
    """What the merges of a form come to."""
    return judge(FORMS[name], cases_of(FORMS[name], size))


@pytest.mark.rates
def test_the_world_is_the_one_that_was_measured() -> None:
    assert sum(1 for _ in every_case("abc")) == 342513


@pytest.mark.parametrize("name", FORMS)
def test_what_a_form_writes_it_reads(name: str) -> None:
    form = FORMS[name]
    short = [words for size in range(1, 5) for words in product(form.words, repeat=size)]
    for words in [*short, *(side for case in samples(SEED, 50, form.common) for side in case)]:
        assert form.read(form.write(words)) == words


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        # the same insertion is there once, wherever among its like it is thought to stand
        ("ab", "axb", "axbc", ["axbc"]),
        ("aab", "aaab", "aaaba", ["aaaba"]),
        ("ab", "aab", "aabb", ["aabb"]),
        # and who edited it besides is followed
        ("ab", "axb", "axyb", ["axyb"]),
        ("abc", "axbc", "axb", ["axb"]),
        ("abc", "axbd", "ayxbc", ["ayxbd"]),
        # two insertions in one gap have no order
        ("ab", "axb", "ayb", ["axyb", "ayxb"]),
        # two replacements of one word contradict each other
        ("abc", "axc", "ayc", []),
        # what one replaced and the other deleted: two changes of two costs, and one has a result
        ("abc", "axc", "ac", ["axc"]),
    ],
)
def test_the_law_says(base: str, ours: str, theirs: str, expected: list[str]) -> None:
    for sides in ((ours, theirs), (theirs, ours)):
        assert truth(tuple(base), *map(tuple, sides)) == set(map(tuple, expected))


def test_the_cost_of_a_replacement_may_be_disputed() -> None:
    case = tuple("abc"), tuple("nmc"), tuple("abnm")
    assert truth(*case) == {tuple("nmnm")}
    assert truth(*case, replacing=2) == {tuple("nm")}


@pytest.mark.parametrize("size", ["short", "long"])
@pytest.mark.parametrize("name", FORMS)
def test_what_is_clean_is_right(name: str, size: str) -> None:
    verdicts = verdicts_of(name, size)
    wrong = verdicts.wrong
    assert not wrong, f"{len(wrong)} of {verdicts.merges}: {wrong[:10]}"


@pytest.mark.parametrize("size", ["short", "long"])
@pytest.mark.parametrize("name", FORMS)
def test_the_sides_may_be_swapped(name: str, size: str) -> None:
    verdicts = verdicts_of(name, size)
    swapped = verdicts.swapped
    # where elements repeat and others are moved, one order of the sides may be a conflict
    most = 0.002 * verdicts.merges if name in ("args", "steps", "lists") else 0
    assert len(swapped) <= most, f"{len(swapped)} of {verdicts.merges // 2}: {swapped[:10]}"
