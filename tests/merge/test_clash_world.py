"""Every clash of two short lists: sides that are exact, and the same in the mirror."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lawbook import breaches
from worlds.clashes import BASES, CLASHES, STYLES, Conflict, conflicts, elements, sections

from kmerge_git.text.markers import resolve


def each(name: str) -> Iterator[Conflict]:
    return (conflict for style in STYLES for conflict in conflicts(name, style))


@pytest.mark.rates
def test_the_worlds_are_made_of_conflicts() -> None:
    numbers = {name: len(clash.words()) for name, clash in CLASHES.items()}
    assert numbers == {"unkeyed": 41, "scalars": 41, "keyed": 79}
    assert len(conflicts("unkeyed", "merge")) > 600  # of 780 pairs of lists that are not empty
    assert len(conflicts("scalars", "merge")) > 80
    assert len(conflicts("keyed", "merge")) > 50


@pytest.mark.parametrize("name", ["unkeyed", "scalars"])
def test_a_side_taken_is_that_side(name: str) -> None:
    clash = CLASHES[name]
    for ours, theirs, text, _ in each(name):
        assert resolve(text, "ours").encode() == clash.write(ours), text
        assert resolve(text, "theirs").encode() == clash.write(theirs), text


def test_a_side_taken_is_lawful() -> None:
    clash = CLASHES["keyed"]
    for ours, theirs, text, _ in conflicts("keyed", "diff3"):
        versions = map(clash.write, (BASES["keyed"], ours, theirs))
        assert not breaches(*versions, text.encode(), clean=False), text


@pytest.mark.parametrize("name", CLASHES)
def test_in_the_mirror_the_conflicts_are_the_same(name: str) -> None:
    for _, _, text, mirror in each(name):
        mirrored = [(ours, theirs) for theirs, ours in sections(mirror)]
        assert sorted(sections(text)) == sorted(mirrored), f"{text}\n{mirror}"


@pytest.mark.parametrize("name", CLASHES)
def test_what_both_have_at_an_end_is_outside(name: str) -> None:
    for style in ("merge", "zdiff3"):
        for _, _, text, _ in conflicts(name, style):
            for ours, theirs in (map(elements, pair) for pair in sections(text)):
                assert not (ours and theirs and ours[0] == theirs[0]), text
                assert not (ours and theirs and ours[-1] == theirs[-1]), text
