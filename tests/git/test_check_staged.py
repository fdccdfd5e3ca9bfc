"""`kmerge check --staged`: what will be committed is judged, not what lies in the working tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import Repo, World

from kmerge_git.cli.main import main
from kmerge_git.errors import GitFailed, UsageError
from kmerge_git.git import tracked_files
from kmerge_git.git.run_git import git_bytes, try_git

GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n"
BAD = GOOD + "  a: c\n"


def check(repo: Repo, monkeypatch: pytest.MonkeyPatch, *args: str, below: str = "") -> int:
    monkeypatch.chdir(repo.path / below)
    return main(["check", "--staged", *args])


def test_partly_staged_files(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("start", {"a.yaml": GOOD, "b.yaml": GOOD.replace("name: a", "name: b")})
    repo.write("a.yaml", BAD)
    repo.git("add", "a.yaml")
    repo.write("a.yaml", GOOD)
    assert check(repo, monkeypatch) == 1
    assert "a.yaml:7:3: error M02" in capsys.readouterr().out
    repo.git("add", "a.yaml")
    repo.write("a.yaml", BAD)
    assert check(repo, monkeypatch) == 0
    assert capsys.readouterr().out == "0 files checked, nothing found\n"


def test_before_the_first_commit(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("x y/ä.yaml", BAD)
    repo.git("add", "-A")
    assert check(repo, monkeypatch) == 1
    assert "x y/ä.yaml:7:3:" in capsys.readouterr().out


def test_other_files_are_read_from_the_index_too(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  $retainKeys: []\n"
    )
    repo.write("k/kustomization.yaml", "patches:\n- path: p.yaml\nresources: [https://x]\n")
    repo.write("k/p.yaml", patch)
    repo.git("add", "-A")
    (repo.path / "k/kustomization.yaml").unlink()
    assert check(repo, monkeypatch, "k/p.yaml") == 1
    said = capsys.readouterr().out
    assert "D61" in said
    assert "rule 2: a patch of k/kustomization.yaml" in said


def test_from_a_folder_below(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("a/b/c.yaml", BAD)
    repo.write("top.yaml", BAD)
    repo.git("add", "-A")
    assert check(repo, monkeypatch, below="a") == 1
    said = capsys.readouterr().out
    assert "b/c.yaml:7:3:" in said
    assert "../top.yaml:7:3:" in said
    assert check(repo, monkeypatch, "b", below="a") == 1
    assert "top" not in capsys.readouterr().out


def test_symlinks_submodules_deletions_and_other_files_are_left_alone(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("start", {"gone.yaml": GOOD, "notes.txt": "a"})
    repo.git("rm", "-q", "gone.yaml")
    repo.write("notes.txt", BAD)
    (repo.path / "link.yaml").symlink_to("nowhere.yaml")
    head = repo.head()
    repo.git("add", "-A")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub.yaml")
    assert check(repo, monkeypatch) == 0
    assert "nothing found" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["--object-format=sha256"])
def test_a_repository_that_libgit2_refuses(
    world: World, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = world.root / "odd"
    world.git("init", "-q", "-b", "main", form, path)
    repo = Repo(world, path)
    repo.write("a.yaml", BAD)
    repo.git("add", "-A")
    assert check(repo, monkeypatch) == 1
    assert "a.yaml:7:3:" in capsys.readouterr().out


def test_blobs_are_read_by_name(repo: Repo) -> None:
    repo.commit("start", {"a.yaml": GOOD})
    repo.write("a.yaml", BAD)
    repo.git("add", "-A")
    reader = tracked_files.Blobs(str(repo.path))
    assert reader.read("HEAD:a.yaml") == GOOD.encode()
    assert reader.read(":0:a.yaml") == BAD.encode()
    assert reader.read(":0:none.yaml") is None
    assert reader.read("HEAD:none.yaml") is None


@pytest.mark.parametrize("plain", [False, True])
def test_both_ways_to_run_git(repo: Repo, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    if plain:
        monkeypatch.delattr("os.posix_spawnp")
    assert git_bytes("rev-parse", "--is-inside-work-tree") == b"true\n"
    assert try_git("rev-parse", "--verify", "-q", "HEAD") == b""
    with pytest.raises(GitFailed, match="nonsense"):
        git_bytes("nonsense")
    monkeypatch.setenv("PATH", str(repo.path))
    with pytest.raises(UsageError, match="git was not found"):
        git_bytes("version")


@pytest.mark.costly
def test_commit_all_has_an_index_of_its_own(repo: Repo, world: World) -> None:
    """In the hook of `git commit -a` the usual index does not hold what will be committed."""
    repo.commit("start", {"a.yaml": GOOD})
    install_hook(repo, world, "pre-commit")
    repo.write("a.yaml", BAD)
    done = repo.git("commit", "-a", "-m", "bad", check=False)
    assert done.code == 1
    assert "a.yaml:7:3: error M02" in done.said
    repo.write("a.yaml", GOOD + "  b: c\n")
    assert repo.git("commit", "-a", "-m", "good").code == 0


def install_hook(repo: Repo, world: World, name: str) -> None:
    """The shim that `kmerge install --hooks` writes, with this tree's kmerge on PATH."""
    from world import ROOT

    hook = repo.path / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes((ROOT / "hooks" / name).read_bytes())
    hook.chmod(0o755)
    put_on_path(world)


def put_on_path(world: World) -> None:
    import os
    import sys

    program = world.root / "bin" / "kmerge"
    program.parent.mkdir(exist_ok=True)
    # what one call has compiled serves the next one
    cache = f"PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX='{world.root.parents[1]}/compiled'"
    program.write_text(f'#!/bin/sh\n{cache} exec "{sys.executable}" -m kmerge_git "$@"\n')
    program.chmod(0o755)
    if not world.env["PATH"].startswith(str(program.parent)):
        world.env["PATH"] = str(program.parent) + os.pathsep + world.env["PATH"]


def test_the_shims_exist() -> None:
    from world import ROOT

    for name in ("pre-commit", "pre-merge-commit"):
        assert Path(ROOT, "hooks", name).is_file()


def test_what_is_not_staged_cannot_be_checked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("start", {"a/b.yaml": BAD})
    assert check(repo, monkeypatch, ".") == check(repo, monkeypatch, "a") == 1
    repo.write("new.yaml", BAD)
    assert check(repo, monkeypatch, "new.yaml") == 2
    said = capsys.readouterr().err
    assert (
        said
        == "kmerge: new.yaml: no staged file has this name; check the name, or run `git add` on the file\n"
    )


def test_several_blobs_are_read_at_once(repo: Repo) -> None:
    large, small = b"x" * 300_000, b"a: 1\n"
    repo.commit("start", {"large.yaml": "x" * 300_000, "a.yaml": "a: 1\n", "a\nb.yaml": "b: 1\n"})
    reader = tracked_files.Blobs(str(repo.path))
    names = ("HEAD:large.yaml", "HEAD:a.yaml", "", "HEAD:none", "HEAD:a.yaml", "HEAD:")
    assert reader.read_each(*names) == [large, small, None, None, small, None]
    assert reader.read_each("HEAD:a\nb.yaml", "", "HEAD:a.yaml") == [b"b: 1\n", None, small]
    assert reader.read("HEAD:a.yaml") == small
