"""Every command that leaves a conflict names the one that goes on with it, and no other does."""

from __future__ import annotations

from manifests import deployment
from world import Driven, Repo

FIELDS = tuple(deployment(replicas=n) for n in (1, 2, 3))
LINES = tuple(deployment(env=("A=1", *more)) for more in ((), ("B=1",), ("C=1",)))
NOTES = ("1\n", "2\n", "3\n")


def fork(repo: Repo, **files: tuple[str, ...]) -> None:
    """Files by their names without the suffix: manifests, but for `notes`."""
    names = {name: name if name == "notes" else f"{name}.yaml" for name in files}
    repo.fork(*({names[name]: texts[n] for name, texts in files.items()} for n in range(3)))


def test_merge(repo: Repo) -> None:
    fork(repo, app=FIELDS)
    done = repo.kmerge("merge", "side", check=False)
    assert done.err.endswith(
        "kmerge: run `kmerge resolve` to decide field by field (`kmerge explain` shows the reasons), "
        "then `git commit`\n"
    )


def test_merge_with_other_files(repo: Repo) -> None:
    fork(repo, app=FIELDS, notes=NOTES)
    done = repo.kmerge("merge", "side", check=False)
    assert "the reasons), edit the other files and `git add` them, then `git commit`" in done.err


def test_merge_with_nothing_but_other_files(repo: Repo) -> None:
    fork(repo, app=LINES, notes=NOTES)
    assert "resolve`" not in repo.kmerge("merge", "side", check=False).err


def test_solve(repo: Repo) -> None:
    fork(repo, app=FIELDS, lines=LINES)
    repo.merge()
    repo.kmerge("solve", "lines.yaml")
    done = repo.kmerge("solve", check=False)
    assert done.err.endswith(
        "1 file still in conflict; run `kmerge resolve` to decide field by field\n"
    )


def test_solve_of_other_files(repo: Repo) -> None:
    fork(repo, lines=LINES, notes=NOTES)
    repo.merge()
    assert repo.kmerge("solve").err.endswith("1 file still in conflict\n")


def test_the_driver(driven: Driven) -> None:
    fork(driven, app=FIELDS, lines=LINES)
    said = [line for line in driven.merge().err.splitlines() if "resolve" in line]
    assert said == ["kmerge: app.yaml: 1 conflict, everything else is merged; run `kmerge resolve`"]


def test_preview(repo: Repo) -> None:
    fork(repo, app=FIELDS)
    done = repo.kmerge("preview", "side", check=False)
    assert (
        "kmerge: if git stops with a conflict, run `kmerge resolve` to decide field by field\n"
        in done.err
    )
    assert repo.kmerge("preview", "side", "--json", check=False).err == ""
    repo.switch("side")
    assert "resolve`" not in repo.kmerge("preview", "main~").err


def test_explain(driven: Driven) -> None:
    fork(driven, app=FIELDS)
    driven.merge()
    assert driven.kmerge("explain").err.endswith(
        "run `kmerge resolve`: it asks about each unresolved conflict\n"
    )
    driven.git("add", "app.yaml")
    driven.git("commit", "-q", "-m", "with its markers")
    assert driven.kmerge("explain", "HEAD").err == ""


def test_generated_files_are_not_asked_about(repo: Repo) -> None:
    """Nobody is sent to a command that leaves the file alone."""
    repo.write(".gitattributes", "app.yaml kmerge-generated\n")
    fork(repo, app=FIELDS)
    assert "resolve`" not in repo.kmerge("merge", "side", check=False).err
    assert "resolve`" not in repo.kmerge("solve", check=False).err
    done = repo.kmerge("resolve", "--list")
    assert "kmerge: still in conflict (" in done.err
    assert "app.yaml" in done.err
