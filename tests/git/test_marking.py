"""A driver that is bound for one call of git: whose lines about files have the last word."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import Repo, World

from kmerge_git.git.driver_lines import DRAFT, MARKING, ONLY_MARK, marked

BASE = "".join(f"line{n}: {n}\n" for n in range(30))
OURS = BASE.replace("line3: 3", "line3: ours")
THEIRS = BASE.replace("line25: 25", "line25: theirs")  # lines merge it clean


def fork(repo: Repo, *names: str) -> None:
    three = (dict.fromkeys(names, text) for text in (BASE, OURS, THEIRS))
    repo.fork(*three)


def merge(repo: Repo, line: str = MARKING, cwd: Path | None = None) -> None:
    with marked(line, cwd=cwd or repo.path) as words:
        repo.world.git(*words, "merge", "--no-commit", "side", cwd=cwd or repo.path, check=False)


def drafts(repo: Repo) -> list[Path]:
    return list((repo.path / ".git").glob(DRAFT + "*"))


def test_every_manifest_that_both_sides_changed_is_left_with_three_stages(repo: Repo) -> None:
    fork(repo, "a.yaml", "b/Kustomization", "c.txt")
    merge(repo)
    assert repo.unmerged() == ["a.yaml", "b/Kustomization"]
    assert "line3: ours" in repo.text("a.yaml")
    assert "line25: theirs" in repo.text("a.yaml")  # git's own merge of the lines
    assert repo.git("config", "merge.kmerge.driver", check=False).out == ""
    assert drafts(repo) == []


def test_what_clashes_has_gits_own_markers(repo: Repo) -> None:
    repo.fork({"a.yaml": "a: 1\n"}, {"a.yaml": "a: 2\n"}, {"a.yaml": "a: 3\n"})
    merge(repo)
    assert repo.text("a.yaml") == "<<<<<<< ours\na: 2\n=======\na: 3\n>>>>>>> theirs\n"


def test_only_marking_leaves_ours_there(repo: Repo) -> None:
    fork(repo, "a.yaml")
    merge(repo, ONLY_MARK)
    assert (repo.unmerged(), repo.text("a.yaml")) == (["a.yaml"], OURS)


def test_the_usual_names_of_secrets_are_left_to_git(repo: Repo) -> None:
    fork(repo, "db.enc.yaml")
    merge(repo)
    assert repo.unmerged() == []


def set_by_name(repo: Repo, text: str) -> None:
    file = repo.world.root / "own"
    file.write_text(text)
    repo.git("config", "core.attributesFile", str(file))


def set_relative(repo: Repo, text: str) -> None:
    repo.write("own", text)
    repo.git("config", "core.attributesFile", "own")


def set_by_place(repo: Repo, text: str) -> None:
    file = repo.world.home / ".config" / "git" / "attributes"
    file.parent.mkdir(parents=True)
    file.write_text(text)


def set_in_the_repository(repo: Repo, text: str) -> None:
    repo.write(".git/info/attributes", text)


@pytest.mark.parametrize(
    "write",
    [set_by_name, set_relative, set_by_place, set_in_the_repository],
    ids=lambda f: f.__name__,
)
def test_what_somebody_said_about_a_file_has_the_last_word(repo: Repo, write) -> None:
    fork(repo, "a.yaml", "deep/b.yaml")
    write(repo, "\ufeffa.yaml merge=text\n")
    merge(repo, cwd=repo.path / "deep")
    assert repo.unmerged() == ["deep/b.yaml"]


def test_a_linked_worktree(repo: Repo, world: World) -> None:
    fork(repo, "a.yaml")
    repo.git("worktree", "add", "-q", "-b", "other", world.root / "linked", "main")
    linked = Repo(world, world.root / "linked")
    merge(linked)
    assert linked.unmerged() == ["a.yaml"]
    assert list((repo.path / ".git").rglob(DRAFT + "*")) == []


def test_a_bare_repository(repo: Repo, world: World) -> None:
    fork(repo, "a.yaml")
    world.git("clone", "-q", "--bare", repo.path, world.root / "bare")
    bare = Repo(world, world.root / "bare")
    with marked(ONLY_MARK, bare.path) as words:
        done = bare.git(*words, "merge-tree", "--write-tree", "main", "side", check=False)
    assert done.code == 1
    assert "CONFLICT (content): Merge conflict in a.yaml" in done.out


def test_the_draft_goes_away_whatever_happens(repo: Repo) -> None:
    def stop() -> None:
        with marked(ONLY_MARK, repo.path / ".git"):
            assert len(drafts(repo)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop()
    assert drafts(repo) == []
