"""Comparing lists: the blocks of two, the regions of three."""

import pytest
from counting import steps
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.text.diff3 import diff, diff3, refine


def blocks(a, b):
    return [(a[i1:i2], i1, j1) for i1, i2, j1, j2 in diff(a, b)]


@pytest.mark.parametrize(
    "a, b, common",
    [
        ("", "", ""),
        ("abc", "abc", "abc"),
        ("abc", "", ""),
        ("abc", "xyz", ""),
        ("abcd", "axcd", "acd"),
        ("abcabba", "cbabac", "baba"),
        ("aabb", "abab", "aab"),
        ("xaxbxcx", "ybycy", "bc"),
        ("abcdef", "defabc", "abc"),
    ],
)
def test_diff_finds_what_is_common(a, b, common):
    assert len("".join(text for text, _, _ in blocks(a, b))) == len(common)
    assert_sound(a, b)


def assert_sound(a, b):
    last = (0, 0)
    for number, (i1, i2, j1, j2) in enumerate(diff(a, b)):
        assert i1 < i2
        assert list(a[i1:i2]) == list(b[j1:j2])
        assert (i1, j1) >= last
        if number:
            assert (i1, j1) != last, "two blocks that touch on both sides are one"
        assert i1 >= last[0]
        assert j1 >= last[1]
        last = (i2, j2)


SHORT = st.lists(st.sampled_from("abcd"), max_size=14)
LONG = st.lists(st.integers(0, 3), min_size=200, max_size=260)


@given(SHORT, SHORT)
def test_blocks_are_equal_rising_and_maximal(a, b):
    assert_sound(a, b)


@given(LONG, LONG)
def test_blocks_are_sound_beyond_the_bound_of_the_search(a, b):
    assert_sound(a + b, b + a)


def test_lists_with_nothing_unique_and_nothing_in_place_take_no_time():
    a = [i * i % 7 for i in range(6000)]
    b = [i * i % 11 for i in range(6000)]
    assert_sound(a, b)
    assert sum(i2 - i1 for i1, i2, _, _ in diff(a, b)) > 1000


def test_lists_with_nothing_in_common_are_looked_through_once():
    """A search for the shortest edit would start again after each few edits."""

    def compared(count):
        a, b = ([f"{side} {n}" for n in range(count)] for side in "ab")
        assert diff(a, b) == []
        return steps(lambda: diff(a, b))

    assert compared(1000) == compared(400)


def test_a_repeated_thing_that_was_added_is_the_last_of_them():
    assert diff("axb", "axxb") == [(0, 2, 0, 2), (2, 3, 3, 4)]


def regions(base, ours, theirs, **options):
    return [
        (r.kind, base[r.b0 : r.b1], ours[r.o0 : r.o1], theirs[r.t0 : r.t1])
        for r in diff3(base, ours, theirs, **options)
    ]


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        ("", "", "", []),
        ("abc", "abc", "abc", [("same", "abc", "abc", "abc")]),
        (
            "abc",
            "aXc",
            "aXc",
            [("same", "a", "a", "a"), ("both", "b", "X", "X"), ("same", "c", "c", "c")],
        ),
        (
            "abc",
            "aXc",
            "aYc",
            [("same", "a", "a", "a"), ("clash", "b", "X", "Y"), ("same", "c", "c", "c")],
        ),
        ("", "x", "x", [("both", "", "x", "x")]),
        ("", "x", "y", [("clash", "", "x", "y")]),
        (
            "ab",
            "aXb",
            "ab",
            [("same", "a", "a", "a"), ("ours", "", "X", ""), ("same", "b", "b", "b")],
        ),
        ("ab", "a", "ab", [("same", "a", "a", "a"), ("ours", "b", "", "b")]),
        ("ab", "b", "aY", [("clash", "ab", "b", "aY")]),
        (
            "abc",
            "Xbc",
            "abY",
            [("ours", "a", "X", "a"), ("same", "b", "b", "b"), ("theirs", "c", "c", "Y")],
        ),
        (
            "abcd",
            "aXcd",
            "abYd",
            [("same", "a", "a", "a"), ("clash", "bc", "Xc", "bY"), ("same", "d", "d", "d")],
        ),
    ],
)
def test_regions_as_git_has_them(base, ours, theirs, expected):
    assert regions(base, ours, theirs) == expected


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        # changed neighbours
        ("bc", "Xc", "bY", [("ours", "b", "X", "b"), ("theirs", "c", "c", "Y")]),
        ("bc", "bY", "Xc", [("theirs", "b", "b", "X"), ("ours", "c", "Y", "c")]),
        # put in front of, or behind, an element that the other side changed or removed
        (
            "ab",
            "aNb",
            "aY",
            [("same", "a", "a", "a"), ("ours", "", "N", ""), ("theirs", "b", "b", "Y")],
        ),
        (
            "ab",
            "aNb",
            "Xb",
            [("theirs", "a", "a", "X"), ("ours", "", "N", ""), ("same", "b", "b", "b")],
        ),
        ("ab", "aN", "a", [("same", "a", "a", "a"), ("clash", "b", "N", "")]),
        (
            "abc",
            "aNbc",
            "ac",
            [
                ("same", "a", "a", "a"),
                ("ours", "", "N", ""),
                ("theirs", "b", "b", ""),
                ("same", "c", "c", "c"),
            ],
        ),
        # two that are new in one gap have no order
        (
            "ab",
            "aMb",
            "aNb",
            [("same", "a", "a", "a"), ("clash", "", "M", "N"), ("same", "b", "b", "b")],
        ),
        ("ab", "aMb", "aNY", [("same", "a", "a", "a"), ("clash", "b", "Mb", "NY")]),
        # in the middle of what the other side removed
        (
            "abcd",
            "abNcd",
            "ad",
            [("same", "a", "a", "a"), ("clash", "bc", "bNc", ""), ("same", "d", "d", "d")],
        ),
        # the same element
        (
            "abc",
            "aXc",
            "aYc",
            [("same", "a", "a", "a"), ("clash", "b", "X", "Y"), ("same", "c", "c", "c")],
        ),
    ],
)
def test_regions_of_elements_whose_neighbours_may_change(base, ours, theirs, expected):
    assert regions(base, ours, theirs, adjacent_ok=True) == expected


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        ("", "nx", "ny", [("both", "", "n", "n"), ("clash", "", "x", "y")]),
        ("", "xn", "yn", [("clash", "", "x", "y"), ("both", "", "n", "n")]),
        (
            "a",
            "nxm",
            "nym",
            [("both", "", "n", "n"), ("clash", "a", "x", "y"), ("both", "", "m", "m")],
        ),
        ("", "n", "nn", [("both", "", "n", "n"), ("theirs", "", "", "n")]),
        ("a", "x", "y", [("clash", "a", "x", "y")]),
    ],
)
def test_refine_moves_equal_ends_out_of_a_clash(base, ours, theirs, expected):
    found = refine(diff3(base, ours, theirs), base, ours, theirs)
    assert expected == [
        (r.kind, base[r.b0 : r.b1], ours[r.o0 : r.o1], theirs[r.t0 : r.t1]) for r in found
    ]


