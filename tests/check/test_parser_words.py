"""What libyaml found wrong, in plain words; and where a lost anchor is."""

from __future__ import annotations

import pytest

from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.merges.git_versions import GitVersions, MergeVersions
from kmerge_git.check.page_values import documents
from kmerge_git.check.run import Run, check_text
from kmerge_git.errors import CannotParse
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText

INDENTATION = "correct the indentation"
WORDS = [
    ("a: 1\n---\nb: 'c\nd: 1\n", "the quote that opens in line 3 is not closed"),
    ('a: "x\n---\nb: 1\n', "the quote that opens in line 1 is not closed"),
    ("a: %x\n", 'an unquoted value cannot start with "%"; quote it'),
    ("a: *.yaml\n", 'an unquoted value cannot start with "*"; quote it'),
    ("a:\n\tb: 1\n", "a tab is not allowed as indentation; indent with spaces, not with tabs"),
    ("a: b: c\n", f'a key is not allowed in this place; quote a text that contains ": ", or {INDENTATION}'),
    ("a: - b\n", "a list element is not allowed in this place; write it on a line of its own"),
    ("a: 1\nb\nc: 2\n", 'line 2 has no ":"; add it, or correct the indentation'),
    ("b: 1\na:\n  - b\n c\n", "expected a key of the map that begins in line 1; " + INDENTATION + " or the quotes"),
    ("- a\nb: 1\n", f"expected an element of the list that begins in line 1; {INDENTATION}"),
    ("a: [1\nb: 2\n", 'the "[" in line 1 is not closed, or a comma is missing before this place'),
    ("a: {b: 1\n", 'the "{" in line 1 is not closed, or a comma is missing before this place'),
    ("a: ]\n", 'expected a value, but found "]"'),
    ('a: "\\q"\n', "this backslash escape is unknown; write two backslashes, or use single quotes"),
    ("a: | x\n", 'only a comment may follow "|" in its line'),
    ("{a: 1}\nb: 2\n", f"the document ends before this place; {INDENTATION}, or write `---` above this line"),
    ("a: {{ x }} y\n", "expected a key of the map that begins in line 1; correct the indentation or the quotes; render the template first"),
    ("a: !<x\n", "did not find the expected '>'; fix the YAML"),
]  # fmt: skip


@pytest.mark.parametrize("text, words", WORDS)
def test_words(text: str, words: str) -> None:
    with pytest.raises(CannotParse) as caught:
        documents(YamlText(text.encode()))
    assert str(caught.value).partition("not YAML: ")[2] == words


@pytest.mark.parametrize(
    "text, where",
    [
        ("a: 1\nb: *c\n", ""),
        ("a: *c\nb: &c 1\n", "; &c is in line 2, below the alias"),
        ("a: [&c 1]\n---\nb: *c\n", "; &c is in line 1, in another document"),
        ("# b: &c 1\na: [*c]\n", ""),
        ("a: &cd 1\nb: {x: *c}\n", ""),
    ],
)
def test_where_the_anchor_of_an_alias_is(text: str, where: str) -> None:
    [found] = check_text(text.encode(), "a.yaml")
    words = f"this alias has no anchor above it in its document{where}"
    assert (found.id, found.message) == ("M07", words)


def test_the_anchor_in_other_versions() -> None:
    base, broken = b"x: 1\na: &c 1\nb: 2\n", b"x: 1\nb: *c\n"
    merge = MergeVersions(Three(base, b"x: 1\nb: 2\n", b"a: &c 1\nb: *c\n"), broken)
    for versions, words in (
        (GitVersions(lambda: base), "HEAD has &c in line 2"),
        (GitVersions(lambda: b"x: 1\n", lambda: merge), "theirs has &c in line 1"),
    ):
        found = Run(nowhere(), versions=lambda path, there=versions: there).file("a.yaml", broken)  # type: ignore[misc]
        assert [one.message.partition("; ")[2] for one in found if one.id == "M07"] == [words]
