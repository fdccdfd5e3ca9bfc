"""The answers of a stopped merge, as a file keeps them between two runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmerge_git.whole.answer_staging import SavedAnswers
from kmerge_git.whole.conflict_questions import Answer

GOOD = {"1": ["ours", None], "2": ["value", "x"]}


def loaded(folder: Path, data: object) -> SavedAnswers:
    (folder / "kmerge-answers").write_text(json.dumps(data))
    return SavedAnswers(folder)


@pytest.mark.parametrize(
    "odd", [["value", 5], "ab", [3, "x"], [["x"], "x"], ["a", "b", "c"], [], None, {}, 7]
)
def test_an_odd_answer_leaves_the_others(tmp_path: Path, odd: object) -> None:
    saved = loaded(tmp_path, {"answers": {"a.yaml": {**GOOD, "3": odd}}})
    assert saved.answers == {"a.yaml": {"1": Answer("ours", None), "2": Answer("value", "x")}}


@pytest.mark.parametrize("odd", [5, {}, None, "abc"])
def test_an_odd_digest_leaves_the_others(tmp_path: Path, odd: object) -> None:
    saved = loaded(tmp_path, {"answers": None, "written": {"a.yaml": ["d"], "b.yaml": odd}})
    assert saved.answers == {}
    assert saved.written == {"a.yaml": ["d"]}


@pytest.mark.parametrize("data", [None, [], 5, "x", {"answers": 5}, {"written": [1]}])
def test_an_odd_file_holds_nothing(tmp_path: Path, data: object) -> None:
    saved = loaded(tmp_path, data)
    assert (saved.answers, saved.written) == ({}, {})
