"""The order of entries: what `weave` and `insert_new` say, and laws over a whole small world."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import permutations, product

import pytest

from kmerge_git.merge.decide.order import as_sorted, insert_new, weave

# -- the adapters: a list is a word, each of its letters a key


def merged(base: str, ours: str, theirs: str, kept: Collection[str]) -> tuple[str, bool]:
    """The merged word, and whether the sides' orders clash."""
    word, clash = weave(list(base), list(ours), list(theirs), set(kept))
    return "".join(map(str, word)), clash


def inserted(ours: str, theirs: str, *, at_end: bool = False, in_front: bool = False) -> str:
    """Our word with the letters that only theirs has."""
    return "".join(map(str, insert_new(list(ours), list(theirs), at_end=at_end, in_front=in_front)))


# -- the tables


def remaining(base: str, ours: str, theirs: str) -> str:
    """The letters that no side took away."""
    return "".join({k for k in ours + theirs if k not in base or (k in ours and k in theirs)})


ORDERS = {
    "nobody changes anything": ("abc", "abc", "abc", "abc"),
    "ours alone reorders": ("abc", "cab", "abc", "cab"),
    "theirs alone reorders": ("abc", "abc", "cab", "cab"),
    "both reorder alike": ("abc", "cab", "cab", "cab"),
    "ours reorders, theirs adds": ("abc", "acb", "abxc", "acbx"),
    "theirs reorders, ours adds": ("abc", "abxc", "acb", "acbx"),
    "ours deletes": ("abc", "ac", "abc", "ac"),
    "theirs deletes": ("abc", "abc", "ac", "ac"),
    "each deletes another one": ("abc", "bc", "ab", "b"),
    "both delete all": ("abc", "", "", ""),
    "ours deletes, theirs reorders the rest": ("abc", "ab", "cba", "ba"),
    "ours reorders what theirs deletes": ("abc", "cab", "ab", "ab"),
    "theirs adds in front": ("ab", "ab", "xab", "xab"),
    "theirs adds between": ("ab", "ab", "axb", "axb"),
    "theirs adds two in a row": ("ab", "ab", "axyb", "axyb"),
    "theirs adds at both ends": ("ab", "ab", "xaby", "xaby"),
    "both add in one gap: ours first": ("ab", "awxb", "ayzb", "awxyzb"),
    "both add in front: ours first": ("ab", "xab", "yab", "xyab"),
    "both add at the end: ours first": ("ab", "abx", "aby", "abxy"),
    "each adds in a gap of its own": ("abc", "axbc", "abyc", "axbyc"),
    "both add the same": ("ab", "axb", "axb", "axb"),
    "both add the same in different places: ours": ("ab", "xab", "abx", "xab"),
    "behind what both add": ("ab", "axb", "axyb", "axyb"),
    "in front of what both add": ("ab", "axb", "ayxb", "ayxb"),
    "behind a sibling that ours deletes": ("abc", "ac", "abxc", "axc"),
    "both replace one": ("abc", "axc", "abyc", "axyc"),
    "around what theirs deletes": ("abc", "abxc", "ayc", "ayxc"),
    "behind a sibling that ours moves": ("abc", "bca", "axbc", "bcax"),
    "theirs reorders: ours goes behind its sibling there": ("abc", "abxc", "cba", "cbxa"),
    "theirs reorders: ours stands first behind it": ("abc", "axbc", "cayb", "caxyb"),
    "theirs reorders: ours in front stays there": ("ab", "xab", "yba", "xyba"),
    "without a base": ("", "axb", "ayb", "axyb"),
    "without a base and in another order: ours": ("", "ab", "ba", "ab"),
    "without a base, nothing in common": ("", "ab", "cd", "abcd"),
    "contradicting orders clash: ours stands": ("abc", "acb", "bac", "acb!"),
    "contradicting orders with additions": ("abc", "acbx", "bayc", "aycbx!"),
    "contradicting orders: what is gone does not count": ("abcd", "acb", "bacd", "acb!"),
}


@pytest.mark.parametrize("base, ours, theirs, expected", ORDERS.values(), ids=ORDERS)
def test_two_orders_become_one(base, ours, theirs, expected):
    clashes = expected.endswith("!")
    found = merged(base, ours, theirs, remaining(base, ours, theirs))
    assert found == (expected.rstrip("!"), clashes)


@pytest.mark.parametrize(
    "base, ours, theirs, kept, expected",
    [
        ("abc", "ac", "abc", "abc", "abc"),  # ours deletes what theirs changes: a conflict
        ("abc", "abc", "ac", "abc", "abc"),
        ("abc", "abc", "axc", "abcx", "axbc"),
        ("abc", "ca", "abc", "abc", "cab"),  # it stands behind what it follows there
        ("abc", "abc", "abc", "", ""),
    ],
)
def test_the_caller_says_what_is_kept(base, ours, theirs, kept, expected):
    assert merged(base, ours, theirs, kept) == (expected, False)


