"""`git mergetool --tool=kmerge` on a terminal: it asks, field by field; git stages what is decided."""

from __future__ import annotations

import re
import sys

import pytest
from manifests import deployment
from terminal import Terminal
from world import BASE, OURS, THEIRS, Done, Repo

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


@pytest.mark.costly
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


@pytest.mark.costly
def test_what_is_not_decided_stays_in_conflict(stopped: Repo) -> None:
    """Git brings its own markers back then; the answers are known the next time."""
    with tool(stopped, "a.yaml") as terminal:
        terminal.wait("spec.replicas")
        terminal.wait("Which?")
        terminal.press("t")
        terminal.wait("image")
        terminal.wait("Which?")
        terminal.press("q")
        assert terminal.end() == 1
        assert "a.yaml: 1 conflict left" in terminal.seen
        assert "b.yaml" not in terminal.seen
    assert "a.yaml" in stopped.unmerged()
    assert stopped.text("a.yaml").count("<<<<<<<") == 2
    with tool(stopped, "a.yaml") as terminal:
        assert "replicas" not in terminal.wait("Which?")
        terminal.press("o")
        assert terminal.end() == 0
    assert stopped.show(":a.yaml") == deployment(replicas=3, image="app:2")


@pytest.mark.costly
def test_the_file_as_it_stands(stopped: Repo) -> None:
    """`d` takes a file without markers; one with markers is no decision."""
    with tool(stopped, "b.yaml") as terminal:
        terminal.wait("Which?")
        terminal.press("d")
        terminal.wait("the answer still contains conflict markers; remove them")
        stopped.write("b.yaml", deployment(replicas=9))
        terminal.press("d")
        assert terminal.end() == 0
    assert "b.yaml" not in stopped.unmerged()
    assert stopped.show(":b.yaml") == deployment(replicas=9)


@pytest.fixture
def apart(repo: Repo) -> Repo:
    """Three files in no repository."""
    place = Repo(repo.world, repo.world.root / "apart")
    for name, replicas in (("base", 1), ("ours", 2), ("theirs", 3)):
        place.write(f"{name}.yaml", deployment(replicas, image=f"app:{replicas}"))
    return place


NAMES = ("base.yaml", "ours.yaml", "theirs.yaml", "out.yaml")


def by_hand(place: Repo, **variables: str) -> Terminal:
    argv = (sys.executable, "-m", "kmerge_git", "mergetool", *NAMES)
    return Terminal(argv, cwd=place.path, env=place.world.env | variables)


@pytest.mark.costly
def test_three_files_in_no_repository(apart: Repo) -> None:
    with by_hand(apart) as terminal:
        terminal.wait("theirs (REMOTE)  3")
        terminal.wait("Which?")
        terminal.press("T")
        assert terminal.end() == 0
    assert apart.text("out.yaml") == deployment(replicas=3, image="app:3")


@pytest.mark.costly
def test_what_is_left_of_three_files_is_marked(apart: Repo) -> None:
    with by_hand(apart) as terminal:
        terminal.wait("Which?")
        terminal.press("0")
        terminal.wait("Which?")
        terminal.press("q")
        assert terminal.end() == 1
    assert apart.text("out.yaml").count("<<<<<<< LOCAL") == 1
    assert "  replicas: 1\n" in apart.text("out.yaml")


@pytest.mark.costly
def test_an_edit_meanwhile_is_not_overwritten(apart: Repo) -> None:
    mine = deployment(replicas=9)
    with by_hand(apart) as terminal:
        terminal.wait("Which?")
        apart.write("out.yaml", mine)
        terminal.press("T")
        terminal.wait("the file was edited in the meantime")
        assert terminal.end() == 1
    assert apart.text("out.yaml") == mine


@pytest.mark.costly
def test_a_file_without_markers_is_taken_as_it_stands(apart: Repo) -> None:
    mine = deployment(replicas=9)
    with by_hand(apart) as terminal:
        terminal.wait("Which?")
        terminal.press("d")
        terminal.wait("the answer still contains conflict markers; remove them")
        apart.write("out.yaml", mine)
        terminal.press("d")
        assert terminal.end() == 0
    assert apart.text("out.yaml") == mine


LATE = {"KMERGE_TIMEOUT": "0.001"}
SAID = (
    r"kmerge: out\.yaml: no result within 0\.00(1 s of CPU time|3 s), so git's line merge was used"
)
MANY = "".join(f"k{n}: {{a: [1, 2, {n}]}}\n" for n in range(5000))


def late(place: Repo, theirs: str) -> Done:
    """The tool without a terminal, about a file that takes a while."""
    for name, text in (("base", BASE), ("ours", OURS), ("theirs", theirs)):
        place.write(f"{name}.yaml", text + MANY + ("z: 2\n" if name == "theirs" else "z: 1\n"))
    return place.kmerge("mergetool", *NAMES, env=LATE, check=False)


def by_git(place: Repo) -> str:
    labels = ("-L", "LOCAL", "-L", "BASE", "-L", "REMOTE")
    names = ("ours.yaml", "base.yaml", "theirs.yaml")
    return place.git("merge-file", "-p", "-q", *labels, *names, check=False).out


@pytest.mark.costly
def test_a_file_that_takes_too_long_is_merged_by_lines(apart: Repo) -> None:
    """By fields it would be clean."""
    done = late(apart, THEIRS)
    assert (done.code, apart.text("out.yaml")) == (1, by_git(apart))
    assert "a: 2\nb: 1\n=======\na: 1\nb: 2\n" in apart.text("out.yaml")
    assert re.fullmatch(
        rf"{SAID}\nkmerge: out\.yaml: both sides changed the same lines\n", done.err
    )
    assert (apart.kmerge("mergetool", *NAMES, check=False).code, done.out) == (0, "")


def test_a_file_that_takes_too_long_may_be_clean(apart: Repo) -> None:
    done = late(apart, BASE)
    assert (done.code, apart.text("out.yaml")) == (0, OURS + MANY + "z: 2\n")
    assert re.fullmatch(rf"{SAID}\nkmerge: out\.yaml: merged without conflicts\n", done.err)


@pytest.mark.costly
def test_it_asks_about_the_lines_of_a_file_that_takes_too_long(apart: Repo) -> None:
    late(apart, THEIRS)
    with by_hand(apart, **LATE) as terminal:
        assert "both sides changed the same lines" in terminal.wait("Which?")
        terminal.press("t")
        assert terminal.end() == 0
    assert apart.text("out.yaml") == THEIRS + MANY + "z: 2\n"


@pytest.mark.costly
def test_on_a_terminal_it_says_so_as_well(apart: Repo) -> None:
    """Else nobody knows why it asks about lines and not about fields."""
    late(apart, THEIRS)
    with by_hand(apart, **LATE) as terminal:
        terminal.wait("Which?")
        terminal.press("q")
        assert terminal.end() == 1
        assert len(re.findall(SAID, terminal.seen)) == 1
