"""A resource that moved to another file comes out the same, whatever command makes the merge."""

from __future__ import annotations

import pytest
from manifests import deployment, service, stream
from test_solve import is_sound
from world import Repo

Files = dict[str, str | bytes]
DOORS = ("merge", "preview", "solve")
SIDES = ("ours", "theirs")


def through(door: str, repo: Repo) -> list[str]:
    """Make the merge by one command, and return the files that are left in conflict.

    A preview writes a tree, which is checked out here so that the files can be read as elsewhere.
    """
    if door == "preview":
        done = repo.kmerge("preview", "side", "--write-tree", check=False)
        repo.git("checkout", "-q", done.lines[0], "--", ".")
        return sorted(line.split()[1] for line in done.lines[1:] if line.startswith("CONFLICT"))
    if door == "merge":
        repo.kmerge("merge", "side", "--no-commit", check=False)
    else:
        assert repo.merge("--no-commit").code == 1
        repo.kmerge("solve", check=False)
    return repo.unmerged()


def fork(repo: Repo, mover: str, base: Files, moved: Files, edited: Files) -> None:
    """Make the two branches; `mover` names the side that has the files `moved`."""
    repo.fork(base, *((moved, edited) if mover == "ours" else (edited, moved)))


KEPT = stream(deployment(), deployment(name="kept"))
OLD = {"all.yaml": stream(KEPT, service(80))}


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_into_a_file_that_both_sides_changed(repo: Repo, door: str, mover: str) -> None:
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(80))}
    edited = {
        "all.yaml": stream(KEPT, service(8443)),
        "new.yaml": deployment(image="app:2", name="n"),
    }
    fork(repo, mover, {**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == []
    assert repo.text("all.yaml") == KEPT
    assert repo.text("new.yaml") == stream(deployment(2, "app:2", name="n"), service(8443))


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_into_a_file_with_a_conflict_of_its_own(repo: Repo, door: str, mover: str) -> None:
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(80))}
    edited = {"all.yaml": stream(KEPT, service(8443)), "new.yaml": deployment(3, name="n")}
    fork(repo, mover, {**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == ["all.yaml", "new.yaml"]
    assert "port: 8443" in repo.text("all.yaml")


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_both_edited_the_resource_in_the_same_field(repo: Repo, door: str, mover: str) -> None:
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(81))}
    edited = {
        "all.yaml": stream(KEPT, service(8443)),
        "new.yaml": deployment(image="app:2", name="n"),
    }
    fork(repo, mover, {**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == ["new.yaml"]
    assert repo.text("all.yaml") == KEPT
    text = repo.text("new.yaml")
    assert all(part in text for part in ("port: 81\n", "port: 8443\n", "app:2", "replicas: 2"))


@pytest.mark.parametrize("door", DOORS)
def test_two_resources_change_their_files(repo: Repo, door: str) -> None:
    """Ours moves one resource from a to b, theirs another one from b to a; each edits the other."""
    a, b = deployment(name="a"), deployment(name="b")
    base = {"a.yaml": stream(a, service(1, "one")), "b.yaml": stream(b, service(2, "two"))}
    ours = {"a.yaml": a, "b.yaml": stream(b, service(22, "two"), service(1, "one"))}
    theirs = {"a.yaml": stream(a, service(11, "one"), service(2, "two")), "b.yaml": b}
    repo.fork(base, ours, theirs)
    assert through(door, repo) == []
    assert repo.text("a.yaml") == stream(a, service(22, "two"))
    assert repo.text("b.yaml") == stream(b, service(11, "one"))


@pytest.mark.parametrize("door", ["merge", "solve"])
def test_a_solved_file_brings_its_conflict_and_the_edit_back(repo: Repo, door: str) -> None:
    """After `git checkout -m` of the new file alone, the edit is still there."""
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(80))}
    edited = {"all.yaml": stream(KEPT, service(8443)), "new.yaml": deployment(3, name="n")}
    edited["new.yaml"] = deployment(image="app:2", name="n")
    repo.fork({**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == []
    before = repo.text("new.yaml")
    repo.git("checkout", "-m", "--", "new.yaml")
    assert repo.unmerged() == ["new.yaml"]
    repo.kmerge("solve")
    assert repo.text("new.yaml") == before
    repo.git("merge", "--abort")
    assert repo.text("new.yaml") == moved["new.yaml"]
    assert is_sound(repo)
