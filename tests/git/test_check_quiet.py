"""Hooks list what fails and count the rest, with a command that really lists it."""

from __future__ import annotations

import shlex

import pytest
from test_check_staged import install_hook
from world import Repo, World

from kmerge_git.cli.main import main

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  a: b\n"
WARNED = (
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\nspec:\n  imagePullSecrets:\n  - name: a\n"
    "  - name: a\n"
)
BAD = CONFIG + "  a: c\n"
ONE = "kmerge: 1 warning in 1 file; `kmerge check web/a.yaml` lists them\n"


@pytest.fixture
def hooked(repo: Repo, world: World) -> Repo:
    install_hook(repo, world, "pre-commit")
    return repo


def listed(repo: Repo, line: str, below: str = "") -> list[str]:
    """What the command that a line names lists: places and severities."""
    found = []
    for command in line.split("`")[1::2]:
        words = shlex.split(command)
        assert words[0] == "kmerge"
        done = repo.world.kmerge(*words[1:], cwd=repo.path / below, check=False)
        found += [line.partition(": warning ") for line in done.lines]
    return [f"{place}: {rest.split()[0]}" for place, word, rest in found if word]


def test_a_passing_hook_counts_them(hooked: Repo) -> None:
    hooked.write("web/a.yaml", WARNED.format("a"))
    hooked.git("add", "-A")
    done = hooked.git("commit", "-q", "-m", "a")
    assert (done.out, done.err) == ("", ONE)
    assert listed(hooked, done.err) == ["web/a.yaml:8:5: M06"]  # it is committed by now


def test_from_a_folder_below(hooked: Repo) -> None:
    hooked.write("web/a.yaml", WARNED.format("a"))
    hooked.git("add", "-A")
    done = hooked.world.git("commit", "-q", "-m", "a", cwd=hooked.path / "web")
    assert done.err == ONE.replace("web/", "")
    assert listed(hooked, done.err, "web") == ["a.yaml:8:5: M06"]


def test_a_failing_hook_lists_what_fails(hooked: Repo) -> None:
    hooked.write("a.yaml", WARNED.format("a"))
    hooked.write("b.yaml", BAD.format("b"))
    hooked.git("add", "-A")
    done = hooked.git("commit", "-q", "-m", "a", check=False)
    assert done.code == 1
    assert "b.yaml:7:3: error M02" in done.said
    assert "1 error in 1 of 2 files" in done.said
    assert "M06" not in done.said
    line = done.said.splitlines()[-1]
    assert line == "kmerge: 1 warning in 1 file; `kmerge check a.yaml` lists them"
    assert listed(hooked, line) == ["a.yaml:8:5: M06"]


@pytest.mark.costly
def test_of_a_merge(hooked: Repo) -> None:
    """What was dropped is listed by the command for merges, the rest by the one for files."""
    base = CONFIG.format("a") + "  run: |\n    one\n    two\n    three\n"
    hooked.fork(
        {"a.yaml": base},
        {"a.yaml": base.replace("two", "2")},
        {"a.yaml": base.replace("two", "II").replace("three", "III"), "b.yaml": WARNED.format("b")},
    )
    hooked.merge()
    hooked.git("checkout", "--ours", "a.yaml")
    hooked.git("add", "a.yaml")
    done = hooked.git("commit", "-q", "-m", "merged")
    assert done.err == (
        "kmerge: 1 old finding in 1 file is ignored; `kmerge check b.yaml` lists them\n"
        "kmerge: 1 warning in 1 file; `kmerge check --merge a.yaml` lists them\n"
    )
    assert listed(hooked, done.err) == ["b.yaml:8:5: M06", "a.yaml:1:1: M11"]


@pytest.mark.parametrize("folder, named", [("", ""), ("x/y/", " x/y"), ("a b/", " 'a b'")])
def test_of_many_files_their_folder_is_named(
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: str,
    named: str,
) -> None:
    files = [f"{folder}{n}.yaml" for n in range(4)]
    for name in files:
        repo.write(name, WARNED.format(name[-6]))
    monkeypatch.chdir(repo.path)
    assert main(["check", "--quiet", *files]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"kmerge: 4 warnings in 4 files; `kmerge check{named or ' .'}` lists them\n"
    assert listed(repo, said.err) == [f"{name}:8:5: M06" for name in files]


@pytest.mark.parametrize(
    "args, said",
    [
        (["--select", "M", "--ignore", "D1,D2"], "--select M --ignore D1,D2 a.yaml"),
        (["--as", "manifest", "--target", "b.yaml"], "--as manifest --target b.yaml a.yaml"),
        (["--tool", "kustomize"], "--tool kustomize a.yaml"),
    ],
)
def test_what_was_chosen_is_said_again(
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    said: str,
) -> None:
    repo.write("a.yaml", WARNED.format("a"))
    repo.write("b.yaml", CONFIG.format("a"))
    monkeypatch.chdir(repo.path)
    assert main(["check", "--quiet", *args, "a.yaml"]) == 0
    line = capsys.readouterr().err
    assert f"`kmerge check {said}`" in line
    assert listed(repo, line) == ["a.yaml:8:5: M06"]


@pytest.mark.parametrize("level, fails", [("warning", True), ("never", False), ("error", False)])
def test_what_fails_is_listed(
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    level: str,
    fails: bool,
) -> None:
    repo.write("a.yaml", WARNED.format("a"))
    monkeypatch.chdir(repo.path)
    assert main(["check", "--quiet", "--fail-on", level, "a.yaml"]) == fails
    said = capsys.readouterr()
    assert ("warning M06" in said.out) is fails
    assert ("lists them" in said.err) is not fails


def test_machines_are_told_everything(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("a.yaml", WARNED.format("a"))
    monkeypatch.chdir(repo.path)
    main(["check", "--quiet", "--format", "json", "a.yaml"])
    said = capsys.readouterr()
    assert '"M06"' in said.out
    assert said.err == ""
