"""Answers that are looked up once for all: each says what a search for every element would say."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import permutations, product

import pytest
from worlds import judged

from kmerge_git.merge.decide.order import moved
from kmerge_git.merge.decide.renamed_elements import follow
from kmerge_git.merge.decide.rules import Riddle, shared_out
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.list_readings import Newcomers
from kmerge_git.merge.verify.sites import CollectionPaths
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Entry, Mapping

WORDS = ["".join(w) for n in range(4) for w in permutations("abcd", n)]


def test_what_is_moved_stands_behind_other_things() -> None:
    for base, side in product([*WORDS, "abcd"], ["".join(w) for w in permutations("abcd")] + WORDS):
        wanted = {
            key
            for key in set(base) & set(side)
            if set(base[: base.index(key)]) & set(side) != set(side[: side.index(key)]) & set(base)
        }
        assert moved(base, side) == wanted


# Elements with three leaves each: neighbours in this row share two of them, so that one may be the
# other under a new key; the rest share one at most.
ROW = dict(zip("abcde", ("111", "112", "122", "222", "223"), strict=True))
ALONE = {"f": "333", "g": "444", "h": "555"}
# z may be x, y or k under a new key, and w may be u, v or k
Z_OR_W = {"z": "666", "x": "668", "y": "669", "k": "667", "w": "677", "u": "877", "v": "977"}


def table(words: str) -> dict[Hashable, Entry]:
    """`a` is an element with its own leaves; `a=b` has the key a and the leaves of b; `a!` others."""
    found: dict[Hashable, Entry] = {}
    leaves = ROW | ALONE | Z_OR_W
    for number, word in enumerate(words.split()):
        key, _, of = word.partition("=")
        values = f"{number}90" if key.endswith("!") else leaves[of or key]
        fields = "".join(f"  f{n}: {value}\n" for n, value in enumerate(values))
        root = split(Source.of(f"{key.rstrip('!')}:\n{fields}")).roots[0]
        assert isinstance(root, Mapping)
        found[key.rstrip("!")] = root.entries[0]
    return found


WHICH, GONE = Why.WHICH, Why.RENAMED_AND_GONE


@pytest.mark.parametrize(
    "given, joined",
    [
        (("a f", "a f", "a f"), []),
        (("f g", "p=f q=g", ""), [("f", GONE), ("g", GONE)]),
        # a or c became b, and z, which stands between them, x or y
        (("a z c", "b x y", "a! z! c!"), [("xyz", WHICH), ("abc", WHICH)]),
        # each is taken away by the other side, then f and h would both be p
        (("f g h", "p=f q=g", "p=h"), [("g", GONE), ("fh", GONE)]),
        # ours has x and y for z, u and v for w, b for a or c; theirs has k for z or w
        (("z w a c", "x y u v b", "k a! c!"), [("abc", WHICH), ("kuvwxyz", WHICH)]),
        (("a c e", "b d", "a! c! e!"), [("abcde", WHICH)]),
    ],
)
def test_riddles_of_one_element_are_one(
    given: tuple[str, str, str], joined: list[tuple[str, str]]
) -> None:
    """It stands where the last of them would, with the first of their reasons by the alphabet."""
    _, riddles = follow(Three(*given).map(table), (), None)
    assert [("".join(sorted(map(str, r.keys))), r.why) for r in riddles] == joined


def test_each_riddle_gets_its_elements_in_their_order() -> None:
    table = {key: object() for key in "abcdef"}
    parts = shared_out(table, [Riddle("fb", "x"), Riddle("z", "x"), Riddle("d", "x")])  # type: ignore[arg-type]
    assert [list(part) for part in parts] == [["b", "f"], [], ["d"]]
    assert parts[0]["f"] is table["f"]  # type: ignore[comparison-overlap]


def test_what_both_add_stands_there_once_for_each_common_neighbour() -> None:
    sides = [word for word in judged.sides("1", edits=0) if judged.NEW in word]
    for ours, theirs in product(sides, repeat=2):
        newcomers = Newcomers(list(judged.OLD), list(ours), list(theirs))
        wanted = judged.newcomers(ours, theirs)
        for is_word in (True, False):
            found = newcomers.allowed(judged.NEW, (0, 1, 1), is_word=is_word, is_open=False)
            assert found == (wanted, wanted), (ours, theirs)


@pytest.mark.parametrize(
    "base, ours, theirs, counts",
    [
        # in a new list all stand in one gap
        ("", "n", "n", (1, 1)),
        ("", "nn", "n", (2, 2)),
        # each addition has at most one partner
        ("bl", "bnlnp", "bnp", (2, 2)),
        ("ab", "anb", "nanbn", (3, 3)),
        # a word may begin two different additions
        ("s", "nxs", "nys", (1, 2)),
        ("s", "nxs", "nxs", (1, 1)),
        # x may be another version of b
        ("abc", "axnc", "anbc", (1, 1)),
        ("abcd", "axncd", "abcnd", (1, 2)),
        ("aabb", "anabb", "aabnb", (2, 2)),
    ],
)
def test_how_often_additions_may_stand_there(
    base: str, ours: str, theirs: str, counts: tuple[int, int]
) -> None:
    for mine, yours in ((ours, theirs), (theirs, ours)):
        how_often = (0, mine.count("n"), yours.count("n"))
        newcomers = Newcomers(list(base), list(mine), list(yours))
        assert newcomers.allowed("n", how_often, is_word=True, is_open=False) == counts


@pytest.mark.parametrize(
    "base, ours, theirs, expected",
    [
        # l stands between the two on one side, and is gone on the other
        ("blp", "bnlnp", "bnp", True),
        ("blp", "bnlnp", "bnlnp", False),
        ("blp", "bnlp", "blnp", False),
        # both stand in one gap
        ("bp", "bnnp", "bnp", False),
        # each may begin another addition
        ("blp", "bnxlnyp", "bnzp", False),
    ],
)
def test_which_of_two_additions_is_meant(base: str, ours: str, theirs: str, expected: bool) -> None:
    for mine, yours in ((ours, theirs), (theirs, ours)):
        newcomers = Newcomers(list(base), list(mine), list(yours))
        assert newcomers.is_disputed("n", is_word=True) is expected


TEXT = """\
a:
  b: 1
  c: {d: {e: 1}}
