"""`git mergetool --tool=kmerge` on a terminal: it asks, field by field; git stages what is decided."""

from __future__ import annotations

import pytest
from manifests import deployment
from terminal import Terminal
from world import Repo

FILES = [
    {
        "a.yaml": deployment(n, image=f"app:{n}"),
        "b.yaml": deployment(n),
        "c.yaml": deployment(env=e),
    }
    for n, e in ((1, ("A=1",)), (2, ("A=1", "B=1")), (3, ("A=1", "C=1")))
]


@pytest.fixture
def stopped(repo: Repo) -> Repo:
    """A merge without the driver: two conflicts in a.yaml, one in b.yaml, none in c.yaml."""
    repo.kmerge("install", "--mergetool")
    (repo.path / ".git" / "info" / "attributes").unlink()
    repo.fork(FILES[0], FILES[1], FILES[2])
    assert repo.merge().code == 1
    return repo


def tool(repo: Repo, *paths: str) -> Terminal:
    argv = ("git", "mergetool", "--tool=kmerge", "--no-prompt", *paths)
    return Terminal(argv, cwd=repo.path, env=repo.world.env)


def test_every_file_is_asked_about(stopped: Repo) -> None:
    with tool(stopped) as terminal:
        for key, field in (("t", "spec.replicas"), ("o", "image"), ("0", "spec.replicas")):
            terminal.wait(field)
            terminal.wait("Which?")
            terminal.press(key)
        assert terminal.end() == 0
    assert stopped.unmerged() == []
    assert stopped.text("a.yaml") == deployment(replicas=3, image="app:2")
    assert stopped.text("b.yaml") == deployment(replicas=1)
    assert stopped.text("c.yaml") == deployment(env=("A=1", "B=1", "C=1"))
    assert stopped.git("diff", "--name-only").out == ""


def test_what_is_not_decided_stays_in_conflict(stopped: Repo) -> None:
    with tool(stopped, "a.yaml") as terminal:
        terminal.wait("Which?")
        terminal.press("t")
        terminal.wait("image")
        terminal.wait("Which?")
        terminal.press("q")
        assert terminal.end() == 1
        assert "a.yaml: 1 conflict left" in terminal.seen
        assert "staged" not in terminal.seen
    assert "a.yaml" in stopped.unmerged()
    assert stopped.text("a.yaml").count("<<<<<<<") == 1
    assert "  replicas: 3\n" in stopped.text("a.yaml")


def test_the_file_as_it_stands(stopped: Repo) -> None:
    """`d` takes a file without markers; one with markers is no decision."""
    with tool(stopped, "b.yaml") as terminal:
        terminal.wait("Which?")
        terminal.press("d")
        terminal.wait("conflict markers are left in it")
        stopped.write("b.yaml", deployment(replicas=9))
        terminal.press("d")
        assert terminal.end() == 0
    assert "b.yaml" not in stopped.unmerged()
    assert stopped.show(":b.yaml") == deployment(replicas=9)


def test_an_edit_meanwhile_is_not_overwritten(stopped: Repo) -> None:
    with tool(stopped, "b.yaml") as terminal:
        terminal.wait("Which?")
        stopped.write("b.yaml", deployment(replicas=9))
        terminal.press("t")
        terminal.wait("it was edited meanwhile")
        terminal.end()
    assert stopped.text("b.yaml") == deployment(replicas=9)


def test_three_files_outside_of_any_repository(repo: Repo) -> None:
    place = repo.world.root / "plain"
    place.mkdir()
    for name, replicas in (("base", 1), ("ours", 2), ("theirs", 3)):
        (place / f"{name}.yaml").write_text(deployment(replicas))
    argv = ("python", "-m", "kmerge_git", "mergetool", "base.yaml", "ours.yaml", "theirs.yaml", "o")
    import sys

    with Terminal((sys.executable, *argv[1:]), cwd=place, env=repo.world.env) as terminal:
        terminal.wait("Which?")
        terminal.press("t")
        assert terminal.end() == 0
    assert (place / "o").read_text() == deployment(replicas=3)
