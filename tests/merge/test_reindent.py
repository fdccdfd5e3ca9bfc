"""Documents that one side alone indented anew: all lines follow, or none does."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.layout import laid_out_anew
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

BASE = "a:\n  b: 1\n  l:\n  - x\n  - y\nz: 1\n"
DEEPER = "a:\n    b: 1\n    l:\n      - x\n      - y\nz: 1\n"


def laid(base: str, ours: str, theirs: str) -> list[str]:
    at = Three(base, ours, theirs).map(lambda text: split(Source.of(text)).documents[0])
    return [document.content for document in laid_out_anew(at).each() if document is not None]


def merged(base: str, ours: str, theirs: str) -> str:
    outcome = merge_files(
        base.encode(), ours.encode(), theirs.encode(), line_merge=lambda *_: (b"", False)
    )
    assert outcome.clean, outcome.conflicts
    return outcome.text.decode()


@pytest.mark.parametrize(
    "ours, expected",
    [
        (BASE, DEEPER),
        (BASE.replace("b: 1", "b: 2"), DEEPER.replace("b: 1", "b: 2")),
        (BASE.replace("- y", "- y\n  - n"), DEEPER.replace("- y", "- y\n      - n")),
        (BASE.replace("  b", "  n:\n    m: 1\n  b"), DEEPER.replace("    b", "    n:\n      m: 1\n    b")),
        (BASE.replace("  - x\n", ""), DEEPER.replace("      - x\n", "")),
    ],
    ids=["unchanged", "a value", "an element", "a block", "gone"],
)  # fmt: skip
def test_every_line_follows_the_side_that_moved_it(ours, expected):
    assert laid(BASE, ours, DEEPER) == [DEEPER, expected, DEEPER]
    assert laid(BASE, DEEPER, ours) == [DEEPER, DEEPER, expected]


@pytest.mark.parametrize(
    "base, ours, theirs",
    [
        (BASE, BASE.replace("z: 1", "z: 2"), BASE.replace("b: 1", "b: 2")),
        (BASE, DEEPER, DEEPER),
        (BASE, DEEPER.replace("    b", "   b").replace("    l", "   l"), DEEPER),
        ("a:\n  b: 1\n  c: 2\n", "a:\n  b: 3\n  c: 2\n", "a:\n  n:\n    b: 1\n    c: 2\n"),
        ("a: |\n  x\n   y\n", "a: |\n  x\n   z\n", "a: |\n    x\n  y\n"),
    ],
    ids=[
        "nobody moved",
        "both alike",
        "both",
        "into another block",
        "it would mean something else",
    ],
)
def test_else_all_stay(base, ours, theirs):
    assert laid(base, ours, theirs)[:2] == [base, ours]


def test_the_result_is_indented_as_the_side_has_it():
    ours, theirs = BASE.replace("z: 1", "z: 2"), DEEPER.replace("b: 1", "b: 2")
    wanted = DEEPER.replace("b: 1", "b: 2").replace("z: 1", "z: 2")
    assert merged(BASE, ours, theirs) == wanted
    assert merged(BASE, theirs, ours) == wanted
