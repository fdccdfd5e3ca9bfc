"""Git's line merge over temporary files: no file stays behind, and an error takes no side."""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kmerge_git import merge_files
from kmerge_git.errors import KmergeError, TimeUp
from kmerge_git.text import linemerge
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.text.markers import resolve

TEXTS = (b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 3\nb: 1\n")
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
TOLD = "kmerge: cannot write temporary files: "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are made; nothing else is there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class HalfWritten(io.FileIO):
    """A file on a disk that is full after its first byte."""

    error: BaseException = FULL

    def write(self, data: Any) -> int:
        super().write(bytes(data)[:1])
        raise self.error


def failing(
    number: int, how: str, error: BaseException = FULL
) -> Callable[[str, str], io.FileIO | io.BufferedIOBase]:
    """An `open` that works until the file with this number, from 0."""
    opened: Iterator[int] = iter(range(9))

    def opens(path: str, mode: str) -> Any:
        if next(opened) < number:
            return builtins.open(path, mode)
        if how == "open":
            raise error
        file = HalfWritten(path, "w")
        file.error = error
        return file

    return opens


def test_nothing_stays_behind(folder: Path) -> None:
    merge = TemporaryFiles(TEXTS)
    (inside,) = folder.iterdir()
    assert sorted(path.name for path in inside.iterdir()) == ["base", "ours", "theirs"]
    text, count = merge.result()
    assert (count, b"a: 2\n=======\na: 3\n" in text) == (1, True)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("how", ["open", "write"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_disk_that_is_full(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
    how: str,
) -> None:
    monkeypatch.setattr(linemerge, "open", failing(number, how), raising=False)
    merge = TemporaryFiles(TEXTS)
    assert list(folder.iterdir()) == []
    assert merge.result() == (b"", -1)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"{TOLD}{FULL}\n")


@pytest.mark.parametrize("how", ["open", "write"])
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("error", [TimeUp(), KeyboardInterrupt()], ids=["time", "key"])
def test_a_clock_that_rings_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, how: str, error: BaseException
) -> None:
    """It ends the merge; the files go all the same."""
    monkeypatch.setattr(linemerge, "open", failing(number, how, error), raising=False)
    with pytest.raises(type(error)):
        TemporaryFiles(TEXTS)
    assert list(folder.iterdir()) == []


def no_folder(*args: object, **more: object) -> str:
    raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")


def test_no_place_for_temporary_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "mkdtemp", no_folder)
    assert TemporaryFiles(TEXTS).result() == (b"", -1)
    assert capsys.readouterr().err == f"{TOLD}[Errno 2] No usable temporary directory found\n"


def test_nobody_listens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing goes to stdout, which a caller may read as a merge."""
    monkeypatch.setattr(tempfile, "mkdtemp", no_folder)
    with monkeypatch.context() as deaf:
        deaf.setattr(sys, "stderr", None)
        assert TemporaryFiles(TEXTS).result() == (b"", -1)
    assert capsys.readouterr().out == ""


def test_without_git_nothing_stays_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert TemporaryFiles(TEXTS).result() == (b"", -1)
    assert list(folder.iterdir()) == []
    assert "kmerge: cannot run git: " in capsys.readouterr().err


# -- merges that need git's lines -----------------------------------------------------------------

FLAT = "a: {{ .Values.a }}\nb: 1\nc: 1\nd: 1\ne: 1\n"
BLOCK = "{{- if .a }}\na: 1\nb: 1\n{{- end }}\nc: 1\n"
TEMPLATES: dict[str, tuple[str, str, str]] = {
    "apart": (FLAT, FLAT.replace("b: 1", "b: 2"), FLAT.replace("e: 1", "e: 3")),
    "neighbours": (FLAT, FLAT.replace("b: 1", "b: 2"), FLAT.replace("c: 1", "c: 3")),
    "one line": (FLAT, FLAT.replace("b: 1", "b: 2"), FLAT.replace("b: 1", "b: 3")),
    "both": (
        FLAT,
        FLAT.replace("b: 1", "b: 2"),
        FLAT.replace("b: 1", "b: 3").replace("e: 1", "e: 3"),
    ),
    "in a block": (BLOCK, BLOCK.replace("a: 1", "a: 2"), BLOCK.replace("b: 1", "b: 3")),
    "in a block, one line": (BLOCK, BLOCK.replace("a: 1", "a: 2"), BLOCK.replace("a: 1", "a: 3")),
    "a key twice": ("a: 1\na: 1\nb: 1\nc: 1\n", "a: 2\na: 1\nb: 1\nc: 1\n", "a: 1\na: 1\nb: 1\nc: 3\n"),
    "markers": (
        "a: 1\nb: 1\nc: 1\nd: 1\n",
        "a: 2\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\nc: 1\nd: 1\n",
        "a: 3\nb: 1\nc: 1\nd: 1\n",
    ),
}  # fmt: skip


def merged(name: str, rules: str, favor: str | None) -> tuple[bytes, bool] | None:
    """The text, and whether it is clean; nothing if the merge is refused as our errors are."""
    base, ours, theirs = (text.encode() for text in TEMPLATES[name])
    try:
        outcome = merge_files(base, ours, theirs, path="x.yaml", rules=rules, favor=favor)
    except KmergeError:
        return None
    return outcome.text, outcome.clean


def new_lines(base: str, side: str) -> set[str]:
    """What a side says that the base does not, but for markers."""
    return {
        line for line in set(side.splitlines()) - set(base.splitlines()) if line[0] not in "<=>"
    }


def assert_nothing_lost(name: str, found: tuple[bytes, bool] | None, whole: object) -> None:
    """A clean result is the one that git's lines give, and a conflict holds both sides."""
    if found is None or found == whole:
        return
    data, is_clean = found
    assert not is_clean, f"it ends clean, as another text: {data!r}"
    base, *sides = TEMPLATES[name]
    size = 11 if name == "markers" else 7
    for side, text in zip(("ours", "theirs"), sides, strict=True):
        said = set(resolve(data.decode(), side, size).splitlines())
        assert new_lines(base, text) <= said, f"{side} is not in it: {data!r}"


@pytest.mark.parametrize("favor", [None, "ours", "theirs"])
@pytest.mark.parametrize("rules", ["git", "kyaml"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_what_needs_gits_lines_is_no_clean_loss_without_them(
    monkeypatch: pytest.MonkeyPatch, name: str, rules: str, favor: str | None
) -> None:
    whole = merged(name, rules, favor)
    monkeypatch.setattr(tempfile, "mkdtemp", no_folder)
    assert_nothing_lost(name, merged(name, rules, favor), whole)


@pytest.mark.parametrize("favor", [None, "ours", "theirs"])
@pytest.mark.parametrize("rules", ["git", "kyaml"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_what_asks_git_twice_may_fail_the_second_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, rules: str, favor: str | None
) -> None:
    """Nothing is taken for a merge that was not made: not an empty text, and not a side."""
    whole = merged(name, rules, favor)
    makes, made, failing_one = tempfile.mkdtemp, 0, 0

    def once(**words: str) -> str:
        nonlocal made
        made += 1
        return makes(**words) if made != failing_one else no_folder()

    monkeypatch.setattr(tempfile, "mkdtemp", once)
    for failing_one in range(2, 9):
        made = 0
        assert_nothing_lost(name, merged(name, rules, favor), whole)
        if made < failing_one:
            break
    assert list(folder.iterdir()) == []
