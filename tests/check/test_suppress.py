"""`# kmerge: ignore`: on the line, above it, for the whole file."""

from __future__ import annotations

import pytest

from kmerge_git.check.run import check_text

CASES = [
    ("a: 1\na: 2\n", ["M02"]),
    ("a: 1\na: 2  # kmerge: ignore M02\n", []),
    ("a: 1\n# kmerge: ignore M02\na: 2\n", []),
    ("a: 1\n# kmerge: ignore M02 because both are read\na: 2\n", []),
    ("a: 1\na: 2  # kmerge: ignore m02, M05\n", []),
    ("a: 1\na: 2  # kmerge: ignore\n", []),
    ("a: 1\na: 2  # kmerge: ignore M03\n", ["M02"]),
    ("a: 1  # kmerge: ignore M02\na: 2\n", ["M02"]),
    ("# kmerge: ignore M02\n\na: 1\na: 2\n", ["M02"]),
    ("# kmerge: ignore-file M02\n\na: 1\nb: 2\na: 2\n", []),
    ("# kmerge: ignore-file D12\n\na: 1\nb: 2\na: 2\n", ["M02"]),
    ("a: 1\na: 'kmerge: ignore M02'\n", ["M02"]),
]


@pytest.mark.parametrize("text, ids", CASES)
def test_comments(text: str, ids: list[str]) -> None:
    assert [f.id for f in check_text(text.encode(), "a.yaml")] == ids


def test_inside_an_inline_patch() -> None:
    text = (
        "resources: [https://x]\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n"
        "    metadata: {name: a}\n    spec:\n      $retainKeys: []%s\n"
    )
    assert [f.id for f in check_text((text % "").encode(), "kustomization.yaml")] == ["D61"]
    silent = text % "  # kmerge: ignore D61"
    assert check_text(silent.encode(), "kustomization.yaml") == []
