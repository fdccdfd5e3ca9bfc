"""`kmerge replay` where a history is not whole, or has no merges: the cause is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from history import every_kind, write_history
from manifests import deployment
from world import Repo, World

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))
BOTH = deployment(env=("A=1", "OURS=1", "THEIRS=1"))
OPEN = "run `kmerge replay --pulls` for merges in the branches of pull requests\n"
OPEN += "run `kmerge refresh --with REV --branches GLOB --dry-run` to preview open branches"


def replay(repo: Repo, *args: str) -> dict[str, dict[str, int]]:
    report: dict[str, dict[str, int]] = json.loads(repo.kmerge("replay", "--json", *args).out)
    return report


def counted(report: dict[str, dict[str, int]]) -> dict[str, int]:
    return {name: count for name, count in report["counts"].items() if count}


def cloned(repo: Repo, *args: str) -> Repo:
    repo.git("config", "uploadpack.allowFilter", "true")
    world = repo.world
    world.git("clone", "-q", "--bare", *args, f"file://{repo.path}", world.root / "clone")
    return Repo(world, world.root / "clone")


def test_a_shallow_clone_is_named(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(3)])
    shallow = cloned(repo, "--depth", "1")
    out = shallow.kmerge("replay").out
    assert out.startswith(
        "0 merges replayed\n"
        "this shallow clone has only a part of the history; run `git fetch --unshallow`\n"
    )
    shallow.git("fetch", "-q", "--unshallow")
    assert shallow.kmerge("replay").out.startswith("3 merges replayed\n\n")


def test_a_partial_clone_is_left_partial(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(3)])
    partial = cloned(repo, "--filter=blob:none")
    before = partial.git("count-objects", "-v").out
    done = partial.kmerge("replay")
    assert done.out.startswith(
        "0 merges replayed, 3 skipped (objects are missing)\n"
        "objects of the skipped merges are missing in this clone: "
        "run `git fetch --refetch --no-filter` to get all objects\n"
    )
    assert partial.git("count-objects", "-v").out == before


@pytest.mark.world
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    "name, lost",
    [
        ("HEAD~12^2:apps/app-35.yaml", 1),
        ("HEAD~12^2^{tree}", 1),
        ("HEAD~12^2:apps", 1),
        ("HEAD~12^2", 1),  # the walk over the history meets it, too
        ("HEAD~12^1^", 36),  # below it nothing can be reached
    ],
)
def test_one_missing_object_ends_nothing(repo: Repo, name: str, lost: int, jobs: str) -> None:
    repo.git("config", "fastimport.unpackLimit", "100000")
    write_history(repo, [every_kind(number) for number in range(40)])
    oid = repo.head(name)
    Path(repo.path, ".git/objects", oid[:2], oid[2:]).unlink()
    report = replay(repo, "--jobs", jobs)
    assert report["merges"]["replayed"] == 40 - lost
    assert report["merges"]["missing"] == 1
    assert "run `git fetch --refetch` to get it" in " ".join(report["notes"])
    done = repo.kmerge("replay", "--last", "9")
    assert done.out.startswith(f"{8 if lost == 1 else 4} merges replayed, 1 skipped")


def test_a_range_with_a_hole(repo: Repo) -> None:
    repo.git("config", "fastimport.unpackLimit", "100000")
    write_history(repo, [every_kind(number) for number in range(9)])
    oid = repo.head("HEAD~3^2")
    Path(repo.path, ".git/objects", oid[:2], oid[2:]).unlink()
    report = replay(repo, "HEAD~9..HEAD")
    assert report["merges"]["replayed"] + report["merges"]["missing"] == 3


def without_merges(repo: Repo) -> None:
    """A branch with a cherry-pick and a revert that both stopped, as people finished them."""
    repo.commit("base", {"app.yaml": BASE})
    repo.branch("side")
    theirs = repo.commit("theirs", {"app.yaml": THEIRS})
    repo.switch("main")
    repo.commit("ours", {"app.yaml": OURS})
    assert repo.git("cherry-pick", "-x", theirs, check=False).code == 1
    finish(repo, BOTH)
    picked = repo.head()
    repo.commit("more", {"app.yaml": deployment(env=("A=1", "OURS=1", "THEIRS=1", "M=1"))})
    assert repo.git("revert", "--no-edit", picked, check=False).code == 1
    finish(repo, deployment(env=("A=1", "OURS=1", "M=1")))


def finish(repo: Repo, text: str) -> None:
    repo.write("app.yaml", text)
    repo.git("add", "app.yaml")
    repo.git("commit", "-q", "--no-edit")


def test_a_history_without_merges_has_its_picks(repo: Repo) -> None:
    without_merges(repo)
    done = repo.kmerge("replay")
    assert done.out.startswith(
        "1 cherry-pick, 1 revert replayed\n"
        "no merges in HEAD: squashed and rebased pull requests leave no merges\n"
        "cherry-picks and reverts that name the id of the original commit are replayed instead\n"
        f"{OPEN}\n"
    )
    report = replay(repo)
    assert report["picks"] == {"cherry_picks": 1, "reverts": 1, "elsewhere": 0}
    assert counted(report) == {
        "files": 2,
        "git_conflicts": 2,
        "resolved": 2,
        "resolved_same_bytes": 2,
    }
    assert replay(repo, "--last", "1")["picks"]["reverts"] == 1


def test_picks_beside_merges(repo: Repo) -> None:
    without_merges(repo)
    repo.branch("late", "main~1")
    repo.commit("late", {"late.yaml": BASE})
    repo.switch("main")
    repo.git("merge", "-q", "--no-edit", "late")
    repo.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert repo.kmerge("replay").out.startswith("1 merge replayed\n\n")
    report = replay(repo, "--picks")
    assert report["merges"]["replayed"] == 1
    assert report["picks"] == {"cherry_picks": 1, "reverts": 2, "elsewhere": 0}
    assert report["notes"] == []


def test_a_pick_of_a_commit_that_is_not_here(repo: Repo) -> None:
    repo.commit("base", {"app.yaml": BASE})
    repo.commit(f"pick\n\n(cherry picked from commit {'5' * 40})", {"app.yaml": OURS})
    done = repo.kmerge("replay")
    assert done.out.startswith(
        "0 merges replayed, 1 skipped (the picked or reverted commit is missing)\n"
    )


def test_nothing_to_replay_is_said(world: World, repo: Repo) -> None:
    repo.commit("base", {"app.yaml": BASE})
    assert repo.kmerge("replay").out.startswith(
        "0 merges replayed\n"
        "no merges in HEAD: squashed and rebased pull requests leave no merges\n"
        f"{OPEN}\n"
    )


def test_a_range_is_named(repo: Repo) -> None:
    done = repo.kmerge("replay", check=False)
    assert (done.code, done.err) == (2, "kmerge: this repository has no commit yet\n")
    without_merges(repo)
    assert "\nno merges in main~1..main: " in repo.kmerge("replay", "main~1..main").out
    assert "\nno commits in main..main\n\n" in repo.kmerge("replay", "main..main").out
    done = repo.kmerge("replay", "--last", "1", "--picks", "--show", "7", check=False)
    assert "`kmerge replay --last 1 --picks` lists them" in done.err


def test_a_commit_beyond_a_shallow_clone(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(3)])
    done = cloned(repo, "--depth", "1").kmerge("replay", "HEAD~3..HEAD", check=False)
    assert done.err == (
        "kmerge: 'HEAD~3' is not a commit of this repository; this clone is shallow: run `git fetch --unshallow`\n"
    )
