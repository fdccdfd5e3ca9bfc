"""Three lists aligned at once: an edit that both sides made is there once."""

from __future__ import annotations

from random import Random

import pytest
from worlds.shared_insertions import Words, samples, some_cases, truth

from kmerge_git.text import shared_edits
from kmerge_git.text.diff3 import Region, diff3, refine
from kmerge_git.text.shared_edits import diff3_once, distance


def merged(base: Words, ours: Words, theirs: Words, *, adjacent_ok: bool) -> Words | None:
    """Return the merged words, or nothing if there is a clash."""
    result: list[str] = []
    regions = diff3_once(base, ours, theirs, adjacent_ok=adjacent_ok)
    for region in refine(regions, base, ours, theirs):
        if region.kind == "clash":
            return None
        is_theirs = region.kind == "theirs"
        result += theirs[region.t0 : region.t1] if is_theirs else ours[region.o0 : region.o1]
    return tuple(result)


def bounds(regions: list[Region]) -> list[tuple[object, ...]]:
    return [(r.kind, r.b0, r.b1, r.o0, r.o1, r.t0, r.t1) for r in regions]


@pytest.mark.parametrize("adjacent_ok", [True, False])
@pytest.mark.parametrize(
    "cases", [some_cases(("", "}", "a"), 4, 1500), samples(4, 300)], ids=["short", "longer"]
)
def test_what_is_merged_is_the_fewest_edits(cases, adjacent_ok) -> None:
    found = 0
    for base, ours, theirs in cases:
        result = merged(base, ours, theirs, adjacent_ok=adjacent_ok)
        assert result == merged(base, theirs, ours, adjacent_ok=adjacent_ok)
        assert result is None or result in truth(base, ours, theirs), (base, ours, theirs)
        found += result is not None
    assert found > len(cases) / 2


@pytest.mark.parametrize(
    "base, ours, theirs, wanted",
    [
        ("} }", "} x }", "} y }", None),
        ("a } b }", "a } x } b }", "A } x } b }", "A } x } b }"),
        ("a } b", "a } } b", "a } } c", "a } } c"),
        ("a a b", "a b", "a b c", "a b c"),
        ("b", "x b y", "x b", "x b y"),
        ("a a", "x", "a", None),
        ("a a c", "x c", "a c", None),
        ("a b a c", "b x c", "b c", "b x c"),
        ("a a c", "c", "a c", "c"),
    ],
)
def test_an_edit_of_both(base: str, ours: str, theirs: str, wanted: str | None) -> None:
    versions = [tuple(text.split()) for text in (base, ours, theirs)]
    result = merged(*versions, adjacent_ok=True)
    assert result == (tuple(wanted.split()) if wanted is not None else None)


def test_long_lists_are_aligned_between_what_they_have_once() -> None:
    base = [f"line {n}" if n % 4 else "}" for n in range(400)]
    run = ["f() {", "run", "}"]
    ours = [*base[:201], *run, *base[201:]]
    theirs = [*base[:201], *run, *base[201:]]
    theirs[199] = "another"
    ours[390] = "also another"
    wanted = list(theirs)
    wanted[390] = "also another"
    assert merged(tuple(base), tuple(ours), tuple(theirs), adjacent_ok=False) == tuple(wanted)


def test_a_search_that_is_too_long_leaves_two_comparisons(monkeypatch) -> None:
    monkeypatch.setattr(shared_edits, "MOST_STATES", 3)
    base, ours, theirs = (
        ["a", "}", "b", "}"],
        ["a", "}", "x", "}", "b", "}"],
        ["A", "}", "x", "}", "b", "}"],
    )
    assert bounds(diff3_once(base, ours, theirs)) == bounds(diff3(base, ours, theirs))


def test_sides_that_share_nothing_are_compared_as_ever() -> None:
    base, ours, theirs = ["a", "b", "c", "d"], ["a", "x", "b", "c", "d"], ["a", "b", "c", "y", "d"]
    assert bounds(diff3_once(base, ours, theirs)) == bounds(diff3(base, ours, theirs))


def naive_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for n, x in enumerate(one, 1):
        last, row[0] = row[0], n
        for m, y in enumerate(other, 1):
            last, row[m] = row[m], last if x == y else 1 + min(row[m], row[m - 1])
    return row[-1]


def test_the_distance_is_the_least() -> None:
    random = Random(2)
    for _ in range(500):
        one, other = ("".join(random.choices("abc", k=random.randint(0, 9))) for _ in range(2))
        assert distance(one, other) == naive_distance(one, other), (one, other)
    assert distance("a" * 300, "b" * 300) is None  # too many to be counted
