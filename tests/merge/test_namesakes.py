"""Two resources of one name, which no version has twice, are a conflict of both."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.referee import violations
from kmerge_git.tree.documents import YamlText


def thing(name: str, *values: int) -> str:
    data = "".join(f"  v{n}: {value}\n" for n, value in enumerate(values))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{data}"


def file(*things: str) -> str:
    return "---\n".join(things)


A, B = thing("a", 1, 2, 3, 4), thing("b", 5, 6, 7, 8)
# base, ours, theirs and a result with a name twice
TWICE = {
    "renamed to what the other side adds": (
        file(A, B), file(thing("n", 1, 2, 3, 4), B), file(A, B, thing("n", 9)),
        file(thing("n", 1, 2, 3, 4), B, thing("n", 9)),
    ),
    "two renamed to one name": (
        file(A, B), file(thing("n", 1, 2, 3, 4), B), file(A, thing("n", 5, 6, 7, 8)),
        file(thing("n", 1, 2, 3, 4), thing("n", 5, 6, 7, 8)),
    ),
    "both add one in two places": (
        file(A, B), file(thing("n", 1), A, B), file(A, B, thing("n", 2)),
        file(thing("n", 1), A, B, thing("n", 2)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("texts", TWICE.values(), ids=TWICE)
def test_a_name_twice_breaks_the_law(texts: tuple[str, str, str, str]) -> None:
    base, ours, theirs, made = (YamlText(text.encode(), "a.yaml") for text in texts)
    for at in (Three(base, ours, theirs), Three(base, theirs, ours)):
        found = violations(at.map(lambda text: text.stream), made.stream)
        assert [v.why for v in found] == [Why.NAMESAKES] * 2


@pytest.mark.parametrize("texts", TWICE.values(), ids=TWICE)
def test_it_is_never_clean(texts: tuple[str, str, str, str]) -> None:
    base, ours, theirs, made = (text.encode() for text in texts)
    for sides in ((ours, theirs), (theirs, ours)):
        outcome = merge_files(base, *sides, path="a.yaml", line_merge=lambda *_: (made, True))
        assert not outcome.clean


def test_a_name_that_a_side_has_twice_stays() -> None:
    base, ours = file(A, B), file(A, B, thing("a", 0, 0))
    made = file(A, thing("b", 5, 6, 7, 9), thing("a", 0, 0))
    at = [
        YamlText(t.encode(), "a.yaml").stream for t in (base, ours, file(A, thing("b", 5, 6, 7, 9)))
    ]
    assert not violations(Three(*at), YamlText(made.encode(), "a.yaml").stream)
