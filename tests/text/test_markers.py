"""Conflict markers: found, written, and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.text.markers import (
    conflict,
    first_marker,
    has_torn_markers,
    marker_size_for,
    resolve,
)

CONFLICT = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> topic\n"


@pytest.mark.parametrize(
    "text, size, expected",
    [
        (CONFLICT, 7, 5),
        ("<<<<<<< HEAD\n", 7, 0),
        ("<<<<<<<\n", 7, 0),
        ("<<<<<<<", 7, 0),
        ("<<<<<<<\r\n", 7, 0),
        ("a\n>>>>>>> x\n", 7, 2),
        ("a\n||||||| base\n", 7, 2),
        ("a\n<<<<<<<<< x\n", 7, 2),
        ("a\n<<<<<<<<< x\n<<<<<<< y\n", 9, 2),
        ("a\n<<<<<<<a\n<<<<<<< x\n", 7, 11),
    ],
)
def test_markers_are_found(text, size, expected):
    assert first_marker(text, size) == expected


@pytest.mark.parametrize(
    "text, size",
    [
        ("", 7),
        ("a: 1\n", 7),
        ("  <<<<<<< HEAD\n", 7),
        ("a <<<<<<< HEAD\n", 7),
        ("<<<<<<x\n", 7),
        ("<<<<<< HEAD\n", 7),
        ("<<<<<<<HEAD\n", 7),
        ("<<<<<<< HEAD\n", 9),
        ("Title\n=======\n", 7),
        ("a: |\n  >>>>>>> x\n", 7),
        ("<<: *base\n", 7),
    ],
)
def test_other_lines_are_not_markers(text, size):
    assert first_marker(text, size) == -1


@pytest.mark.parametrize(
    "texts, size, expected",
    [
        ([], 7, 7),
        (["a: 1\n", "Title\n======\n"], 7, 7),
        (["Title\n=======\n"], 7, 11),
        (["Title\n======= no\n"], 7, 7),
        (["a\n", "x\n<<<<<<<<< y\n<<<<<<< z\n"], 7, 13),
        (["||||||| x\n"], 9, 9),
    ],
)
def test_markers_are_longer_than_what_looks_like_them(texts, size, expected):
    assert marker_size_for(texts, size) == expected


LABELS = ("HEAD", "base", "topic")


@pytest.mark.parametrize(
    "ours, base, theirs, expected",
    [
        ("a\nb\n", None, "a\nc\n", "<<<<<<< HEAD\na\nb\n=======\na\nc\n>>>>>>> topic\n"),
        ("", None, "c\n", "<<<<<<< HEAD\n=======\nc\n>>>>>>> topic\n"),
        ("a", "b", "c", "<<<<<<< HEAD\na\n||||||| base\nb\n=======\nc\n>>>>>>> topic\n"),
        ("a\n", "", "c\n", "<<<<<<< HEAD\na\n||||||| base\n=======\nc\n>>>>>>> topic\n"),
    ],
)
def test_the_lines_of_a_conflict(ours, base, theirs, expected):
    assert conflict(ours, base, theirs, LABELS) == expected


def test_size_line_ends_and_labels_of_several_lines():
    text = conflict("a", "b\r\n", "c\n", ("x\ny", "", "z "), 9)
    assert text == ("<<<<<<<<< x y\na\n|||||||||\nb\r\n=========\nc\n>>>>>>>>> z\n")
    assert resolve(text, "ours", 9) == "a\n"
    assert resolve(text, "base", 9) == "b\r\n"
    assert resolve(text.replace("\n", "\r\n"), "theirs", 9) == "c\r\n"


def test_a_conflict_that_never_ends_is_left_alone():
    text = "a\n<<<<<<< x\nb\n=======\nc\n"
    assert resolve(text, "ours") == text


def test_markers_of_another_size_are_content():
    text = "<<<<<<<<< x\na\n=========\nb\n>>>>>>>>> y\n"
    assert resolve(text, "ours", 7) == text


LINES = st.lists(
    st.sampled_from(
        ["a\n", "b\n", "  c: d\n", "=======\n", "<<<<<<<< x\n", ">>>>>>>\n", "\n", "e\x85f\n"]
    ),
    max_size=6,
).map("".join)


@given(
    st.lists(st.tuples(LINES, LINES, LINES, LINES), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([7, 9]),
)
def test_a_marked_text_reads_back_as_each_side(parts, with_base, size):
    size = marker_size_for([text for part in parts for text in part], size)
    text = "".join(
        before + conflict(ours, base if with_base else None, theirs, LABELS, size)
        for before, ours, base, theirs in parts
    )
    assert resolve(text, "ours", size) == "".join(part[0] + part[1] for part in parts)
    assert resolve(text, "theirs", size) == "".join(part[0] + part[3] for part in parts)
    if with_base:
        assert resolve(text, "base", size) == "".join(part[0] + part[2] for part in parts)
    assert first_marker(text, size) >= 0


@pytest.mark.parametrize(
    "text, versions, expected",
    [
        (CONFLICT, [CONFLICT, "a: 1\n"], False),
        (CONFLICT.replace("b: 2", "b: 9"), [CONFLICT], False),
        ("a: 1\n", [CONFLICT], False),
        ("a\n=======\n", ["a\n", "b\n"], False),  # a heading
        (CONFLICT.replace("=======\n", ""), [CONFLICT], True),
        (CONFLICT.replace("<<<<<<< HEAD\n", ""), [CONFLICT], True),
        ("b\n=======\n", [CONFLICT], True),
        (CONFLICT + CONFLICT, [CONFLICT], True),
        (CONFLICT, ["<<<<<<< HEAD\n", "=======\n>>>>>>> topic\n"], True),
        (CONFLICT, ["a: 1\n"], True),
    ],
)
def test_markers_are_those_of_one_version(text, versions, expected):
    assert has_torn_markers(text, versions) is expected
