"""The resources of a file by name, and the file without one, and with one more."""

import pytest

from kmerge_git.kube.moved_resources import Namesake, destination, moved, once
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


def namesake(text: str) -> Namesake:
    """`a/b.yaml 012` is a resource in that file with three lines."""
    path, lines = text.split()
    return Namesake(path, "\n".join(f"line {line}" for line in lines))


@pytest.mark.parametrize(
    "before, after, expected",
    [
        (["a.yaml 01"], ["b.yaml 23"], "b.yaml"),  # the name is enough if nobody else has it
        (["a.yaml 01"], [], ""),
        (["p/a 012345", "d/a 678"], ["d/b 678"], ""),  # the other one moved
        (["p/a 012345", "d/a 678"], ["x/b 012345"], "x/b"),
        (["p/a 012345", "d/a 678"], ["x/b 012349"], "x/b"),
        (["p/a 012345", "d/a 678"], ["p/b 01289x"], ""),  # too little of it
        (["p/a 0123", "d/a 0124"], ["p/b 0124", "d/b 0123"], "d/b"),  # they changed places
        (["p/a 01234567", "d/a 01234568"], ["p/b 0123456x", "d/b 0123456y"], "p/b"),
        (["p/a 01234567", "d/a 01234568"], ["d/b 0123456x"], ""),
        (["p/a 01234567", "d/a 01234568"], ["x/b 0123456x"], None),  # as near to both
        (["p/a 01234567", "d/a 01234568"], ["d/b 01234567"], "d/b"),
        # all but equal to the other one, in the own folder
        (["p/a 0123456789", "d/a 012345678x"], ["p/b 01234567xy"], None),
        (["p/a 01", "d/a 01"], ["p/b 01"], "p/b"),
        (["p/a 01", "d/a 01"], ["d/b 01"], ""),
        (["p/a 01", "d/a 01"], ["x/b 01"], None),
        (["a 01", "b 01"], ["c 01"], None),
        (["a 01"], ["b 01", "c 01"], None),  # copied
        (["p/a 01"], ["p/b 01", "q/a 01"], "p/b"),
        (["a/p/t/x 01", "a/d/t/x 01"], ["a/p/m/y 01"], "a/p/m/y"),  # in the same chart
        (["o/x 01", "o/d/x 01"], ["o/p/x 01"], None),  # a folder above is not nearer
        (["p/a 01", "d/a 01"], ["p/b 01", "p/b 01"], None),  # twice in one file
    ],
)
def test_where_one_of_a_name_is_now(before, after, expected):
    known = [*map(namesake, before)]
    assert destination(known[0], known, [*map(namesake, after)]) == expected
    assert destination(known[0], known[::-1], [*map(namesake, after)][::-1]) == expected


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