@pytest.mark.parametrize(
    "ours, theirs, behind, in_front, at_end",
    [
        ("ab", "ab", "ab", "ab", "ab"),
        ("ab", "axyb", "axyb", "axyb", "abxy"),
        ("ab", "xab", "xab", "xab", "abx"),
        ("ab", "xba", "axb", "xab", "abx"),  # no predecessor: before the nearest successor
        ("ab", "xyb", "axyb", "xyab", "abxy"),
        ("ab", "bxay", "aybx", "aybx", "abxy"),  # the nearest predecessor, not the first
        ("ab", "xy", "abxy", "xyab", "abxy"),  # neither: last
        ("", "xy", "xy", "xy", "xy"),
    ],
)
def test_new_keys_find_their_place(ours, theirs, behind, in_front, at_end):
    assert inserted(ours, theirs) == behind
    assert inserted(ours, theirs, in_front=True) == in_front
    assert inserted(ours, theirs, at_end=True) == at_end


# -- the laws


def only(letters: Collection[str], word: str) -> str:
    """The letters of a word that are among others, in the word's order."""
    return "".join(letter for letter in word if letter in letters)


def words(fresh: str) -> list[str]:
    """All orders of all subsets of `abc`, without and with one more letter anywhere."""
    old = ["".join(word) for size in range(4) for word in permutations("abc", size)]
    return old + [word[:at] + fresh + word[at:] for word in old for at in range(len(word) + 1)]


WORLD = [
    ("abc", ours, theirs) for ours, theirs in product(words("x"), [*words("y"), *words("x")[16:]])
]


def test_the_laws_hold_for_every_small_merge() -> None:
    assert len(WORLD) == 65 * 114
    for base, ours, theirs in WORLD:
        common = only(ours, only(theirs, base))
        orders = only(common, base), only(common, ours), only(common, theirs)
        theirs_leads = orders[0] == orders[1] != orders[2]
        leader = theirs if theirs_leads else ours
        for kept in (remaining(base, ours, theirs), {*ours, *theirs}):
            word, clash = merged(base, ours, theirs, kept)
            trio = (base, ours, theirs, word)
            assert sorted(word) == sorted(kept), trio  # every kept key, once
            assert only(leader, word) == only(kept, leader), trio  # its whole order stands
            assert clash == (len(set(orders)) == 3), trio
            assert clash == merged(base, theirs, ours, kept)[1], trio  # swapped sides


def test_a_new_key_stands_behind_what_it_follows() -> None:
    """Between the two, only what the other side adds there as well."""
    for trio in WORLD:
        _, ours, theirs = trio
        word, _ = merged(*trio, remaining(*trio))
        for side, new in ((ours, "x"), (theirs, "y")):
            before = side.partition(new)[0][-1:]
            if new in side and ours.count("x") + theirs.count("x") < 2 and before in word:
                between = word[word.index(before) + 1 if before else 0 : word.index(new)]
                assert between in ("", "xy".replace(new, "")), (trio, word)


def test_insertion_keeps_our_order_and_adds_each_new_key_once() -> None:
    for _, ours, theirs in WORLD:
        for at_end, in_front in product((False, True), repeat=2):
            word = inserted(ours, theirs, at_end=at_end, in_front=in_front)
            assert sorted(word) == sorted({*ours, *theirs}), (ours, theirs)
            assert only(ours, word) == ours, (ours, theirs)


def texts(*words: str) -> dict[Hashable, str]:
    return {word.strip("'").lower(): word for word in words}


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        ("b d", "a b d", "b c d", "a b c d"),
        ("b D", "A b D", "b c D", "A b c D"),  # as people sort who do not see the case
        ("B d", "B a d", "B d e", "B a d e"),  # as the bytes are
        ("d b", "d b a", "d c b", None),
        ("b d", "b d a", "b c d", None),
        ("b a", "a b", "a b c", None),
        ("a", "a c", "a b", "a b c"),
        ("", "b d", "a c", "a b c d"),
        ("", "b", "a", None),  # one alone is not sorted in any way
        ("a b", "b", "a b c", None),
    ],
)
def test_what_all_have_sorted_stays_sorted(base, ours, theirs, expected):
    versions = [texts(*words.split()) for words in (base, ours, theirs)]
    keys, _ = weave(*map(list, versions), versions[1] | versions[2])
    found = as_sorted(keys, versions)
    wanted = keys if expected is None else [word.lower() for word in expected.split()]
    assert found == wanted
    again, _ = weave(*(list(versions[i]) for i in (0, 2, 1)), versions[1] | versions[2])
    swapped = as_sorted(again, [versions[i] for i in (0, 2, 1)])
    assert swapped == (again if expected is None else wanted)


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        ("abc", "ax", "bcn", "xn"),  # theirs stands behind what ours took away, and that behind a
        ("abc", "abxc", "bn", "bxn"),
        ("ab", "xb", "abn", "xbn"),
        ("abc", "bc", "anbc", "nbc"),
        ("abc", "xbc", "anbc", "xnbc"),
        ("abc", "a", "abcn", "an"),
        ("abcd", "dxa", "acn", "xan"),
        ("abcd", "acx", "dna", "nax"),
        ("", "x", "n", "xn"),
    ],
)
def test_what_is_gone_still_tells_a_place(base, ours, theirs, expected):
    kept = {*ours, *theirs} - {k for k in base if k not in ours or k not in theirs}
    assert merged(base, ours, theirs, kept)[0] == expected
