"""Pairs of edits of small templates: what a merge calls clean is what was edited.

A part of the world; `tools/check_templates.py` merges all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from random import Random

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.template_edits import Edit, edits
from worlds.template_files import FILES
from worlds.template_model import STYLES, written
from worlds.templates import (
    FULL,
    WRONG,
    Case,
    beside,
    judged,
    merged,
    normal,
    of_git,
    shrunk,
    told,
)

from kmerge_git import merge_files

SAMPLES = {True: 24, False: 40}  # of a template: where git's lines are clean, and where they clash
TRAPS = {
    "both replace an output line": ("another output", "another output"),
    "both replace an action in a line": ("another action", "another action"),
    "one include, once in an if": ("add a shared output", "add a block with the shared output"),
    "an include twice": ("add a shared output", "add a shared output"),
    "two values of a variable": ("add an assignment", "add an assignment"),
    "a key in two spellings": ("add a templated key", "add shared"),
    "changed and replaced by an include": ("another value", "own output for it"),
    "deleted and replaced by an include": ("delete", "own output for it"),
    "two includes for one key": ("own output for it", "own output for it"),
    "one include for two keys": ("common output for it", "common output for it"),
    "inside and outside of a block": ("add shared", "add a block with shared"),
    "two blocks with one key": ("add a block with shared", "add a block with shared"),
    "a container made twice": ("add a container of own", "add a container of own"),
    "a block that is other text on each side": (
        "add a common block with own",
        "add a common block with own",
    ),
    "a name that was freed and taken": ("rename, and take the name", "another value"),
    "wrapped, and wrapped in part": ("wrap", "wrap two"),
    "unwrapped, and more in it": ("unwrap", "add own"),
    "a header that both changed": ("another header", "another header"),
    "an else on both sides": ("add an else", "add an else"),
}
OF_A_TRAP = 2  # merges of a trap in each template, where git's lines clash


@cache
def sides(name: str, style: str) -> tuple[list[Edit], list[Edit]]:
    """The edits of both sides: all in one style, the commoner ones in the others."""
    mine, yours = (list(edits(FILES[name], side, core=style != FULL)) for side in "ot")
    return mine, yours


def drawn(name: str) -> Iterator[Case]:
    """Pairs by chance, without end."""
    r = Random(name)
    while True:
        style = r.choice([FULL, *STYLES])
        yield Case(name, STYLES[style], FILES[name].root, *map(r.choice, sides(name, style)))


def is_clean(case: Case) -> bool:
    """Whether git's lines are."""
    return git_lines(*case.trio)[1]


@cache
def sample(name: str) -> list[Case]:
    """Some of each sort."""
    left = Counter(SAMPLES)
    found = []
    for case in drawn(name):
        if not +left:
            break
        if left[is_clean(case)] > 0:
            left[is_clean(case)] -= 1
            found.append(case)
    return found


def trapped(name: str, trap: str) -> Iterator[Case]:
    """The pairs of a trap, in any style, where git's lines clash."""
    one, other = TRAPS[trap]
    for style in STYLES:
        mine, yours = sides(name, style)
        pairs = [
            (mine[i], yours[j])
            for i, j in product(range(len(mine)), repeat=2)
            if (mine[i].what, yours[j].what) == (one, other)
        ]
        Random(name).shuffle(pairs)
        yield from (
            case
            for pair in pairs
            for case in [Case(name, STYLES[style], FILES[name].root, *pair)]
            if not is_clean(case)
        )


@cache
def verdict(case: Case) -> str:
    """What the merge is."""
    return judged(case)


def wrong(found: list[Case]) -> str:
    """The merges that must not be: their names, and the first as small as it is still wrong."""
    bad = [case for case in part(found) if verdict(case) in WRONG]
    if not bad:
        return ""
    small = shrunk(bad[0], lambda case: judged(case) == verdict(bad[0]))
    names = "\n".join(f"{verdict(case)}: {case.name}" for case in bad)
    return f"{names}\n\n{told(small, merged(small).text)}"


@pytest.mark.parametrize("name", FILES)
def test_no_clean_result_is_wrong(name: str) -> None:
    assert not wrong(sample(name))


@pytest.mark.parametrize("trap", TRAPS)
def test_no_trap_is_stepped_into(trap: str) -> None:
    found = [case for name in FILES for case in islice(trapped(name, trap), OF_A_TRAP)]
    assert found
    assert not wrong(found)


@pytest.mark.rates
def test_more_is_resolved_than_by_lines() -> None:
    found = [case for name in FILES for case in sample(name)]
    ours, lines = (Counter(map(judge, found)) for judge in (verdict, of_git))
    assert ours["missed"] <= lines["missed"] / 2, (ours, lines)


@pytest.mark.parametrize("name", FILES)
def test_what_one_side_alone_changed_is_its_text(name: str) -> None:
    file = FILES[name]
    for style in STYLES.values():
        base = written(file.root, style)
        for edit in part(edits(file, "o", core=True)):
            side = written(edit.tree, style)
            for trio, wanted in (
                ((base, base, side), side),
                ((base, side, base), side),
                ((base, side, side), side),
            ):
                made = merge_files(*trio, path=file.path, line_merge=git_lines)
                assert (made.text, made.clean) == (wanted, True), edit.name


# -- the world itself


@pytest.mark.rates
def test_the_truth_is_no_merge_of_lines() -> None:
    """What the world says of git's lines is known: it can tell a lie."""
    found = Counter(
        of_git(case) for name in ("labels", "nested") for case in islice(drawn(name), 500)
    )
    assert found["wrong"] and found["damaged"] and found["right"] > 500


def test_a_result_with_something_lost_or_twice_is_wrong() -> None:
    for name in FILES:
        case = next(case for case in sample(name) if case.truth.trees)
        lines = written(case.truth.trees[0], case.style).splitlines(keepends=True)
        assert beside(case, b"".join(lines)) == "right"
        for at in (at for at, line in enumerate(lines) if line.strip()):
            less = b"".join(lines[:at] + lines[at + 1 :])
            more = b"".join(lines[:at] + lines[at : at + 1] + lines[at:])
            for text in (less, more):
                assert beside(case, text) in WRONG or normal(text) in case.texts(), case.name
