"""A file with more conflicts than anybody decides one by one."""

from __future__ import annotations

import pytest
from counting import steps

from kmerge_git import merge_files, pipeline


def version(value: str) -> bytes:
    return "".join(f"k{n}:\n  a: {value}\n  b: 1\n  c: 1\n" for n in range(6)).encode()


@pytest.mark.parametrize("most, method", [(6, "structure"), (5, "lines")])
def test_too_many_conflicts_are_left_to_git(
    most: int, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "MOST_CONFLICTS", most)
    found = merge_files(version("b"), version("o"), version("t"), path="a.yaml")
    assert (found.method, found.clean) == (method, False)
    assert b"<<<<<<<" in found.text
    assert (found.reason == "the file has more than 5 conflicts") == (method == "lines")


def test_clean_lines_are_not_believed_where_they_are_no_merge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "MOST_CONFLICTS", 0)
    conflicted = version("b"), version("o"), version("t")
    found = merge_files(*conflicted, path="a.yaml", line_merge=lambda *at: (version("x"), True))
    assert not found.clean
    assert [conflict.why for conflict in found.conflicts] == ["the file has more than 0 conflicts"]


def test_documents_behind_too_many_conflicts_are_not_merged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(value: str) -> bytes:
        body = "".join(f"  k{n}: {value}\n" for n in range(20))
        documents = (f"kind: A\nmetadata:\n  name: x{n}\nspec:\n{body}" for n in range(20))
        return "---\n".join(documents).encode()

    def work() -> object:
        return merge_files(*map(version, "bot"), path="a.yaml").text

    whole = steps(work)
    monkeypatch.setattr(pipeline, "MOST_CONFLICTS", 2)
    assert steps(work) < whole / 10
