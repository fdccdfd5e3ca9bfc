"""`kmerge`: what a wrong command line is told."""

from __future__ import annotations

import argparse
from importlib import import_module

import pytest

from kmerge_git.cli.main import COMMANDS, main


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
    parser = argparse.ArgumentParser()
    import_module(f"kmerge_git.cli.{command.replace('-', '_')}").add_arguments(parser)
    silent = [action.option_strings[0] for action in parser._actions
              if action.option_strings and not action.help]  # fmt: skip
    assert silent == []
