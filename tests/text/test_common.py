"""What texts begin and end with alike, beside a comparison line by line."""

from __future__ import annotations

import random

import pytest

from kmerge_git.merge import by_resource
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.plan import Journal
from kmerge_git.merge.three import Three, cut
from kmerge_git.merge.verify.edits_of_both import repeats_an_edit
from kmerge_git.merge.verify.line_opinion import opinion
from kmerge_git.text.diff3 import diff3, head, lines_between, tail, uncommon
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

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


def said(three: Three[str]) -> tuple[str, str]:
    """What the merge by fields comes to, and what a merge of its lines has to say about it."""
    streams = three.map(lambda text: split(Source.of(text)))
    merged = by_resource.merge(GitRules(), streams, Journal())
    return merged.decided("ours"), opinion(merged, streams)


def test_a_merge_of_what_is_not_common_is_that_of_all() -> None:
    """It says the same about a merge by fields."""
    r = random.Random(1)
    told = dict.fromkeys(("agrees", "clash", ""), 0)
    for _ in range(1000):
        base = [r.choice("abc") for _ in range(r.randint(0, 9))]
        texts = []
        for _ in range(2):
            side = list(base)
            for _ in range(r.randint(0, 2)):
                at = r.randint(0, len(side))
                side[at : at + r.randint(0, 2)] = r.choice([[], ["x"], ["b", "c"]])
            texts.append(side)
        ends = r.choice([("", "", ""), ("\n", "", "\n"), ("\n", "\n", "\n")])
        lines = zip((base, *texts), ends, strict=True)
        three = Three(*("".join(f"- {x}\n" for x in ["a", *side]) + end for side, end in lines))
        result, opinion_of_lines = said(three)
        whole = by_all_lines(three)
        wanted = "clash" if whole is None else "agrees" if whole == result else ""
        if wanted == "agrees" and repeats_an_edit(three, result):
            wanted = ""  # two merges that agree confirm nothing here
        assert opinion_of_lines == wanted, three
        told[wanted] += 1
    assert told["agrees"] > 300
    assert told["clash"] > 50


def test_long_lists_are_cut_in_large_steps() -> None:
    """More than is compared at once, with a change near every end of a step."""
    base = [str(n) for n in range(1000)]
    for at in (0, 1, 255, 256, 257, 511, 512, 743, 744, 745, 998, 999):
        ours = [*base[:at], "new", *base[at + 1 :]]
        kinds = [(x.kind, x.b0, x.b1) for x in diff3(base, ours, base) if x.kind != "same"]
        assert kinds == [("ours", at, at + 1)]
