"""Where a merge is to be made, and files that somebody edits while it is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from manifests import deployment
from world import Repo

from kmerge_git.git.index_stages import Operation
from kmerge_git.git.merge_command import MergeSite, begin, find_place
from kmerge_git.git.repository import Repository
from kmerge_git.whole.fresh_merge import Task, plan_merge

LABELS = ("base", "HEAD", "side")
TEXTS = [deployment(env=e) for e in (("A=1",), ("A=1", "OURS=1"), ("A=1", "THEIRS=1"))]


@pytest.mark.parametrize(
    "bases, is_trivial",
    [
        (("ours",), True),  # a fast-forward
        (("theirs",), True),  # up to date
        (("base",), False),
        ((), False),
        (("ours", "base"), False),
        (("theirs", "base"), True),
    ],
)
def test_one_side_has_nothing_of_its_own(bases: tuple[str, ...], is_trivial: bool) -> None:
    assert MergeSite(Path(), "ours", "theirs", bases).is_trivial is is_trivial


def test_histories_without_a_common_commit(repo: Repo) -> None:
    ours = repo.commit("ours", {"a.yaml": "a: 1\n"})
    repo.git("checkout", "-q", "--orphan", "side")
    theirs = repo.commit("theirs", {"a.yaml": "a: 2\n"})
    repo.switch("main")
    place = find_place_in(repo)
    assert place == MergeSite(repo.path / ".git", ours, theirs, ())


def test_a_history_that_cannot_be_read(repo: Repo) -> None:
    base = repo.commit("base", {"a.yaml": "a: 1\n"})
    repo.branch("side")
    repo.commit("theirs", {"a.yaml": "a: 2\n"})
    repo.switch("main")
    repo.commit("ours", {"a.yaml": "a: 3\n"})
    damaged = repo.path / ".git" / "objects" / base[:2] / base[2:]
    damaged.chmod(0o600)
    damaged.write_bytes(b"no commit")
    assert find_place_in(repo) is None


def find_place_in(repo: Repo) -> MergeSite | None:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(repo.path)
        return find_place("side")


@pytest.mark.parametrize("is_edited", [False, True])
def test_work_that_came_since_git_merged(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, is_edited: bool
) -> None:
    monkeypatch.chdir(repo.path)
    repo.fork(*({"app.yaml": text} for text in TEXTS))
    place = find_place("side")
    assert place is not None
    start = begin(place, ["side"], LABELS)
    if is_edited:
        repo.write("app.yaml", TEXTS[1] + "# mine\n")
    plan = plan_merge(Task(Repository.open(), place, LABELS, None, []), start)
    trees = [repo.head(f"{rev}^{{tree}}") for rev in ("main~1", "main", "side")]
    assert plan.operation == Operation("merge", *trees, LABELS)
    (file,) = plan.files
    if is_edited:
        assert not file.writes
        assert file.why.startswith("edited after the merge")
    else:
        assert file.writes
        assert (file.verdict, file.why) == ("solved", "")
