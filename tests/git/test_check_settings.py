"""Checks that are switched off for a repository or for a file, and who may do that."""

from __future__ import annotations

from typing import Any

import pytest
from world import Repo, World

from kmerge_git.cli import check_repository
from kmerge_git.cli.main import main
from kmerge_git.git import tracked_files
from kmerge_git.git.run_git import GitAnswer

BAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: a\ndata: {a: b}\n"
IDS = check_repository.SERVICES + check_repository.COMMITS + check_repository.BRANCHES


class Checked:
    """`kmerge check` in a repository, in this process."""

    def __init__(
        self, repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.repo = repo
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def ids(self, *args: str, below: str = "") -> list[str]:
        """The ids of what is found, with the files."""
        out, self.err = self._said(*args, below=below)
        words = [line.split() for line in out.splitlines() if ": error " in line]
        return [f"{place.split(':')[0]} {id}" for place, _, id, *_ in words]

    def _said(self, *args: str, below: str) -> tuple[str, str]:
        self._monkeypatch.chdir(self.repo.path / below)
        self._capsys.readouterr()
        main(["check", *args])
        said = self._capsys.readouterr()
        return said.out, said.err


@pytest.fixture
def checked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Checked:
    for name in IDS:
        monkeypatch.delenv(name, raising=False)
    repo.commit("start", {"a.yaml": BAD, "x/b.yaml": BAD})
    checked = Checked(repo, monkeypatch, capsys)
    assert checked.ids() == ["a.yaml M02", "x/b.yaml M02"]
    return checked


def test_in_the_configuration(checked: Checked) -> None:
    config = ("config", "--add", "kmerge.check.ignore")
    checked.repo.git(*config, "D65")
    assert checked.ids() == ["a.yaml M02", "x/b.yaml M02"]
    checked.repo.git(*config, "m02,D6")
    assert checked.ids() == []
    assert checked.ids(below="x") == []
    assert checked.ids("--select", "merge-damage") == []  # as the hook for it does
    assert checked.ids("--select", "M02") == ["a.yaml M02", "x/b.yaml M02"]
    assert checked.ids("--select", "M01,m02", "--ignore", "M01") == ["a.yaml M02", "x/b.yaml M02"]
    assert checked.err == ""


def test_a_word_that_makes_no_sense_costs_nobody_the_others(checked: Checked) -> None:
    checked.repo.git("config", "--add", "kmerge.check.ignore", "M99,M02")
    assert checked.ids() == []
    said = "kmerge: kmerge.check.ignore: there is no check M99; run `kmerge check --list`\n"
    assert checked.err == said


def test_in_the_environment(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KMERGE_CHECK_IGNORE", "M02,X")
    assert checked.ids() == []
    assert checked.err.startswith("kmerge: KMERGE_CHECK_IGNORE: there is no check X;")


def test_a_linked_worktree_has_the_same_configuration(checked: Checked) -> None:
    checked.repo.git("config", "kmerge.check.ignore", "M02")
    checked.repo.git("worktree", "add", "-q", "linked")
    assert checked.ids(below="linked") == []


def test_a_working_tree_may_have_a_configuration_of_its_own(checked: Checked) -> None:
    checked.repo.git("config", "extensions.worktreeConfig", "true")
    checked.repo.git("config", "--worktree", "kmerge.check.ignore", "M02")
    assert checked.ids() == []


ATTRIBUTES = [
    ("a.yaml kmerge-check=-M02", ["x/b.yaml M02"]),
    ("b.yaml kmerge-check=-D,-m02", ["a.yaml M02"]),
    ("* kmerge-check=-merge-damage", []),
    ("* kmerge-check=-M03", ["a.yaml M02", "x/b.yaml M02"]),
    ("* -kmerge-check", []),
    ("* kmerge-check=false", []),
    ("* kmerge-check", ["a.yaml M02", "x/b.yaml M02"]),
    ("* -kmerge-check\nx/* kmerge-check=true", ["x/b.yaml M02"]),
    ("* -kmerge-check\nx/* !kmerge-check", ["x/b.yaml M02"]),
]


@pytest.mark.parametrize("lines, ids", ATTRIBUTES)
def test_by_an_attribute(checked: Checked, lines: str, ids: list[str]) -> None:
    checked.repo.write(".gitattributes", lines + "\n")
    assert checked.ids() == ids
    assert [f"x/{id}" for id in checked.ids(below="x")] == [id for id in ids if id[0] == "x"]
    assert checked.err == ""
    assert checked.ids("--select", "M02") == ["a.yaml M02", "x/b.yaml M02"]
    absolute = [str(checked.repo.path / name) for name in ("a.yaml", "x/b.yaml")]
    top = f"{checked.repo.path}/"
    assert [id.removeprefix(top) for id in checked.ids(*absolute)] == ids


@pytest.mark.parametrize(
    "value, said",
    [
        (
            "M02",
            "`M02` has no leading `-`; write kmerge-check=-M11, or -kmerge-check to switch off all checks",
        ),
        (
            "off",
            "`off` has no leading `-`; write kmerge-check=-M11, or -kmerge-check to switch off all checks",
        ),
        (
            "-M02,,-M03",
            "`` has no leading `-`; write kmerge-check=-M11, or -kmerge-check to switch off all checks",
        ),
        ("-M02,-nothing", "there is no check nothing; run `kmerge check --list`"),
    ],
)
def test_a_value_that_makes_no_sense_is_told_once(checked: Checked, value: str, said: str) -> None:
    checked.repo.write(".gitattributes", f"* kmerge-check={value}\n")
    assert bool(checked.ids()) is not value.startswith("-M02")
    assert checked.err == f"kmerge: kmerge-check: {said}\n"


def test_what_is_switched_off_is_not_mended(checked: Checked) -> None:
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
    patch = head + "spec:\n  strategy:\n    $path: replace\n    type: Recreate\n"
    checked.repo.write("p-patch.yaml", patch)
    checked.repo.write(".gitattributes", "p-patch.yaml kmerge-check=-D50\n")
    checked.ids("--fix", "p-patch.yaml")
    assert checked.repo.text("p-patch.yaml") == patch
    checked.repo.write(".gitattributes", "")
    checked.ids("--fix", "p-patch.yaml")
    assert checked.repo.text("p-patch.yaml") != patch


def test_what_is_staged_goes_by_what_is_staged(checked: Checked) -> None:
    checked.repo.write("a.yaml", BAD + "more: 1\n")
    checked.repo.git("add", "-A")
    checked.repo.write(".gitattributes", "* -kmerge-check\n")
    assert checked.ids("--staged") == ["a.yaml M02"]
    checked.repo.git("add", "-A")
    checked.repo.write(".gitattributes", "")
    assert checked.ids("--staged") == []


def test_git_is_not_asked_where_nothing_is_found(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    ask_git = tracked_files.ask_git

    def noted(*args: str, **how: Any) -> GitAnswer:
        asked.append(args)
        return ask_git(*args, **how)

    monkeypatch.setattr(tracked_files, "ask_git", noted)
    checked.repo.write("good.yaml", "a: 1\n")
    assert checked.ids("good.yaml") == []
    assert asked == []
    assert checked.ids("a.yaml") == ["a.yaml M02"]
    assert asked != []


def test_outside_of_a_repository(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world.root / "a.yaml").write_text(BAD)
    monkeypatch.chdir(world.root)
    assert main(["check"]) == 1
    assert "a.yaml:5:3: error M02" in capsys.readouterr().out


@pytest.fixture
def request_of(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> Checked:
    """A pull request that switches off its own checks, as a runner has it checked out."""
    checked.repo.branch("topic")
    checked.repo.commit("off", {".gitattributes": "* -kmerge-check\n"})
    checked.repo.git("update-ref", "refs/remotes/origin/main", "main")
    monkeypatch.setenv("CI", "true")
    assert checked.ids() == []  # no service says that it is a pull request
    return checked


@pytest.mark.parametrize(
    "name, value",
    [(name, "main") for name in check_repository.BRANCHES]
    + [("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")]
    + [(name, "COMMIT") for name in check_repository.COMMITS],
)
def test_a_pull_request_does_not_switch_off_its_own_checks(
    request_of: Checked, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value.replace("COMMIT", request_of.repo.head("main")))
    assert request_of.ids() == ["a.yaml M02", "x/b.yaml M02"]
    assert request_of.err == ""
    monkeypatch.delenv("CI")
    assert request_of.ids() == []  # on somebody's own machine nobody judges


def test_the_target_of_a_pull_request_counts(
    request_of: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = request_of.repo
    repo.switch("main")
    repo.commit("x is as it is", {".gitattributes": "x/** kmerge-check=-M02\n"})
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    repo.switch("topic")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert request_of.ids() == ["a.yaml M02"]
    assert request_of.ids(below="x") == []
    assert repo.git("status", "--porcelain").out == ""  # the index is as it was


def test_one_name_of_the_target_is_enough(
    request_of: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "release")
    monkeypatch.setenv("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", request_of.repo.head("main"))
    assert request_of.ids() == ["a.yaml M02", "x/b.yaml M02"]
    assert request_of.err == ""


def test_a_target_that_was_not_fetched_switches_nothing_off(
    request_of: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_BASE_REF", "release")
    assert request_of.ids() == ["a.yaml M02", "x/b.yaml M02"]
    said = "kmerge: kmerge-check: origin/release was not fetched, so this attribute is ignored; fetch that branch\n"
    assert request_of.err == said
    request_of.repo.write(".gitattributes", "")
    assert request_of.ids() == ["a.yaml M02", "x/b.yaml M02"]
    assert request_of.err == ""


def test_of_a_merge_the_branch_counts_that_it_goes_to(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = checked.repo
    base = "".join(f"k{n}: v\n" for n in range(12))
    repo.fork(
        {"m.yaml": base},
        {"m.yaml": base.replace("k1: v", "k1: ours")},
        {"m.yaml": base.replace("k9: v", "k9: theirs"), ".gitattributes": "* -kmerge-check\n"},
    )
    repo.merge("--no-ff", "side")
    repo.write("m.yaml", repo.text("m.yaml") + "k1: twice\n")
    repo.git("commit", "-qa", "--amend", "--no-edit")
    assert checked.ids("m.yaml") == []
    assert checked.ids("--merge") == ["m.yaml M02"]
    assert checked.ids("--merge-of", "HEAD") == ["m.yaml M02"]
    # the head of a request that has merged its target has a parent that anybody can write
    repo.git("update-ref", "refs/remotes/origin/main", "side")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert checked.ids("--merge") == []
