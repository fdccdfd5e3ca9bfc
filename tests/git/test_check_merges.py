"""The hooks in real merges: clean, conflicted, finished by hand; SOPS; a driver that is missing."""

from __future__ import annotations

import pytest
from test_check_staged import install_hook, put_on_path
from world import Repo, World

from kmerge_git.git.repository import Repository
from kmerge_git.whole.resolving import Resolving

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
BASE = CONFIG + "".join(f"  k{n}: v\n" for n in range(12))
ATTRIBUTES = "*.yaml merge=kmerge\n"


@pytest.mark.costly
def test_a_clean_merge_runs_pre_merge_commit(repo: Repo, world: World) -> None:
    """Each side adds the same key in another place: the line merge is clean, and wrong."""
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("  k0", "  new: ours\n  k0")},
        {"a.yaml": BASE + "  new: theirs\n"},
    )
    install_hook(repo, world, "pre-merge-commit")
    done = repo.merge()
    assert done.code != 0
    assert "a.yaml:19:3: error M02 data.new: duplicate key new" in done.said
    assert repo.git("rev-list", "--merges", "HEAD").out == ""


def test_a_good_merge_passes(repo: Repo, world: World) -> None:
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k0: v", "k0: ours")},
        {"a.yaml": BASE.replace("k11: v", "k11: theirs")},
    )
    install_hook(repo, world, "pre-merge-commit")
    install_hook(repo, world, "pre-commit")
    assert repo.merge().code == 0
    assert len(repo.git("rev-list", "--merges", "HEAD").lines) == 1


def test_markers_that_were_left_in_are_stopped(repo: Repo, world: World) -> None:
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k5: v", "k5: ours")},
        {"a.yaml": BASE.replace("k5: v", "k5: theirs")},
    )
    install_hook(repo, world, "pre-commit")
    assert repo.merge().code == 1
    repo.git("add", "a.yaml")
    done = repo.git("commit", "-m", "merged", check=False)
    assert done.code == 1
    assert "a.yaml:11:1: error M01 leftover conflict marker <<<<<<<" in done.said
    assert "remove the markers" in done.said


def fork_with_driver(repo: Repo, world: World, attribute: str = "") -> None:
    repo.write(".gitattributes", ATTRIBUTES.replace("\n", f"{attribute}\n"))
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k5: v", "k5: ours").replace("k0: v", "k0: ours")},
        {"a.yaml": BASE.replace("k5: v", "k5: theirs").replace("k11: v", "k11: theirs")},
    )
    install_hook(repo, world, "pre-commit")
    assert repo.merge().code == 1


@pytest.mark.costly
def test_one_side_was_dropped_in_a_conflict(repo: Repo, world: World) -> None:
    """Somebody chose between two values; the other change was in no conflict."""
    fork_with_driver(repo, world)
    for side, lost in (("--ours", "theirs"), ("--theirs", "ours")):
        repo.git("checkout", side, "a.yaml")
        repo.git("add", "a.yaml")
        for words in (["--staged"], ["a.yaml"]):
            checked = repo.kmerge("check", *words, check=False)
            assert "a.yaml:1:1: error M11 both sides changed this file" in checked.out
            field = "k11" if lost == "theirs" else "k0"
            assert f"no change of {lost}; lost: ConfigMap/a data.{field}\n" in checked.out
        if side == "--ours":
            repo.git("checkout", "-m", "a.yaml")
    assert repo.git("commit", "-m", "merged", check=False).code == 1
    assert repo.git("commit", "-m", "merged", env={"KMERGE_CHECK_IGNORE": "M11"}).code == 0


@pytest.mark.costly
def test_one_side_was_dropped_by_a_slip(repo: Repo, world: World) -> None:
    """It was in no conflict: nobody was asked, so nobody has chosen."""
    repo.write(".gitattributes", ATTRIBUTES)
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k0: v", "k0: ours")},
        {"a.yaml": BASE.replace("k11: v", "k11: theirs")},
    )
    install_hook(repo, world, "pre-commit")
    for commit, lost in (("HEAD", "theirs"), ("MERGE_HEAD", "ours")):
        assert repo.merge("--no-commit").code == 0
        repo.git("checkout", commit, "--", "a.yaml")
        done = repo.git("commit", "-m", "merged", check=False)
        assert done.code == 1
        assert "a.yaml:1:1: error M11 both sides changed this file" in done.said
        field = "k11" if lost == "theirs" else "k0"
        assert f"no change of {lost}; lost: ConfigMap/a data.{field}\n" in done.said
        assert "--no-verify" not in done.said
        checked = repo.kmerge("check", "a.yaml", check=False)  # as pre-commit calls it
        assert (checked.code, "error M11" in checked.out) == (1, True)
        repo.git("merge", "--abort")


