"""`git diff` by field: `kmerge install --diff`, and what git does with it."""

from __future__ import annotations

import pytest
from world import Repo

WEB = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  port: 80\n"
PEOPLE = {"GIT_PAGER_IN_USE": "1", "NO_COLOR": "1"}


@pytest.fixture
def shown(repo: Repo) -> Repo:
    repo.commit("one", {"a.yaml": WEB, "t.yaml": "a: {{ .x }}\n", "b.txt": "x\n", "old.yaml": WEB})
    repo.kmerge("install", "--diff")
    repo.git("config", "color.ui", "false")
    return repo


def change(repo: Repo) -> None:
    repo.write("a.yaml", WEB.replace("80", "81"))
    repo.write("t.yaml", "a: {{ .y }}\n")
    repo.write("b.txt", "y\n")
    repo.write("ü b.yaml", WEB)
    (repo.path / "old.yaml").unlink()
    repo.git("add", "-A")


@pytest.mark.costly
def test_people_see_fields(shown: Repo) -> None:
    change(shown)
    lines = shown.git("diff", "--staged", "--no-renames", env=PEOPLE).lines
    assert lines[:3] == ["a.yaml", "  Service/web", "    spec.port: 80 -> 81"]
    assert {"+y", "-a: {{ .x }}", "+a: {{ .y }}"} <= {*lines}
    assert {"old.yaml: deleted", "ü b.yaml: added", "  Service/web: deleted"} <= {*lines}
    assert "diff --git a/t.yaml b/t.yaml" in lines


def test_a_file_is_no_person(shown: Repo) -> None:
    """An alias with a pager (`git -p save`) may write a patch all the same."""
    change(shown)
    shown.git("config", "alias.save", "!git diff --staged -- a.yaml > x.patch")
    shown.git("save", env=PEOPLE)
    assert shown.text("x.patch").startswith("diff --git a/a.yaml b/a.yaml\n")


@pytest.mark.costly
def test_what_goes_to_a_file_is_a_patch(shown: Repo) -> None:
    """Moved files, other modes, new and deleted files: git applies what its diff prints."""
    change(shown)
    (shown.path / "a.yaml").chmod(0o755)
    shown.write("empty.yaml", "")
    shown.write("last.yaml", "a: 1\nb: 2")
    shown.git("add", "-A")
    tree = shown.git("write-tree").out
    for flags in (["--no-renames"], ["-M"]):
        patch = shown.git("diff", "--staged", *flags).out
        shown.git("stash", "-q")
        shown.git("apply", "--index", "-", stdin=patch)
        assert shown.git("write-tree").out == tree
        shown.git("reset", "-q", "--hard")
        shown.git("stash", "pop", "-q", "--index")


@pytest.mark.costly
def test_only_git_diff_is_changed(shown: Repo) -> None:
    head = shown.commit("two", {"a.yaml": WEB.replace("80", "81")})
    text = "+  port: 81"
    for words in (["log", "-p", "-1"], ["show", head],
                  ["diff", "--no-ext-diff", "HEAD~1"]):  # fmt: skip
        assert text in shown.git(*words, env=PEOPLE).lines, words
    for words in (["format-patch", "-1", "--stdout"], ["diff-tree", "-p", head]):
        assert text in shown.git(*words).lines  # these are for programs
    for words in (["diff", "HEAD~1"], ["log", "-p", "-1", "--ext-diff"], ["show", "--ext-diff"]):
        assert "    spec.port: 80 -> 81" in shown.git(*words, env=PEOPLE).lines, words
    shown.write("a.yaml", WEB)
    assert text in [line.replace("-", "+", 1) for line in shown.git("diff-files", "-p").lines]
    assert "1 file changed" in shown.git("diff", "--stat", env=PEOPLE).out


@pytest.mark.costly
def test_a_file_in_conflict(shown: Repo) -> None:
    shown.kmerge("uninstall")
    shown.fork(
        {"a.yaml": WEB}, {"a.yaml": WEB.replace("80", "1")}, {"a.yaml": WEB.replace("80", "2")}
    )
    shown.kmerge("install", "--diff")
    shown.merge()
    assert shown.git("diff", "HEAD", env=PEOPLE).code == 0
    assert "a.yaml" in shown.git("diff", "--ours", env=PEOPLE).out


@pytest.mark.costly
def test_a_command_that_is_gone_leaves_gits_own(shown: Repo) -> None:
    line = shown.config("diff.kmerge.command")[0]
    shown.git("config", "diff.kmerge.command", line.replace("kmerge_git", "nothing_here"))
    change(shown)
    shown.git("mv", "t.yaml", "moved.yaml")
    (shown.path / "a.yaml").chmod(0o755)
    shown.git("add", "a.yaml")
    done = shown.git("diff", "--staged", env=PEOPLE)
    assert {"+  port: 81", "+y", "+a: {{ .y }}"} <= {*done.lines}
    tree = shown.git("write-tree").out
    flags = ("--no-renames", "-M10%")
    for patch in [shown.git("diff", "--staged", flag).out for flag in flags]:
        shown.git("reset", "-q", "--hard")
        shown.git("apply", "--index", "-", stdin=patch)
        assert shown.git("write-tree").out == tree, patch


def test_lines_of_others_stay_in_force(repo: Repo) -> None:
    repo.write(".gitattributes", "secrets/*.yaml diff=sops\n*.yml -diff\nx.yaml text\n")
    repo.write("deploy/.gitattributes", "*.yaml diff=other\n")
    repo.git("add", "-A")
    repo.kmerge("install", "--diff")
    wanted = {"a.yaml": "kmerge", "secrets/a.yaml": "sops", "a.yml": "unset",
              "deploy/a.yaml": "other", "x.yaml": "kmerge", "a.txt": "unspecified"}  # fmt: skip
    assert {path: repo.attribute(path, "diff") for path in wanted} == wanted
    assert repo.attribute("a.yml") == "kmerge"


@pytest.mark.costly
def test_it_is_a_choice_that_is_kept_and_taken_back(repo: Repo) -> None:
    repo.kmerge("install")
    assert repo.attribute("a.yaml", "diff") == "unspecified"
    assert repo.config("diff.kmerge.command") == []
    assert "diff:" not in repo.kmerge("status", check=False).out
    repo.kmerge("install", "--diff")
    assert "ok    diff: `git diff` shows manifests by field" in repo.kmerge("status").out
    assert "already registered" in repo.kmerge("install").out
    assert repo.attribute("a.yaml", "diff") == "kmerge"
    repo.kmerge("uninstall")
    assert repo.attribute("a.yaml", "diff") == "unspecified"
    assert repo.config("diff.kmerge.command") == []


def test_a_command_of_somebody_else_stays(repo: Repo) -> None:
    repo.git("config", "diff.kmerge.command", "mine")
    repo.kmerge("install")
    repo.kmerge("uninstall")
    assert repo.config("diff.kmerge.command") == ["mine"]
