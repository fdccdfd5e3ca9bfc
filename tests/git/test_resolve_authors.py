"""Who changed the lines of a conflict last, on each side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from manifests import deployment, stream
from world import Repo

from kmerge_git.cli.asking import Authors
from kmerge_git.git.repository import Repository
from kmerge_git.outcome import Conflict
from kmerge_git.whole.operation import UNKNOWN, current_operation

BASE, OURS, THEIRS = (deployment(image=f"app:{n}") for n in (1, 2, 3))


class Asked:
    """As much of a question as is looked at."""

    path = "app.yaml"

    def __init__(self, ours: str, theirs: str) -> None:
        self.conflict = Conflict("Deployment/web", "image", "both", "", ours, theirs)


IMAGES = Asked("        image: app:2\n", "        image: app:3\n")


def authors(repo: Repo) -> dict[str, str]:
    found = Repository.open(str(repo.path))
    told = Authors(found, current_operation(found)).of(IMAGES)  # type: ignore[arg-type]
    return {side: text.partition(" ")[2] for side, text in told.items()}


def test_of_a_merge(repo: Repo) -> None:
    repo.fork({"app.yaml": BASE}, {"app.yaml": OURS}, {"app.yaml": THEIRS})
    repo.commit("more", {"app.yaml": OURS.replace("replicas: 1", "replicas: 2")})
    repo.merge()
    assert authors(repo) == {"ours": "Ada: ours", "theirs": "Ada: theirs"}


@pytest.mark.parametrize("how", ["rebase", "cherry-pick", "revert", "stash"])
def test_of_other_operations(repo: Repo, how: str) -> None:
    repo.fork({"app.yaml": BASE}, {"app.yaml": OURS}, {"app.yaml": THEIRS})
    theirs = "Ada: theirs"
    if how == "rebase":
        repo.git("rebase", "main", "side", check=False)
    elif how == "cherry-pick":
        repo.git("cherry-pick", "side", check=False)
    elif how == "revert":
        repo.commit("before", {"app.yaml": THEIRS})
        repo.commit("bad", {"app.yaml": BASE})
        repo.commit("newer", {"app.yaml": OURS})
        repo.git("revert", "--no-edit", "HEAD^", check=False)
        assert authors(repo) == {"ours": "Ada: newer", "theirs": "Ada: before"}
        return
    else:
        repo.git("reset", "-q", "--hard", "HEAD^")
        repo.write("app.yaml", THEIRS)
        repo.git("stash")
        repo.commit("ours", {"app.yaml": OURS})
        repo.git("stash", "apply", check=False)
        theirs = "Ada: WIP on main"
    told = authors(repo)
    assert told["ours"] == "Ada: ours"
    assert told["theirs"].startswith(theirs)


def test_the_same_lines_in_several_places(repo: Repo) -> None:
    twice = stream(OURS, OURS)
    repo.fork({"app.yaml": BASE}, {"app.yaml": twice}, {"app.yaml": THEIRS})
    repo.merge()
    assert authors(repo)["ours"] == "Ada: ours"
    repo.git("merge", "--abort")
    repo.commit("third", {"app.yaml": stream(OURS, OURS, OURS)})
    repo.merge()
    assert authors(repo) == {"theirs": "Ada: theirs"}  # which of the places is not known


def test_nothing_is_known(repo: Repo) -> None:
    repo.commit("ours", {"app.yaml": OURS})
    found = Repository.open(str(repo.path))
    assert Authors(found, UNKNOWN).of(IMAGES) == {}  # type: ignore[arg-type]
    operation = replace(UNKNOWN, ours=found.commit("HEAD").tree)
    assert Authors(found, operation).of(Asked("no such line\n", "")) == {}  # type: ignore[arg-type]
