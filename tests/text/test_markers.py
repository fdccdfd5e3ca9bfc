"""Conflict markers: found, written, and read back."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.text.markers import conflict, first_marker, marker_size_for, resolve

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


def test_the_styles():
    sides = ("a\nb\nc\n", "a\nx\nc\n", "a\nd\nc\n")
    assert conflict(*sides, LABELS) == ("a\n<<<<<<< HEAD\nb\n=======\nd\n>>>>>>> topic\nc\n")
    assert conflict(*sides, LABELS, style="diff3") == (
        "<<<<<<< HEAD\na\nb\nc\n||||||| base\na\nx\nc\n=======\na\nd\nc\n>>>>>>> topic\n"
    )
    assert conflict(*sides, LABELS, style="zdiff3") == (
        "a\n<<<<<<< HEAD\nb\n||||||| base\na\nx\nc\n=======\nd\n>>>>>>> topic\nc\n"
    )


@pytest.mark.parametrize(
    "ours, base, theirs, style, expected",
    [
        ("", "b\n", "c\n", "merge", "<<<<<<<\n=======\nc\n>>>>>>>\n"),
        ("a", "b", "c", "diff3", "<<<<<<<\na\n|||||||\nb\n=======\nc\n>>>>>>>\n"),
        ("a\n", None, "c\n", "diff3", "<<<<<<<\na\n=======\nc\n>>>>>>>\n"),
        ("a\n", "", "c\n", "diff3", "<<<<<<<\na\n|||||||\n=======\nc\n>>>>>>>\n"),
        ("a\n", "", "a\nc\n", "merge", "a\n<<<<<<<\n=======\nc\n>>>>>>>\n"),
        ("a\n", "b\n", "a", "diff3", "a\n"),
    ],
)
def test_sides_that_are_missing_or_alike(ours, base, theirs, style, expected):
    assert conflict(ours, base, theirs, style=style) == expected


def test_size_line_ends_and_labels_of_several_lines():
    text = conflict("a", "b\r\n", "c\n", ("x\ny", "", "z "), 9, "diff3")
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


def test_the_lines_are_those_of_git_merge_file(tmp_path):
    sides = {"ours": "k\na\nb\nc\n", "base": "k\na\nx\nc\n", "theirs": "k\na\nd\nc\n"}
    for name, text in sides.items():
        (tmp_path / name).write_text(text)
    argv = [
        "git",
        "merge-file",
        "-p",
        "-q",
        "-L",
        "o",
        "-L",
        "b",
        "-L",
        "t",
        "ours",
        "base",
        "theirs",
    ]
    for style, flags in (("merge", []), ("zdiff3", ["--zdiff3"])):
        ran = subprocess.run(
            [*argv[:4], *flags, *argv[4:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1
        made = "k\na\n" + conflict("b\n", "x\n", "d\n", ("o", "b", "t"), style=style) + "c\n"
        assert made == ran.stdout


LINES = st.lists(
    st.sampled_from(
        ["a\n", "b\n", "  c: d\n", "=======\n", "<<<<<<<< x\n", ">>>>>>>\n", "\n", "e\x85f\n"]
    ),
    max_size=6,
).map("".join)


@given(
    st.lists(st.tuples(LINES, LINES, LINES, LINES), min_size=1, max_size=3),
    st.sampled_from(["merge", "diff3", "zdiff3"]),
    st.sampled_from([7, 9]),
)
def test_a_marked_text_reads_back_as_each_side(parts, style, size):
    size = marker_size_for([text for part in parts for text in part], size)
    text = "".join(
        before + conflict(ours, base, theirs, LABELS, size, style)
        for before, ours, base, theirs in parts
    )
    assert resolve(text, "ours", size) == "".join(part[0] + part[1] for part in parts)
    assert resolve(text, "theirs", size) == "".join(part[0] + part[3] for part in parts)
    if style == "diff3":
        expected = "".join(p[0] + (p[1] if p[1] == p[3] else p[2]) for p in parts)
        assert resolve(text, "base", size) == expected
    assert (first_marker(text, size) >= 0) == any(part[1] != part[3] for part in parts)
