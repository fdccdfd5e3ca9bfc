"""`# kmerge: ignore`: on the line, above it, for the whole file."""

from __future__ import annotations

import pytest
from merges import merge_findings

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
    # prefixes and groups
    ("a: 1\na: 2  # kmerge: ignore M0\n", []),
    ("a: 1\na: 2  # kmerge: ignore D\n", ["M02"]),
    ("a: 1\na: 2  # kmerge: ignore merge-damage\n", []),
    ("a: 1\na: 2  # kmerge: ignore directives\n", ["M02"]),
    ("a: 1\na: 2  # kmerge: ignore D12, merge-damage\n", []),
    ("a: 1\na: 2  # kmerge: ignore all\n", []),
    ("a: 1\na: 2  # kmerge: ignore: M02: both are read\n", []),
    # the reason names nothing
    ("a: 1\na: 2  # kmerge: ignore D12 all readers take the last\n", ["M02"]),
    ("a: 1\na: 2  # kmerge: ignore D12, because all do\n", ["M02"]),
    # an unknown word silences nothing, and is reported
    ("a: 1\na: 2  # kmerge: ignore M99\n", ["M02", "M16"]),
    ("a: 1\na: 2  # kmerge: ignore M99 M02\n", ["M16"]),
    ("a: 1\na: 2  # kmerge: ignore both are read\n", ["M02", "M16"]),
    ("a: 1\na: 2  # kmerge: ignored\n", ["M02", "M16"]),
    ("# kmerge: ignore-files M02\na: 1\na: 2\n", ["M16", "M02"]),
    ("# kmerge: ignore-file M16\na: 1  # kmerge: ignore M99\n", []),
    ("a: 1  # kmerge: ignore M11\n", ["M16"]),
    ("a: 1  # kmerge: ignore M1\n", []),
]


@pytest.mark.parametrize("text, ids", CASES)
def test_comments(text: str, ids: list[str]) -> None:
    assert [f.id for f in check_text(text.encode(), "a.yaml")] == ids


def test_what_is_said_of_words_that_silence_nothing() -> None:
    for word, said in (
        ("M99", "there is no check M99, so this silences nothing"),
        ("M11", "a comment cannot silence M11"),
    ):
        [one] = check_text(f"a: 1\nb: 2  # kmerge: ignore {word}\n".encode(), "a.yaml")
        assert (one.id, one.severity, one.line, one.column) == ("M16", "warning", 2, 7)
        assert one.message == said


@pytest.mark.parametrize("words", ["", " M11", " all", " merge-damage", "-file", "-file M"])
def test_no_comment_silences_a_dropped_side(words: str) -> None:
    data = f"# kmerge: ignore{words}\na: 2\nb: 1\n".encode()
    sides = (b"a: 1\nb: 1\n", data, b"a: 1\nb: 2\n")
    assert "M11" in [one.id for one in merge_findings(sides, data, is_judged=True)]


def test_inside_an_inline_patch() -> None:
    text = (
        "resources: [https://x]\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n"
        "    metadata: {name: a}\n    spec:\n      $retainKeys: []%s\n"
    )
    assert [f.id for f in check_text((text % "").encode(), "kustomization.yaml")] == ["D61"]
    silent = text % "  # kmerge: ignore D61"
    assert check_text(silent.encode(), "kustomization.yaml") == []
