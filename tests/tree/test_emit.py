"""New text: what it looks like, and that every reader gets the value back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmerge_git.errors import Unsupported
from kmerge_git.tree.emit import dump, with_ruamel
from kmerge_git.tree.plain_values import load

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LINES = st.lists(
    st.sampled_from(
        ["", "a", " b", "\tc", "d ", "# e", "- f", "g: h", "---", "...", "é\u2028", "\x85"]
    ),
    max_size=5,
).map("\n".join)
WORDS = st.sampled_from(
    ["yes", "no", "on", "y", "N", "true", "null", "~", "010", "0o7", "0x1f", "1_000", "1e3", "1.5"]
    + [".5", ".inf", "12:30", "2001-01-01", "=", "<<", "-", "?", ":", "-a", "?a", ":a", "a:", "a#"]
    + [mark + "a" for mark in "[{]},#&*!|>'\"%@`"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
    LINES,
    WORDS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXT, WORDS, LINES), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([(2, 0), (2, 2), (4, 0), (4, 2), (3, 1)]))
@settings(max_examples=300, deadline=None)
def test_what_is_written_reads_back(value, style):
    assert load(dump(value, *style).encode()) == [value]


@given(VALUES, st.sampled_from([(2, 0), (2, 2), (4, 0), (4, 2), (3, 1)]))
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_what_ruamel_writes(value, style):
    if not isinstance(value, str):  # at the top they are quoted
        assert dump(value, *style) == with_ruamel(value, *style)


@pytest.mark.parametrize(
    "value, text",
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        (None, "null\n"),
        ("a", "a\n"),
        ("a\nb", '"a\\nb"\n'),
        ({"a": {"b": [], "c": {}}}, "a:\n  b: []\n  c: {}\n"),
        ({"b": 1, "a": True, "c": None, "d": 1.5}, "b: 1\na: true\nc: null\nd: 1.5\n"),
        ({"args": ["-c", "a: b"]}, 'args:\n- -c\n- "a: b"\n'),
        ({"l": [{"name": "a", "image": "b"}]}, "l:\n- name: a\n  image: b\n"),
        ({"l": [[1, 2], []]}, "l:\n- - 1\n  - 2\n- []\n"),
        ({"a": "x\ny\n"}, "a: |\n  x\n  y\n"),
        ({"a": "x\ny"}, "a: |-\n  x\n  y\n"),
        ({"a": "x\n\n"}, "a: |+\n  x\n\n"),
        ({"a": "  x\n"}, "a: |2\n    x\n"),
        ({"a": "x \ny"}, 'a: "x \\ny"\n'),
        ({"a": "\n"}, 'a: "\\n"\n'),
        ({"a": "w " * 200 + "w"}, "a: " + "w " * 200 + "w\n"),
        ({"a": ""}, 'a: ""\n'),
    ],
)
def test_the_style_is_kubectls(value, text):
    assert dump(value) == text


@pytest.mark.parametrize(
    "word",
    ["yes", "NO", "on", "y", "~", "null", "", "010", "1e3", "0x1f", "1_000", "12:30", "1.5",
     "2001-01-01", "=", "<<", ".inf", "a: b", "a #b", "- a", "*a", "&a", "{a", "@a", " a"],
)  # fmt: skip
def test_quoted_is_what_some_reader_would_misread(word):
    assert dump({"a": word}) == f'a: "{word}"\n'


@pytest.mark.parametrize(
    "word", ["a", "1.2.3", "a:b", "-a", "a#b", "http://x/?y", "1s", "é", "a, b"]
)
def test_plain_is_what_every_reader_reads_alike(word):
    assert dump({"a": word}) == f"a: {word}\n"


@pytest.mark.parametrize(
    "indent, offset, text",
    [
        (2, 0, "a:\n- b:\n    c: 1\n"),
        (2, 2, "a:\n  - b:\n      c: 1\n"),
        (4, 0, "a:\n- b:\n      c: 1\n"),
        (4, 2, "a:\n  - b:\n        c: 1\n"),
    ],
)
def test_indentation_is_the_callers_choice(indent, offset, text):
    assert dump({"a": [{"b": {"c": 1}}]}, indent, offset) == text


def test_a_list_at_the_top_starts_at_the_margin():
    assert dump([{"a": ["x"]}, "  y\n"], 2, 2) == "- a:\n    - x\n- |2\n    y\n"


def test_the_same_object_twice_is_written_twice():
    shared = ["x"]
    assert dump({"a": shared, "b": shared}) == "a:\n- x\nb:\n- x\n"


def test_half_a_character_is_refused():
    with pytest.raises(Unsupported, match="surrogate"):
        dump({"a": "\ud800"})
