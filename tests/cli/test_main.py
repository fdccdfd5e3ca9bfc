"""`kmerge`: what a wrong command line is told."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from kmerge_git.__main__ import main as start
from kmerge_git.cli.main import COMMANDS, actions_of, line_parser, main, shown


def test_on_windows_the_error_names_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert start() == 2
    assert capsys.readouterr().err == "kmerge: Windows is not supported; run kmerge in WSL\n"


@pytest.mark.parametrize(
    "args, why, hint",
    [
        (["frobnicate"], "there is no command frobnicate", "see `kmerge --help`"),
        (["--frobnicate"], "unknown argument: --frobnicate", "see `kmerge --help`"),
        (
            ["--frobnicate", "check", "-q", "x"],
            "unknown argument: --frobnicate; see",
            "`kmerge --help`",
        ),
        (["check", "--frobnicate"], "unknown argument: --frobnicate", "see `kmerge check --help`"),
        (["install", "x"], "unknown argument: x", "see `kmerge install --help`"),
        (["help", "frobnicate"], "there is no command frobnicate", "see `kmerge --help`"),
        (["help", "stauts"], "there is no command stauts; did you mean `status`?", "`kmerge --h"),
        (["status", "--deep", "x"], "--deep and --fix take no files", "omit FILE"),
        (["check", "--format", "xml"], "argument --format: invalid", "see `kmerge check --help`"),
        (
            ["merge-file", "a"],
            "the following arguments are required",
            "see `kmerge merge-file --help`",
        ),
        (["replay", "--last", "x"], "argument --last: 'x' is not", "see `kmerge replay --help`"),
        (["mrege"], "there is no command mrege; did you mean `merge`? see `kmerge --help`\n", ""),
        (
            ["-v", "mrege"],
            "there is no command mrege; did you mean `merge`?",
            "see `kmerge --help`",
        ),
        (
            ["solve", "--dryrun"],
            "unknown argument: --dryrun; did you mean `--dry-run`?",
            "kmerge solve",
        ),
        (
            ["vendor", "add", "a", "b", "--rf=x"],
            "unknown argument: --rf=x; did you mean `--ref`?",
            "add --",
        ),
        (
            ["patch", "--pathc", "x"],
            "unknown argument: --pathc; did you mean `--patch`?",
            "kmerge patch",
        ),
        (
            ["vendor", "updte"],
            "argument ACTION: invalid choice: 'updte'",
            "`update`? see `kmerge v",
        ),
        (["check", "--format", "jsn"], "argument --format: invalid", "mean `json`? see `kmerge"),
        (["check", "--verbos=1"], "argument -v/--verbose: ignored explicit", "see `kmerge check"),
        (["install", "--local", "--global"], "argument --global: not allowed", "kmerge install"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    args: list[str], why: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.startswith(f"kmerge: {why}")
    assert hint in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(command: str) -> None:
    assert [
        action.dest
        for action in shown(dict(actions_of(line_parser(command)))[command])
        if not action.help
    ] == []


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with suppress(SystemExit):
        assert main([*words]) == 0
    return capsys.readouterr().out


def test_the_help_is_one_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = printed(capsys, "--help")
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert re.findall(r"^  (\S+)", text, re.M)[:9] == [
        *("install", "uninstall", "status", "merge", "preview", "resolve", "explain", "check"),
        "replay",
    ]
    assert "  more merging  diff, refresh, generate, merge-file, mergetool\n" in text
    assert all(f" {name}" in text for name in COMMANDS)
    assert [printed(capsys, *words) for words in ([], ["help"], ["-v", "help"])] == [text] * 3


@pytest.mark.parametrize("group", ["merging", "packages", "patches"])
def test_help_lists_a_group(capsys: pytest.CaptureFixture[str], group: str) -> None:
    title, *lines = printed(capsys, "help", group).splitlines()
    assert title.endswith(f"{group}:")
    rows = dict(line.split(maxsplit=1) for line in lines)
    assert rows == {name: COMMANDS[name] for name in rows}
    (listed,) = re.findall(rf"{group}  +(.*)", printed(capsys, "--help"))
    assert listed == ", ".join(rows)


@pytest.mark.parametrize("words", [["merge"], ["vendor"], ["vendor", "add"], ["doctor"]])
def test_help_of_a_command(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert printed(capsys, "help", *words) == printed(capsys, *words, "--help") != ""
