"""A stream is split as text, and no character is in two documents or in none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spans import assert_identity

from kmerge_git.errors import CannotParse, KmergeError
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import is_idle, split, split_like


def parts(text):
    stream = split(Source(text.encode()))
    return stream.prologue, [(d.opening, d.content) for d in stream.documents], stream.tail


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", ("", [], "")),
        ("a: 1\n", ("", [("", "a: 1\n")], "")),
        ("---\na: 1\n", ("", [("---\n", "a: 1\n")], "")),
        ("a: 1\n---\nb: 2\n", ("", [("", "a: 1\n"), ("---\n", "b: 2\n")], "")),
        # comments before the first marker are the prologue, not a document
        ("# x\n\n---\na: 1\n", ("# x\n\n", [("---\n", "a: 1\n")], "")),
        ("# x\na: 1\n", ("", [("", "# x\na: 1\n")], "")),
        ("# x\n", ("# x\n", [], "")),
        # the line of the marker
        ("--- # one\na: 1\n", ("", [("--- # one\n", "a: 1\n")], "")),
        ("---  \t\na: 1\n", ("", [("---  \t\n", "a: 1\n")], "")),
        ("--- text\n", ("", [("---", " text\n")], "")),
        ("--- |\n  a\n--- >-\n  b\n", ("", [("---", " |\n  a\n"), ("---", " >-\n  b\n")], "")),
        ("--- !t\na: 1\n", ("", [("---", " !t\na: 1\n")], "")),
        ("--- {a: 1}\n", ("", [("---", " {a: 1}\n")], "")),
        # documents of comments only, and empty ones
        ("a: 1\n---\n# x\n", ("", [("", "a: 1\n"), ("---\n", "# x\n")], "")),
        ("---\n---\n", ("", [("---\n", ""), ("---\n", "")], "")),
        ("---\n# x\n---\na: 1\n", ("", [("---\n", "# x\n"), ("---\n", "a: 1\n")], "")),
        # directives belong to their document
        ("%YAML 1.1\n---\na: 1\n", ("", [("%YAML 1.1\n---\n", "a: 1\n")], "")),
        ("# x\n%YAML 1.1\n---\na: 1\n", ("", [("# x\n%YAML 1.1\n---\n", "a: 1\n")], "")),
        # `...` ends a document; what follows the last one is the tail
        ("a: 1\n...\n", ("", [("", "a: 1\n")], "...\n")),
        ("a: 1\n...\n# end\n", ("", [("", "a: 1\n")], "...\n# end\n")),
        ("a: 1\n...\n---\nb: 2\n", ("", [("", "a: 1\n"), ("...\n---\n", "b: 2\n")], "")),
        ("a: 1\n...\n# x\n---\nb: 2\n", ("", [("", "a: 1\n"), ("...\n# x\n---\n", "b: 2\n")], "")),
        ("a: 1\n...\n%YAML 1.1\n---\nb: 2\n", ("", [("", "a: 1\n"), ("...\n%YAML 1.1\n---\n", "b: 2\n")], "")),
        ("a: 1\n...\n...\n--- b\n", ("", [("", "a: 1\n"), ("...\n...\n---", " b\n")], "")),
        ("...\n# 5%\n...\n%YAML 1.1\n--- b\n", ("...\n# 5%\n", [("...\n%YAML 1.1\n---", " b\n")], "")),
        # these are no markers
        ("a: |\n  ---\n  ...\nb: 1\n", ("", [("", "a: |\n  ---\n  ...\nb: 1\n")], "")),
        ("----\n", ("", [("", "----\n")], "")),
        ("---a\n", ("", [("", "---a\n")], "")),
        # with Windows line ends
        ("a: 1\r\n---\r\nb: 2\r\n", ("", [("", "a: 1\n"), ("---\n", "b: 2\n")], "")),
        ("a: 1\r\n---\r\nb: 2\n", ("", [("", "a: 1\r\n"), ("---\r\n", "b: 2\n")], "")),
    ],
)  # fmt: skip
def test_every_character_belongs_to_one_part(text, expected):
    assert parts(text) == expected
    assert_identity(text.encode())


@pytest.mark.parametrize(
    "text, line, why",
    [
        ("a: 1\n...\nb: 2\n", 3, "text follows `...`"),
        ("a: 1\n%YAML 1.1\n---\nb: 2\n", 1, "a `%` directive is not followed by"),
        ("%\n", 1, "a `%` directive is not followed by"),
        ("a: 1\n...\n# x\n%YAML 1.1\n", 3, "a `%` directive is not followed by"),
        ("a: 1\u2028---\nb: 2\n", 1, "unusual line break (U+2028)"),
        ("a: 1\r---\nb: 2\n", 1, "unusual line break (U+000D)"),
        ("# x\x85y: 1\n---\na: 1\n", 1, "unusual line break (U+0085)"),
        ("--- # x\u2029y: 1\n", 1, "unusual line break (U+2029)"),
        ("a: 1\n...\n# x\u2028y: 1\n", 3, "unusual line break (U+2028)"),
    ],
)
def test_a_stream_that_libyaml_would_split_otherwise_is_refused(text, line, why):
    with pytest.raises(CannotParse) as caught:
        split(Source(text.encode(), "f.yaml"))
    assert why in caught.value.why
    assert (caught.value.path, caught.value.line) == ("f.yaml", line)
    assert caught.value.hint


def test_a_document_knows_its_number_and_its_text():
    stream = split(Source(b"# p\n---\na: 1\n---\nb: 2\n"))
    assert [document.number for document in stream.documents] == [0, 1]
    assert [document.text for document in stream.documents] == ["---\na: 1\n", "---\nb: 2\n"]


def test_a_document_is_parsed_when_it_is_looked_at():
    stream = split(Source(b"a: [\n---\nb: 2\n"))  # the first one is broken
    assert stream.documents[1].root is not None
    with pytest.raises(CannotParse):
        _ = stream.documents[0].root


@pytest.mark.parametrize(
    "text, idle",
    [("", True), ("\n \t\n", True), ("# x\n%Y\n", True), ("a\n", False), ("# x\n  a\n", False)],
)
def test_idle_text_holds_no_content(text, idle):
    assert is_idle(text) == idle


LINES = (
    "---\n",
    "---\n",
    "...\n",
    "--- x\n",
    "%YAML 1.1\n",
    "# c\n",
    "a: 1\n",
    "a: 2\n",
    "b: |\n",
    "  ---\n",
    "\n",
)
FILES = st.lists(st.sampled_from(LINES), max_size=12).map("".join)


@settings(max_examples=1000)
@given(FILES, FILES)
def test_another_version_is_split_as_if_it_stood_alone(text, other):
    def bounds(stream):
        documents = [(d.start, d.body, d.end, d.inline, d.content) for d in stream.documents]
        return stream.prologue_end, documents, stream.tail_start

    source = Source(text.encode())
    try:
        known, alone = split(Source(other.encode())), split(source)
    except KmergeError:
        return
    assert bounds(split_like(source, known)) == bounds(alone)
    for document in alone.documents:
        assert document.content == text[document.body : document.end]


def test_what_two_versions_share_is_one_text():
    base = split(Source(b"a: 1\n---\nb: 1\n---\nc: 1\n"))
    other = split_like(Source(b"a: 1\n---\nb: 2\n---\nc: 1\n"), base)
    same = [d.content is e.content for d, e in zip(base.documents, other.documents, strict=True)]
    assert same == [True, False, True]


def test_a_document_that_was_freed_is_parsed_again():
    (document,) = split(Source(b"a: 1\n")).documents
    document.forget()
    root = document.root
    assert document.root is root
    document.forget()
    assert document.root is not root
    assert document.root.raw == root.raw
