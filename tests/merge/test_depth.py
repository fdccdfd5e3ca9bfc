"""What nests just as deep as anything may is merged like everything else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmerge_git import merge_files
from kmerge_git.cli.main import main
from kmerge_git.merge.kyaml.kyaml_merges import merge3
from kmerge_git.merge.kyaml.two_way import merge2
from kmerge_git.tree.parser import DEEPEST

HEAD = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n"


@pytest.fixture(autouse=True)
def as_in_a_new_process() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


def blocks(value: str) -> str:
    lines = [" " * n + "k:\n" for n in range(1, DEEPEST - 1)]
    return HEAD + "".join(lines) + " " * DEEPEST + f"v: {value}\n"


def brackets(value: str) -> str:
    return HEAD + "  " + "{a: " * (DEEPEST - 1) + value + "}" * (DEEPEST - 1) + "\n"


def lists(value: str) -> str:
    return HEAD + "- " * (DEEPEST - 1) + value + "\n"


@pytest.mark.parametrize("text", [blocks, brackets, lists])
@pytest.mark.costly
def test_the_deepest_is_merged(text, tmp_path: Path) -> None:
    base, ours, theirs = (text(value) for value in ("b", "o", "t"))
    found = merge_files(base.encode(), ours.encode(), theirs.encode())
    assert (found.method, len(found.conflicts), found.reason) == ("structure", 1, "")
    assert merge3(base, theirs, ours) == merge2(theirs, ours) == theirs
    for name, content in (("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_text(content)
    files = str(tmp_path / "ours"), str(tmp_path / "theirs")
    for argv in (
        ["patch", files[0], "--type=merge", "--patch", files[1]],
        ["apply", "--live", *files],
        ["make-patch", *files, "--type=merge"],
        ["check", *files],
    ):
        assert main(argv) == 0


def test_deeper_is_left_to_lines() -> None:
    found = merge_files(*(lists(f"- - {value}").encode() for value in "bot"))
    assert found.method == "lines"
    assert f"deeper than {DEEPEST} levels" in found.reason
