"""`kmerge resolve --undo` in real repositories: what was resolved is in conflict again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from manifests import deployment, service, stream
from world import Driven, Repo

BASE = deployment()
OURS = deployment(replicas=2, env=("A=1", "OURS=1"))
THEIRS = deployment(replicas=3, env=("A=1", "THEIRS=1"))


def stop(repo: Repo, base: str, ours: str, theirs: str, name: str = "app.yaml") -> None:
    """A merge that stops; a side without a text deleted the file."""
    repo.commit("base", {name: base, "x": "x"} if base else {"x": "x"})
    repo.branch("side")
    for text, branch in ((theirs, "side"), (ours, "main")):
        repo.switch(branch)
        if text:
            repo.write(name, text)
        else:
            repo.git("rm", "-q", name)
        repo.commit("a side")
    assert repo.merge().code == 1


def conflict(repo: Repo) -> tuple[str, dict[str, bytes]]:
    """The index and the working tree."""
    files = (path for path in repo.path.rglob("*") if path.is_file())
    found = {str(path.relative_to(repo.path)): path.read_bytes() for path in files}
    kept = {name: data for name, data in found.items() if not name.startswith(".git/")}
    return repo.git("ls-files", "-s").out, kept


@pytest.mark.world
@pytest.mark.parametrize(
    "texts",
    [(BASE, OURS, THEIRS), (BASE, "", THEIRS), (BASE, OURS, ""), ("", OURS, THEIRS)],
    ids=["modified", "deleted by us", "deleted by them", "added"],
)
@pytest.mark.parametrize("favor", ["ours", "theirs"])
def test_the_conflict_is_as_the_driver_left_it(
    driven: Driven, texts: tuple[str, str, str], favor: str
) -> None:
    stop(driven, *texts)
    before = conflict(driven)
    driven.kmerge("solve", "--favor", favor)
    assert driven.unmerged() == []
    done = driven.kmerge("resolve", "--undo", "app.yaml")
    assert done.out.startswith("in conflict again: app.yaml (")
    assert conflict(driven) == before
    driven.git("merge", "--abort")
    assert driven.git("status", "--porcelain").out == ""


def test_the_labels_and_the_style_are_those_of_the_merge(driven: Driven) -> None:
    driven.git("config", "merge.conflictStyle", "diff3")
    stop(driven, BASE, OURS, THEIRS)
    before = driven.text("app.yaml")
    assert "<<<<<<< HEAD" in before
    assert ">>>>>>> side" in before
    driven.kmerge("solve", "--favor", "ours")
    driven.kmerge("resolve", "--undo", ".")
    assert driven.text("app.yaml") == before


def test_what_structure_alone_settles_has_its_lines_in_conflict_again(repo: Repo) -> None:
    stop(repo, BASE, deployment(env=("A=1", "B=1")), deployment(env=("A=1", "C=1")))
    repo.kmerge("solve")
    repo.kmerge("resolve", "--undo", "app.yaml")
    assert repo.unmerged() == ["app.yaml"]
    assert repo.text("app.yaml").count("<<<<<<<") == 1
    repo.kmerge("solve")
    assert repo.unmerged() == []


def test_what_is_no_manifest_has_its_lines_in_conflict_again(repo: Repo) -> None:
    stop(repo, "one: 1\ntwo\n", "one: 2\ntwo\n", "one: 3\ntwo\n", "notes")
    before = conflict(repo)
    repo.write("notes", "one: 4\ntwo\n")
    repo.git("add", "notes")
    repo.kmerge("resolve", "--undo", "notes")
    assert conflict(repo) == before


def test_of_an_edited_file_that_was_staged_the_blob_is_named(repo: Repo) -> None:
    stop(repo, BASE, OURS, THEIRS)
    repo.write("app.yaml", deployment(replicas=9))
    repo.git("add", "app.yaml")
    staged = repo.head(":0:app.yaml")
    done = repo.kmerge("resolve", "--undo", "app.yaml")
    assert f"`git cat-file -p {staged[:10]}` prints the staged version" in done.out
    repo.write("app.yaml", deployment(replicas=9))
    repo.git("add", "app.yaml")
    report = json.loads(repo.kmerge("resolve", "--undo", "--json", "app.yaml").out)
    undone = {"path": "app.yaml", "situation": "both modified", "was": staged}
    assert report == {"schema": 1, "undone": [undone]}


def edited(repo: Repo) -> None:
    repo.write("app.yaml", deployment(replicas=9))


def restored(repo: Repo) -> None:
    repo.git("rm", "-q", "-f", "app.yaml")
    repo.write("app.yaml", deployment(replicas=9))


def gone(repo: Repo) -> None:
    (repo.path / "app.yaml").unlink()


@pytest.mark.parametrize("work", [edited, restored, gone])
def test_work_that_is_not_staged_is_kept(repo: Repo, work: Callable[[Repo], None]) -> None:
    stop(repo, BASE, OURS, THEIRS)
    before = conflict(repo)
    repo.kmerge("solve", "--favor", "theirs")
    work(repo)
    mine = conflict(repo)
    done = repo.kmerge("resolve", "--undo", "app.yaml", check=False)
    assert done.code == 2
    assert done.err.startswith("kmerge: app.yaml: the file was edited after it was staged; ")
    assert conflict(repo) == mine
    repo.kmerge("resolve", "--undo", "--force", "app.yaml")
    assert conflict(repo)[0] == before[0]


def test_all_or_none(repo: Repo) -> None:
    """One file that cannot be taken back keeps the others as they are."""
    names = ("a.yaml", "b.yaml")
    repo.fork(*(dict.fromkeys(names, text) for text in (BASE, OURS, THEIRS)))
    assert repo.merge().code == 1
    repo.kmerge("solve", "--favor", "ours")
    repo.write("b.yaml", "mine: 1\n")
    before = conflict(repo)
    assert repo.kmerge("resolve", "--undo", ".", check=False).code == 2
    assert conflict(repo) == before
    assert repo.kmerge("resolve", "--undo", "a.yaml", "none.yaml", check=False).code == 2
    assert conflict(repo) == before
    repo.kmerge("resolve", "--undo", "a.yaml")
    assert repo.unmerged() == ["a.yaml"]


def test_what_is_refused(repo: Repo) -> None:
    stop(repo, BASE, OURS, THEIRS)
    for paths, said in (
        ((), "--undo needs a path"),
        (("x",), "x: git has no record of a conflict in this file"),
        (("app.yaml",), "app.yaml: the file is still in conflict: there is nothing to undo"),
        (("../y",), "is outside of the working tree"),
    ):
        done = repo.kmerge("resolve", "--undo", *paths, check=False)
        assert done.code == 2
        assert said in done.err
        assert len(done.err.splitlines()) == 1


def test_a_merge_that_is_committed_is_left_alone(repo: Repo) -> None:
    """Git goes on keeping the three versions; a commit is taken back by git, not by us."""
    stop(repo, BASE, OURS, THEIRS)
    repo.kmerge("solve", "--favor", "ours")
    repo.git("commit", "-q", "--no-edit")
    done = repo.kmerge("resolve", "--undo", "app.yaml", check=False)
    assert done.code == 2
    assert "no merge is in progress, and the file equals its last committed version" in done.err


@pytest.mark.world
@pytest.mark.parametrize("operation", ["rebase", "cherry-pick", "revert", "stash", "squash"])
def test_in_every_operation(driven: Driven, operation: str) -> None:
    driven.fork({"app.yaml": BASE}, {"app.yaml": OURS}, {"app.yaml": THEIRS})
    if operation == "rebase":
        driven.git("rebase", "-q", "side", check=False)
    elif operation == "cherry-pick":
        driven.git("cherry-pick", "side", check=False)
    elif operation == "squash":
        driven.merge("--squash", "side")
    elif operation == "revert":
        driven.commit("more", {"app.yaml": deployment(replicas=7)})
        driven.git("revert", "--no-edit", "HEAD~1", check=False)
    else:
        driven.write("app.yaml", THEIRS)
        driven.git("stash", "-q")
        driven.commit("more", {"app.yaml": deployment(replicas=7)})
        driven.git("stash", "pop", check=False)
    index, text = driven.git("ls-files", "-u").out, unlabelled(driven.text("app.yaml"))
    assert index.count("app.yaml") == 3
    driven.kmerge("solve", "--favor", "ours")
    driven.kmerge("resolve", "--undo", "app.yaml")
    assert driven.git("ls-files", "-u").out == index
    assert unlabelled(driven.text("app.yaml")) == text


def unlabelled(text: str) -> str:
    """Git does not tell its driver all names of the sides."""
    return re.sub(r"^(<<<<<<<) [^(\n]*|^(>>>>>>>) .*", r"\1\2", text, flags=re.MULTILINE)


@pytest.mark.costly
def test_a_resource_that_moved_goes_its_way_again(repo: Repo) -> None:
    repo.commit("base", {"all.yaml": stream(BASE, service(80))})
    repo.branch("side")
    repo.commit("edit", {"all.yaml": stream(BASE, service(81))})
    repo.switch("main")
    repo.commit("move", {"all.yaml": BASE, "service.yaml": service(80)})
    assert repo.merge().code == 1
    repo.kmerge("solve")
    solved = conflict(repo)
    repo.kmerge("resolve", "--undo", "all.yaml")
    assert repo.unmerged() == ["all.yaml"]
    repo.kmerge("solve")
    assert conflict(repo) == solved
    repo.kmerge("resolve", "--undo", ".")
    repo.git("merge", "--abort")
    assert repo.git("status", "--porcelain").out == ""


def test_the_mode_and_line_ends_come_back(driven: Driven) -> None:
    driven.git("config", "core.autocrlf", "true")
    stop(driven, BASE, OURS, THEIRS)
    (driven.path / "app.yaml").chmod(0o755)
    before = conflict(driven)
    driven.kmerge("solve", "--favor", "ours")
    driven.kmerge("resolve", "--undo", "app.yaml")
    assert b"\r\n" in driven.bytes("app.yaml")
    assert conflict(driven) == before
    assert (driven.path / "app.yaml").stat().st_mode & 0o100


def test_a_link_is_left_to_git(repo: Repo) -> None:
    stop(repo, BASE, OURS, THEIRS)
    stages = repo.git("ls-files", "-s", "app.yaml").out.replace("100644", "120000", 1)
    repo.git(
        "update-index", "--index-info", stdin=f"0 {'0' * len(repo.head())} 0\tapp.yaml\n{stages}"
    )
    repo.git("add", "app.yaml")
    done = repo.kmerge("resolve", "--undo", "app.yaml", check=False)
    assert done.code == 2
    assert "one side has a symbolic link" in done.err
