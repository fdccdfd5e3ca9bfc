"""Worlds of lists that one side arranges anew, while the other edits an element of it."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from depth import part
from worlds.listings import LISTINGS
from worlds.moved_edits import (
    BASE,
    Pair,
    alike,
    answers,
    arranged_and_edited,
    both_at_once,
    option,
)
from worlds.shared_additions import answers as answers_of_additions
from worlds.shared_additions import twice_world, world
from worlds.two_versions import (
    OPTIONS,
    SORTS,
    additions,
    answers_of_options,
    answers_of_two,
    option_triples,
)
from worlds.verdicts import Case, Verdicts, verdicts

FOUR = (*BASE, "d")
EDITED = [name for name, listing in LISTINGS.items() if listing.edits]
ADDED = ["words", "routes", "own rules", "two lines", "env", "finalizers", "task", "chart words"]


def some(name: str, pairs: list[Pair], most: int) -> list[Pair]:
    """Choose as many, the same in every run."""
    return Random(name).sample(pairs, min(most, len(pairs)))


def edited(name: str) -> list[Case]:
    """Cases in which elements are moved and edited; fewer of a layout."""
    listing, most = LISTINGS[name], 4 if "," in name else 12
    made = [
        (BASE, some(name, arranged_and_edited(listing, alone=True), most)),
        (BASE, some(name, arranged_and_edited(listing), 2 * most)),
        (FOUR, some(name, arranged_and_edited(listing, FOUR, alone=True), most)),
        # two elements that are one option are taken away and edited one by one
        (BASE, [] if listing.size > 1 else some(name, both_at_once(listing), 2 * most)),
    ]
    return [
        (base, *pair, answers(listing, base, *pair)) for base, pairs in made for pair in part(pairs)
    ]


def added(name: str) -> list[Case]:
    """Cases in which both sides add an equal element."""
    listing, most = LISTINGS[name], 300 if name == "words" else 40
    pairs = some(name, world(), most)
    pairs += [] if listing.keyed else some(name, twice_world(), most // 4)
    return [(BASE, *pair, answers_of_additions(listing, *pair)) for pair in part(pairs)]


def versions(name: str) -> list[Case]:
    """Cases in which each side adds an element of its own."""
    listing, sort = SORTS[name]
    pairs = [*additions(smaller=False), *some(name, additions(), 16)]
    return [
        (BASE, *p, answers_of_two(BASE, *p, sort, ordered=listing.ordered)) for p in part(pairs)
    ]


def options(name: str) -> list[Case]:
    """Cases in which the sides give values to one option."""
    every = list(option_triples())
    chosen = Random(name).sample(every, 100 if name == "v" else 24)
    return [(*triple, answers_of_options(*triple)) for triple in part(chosen)]


WORLDS = {
    "edited": (EDITED, edited, LISTINGS),
    "added": (ADDED, added, LISTINGS),
    "versions": ([*SORTS], versions, {name: listing for name, (listing, _) in SORTS.items()}),
    "options": ([*OPTIONS], options, OPTIONS),
}
NAMED = [(which, name) for which, (names, _, _) in WORLDS.items() for name in names]


@cache
def judged(which: str, name: str) -> Verdicts:
    """The verdicts of a kind of list in a world."""
    _, cases, listings = WORLDS[which]
    return verdicts(listings[name], cases(name))


@pytest.mark.parametrize("which, name", NAMED)
def test_what_is_clean_is_lawful_and_the_same_in_the_mirror(which: str, name: str) -> None:
    found = judged(which, name)
    assert not found.wrong, f"{len(found.wrong)} of {found.counts['all']}: {found.wrong[:10]}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:10]}"


@pytest.mark.rates
@pytest.mark.parametrize("which", WORLDS)
def test_what_has_one_answer_is_found_and_git_is_not_refused(which: str) -> None:
    every = Verdicts()
    for name in WORLDS[which][0]:
        every.add(judged(which, name))
    assert every.counts["found"] >= 0.8 * every.counts["single"], every.counts
    assert len(every.git_was_right) <= 1 + 0.01 * every.counts["git was right"], every.git_was_right


# -- the truth itself


@pytest.mark.parametrize(
    "name, ours, theirs, lawful, edits",
    [
        # an edited element is the one that the other side moved
        ("routes", "c a b", "a b c:timeout", ["c:timeout a b"], 1),
        ("options", "c a b", "a b c:value", ["c:value a b"], 1),
        # what shares nothing is gone, and a new one
        ("words", "c a b", "a b c:word", ["a b c:word", "a c:word b", "c:word a b"], 1),
        # two who contradict each other
        ("routes", "b a c", "a c b:timeout", [], 0),
        # edited and taken away
        ("routes", "c a", "a b:timeout c", [], 0),
        # one of three leaves is left, and no other element has it
        ("named routes", "c a b", "a b c:timeout+host", [], 1),
    ],
)
def test_the_edits_say(name: str, ours: str, theirs: str, lawful: list[str], edits: int) -> None:
    sides = tuple(ours.split()), tuple(theirs.split())
    for pair in (sides, sides[::-1]):
        found = answers(LISTINGS[name], BASE, *pair)
        assert found.lawful == {tuple(word.split()) for word in lawful}
        assert len(found.edits) == edits


@pytest.mark.parametrize(
    "ours, theirs, times",
    [
        ("abcn", "cnab", {1}),
        ("abcn", "acnb", {1}),
        ("anbc", "nbca", {1}),
        ("nabc", "abcn", {2}),
        ("anbnc", "anc", set()),
        ("annbc", "anbc", {2}),
    ],
)
def test_the_neighbours_say(ours: str, theirs: str, times: set[int]) -> None:
    for pair in ((ours, theirs), (theirs, ours)):
        found = answers_of_additions(LISTINGS["words"], *map(tuple, pair)).lawful
        assert {word.count("n") for word in found} == times


@pytest.mark.parametrize(
    "base, ours, theirs, is_conflict",
    [
        ("a b", "3 a b", "a b 2", True),
        ("1", "3", "2 1", True),
        ("1 2 a", "1 2 3 a", "1 2 a", False),
        ("1 a", "1 3 a", "a 1 2", False),
        ("1 a b", "2 a b", "a b 1", False),
    ],
)
def test_the_options_say(base: str, ours: str, theirs: str, is_conflict: bool) -> None:
    versions = [tuple(version.split()) for version in (base, ours, theirs)]
    assert is_conflict is not bool(answers_of_options(*versions).lawful)


def test_the_names_of_options() -> None:
    names = {
        "--v=1": "--v",
        "-p 80:80": "-p",
        "--url http://a:80": "--url",
        "-H Accept: json": "-H Accept",
        "A=b": "A",
        "a: b": "",
        "word": "",
        "-x": "",
    }
    assert {text: option(text) for text in names} == names
    assert alike(LISTINGS["pairs"], "a", "b") and not alike(LISTINGS["options"], "a", "b")


@pytest.mark.rates
def test_the_worlds_are_read_as_they_were_written() -> None:
    for listing in [*LISTINGS.values(), *OPTIONS.values()]:
        word = tuple(x for x in "abc" if x in listing.values)
        for version in (word, word[::-1], word[:1], ()):
            assert listing.read(listing.write(version)) == tuple(map(listing.shown, version))
