"""`--verbose`: what git was asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kmerge_git.cli.main import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitattributes").write_text("*.yaml kmerge-rules=git\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("kmerge: git")]


@pytest.mark.parametrize("words", [["-v", "status"], ["--verbose", "status"], ["status", "-v"]])
def test_every_call_is_told(
    here: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(words)
    told = asked(capsys)
    assert all("  # " in line and "exit " in line for line in told)
    started = [line.partition("  # ")[0].removeprefix("kmerge: ") for line in told]
    assert "git rev-parse --git-dir" in started
    assert "git config --null --get-regexp '^(kmerge\\.|merge\\.conflictstyle$)'" in started


def test_nothing_is_told_without_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["-v", "status"])
    assert asked(capsys)
    main(["status"])
    assert asked(capsys) == []


@pytest.mark.parametrize(
    "command", ["vendor list -v", "check -v --staged", "diff -v", "merge -v nothing"]
)
def test_every_road_to_git_tells(
    here: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.yaml").write_text("a: 1\n")
    main(command.split())
    assert asked(capsys)


def test_what_others_named_is_told_with_escapes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "o.yaml").write_text("a: 1\n")
    main(["merge", "-v", "a\x1b[31m\u202eb"])
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert "'a\\x1b[31m\\u202eb'" in err
