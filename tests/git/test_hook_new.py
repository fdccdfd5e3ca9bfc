"""`kmerge check --new`: what was there before passes with a count, what is new does not."""

from __future__ import annotations

import pytest
from world import Done, Repo

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  a: b\n"
TWICE = CONFIG + "  a: c\n"
MORE = TWICE + "  x: b\n  x: c\n"
ONE = "kmerge: 1 old finding in 1 file is ignored; `kmerge check {}` lists them\n"


@pytest.fixture
def repo(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with an old finding, outside of CI and of pre-commit."""
    for name in ("CI", "TF_BUILD", "JENKINS_URL", "GITHUB_BASE_REF", "PRE_COMMIT_FROM_REF"):
        monkeypatch.delenv(name, raising=False)
        repo.world.env.pop(name, None)
    repo.commit("old", {"a.yaml": TWICE.format("a")})
    return repo


def check(repo: Repo, *words: str, env: dict[str, str] | None = None) -> Done:
    return repo.kmerge("check", *words, check=False, env=env)


def staged(repo: Repo, files: dict[str, str]) -> Done:
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")
    return check(repo, "--staged", "--new", "--quiet")


def test_an_old_finding_passes_though_its_line_moved(repo: Repo) -> None:
    done = staged(repo, {"a.yaml": "# about it\n" + TWICE.format("a")})
    assert (done.code, done.out, done.err) == (0, "", ONE.format("a.yaml"))


def test_a_new_one_beside_it_counts(repo: Repo) -> None:
    done = staged(repo, {"a.yaml": MORE.format("a")})
    assert (done.code, done.out.count("error M02")) == (1, 1)
    assert "data.x" in done.out
    assert done.err == ONE.format("a.yaml")


def test_one_more_of_the_same_counts(repo: Repo) -> None:
    done = staged(repo, {"a.yaml": TWICE.format("a") + "  a: d\n"})
    assert (done.code, done.out.count("error M02")) == (1, 1)


def test_the_words_with_a_line_in_them(repo: Repo) -> None:
    both = CONFIG.format("b") + "---\n" + CONFIG.format("b")
    repo.commit("twice", {"b.yaml": both})
    assert staged(repo, {"b.yaml": "# about it\n" + both}).err == ONE.format("b.yaml")
    thrice = {"b.yaml": both + "---\n" + CONFIG.format("b")}
    assert "kmerge: 1 warning in 1 file" in staged(repo, thrice).err


def test_a_renamed_file(repo: Repo) -> None:
    repo.git("mv", "a.yaml", "ä b.yaml")
    done = check(repo, "--staged", "--new", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", ONE.format("'ä b.yaml'"))


def test_a_new_file_and_a_first_commit(repo: Repo) -> None:
    assert staged(repo, {"b.yaml": TWICE.format("b")}).code == 1
    repo.git("update-ref", "-d", "HEAD")
    assert check(repo, "--staged", "--new", "--quiet").out.count("error M02") == 2


def test_with_nothing_staged_all_findings_count(repo: Repo) -> None:
    assert check(repo, "--new", "--quiet").code == 1
    repo.write("b.txt", "staged\n")
    repo.git("add", "-A")
    assert check(repo, "--new", "--quiet").code == 0


def test_a_revision(repo: Repo) -> None:
    repo.commit("more", {"b.yaml": TWICE.format("b")})
    assert check(repo, "--new=HEAD", "--quiet").code == 0
    done = check(repo, "--new", "HEAD~", "--quiet")
    assert (done.code, "b.yaml" in done.out, "a.yaml" in done.out) == (1, True, False)
    done = check(repo, "--new=nowhere")
    assert (done.code, "'nowhere' is not a commit of this repository" in done.err) == (2, True)
    done = check(repo, "--new", "a.yaml")
    assert (done.code, "write files after `--`" in done.err) == (2, True)
    assert check(repo, "--new", "--", "a.yaml").code == 1


def test_what_pre_commit_compares_with(repo: Repo) -> None:
    env = {"PRE_COMMIT_FROM_REF": repo.head()}
    repo.commit("more", {"b.yaml": TWICE.format("b")})
    done = check(repo, "--new", "--quiet", env=env)
    assert (done.code, "b.yaml" in done.out, "a.yaml" in done.out) == (1, True, False)
    assert check(repo, "--new", "--quiet", env={"PRE_COMMIT_FROM_REF": "0" * 40}).code == 1
    done = check(repo, "--new", "--quiet", env={"PRE_COMMIT_FROM_REF": "1" * 40})
    assert done.out.count("error M02") == 2
    assert "was not fetched, so old findings are reported, too" in done.err


def test_the_target_of_a_request(repo: Repo) -> None:
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repo.commit("more", {"b.yaml": TWICE.format("b")})
    env = {"CI": "true", "GITHUB_BASE_REF": "main"}
    done = check(repo, "--new", "--quiet", env=env)
    assert (done.code, "b.yaml" in done.out, "a.yaml" in done.out) == (1, True, False)
    assert check(repo, "--new", env=env | {"PRE_COMMIT_FROM_REF": "0" * 40}).out == done.out
    done = check(repo, "--new", "--quiet", env=env | {"GITHUB_BASE_REF": "gone"})
    assert done.out.count("error M02") == 2
    assert "origin/gone was not fetched" in done.err


def test_what_the_other_side_of_a_merge_had(repo: Repo) -> None:
    repo.branch("side")
    repo.switch("side")
    repo.commit("theirs", {"b.yaml": TWICE.format("b")})
    repo.switch("main")
    repo.commit("ours", {"c.yaml": CONFIG.format("c")})
    repo.merge("--no-commit", "side")
    assert check(repo, "--staged", "--new", "--quiet").code == 0
    assert staged(repo, {"b.yaml": MORE.format("b")}).out.count("error M02") == 1


def test_a_kustomization_that_named_it_before(repo: Repo) -> None:
    text = "resources:\n- gone.yaml\n"
    repo.commit("dangling", {"k/kustomization.yaml": text})
    assert staged(repo, {"k/kustomization.yaml": "# x\n" + text}).code == 0
    done = staged(repo, {"k/kustomization.yaml": text + "- more.yaml\n"})
    assert (done.code, done.out.count("error M14")) == (1, 1)


def test_a_changed_comment_silences_no_more(repo: Repo) -> None:
    repo.commit("quiet", {"a.yaml": "# kmerge: ignore-file M02\n" + TWICE.format("a")})
    assert staged(repo, {"a.yaml": TWICE.format("a")}).code == 1
