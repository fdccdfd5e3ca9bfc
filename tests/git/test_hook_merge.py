"""`kmerge check --committed`: merges, rebases, deletions and pushes, whatever files they touch."""

from __future__ import annotations

import sys

import pytest
from test_check_staged import put_on_path
from test_check_ways import BASE, BOTH, OURS, THEIRS
from world import Done, Repo

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  a: b\n"
NAMES = "resources:\n- a.yaml\n- b.yaml\n"
# values far apart: git merges the first and the last one clean, the middle one is in conflict
LINES = CONFIG.format("a") + "".join(f"  k{n}: v\n" for n in range(20))
LEFT = LINES.replace("k10: v", "k10: ours").replace("k0: v", "k0: ours")
RIGHT = LINES.replace("k10: v", "k10: theirs").replace("k19: v", "k19: theirs")


@pytest.fixture
def hooked(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository whose commits and clean merges run the hook."""
    for name in ("CI", "TF_BUILD", "JENKINS_URL", "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"):
        monkeypatch.delenv(name, raising=False)
        repo.world.env.pop(name, None)
    put_on_path(repo.world)
    for name in ("pre-commit", "pre-merge-commit"):
        hook = repo.write(f".git/hooks/{name}", "#!/bin/sh\nexec kmerge check --committed\n")
        hook.chmod(0o755)
    return repo


def commit(repo: Repo, *words: str, env: dict[str, str] | None = None) -> Done:
    return repo.git("commit", "-m", "it", *words, check=False, env=env)


# -- merges ----------------------------------------------------------------------------------------


def test_a_side_taken_whole_does_not_pass(hooked: Repo) -> None:
    hooked.fork({"a.yaml": LINES}, {"a.yaml": LEFT}, {"a.yaml": RIGHT})
    hooked.merge()
    hooked.git("checkout", "--ours", "a.yaml")
    hooked.git("add", "a.yaml")
    hooked.write("a.yaml", LEFT.replace("k19: v", "k19: theirs"))  # the index counts
    done = commit(hooked)
    assert (done.code, "error M11" in done.said) == (1, True), done.said
    assert commit(hooked, env={"KMERGE_CHECK_IGNORE": "M11"}).code == 0


def test_a_place_that_was_in_conflict_passes_and_is_shown(hooked: Repo) -> None:
    hooked.fork({"web.yaml": BASE}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    hooked.merge()
    hooked.write("web.yaml", BOTH.replace("web:3", "web:1"))
    hooked.git("add", "web.yaml")
    done = commit(hooked)
    assert (done.code, "warning M28" in done.said) == (0, True), done.said


def test_a_sound_merge_says_nothing(hooked: Repo) -> None:
    hooked.fork({"web.yaml": BASE}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    hooked.merge()
    hooked.write("web.yaml", BOTH)
    hooked.git("add", "web.yaml")
    done = commit(hooked, "-q")
    assert (done.code, done.said) == (0, "")


def test_a_clean_merge_by_git(hooked: Repo) -> None:
    hooked.fork({"a.yaml": LINES}, {"a.yaml": LEFT}, {"a.yaml": RIGHT})
    done = hooked.git("merge", "-X", "ours", "-m", "favoured", "side", check=False)
    assert (done.code, "error M28" in done.said) == (0, False), done.said
    hooked.git("reset", "-q", "--hard", "HEAD~")
    done = hooked.git("merge", "-s", "ours", "-m", "dropped", "side", check=False)
    assert "M11" in done.said


def test_a_merge_with_a_file_that_the_other_side_names(hooked: Repo) -> None:
    files = {
        "kustomization.yaml": NAMES,
        "a.yaml": CONFIG.format("a"),
        "b.yaml": CONFIG.format("b"),
    }
    hooked.fork(
        files,
        {"kustomization.yaml": NAMES + "- c.yaml\n", "c.yaml": CONFIG.format("c")},
        {"x": "1"},
    )
    hooked.switch("side")
    hooked.git("rm", "-q", "b.yaml")
    hooked.write("kustomization.yaml", NAMES.replace("- b.yaml\n", ""))
    hooked.git("add", "-A")
    assert commit(hooked).code == 0
    hooked.switch("main")
    hooked.merge("--no-commit", "side")
    hooked.write("kustomization.yaml", NAMES + "- c.yaml\n")
    hooked.git("add", "-A")
    done = commit(hooked)
    assert (done.code, "error M14" in done.said) == (1, True), done.said


# -- what applies a commit -------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["cherry-pick", "revert", "rebase", "squash"])
def test_a_side_taken_whole_in_another_operation(hooked: Repo, way: str) -> None:
    hooked.fork({"a.yaml": LINES}, {"a.yaml": LEFT}, {"a.yaml": RIGHT})
    if way == "revert":
        hooked.switch("side")
        hooked.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "empty")
        hooked.commit("later", {"a.yaml": RIGHT.replace("k10: theirs", "k10: later")})
    words = {
        "cherry-pick": ["cherry-pick", "side"],
        "revert": ["revert", "--no-edit", "HEAD~2"],
        "rebase": ["rebase", "side"],
        "squash": ["merge", "--squash", "side"],
    }
    assert hooked.git(*words[way], check=False).code != 0
    hooked.git("checkout", "--ours", "a.yaml")
    hooked.git("add", "a.yaml")
    done = commit(hooked, "--allow-empty")
    assert (done.code, "error M11" in done.said) == (1, True), done.said
    assert "nothing to compare" not in done.said


def test_a_cherry_pick_of_a_deleted_file(hooked: Repo) -> None:
    """No file is staged, and yet something is lost."""
    hooked.commit("base", {"a.yaml": LINES, "x": "1"})
    hooked.branch("side")
    hooked.switch("side")
    hooked.commit("theirs", {"a.yaml": RIGHT})
    hooked.switch("main")
    hooked.git("rm", "-q", "a.yaml")
    assert commit(hooked).code == 0
    assert hooked.git("cherry-pick", "side", check=False).code != 0
    hooked.git("rm", "-q", "a.yaml")
    done = commit(hooked, "--allow-empty")
    assert "M11 ours deleted this file, theirs changed it, and the merge deleted it" in done.said


def test_an_operation_without_a_conflict(hooked: Repo) -> None:
    hooked.fork({"a.yaml": LINES}, {"x": "1"}, {"a.yaml": RIGHT})
    assert hooked.git("cherry-pick", "side", check=False).code == 0
    hooked.git("merge", "--squash", "side", check=False)
    hooked.write("y", "1")
    hooked.git("add", "y")
    done = commit(hooked, "-q")
    assert (done.code, done.said) == (0, "")


# -- deletions -------------------------------------------------------------------------------------


@pytest.fixture
def named(hooked: Repo) -> Repo:
    """Two files that a kustomization names, and another one that names what is not there."""
    files = {"k/kustomization.yaml": NAMES, "old/kustomization.yaml": "resources:\n- gone.yaml\n"}
    files |= {"k/a.yaml": CONFIG.format("a"), "k/b.yaml": CONFIG.format("b")}
    hooked.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "start")
    for name, text in files.items():
        hooked.write(name, text)
    hooked.git("add", "-A")
    hooked.git("commit", "-q", "--no-verify", "-m", "files")
    return hooked


def test_git_rm_alone(named: Repo) -> None:
    named.git("rm", "-q", "k/a.yaml")
    done = commit(named)
    assert (done.code, done.said.count(": error ")) == (1, 1), done.said
    assert "k/kustomization.yaml:2:3: error M14" in done.said
    assert "it was deleted" in done.said
    named.write("k/kustomization.yaml", "resources:\n- b.yaml\n")
    assert commit(named).code == 1  # what is staged counts
    named.git("add", "-A")
    done = commit(named, "-q")
    assert (done.code, done.said) == (0, "")


def test_what_was_dangling_before_passes(named: Repo) -> None:
    named.git("rm", "-q", "k/a.yaml")
    named.git("commit", "-q", "--no-verify", "-m", "dangling")
    named.git("rm", "-q", "k/b.yaml")
    done = commit(named)
    assert (done.code, done.said.count(": error ")) == (1, 1), done.said
    assert "b.yaml does not exist" in done.said
    assert "kmerge: 1 old finding in 1 file is ignored" in done.said


def test_git_mv_alone(named: Repo) -> None:
    named.git("mv", "k/a.yaml", "k/c d.yaml")
    done = commit(named)
    assert (done.code, "it was renamed to c d.yaml" in done.said) == (1, True), done.said


def test_from_a_folder_below_and_commit_a(named: Repo) -> None:
    (named.path / "k" / "a.yaml").unlink()
    done = named.world.git("commit", "-am", "x", cwd=named.path / "k", check=False)
    assert (done.code, "k/kustomization.yaml:2:3: error M14" in done.said) == (1, True), done.said


def test_a_patch_whose_resource_is_deleted(named: Repo) -> None:
    patch = "resources:\n- ../k\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n"
    patch += "    metadata:\n      name: a\n    data:\n      a: c\n"
    named.write("over/kustomization.yaml", patch)
    named.git("add", "-A")
    assert commit(named).code == 0
    named.git("rm", "-q", "k/a.yaml")
    named.write("k/kustomization.yaml", "resources:\n- b.yaml\n")
    named.git("add", "-A")
    done = commit(named)
    assert (done.code, "over/kustomization.yaml" in done.said) == (1, True), done.said
    assert "error D69" in done.said


def test_a_deletion_that_nothing_names(named: Repo) -> None:
    for name in ("ä\n.yaml", "-x.yaml", "n.txt"):
        named.write(name, CONFIG.format("x"))
    named.git("add", "-A")
    assert commit(named).code == 0
    named.git("rm", "-q", "--", "ä\n.yaml", "-x.yaml", "n.txt")
    done = commit(named, "-q")
    assert (done.code, done.said) == (0, "")


def test_no_commit_and_no_repository(hooked: Repo) -> None:
    hooked.write("a.yaml", LINES)
    hooked.git("add", "-A")
    done = commit(hooked, "-q")
    assert (done.code, done.said) == (0, "")
    done = hooked.world.kmerge("check", "--committed", cwd=hooked.world.root, check=False)
    assert (done.code, "Traceback" in done.err) == (2, False)
    done = hooked.kmerge("check", "--committed", "a.yaml", check=False)
    assert (done.code, "omit files" in done.err) == (2, True)


def test_it_loads_no_check_without_need(hooked: Repo) -> None:
    hooked.commit("a", {"a.yaml": LINES})
    hooked.write("a.yaml", LEFT)
    hooked.git("add", "-A")
    program = (
        "import sys; from kmerge_git.cli.main import main; code = main(['check', '--committed']);"
        "print(code, [n for n in sys.modules if n.startswith(('yaml', 'kmerge_git.tree'))])"
    )
    done = hooked.world.run(sys.executable, "-c", program, cwd=hooked.path)
    assert done.out == "0 []\n"
