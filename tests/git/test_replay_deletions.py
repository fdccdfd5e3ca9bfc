"""`kmerge replay` counts what policy `deletion` would have done, and proposes it by folder."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_deletion_policy import app
from world import Repo

DELETED = "deleted on one side and changed on the other"


def past(repo: Repo, merges: int, *, mine: str = "main") -> None:
    """Merges of files that `mine` deleted: people kept that below `apps/old`, not in `apps/new`."""
    names = [f"{folder}{n}" for n in range(merges) for folder in ("old", "new")]
    repo.commit("base", {f"apps/{name[:3]}/{name}.yaml": app(name) for name in names})
    for number in range(merges):
        edited = [f"{folder}{number}" for folder in ("old", "new")]
        paths = [f"apps/{name[:3]}/{name}.yaml" for name in edited]
        files = {path: app(name, 2) for path, name in zip(paths, edited, strict=True)}
        repo.branch(f"topic{number}")
        if mine == "main":
            repo.commit("edit", files)
        else:
            repo.git("rm", "-q", *paths)
            repo.commit("delete")
        repo.switch("main")
        if mine == "main":
            repo.git("rm", "-q", *paths)
            repo.commit("delete")
        else:
            repo.commit("edit", files)
        repo.git("merge", f"topic{number}", check=False)
        repo.git("rm", "-q", "--cached", paths[0])
        (repo.path / paths[0]).unlink()
        repo.write(paths[1], files[paths[1]])
        repo.git("add", "-A")
        author = {"GIT_AUTHOR_EMAIL": f"{number % 2}@example.org"}
        repo.git("commit", "-q", "-m", "merge", env=author)


def report(repo: Repo, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(repo.kmerge("replay", "--json", *words).out)
    return found


@pytest.mark.costly
def test_it_is_proposed_for_a_folder_where_people_kept_deletions(repo: Repo) -> None:
    past(repo, 5)
    found = report(repo)
    counts = {name: found["counts"][name] for name in ("deleted", "away", "away_as_people")}
    assert counts == {"deleted": 10, "away": 10, "away_as_people": 5}
    (proposal,) = found["proposals"]
    said = {name: proposal[name] for name in ("files", "field", "policy", "standing", "as_people")}
    assert said == {
        "files": "apps/old/**",
        "field": "",
        "policy": "deletion",
        "standing": "safe here",
        "as_people": 5,
    }
    assert proposal["config"] == "git config --add kmerge.policy 'apps/old/** deletion'"
    assert proposal["gitattributes"] == "apps/old/** kmerge-policy=deletion"
    shown = repo.kmerge("replay").out
    assert "safe here: deletion in apps/old/**: resolves 5 conflicts in 5 of 10 files" in shown
    assert DELETED in shown and "of these, kept deleted by the policy `deletion`" in shown


@pytest.mark.costly
def test_one_policy_is_tried(repo: Repo) -> None:
    past(repo, 5)
    trial = report(repo, "--policy", "apps/** deletion")
    assert (trial["settled"], trial["as_people"], trial["otherwise"]) == (10, 5, 5)
    assert (trial["standing"], trial["files_freed"]) == ("", 10)
    shown = repo.kmerge("replay", "--policy", "apps/** deletion").out
    assert "apps/new/new4.yaml: (gone), committed: the changed file" in shown
    done = repo.kmerge("replay", "--policy", "apps/** x deletion", check=False)
    assert (done.code, "unknown policy deletion" in done.err) == (2, True)


@pytest.mark.costly
def test_deletions_of_the_other_side_are_nothing_for_it(repo: Repo) -> None:
    past(repo, 5, mine="topic")
    found = report(repo)
    assert (found["counts"]["deleted"], found["counts"]["away"]) == (10, 0)
    assert found["proposals"] == []


@pytest.mark.costly
def test_few_merges_support_nothing(repo: Repo) -> None:
    past(repo, 4)
    assert report(repo)["proposals"] == []
