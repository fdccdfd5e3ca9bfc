"""`kmerge`: what a wrong command line is told."""

from __future__ import annotations

import pytest

from kmerge_git.cli.main import COMMANDS, actions_of, line_parser, main, shown


@pytest.mark.parametrize(
    "args, why, hint",
    [
        (["frobnicate"], "there is no command frobnicate", "see `kmerge --help`"),
        (["--frobnicate"], "unknown: --frobnicate", "see `kmerge --help`"),
        (["check", "--frobnicate"], "unknown: --frobnicate", "see `kmerge check --help`"),
        (["doctor", "x"], "unknown: x", "see `kmerge doctor --help`"),
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
        (["solve", "--dryrun"], "unknown: --dryrun; did you mean `--dry-run`?", "kmerge solve"),
        (["vendor", "add", "a", "b", "--rf=x"], "unknown: --rf=x; did you mean `--ref`?", "add --"),
        (["patch", "--pathc", "x"], "unknown: --pathc; did you mean `--patch`?", "kmerge patch"),
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
