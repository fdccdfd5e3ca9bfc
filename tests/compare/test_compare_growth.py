"""Twice as large a file costs twice as much: the steps of the interpreter are counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from counting import steps

from kmerge_git.compare import file_changes
from kmerge_git.compare.file_changes import compare, paired_documents
from kmerge_git.errors import Unsupported
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {v: %d}\n"


def renamed_mapping(size: int) -> tuple[str, str]:
    keys = "".join(f"  k{n}: 1\n" for n in range(size))
    return f"a:\n{keys}", f"b:\n{keys}  new: 1\n"


def list_under_another_key(size: int) -> tuple[str, str]:
    items = "".join(f"  - {n}\n" for n in range(size))
    return f"a:\n{items}", f"b:\n{items}"


@pytest.mark.parametrize("make", [renamed_mapping, list_under_another_key])
def test_values_with_many_leaves(make: Callable[[int], tuple[str, str]]) -> None:
    def count(size: int) -> int:
        old, new = (text.encode() for text in make(size))
        return steps(lambda: compare(old, new))

    count(3)  # what is made once is made now
    assert count(200) < 2.5 * count(100)


@pytest.mark.costly
def test_many_resources_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them changed, and one came: the name does not tell which is which."""

    def nothing_tells(*_: object) -> object:
        raise Unsupported("several of one name")

    monkeypatch.setattr(file_changes, "likely_same", nothing_tells)

    def count(size: int) -> int:
        old, new = documents(range(size)), documents(range(size, 2 * size + 1))
        assert len(paired_documents(old, new)) == size  # by now they are parsed
        return steps(lambda: paired_documents(old, new))

    assert count(1000) < 2.5 * count(500)


def documents(numbers: range) -> list[Document]:
    return list(split(Source("---\n".join(POD % n for n in numbers).encode())).documents)
