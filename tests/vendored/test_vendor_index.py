"""The conflicts of an update in git's index: three stages, as a merge of git leaves them."""

from __future__ import annotations

import os

import pytest
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import config, deployment, service

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.merge_sides import TreeEntry
from kmerge_git.vendored.index_conflicts import IndexConflict, parse, spelled

RECORD = ".kmerge-vendor"
OURS, BASE, THEIRS = (deployment(image=f"shop:{name}") for name in ("mine", "1", "2"))


def package(up: Repo, mine: Vendoring, directory: str = "shop", ref: str = "v1") -> None:
    """A tracked package of v1; upstream's v2 changes one file and deletes another."""
    release(
        up, "v1", {"web.yaml": BASE, "gone.yaml": service("gone"), "left.yaml": service("left")}
    )
    release(up, "v2", {"web.yaml": THEIRS, "gone.yaml": None, "left.yaml": service("left", 81)})
    mine.vendor("add", str(up.path), directory, "--ref", ref)
    mine.git("add", "-f", directory)
    mine.git("commit", "-qm", ref)


def stages(mine: Vendoring, path: str) -> dict[int, str]:
    """The texts of a file in the index, by stage."""
    lines = mine.git("ls-files", "-s", "--", path).out.splitlines()
    found = [int(line.split()[2]) for line in lines]
    return {stage: mine.show(f":{stage}:{path}") for stage in found}


def index(mine: Vendoring) -> list[str]:
    return mine.git("ls-files", "-s").lines


