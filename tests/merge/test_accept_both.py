"""Who keeps both sides of a conflict has a file that parses, with whole elements (`lawbook_accept`)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from depth import part
from lawbook_accept import accepted, breaches
from random_conflicts import conflict_trio
from test_cases import FOLDERS, name, trio
from worlds.clashes import BASES, CLASHES, STYLES, Section, conflicts, elements, sections
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.text.markers import marker_size_for

# base, ours and theirs, and what is left of both; `;` is a line end
MADE = {
    "the first field differs": (
        "t:;- k: a;  op: E;z: 1;",
        "t:;- k: b;  op: E;z: 1;",
        "t:;- k: c;  op: E;z: 1;",
        "t:;- k: b;  op: E;- k: c;  op: E;z: 1;",
    ),
    "another field differs": (
        "t:;- k: a;  op: E;z: 1;",
        "t:;- k: a;  op: F;z: 1;",
        "t:;- k: a;  op: G;z: 1;",
        "t:;- k: a;  op: F;  op: G;z: 1;",
    ),
    "both added one": (
        "t:;- k: a;  op: E;z: 1;",
        "t:;- k: a;  op: E;- k: spot;  op: E;z: 1;",
        "t:;- k: a;  op: E;- k: gpu;  op: E;z: 1;",
        "t:;- k: a;  op: E;- k: spot;  op: E;- k: gpu;  op: E;z: 1;",
    ),
    "several against one": (
        "t: [];z: 1;",
        "t:;- k: a;  v: 1;- k: b;  v: 1;z: 1;",
        "t:;- k: c;  v: 1;z: 1;",
        "t:;- k: a;  v: 1;- k: b;  v: 1;- k: c;  v: 1;z: 1;",
    ),
    "a list of elements": (
        "t: [];z: 1;",
        "t:;- k:;  - a;  v:;  - 1;z: 1;",
        "t:;- k:;  - b;  v:;  - 1;z: 1;",
        "t:;- k:;  - a;  v:;  - 1;- k:;  - b;  v:;  - 1;z: 1;",
    ),
    "the first field deleted": (
        "t:;- e: 1;  name: a;  op: c;z: 1;",
        "t:;- name: a;  op: c;z: 1;",
        "t:;- e: 2;  name: a;  op: c;z: 1;",
        "t:;- name: a;  op: c;- e: 2;  name: a;  op: c;z: 1;",
    ),
    "an entry renamed": (
        "m:;  a:;    x: one;    y: two;    w: three;z: 1;",
        "m:;  b:;    x: one;    y: two;    w: three;z: 1;",
        "m:;  c:;    x: one;    y: two;    w: three;z: 1;",
        "m:;  b:;    x: one;    y: two;    w: three;  c:;    x: one;    y: two;    w: three;z: 1;",
    ),
    "another kind": (
        "m:;  k: 1;z: 1;",
        "m:;  k:;  - a;z: 1;",
        "m:;  k:;    b: 1;z: 1;",
        "m:;  k:;  - a;  k:;    b: 1;z: 1;",
    ),
    "a folded text": (
        "m:;  d: one;    more;z: 1;",
        "m:;  d: two;    more;z: 1;",
        "m:;  d: three;    more;z: 1;",
        "m:;  d: two;    more;  d: three;    more;z: 1;",
    ),
    "block texts": (
        "t: [];z: 1;",
        "t:;- k: |;    a;    end;z: 1;",
        "t:;- k: |;    b;    end;z: 1;",
        "t:;- k: |;    a;    end;- k: |;    b;    end;z: 1;",
    ),
    "within a block text": (
        "m:;  k: |;    a;    end;z: 1;",
        "m:;  k: |;    b;    end;z: 1;",
        "m:;  k: |;    c;    end;z: 1;",
        "m:;  k: |;    b;    c;    end;z: 1;",
    ),
}


def found(
    versions: Sequence[bytes], styles: Sequence[str] = STYLES, path: str = "", *, quick: bool = True
) -> list[str]:
    """What is wrong with the conflicts of a merge, in each style; nothing where it has none."""
    texts = [data.decode("utf-8", "replace") for data in versions]
    base, ours, theirs = versions
    wrong = []
    for style in styles:
        lines = git_lines if quick else None
        outcome = merge_files(base, ours, theirs, path=path, style=style, line_merge=lines)
        if outcome.clean or outcome.method != "structure":
            return []
        text = outcome.text.decode("utf-8", "replace")
        against = breaches(text, marker_size_for(texts), style=style, versions=texts)
        wrong += [f"{style}: {breach}\n{text}" for breach in against]
    return wrong


@pytest.mark.parametrize("case", MADE)
def test_both_are_left_whole(case: str) -> None:
    base, *sides, wanted = (text.replace(";", "\n") for text in MADE[case])
    for ours, theirs in (sides, sides[::-1]):
        trio = base.encode(), ours.encode(), theirs.encode()
        assert found(trio) == []
        for style in STYLES:
            outcome = merge_files(*trio, style=style, line_merge=git_lines)
            assert not outcome.clean
            left = accepted(outcome.text.decode())
            if ours == sides[0]:
                assert left == wanted, style


@pytest.mark.world
@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_both_sides_of_a_case(folder: Path) -> None:
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    assert found(trio(folder), path=case.get("path", ""), quick=False) == []


@pytest.mark.parametrize("hundred", range(8))
def test_both_sides_of_random_conflicts(hundred: int) -> None:
    """About 300 conflicts of 800 merges; every fourth in each style."""
    for seed in part(range(hundred * 100, hundred * 100 + 100)):
        made = conflict_trio(Random(f"accept {seed}"))
        assert found(made, STYLES[: 3 if seed % 4 == 0 else 1]) == [], f"accept {seed}"


@pytest.mark.parametrize("world", CLASHES)
@pytest.mark.parametrize("style", STYLES)
def test_both_sides_of_every_clash(world: str, style: str) -> None:
    base = CLASHES[world].write(BASES[world]).decode()
    wrong = [
        text
        for _, _, text, _ in conflicts(world, style)
        if breaches(text, style=style, versions=[base])
    ]
    assert not wrong, f"{len(wrong)} of {len(conflicts(world, style))}: {wrong[0]}"


@pytest.mark.parametrize("world", CLASHES)
def test_more_than_three_lines_alike_part_two_conflicts(world: str) -> None:
    for _, _, text, _ in conflicts(world, "merge"):
        for ours, theirs in sections(text):
            assert _longest_alike(elements(ours), elements(theirs)) <= 3, text


def _longest_alike(ours: list[Section], theirs: list[Section]) -> int:
    """The lines of the longest run of elements that both have."""
    lengths = [
        sum(map(len, ours[at:end]))
        for at in range(len(ours))
        for end in range(at + 1, len(ours) + 1)
        if any(ours[at:end] == theirs[i : i + end - at] for i in range(len(theirs)))
    ]
    return max(lengths, default=0)
