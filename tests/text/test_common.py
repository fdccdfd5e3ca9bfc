"""What texts begin and end with alike, beside a comparison line by line."""

from __future__ import annotations

import random

import pytest

from kmerge_git.merge.three import Three, cut
from kmerge_git.merge.verify.line_opinion import _by_lines
from kmerge_git.text.common import head, lines_between, tail, uncommon
from kmerge_git.text.diff3 import diff3

ALIKE = ["", "a", "a\n", "a\nb\n", "a\nb", "ab\n", "a\na\n", "a\na\na\n", "b\na\n", "\n", "\n\n"]


@pytest.mark.parametrize("a", ALIKE)
@pytest.mark.parametrize("b", ALIKE)
def test_characters(a: str, b: str) -> None:
    most = min(len(a), len(b))
    known = max(n for n in range(most + 1) if a[:n] == b[:n])
    assert head(a, b) == known
    ends = [n for n in range(most - known + 1) if a[len(a) - n :] == b[len(b) - n :]]
    assert tail(a, b, most - known) == max(ends)


@pytest.mark.parametrize("a", ALIKE)
@pytest.mark.parametrize("b", ALIKE)
def test_lines(a: str, b: str) -> None:
    start, behind = uncommon(a, b)
    for text in (a, b):
        inside = lines_between(text, start, behind)
        around = text[:start].split("\n")[:-1], text[len(text) - behind :].split("\n")
        assert [*around[0], *inside, *(around[1] if behind else [])] == text.split("\n")
    assert a[:start] == b[:start]
    assert a[len(a) - behind :] == b[len(b) - behind :]


def by_all_lines(texts: Three[str]) -> str | None:
    """The merge of the lines without a cut."""
    lines = texts.map(lambda text: text.split("\n"))
    result: list[str] = []
    for region in diff3(*lines.each()):
        if region.kind == "clash":
            return None
        part = cut(region, lines)
        result += part.theirs if region.kind == "theirs" else part.ours
    return "\n".join(result)


def test_a_merge_of_what_is_not_common_is_that_of_all() -> None:
    r = random.Random(1)
    clean = 0
    for _ in range(1000):
        base = [r.choice("abc") for _ in range(r.randint(0, 9))]
        texts = []
        for _ in range(2):
            side = list(base)
            for _ in range(r.randint(0, 2)):
                at = r.randint(0, len(side))
                side[at : at + r.randint(0, 2)] = r.choice([[], ["x"], ["b", "c"]])
            texts.append("\n".join(side) + r.choice(["", "\n", "\n"]))
        three = Three("\n".join(base) + "\n", *texts)
        assert _by_lines(three) == by_all_lines(three)
        clean += by_all_lines(three) is not None
    assert 300 < clean < 950


def test_long_lists_are_cut_in_large_steps() -> None:
    """More than is compared at once, with a change near every end of a step."""
    base = [str(n) for n in range(1000)]
    for at in (0, 1, 255, 256, 257, 511, 512, 743, 744, 745, 998, 999):
        ours = [*base[:at], "new", *base[at + 1 :]]
        kinds = [(x.kind, x.b0, x.b1) for x in diff3(base, ours, base) if x.kind != "same"]
        assert kinds == [("ours", at, at + 1)]
