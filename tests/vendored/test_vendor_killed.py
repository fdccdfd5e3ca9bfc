"""An update that is killed at any step: `--continue` or `--abort` bring it to one of its ends."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest
from depth import is_whole, kill_points
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import config, deployment, service

# Told a number n it runs the command in a process of its own, and kills that right before its n-th
# step that changes anything below the package, or the index.
KILLER = """
import os, signal, sys
from kmerge_git.cli import vendor_actions
from kmerge_git.cli.main import main
from kmerge_git.vendored import package_updating
STEPS = {"os.rename", "os.remove", "os.chmod", "os.mkdir", "os.rmdir", "os.symlink", "shutil.rmtree"}
count = 0
def watch(event, args):
    global count
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax")
    place = args[0] if args else ""
    place = os.fsdecode(place) if isinstance(place, (str, bytes, os.PathLike)) else ""
    here = os.path.realpath("shop")
    is_index = event == "subprocess.Popen" and "update-index" in args[1]
    is_below = (event in STEPS or writes) and (os.path.realpath(place) + "/").startswith(here + "/")
    if is_index or is_below:
        count += 1
        if count == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
for line in sys.stdin:
    wanted = int(line)
    child = os.fork()
    if not child:
        sys.stdout = sys.stderr = open(os.devnull, "w")
        sys.addaudithook(watch)
        os._exit(main(["vendor", *sys.argv[1:]]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def vendored(up: Repo, mine: Vendoring) -> Vendoring:
    """A package with changes of its own, before an update that does all there is to do."""
    first = {
        "web.yaml": deployment(),
        "db/svc.yaml": service("db"),
        "old.txt": "old\n",
        "run": "a\n",
    }
    release(up, "v1.0.0", first | {"kind": "a file\n"})
    up.git("rm", "-q", "kind")
    (up.path / "link").symlink_to("web.yaml")
    up.path.joinpath("run").chmod(0o755)
    second = {"web.yaml": deployment(image="shop:2"), "old.txt": None, "new/c.yaml": config(a="b")}
    release(up, "v1.1.0", second | {"kind/x": "a folder now\n", "run": "b\n"})
    mine.vendor("add", "../up", "shop", "--ref", "v1.0.0")
    return mine


def conflicting(mine: Vendoring) -> None:
    mine.write("shop/web.yaml", deployment(image="ours:1"))


def changed(mine: Vendoring) -> None:
    mine.write("shop/web.yaml", deployment(replicas=4))


def step_by_step(mine: Vendoring, tmp_path: Path, *words: str) -> Iterator[int]:
    """Run the command again and again from the same start, killed one step later each time."""
    start, index = tmp_path / "start", mine.path / ".git/index"
    staged = index.read_bytes() if index.exists() else b""
    shutil.copytree(mine.path / "shop", start, symlinks=True)
    argv = [sys.executable, "-c", KILLER, *words]
    with subprocess.Popen(
        argv, cwd=mine.path, env=mine.world.env, stdin=PIPE, stdout=PIPE, text=True, bufsize=1
    ) as killer:
        assert killer.stdin is not None
        assert killer.stdout is not None
        done = 0
        for step in kill_points():
            shutil.rmtree(mine.path / "shop")
            shutil.copytree(start, mine.path / "shop", symlinks=True)
            if staged:
                index.write_bytes(staged)
            killer.stdin.write(f"{step}\n")
            code = int(killer.stdout.readline())
            if code != -signal.SIGKILL:
                break
            done += 1
            yield step
        assert done > (2 if is_whole() else 0), "nothing was killed"
        assert code in (0, 1)


@pytest.mark.kill
@pytest.mark.parametrize("end", ["--continue", "--abort"])
@pytest.mark.parametrize("local", [changed, conflicting])
def test_an_update(vendored, tmp_path, local, end):
    local(vendored)
    before = vendored.tree("shop")
    clean = local is changed
    shutil.copytree(vendored.path / "shop", tmp_path / "kept", symlinks=True)
    vendored.vendor("update", "shop", "--ref", "v1.1.0", code=int(not clean))
    after = {p: f for p, f in vendored.tree("shop").items() if not p.startswith(".kmerge-update/")}
    shutil.rmtree(vendored.path / "shop")
    shutil.copytree(tmp_path / "kept", vendored.path / "shop", symlinks=True)

    ends = set()
    for _ in step_by_step(vendored, tmp_path, "update", "shop", "--ref", "v1.1.0"):
        left = vendored.tree("shop")
        for path in before.keys() | after.keys():
            assert left.get(path) in (before.get(path), after.get(path)), path
        folder = vendored.path / "shop/.kmerge-update"
        if not (folder / "journal").exists():
            now = {p: f for p, f in left.items() if not p.startswith(".kmerge-update/")}
            assert now in (before, after)
            ends.add("before" if now == before else "after")
            if folder.exists():
                vendored.vendor_fails("update", "shop", end)
            continue
        if end == "--continue" and not clean:
            assert "unresolved conflict" in vendored.vendor("update", "shop", end, code=1).err
            vendored.vendor("update", "shop", "--abort")
            assert vendored.tree("shop") == before
        else:
            vendored.vendor("update", "shop", end)
            assert vendored.tree("shop") == (after if end == "--continue" else before)
        ends.add("between")
    possible = {"before", "between", "after"} if clean else {"before", "between"}
    assert ends == possible or (ends < possible and not is_whole())


@pytest.mark.kill
@pytest.mark.parametrize("end", ["--continue", "--abort"])
def test_the_index(vendored, tmp_path, end):
    """No file with markers is without its stages, and each end repairs the index."""
    vendored.commit("v1.0.0", {})
    conflicting(vendored)
    before, index = vendored.tree("shop"), vendored.git("ls-files", "-s").out
    is_marked = set()
    for _ in step_by_step(vendored, tmp_path, "update", "shop", "--ref", "v1.1.0"):
        now, folder = vendored.git("ls-files", "-s").out, vendored.path / "shop/.kmerge-update"
        assert now != index or "<<<<<<<" not in vendored.text("shop/web.yaml")
        if not (folder / "journal").exists():
            assert now == index
            continue
        is_marked.add(now != index)
        if end == "--continue":
            assert "unresolved conflict" in vendored.vendor("update", "shop", end, code=1).err
            assert vendored.unmerged() == ["shop/web.yaml"]
        vendored.vendor("update", "shop", "--abort")
        assert (vendored.tree("shop"), vendored.git("ls-files", "-s").out) == (before, index)
    assert is_marked == {True, False} or not is_whole()


@pytest.mark.kill
@pytest.mark.parametrize("end", ["--continue", "--abort"])
def test_the_end_itself(vendored, tmp_path, end):
    """A kill while a resolved update is ended leaves what either end can take up again."""
    vendored.commit("v1.0.0", {})
    conflicting(vendored)
    before, index = vendored.tree("shop"), vendored.git("ls-files", "-s").out
    vendored.vendor("update", "shop", "--ref", "v1.1.0", code=1)
    vendored.write("shop/web.yaml", deployment(image="ours:2"))
    moved_on = 0
    for _ in step_by_step(vendored, tmp_path, "update", "shop", end):
        folder = vendored.path / "shop/.kmerge-update"
        if (folder / "journal").exists():
            if end == "--continue" and "ref: v1.1.0" in vendored.text("shop/.kmerge-vendor"):
                moved_on += 1  # too late to go back
                assert "--continue" in vendored.vendor_fails("update", "shop", "--abort").err
            vendored.vendor("update", "shop", end)
        elif folder.exists():
            vendored.vendor_fails("update", "shop", end)
        if end == "--continue":
            assert "ref: v1.1.0" in vendored.text("shop/.kmerge-vendor")
            assert vendored.text("shop/web.yaml") == deployment(image="ours:2")
            assert vendored.text("shop/run") == "b\n"
        else:
            assert vendored.tree("shop") == before
            assert vendored.git("ls-files", "-s").out == index
        assert not folder.exists()
    assert bool(moved_on) == (end == "--continue") or not (moved_on or is_whole())


@pytest.mark.kill
def test_a_copy_that_was_not_finished(vendored, tmp_path):
    shutil.rmtree(vendored.path / "shop")
    (vendored.path / "shop").mkdir()
    ends = set()
    for _ in step_by_step(vendored, tmp_path, "add", "../up", "shop", "--ref", "v1.0.0"):
        folder = vendored.path / "shop/.kmerge-update"
        if (folder / "journal").exists():
            assert "--abort" in vendored.vendor_fails("add", "../up", "shop").err
            vendored.vendor("update", "shop", "--abort")
            assert vendored.tree("shop") == {}
            ends.add("undone")
        elif not folder.exists():
            assert vendored.tree("shop") == {}
            ends.add("nothing")
    assert ends == {"nothing", "undone"} or not is_whole()


def test_what_somebody_edited_meanwhile_is_left_alone_and_told(vendored, monkeypatch):
    from kmerge_git.packages import exchanged_files

    begin = exchanged_files.begin

    def and_an_edit(root: str, *args: object) -> None:
        begin(root, *args)
        vendored.write("shop/web.yaml", "mine: now\n")

    monkeypatch.setattr(exchanged_files, "begin", and_an_edit)
    done = vendored.vendor("update", "shop", "--ref", "v1.1.0", code=1)
    assert "shop/web.yaml: not overwritten, as it has changed" in done.err
    assert vendored.text("shop/web.yaml") == "mine: now\n"
    vendored.vendor("update", "shop", "--continue")
    assert vendored.text("shop/web.yaml") == "mine: now\n"
