"""Answers as JSON come from anybody: every file is read or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmerge_git.cli.resolve_report import read_answers
from kmerge_git.errors import UsageError
from kmerge_git.whole.resolving import ById


def read(folder: Path, text: str | bytes) -> tuple[ById, ...]:
    file = folder / "answers"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_answers(str(file))


def answers(*found: object) -> str:
    rows = [{"id": f"{n}", "answer": answer} for n, answer in enumerate(found)]
    return json.dumps({"schema": 1, "conflicts": rows})


def test_every_kind_of_answer(tmp_path: Path) -> None:
    text = answers("ours", {"value": "1"}, {"lines": "a: 1\nb: 2\n"}, None, "higher")
    assert read(tmp_path, text) == (
        ById("0", "ours"),
        ById("1", "value", "1"),
        ById("2", "lines", "a: 1\nb: 2\n"),
        ById("4", "higher"),
    )


def test_what_a_list_says_besides_is_passed_over(tmp_path: Path) -> None:
    row = {"id": "x", "path": "a.yaml", "choices": ["ours"], "told": None}
    assert read(tmp_path, json.dumps({"schema": 1, "conflicts": [row], "left": 1})) == ()
    assert read(tmp_path, b"\xef\xbb\xbf" + answers("ours").encode()) == (ById("0", "ours"),)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "answers:1:1: not JSON: Expecting value"),
        ("{\n  'a'}", "answers:2:3: not JSON"),
        (b"\xff", "answers: byte 0 is not UTF-8"),
        ("[" * 100_000, "answers: not a file of answers: the JSON is nested too deeply"),
        ('{"schema": ' + "1" * 5000 + "}", "answers: not a file of answers: a number has too many"),
        ("[]", "answers: not a file of answers; use"),
        ("null", "answers: not a file of answers; use"),
        ('{"schema": 1}', "answers: not a file of answers; use"),
        ('{"conflicts": []}', "answers: this kmerge supports only schema 1"),
        ('{"schema": true, "conflicts": []}', "this kmerge supports only schema 1"),
        ('{"schema": 2, "conflicts": []}', "this kmerge supports only schema 1"),
        ('{"schema": 1, "conflicts": [1]}', "conflicts[0] is not an object"),
        ('{"schema": 1, "conflicts": [{"id": 1}]}', "conflicts[0].id is not a string"),
        ('{"schema": 1, "conflicts": [{"answer": "ours"}]}', "conflicts[0].id is not a string"),
        (answers(None, "mine"), "conflicts[1].answer is not a valid answer"),
        (answers(1), "conflicts[0].answer"),
        (answers([]), "conflicts[0].answer"),
        (answers({}), "conflicts[0].answer"),
        (answers({"value": 1}), "conflicts[0].answer"),
        (answers({"value": "1", "lines": "a: 1"}), "conflicts[0].answer"),
        (answers({"lines": None}), "conflicts[0].answer"),
        (answers({"how": "1"}), "conflicts[0].answer"),
        (answers({"value": "\ud800"}), "conflicts[0].answer"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="more than 32 MiB"):
        read(tmp_path, b" " * ((32 << 20) + 1))
