"""Where a command writes may be full, closed, or no place at all: one line, never a traceback."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kmerge_git.cli import check
from kmerge_git.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]


def run(words: str, cwd: Path, **env: str) -> tuple[int, str]:
    """A line of a shell in which `kmerge` is this tree's; the exit code, and all that it said."""
    line = f'kmerge() {{ "{sys.executable}" -m kmerge_git "$@"; }}; {words}'
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    env = {**inherited, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **env}
    done = subprocess.run(
        ["sh", "-c", line], cwd=cwd, env=env, capture_output=True, check=False, timeout=600
    )
    return done.returncode, os.fsdecode(done.stdout + done.stderr)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.joinpath("x.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: é}\n", "utf-8"
    )
    tmp_path.joinpath("dir").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.world
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device here")
@pytest.mark.parametrize(
    "words, code, said",
    [
        ("kmerge check x.yaml >/dev/full", 2, "kmerge: stdout: No space left on device\n"),
        ("kmerge --help >/dev/full", 2, "kmerge: stdout: No space left on device\n"),
        ("kmerge check x.yaml >&-", 2, "kmerge: stdout: "),
        ("kmerge --version >&-", 2, "kmerge: stdout: "),
        ("kmerge check none.yaml 2>/dev/full", 2, ""),
        ("kmerge check none.yaml 2>&-", 2, ""),
        ("kmerge patch x.yaml -p '{}' <&- 2>&-", 0, "apiVersion: v1\n"),
    ],
)
def test_full_and_closed_streams(place: Path, words: str, code: int, said: str) -> None:
    ended, told = run(words, place)
    assert ended == code
    assert told.startswith(said)
    assert "Traceback" not in told and "Exception" not in told
    assert told.count("\n") == (3 if code == 0 else bool(said))


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_half_a_text_on_stdout_is_an_error(place: Path, unbuffered: str) -> None:
    """An unbuffered stream of Python writes what fits, and says nothing."""
    place.joinpath("big.yaml").write_text("kind: A\n" + "# a long line of text\n" * 1000)
    words = "ulimit -f 8; kmerge patch big.yaml -p '{}' --type merge >out"
    code, told = run(words, place, PYTHONUNBUFFERED=unbuffered)
    assert (code, told) == (2, "kmerge: stdout: File too large\n")


def test_a_locale_that_has_not_all_characters(place: Path) -> None:
    place.joinpath("y.yaml").write_text("kind: A\nmetadata: {name: ö}\n", "utf-8")
    code, told = run("kmerge diff x.yaml y.yaml", place, PYTHONIOENCODING="ascii")
    assert code == 0, told
    assert r"A/\xf6" in told


def test_ctrl_c_while_the_modules_are_loaded(place: Path) -> None:
    place.joinpath("argparse.py").write_text("raise KeyboardInterrupt\n")
    code, told = run("kmerge check", place, PYTHONPATH=f"{place}:{ROOT}")
    assert (code, told) == (130, "")


def test_a_bug_is_one_line_with_its_place(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(args: argparse.Namespace) -> int:
        raise ValueError("odd\n\x1b[2J\u202e")

    monkeypatch.setattr(check, "run", broken)
    assert main(["check"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    start = r"kmerge: internal error: ValueError: odd \x1b[2J\u202e (cli/main.py:"
    assert err.startswith(start) and err.endswith("); please report it\n")


# the words of each command with a place for a file
WITH_FILE = {
    "merge": ["{}", "{}", "{}"], "merge-file": ["{}", "{}", "{}"], "check": ["{}"],
    "merge2": ["--src", "{}", "--dest", "x.yaml"], "patch": ["{}", "-p", "x.yaml"],
    "merge3": ["-O", "{}", "-U", "x.yaml", "-D", "x.yaml"], "apply": ["{}", "--live", "x.yaml"],
    "make-patch": ["{}", "x.yaml"], "last-applied": ["view", "{}"], "diff": ["{}", "x.yaml"],
    "mergetool": ["{}", "x.yaml", "x.yaml", "out"], "resolve": ["{}"], "solve": ["{}"],
    "status": ["{}"], "explain": ["HEAD", "{}"], "preview": ["{}"], "replay": ["{}"],
    "refresh": ["--with", "{}", "b"],
    "vendor": ["status", "{}"], "completion": ["{}"],
}  # fmt: skip
WITHOUT = {"install", "uninstall", "generate"}
ODD_NAMES = ["", "dir", "none", "x.yaml/y", "a" * 5000, "\udcff", "\n", "none:x", ":", ":1:x", "-x"]


def test_every_command_has_its_words() -> None:
    assert WITH_FILE.keys() | WITHOUT == {*COMMANDS, "solve"}


@pytest.mark.parametrize("name", ODD_NAMES, ids=lambda name: ascii(name)[:12])
def test_names_of_no_file(place: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    """None, a folder, one that is too long: whatever it is, it is told in a line."""
    for command, words in WITH_FILE.items():
        code = main([command, *(word.format(name) for word in words)])
        err = capfd.readouterr().err
        errors = [line for line in err.split("\n") if line.startswith("kmerge: ")]
        assert code in (0, 1, 2), command
        assert "internal error" not in err, err
        assert len(errors) == 1 or code != 2, f"{command}: {err}"


@pytest.mark.parametrize("option", ["-o", "--output"])
def test_a_folder_that_a_result_is_to_replace(
    place: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    for command in (
        "merge-file",
        "merge2",
        "merge3",
        "patch",
        "make-patch",
        "apply",
        "last-applied",
    ):
        words = [word.format("x.yaml") for word in WITH_FILE[command]]
        assert main([command, *words, option, "dir"]) == 2, command
        err = capfd.readouterr().err
        assert "internal error" not in err, err
        assert err.split("\n")[-2].startswith("kmerge: dir: "), err
        assert not any(place.joinpath("dir").iterdir())
