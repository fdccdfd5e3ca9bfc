"""A solved conflict comes back by git's own commands, and `solve` takes it again."""

from __future__ import annotations

import pytest
from manifests import deployment, service, stream
from world import Repo

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))

# for a file that one side deleted; `--theirs` if that was us, `--ours` if it was them
BACK = """
git ls-files --resolve-undo -- app.yaml >conflict
git update-index --force-remove -- app.yaml
git update-index --index-info <conflict
git checkout --theirs -- app.yaml
"""


def sides(deleted_by: str, edited: str) -> tuple[str, str]:
    return ("", edited) if deleted_by == "us" else (edited, "")


def stop(repo: Repo, base: str, ours: str, theirs: str, more: dict[str, str]) -> None:
    """A merge that stops at `app.yaml`; a side without a text deleted the file.

    `more` is what that side has instead.
    """

    def commit(text: str) -> None:
        files: dict[str, str | bytes] = {"app.yaml": text} if text else {**more}
        if not text:
            repo.git("rm", "-q", "app.yaml")
        repo.commit("a side", files)

    repo.commit("base", {"app.yaml": base, "README": "x"})
    repo.branch("side")
    commit(theirs)
    repo.switch("main")
    commit(ours)
    assert repo.merge().code == 1


def test_the_conflict_of_two_texts(repo: Repo) -> None:
    stop(repo, BASE, OURS, THEIRS, {})
    before = repo.git("ls-files", "-u").out
    repo.kmerge("solve")
    repo.git("checkout", "-m", "--", "app.yaml")
    assert repo.git("ls-files", "-u").out == before
    assert "<<<<<<<" in repo.text("app.yaml")


@pytest.mark.parametrize("deleted_by", ["us", "them"])
@pytest.mark.parametrize("favor", ["ours", "theirs"])
def test_the_conflict_of_a_deletion(repo: Repo, deleted_by: str, favor: str) -> None:
    """Whether the file was kept or removed, git's shorter ways fail."""
    stop(repo, BASE, *sides(deleted_by, OURS), {})
    bring_back(repo, deleted_by, OURS, "--favor", favor)


@pytest.mark.parametrize("deleted_by", ["us", "them"])
def test_the_conflict_of_a_file_that_was_taken_apart(repo: Repo, deleted_by: str) -> None:
    base, edited = stream(BASE, service(80)), stream(OURS, service(80))
    long = "".join(f"# {number}: a story\n" for number in range(60))
    parts = {"new.yaml": long + BASE, "service.yaml": long + service(80)}
    stop(repo, base, *sides(deleted_by, edited), parts)
    bring_back(repo, deleted_by, edited)


def bring_back(repo: Repo, deleted_by: str, edited: str, *solve: str) -> None:
    before = repo.git("ls-files", "-u", "app.yaml").out
    assert len(before.splitlines()) == 2
    repo.kmerge("solve", *solve)
    assert repo.unmerged() == []
    solved = repo.git("ls-files", "-s").out
    assert repo.git("checkout", "-m", "--", "app.yaml", check=False).code == 1
    recipe = BACK
    if deleted_by == "them":
        recipe = recipe.replace("--theirs", "--ours")
    repo.world.run("sh", "-ec", recipe, cwd=repo.path)
    (repo.path / "conflict").unlink()
    assert repo.git("ls-files", "-u", "app.yaml").out == before
    assert repo.text("app.yaml") == edited
    repo.kmerge("solve", *solve)
    assert repo.git("ls-files", "-s").out == solved
    repo.git("merge", "--abort")
    assert repo.git("status", "--porcelain").out == ""
