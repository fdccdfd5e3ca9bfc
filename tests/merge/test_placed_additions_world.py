"""Additions keep their place: every order of a short list, with additions at every place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import pytest
from depth import part
from worlds.lines import git_lines
from worlds.placed_additions import FORMS, Case, Word, cases, named

from kmerge_git.api import merge_files


@dataclass
class Found:
    """The counts, and the cases that are not as they should be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    needless: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)


def merged(name: str, case: Case, *, mirrored: bool = False) -> Word | None:
    form = FORMS[name]
    sides = [form.write(case.moved), form.write(case.added, case.names)]
    pair = sides[::-1] if mirrored else sides
    outcome = merge_files(form.write(case.base), *pair, path=form.path, line_merge=git_lines)
    return form.read(outcome.text) if outcome.clean else None


@cache
def judged(name: str, size: int, new: int) -> Found:
    """The verdicts of all lists of so many elements with so many additions."""
    found = Found()
    for bare in part([*cases(size, new)]):
        lawful = bare.lawful()
        for case in named(bare):
            both = [merged(name, case, mirrored=mirrored) for mirrored in (False, True)]
            found.swapped += [str(case)] if both[0] != both[1] else []
            for word in both:
                found.counts[_verdict(case, lawful, word)] += 1
                if word is None:
                    found.needless += [str(case)] if lawful or not case.names else []
                elif case.breaks(word) or (lawful and word not in lawful):
                    found.wrong.append(f"{case}: {''.join(word)}")
    return found


def _verdict(case: Case, lawful: set[Word], word: Word | None) -> str:
    if word is None:
        return "conflict"
    return "broken" if case.breaks(word) else "lawful" if word in lawful else "anywhere"


# each form once, and the larger worlds with and without keys
WORLDS = [*((name, 3, 1) for name in FORMS), ("env", 4, 1), ("steps", 4, 1)]
WORLDS += [("containers", 3, 2), ("steps", 3, 2)]


@pytest.mark.parametrize("name, size, new", WORLDS)
def test_an_addition_keeps_its_place(name: str, size: int, new: int) -> None:
    found = judged(name, size, new)
    assert not found.wrong, f"{len(found.wrong)}: {found.wrong[:5]}, {found.counts}"
    assert not found.swapped, f"{len(found.swapped)}: {found.swapped[:5]}"


@pytest.mark.parametrize("name, size, new", WORLDS)
def test_only_a_broken_reference_makes_a_conflict(name: str, size: int, new: int) -> None:
    found = judged(name, size, new)
    assert not found.needless, f"{len(found.needless)}: {found.needless[:5]}, {found.counts}"


def steps(*lines: str) -> bytes:
    """A workflow with these steps."""
    items = "".join(f"      - {line}\n" for line in lines)
    return f"jobs:\n  build:\n    steps:\n{items}    timeout: 1\n".encode()


A, B, X = "{id: A, uses: x/a@v1}", "{id: B, uses: x/b@v1}", "{id: X, run: make}"


@pytest.mark.parametrize(
    "added, is_clean",
    [
        ("{id: N, run: 'echo ${{ steps.A.outputs.tag }}'}", False),
        ("run: echo ${{ steps.A.outputs.tag }}", False),  # a step without a name
        ("{run: make, if: steps.A.outcome == 'success'}", False),
        ("{id: N, needs: [A]}", False),
        ("{id: N, run: 'echo $(A)'}", False),
        ("{id: N, run: 'echo $$$(A)'}", False),
        ("{id: N, run: 'echo $$(A)'}", True),  # an escape
        ("{id: N, run: 'echo A'}", True),
        ("{id: N, run: 'echo ${{ steps.B.outputs.tag }}'}", True),  # it stands behind B there
    ],
)
def test_what_an_addition_names(added: str, is_clean: bool) -> None:
    sides = steps(X, B, A), steps(A, X, added, B)
    for pair in (sides, sides[::-1]):
        outcome = merge_files(steps(A, X, B), *pair, path=".github/workflows/ci.yaml")
        assert outcome.clean == is_clean
    if not is_clean:
        assert "refers to `A`, but would come before it" in outcome.conflicts[0].shown()


@pytest.mark.parametrize(
    "base, ours, theirs, result",
    [
        ("ab", "ba", "abn", "ban"),
        ("abd", "ba", "abnd", "ban"),  # the mover takes away what is behind the addition
        ("ab", "abnm", "ban", "banm"),  # both add n
        ("abcd", "cdab", "abcdn", "cdabn"),
    ],
)
@pytest.mark.parametrize(
    "item", ["- id: {0}\n        uses: x/{0}@v1", "- - name: {0}", "- [{0}, -{0}]"]
)
def test_additions_to_lists_without_keys(
    item: str, base: str, ours: str, theirs: str, result: str
) -> None:
    base, ours, theirs, result = (
        "spec:\n    steps:\n" + "".join(f"      {item}\n".format(x) for x in word)
        for word in (base, ours, theirs, result)
    )
    for pair in ((ours, theirs), (theirs, ours)):
        texts = (text.encode() for text in (base, *pair))
        outcome = merge_files(*texts, path="a.yaml", line_merge=git_lines)
        assert outcome.clean and outcome.text.decode() == result


@pytest.mark.parametrize("mirrored", [False, True])
def test_additions_of_both_sides_in_one_gap_of_a_list_that_both_reorder(mirrored: bool) -> None:
    texts = [
        "spec:\n    steps:\n" + "".join(f"      - id: {x}\n        uses: x/{x}@v1\n" for x in word)
        for word in ("abc", *(("cabm", "acbn")[:: -1 if mirrored else 1]))
    ]
    outcome = merge_files(*(text.encode() for text in texts), path="a.yaml", line_merge=git_lines)
    assert not outcome.clean
