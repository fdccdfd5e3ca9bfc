"""Elements under another key: which are one, and what is a riddle, as tables of small lists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kmerge_git.kube import likeness
from kmerge_git.kube.listkeys import ListRule
from kmerge_git.merge.decide import renamed_elements
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Entry

# -- the adapter: `a:1,2,3` is an element with three leaves; of a name alone the value is a scalar

KEYED = ListRule("keyed", ("name",))
ORDERED = ListRule("keyed", ("name",), ordered=True)
LONG = "a-text-of-more-than-twenty"


def followed(base: str, ours: str, theirs: str, rule: ListRule | None = KEYED) -> str:
    """The labels of ours and of theirs, then the riddles."""
    tables, riddles = renamed_elements.follow(
        Three(base, ours, theirs).map(table), (("name",),) if rule else (), rule
    )
    labels = [" ".join(map(str, t)) for t in (tables.ours, tables.theirs)]
    told = [f"{r.why}: {' '.join(sorted(map(str, r.keys)))}" for r in riddles]
    return " | ".join([*labels, *sorted(told)])


def table(words: str) -> dict[object, Entry]:
    found: dict[object, Entry] = {}
    for word in words.split():
        key, _, leaves = word.partition(":")
        fields = "".join(f"  f{n}: {leaf}\n" for n, leaf in enumerate(leaves.split(","))) or "  0\n"
        text = f"{key}:\n{fields}" if leaves else f"{key}: 0\n"
        root = split(Source.of(text)).documents[0].root
        found[key] = root.entries[0]  # type: ignore[union-attr]
    return found


# -- the tables: base, ours, theirs; who is who there, and the riddles

GONE = Why.RENAMED_AND_GONE
MOVED = Why.MOVED_AND_GONE
REPLACED = Why.REPLACED
WHICH = Why.WHICH
TWICE = Why.SAME_NAME
LISTS = {
    "nothing is gone": ("a:1,2,3", "a:1,2,3 x:1,2,3", "a:1,2,4", "a x | a"),
    "renamed here, edited there": ("a:1,2,3", "x:1,2,3", "a:1,2,4", "a | a"),
    "renamed there, edited here": ("a:1,2,3", "a:1,2,4", "x:1,2,3", "a | a"),
    "renamed and edited": ("a:1,2,3", "x:1,2,9", "a:1,8,3", "a | a"),
    "too much of it is new": ("a:1,2,3", "x:1,8,9", "a:1,2,4", "x | a"),
    "two of four are half, not two thirds": ("a:1,2,3,4", "x:1,2,8,9", "a:1,2,3,5", "x | a"),
    "two leaves are too few": ("a:1,2", "x:1,2", "a:1,3", "x | a"),
    "unless one is long": (f"a:{LONG},2", f"x:{LONG},2", f"a:{LONG},3", "a | a"),
    "nobody changed it there: a deletion and an addition": ("a:1,2,3", "x:1,2,3", "a:1,2,3", "x | a"),
    "all it shares is elsewhere, too": ("a:1,2,3 b:1,2,3", "x:1,2,3 b:1,2,3", "a:1,2,4 b:1,2,3", "x b | a b"),
    "one leaf of its own tells": ("a:1,2,3 b:1,2,4", "x:1,2,3 b:1,2,4", "a:1,5,3 b:1,2,4", "a b | a b"),
    "the more alike one": ("a:1,2,3,4", "x:1,2,3,4 y:1,2,3,9", "a:1,2,3,5", "a y | a"),
    "two that are equally alike": ("a:1,2,3", "x:1,2,3 y:1,2,3", "a:1,2,4", f"x y | a | {WHICH}: a x y"),
    "one that is like two": ("a:1,2,3 b:1,2,3", "x:1,2,3", "a:1,2,4 b:1,2,3", f"x | a b | {WHICH}: a x"),
    "both rename it alike": ("a:1,2,3", "x:1,2,3", "x:1,2,4", "a | a"),
    "both rename it differently": ("a:1,2,3", "x:1,2,3", "y:1,2,4", "a | a"),
    "taken away there": ("a:1,2,3", "x:1,2,3", "", f"a |  | {GONE}: a"),
    "taken away here": ("a:1,2,3", "", "x:1,2,3", f" | a | {GONE}: a"),
    "renamed to what is new there": ("a:1,2,3", "x:1,2,3", "a:1,2,3 x:7,8,9", f"a | a x | {TWICE}: a x"),
    "two are renamed to one name": ("a:1,2,3 b:4,5,6", "x:1,2,3 b:4,5,6", "a:1,2,3 x:4,5,6", f"a b | a b | {TWICE}: a b"),
    "and the other is edited": ("a:1,2,3 b:4,5,6", "x:1,2,3 b:4,5,9", "a:1,2,9 x:4,5,6", f"a b | a b | {TWICE}: a b"),
    "moved and edited here, taken away there": ("a:1,2,3 b:4,5,6", "b:4,5,6 a:1,2,9", "b:4,5,6", f"b a | b | {MOVED}: a"),
    "moved here, taken away there": ("a:1,2,3 b:4,5,6", "b:4,5,6 a:1,2,3", "b:4,5,6", "b a | b"),
    "edited here, taken away there": ("a:1,2,3 b:4,5,6", "a:1,2,9 b:4,5,6", "b:4,5,6", "a b | b"),
    "both replace it": ("a:1,2,3 b:4", "x:7,8,9 b:4", "y:5,6,7 b:4", f"x b | y b | {REPLACED}: a x y"),
    "both replace it alike": ("a:1,2,3 b:4", "x:7,8,9 b:4", "x:7,8,9 b:4", "x b | x b"),
    "one replaces it": ("a:1,2,3 b:4", "x:7,8,9 b:4", "b:4", "x b | b"),
    "new ones in another gap": ("a:1 b:4", "x:7 b:4", "b:4 y:7", "x b | b y"),
    "a gap of two members": ("a:1 b:2 c:3", "x:1 c:3", "a:1 y:2 c:3", f"x c | a y c | {REPLACED}: b x y"),
    "each replaces another one": ("a:1 b:2 c:3", "x:1 b:2 c:3", "a:1 y:2 c:3", "x b c | a y c"),
    "two gone of a gap of three": ("a:1 b:2 c:3 d:4", "x:1 c:3 d:4", "y:2 d:4", f"x c d | y d | {REPLACED}: a b x y"),
    "the only one of a new list": ("", "x:1,2,3", "y:1,2,4", f"x | y | {Why.BOTH_ADDED}: x y"),
    "less than half alike": ("", "x:1,2,3", "y:1,5,4", "x | y"),
    "one of two": ("", "x:1,2,3 z:5", "y:1,2,4", "x z | y"),
    "under one name": ("", "x:1,2,3", "x:1,2,4", "x | x"),
}  # fmt: skip
MAPS = {
    "an entry with content": ("a:1,2,3", "x:1,2,3", "a:1,2,4", "a | a"),
    "an entry with a scalar": ("a b:1,2,3", "x b:1,2,3", "a b:1,2,4", "x b | a b"),
    "renamed differently": ("a:1,2,3", "x:1,2,3", "y:1,2,3", f"a | a | {Why.RENAMED_APART}: a"),
    "replaced: no gap in a map": ("a:1,2,3", "x:7,8,9", "y:4,5,6", "x | y"),
}  # fmt: skip
# the other side moves what this side renamed
MOVES = {
    "most of it is equal": ("a:1,2,3 b:4,5,6", "x:1,2,3 b:4,5,6", "b:4,5,6 a:1,2,3", "a b | b a"),
    "half of it is equal": ("a:1,2 b:4,5", "x:1,9 b:4,5", "b:4,5 a:1,2", "a b | b a"),
    "one leaf is all it has": ("a:1 b:4", "x:1 b:4", "b:4 a:1", "a b | b a"),
    "less than half, and no other has it": ("a:1,2,3 b:4,5,6", "x:1,8,9 b:4,5,6", "b:4,5,6 a:1,2,3", f"x b | b a | {WHICH}: a x"),
    "less than half, and others have it": ("a:1,2,3 b:1,5,6", "x:1,8,9 b:1,5,6", "b:1,5,6 a:1,2,3", "x b | b a"),
    "nothing is equal": ("a:1,2,3 b:4,5,6", "x:7,8,9 b:4,5,6", "b:4,5,6 a:1,2,3", "x b | b a"),
    "two that are equally alike": ("a:1,2 b:4,5", "x:1,2 y:1,2 b:4,5", "b:4,5 a:1,2", f"x y b | b a | {WHICH}: a x y"),
    "moved here as well": ("a:1,2 b:4,5 c:6,7", "b:4,5 c:6,7 x:1,2", "b:4,5 a:1,2 c:6,7", "b c a | b a c"),
    "moved here as well, and one more is alike": ("a:1,2 b:4,5 c:6,7", "b:4,5 c:6,7 x:1,2 y:1,2", "b:4,5 a:1,2 c:6,7", f"b c x y | b a c | {WHICH}: a x y"),
    "its neighbour was moved": ("a:1 b:4 c:6", "a:1 b:4 x:6", "b:4 a:1 c:6", "a b c | b a c"),
    "both rename and move another one": ("a:1 b:4 c:6", "c:6 x:1 b:4", "y:4 a:1 c:6", "c a b | b a c"),
}  # fmt: skip
TWO = Why.TWO_VERSIONS
MANY = "1,2,3,4,5,6,7,8"
NEW = {
    "eight leaves": ("a:1", f"a:1 x:{MANY}", f"a:1 y:{MANY}", f"a x | a y | {TWO}: x y"),
    "seven leaves": ("a:1", f"a:1 x:{MANY[:-2]}", f"a:1 y:{MANY[:-2]}", "a x | a y"),
    "one leaf differs": ("a:1", f"a:1 x:{MANY}", f"a:1 y:{MANY[:-1]}9", "a x | a y"),
    "one name": ("a:1", f"a:1 x:{MANY}", f"a:1 x:{MANY}", "a x | a x"),
    "another one is on both sides": ("a:1", f"x:{MANY} a:1", f"a:1 x:{MANY} y:{MANY}", "x a | a x y"),
    "two pairs": ("a:1", f"x:{MANY} b:{MANY},9 a:1", f"a:1 c:{MANY},9 y:{MANY}", f"x b a | a c y | {TWO}: b c | {TWO}: x y"),
    "one of three": ("a:1", f"a:1 x:{MANY} z:1,2", f"a:1 y:{MANY} w:3,4", f"a x z | a y w | {TWO}: x y"),
    "in a new collection": ("", f"x:{MANY} z:1", f"y:{MANY}", f"x z | y | {TWO}: x y"),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, expected", LISTS.values(), ids=LISTS)
def test_a_keyed_list(base, ours, theirs, expected):
    assert followed(base, ours, theirs) == expected
    assert sides(followed(base, theirs, ours)) == sides(expected)[::-1]


def sides(told: str) -> tuple[str, ...]:
    """What is told of each side; the riddles in the middle."""
    ours, theirs, *riddles = told.split(" | ")
    return ours, " | ".join(riddles), theirs


@pytest.mark.parametrize("base, ours, theirs, expected", MAPS.values(), ids=MAPS)
def test_a_mapping(base, ours, theirs, expected):
    assert followed(base, ours, theirs, None) == expected


@pytest.mark.parametrize("rule", [KEYED, ORDERED], ids=["keyed", "ordered"])
@pytest.mark.parametrize("base, ours, theirs, expected", MOVES.values(), ids=MOVES)
def test_a_move_is_a_change(base, ours, theirs, expected, rule):
    assert followed(base, ours, theirs, rule) == expected
    assert sides(followed(base, theirs, ours, rule)) == sides(expected)[::-1]


def test_in_a_mapping_a_move_is_no_change():
    assert followed("a:1,2,3 b:4,5,6", "x:1,2,3 b:4,5,6", "b:4,5,6 a:1,2,3", None) == "x b | b a"


@pytest.mark.parametrize("rule", [None, ListRule("infer")], ids=["map", "inferred"])
@pytest.mark.parametrize("base, ours, theirs, expected", NEW.values(), ids=NEW)
def test_two_versions_of_one_new_thing(base, ours, theirs, expected, rule):
    assert followed(base, ours, theirs, rule) == expected
    assert TWO not in followed(base, ours, theirs)


def test_too_many_comparisons_are_a_conflict(monkeypatch):
    many = ("a:1,2,3 b:4,5,6", "x:1,2,3 y:4,5,6", "a:1,2,9 b:4,5,6")
    assert followed(*many) == "a b | a b"
    monkeypatch.setattr(renamed_elements, "MOST_COMPARISONS", 3)
    assert followed(*many) == f"x y | a b | {WHICH}: a x y"


@pytest.mark.costly
def test_the_thresholds_stand_in_one_table():
    """A share of something is a number below one, and there is none in another module."""
    root = Path(likeness.__file__).parents[1]
    shares = {
        str(path.relative_to(root))
        for room in ("kube", "merge", "tree", "text")
        for path in (root / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value < 1
    }
    assert shares == {"kube/likeness.py"}
