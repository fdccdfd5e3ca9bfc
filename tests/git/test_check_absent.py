"""What a kustomization names and the commit, or the merge, takes away."""

from __future__ import annotations

import json

import pytest
from world import Repo

from kmerge_git.cli.main import main

WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
START = {
    "base/kustomization.yaml": "resources:\n- web.yaml\n",
    "base/web.yaml": WEB,
    "over/kustomization.yaml": "resources:\n- ../base\nconfigMapGenerator:\n- name: c\n"
    "  files: [../base/c.txt]\n",
    "base/c.txt": "a\n",
    "note.yaml": "a: b\n",
}
PATCHED = "resources:\n- ../base\npatches:\n- path: p.yaml\n"

Found = list[tuple[str, str, str, int]]


class Checked:
    """`kmerge check` in a repository."""

    def __init__(
        self, repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.repo = repo
        self._chdir = monkeypatch.chdir
        self._capsys = capsys
        self.messages: list[str] = []

    def found(self, *args: str, below: str = "") -> Found:
        self._chdir(self.repo.path / below)
        main(["check", "--format", "json", *args])
        findings = json.loads(self._capsys.readouterr().out)["findings"]
        self.messages = [f["message"] for f in findings]
        return [(f["id"], f["severity"], f["file"], f["line"]) for f in findings]


@pytest.fixture
def checked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Checked:
    repo.commit("start", START)
    return Checked(repo, monkeypatch, capsys)


def test_only_the_deletion_is_in_the_commit(checked: Checked) -> None:
    checked.repo.git("rm", "-q", "base/c.txt")
    gone = [("M14", "error", "over/kustomization.yaml", 5)]
    assert checked.found("--staged") == gone
    assert checked.messages == ["../base/c.txt does not exist: it was deleted"]
    assert checked.found("note.yaml") == gone  # what pre-commit does: it names files that exist
    assert checked.found() == gone
    assert checked.found("--staged", below="base") == [("M14", "error", "../" + gone[0][2], 5)]
    checked.repo.git("commit", "-qm", "gone")
    assert checked.found() == gone  # the last commit did it


def test_a_whole_base_is_deleted(checked: Checked) -> None:
    checked.repo.git("rm", "-qr", "base")
    place = "over/kustomization.yaml"
    assert checked.found("--staged") == [("M14", "error", place, 2), ("M14", "error", place, 5)]


def test_a_renamed_folder_is_told_with_its_new_name(checked: Checked) -> None:
    checked.repo.git("mv", "base", "basis")
    assert ("M14", "error", "over/kustomization.yaml", 2) in checked.found("--staged")
    assert checked.messages[0] == "../base does not exist: it was renamed to ../basis"


def test_a_folder_that_went_to_two_has_no_new_name(checked: Checked) -> None:
    checked.repo.git("mv", "base", "basis")
    checked.repo.git("mv", "basis/c.txt", "c.txt")
    checked.found("--staged")
    assert checked.messages[0] == "../base does not exist: it was deleted"


def test_a_renamed_file_is_told_with_its_new_name(checked: Checked) -> None:
    checked.repo.git("mv", "base/web.yaml", "base/site.yaml")
    assert checked.found("--staged") == [("M14", "error", "base/kustomization.yaml", 2)]
    assert checked.messages == ["web.yaml does not exist: it was renamed to site.yaml"]


def test_a_file_that_is_not_staged(checked: Checked) -> None:
    checked.repo.write("base/kustomization.yaml", "resources:\n- web.yaml\n- new.yaml\n")
    checked.repo.write("base/new.yaml", WEB.replace("web", "new"))
    checked.repo.git("add", "base/kustomization.yaml")
    assert checked.found("--staged") == [("M14", "error", "base/kustomization.yaml", 3)]
    assert "`git add` on it" in checked.messages[0]
    assert checked.found() == []


@pytest.mark.parametrize("committed, severity", [(False, "error"), (True, "warning")])
def test_what_never_was_there(checked: Checked, committed: bool, severity: str) -> None:
    """A new entry is a mistake; one that everybody lives with is made by something else."""
    checked.repo.write("base/kustomization.yaml", "resources:\n- web.yaml\n- new.yaml\n")
    if committed:
        checked.repo.commit("new", {"base/kustomization.yaml": "resources: [web.yaml, new.yaml]\n"})
        checked.repo.commit("more", {"note.yaml": "a: c\n"})
    assert [f[:2] for f in checked.found()] == [("M14", severity)]


def test_what_git_ignores_or_a_submodule_brings(checked: Checked) -> None:
    modules = '[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/lib\n'
    checked.repo.commit("more", {".gitignore": "/over/made/\n*.env\n", ".gitmodules": modules})
    text = "resources: [made, ../lib/deploy]\nsecretGenerator: [{name: s, envs: [s.env]}]\n"
    checked.repo.commit("made", {"over/kustomization.yaml": text})
    assert checked.found() == []
    checked.repo.write("over/kustomization.yaml", text.replace("s.env", "s.txt"))
    assert [f[:2] for f in checked.found("over")] == [("M14", "error")]


def test_what_is_not_checked_out(checked: Checked) -> None:
    checked.repo.git("sparse-checkout", "set", "over")
    assert not (checked.repo.path / "base").exists()
    assert checked.found() == []


def test_symbolic_links_in_the_index(checked: Checked) -> None:
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    text = "resources: [link, web.yaml]\ncomponents: [part]\npatches: [{path: p.yaml}]\n"
    checked.repo.write("over/kustomization.yaml", text)
    checked.repo.write("over/p.yaml", WEB)
    checked.repo.write("part/kustomization.yaml", component + "namePrefix: my-\n")
    for name, place in (("link", "../base"), ("part", "../part"), ("web.yaml", "../web.yaml")):
        (checked.repo.path / "over" / name).symlink_to(place)
    checked.repo.write("web.yaml", WEB.replace("web", "other"))
    checked.repo.git("add", "-A")
    assert checked.found("--staged") == []
    assert checked.found() == []


def test_a_base_that_loses_what_an_overlay_patches(checked: Checked) -> None:
    checked.repo.commit("patch", {"over/kustomization.yaml": PATCHED, "over/p.yaml": WEB})
    checked.repo.write("base/web.yaml", WEB.replace("web", "site"))
    checked.repo.git("add", "-A")
    lost = [("D69", "error", "over/p.yaml", 4)]
    assert checked.found("--staged") == lost
    assert checked.found("base/web.yaml") == lost
    assert checked.found("--staged", "base/web.yaml") == lost
    assert checked.found("base") == []  # of folders what is in them is looked at
    assert checked.found("HEAD:over/kustomization.yaml") == []
    assert checked.found(":over/kustomization.yaml") == [(*lost[0][:2], ":" + lost[0][2], 4)]


def merged(repo: Repo, ours: dict[str, str], theirs: dict[str, str | None]) -> None:
    """Two branches, and their clean merge before it is committed."""
    repo.git("branch", "topic")
    repo.commit("ours", ours)
    repo.git("checkout", "-q", "topic")
    for path, text in theirs.items():
        repo.git("rm", "-q", path) if text is None else repo.write(path, text)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "theirs")
    repo.git("checkout", "-q", "-")
    repo.git("merge", "-q", "--no-commit", "topic")


