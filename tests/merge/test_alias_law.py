"""Planted faults of aliases: the law alone refuses a result in which one means another anchor."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.referee import violations
from kmerge_git.tree.documents import YamlText

BASE = "b: &k 1|c: 2|x: *k|z: 3|"
# base, ours, theirs and a result, with `|` between the lines
TURNED = {
    "the anchor moves, and an alias comes": (
        BASE, "a: &k 5|b: 1|c: 2|x: *k|z: 3|", BASE + "d: *k|", "a: &k 5|b: 1|c: 2|x: *k|z: 3|d: *k|",
    ),
    "a second anchor comes between": (
        BASE, BASE.replace("c: 2|", "c: &k 2|"), BASE + "d: *k|",
        BASE.replace("c: 2|", "c: &k 2|") + "d: *k|",
    ),
    "both sides give a second anchor": (
        BASE, BASE.replace("c: 2|", "n: &k 8|c: 2|"), BASE.replace("c: 2|", "c: 2|m: &k 9|"),
        "b: &k 1|n: &k 8|c: 2|m: &k 9|x: *k|z: 3|",
    ),
    "an alias moves over an anchor that comes": (
        "b: &k 1|x: *k|c: 2|z: 3|", "b: &k 1|c: 2|x: *k|z: 3|",
        "b: &k 1|x: *k|n: &k 7|c: 2|z: 3|", "b: &k 1|n: &k 7|c: 2|x: *k|z: 3|",
    ),
    "a merge key": (
        "o: &k|  u: 1|p: &k|  u: 2|w:|  <<: *k|z: 3|", "o: &k|  u: 1|p:|  u: 2|w:|  <<: *k|z: 3|",
        "o: &k|  u: 1|p: &k|  u: 2|w:|  <<: *k|y:|  <<: *k|z: 3|",
        "o: &k|  u: 1|p:|  u: 2|w:|  <<: *k|y:|  <<: *k|z: 3|",
    ),
    "anchors in a list without keys": (
        "l:|- &k a|- &k b|x: *k|z: 3|", "l:|- &k b|- &k a|x: *k|z: 3|", "l:|- &k a|- &k b|x: *k|z: *k|",
        "l:|- &k b|- &k a|x: *k|z: *k|",
    ),
    "the element around an alias has another name": (
        "x: &j 1|l:|- name: a|  y: *j|  z: &j 2|", "x: &j 1|l:|- name: a|  z: &j 2|  y: *j|",
        "x: &j 1|l:|- name: b|  y: *j|  z: &j 2|", "x: &j 1|l:|- name: b|  y: *j|  z: &j 2|",
    ),
    "documents change places": (
        "t: a|---|t: b|x: &h 1|y: 2|v: 3|", "t: a|---|t: b|x: &h 1|y: &h 2|v: 3|",
        "t: b|x: &h 1|y: 2|v: 3|z: *h|---|t: a|", "t: b|x: &h 1|y: &h 2|v: 3|z: *h|---|t: a|",
    ),
}  # fmt: skip
RIGHT = {
    "the value of an anchor": (BASE, BASE.replace("&k 1", "&k 5"), BASE + "d: *k|", BASE.replace("&k 1", "&k 5") + "d: *k|"),
    "the key of an anchor": (BASE, BASE.replace("b:", "n:"), BASE + "d: *k|", BASE.replace("b:", "n:") + "d: *k|"),
    "another name for both": (
        BASE, BASE.replace("k", "j"), BASE.replace("z: 3", "z: 4"), BASE.replace("k", "j").replace("z: 3", "z: 4"),
    ),
    "an anchor behind the alias": (
        BASE, BASE + "n: &k 9|", BASE.replace("c: 2", "c: *k"), BASE.replace("c: 2", "c: *k") + "n: &k 9|",
    ),
    "another anchor in a list without keys": (
        "l:|- &k a|x: *k|z: 3|", "l:|- &k a|- &k b|x: *k|z: 3|", "l:|- &k a|x: *k|z: 4|",
        "l:|- &k a|- &k b|x: *k|z: 4|",
    ),
    "ours aims anew": (
        "a: &j 0|" + BASE, "a: &j 0|" + BASE.replace("*k", "*j"), "a: &j 0|" + BASE.replace("&k 1", "&k 5"),
        "a: &j 0|b: &k 5|c: 2|x: *j|z: 3|",
    ),
}  # fmt: skip


def _streams(texts: tuple[str, ...]) -> tuple[YamlText, ...]:
    return tuple(YamlText(text.replace("|", "\n").encode(), "values.yaml") for text in texts)


@pytest.mark.parametrize("texts", TURNED.values(), ids=TURNED)
def test_a_turned_alias_breaks_the_law(texts: tuple[str, str, str, str]) -> None:
    base, ours, theirs, made = _streams(texts)
    for at in (Three(base, ours, theirs), Three(base, theirs, ours)):
        found = violations(at.map(lambda text: text.stream), made.stream)
        assert [v for v in found if v.law == "alias"], found


@pytest.mark.parametrize("texts", RIGHT.values(), ids=RIGHT)
def test_what_an_alias_may_mean(texts: tuple[str, str, str, str]) -> None:
    base, ours, theirs, made = _streams(texts)
    for at in (Three(base, ours, theirs), Three(base, theirs, ours)):
        assert not violations(at.map(lambda text: text.stream), made.stream)


@pytest.mark.parametrize("mark", ["&j", "!t"])
def test_an_anchor_of_an_element_stays(mark: str) -> None:
    base = "k:\n- name: a\n  v: 1\nz: 1\n"
    ours = base.replace("v: 1", "v: 2")
    theirs = base.replace("- name", f"- {mark}\n  name")
    for sides in ((ours, theirs), (theirs, ours)):
        outcome = merge_files(*(text.encode() for text in (base, *sides)), path="values.yaml")
        assert outcome.text.decode() == theirs.replace("v: 1", "v: 2")
