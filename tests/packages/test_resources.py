"""The resources of a file by name, and the file without one, and with one more."""

import pytest

from kmerge_git.kube.moved_resources import moved, once
from kmerge_git.packages.followed_resources import arranged, without
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split


def documents(text: str) -> tuple[Document, ...]:
    return split(Source(text.encode())).documents


def first_line(document: Document) -> str | None:
    line = document.content.partition("\n")[0]
    return line if line.startswith("name: ") else None


def test_names_that_stand_once():
    named = documents("name: a\n---\nname: b\n---\nx: 1\n---\nname: a\n")
    found = once((first_line(document), document) for document in named)
    assert {name: document.number for name, document in found.items()} == {"name: b": 1}


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ("a", "b", ("a", "b")),
        ("ab", "bc", ("a", "c")),
        ("a", "a", None),
        ("a", "", None),
        ("", "a", None),
        ("a", "ab", None),
        ("ab", "b", None),
        ("a", "bc", None),
        ("ab", "c", None),
    ],
)
def test_moves(before, after, expected):
    assert moved(set(before), set(after)) == expected


@pytest.mark.parametrize(
    "text, number, rest",
    [
        ("a: 1\n---\nb: 1\n", 0, "b: 1\n"),
        ("a: 1\n---\nb: 1\n", 1, "a: 1\n"),
        ("---\na: 1\n---\nb: 1\n", 0, "---\nb: 1\n"),
        ("# head\n---\na: 1\n---\nb: 1\n", 1, "# head\n---\na: 1\n"),
        ("a: 1\n", 0, ""),
    ],
)
def test_without_one(text, number, rest):
    assert without(split(Source(text.encode())), {number}) == rest


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", "b: 1\n"),
        ("# only a comment\n", "# only a comment\n---\nb: 1\n"),
        ("a: 1\n", "a: 1\n---\nb: 1\n"),
        ("a: 1\n...\n# tail\n", "a: 1\n---\nb: 1\n...\n# tail\n"),
        ("a: 1\r\n", "a: 1\r\n---\r\nb: 1\r\n"),
        ("---\na: 1\n", "---\na: 1\n---\nb: 1\n"),
        ("a: 1\n--- # second\nc: 1\n", "a: 1\n--- # second\nc: 1\n---\nb: 1\n"),
    ],
)
def test_one_more(text, expected):
    stream = split(Source(text.encode()))
    more = [*stream.documents, *documents("---\nb: 1\n")]
    assert arranged(stream, more) == expected.encode()


def test_one_more_in_front_of_the_others():
    stream = split(Source(b"# head\n---\na: 1\n"))
    more = [*documents("b: 1\n"), *stream.documents]
    assert arranged(stream, more) == b"# head\n---\nb: 1\n---\na: 1\n"
