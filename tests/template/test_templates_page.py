"""The examples of docs/templates.md and of templates.md: what each merge gives, whichever side is ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from causes import with_causes

from kmerge_git import merge_files
from kmerge_git.outcome import BY_BLOCKS
from kmerge_git.text.linemerge import TemporaryFiles

PAGE = Path(__file__).parents[2] / "docs" / "templates.md"
MORE = Path(__file__).with_name("templates.md")
SIDES = ("base", "ours", "theirs")


class Example:
    """Three versions, and the result; of a conflict it may be shown where it is not git's own."""

    def __init__(self, code: str, about: str) -> None:
        head, *rest = re.split(r"^# (base|ours|theirs|result|conflict)(: \S+)?\n", code, flags=re.M)
        assert not head, f"{about}: a text before `# base`"
        texts = dict(zip(rest[::3], rest[2::3], strict=True))
        self.about = about
        self.path = (rest[1] or ": web/templates/web.yaml").removeprefix(": ")
        self.texts = tuple(texts.pop(side).encode() for side in SIDES)
        ((self.what, self.result),) = texts.items()

    @property
    def is_clean_by_git(self) -> bool:
        lines = TemporaryFiles(self.texts, marker_size=7, labels=SIDES, style="merge")
        return lines.result()[1] == 0


def examples(text: str) -> list[Example]:
    """The examples of a page; what stands above one names it."""
    found, title = [], ""
    for about, code in re.findall(r"(.*?)^```yaml\n(.*?)^```$", text, re.M | re.S):
        title = re.findall(r"^(?!```)\S.*", about, re.M)[-1]
        found.append(Example(code, title))
    return found


PARTS = [
    with_causes(page.read_text()).split("\n## What git merges clean\n") for page in (PAGE, MORE)
]
BY_TEMPLATES = [e for by_templates, _ in PARTS for e in examples(by_templates)]
MERGED = [e for e in BY_TEMPLATES if e.what == "result"]
LEFT = [e for e in BY_TEMPLATES if e.what == "conflict"]
BROKEN = [e for _, by_git in PARTS for e in examples(by_git)]
assert min(len(MERGED) - 8, len(LEFT) - 8, len(BROKEN)) > 0, "the examples were not found"


def merged(example: Example, *, swapped: bool = False):
    base, ours, theirs = example.texts
    return merge_files(base, *((theirs, ours) if swapped else (ours, theirs)), path=example.path)


@pytest.mark.parametrize("example", MERGED, ids=lambda e: e.about)
def test_what_is_merged(example: Example) -> None:
    assert not example.is_clean_by_git
    outcome = merged(example)
    assert (outcome.text.decode(), outcome.clean) == (example.result, True)
    assert outcome.reason == BY_BLOCKS
    other = merged(example, swapped=True)
    assert other.clean
    assert sorted(other.text.splitlines()) == sorted(outcome.text.splitlines())


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("example", LEFT, ids=lambda e: e.about)
def test_what_stays_a_conflict(example: Example, swapped: bool) -> None:
    assert not example.is_clean_by_git and not example.result
    assert not merged(example, swapped=swapped).clean


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("example", BROKEN, ids=lambda e: e.about)
def test_what_git_merges_clean_and_wrong(example: Example, swapped: bool) -> None:
    assert example.is_clean_by_git
    outcome = merged(example, swapped=swapped)
    assert not outcome.clean
    assert swapped or not example.result or outcome.text.decode() == example.result