SAME_PLACE = {side: {"a.yaml": BASE.replace("k5: v", f"k5: {side}")} for side in ("ours", "theirs")}


@pytest.mark.costly
def test_a_side_that_loses_nothing_else_is_no_finding(repo: Repo, world: World) -> None:
    repo.write(".gitattributes", ATTRIBUTES)
    repo.fork({"a.yaml": BASE}, *SAME_PLACE.values())
    install_hook(repo, world, "pre-commit")
    assert repo.merge().code == 1
    for side in ("--ours", "--theirs"):
        repo.git("checkout", side, "a.yaml")
        repo.git("add", "a.yaml")
        assert "M11" not in repo.kmerge("check", "--staged").out
    assert repo.git("commit", "-m", "merged").code == 0


@pytest.mark.parametrize("side", ["ours", "theirs", "base"])
def test_answers_to_questions_are_committed(
    repo: Repo, world: World, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    repo.write(".gitattributes", ATTRIBUTES)
    repo.fork({"a.yaml": BASE}, *SAME_PLACE.values())
    install_hook(repo, world, "pre-commit")
    assert repo.merge().code == 1
    monkeypatch.chdir(repo.path)
    resolving = Resolving.start(Repository.open())
    for question in resolving.questions:
        resolving.give(question, resolving.answer_of(question, side))
    assert resolving.put() == ("a.yaml",)
    done = repo.git("commit", "-m", "merged")
    assert (done.code, "M11" in done.said) == (0, False)


@pytest.mark.world
@pytest.mark.parametrize("command", ["git", "kmerge"])
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_merge_that_favours_a_side_is_committed(
    repo: Repo, world: World, command: str, side: str
) -> None:
    """All that both changed is in one place: what comes out is exactly that side."""
    repo.write(".gitattributes", ATTRIBUTES)
    repo.fork({"a.yaml": BASE}, *SAME_PLACE.values())
    for name in ("pre-commit", "pre-merge-commit"):
        install_hook(repo, world, name)
    run = repo.git if command == "git" else repo.kmerge
    done = run("merge", "-X", side, "side")
    assert (done.code, "M11" in done.said) == (0, False)
    assert repo.text("a.yaml") == SAME_PLACE[side]["a.yaml"]
    assert len(repo.git("rev-list", "--merges", "HEAD").lines) == 1


@pytest.mark.world
@pytest.mark.parametrize("way", ["favor ours", "favor theirs", "policy", "rerere"])
def test_what_was_decided_is_committed(repo: Repo, world: World, way: str) -> None:
    policy = " kmerge-policy=theirs" if way == "policy" else ""
    if way == "rerere":
        repo.git("config", "rerere.enabled", "true")
        repo.git("config", "rerere.autoUpdate", "true")
    fork_with_driver(repo, world, policy)
    if way == "rerere":
        repo.git("checkout", "--ours", "a.yaml")
        repo.git("add", "a.yaml")
        repo.git("rerere")
        repo.git("merge", "--abort")
        assert "using previous resolution" in repo.merge().said
    else:
        repo.kmerge("solve", *(["--favor", way.split()[1]] if policy == "" else []))
    done = repo.git("commit", "-m", "merged", check=False)
    is_learned = way == "rerere"  # to drop what merges clean
    assert (done.code, "error M11" in done.said) == (is_learned, is_learned)


def test_in_a_linked_working_tree(repo: Repo, world: World) -> None:
    repo.write(".gitattributes", ATTRIBUTES)
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k0: v", "k0: ours")},
        {"a.yaml": BASE.replace("k11: v", "k11: theirs")},
    )
    linked = world.root / "linked"
    repo.git("worktree", "add", "-q", linked, "-b", "other", "main")
    there = Repo(world, linked)
    assert there.merge("--no-commit").code == 0
    there.git("checkout", "HEAD", "--", "a.yaml")
    done = there.kmerge("check", "a.yaml", check=False)
    assert (done.code, "M11" in done.out) == (1, True)
    assert repo.kmerge("check", "a.yaml").code == 0


def test_a_dropped_side_is_found_whoever_merges(repo: Repo, world: World) -> None:
    fork_with_driver(repo, world)
    repo.write(".gitattributes", "")
    repo.git("add", ".gitattributes")
    repo.git("checkout", "--ours", "a.yaml")
    repo.git("add", "a.yaml")
    done = repo.git("commit", "-m", "merged", check=False)
    assert (done.code, "error M11" in done.said) == (1, True)


