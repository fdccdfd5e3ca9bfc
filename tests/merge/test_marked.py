"""What stands between markers: hunks widened, cut and joined, and each side still itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.api import merge_files
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import units
from kmerge_git.merge.write.marked import Marked, marked
from kmerge_git.text.pieces import VERSIONS, Hunk, side_text
from kmerge_git.tree.nodes import Collection, is_linewise


def rule(verb: str) -> str:
    return f"- groups: [apps]/  verbs:/  - {verb}/  - list/  resources: [pods]/  names: [a, b]"


LONG = "".join(f"/  k{n}: {n}" for n in range(12))
ELEVEN = LONG.removesuffix("/  k11: 11")
# before, ours, theirs, behind, and what is made of them: lines end at `/`
CUT = {
    "what both begin and end with": (
        "", "a: 1/b: 2/c: 3", "a: 1/b: 4/c: 3", "", "a: 1/</b: 2/=/b: 4/>/c: 3"),
    "three lines between are one": ("", "a: 1/b: 1/c: 1/d: 1/e: 1", "a: 2/b: 1/c: 1/d: 1/e: 2", "",
        "</a: 1/b: 1/c: 1/d: 1/e: 1/=/a: 2/b: 1/c: 1/d: 1/e: 2/>"),
    "four are two": ("", "a: 1/b: 1/c: 1/d: 1/e: 1/f: 1", "a: 2/b: 1/c: 1/d: 1/e: 1/f: 2", "",
        "</a: 1/=/a: 2/>/b: 1/c: 1/d: 1/e: 1/</f: 1/=/f: 2/>"),
    "a map between would stand twice": ("", "a: 1/m:/  x: 1/b: 1", "a: 2/m:/  x: 1/b: 2", "",
        "</a: 1/=/a: 2/>/m:/  x: 1/</b: 1/=/b: 2/>"),
    "not of one parent": ("", "m:/  a: 1/b: 1/c: 1", "m:/  a: 2/b: 1/c: 2", "",
        "m:/</  a: 1/=/  a: 2/>/b: 1/</c: 1/=/c: 2/>"),
    "another kind of value": ("", "m:/  a: 1", "m:/- a", "", "</m:/  a: 1/=/m:/- a/>"),
    "another column": ("", "m:/- a: 1/- b", "m:/  - a: 1/  - c", "",
        "</m:/- a: 1/- b/=/m:/  - a: 1/  - c/>"),
    "short elements are whole": ("l:", "- key: spot/  operator: Exists", "- key: gpu/  operator: Exists", "",
        "l:/</- key: spot/  operator: Exists/=/- key: gpu/  operator: Exists/>"),
    "short elements that are clearly one thing": ("l:", rule("get"), rule("put"), "",
        "l:/- groups: [apps]/  verbs:/</  - get/=/  - put/>/  - list/  resources: [pods]/  names: [a, b]"),
    "short elements that differ in two fields": (
        "l:",
        rule("get"),
        rule("put").replace("pods", "nodes"),
        "",
        f"l:/</{rule('get')}/=/{rule('put').replace('pods', 'nodes')}/>",
    ),
    "short elements of two names": (
        "l:",
        "- a: 1/  b: 1/  c: 1/  key: x",
        "- a: 1/  b: 1/  c: 1/  key: y",
        "",
        "l:/</- a: 1/  b: 1/  c: 1/  key: x/=/- a: 1/  b: 1/  c: 1/  key: y/>",
    ),
    "one of two names": (
        "l:",
        "- id: a/  name: n/  x: 1",
        "- id: b/  name: n/  x: 1",
        "",
        "l:/</- id: a/  name: n/  x: 1/=/- id: b/  name: n/  x: 1/>",
    ),
    "short elements of one name": ("l:", "- name: a/  x: 1", "- name: a/  x: 2", "",
        "l:/- name: a/</  x: 1/=/  x: 2/>"),
    "a name that is not in the first line": ("l:", "- x: 1/  name: a", "- x: 2/  name: a", "",
        "l:/</- x: 1/  name: a/=/- x: 2/  name: a/>"),
    "long elements": ("l:", f"- a: 1{LONG}/  z: 1", f"- b: 1{LONG}/  z: 2", "",
        f"l:/</- a: 1/=/- b: 1/>{LONG}/</  z: 1/=/  z: 2/>"),
    "one of several elements": ("l:", "- a: 1/- b: 1/- c: 1", "- a: 1/- d: 1/  e: 1/- c: 1", "",
        "l:/- a: 1/</- b: 1/=/- d: 1/  e: 1/>/- c: 1"),
    "elements in another order": ("l:", f"- a: 1{LONG}/- b: 1{LONG}/  z: 1", f"- b: 1{LONG}/  z: 2", "",
        f"l:/</- a: 1{LONG}/=/>/- b: 1{LONG}/</  z: 1/=/  z: 2/>"),
    "lines of a text": ("a: |", "  one/  two", "  one/  three", "", "a: |/  one/</  two/=/  three/>"),
    "texts of one key": ("", "a: |/  one/  two", "a: |/  one/  three", "", "a: |/  one/</  two/=/  three/>"),
    "texts of two keys": ("", "a: |/  one/  two", "b: |/  one/  two", "",
        "</a: |/  one/  two/=/b: |/  one/  two/>"),
    "the first field of an element": ("l:", "- image: b", "- image: c", "  name: n/- name: m",
        "l:/</- image: b/  name: n/=/- image: c/  name: n/>/- name: m"),
    "the first field of a long element": ("l:", "- a: 1", "- a: 2", LONG[1:], f"l:/</- a: 1/=/- a: 2/>{LONG}"),
    "deleted on one side": ("l:", "", "- a: 1/  b: 1", "- c: 1", "l:/</=/- a: 1/  b: 1/>/- c: 1"),
    "comments above": ("", "# one/a: 1", "# two/a: 1", "", "</# one/=/# two/>/a: 1"),
    "lines of brackets": ("", "a: {/  x: 1,/  y: 1/}", "a: {/  x: 2,/  y: 1/}", "",
        "a: {/</  x: 1,/=/  x: 2,/>/  y: 1/}"),
    "within brackets": ("", "a: [1,/  2]", "a: [1,/  3]", "", "</a: [1,/  2]/=/a: [1,/  3]/>"),
    "no YAML": ("", "a: [/b/c", "a: [/d/c", "", "a: [/</b/=/d/>/c"),
    "documents without a separator": ("", "kind: A/m:/  name: a/s: 1", "kind: B/m:/  name: b/d: 1", "",
        "</kind: A/=/kind: B/>/m:/</  name: a/=/  name: b/>/</s: 1/=/d: 1/>"),
    "short documents are whole": ("a: 1", "---/x: 1/y: 1", "---/x: 2/y: 1", "---/b: 1",
        "a: 1/</---/x: 1/y: 1/=/---/x: 2/y: 1/>/---/b: 1"),
    "a line above a map is not in it": ("", "# one/m:/  a: 1", "# two/m:/  a: 2", "  b: 1",
        "</# one/=/# two/>/m:/</  a: 1/=/  a: 2/>/  b: 1"),
    "the key of a text is not in it": ("", "a: 1/m: |/  x/  y: 1", "a: 2/m: |/  x/  y: 2", "  z",
        "</a: 1/=/a: 2/>/m: |/  x/</  y: 1/=/  y: 2/>/  z"),
    "fields in another order": ("l:", "- k: a/  x: 1/  m: 1/  n: 1", "- k: a/  m: 1/  n: 1/  x: 2", "- b",
        "l:/</- k: a/  x: 1/  m: 1/  n: 1/=/- k: a/  m: 1/  n: 1/  x: 2/>/- b"),
    "twelve lines are short": ("l:", f"- a: 1{ELEVEN}", f"- a: 2{ELEVEN}", "",
        f"l:/</- a: 1{ELEVEN}/=/- a: 2{ELEVEN}/>"),
    "thirteen are long": ("l:", f"- a: 1{LONG}", f"- a: 2{LONG}", "", f"l:/</- a: 1/=/- a: 2/>{LONG}"),
    "a long and a short element": ("l:", f"- a: 1{LONG}", "- a: 2/  k0: 0", "",
        f"l:/</- a: 1{LONG}/=/- a: 2/  k0: 0/>"),
    "a long and a short element that begin alike": ("l:", f"- a: 1{LONG}", "- a: 1/  z: 0", "",
        f"l:/</- a: 1{LONG}/=/- a: 1/  z: 0/>"),
    "a long element and its first line": ("l:", f"- a: 1/  b: 1/  c: 1{LONG}", f"- a: 2/  b: 1/  c: 2{LONG}", "",
        f"l:/</- a: 1/  b: 1/  c: 1/=/- a: 2/  b: 1/  c: 2/>{LONG}"),
    "two names": ("l:", "- k: 1/  name: a/  x: 1", "- k: 1/  name: b/  x: 2", "",
        "l:/</- k: 1/  name: a/  x: 1/=/- k: 1/  name: b/  x: 2/>"),
    "a field in the middle of an element": ("l:/- k: a", "  x: 1", "  x: 2", "  z: 1",
        "l:/- k: a/</  x: 1/=/  x: 2/>/  z: 1"),
    "elements that changed places": ("l:", "- a/- b", "- b/- a", "", "l:/</- a/=/>/- b/</=/- a/>"),
    "another kind of value in one column": ("", "m:/  a: 1", "m:/  - a", "",
        "</m:/  a: 1/=/m:/  - a/>"),
    "another kind of text": ("", f"a: |{LONG}", f"a: >-{LONG}", "", f"</a: |{LONG}/=/a: >-{LONG}/>"),
    "a text in another column": ("", "a: |/  one/    two", "a: |/    one/    two", "",
        "</a: |/  one/    two/=/a: |/    one/    two/>"),
    "one document with a separator": ("", "---/kind: A/m:/  x: 1", "kind: B/m:/  x: 1", "",
        "</---/kind: A/m:/  x: 1/=/kind: B/m:/  x: 1/>"),
    "a first field of another kind": ("l:", "- i:/    k: 1/  a: 1/  b: 1/  c: 1/  d: 1",
        "- i:/    - 1/  a: 1/  b: 1/  c: 1/  d: 1", "",
        "l:/</- i:/    k: 1/  a: 1/  b: 1/  c: 1/  d: 1/=/- i:/    - 1/  a: 1/  b: 1/  c: 1/  d: 1/>"),
    "a first field that is folded": ("l:", "- i: x/    y/  a: 1/  b: 1/  c: 1/  d: 1",
        "- i: x/    z/  a: 1/  b: 1/  c: 1/  d: 1", "",
        "l:/</- i: x/    y/  a: 1/  b: 1/  c: 1/  d: 1/=/- i: x/    z/  a: 1/  b: 1/  c: 1/  d: 1/>"),
    "a first field of the same kind": ("l:", "- i:/    k: 1/  a: 1/  b: 1/  c: 1/  d: 1",
        "- i:/    k: 2/  a: 1/  b: 1/  c: 1/  d: 1", "",
        "l:/- i:/</    k: 1/=/    k: 2/>/  a: 1/  b: 1/  c: 1/  d: 1"),
    "a list first in an element": ("l:", "- - x/  - a/  - b/  - c", "- - x/  - a/  - b/  - d", "",
        "l:/</- - x/  - a/  - b/  - c/=/- - x/  - a/  - b/  - d/>"),
    "documents are no neighbours": ("", "b: 1/---/c: 1", "b: 2", "", "</b: 1/=/b: 2/>/</---/c: 1/=/>"),
    "a renamed list": ("", "a:/- x: 1", "b:/- x: 2", "- y: 1/z: 1",
        "</a:/- x: 1/- y: 1/=/b:/- x: 2/- y: 1/>/z: 1"),
    "a renamed map": ("", "a:", "b:", "  x: 1/z: 1", "</a:/  x: 1/=/b:/  x: 1/>/z: 1"),
    "a renamed key of elements": ("", "a:", "b:", "/# x/- x: 1/z: 1",
        "</a://# x/- x: 1/=/b://# x/- x: 1/>/z: 1"),
    "a renamed long map": ("", "a:", "b:", f"  x: 1{LONG}/z: 1", f"</a:/=/b:/>/  x: 1{LONG}/z: 1"),
    "an entry from its middle to behind it": ("m:/  a: 1", "  b: 1/n: 1", "  b: 2/o: 1", "z: 1",
        "m:/  a: 1/</  b: 1/=/  b: 2/>/</n: 1/=/o: 1/>/z: 1"),
    "one side alone goes behind it": ("l:/- a: 1", "  b: 1/- c: 1", "  b: 2", "",
        "l:/</- a: 1/  b: 1/- c: 1/=/- a: 1/  b: 2/>"),
    "an entry to its end": ("m:/  a: 1", "  b: 1/  c: 1", "  b: 2", "z: 1",
        "m:/  a: 1/</  b: 1/  c: 1/=/  b: 2/>/z: 1"),
    "a list at another column": ("k:/  m:", "  - a", "    # b/    - b", "z: 1",
        "k:/</  m:/  - a/=/  m:/    # b/    - b/>/z: 1"),
    "a comment below a first field": ("l:", "- a: 1/    # x/  b: 1", "- a: 1/  # y/    # x/  b: 1", "",
        "l:/</- a: 1/    # x/  b: 1/=/- a: 1/  # y/    # x/  b: 1/>"),
    "documents of one name": ("", *(f"---/kind: A/metadata:/  name: a/s: {n}" for n in (1, 2)), "",
        "---/kind: A/metadata:/  name: a/</s: 1/=/s: 2/>"),
}  # fmt: skip


@pytest.mark.parametrize("before, ours, theirs, behind, made", CUT.values(), ids=CUT)
def test_where_a_hunk_is_cut(before: str, ours: str, theirs: str, behind: str, made: str) -> None:
    hunk = Hunk("", lined(ours), lined(theirs), "", "")
    assert spelled([lined(before), hunk, lined(behind)]) == lined(made)
    mirrored = Hunk("", lined(theirs), lined(ours), "", "")
    assert turned(spelled([lined(before), mirrored, lined(behind)])) == lined(made)


def test_style_diff3_is_whole_and_zdiff3_is_without_its_ends() -> None:
    pieces: list[str | Hunk] = [
        Hunk("a: 0\nb: 0\nc: 0\n", "a: 1\nb: 1\nc: 1\n", "a: 1\nb: 2\nc: 1\n", "", "")
    ]
    assert spelled(pieces, "diff3") == lined("</a: 1/b: 1/c: 1/|/a: 0/b: 0/c: 0/=/a: 1/b: 2/c: 1/>")
    assert spelled(pieces, "zdiff3") == lined("a: 1/</b: 1/|/a: 0/b: 0/c: 0/=/b: 2/>/c: 1")


@pytest.mark.parametrize(
    "ours, made",
    [("a: 1/b: 1", "a: 1/</b: 1/|/=/>"), ("b: 1/a: 1", "</b: 1/|/=/>/a: 1")],
)
def test_zdiff3_of_a_side_that_is_all_in_the_other(ours: str, made: str) -> None:
    sides = lined(ours), lined("a: 1")
    assert spelled([Hunk("", *sides, "", "")], "zdiff3") == lined(made)
    mirrored = spelled([Hunk("", *sides[::-1], "", "")], "zdiff3")
    assert mirrored.replace("|\n", "").replace("=\nb: 1\n", "b: 1\n=\n") == lined(
        made.replace("|/", "")
    )


def test_a_long_element_is_not_widened() -> None:
    pieces: list[str | Hunk] = [
        "l:\n",
        Hunk("- a: 0\n", "- a: 1\n", "- a: 2\n", "", ""),
        lined(LONG[1:]),
    ]
    assert spelled(pieces, "diff3") == lined(f"l:/</- a: 1/|/- a: 0/=/- a: 2/>{LONG}")


@pytest.mark.parametrize("count, shown", [(50, 50), (51, 1)])
def test_of_very_many_elements_none_are_compared(count: int, shown: int) -> None:
    ours, theirs = (
        "".join(lined(rule(f"{verb}{n}")) for n in range(count)) for verb in ("get", "put")
    )
    made = marked(["l:\n", Hunk("", ours, theirs, "", "")], Three("", "", ""))
    assert sum(isinstance(part, Marked) for part in made) == shown


@pytest.mark.parametrize("style", ["diff3", "zdiff3"])
def test_the_base_has_the_whole_element_too(style: str) -> None:
    pieces: list[str | Hunk] = [
        "l:\n",
        Hunk("- x: 0\n", "- x: 1\n", "- x: 2\n", "", ""),
        "  name: n\n- name: m\n",
    ]
    made = "l:/</- x: 1/  name: n/|/- x: 0/  name: n/=/- x: 2/  name: n/>/- name: m"
    assert spelled(pieces, style) == lined(made)


def test_an_element_takes_the_conflicts_in_it_along() -> None:
    first, last = (
        Hunk("- x: 0\n", "- x: 1\n", "- x: 2\n", "", ""),
        Hunk("", "  z: 1\n", "  z: 2\n", "", ""),
    )
    made = marked(["l:\n", first, "  name: n\n", last, "- b\n"], Three("", "", ""))
    (shown,) = (part for part in made if isinstance(part, Marked))
    assert shown.ours == "- x: 1\n  name: n\n  z: 1\n"
    assert shown.hunks == [first, last]


# before, ours, theirs, behind, and what is made of them in style diff3, where nothing is cut again
WIDE = {
    "a comment has no say in where an entry begins": ("m:/  a: 1", "# x/  b: 1/n: 1", "# y/  b: 2/o: 1",
        "z: 1", "</m:/  a: 1/# x/  b: 1/n: 1/|/m:/  a: 1/=/m:/  a: 1/# y/  b: 2/o: 1/>/z: 1"),
    "elements at the column of their key": ("k:/- w", "- x/n: 1", "- y/o: 1", "z: 1",
        "</k:/- w/- x/n: 1/|/k:/- w/=/k:/- w/- y/o: 1/>/z: 1"),
    "a long entry": (f"m:{LONG}", "  b: 1/n: 1", "  b: 2/o: 1", "z: 1",
        f"m:{LONG}/</  b: 1/n: 1/|/=/  b: 2/o: 1/>/z: 1"),
    "the entry around another column, no other": ("k:/  m:", "  - a", "    - b", "z: 1",
        "k:/</  m:/  - a/|/  m:/=/  m:/    - b/>/z: 1"),
    "a map at another column": ("m:", "  a: 1", "    b: 2", "z: 1",
        "</m:/  a: 1/|/m:/=/m:/    b: 2/>/z: 1"),
    "a long map at another column": ("m:", LONG[1:], "    b: 2", "z: 1",
        f"</m:{LONG}/|/m:/=/m:/    b: 2/>/z: 1"),
    "long maps at two columns": ("m:", LONG[1:], LONG[1:].replace("  ", "    "), "z: 1",
        f"m:/</{LONG[1:]}/|/=/{LONG[1:].replace('  ', '    ')}/>/z: 1"),
}  # fmt: skip


@pytest.mark.parametrize("before, ours, theirs, behind, made", WIDE.values(), ids=WIDE)
def test_how_wide_a_hunk_becomes(
    before: str, ours: str, theirs: str, behind: str, made: str
) -> None:
    hunk = Hunk("", lined(ours), lined(theirs), "", "")
    assert spelled([lined(before), hunk, lined(behind)], "diff3") == lined(made)


def test_an_entry_takes_the_conflicts_above_along() -> None:
    first, last = (
        Hunk("", "  a: 1\n", "  a: 2\n", "", ""),
        Hunk("", "  c: 1\nn: 1\n", "  c: 2\no: 1\n", "", ""),
    )
    (shown,) = (
        part
        for part in marked(["m:\n", first, "  b: 1\n", last], Three("", "", ""), "diff3")
        if isinstance(part, Marked)
    )
    assert shown.ours == "m:\n  a: 1\n  b: 1\n  c: 1\nn: 1\n"
    assert shown.hunks == [first, last]


def test_an_element_that_only_one_side_has_takes_its_lines_along() -> None:
    pieces: list[str | Hunk] = ["l:\n- p: 1\n", Hunk("", "- x: 1\n", "", "", ""), "  y: 2\n"]
    # with those above: what theirs has is in another element
    assert spelled(pieces) == lined("l:/</- p: 1/- x: 1/  y: 2/=/- p: 1/  y: 2/>")


def test_conflicts_are_near_where_they_are_on_both_sides() -> None:
    first = Hunk("", "a: 1\n", "a: 2\n---\n", "", "")
    last = Hunk("", "b: 1\n", "b: 2\n", "", "")
    assert spelled([first, last]) == lined("</a: 1/=/a: 2/---/>/</b: 1/=/b: 2/>")


def test_another_column_takes_the_conflict_above_along() -> None:
    first = Hunk("", "a: 1\n", "a:\n  x: 1\n", "", "")
    last = Hunk("", "b: 1\n", "  y: 1\n", "", "")
    assert spelled([first, last]) == lined("</a: 1/b: 1/=/a:/  x: 1/  y: 1/>")


def test_an_element_that_took_conflicts_along_is_cut_again() -> None:
    first = Hunk("", "- k: 1\n- x: 1\n", "- x: 1\n", "", "")
    last = Hunk("", "  z: 1\n", "  z: 2\n", "", "")
    pieces: list[str | Hunk] = ["l:\n", first, "  a: 1\n  b: 1\n", last]
    assert spelled(pieces) == lined("l:/</- k: 1/=/>/- x: 1/  a: 1/  b: 1/</  z: 1/=/  z: 2/>")


def test_lines_that_stand_for_others_stay_outside() -> None:
    hunk, last = (Hunk(f"{at}0\n", f"{at}1\n", f"{at}2\n", "", "") for at in ("- x: ", "  y: "))
    pieces: list[str | Hunk] = [hunk, "  many: 0\n", last]
    at = Three(*(side_text(pieces, v) for v in VERSIONS))
    for style in ("merge", "diff3", "zdiff3"):
        together = [part for part in marked(pieces, at, style) if isinstance(part, Marked)]
        apart = [
            part for part in marked(pieces, at, style, ("  many: 0\n",)) if isinstance(part, Marked)
        ]
        assert (len(together), len(apart)) == (1, 2)


# base, ours, theirs; the pairs of markers in style merge, and in diff3, where git joins over no line
NEAR = {
    "three lines that nobody changed": ("a: 0/b: 0/c: 0/d: 0/e: 0", "a: 1/b: 0/c: 0/d: 0/e: 1",
        "a: 2/b: 0/c: 0/d: 0/e: 2", 1, 2),
    "four of them": ("a: 0/b: 0/c: 0/d: 0/g: 0/e: 0", "a: 1/b: 0/c: 0/d: 0/g: 0/e: 1",
        "a: 2/b: 0/c: 0/d: 0/g: 0/e: 2", 2, 2),
    "a line that one side changed": ("a: 0/b: 0/e: 0", "a: 1/b: 1/e: 1", "a: 2/b: 0/e: 2", 2, 2),
    "another parent": ("m:/  a: 0/b: 0/e: 0", "m:/  a: 1/b: 0/e: 1", "m:/  a: 2/b: 0/e: 2", 2, 2),
    "no line": ("a: 0/e: 0", "a: 1/e: 1", "a: 2/e: 2", 1, 1),
    "no line, and in each of them something is merged": ("a: [0, 0]/e: [0, 0]",
        "a: [1, 1]/e: [1, 1]", "a: [2, 0]/e: [2, 0]", 1, 1),
    "a map": ("a: 0/m:/  b: 0/e: 0", "a: 1/m:/  b: 0/e: 1", "a: 2/m:/  b: 0/e: 2", 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, count, in_diff3", NEAR.values(), ids=NEAR)
def test_conflicts_that_are_near_stand_between_the_same_markers(
    base: str, ours: str, theirs: str, count: int, in_diff3: int
) -> None:
    trio = [lined(text).encode() for text in (base, ours, theirs)]
    outcome = merge_files(*trio)
    assert len(outcome.conflicts) == 2  # they are two for everybody else
    assert outcome.text.count(b"<<<<<<<") == count
    for style in ("diff3", "zdiff3"):
        assert merge_files(*trio, style=style).text.count(b"<<<<<<<") == in_diff3


def test_brackets_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def looked(node: Collection) -> bool:
        seen.append(node)
        return is_linewise(node)

    monkeypatch.setattr(units, "is_linewise", looked)
    pieces: list[str | Hunk] = ["{\n"]
    for n in range(50):
        ours, theirs = (f'"a{n}": {v},\n"b{n}": {v},\n' for v in (1, 2))
        pieces += [Hunk("", ours, theirs, "", ""), f'"c{n}": 1,\n']
    shown = marked([*pieces, '"d": 1\n}\n'], Three("", "", ""))
    assert sum(isinstance(part, Marked) for part in shown) == 50
    assert len(seen) == 2  # once a side


def test_one_line_against_another_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "split_text", None)
    shown = marked(["a: 1\n", Hunk("", "b: 1\n", "b: 2\n", "", ""), "c: 1\n"], Three("", "", ""))
    assert [part.ours for part in shown if isinstance(part, Marked)] == ["b: 1\n"]


TEXTS = st.lists(
    st.sampled_from(
        ["a: 1", "b:", "  a: 1", "  - x", "- a: 1", "- b", "  c: |", "    t", "", "# c", "---"]
    ),
    max_size=9,
).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), min_size=1, max_size=3),
    st.sampled_from(["merge", "diff3", "zdiff3"]),
)
def test_each_side_of_all_conflicts_is_that_side(
    parts: list[tuple[str, str, str, str]], style: str
) -> None:
    pieces: list[str | Hunk] = []
    for text, *sides in parts:
        pieces += [text, Hunk(*sides, "", "")]
    made = marked(pieces, Three(*(side_text(pieces, v) for v in VERSIONS)), style)
    for side in ("ours", "theirs", *(["base"] if style == "diff3" else [])):
        text = "".join(p if isinstance(p, str) else getattr(p, side) for p in made)
        if side != "base" or all(h.ours != h.theirs for h in pieces if isinstance(h, Hunk)):
            assert text == side_text(pieces, side)


def lined(text: str) -> str:
    return text.replace("/", "\n") + "\n" if text else ""


def spelled(pieces: list[str | Hunk], style: str = "merge") -> str:
    """The text with markers of one character."""
    out = ""
    for part in marked(pieces, Three("", "", ""), style):
        if isinstance(part, str):
            out += part
        else:
            base = f"|\n{part.base}" if style != "merge" else ""
            out += f"<\n{part.ours}{base}=\n{part.theirs}>\n"
    return out


def turned(text: str) -> str:
    """The text with the sections of every conflict exchanged."""
    out, ours, theirs = "", "", ""
    section = ""
    for line in text.splitlines(keepends=True):
        if line == "<\n":
            section, ours, theirs = "<", "", ""
        elif section and line == "=\n":
            section = "="
        elif section and line == ">\n":
            out += f"<\n{theirs}=\n{ours}>\n"
            section = ""
        elif section == "<":
            ours += line
        elif section == "=":
            theirs += line
        else:
            out += line
    return out
