"""The law "accept both" itself: it sees what an editor would break, and nothing else."""

from __future__ import annotations

from random import Random

import pytest
from lawbook_accept import accepted, breaches
from random_conflicts import conflict_trio

from kmerge_git.api import merge_files


def text(ours: str, theirs: str, before: str = "", after: str = "", base: str | None = None) -> str:
    """One conflict, with what is around it; `;` is a line end."""
    old = "" if base is None else f"||||||| b;{base}"
    marked = f"{before}<<<<<<< o (x);{ours}{old}=======;{theirs}>>>>>>> t;{after}"
    return marked.replace(";", "\n")


SOUND = {
    "a scalar": text("a: 1;", "a: 2;", "m: 0;", "z: 1;"),
    "two scalars": text("a: 1;b: 1;", "a: 2;b: 2;"),
    "a scalar within an element": text("  image: a;", "  image: b;", "- name: x;", "  args: [];"),
    "two elements": text("- key: a;  op: E;", "- key: b;  op: E;", "t:;", "- key: c;"),
    "an element deleted": text("", "- a: 1;  b: 2;", "t:;", "- c: 1;"),
    "two entries": text("a:;  x: 1;", "b:;  x: 1;"),
    "inside a map that both added": text("  x: 1;", "  y: 1;", "a:;"),
    "inside a block text": text("  two;", "  three;", "a: |;  one;", "  four;b: 1;"),
    "one collection in brackets": text("m: {a: 1};", "m: {b: 1};"),
    "another kind": text("m:;  a: 1;", "m:;- a;", "k: 1;"),
    "a kind and a scalar": text("m: 1;", "m:;- a;", "k: 1;"),
    "an alias": text("b: *x;", "b: 1;", "a: &x 1;"),
    "an anchor": text("a: &x 1;", "a: &x 2;", "", "b: *x;"),
    "comments": text("# one;", "# two;", "a: 1;", "b: 1;"),
    "brackets of several lines": text("  a,;", "  b;", "m: [;", "];"),
    "documents of one line": text('{"a": 1};', '{"a": 2};'),
    "anchors of maps": text("a: &x;  b: 1;", "a: &y;  b: 1;"),
    "lists at other columns": text("m:;- a;", "m:;  - b;"),
    "documents": text("---;a: {};b: 1;", "---;c: {};b: 1;", "k: 1;", "---;d: 1;"),
    "a long element": text("- k: a;", "- k: b;", "t:;", "".join(f"  f{n}: 1;" for n in range(12))),
    "a longer one on the other side": text(
        "- k: a;", "- k: b;" + "".join(f"  f{n}: 1;" for n in range(11)), "t:;", "  z: 1;"
    ),
    "with a base": text("- a: 1;", "- a: 2;", "t:;", "- a: 3;", base="not: [yaml;"),
    "two lists above a base": text("m:;- a;", "m:;- b;", base="k: 1;"),
    "a heading in a text": text("  x;", "  y;", "a: |;  =======;", "b: 1;"),
    "windows": text("a: 1;", "a: 2;", "b: 1;").replace("\n", "\r\n"),
}
BROKEN = {
    "first lines of elements": (
        text("- key: spot;", "- key: gpu;", "t:;", "  operator: Exists;"),
        "line 4: of ours, 'operator: Exists' is no longer in '- key: spot'",
    ),
    "last lines of elements": (
        text("  b: 1;- c: 1;", "  b: 2;", "t:;- a: 1;"),
        "line 5: of theirs, 'b: 2' is no longer in '- a: 1'",
    ),
    "a key and what is below": (
        text("web:;", "app:;", "", "  x: 1;"),
        "line 3: of ours, 'x: 1' is no longer in 'web:'",
    ),
    "a nested list": (
        text("- a:;  - 1;- b:;", "- c:;", "t:;", "  - 2;"),
        "line 6: of ours, '- 2' is no longer in '- b:'",
    ),
    "documents": (
        text("---;a: 1;---;b: 1;", "---;c: 1;", "k: 1;", "d: 1;"),
        "line 8: of ours, 'd: 1' is no longer in its document",
    ),
    "the start of a text": (
        text("a: |;  x;b: |;", "a: >;  y;b: |;", "", "  z;"),
        "of ours, 'b: |' is cut off",
    ),
    "a text that is cut off": (text("a: |;", "b: |;", "", "  z;"), "of ours, 'a: |' is cut off"),
    "a folded scalar": (text("a: one;", "a: two;", "", "  more;"), "of ours, 'a: one' is cut off"),
    "a kind below its key": (text("  a: 1;", "- a;", "m:;"), "both taken, line 3"),
    "a list twice": (text("m:;- a;", "m:;- b;"), "'m' is a list twice"),
    "a map twice": (text("a: 1;m:;  x: 1;", "m:;  x: 1;b: 1;"), "'m' is a map twice"),
    "in two conflicts": (
        text("a: 1;", "b: 1;") + text("", "a: 1;", "k: 1;"),
        "'a' stands in two conflicts",
    ),
    "not in a conflict": (text("a: 1;", "a: 2;", "", "k: 1;k: 1;"), "'k' stands again"),
    "one side is no YAML": (text("a: [;", "a: 1;"), "ours taken, line"),
    "an alias without its anchor": (text("b: *x;", "a: &x 1;"), "no such anchor"),
}


@pytest.mark.parametrize("marked", SOUND.values(), ids=SOUND)
def test_what_may_be_accepted(marked: str) -> None:
    style = "diff3" if "|||||||" in marked else "merge"
    assert breaches(marked, style=style) == []


@pytest.mark.parametrize("marked, what", BROKEN.values(), ids=BROKEN)
def test_what_must_not(marked: str, what: str) -> None:
    found = breaches(marked)
    assert any(what in str(breach) for breach in found), found


def test_a_fault_that_a_version_has() -> None:
    marked, _ = BROKEN["not in a conflict"]
    assert breaches(marked, versions=["k: 1\nk: 1\na: 0\n"]) == []
    marked, _ = BROKEN["an alias without its anchor"]
    assert breaches(marked, versions=["b: *x\n"]) == []
    assert breaches(marked, versions=["b: 1\r\nm:\r\n  a: 1\r\n"]) != []


def test_what_is_left() -> None:
    marked = text("a: 1;", "a: 2;", "m: 0;", "z: 1;", base="a: 0;")
    assert accepted(marked) == "m: 0\na: 1\na: 2\nz: 1\n"
    assert breaches(marked.replace("<<<<<<<", "<" * 11).replace(">>>>>>>", ">" * 11)) != []


def test_random_conflicts_are_conflicts() -> None:
    trios = [conflict_trio(Random(f"conflict {seed}")) for seed in range(150)]
    assert trios == [conflict_trio(Random(f"conflict {seed}")) for seed in range(150)]
    outcomes = [merge_files(*trio, line_merge=lambda *_: (b"", False)) for trio in trios]
    assert sum(not each.clean and each.method == "structure" for each in outcomes) > 40
