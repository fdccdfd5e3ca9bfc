"""Every pair of edits of one element, and some of two: what a merge calls clean is the truth."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from random import Random

import pytest
from depth import part
from worlds.forms import FORMS
from worlds.identity import EDITS, MORE, Elements, element, truth
from worlds.lines import git_lines

from kmerge_git.api import merge_files

# each pair of sides once
PAIRS = list(combinations_with_replacement(EDITS, 2))
SAMPLES = 20  # a form


@cache
def text(name: str, version: Elements) -> bytes:
    """The file of a form."""
    return FORMS[name].write(version)


def judged(name: str, base: Elements, ours: Elements, theirs: Elements) -> str:
    """What a merge of three versions is, beside the truth: right, needless or wrong."""
    form = FORMS[name]
    keys = {each.key for version in (base, ours, theirs) for each in version}
    trio = [text(name, version) for version in (base, ours, theirs)]
    outcome = merge_files(*trio, line_merge=git_lines)
    wanted = truth(base, ours, theirs, ordered=form.ordered, gaps=form.kind == "list")
    return wanted.judge(form.read(outcome.text, keys) if outcome.clean else None)


@cache
def verdicts(name: str) -> dict[tuple[str, str], str]:
    """Of all pairs of edits of one element of five leaves between two others."""
    base = (element("left"), element("x"), element("right"))
    made = {edit: change(base, "x") for edit, change in EDITS.items()}
    return {(o, t): judged(name, base, made[o], made[t]) for o, t in part(PAIRS)}


@pytest.mark.parametrize("name", FORMS)
def test_no_clean_result_is_wrong(name: str) -> None:
    wrong = [sides for sides, verdict in verdicts(name).items() if verdict == "wrong"]
    assert not wrong, f"{len(wrong)} of {len(PAIRS)}: {wrong}"


@pytest.mark.rates
def test_few_conflicts_are_needless() -> None:
    needless = {
        name: [sides for sides, verdict in verdicts(name).items() if verdict == "needless"]
        for name in FORMS
    }
    count = sum(1 if o == t else 2 for pairs in needless.values() for o, t in pairs)
    assert count <= 100 / 1584 * len(FORMS) * len(EDITS) ** 2, needless


# -- sampled: wherever the element stands, and whatever else is edited

PLACES = [["x"], ["x", "right"], ["left", "x"], ["left", "x", "right"], ["left", "l2", "x", "r2"]]
PLACES_OF_TWO = [["x", "y"], ["left", "x", "y", "right"], ["x", "left", "y"]]


def sampled(name: str, places: list[list[str]], whom: str) -> list[str]:
    """The merges that are wrong, of some with edits of one element or two on each side."""
    r = Random(f"{name} {whom}")
    wrong = []
    today = set(part(range(SAMPLES)))
    for number in range(SAMPLES):
        size = r.choice([3, 5, 8])
        base = tuple(element(who, size) for who in r.choice(places))
        edits = [[r.choice(_possible(name, size)) for _ in whom] for _ in range(2)]
        versions = [base, base]
        if number not in today:
            continue
        for side, chosen in enumerate(edits):
            for who, edit in zip(whom, chosen, strict=True):
                versions[side] = MORE[edit](versions[side], who)
        if any(len({each.key for each in version}) < len(version) for version in versions):
            continue  # a name twice on one side
        here, there = (judged(name, base, *sides) for sides in (versions, versions[::-1]))
        if here == "wrong" or here != there:
            wrong.append(f"{[each.who for each in base]} of {size}: {edits}: {here}, {there}")
    return wrong


def _possible(name: str, size: int) -> list[str]:
    """Two of three leaves are too few to tell a rename by; the name of a port is there once."""
    never = {"rename and drop"} if size == 3 else set()
    return [edit for edit in MORE if edit not in never and (name, edit) != ("ports", "copy")]


@pytest.mark.parametrize("name", FORMS)
def test_no_clean_result_is_wrong_wherever_the_element_stands(name: str) -> None:
    wrong = sampled(name, PLACES, "x")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", FORMS)
def test_no_clean_result_is_wrong_where_two_are_edited(name: str) -> None:
    wrong = sampled(name, PLACES_OF_TWO, "xy")
    assert not wrong, "\n".join(wrong)