containers:
- name: x
  env: [1, 2]
- name: y
  env:
  - z
"""


@pytest.mark.parametrize(
    "path, nearest",
    [
        ((), ()),
        (("a",), ("a",)),
        (("a", "b"), ("a",)),
        (("a", "c", "d", "e"), ("a", "c", "d")),
        (("a", "x", "d"), ("a",)),
        (("x", "a"), ()),
        (("containers", (("name", "y"),), "env"), ("containers", (("name", "y"),), "env")),
        (("containers", (("name", "z"),), "env"), ("containers",)),
    ],
)
def test_a_path_leads_as_far_as_there_are_collections(
    path: tuple[object, ...], nearest: tuple[object, ...]
) -> None:
    known = CollectionPaths(split(Source.of(TEXT)).roots[0], "")
    assert known.nearest(path) == nearest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line, path",
    [
        ("  b: 1", ("a",)),
        ("a:", ()),
        ("  env: [", ("containers", (("name", "x"),))),
        ("[1, 2]", ("containers", (("name", "x"),), "env")),
        ("  - z", ("containers", (("name", "y"),), "env")),
        ("{e: 1}", ("a", "c", "d")),
    ],
)
def test_a_line_stands_in_the_nearest_collection(line: str, path: tuple[object, ...]) -> None:
    known = CollectionPaths(split(Source.of(TEXT)).roots[0], "")
    assert known.around(TEXT.index(line)) == path