SOPS = "a: ENC[x]\nplain:\n  b: 1\nsops:\n  mac: ENC[1]\n"


def test_sops(repo: Repo, world: World) -> None:
    repo.commit("start", {"s.yaml": SOPS})
    repo.write("s.yaml", SOPS.replace("b: 1", "b: 2"))
    done = repo.kmerge("check", "s.yaml", check=False)
    assert done.code == 1
    assert "s.yaml:3:3: error M12 this field changed, but sops.mac did not" in done.out
    repo.git("add", "-A")
    assert "M12" in repo.kmerge("check", "--staged", check=False).out
    repo.write("s.yaml", SOPS.replace("b: 1", "b: 2").replace("ENC[1]", "ENC[2]"))
    assert repo.kmerge("check", "s.yaml").code == 0


def test_a_driver_that_git_does_not_know(repo: Repo, world: World) -> None:
    assert repo.kmerge("check", "--installed").code == 0  # nobody asks for it
    repo.write("apps/.gitattributes", "# merge=kmerge\n*.yaml text merge=kmerge\n")
    repo.git("add", "-A")
    done = repo.kmerge("check", "--installed", check=False)
    assert done.code == 1
    assert "apps/.gitattributes uses the merge driver kmerge" in done.err
    assert "run `kmerge install`" in done.err
    in_ci = repo.kmerge("check", "--installed", env={"CI": "true"})
    assert (in_ci.code, in_ci.out) == (0, "")
    assert in_ci.err == "kmerge: the kmerge driver is not registered, but CI does not need it\n"
    assert repo.kmerge("check", "--installed", check=False, env={"CI": "false"}).code == 1
    repo.git("config", "merge.kmerge.driver", "true")
    assert repo.kmerge("check", "--installed").said == ""
    assert world.kmerge("check", "--installed", check=False).code == 2


def test_a_file_that_the_merge_has_deleted(repo: Repo) -> None:
    repo.commit("start", {"a.yaml": BASE})
    (repo.path / "a.yaml").unlink()
    assert repo.kmerge("check", "a.yaml").code == 0
    done = repo.kmerge("check", "b.yaml", check=False)
    assert (done.code, done.err) == (2, "kmerge: b.yaml: no such file or folder; check its name\n")


def test_a_script_makes_a_file_a_patch(repo: Repo, world: World) -> None:
    put_on_path(world)
    repo.write("deploy/run.sh", 'kubectl patch deploy web --patch-file "deploy/web.yaml"\n')
    repo.write("deploy/web.yaml", "apiVersion: v1\nkind: Service\nspec:\n  ports:\n  - name: a\n")
    repo.git("add", "-A")
    done = repo.kmerge("check", "deploy/web.yaml", check=False)
    assert "deploy/web.yaml:5:5: error D15" in done.out
    assert "rule 7: a script passes it to kubectl patch: deploy/run.sh" in done.out
    repo.write("deploy/run.sh", "kubectl patch web --type=merge --patch-file deploy/web.yaml\n")
    assert "rule 7" not in repo.kmerge("check", "deploy/web.yaml", check=False).out


@pytest.mark.costly
def test_a_whole_side_taken_by_a_strategy_is_no_slip(repo: Repo, world: World) -> None:
    """`git merge -s ours` runs the hook: it says what is lost, and lets it be."""
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k0: v", "k0: ours")},
        {"a.yaml": BASE.replace("k11: v", "k11: theirs")},
    )
    install_hook(repo, world, "pre-merge-commit")
    done = repo.git("merge", "-s", "ours", "-m", "merged", "side", check=False)
    assert done.code == 0
    assert "warning M11" in repo.kmerge("check", "--merge").out


def test_a_driver_of_the_own_that_keeps_ours_is_no_slip(repo: Repo, world: World) -> None:
    repo.write(".gitattributes", "*.yaml merge=keep\n")
    repo.git("config", "merge.keep.driver", "true")
    repo.fork(
        {"a.yaml": BASE},
        {"a.yaml": BASE.replace("k0: v", "k0: ours")},
        {"a.yaml": BASE.replace("k11: v", "k11: theirs")},
    )
    install_hook(repo, world, "pre-merge-commit")
    assert repo.merge().code == 0
    assert repo.kmerge("check", "--merge").out.endswith("nothing found\n")
