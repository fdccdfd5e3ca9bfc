"""Answers that are looked up once for all: each says what a search for every element would say."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import permutations, product

import pytest

from kmerge_git.merge.decide.order import moved
from kmerge_git.merge.decide.renames import _joined
from kmerge_git.merge.decide.rules import Riddle, shared_out
from kmerge_git.merge.verify.sequences import MOST_NEWCOMERS, Newcomers, bounds
from kmerge_git.merge.verify.sites import Known
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

WORDS = ["".join(w) for n in range(4) for w in permutations("abcd", n)]


def test_what_is_moved_stands_behind_other_things() -> None:
    for base, side in product([*WORDS, "abcd"], ["".join(w) for w in permutations("abcd")] + WORDS):
        wanted = {
            key
            for key in set(base) & set(side)
            if set(base[: base.index(key)]) & set(side) != set(side[: side.index(key)]) & set(base)
        }
        assert moved(base, side) == wanted


@pytest.mark.parametrize(
    "given, joined",
    [
        ([], []),
        (["a", "b"], ["a", "b"]),
        (["ab", "c", "bd"], ["c", "abd"]),
        (["a", "b", "c", "ab"], ["c", "ab"]),
        (["ab", "cd", "e", "bc"], ["e", "abcd"]),
        (["ab", "cd", "bc", "de"], ["abcde"]),
    ],
)
def test_riddles_of_one_element_are_one(given: list[str], joined: list[str]) -> None:
    found = _joined([Riddle(keys, why) for why, keys in enumerate(given)])  # type: ignore[arg-type]
    assert ["".join(sorted(map(str, riddle.keys))) for riddle in found] == joined
    firsts = [min(n for n, keys in enumerate(given) if set(keys) <= r.keys) for r in found]
    assert [riddle.why for riddle in found] == firsts


def test_each_riddle_gets_its_elements_in_their_order() -> None:
    table = {key: object() for key in "abcdef"}
    parts = shared_out(table, [Riddle("fb", "x"), Riddle("z", "x"), Riddle("d", "x")])  # type: ignore[arg-type]
    assert [list(part) for part in parts] == [["b", "f"], [], ["d"]]
    assert parts[0]["f"] is table["f"]  # type: ignore[comparison-overlap]


def allowed(key: str, base: str, ours: str, theirs: str) -> tuple[int, int]:
    """As the law says it, element by element."""
    counts = base.count(key), ours.count(key), theirs.count(key)
    if counts != (0, 1, 1):
        return bounds(*counts)
    common = set(base) & set(ours) & set(theirs)

    def gap(one: str, side: str) -> set[Hashable]:
        return common & set(side[: side.index(one)])

    if gap(key, ours) != gap(key, theirs):
        return 1, 2
    runs = [
        [x for x in side if x not in base and gap(x, side) == gap(key, ours)]
        for side in (ours, theirs)
    ]
    if len(runs[0]) * len(runs[1]) > MOST_NEWCOMERS:
        return 1, 2
    short, long = sorted(runs, key=len)
    return (1, 1) if [x for x in long if x in short] == short else (1, 2)


def test_what_both_add_in_one_gap_stands_there_once() -> None:
    for base, ours, theirs in product(["", "a", "ab", "abc"], WORDS, WORDS):
        newcomers = Newcomers(list(base), list(ours), list(theirs))
        for key in {*ours, *theirs}:
            counts = base.count(key), ours.count(key), theirs.count(key)
            assert newcomers.allowed(key, counts) == allowed(key, base, ours, theirs)


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
    known = Known(split(Source.of(TEXT)).roots[0], "")
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
    known = Known(split(Source.of(TEXT)).roots[0], "")
    assert known.around(TEXT.index(line)) == path
