"""Names of files that nobody would choose: they are checked, told, and end nothing."""

from __future__ import annotations

import json
import os

import pytest
from test_check_quiet import WARNED, listed
from test_check_staged import install_hook
from world import Repo, World

from kmerge_git.cli.main import main

TWICE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: a\n"
NAMES = [
    "a b.yaml",
    "a\nb.yaml",
    "-x.yaml",
    "a:b.yaml",
    "a\\b.yaml",
    "*.yaml",
    "$(id).yaml",
    "::error::x.yaml",
    "\x1b[31m.yaml",
    "\u202egnp.yaml",
    os.fsdecode(b"\xff.yaml"),
]


@pytest.mark.world
@pytest.mark.parametrize("way", [(), ("--staged",), ("--",)], ids=["all", "staged", "named"])
@pytest.mark.parametrize("name", NAMES, ids=map(repr, NAMES))
def test_each_is_checked_and_told(
    repo: Repo, name: str, way: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    repo.write(name, TWICE)
    repo.write("over/kustomization.yaml", "resources: [web.yaml]\n")
    repo.git("add", "-A")
    monkeypatch.chdir(repo.path)
    args = (*way, name) if way == ("--",) else way
    for form in ("json", "sarif", "github", "text"):
        assert main(["check", "--format", form, "--select", "M02", *args]) == 1
        out, err = capsys.readouterr()
        assert (err, all(char.isprintable() or char in "\n\t" for char in out)) == ("", True)
        if form == "json":
            assert [f["file"] for f in json.loads(out)["findings"]] == [name]


@pytest.mark.world
@pytest.mark.parametrize("name", NAMES, ids=map(repr, NAMES))
def test_the_command_of_a_hook_lists_it(repo: Repo, world: World, name: str) -> None:
    install_hook(repo, world, "pre-commit")
    repo.write(name, WARNED.format("a"))
    repo.git("add", "-A")
    done = repo.git("commit", "-q", "-m", "a")
    assert done.err.startswith("kmerge: 1 warning in 1 file; `kmerge check ")
    [found] = listed(repo, done.err)
    assert found.endswith(":8:5: M06")


@pytest.mark.parametrize("field", ["resources", "components", "transformers", "crds"])
def test_what_no_file_can_be_called(
    repo: Repo, field: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("kustomization.yaml", f'{field}: ["a\\0b"]\n')
    repo.git("add", "-A")
    monkeypatch.chdir(repo.path)
    assert main(["check", "--staged"]) == 1
    assert "error M14" in capsys.readouterr().out