def test_the_stages_of_a_conflict(up, mine):
    package(up, mine)
    before = index(mine)
    mine.write("shop/web.yaml", OURS)  # not committed
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert stages(mine, "shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}
    assert "UU shop/web.yaml" in mine.git("status", "-s").out
    commit = mine.git("commit", "-m", "too early", check=False)
    assert commit.code != 0 and "unmerged files" in commit.err
    mine.vendor("update", "shop", "--abort")
    assert index(mine) == before
    assert mine.text("shop/web.yaml") == OURS


def test_resolve_and_its_undo(up, mine):
    package(up, mine)
    mine.write("shop/web.yaml", OURS)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    listed = mine.kmerge("resolve", "--list", check=False).out
    assert "local" in listed and "upstream" in listed
    answered = mine.kmerge("resolve", "--take", "theirs")
    end = "1 file staged; finish with `kmerge vendor update shop --continue`, then commit"
    assert answered.err == f"kmerge: {end}\n"
    assert (mine.text("shop/web.yaml"), stages(mine, "shop/web.yaml")) == (THEIRS, {0: THEIRS})
    mine.kmerge("resolve", "--undo", "shop/web.yaml")
    assert stages(mine, "shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}
    assert ">>>>>>> upstream" in mine.text("shop/web.yaml")
    done = mine.vendor("update", "shop", "--continue", code=1)
    assert "shop/web.yaml:" in done.err
    mine.kmerge("resolve", "--take", "ours")
    mine.vendor("update", "shop", "--continue")
    mine.git("add", "shop")
    mine.git("commit", "-m", "v2")
    assert mine.git("status", "-s").out == ""
    assert "ref: v2" in mine.show(f":shop/{RECORD}")


def test_the_end_is_for_the_current_folder(up, mine, monkeypatch):
    package(up, mine, "vendor/my shop")
    mine.write("vendor/my shop/web.yaml", OURS)
    ended = "`kmerge vendor update 'vendor/my shop' --continue`"
    assert ended in mine.vendor("update", "vendor/my shop", "--ref", "v2", code=1).out
    assert ended in mine.vendor("status", code=1).out
    assert ended in mine.vendor_fails("update", "vendor/my shop").err
    monkeypatch.chdir(mine.path / "vendor")
    done = mine.world.kmerge("resolve", "--take", "ours", cwd=mine.path / "vendor")
    assert "`kmerge vendor update 'my shop' --continue`" in done.err
    mine.vendor("update", "my shop", "--continue")


def test_a_file_in_place_of_a_folder(up, mine):
    package(up, mine)
    release(up, "v3", {"kind/x.yaml": config(a="1")})
    mine.commit("a file", {"shop/kind": "a file\n"})
    mine.vendor("update", "shop", "--ref", "v3", code=1)
    assert stages(mine, "shop/kind/x.yaml").keys() == {3}
    assert mine.text("shop/kind") == "a file\n"
    mine.vendor("update", "shop", "--abort")
    assert mine.git("status", "-s").out == ""


@pytest.mark.parametrize("path", ["gone.yaml", "left.yaml"])
def test_a_file_that_one_side_deleted(up, mine, path):
    package(up, mine)
    is_ours = path == "left.yaml"
    if is_ours:
        mine.git("rm", "-q", "shop/left.yaml")
    else:
        mine.write("shop/gone.yaml", service("gone", 82))
    mine.git("commit", "-qam", "ours")
    before = index(mine)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    found = stages(mine, f"shop/{path}")
    if is_ours:
        assert found == {1: service("left"), 3: service("left", 81)}
    else:
        assert found == {1: service("gone"), 2: service("gone", 82)}
    mine.kmerge("resolve", "--take", "theirs")
    there = mine.text(f"shop/{path}") if is_ours else (mine.path / "shop" / path).exists()
    assert there == (service("left", 81) if is_ours else False)
    mine.vendor("update", "shop", "--abort")
    assert index(mine) == before
    assert mine.git("status", "-s").out == ""


def test_what_git_does_not_track_stays_out_of_the_index(up, mine):
    package(up, mine)
    release(up, "v3", {"new.yaml": config(a="theirs"), "web.yaml": THEIRS + "# 3\n"})
    mine.write("shop/new.yaml", config(a="mine"))
    before = index(mine)
    mine.vendor("update", "shop", "--ref", "v3", code=1)
    assert "<<<<<<< local" in mine.text("shop/new.yaml")
    assert index(mine) == before


def test_an_untracked_package(up, mine):
    release(up, "v1", {"web.yaml": BASE, "left.yaml": service("left")})
    release(up, "v2", {"web.yaml": THEIRS, "left.yaml": service("left", 81)})
    mine.vendor("add", str(up.path), "shop", "--ref", "v1")
    mine.write("shop/web.yaml", OURS)
    (mine.path / "shop/left.yaml").unlink()
    mine.write(".git/index.lock", "")  # nothing is written to the index
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert index(mine) == []
    mine.vendor("update", "shop", "--abort")


@pytest.mark.parametrize("git_dir", ["", ".git", "bare.git"])
def test_a_folder_outside_of_a_repository(up, mine, tmp_path, monkeypatch, git_dir):
    release(up, "v1", {"web.yaml": BASE})
    release(up, "v2", {"web.yaml": THEIRS})
    folder = tmp_path / "no-repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    mine.git("init", "-q", "--bare", "bare.git")
    if git_dir:
        monkeypatch.setenv("GIT_DIR", str(mine.path / git_dir))
        monkeypatch.setenv("GIT_WORK_TREE", str(mine.path))
    if git_dir == "bare.git":
        monkeypatch.delenv("GIT_WORK_TREE")
    mine.vendor("add", str(up.path), "shop", "--ref", "v1")
    (folder / "shop/web.yaml").write_text(OURS)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert "<<<<<<< local" in (folder / "shop/web.yaml").read_text()
    mine.vendor("update", "shop", "--abort")


def test_modes_and_links(up, mine):
    up.write("run", "a\n").chmod(0o755)
    (up.path / "link").symlink_to("a")
    release(up, "v1", {"web.yaml": BASE})
    (up.path / "link").unlink()
    (up.path / "link").symlink_to("b")
    release(up, "v2", {"run": "b\n"})
    mine.vendor("add", str(up.path), "shop", "--ref", "v1")
    mine.commit("v1", {"shop/run": "c\n"})
    (mine.path / "shop/link").unlink()
    (mine.path / "shop/link").symlink_to("c")
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    lines = [line.split() for line in mine.git("ls-files", "-u").lines]
    modes = {(path, stage): mode for mode, _, stage, path in lines}
    assert modes == {
        **{("shop/link", stage): "120000" for stage in "123"},
        **{("shop/run", stage): "100755" for stage in "123"},
    }
    assert stages(mine, "shop/link") == {1: "a", 2: "c", 3: "b"}
    assert mine.kmerge("resolve", "--list", check=False).code == 0
    mine.git("checkout", "--theirs", "shop")
    mine.vendor("update", "shop", "--continue")
    mine.git("add", "shop")
    assert mine.git("ls-files", "-u").out == ""


def test_a_disk_without_modes(up, mine):
    package(up, mine)
    mine.git("config", "core.fileMode", "false")
    mine.write("shop/web.yaml", OURS).chmod(0o755)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    modes = {line.split()[0] for line in mine.git("ls-files", "-u").lines}
    assert modes == {"100644"}


@pytest.mark.parametrize("is_package", [True, False])
def test_an_ignored_package_in_a_worktree(up, mine, is_package, monkeypatch):
    package(up, mine, "third/shop")
    mine.commit("ignored", {".gitignore": "shop/\n" if is_package else "*.yaml\n"})
    mine.git("worktree", "add", "-q", "-b", "other", "../tree")
    tree = Vendoring(mine.world, mine.path.parent / "tree", mine.capsys)
    monkeypatch.chdir(tree.path)
    tree.write("third/shop/web.yaml", OURS)
    before = index(mine)
    tree.vendor("update", "third/shop", "--ref", "v2", code=1)
    assert stages(tree, "third/shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}
    assert index(mine) == before
    tree.kmerge("resolve", "--take", "ours")
    assert stages(tree, "third/shop/web.yaml") == {0: OURS}


def test_line_ends_are_those_of_the_repository(up, mine):
    package(up, mine)
    mine.commit("crlf", {".gitattributes": "*.yaml text eol=crlf\n"})
    crlf = OURS.replace("\n", "\r\n")
    mine.write("shop/web.yaml", crlf)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert stages(mine, "shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}


def test_a_renamed_file_and_a_moved_resource(up, mine):
    """The stages are at the new path, and ours has there what ours changed at the old one."""
    both = f"{BASE}---\n{service('web')}"
    release(up, "v1", {"all.yaml": both, "old.yaml": config(a="1", b="2", c="3")})
    release(
        up,
        "v2",
        {
            "all.yaml": service("web"),
            "web.yaml": THEIRS,
            "old.yaml": None,
            "new.yaml": config(a="2", b="2", c="3"),
        },
    )
    mine.vendor("add", str(up.path), "shop", "--ref", "v1")
    ours = config(a="4", b="2", c="3")
    mine.commit("v1", {"shop/all.yaml": both.replace("shop:1", "shop:mine"), "shop/old.yaml": ours})
    before = index(mine)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert stages(mine, "shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}
    assert stages(mine, "shop/new.yaml")[2] == ours
    assert stages(mine, "shop/old.yaml").keys() == {0}
    mine.kmerge("resolve", "--take", "ours")
    assert mine.text("shop/web.yaml") == OURS
    assert mine.text("shop/new.yaml") == ours
    mine.vendor("update", "shop", "--abort")
    assert index(mine) == before
    assert mine.git("status", "-s").out == ""


def test_a_staged_version_is_not_dropped(up, mine):
    package(up, mine)
    mine.write("shop/web.yaml", deployment(image="shop:staged"))
    mine.git("add", "shop")
    mine.write("shop/web.yaml", OURS)
    before, tree = index(mine), mine.tree("shop")
    done = mine.vendor_fails("update", "shop", "--ref", "v2")
    assert done.err.startswith(
        "kmerge: shop/web.yaml: the conflict would replace the staged version"
    )
    assert (index(mine), mine.tree("shop")) == (before, tree)
    mine.git("add", "shop")
    before = index(mine)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert stages(mine, "shop/web.yaml")[2] == OURS
    mine.vendor("update", "shop", "--abort")
    assert index(mine) == before


def test_a_package_without_a_commit(up, mine):
    release(up, "v1", {"web.yaml": BASE})
    release(up, "v2", {"web.yaml": THEIRS})
    mine.vendor("add", str(up.path), "shop", "--ref", "v1")
    mine.git("add", "shop")
    mine.write("shop/web.yaml", OURS)
    assert "staged" in mine.vendor_fails("update", "shop", "--ref", "v2").err
    mine.git("add", "shop")
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert stages(mine, "shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_conflict_of_a_merge_keeps_its_stages(up, mine, is_deleted):
    package(up, mine)
    mine.git("checkout", "-qb", "side")
    mine.commit("side", {"shop/web.yaml": deployment(image="shop:side")})
    mine.git("checkout", "-q", "-")
    mine.commit("ours", {"shop/web.yaml": OURS})
    mine.merge("side")
    if is_deleted:
        (mine.path / "shop/web.yaml").unlink()
    before = index(mine)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert index(mine) == before
    mine.vendor("update", "shop", "--abort")
    assert index(mine) == before


@pytest.mark.parametrize("kind", ["split", "sparse"])
def test_an_index_that_libgit2_cannot_read(up, mine, kind):
    package(up, mine)
    mine.commit("more", {"other/x": "1\n"})
    mine.write("shop/web.yaml", OURS)
    if kind == "split":
        mine.git("update-index", "--split-index")
    else:
        mine.git("sparse-checkout", "set", "--cone", "--sparse-index", "shop")
    before = index(mine)
    mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert stages(mine, "shop/web.yaml") == {1: BASE, 2: OURS, 3: THEIRS}
    assert "in conflict: web.yaml" in mine.vendor("status", code=1).out
    mine.vendor("update", "shop", "--abort")
    assert index(mine) == before


def test_a_locked_index(up, mine):
    package(up, mine)
    mine.write("shop/web.yaml", OURS)
    before, tree = index(mine), mine.tree("shop")
    lock = mine.write(".git/index.lock", "")
    done = mine.vendor_fails("update", "shop", "--ref", "v2")
    assert "another git process holds the lock " in done.err
    assert (index(mine), mine.tree("shop")) == (before, tree)
    lock.unlink()


def test_a_disk_that_is_full(up, mine, monkeypatch):
    from kmerge_git.packages import exchanged_files

    package(up, mine)
    mine.write("shop/web.yaml", OURS)
    before, tree = index(mine), mine.tree("shop")
    real = os.replace

    def fails(source: str, target: str) -> None:
        if target.endswith("web.yaml"):
            assert stages(mine, "shop/web.yaml").keys() == {1, 2, 3}
            monkeypatch.setattr(exchanged_files.os, "replace", real)
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(exchanged_files.os, "replace", fails)
    assert "No space left" in mine.vendor_fails("update", "shop", "--ref", "v2").err
    assert (index(mine), mine.tree("shop")) == (before, tree)


def test_status_names_the_files(up, mine):
    package(up, mine)
    mine.write("shop/web.yaml", OURS)
    mine.write("shop/gone.yaml", service("gone", 82))
    mine.vendor("update", "shop", "--ref", "v2", code=1)

    def named() -> list[str]:
        lines = mine.vendor("status", code=1).out.splitlines()
        return [line.strip() for line in lines if "in conflict" in line]

    assert named() == ["in conflict: gone.yaml", "in conflict: web.yaml"]
    mine.kmerge("resolve", "--take", "ours", "shop/web.yaml")
    assert named() == ["in conflict: gone.yaml"]


def test_the_journal_keeps_ids_of_both_lengths() -> None:
    for id_ in ("0" * 3 + "a" * 37, "0" * 3 + "a" * 61):
        entry = TreeEntry(id_, 0o100644)
        conflict = IndexConflict(Stages("x.yaml", entry, entry, None), entry)
        assert parse(spelled([conflict]), "journal") == (conflict,)