def assert_tiles(found, base, ours, theirs):
    b = o = t = 0
    for r in found:
        assert (r.b0, r.o0, r.t0) == (b, o, t)
        assert r.b1 - r.b0 + r.o1 - r.o0 + r.t1 - r.t0 > 0
        b, o, t = r.b1, r.o1, r.t1
        was, mine, yours = base[r.b0 : r.b1], ours[r.o0 : r.o1], theirs[r.t0 : r.t1]
        assert (r.kind == "same") == (was == mine == yours), r
        if r.kind == "ours":
            assert was == yours
        elif r.kind == "theirs":
            assert was == mine
        elif r.kind == "both":
            assert mine == yours
        elif r.kind == "clash":
            assert mine != yours
    assert (b, o, t) == (len(base), len(ours), len(theirs))


@given(SHORT, SHORT, SHORT, st.booleans())
def test_regions_tile_all_three_lists_and_are_what_they_say(base, ours, theirs, adjacent_ok):
    found = diff3(base, ours, theirs, adjacent_ok=adjacent_ok)
    assert_tiles(found, base, ours, theirs)
    assert_tiles(refine(found, base, ours, theirs), base, ours, theirs)


SWAPPED = {"ours": "theirs", "theirs": "ours"}


@given(SHORT, SHORT, SHORT, st.booleans())
def test_swapping_the_sides_swaps_the_regions(base, ours, theirs, adjacent_ok):
    found = diff3(base, ours, theirs, adjacent_ok=adjacent_ok)
    swapped = diff3(base, theirs, ours, adjacent_ok=adjacent_ok)
    assert [(r.kind, r.b0, r.b1, r.o0, r.o1, r.t0, r.t1) for r in swapped] == [
        (SWAPPED.get(r.kind, r.kind), r.b0, r.b1, r.t0, r.t1, r.o0, r.o1) for r in found
    ]


@given(SHORT, SHORT, st.booleans())
def test_a_side_that_changed_nothing_has_no_say(base, side, adjacent_ok):
    found = diff3(base, base, side, adjacent_ok=adjacent_ok)
    assert {r.kind for r in found} <= {"same", "theirs"}
    assert {r.kind for r in diff3(base, side, side)} <= {"same", "both"}


@given(SHORT, SHORT, SHORT)
def test_allowing_neighbours_never_makes_a_clash_larger(base, ours, theirs):
    def clashing(**options):
        found = diff3(base, ours, theirs, **options)
        return {("o", i) for r in found if r.kind == "clash" for i in range(r.o0, r.o1)} | {
            ("t", i) for r in found if r.kind == "clash" for i in range(r.t0, r.t1)
        }

    # what touches on both sides may, as a whole, be the same change
    if not any(r.kind == "both" for r in diff3(base, ours, theirs)):
        assert clashing(adjacent_ok=True) <= clashing()


@given(SHORT, SHORT, st.integers(12, 70))
def test_the_bound_of_the_search_never_leaves_the_lists(a, b, times):
    """It is reached after few things where each of them stands there many times."""
    assert_sound(*([thing for thing in side for _ in range(times)] for side in (a, b)))


def test_what_is_left_after_much_work_has_nothing_in_common():
    """The search starts again after each few edits; what both have lies behind all of them."""
    for count, found in ((8_000, True), (15_000, False)):
        a, b = "x" * count + "zza" + "e", "y" * count + "zzb" + "e"
        end = [(count + 3, count + 4, count + 3, count + 4)]
        assert diff(a, b) == ([(count, count + 2, count, count + 2), *end] if found else end)
