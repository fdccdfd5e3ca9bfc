"""The proof sees every text that does not say what was decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmerge_git.errors import KmergeError, Unproved
from kmerge_git.merge import by_resource
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.plan import Journal, Plan, Take
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.proof import agrees, prove
from kmerge_git.text.pieces import side_text
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = sorted(
    CASES / name
    for name in (
        "driver/both-add-a-key-at-the-end",
        "driver/env-reordered-and-edited",
        "driver/block-scalar-lines",
        "driver/json-members",
        "driver/list-indentation-changed",
        "collections/emptied-by-both",
        "layout/ours-was-indented-anew",
        "lists/first-key-moved",
    )
)


def merged(folder: Path) -> by_resource.MergedFile:
    streams = Three(*("base", "ours", "theirs")).map(
        lambda side: split(Source((folder / f"{side}.yaml").read_bytes()))
    )
    return by_resource.merge(GitRules(), streams, Journal())


def proved(folder: Path) -> list[tuple[str, by_resource.MergedDocument]]:
    found = [r for r in merged(folder).documents if r.plan is not None]
    assert found
    return [(side_text(r.pieces, "ours"), r) for r in found]


def holds(text: str, plan: Plan, side: str) -> bool:
    """Whether a document's text, decided for one side, is what the plan says."""
    try:
        found = split(Source.of(text)).documents
        return len(found) == 1 and agrees(plan, found[0].root, side)
    except KmergeError:
        return False


def is_said(line: str) -> bool:
    bare = line.strip(" -")
    return bool(bare) and bare[0] not in "#}]" and bare not in ("{", "[")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_the_text_itself_holds(folder: Path) -> None:
    for text, resource in proved(folder):
        assert holds(text, resource.plan, "ours")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_a_line_less_does_not_hold(folder: Path) -> None:
    for text, resource in proved(folder):
        lines = text.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if is_said(line):
                assert not holds("".join(lines[:index] + lines[index + 1 :]), resource.plan, "ours")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_a_line_more_does_not_hold(folder: Path) -> None:
    for text, resource in proved(folder):
        lines = text.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if is_said(line):
                assert not holds(
                    "".join([*lines[:index], line, *lines[index:]]), resource.plan, "ours"
                )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_another_character_does_not_hold(folder: Path) -> None:
    for text, resource in proved(folder):
        lines = text.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if is_said(line):
                at = max(
                    i
                    for i, char in enumerate(line.split(" #")[0])
                    if char.isalnum() or char in "{["
                )
                other = line[:at] + ("@" if line[at].isalnum() else "") + line[at + 1 :]
                changed = "".join([*lines[:index], other, *lines[index + 1 :]])
                assert not holds(changed, resource.plan, "ours"), changed


def test_an_element_elsewhere_does_not_hold() -> None:
    texts = (b"a: [1, 2]\nb: 1\n", b"a: [1, 2, 3]\nb: 1\n", b"a: [0, 1, 2]\nb: 2\n")
    found = by_resource.merge(GitRules(), Three(*map(Source, texts)).map(split), Journal())
    (resource,) = found.documents
    assert side_text(resource.pieces, "ours") == "a: [0, 1, 2, 3]\nb: 2\n"
    assert not holds("a: [1, 0, 2, 3]\nb: 2\n", resource.plan, "ours")
    assert not holds("a: [0, 1, 2]\nb: 2\n", resource.plan, "ours")
    assert not holds("a: {0: 1, 2: 3}\nb: 2\n", resource.plan, "ours")
    assert not holds("b: 2\na: &x [0, 1, 2, 3]\n", resource.plan, "ours")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("&x 1\n", True),
        ("&x   1  # a comment\n", True),
        ("1\n", False),
        ("&y 1\n", False),
        ("&x 2\n", False),
        ("&x '1'\n", False),
        ("&x [1]\n", False),
    ],
)
def test_a_value_that_is_given_our_anchor(text: str, expected: bool) -> None:
    value = split(Source.of("1\n")).documents[0].root
    assert holds(text, Take(value, None, anchor="x"), "ours") is expected


def test_a_document_that_is_not_its_plan_is_refused() -> None:
    found = merged(CASES / "driver/different-documents-edited")
    whole = merged(CASES / "driver/both-add-a-key-at-the-end")
    (resource,) = whole.documents
    resource.pieces = ["kind: other\n"]
    prove(found, "ours")
    with pytest.raises(Unproved):
        prove(whole, "ours")
    assert issubclass(Unproved, KmergeError)
