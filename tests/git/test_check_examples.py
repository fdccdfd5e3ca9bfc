"""The examples of checks that compare the versions of a file, in merges that stand still."""

from __future__ import annotations

import pytest
from check_examples import files_of, versions_of
from world import Repo

from kmerge_git.check import registry
from kmerge_git.check.registry import CHARTS, ERROR, Check
from kmerge_git.cli.main import main

COMPARING = [check for check in registry.every() if versions_of(check.example)]


@pytest.mark.parametrize("check", COMPARING, ids=lambda c: c.id)
def test_what_it_finds(
    check: Check,
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    how = ["--quiet"] if check.severity == ERROR else []  # warnings are left out then
    how += ["--merge"] if check.scope == CHARTS else []
    assert f" {check.id} " in said(repo, check.example, monkeypatch, capsys, *how)


@pytest.mark.parametrize("check", COMPARING, ids=lambda c: c.id)
def test_what_it_lets_pass(
    check: Check,
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    how = ["--quiet"] if check.severity == ERROR else []
    merge = ["--merge"] if check.scope == CHARTS else []
    text = said(repo, check.counter, monkeypatch, capsys, *how, *merge)
    assert f" {check.id} " not in text and not (how and text)


def named(text: str) -> dict[str, str | bytes]:
    """The files of a version; one without a name is `web.yaml`."""
    return {name or "web.yaml": content for name, content in files_of(text).items()}


def said(
    repo: Repo,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *how: str,
) -> str:
    """What is said of the version that is to be committed, in a merge of the others."""
    versions = {of: named(part) for of, part in versions_of(text).items()}
    attributes = {".gitattributes": "*.yaml merge=kmerge\n"}
    if "theirs" in versions:
        repo.fork({**versions["base"], **attributes}, versions["ours"], versions["theirs"])
        repo.merge("--no-commit", "--no-ff", "side")
    else:
        repo.commit("ours", {**versions["ours"], **attributes})
    for name, content in versions["committed"].items():
        repo.write(name, content)
    repo.git("add", "-A")
    monkeypatch.chdir(repo.path)
    main(["check", "--staged", *how])
    return capsys.readouterr().out
