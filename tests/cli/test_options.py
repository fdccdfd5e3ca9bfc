"""Options: one name for one thing in all commands, and the spellings that went."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmerge_git.cli.main import COMMANDS, Parser, actions_of, line_parser, main, shown
from kmerge_git.cli.merge_options import FLAGS, OPTIONAL, STATE, VALUES

# What an option is, by its long name: its short one, and what its value is called (empty: a
# switch, None: as each command calls it). A new option needs a row; one that has a row already has
# to be the same thing.
MEANINGS = {
    "--accept-source": "", "--adopt": "", "--all": "-a?", "--as": "patch|manifest", "--at": "FIELDPATH|ID",
    "--abort": "", "--auto": "", "--blame": "", "--branches": "GLOB", "--charts": "", "--color": "auto|always|never", "--combine": "FILE",
    "--committed": "", "--committer": "'NAME <MAIL>'", "--config": "CONFIG", "--conflict-style": "merge|diff3|zdiff3",
    "--continue": "", "--crd": "FILE", "--create-annotation": "", "--deep": "", "--dest": "-D D", "--diff": "",
    "--dry-run": "-n", "--exit-code": "", "--explain": "", "--external": "", "--extract": "DIR",
    "--fail-on": "error|warning|info|never", "--favor": "ours|theirs", "--fetch": "", "--fix": "",
    "--force": "", "--format": None, "--from": "FILE", "--full": "",
    "--global": "", "--help": "-h", "--hooks": "", "--hooks-from": "URL@REV", "--html": "FILE", "--ignore": "IDS",
    "--in-place": "", "--installed": "", "--into": "REV", "--jobs": "N", "--json": "",
    "--last": "N", "--last-applied": "FILE", "--list": "", "--live": "LIVE", "--local": "",
    "--marker-size": "N", "--merge": "", "--merge-of": "REV", "--merged": "BASE OURS THEIRS RESULT",
    "--mergetool": "",
    "--namespace": "NAMESPACE", "--new": "REV", "--no-infer": "", "--object": "KIND/NAME",
    "--on-conflict": "abort|skip|overwrite", "--original": "-O O", "--output": "-o OUT",
    "--overwrite": "", "--patch": "-p P", "--path": "P", "--pattern": "P", "--picks": "", "--policy": "'GLOB FIELD POLICY'",
    "--prepend": "", "--pulls": "", "--push": "REMOTE", "--quiet": "-q", "--rebase": "", "--ref": "R", "--refs": "GLOB", "--restore": "",
    "--rules": "git|kyaml", "--schema": "FILE", "--select": "IDS", "--set": "ID=YAML",
    "--shared": "", "--show": "N", "--show-patch": "", "--src": "-S S", "--staged": "",
    "--stat": "", "--summary": "", "--system": "", "--take": "SIDE", "--target": "FILE", "--team": "",
    "--tool": "kubectl|kustomize|both", "--type": "strategic|merge", "--undo": "",
    "--updated": "-U U", "--verbose": "-v", "--with": "REV", "--with-json": "",
    "--worktree": "", "--write-tree": "", "--yes": "",
}  # fmt: skip
# `check` explains a check by its id, every other command what it does
APART = {("check", "--explain"): "ID"}
GITS = {name for names in (FLAGS | VALUES | OPTIONAL | STATE) for name in names.split()}


def every_option() -> Iterator[tuple[str, argparse.Action]]:
    for command in COMMANDS:
        for name, parser in parsers(command, dict(actions_of(line_parser(command)))[command]):
            for action in shown(parser):
                if command != "merge" or action.option_strings[0] not in GITS:
                    yield name, action


def parsers(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, Parser]]:
    assert isinstance(parser, Parser)
    yield name, parser
    for action, below in actions_of(parser):
        yield from parsers(f"{name} {action}", below)


def long_name(action: argparse.Action) -> str:
    return next(flag for flag in action.option_strings if flag.startswith("--"))


def value_of(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(map(str, action.choices))
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, tuple):  # a name for each value
        return " ".join(action.metavar)
    return action.metavar or action.dest.upper()


def differs(told: str | None, action: argparse.Action) -> bool:
    """Whether an option is another thing than its row says; fewer choices are the same thing."""
    if told is None:
        return False
    short = next((f for f in action.option_strings if not f.startswith("--")), "")
    words = told.split(" ", 1) if told.startswith("-") else ["", told]
    wanted, value = words[0], words[1] if len(words) > 1 else ""
    if wanted.endswith("?"):
        wanted = short and wanted[:-1]
    found = value_of(action)
    return short != wanted or not set(found.split("|")) <= set(value.split("|"))


def test_an_option_means_one_thing() -> None:
    found = list(every_option())
    wrong = [
        (name, action.option_strings, value_of(action))
        for name, action in found
        if differs(
            APART.get((name, long_name(action)), MEANINGS.get(long_name(action), "?")), action
        )
    ]
    assert wrong == []
    assert MEANINGS.keys() - {long_name(action) for _, action in found} == set()


def test_a_second_meaning_is_seen() -> None:
    parser = argparse.ArgumentParser()
    json = parser.add_argument("--json", action="store_true")
    assert not differs(MEANINGS["--json"], json)
    assert differs(MEANINGS["--json"], parser.add_argument("--output", "-O", metavar="OUT"))
    assert differs(MEANINGS["--target"], parser.add_argument("--target", metavar="KIND/NAME"))
    assert differs(MEANINGS["--tool"], parser.add_argument("--tool", choices=("kubectl", "helm")))
    assert differs("?", parser.add_argument("--newer", action="store_true"))


@pytest.mark.parametrize(
    "words, now, code",
    [
        (["patch", "d.yaml", "-p", "p.yaml", "--flavor", "kustomize"], "--tool", 0),
        (["patch", "d.yaml", "-p", "p.yaml", "--target=Deployment/web"], "--object", 0),
        (["patch", "d.yaml", "-p", "p.yaml", "--target", "Deployment/api"], "--object", 2),
        (["make-patch", "d.yaml", "d.yaml", "--current", "d.yaml"], "--live", 0),
        (["make-patch", "d.yaml", "d.yaml", "--current", "none.yaml"], "--live", 2),
        (["check", "--diff", "d.yaml"], "--dry-run", 0),
        (["check", "--patch", "d.yaml"], "--as patch", 0),
        (["check", "--manifest", "d.yaml"], "--as manifest", 0),
    ],
)
def test_the_spelling_of_the_last_release_is_taken(
    words: list[str], now: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    object_ = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    Path("d.yaml").write_text(f"{object_}spec:\n  replicas: 1\n")
    Path("p.yaml").write_text(f"{object_}spec:\n  replicas: 2\n")
    assert main(words) == code
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 + (code == 2)
    assert told[0].endswith(f" is now called `{now}`; the next release accepts only `{now}`")


def test_json_of_check_is_a_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("a: 1\na: 2\n")
    said = []
    for words in (["--json"], ["--format", "json"]):
        assert main(["check", *words, "a.yaml"]) == 1
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith("{")
