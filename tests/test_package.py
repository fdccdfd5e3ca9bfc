"""The package as a whole: its version, its entry points."""

import os
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from kmerge_git import UsageError, __version__, merge_files
from kmerge_git.cli.main import main
from kmerge_git.merge.plan import Why

ROOT = Path(__file__).resolve().parent.parent
PINNED = "tests/constraints.txt" in os.environ.get("PIP_CONSTRAINT", "")


def test_main_without_a_command_explains_itself(capsys):
    assert main([]) == 0
    assert "COMMAND" in capsys.readouterr().out


def test_the_version_is_printed_and_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    line = capsys.readouterr().out.partition(" (from a checkout, ")[0]
    assert line.removesuffix("\n") == f"kmerge {__version__}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__


@pytest.mark.skipif(not PINNED, reason="`tests/run` takes the versions of tests/constraints.txt")
def test_every_installed_version_is_the_one_of_the_constraints():
    lines = (ROOT / "tests" / "constraints.txt").read_text("utf-8").splitlines()
    wanted = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    wanted = {_normal(name): version for name, version in wanted.items()}
    for installed in metadata.distributions():
        name = _normal(installed.name)
        if name not in ("kmerge-git", "pip", "setuptools"):  # a venv brings the last two
            assert wanted.get(name) == installed.version, name


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    "wrong", [{"favor": "mine"}, {"rules": "yaml"}, {"style": "diff4"}], ids=lambda w: next(iter(w))
)
def test_a_wrong_option_of_the_merge_is_an_error(wrong):
    with pytest.raises(UsageError, match="use one of"):
        merge_files(b"a: 1\n", b"a: 2\n", b"a: 3\n", **wrong)


def test_the_reason_for_a_merge_by_lines_names_no_file():
    template = b"{{- if .Values.a }}\na: 1\n{{- end }}\n"
    texts = (template, template + b"b: 1\n", template + b"b: 2\n")
    outcome = merge_files(*texts, path="x.yaml", line_merge=lambda *_: (b"", False))
    assert outcome.reason == f"a template: {Why.BOTH_ADDED} at b"
    rule = b'expr: "{{ $labels.pod }}"\n'  # no template of ours
    broken = [rule + b"a: %d\nb: ]\n" % number for number in (1, 2, 3)]
    outcome = merge_files(*broken, path="x.yaml", line_merge=lambda *_: (b"", False))
    assert outcome.reason.startswith("line 3: not YAML")


def test_what_was_decided_is_told_to_those_who_ask():
    outcome = merge_files(b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 3\nb: 2\n")
    told = outcome.decisions
    assert [(d.path, d.what, d.side) for d in told] == [
        ("a", Why.BOTH_CHANGED, "conflict"),
        ("b", "changed", "theirs"),
    ]
    assert outcome.decisions is told
    assert merge_files(b"a: 1\n", b"a: 1\n", b"a: 2\n").decisions == ()
