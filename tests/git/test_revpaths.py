"""`REV:PATH` wherever a command takes a file."""

from __future__ import annotations

import pytest
from world import BASE, MERGED, OURS, THEIRS, Repo

SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  type: ClusterIP\n"
PATCH = '{"spec":{"type":"NodePort"}}'


@pytest.fixture
def shop(repo: Repo) -> Repo:
    repo.commit("one", {"a.yaml": SERVICE, "dir/b.yaml": SERVICE})
    repo.write("a.yaml", "broken: [\n")
    return repo


@pytest.mark.parametrize(
    "words",
    [
        ["patch", "HEAD:a.yaml", "-p", PATCH],
        ["patch", ":a.yaml", "-p", PATCH],
        ["patch", ":0:a.yaml", "-p", PATCH],
        ["patch", "HEAD^{tree}:dir/b.yaml", "-p", PATCH],
        ["merge2", "--src", ":a.yaml", "--dest", "HEAD:a.yaml", "--dry-run"],
        ["make-patch", "HEAD:a.yaml", ":dir/b.yaml"],
        ["apply", "HEAD:a.yaml", "--live", ":a.yaml"],
        ["last-applied", "view", "HEAD:a.yaml"],
        ["check", "HEAD:a.yaml"],
    ],
)
def test_every_command_reads_it(shop: Repo, words: list[str]) -> None:
    done = shop.kmerge(*words, check=False)
    assert done.code == 0, done.said


def test_the_three_versions_of_a_conflict(repo: Repo) -> None:
    repo.fork({"a.yaml": BASE}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    repo.merge()
    for command in ("merge-file", "merge"):
        assert repo.kmerge(command, ":1:a.yaml", ":2:a.yaml", ":3:a.yaml").out == MERGED
    done = repo.kmerge("merge-file", ":0:a.yaml", ":2:a.yaml", ":3:a.yaml", check=False)
    assert done.code == 2
    assert "in a conflict, use" in done.err


def test_a_file_of_that_name_wins(shop: Repo) -> None:
    shop.write("HEAD:a.yaml", SERVICE.replace("web", "mine"))
    assert "mine" in shop.kmerge("patch", "HEAD:a.yaml", "-p", PATCH).out


def test_the_bytes_are_those_of_the_blob(repo: Repo) -> None:
    repo.write(".gitattributes", "*.yaml text eol=crlf\n")
    repo.commit("one", {"a.yaml": SERVICE})
    assert "\r" not in repo.kmerge("patch", "HEAD:a.yaml", "-p", PATCH).out


@pytest.mark.parametrize(
    "name, said",
    [
        (
            "HEAD:nope.yaml",
            "there is no such path in HEAD; give the path from the top of the repository",
        ),
        ("HEAD:dir", "this is a folder"),
        (":nope.yaml", "the index has no such file"),
        ("nope:a.yaml", "cannot read the file: No such file"),
        ("C:/a.yaml", "cannot read the file: No such file"),
        ("HEAD:a\nb", "cannot read the file: No such file"),
    ],
)
def test_what_is_not_there(shop: Repo, name: str, said: str) -> None:
    done = shop.kmerge("patch", name, "-p", PATCH, check=False)
    assert done.code == 2
    assert said in done.err


def test_a_name_is_no_option(shop: Repo) -> None:
    """Not even behind the dashes that let a name begin with one."""
    done = shop.kmerge("patch", "-p", PATCH, "--", "--batch-all-objects:x", check=False)
    assert done.code == 2
    assert "cannot read the file" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["patch", "HEAD:a.yaml", "-p", PATCH, "--in-place"],
        ["patch", "HEAD:a.yaml", "-p", PATCH, "-o", "HEAD:new.yaml"],
        ["patch", "HEAD:a.yaml", "-p", PATCH, "-o", ":new.yaml"],
    ],
)
def test_nothing_is_written_there(shop: Repo, words: list[str]) -> None:
    before = sorted(path.name for path in shop.path.iterdir())
    done = shop.kmerge(*words, check=False)
    assert done.code == 2
    assert "cannot write into a commit or the index" in done.err
    assert sorted(path.name for path in shop.path.iterdir()) == before