MERGES = [
    (
        "one side deletes what the other begins to name",
        {"more/kustomization.yaml": "configMapGenerator:\n- name: d\n  files: [../base/c.txt]\n"},
        {"base/c.txt": None, "over/kustomization.yaml": "resources: [../base]\n"},
        ("M14", "error", "more/kustomization.yaml", 3),
    ),
    (
        "one side renames what the other patches",
        {"over/kustomization.yaml": PATCHED, "over/p.yaml": WEB},
        {"base/web.yaml": WEB.replace("web", "site")},
        ("D69", "error", "over/p.yaml", 4),
    ),
    (
        "one side adds to the base what the other has in the overlay",
        {"over/kustomization.yaml": "resources:\n- ../base\n- api.yaml\n", "over/api.yaml": WEB.replace("web", "api")},
        {"base/web.yaml": WEB + "---\n" + WEB.replace("web", "api")},
        ("M04", "error", "over/kustomization.yaml", 3),
    ),
]  # fmt: skip


@pytest.mark.parametrize("why, ours, theirs, lost", MERGES, ids=[c[0] for c in MERGES])
@pytest.mark.costly
def test_a_clean_merge(
    checked: Checked,
    why: str,
    ours: dict[str, str],
    theirs: dict[str, str | None],
    lost: tuple[str, str, str, int],
) -> None:
    merged(checked.repo, ours, theirs)
    assert checked.found("--staged") == [lost]
    assert checked.found("--merge") == [lost]
    checked.repo.git("commit", "-qm", "merged")
    assert checked.found("--merge-of", "HEAD") == [lost]
    assert checked.found() == [lost]
    for side in ("HEAD^1", "HEAD^2"):
        checked.repo.git("checkout", "-q", side)
        assert checked.found() == []
        checked.repo.git("checkout", "-q", "-")


def test_outside_of_a_repository(
    tmp_path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open("kustomization.yaml", "w", encoding="utf-8") as file:
        file.write("resources: [a.yaml]\n")
    assert main(["check"]) == main(["check", "kustomization.yaml"]) == 0
    assert "warning M14 resources[0]: a.yaml does not exist" in capsys.readouterr().out
