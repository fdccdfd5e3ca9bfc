"""Merges of commits by `git merge-tree`: what comes back, and what is left behind."""

from __future__ import annotations

import os
import tempfile

import pytest
from manifests import deployment
from world import Repo, World

from kmerge_git.errors import Unsupported
from kmerge_git.git import scratch_merges
from kmerge_git.git.repository import Repository
from kmerge_git.git.scratch_merges import MergedTree, merge_tree, scratch

ODD = 'a "b"\tc\nd.yaml'
FILES = ("clean.yaml", "union.yaml", "notes.txt", "plain.json", "wanted.json", ODD)
ATTRIBUTES = "union.yaml merge=union\nwanted.json merge=kmerge\n"


def history(repo: Repo) -> None:
    """All files changed on both sides, far from each other; attributes on ours alone."""
    base, ours, theirs = (
        deployment(replicas=replicas, env=("A=1",), image=image)
        for replicas, image in ((1, "app:1"), (2, "app:1"), (1, "app:2"))
    )
    repo.fork(
        dict.fromkeys(FILES, base),
        dict.fromkeys(FILES, ours) | {".gitattributes": ATTRIBUTES},
        dict.fromkeys(FILES, theirs) | {".gitattributes": "* merge=union\n"},
    )


def merge(repo: Repo, *, of_ours: bool = False, alone: bool = False) -> MergedTree:
    inside = Repository.open(str(repo.path))
    ours, theirs = inside.commit("main"), inside.commit("side")
    before = repo.git("count-objects").out
    with scratch(inside, ours.tree if of_ours else None, alone=alone) as at:
        merged = merge_tree(at, ours.oid, theirs.oid)
        base = inside.commit(inside.merge_base(ours.oid, theirs.oid) or "").tree
        # against a base of our choice it comes to the same
        assert merge_tree(at, ours.tree, theirs.tree, base=base).conflicts == merged.conflicts
        assert at.repository.entry(merged.tree, "clean.yaml")
    assert repo.git("count-objects").out == before
    assert not os.path.exists(at.folder)
    return merged


def marked(merged: MergedTree) -> set[str]:
    return {stages.path for stages in merged.conflicts}


def test_a_manifest_that_both_changed_is_left_to_us(repo: Repo) -> None:
    history(repo)
    merged = merge(repo)
    assert marked(merged) == {".gitattributes", "clean.yaml", "wanted.json", ODD}
    assert merged.merged == ("notes.txt", "plain.json", "union.yaml")
    assert not merged.is_clean
    kinds = {message.kind for message in merged.messages if message.is_conflict}
    assert kinds == {"CONFLICT (contents)"}


def test_from_a_folder_below_the_paths_are_the_same(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    history(repo)
    (repo.path / "below").mkdir()
    monkeypatch.chdir(repo.path / "below")
    inside = Repository.open()
    with scratch(inside) as at:
        merged = merge_tree(at, "main", "side")
    assert "clean.yaml" in marked(merged)


@pytest.mark.parametrize("alone", [False, True])
def test_a_bare_repository_has_the_attributes_of_the_tree(
    world: World, repo: Repo, alone: bool
) -> None:
    history(repo)
    world.git("clone", "-q", "--bare", repo.path, "bare.git")
    bare = Repo(world, world.root / "bare.git")
    merged = merge(bare, of_ours=True, alone=alone)
    assert marked(merged) == {".gitattributes", "clean.yaml", "wanted.json", ODD}
    # what an administrator said there is heard, but where the tree alone may speak
    (bare.path / "info").mkdir(exist_ok=True)
    (bare.path / "info" / "attributes").write_text("clean.yaml merge=union\n")
    merged = merge(bare, of_ours=True, alone=alone)
    assert ("clean.yaml" in marked(merged)) == alone


def test_git_alone_is_without_a_registered_driver(repo: Repo) -> None:
    history(repo)
    repo.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    repo.write("../home/.config/git/attributes", "*.yaml merge=kmerge\n")
    repo.git("config", "merge.kmerge.driver", "false")
    inside = Repository.open(str(repo.path))
    with scratch(inside, inside.commit("main").tree, alone=True) as at:
        merged = merge_tree(at, repo.head("main"), repo.head("side"), driver=False)
    assert marked(merged) == {".gitattributes"}


def test_a_tree_made_by_hand_leads_nowhere_else(repo: Repo) -> None:
    history(repo)
    blob = repo.git("hash-object", "-w", "--stdin", stdin="evil\n").out.strip()
    inner = repo.git("mktree", stdin=f"100644 blob {blob}\t.gitattributes\n").out.strip()
    lines = f"120000 blob {blob}\t.gitattributes\n040000 tree {inner}\t..\n"
    tree = repo.git("mktree", stdin=lines).out.strip()
    inside = Repository.open(str(repo.path))
    with scratch(inside, tree, alone=True) as at:
        assert os.listdir(at.worktree) == []
        assert not os.path.exists(os.path.join(at.folder, ".gitattributes"))


def test_an_old_git_is_named(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    history(repo)
    monkeypatch.setattr(scratch_merges, "git_version", lambda: (2, 30))
    inside = Repository.open(str(repo.path))
    with scratch(inside) as at, pytest.raises(Unsupported, match=r"git 2\.30 cannot merge"):
        merge_tree(at, "main", "nowhere")


def test_folders_of_killed_runs_are_swept(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    history(repo)
    monkeypatch.setattr(tempfile, "tempdir", str(repo.world.root))
    for name, age in (("kmerge-scratch-old", 1), ("kmerge-scratch-new", None), ("other", 1)):
        (repo.world.root / name).mkdir()
        if age:
            os.utime(repo.world.root / name, (age, age))
    with scratch(Repository.open(str(repo.path))):
        pass
    left = {path.name for path in repo.world.root.iterdir()}
    assert {"kmerge-scratch-new", "other"} <= left
    assert "kmerge-scratch-old" not in left
