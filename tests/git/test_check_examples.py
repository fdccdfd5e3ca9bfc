"""The examples of checks that compare the versions of a file, in merges that stand still."""

from __future__ import annotations

import pytest
from check_examples import versions_of
from world import Repo

from kmerge_git.check import registry
from kmerge_git.check.registry import ERROR, Check
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
    assert f" {check.id} " in said(repo, check.example, monkeypatch, capsys, *how)


@pytest.mark.parametrize("check", COMPARING, ids=lambda c: c.id)
def test_what_it_lets_pass(
    check: Check,
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    how = ["--quiet"] if check.severity == ERROR else []
    text = said(repo, check.counter, monkeypatch, capsys, *how)
    assert f" {check.id} " not in text and not (how and text)


def said(
    repo: Repo,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *how: str,
) -> str:
    """What is said of the version that is to be committed, in a merge of the others."""
    versions = versions_of(text)
    ours = versions["ours"]
    attributes = {".gitattributes": "*.yaml merge=kmerge\n"}
    if "theirs" in versions:
        repo.fork(
            {"web.yaml": versions["base"], **attributes},
            {"web.yaml": ours},
            {"web.yaml": versions["theirs"]},
        )
        repo.merge("--no-commit", "--no-ff", "side")
    else:
        repo.commit("ours", {"web.yaml": ours, **attributes})
    repo.write("web.yaml", versions["committed"])
    repo.git("add", "web.yaml")
    monkeypatch.chdir(repo.path)
    main(["check", "--staged", *how])
    return capsys.readouterr().out
