"""What a merge left behind may be overwritten; what a person did may not."""

from __future__ import annotations

import pytest

from kmerge_git.git.line_merges import LineMerges
from kmerge_git.merge.three import Three
from kmerge_git.whole.solving import is_left_by_a_merge

THREE = Three(b"a\nb\nc\n", b"a\nours\nc\n", b"a\ntheirs\nc\n")
MARKED = b"a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\nc\n"
DIFF3 = MARKED.replace(b"=======", b"||||||| 1234\nb\n=======")


def is_left(found: bytes | None, merged: bytes | None = None) -> bool:
    return is_left_by_a_merge(found, THREE, (merged,), LineMerges())


@pytest.mark.parametrize(
    "found",
    [None, THREE.base, THREE.ours, THREE.theirs, MARKED, DIFF3, MARKED.replace(b"\n", b"\r\n")],
)
def test_left_by_a_merge(found: bytes | None) -> None:
    assert is_left(found)


@pytest.mark.parametrize(
    "found",
    [
        b"a\nmine\nc\n",
        b"",
        MARKED.replace(b"a\n", b"A\n"),
        MARKED.replace(b"theirs\n", b"theirs!\n"),
        MARKED.replace(b"=======\n", b""),
        MARKED + b"one more\n",
    ],
)
def test_work_of_a_person(found: bytes) -> None:
    assert not is_left(found)


def test_our_own_markers_are_known() -> None:
    ours = b"a\n<<<<<<< x\nours\n=======\ntheirs\n>>>>>>> y\nmerged\n"
    assert not is_left(ours)
    assert is_left(ours, merged=ours.replace(b"x", b"HEAD"))


def test_line_ends_that_a_side_changed() -> None:
    three = Three(b"a\nb\n", b"a\nours\n", b"a\r\nb\r\n")
    found = b"<<<<<<< HEAD\na\nours\n=======\na\r\nb\r\n>>>>>>> side\n"
    assert is_left_by_a_merge(found, three, (), LineMerges())
    mine = found.replace(b"ours", b"mine")
    assert not is_left_by_a_merge(mine, three, (), LineMerges())
