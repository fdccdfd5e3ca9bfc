"""`merge2` and `merge3` with packages of people who mean harm: nothing outside is written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kmerge_git.cli.main import main

SECRET = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {}\ntype: {}\n"
HOOK = "#!/bin/sh\necho pwned\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A repository with a package in `dest`, its upstream versions, and what is nobody's matter."""
    write(tmp_path / "repo" / ".git" / "hooks" / "sample", "git's own")
    write(tmp_path / "outside" / "file", "outside")
    write(tmp_path / "outside" / "folder" / "file", "outside")
    for name in ("repo/dest", "original", "updated"):
        write(tmp_path / name / "a.yaml", SECRET.format("a", "x"))
        write(tmp_path / name / "note.txt", "1\n")
    write(tmp_path / "updated" / "a.yaml", SECRET.format("a", "new"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def everything(root: Path) -> dict[str, object]:
    """All that can be seen of a directory, links as links."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        about = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        found[name] = (about.st_mode, content)
    return found


def dest(root: Path) -> dict[str, str]:
    root = root / "repo" / "dest" if (root / "repo").is_dir() else root
    files = [path for path in root.rglob("*") if path.is_file() or path.is_symlink()]
    return {
        path.relative_to(root).as_posix(): f"-> {os.readlink(path)}"
        if path.is_symlink()
        else path.read_text()
        for path in files
    }


MERGE2 = ["merge2", "--src", "updated", "--dest", "repo/dest"]
MERGE3 = ["merge3", "--original", "original", "--updated", "updated", "--dest", "repo/dest"]
WAYS = {
    "merge2 --in-place": [*MERGE2, "--in-place"],
    "merge2 -o": [*MERGE2, "-o", "out"],
    "merge3 --in-place": [*MERGE3, "--in-place"],
    "merge3 -o": [*MERGE3, "-o", "out"],
    "merge3 --rules git": [*MERGE3, "--rules", "git", "--in-place"],
}
IN_PLACE = {name: argv for name, argv in WAYS.items() if "--in-place" in argv}


def link(name: str, target: str):
    def attack(root: Path) -> None:
        path = root / "updated" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target.format(root=root))

    return attack


def hook(*parts: str):
    return lambda root: write(root.joinpath("updated", *parts), HOOK, 0o755)


def pipe(root: Path) -> None:
    os.mkfifo(root / "updated" / "pipe")


REFUSED = {
    "a link to a file outside": link("x", "/etc/passwd"),
    "a link to a folder outside": link("x", "{root}/outside/folder"),
    "a link up": link("x", ".."),
    "a link up and away": link("deep/er/x", "../../../outside/file"),
    "a link up through a folder that is there": link("x", "deep/../../outside/file"),
    "a link to git's folder": link("x", ".git/hooks"),
    "a link to git's folder by another name": link("x", "GIT~1/hooks"),
    "a link over a manifest": link("a.yaml", "{root}/outside/file"),
    "a link over a file": link("note.txt", "../outside/file"),
    "a hook": hook("sub", ".git", "hooks", "post-checkout"),
    "a hook in other letters": hook(".GIT", "hooks", "post-checkout"),
    "a hook behind what nobody sees": hook(".g\u200cit", "hooks", "post-checkout"),
    "a hook as NTFS has it": hook("git~1", "hooks", "post-checkout"),
    "a hook in a stream": hook(".git::$INDEX_ALLOCATION", "hooks", "post-checkout"),
    "a journal of ours": hook(".kmerge-update", "journal"),
    "a folder of ours": hook("sub", ".kmerge-update", "journal"),
    "a pipe": pipe,
}


@pytest.mark.parametrize("argv", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("attack", REFUSED.values(), ids=REFUSED)
def test_a_hostile_source_is_refused_as_a_whole(place, capfd, attack, argv):
    attack(place)
    before = everything(place)
    assert main(argv) == 2
    assert everything(place) == before
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("kmerge: updated")


@pytest.mark.parametrize("argv", IN_PLACE.values(), ids=IN_PLACE)
def test_a_repository_of_the_sources_own_is_not_taken(place, argv):
    hook(".git", "hooks", "post-checkout")(place)
    before = everything(place / "repo" / ".git")
    assert main(argv) == 0
    assert everything(place / "repo" / ".git") == before
    assert dest(place) == {"a.yaml": SECRET.format("a", "new"), "note.txt": "1\n"}


@pytest.mark.parametrize("argv", IN_PLACE.values(), ids=IN_PLACE)
@pytest.mark.parametrize("target", ["../.git/hooks", "{root}/repo/.git/hooks", "../../outside"])
def test_a_folder_behind_a_link_of_dest(place, capfd, argv, target):
    """Where dest has a link, the source has a real folder with an executable in it."""
    (place / "repo" / "dest" / "scripts").symlink_to(target.format(root=place))
    write(place / "updated" / "scripts" / "post-checkout", HOOK, 0o755)
    before = everything(place / "repo")
    outside = everything(place / "outside")
    main(argv)
    after = everything(place / "repo")
    assert everything(place / "outside") == outside
    assert {k: v for k, v in after.items() if k.startswith(".git")} == {
        k: v for k, v in before.items() if k.startswith(".git")
    }
    assert not (place / "repo" / ".git" / "hooks" / "post-checkout").exists()
    assert "scripts" in capfd.readouterr().err


@pytest.mark.parametrize("argv", WAYS.values(), ids=WAYS)
def test_odd_links_of_dest_are_its_own_matter(place, argv):
    for name, target in {"up": "../..", "git": "../.git", "none": "/none", "self": "self"}.items():
        (place / "repo" / "dest" / name).symlink_to(target)
    outside = everything(place / "outside"), everything(place / "repo" / ".git")
    assert main(argv) == 0
    assert (everything(place / "outside"), everything(place / "repo" / ".git")) == outside
    found = dest(place / "out" if "-o" in argv else place)
    assert found == {
        "a.yaml": SECRET.format("a", "new"),
        "note.txt": "1\n",
        "git": "-> ../.git",
        "none": "-> /none",
        "self": "-> self",
        "up": "-> ../..",
    }


def test_a_link_that_upstream_makes_a_file(place):
    """The link itself is replaced; what it leads to is not written."""
    for name in ("original", "repo/dest"):
        (place / name / "note.txt").unlink()
        (place / name / "note.txt").symlink_to("../../outside/file")
        (place / name / "folder").symlink_to("../../outside/folder")
    write(place / "updated" / "folder" / "file", "new\n")
    outside = everything(place / "outside")
    assert main(WAYS["merge3 --in-place"]) == 0
    assert everything(place / "outside") == outside
    assert dest(place) == {
        "a.yaml": SECRET.format("a", "new"),
        "folder/file": "new\n",
        "note.txt": "1\n",
    }


def test_a_file_that_upstream_makes_a_link(place):
    link("note.txt", "a.yaml")(place)
    assert main(WAYS["merge3 --in-place"]) == 0
    assert dest(place) == {"a.yaml": SECRET.format("a", "new"), "note.txt": "-> a.yaml"}


ODD = ["new\nline", "esc\x1b[31mred", "bidi\u202etxt.exe", "bell\x07", "-rf", "a b", "\u200b"]


@pytest.mark.parametrize("argv", WAYS.values(), ids=WAYS)
def test_odd_names_are_written_and_told_with_escapes(place, capfd, argv):
    for name in ODD:
        write(place / "updated" / name / f"{name}.txt", "1\n")
        write(place / "updated" / f"{name}.txt", "2\n")
        write(place / "repo" / "dest" / f"{name}.txt", "3\n")
    write(place / "updated" / os.fsdecode(b"bytes\xff"), "1\n")
    assert main([*argv, "--summary"]) in (0, 1)
    out, err = capfd.readouterr()
    assert all(line.isprintable() for line in (out + err).splitlines())
    found = dest(place / "out" if "-o" in argv else place)
    assert {f"{name}/{name}.txt" for name in ODD} < found.keys()
    assert os.fsdecode(b"bytes\xff") in found


def test_an_error_about_an_odd_name_is_one_line(place, capfd):
    link("a\n\x1b[2J\u202eb", "/etc\n/passwd\x07")(place)
    assert main(WAYS["merge3 --in-place"]) == 2
    err = capfd.readouterr().err
    assert err.endswith("\n") and err[:-1].isprintable()


@pytest.mark.parametrize("target", ["outside/none", "outside/file", "outside/folder", "out"])
def test_an_output_that_is_a_link(place, capfd, target):
    (place / "out").symlink_to(target)
    before = everything(place)
    assert main(WAYS["merge3 -o"]) == 2
    assert everything(place) == before
    assert capfd.readouterr().err.startswith("kmerge: out: the output exists")


def test_roots_may_be_given_through_links(place):
    for name in ("original", "updated", "repo/dest"):
        (place / name).rename(place / f"{name}-real")
        (place / name).symlink_to(f"{Path(name).name}-real")
    assert main(WAYS["merge3 --in-place"]) == 0
    assert (place / "repo" / "dest").is_symlink()
    assert (place / "repo" / "dest-real" / "a.yaml").read_text() == SECRET.format("a", "new")


@pytest.mark.parametrize("path", ["../../outside/file", "/etc/x", ".git/hooks/x", "a/../../x"])
def test_a_journal_that_came_with_dest(place, capfd, path):
    stamp = {"kind": "file", "checksum": "0", "mode": 0o755}
    exchange = {"path": path, "number": 0, "old": None, "new": stamp}
    about = {"version": 1, "about": {}, "token": "0", "folders": {}, "exchanges": [exchange]}
    write(place / "repo" / "dest" / ".kmerge-update" / "new" / "0", HOOK)
    write(place / "repo" / "dest" / ".kmerge-update" / "journal", json.dumps(about))
    before = everything(place)
    assert main(WAYS["merge3 --in-place"]) == 2
    assert everything(place) == before
    assert ".kmerge-update" in capfd.readouterr().err


# --- the whole road


KILLED = """
import os, sys
from kmerge_git.cli.main import main
left, replace = {left}, os.replace
def dies(source, target):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    replace(source, target)
os.replace = dies
sys.exit(main({argv!r}))
"""


@pytest.mark.parametrize("left", [0, 1, 2])
def test_the_next_run_ends_what_a_killed_one_began(place, capfd, left):
    write(place / "updated" / "b.yaml", SECRET.format("b", "x"))
    write(place / "updated" / "note.txt", "2\n")
    argv = WAYS["merge3 --in-place"]
    code = KILLED.format(left=left, argv=argv)
    done = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, **PATH})
    assert done.returncode == 9
    assert (place / "repo" / "dest" / ".kmerge-update" / "journal").exists()
    assert main(WAYS["merge3 -o"]) == 2
    assert capfd.readouterr().err.startswith(
        "kmerge: repo/dest: a killed command left this directory half written"
    )
    assert main(argv) == 0
    assert "finished the changes of a run that was killed" in capfd.readouterr().err
    assert dest(place) == {
        "a.yaml": SECRET.format("a", "new"),
        "b.yaml": SECRET.format("b", "x"),
        "note.txt": "2\n",
    }
    before = everything(place)
    assert main(argv) == 0
    assert everything(place) == before


PATH = {"PYTHONPATH": os.pathsep.join(sys.path)}


def test_two_runs_at_once(place, capfd):
    fcntl = pytest.importorskip("fcntl")
    handle = os.open(place / "repo" / "dest", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        before = everything(place)
        assert main(WAYS["merge3 --in-place"]) == 2
        assert everything(place) == before
        err = capfd.readouterr().err
        assert (
            err
            == "kmerge: repo/dest: another kmerge process uses this directory; wait until it ends\n"
        )
    finally:
        os.close(handle)
    assert main(WAYS["merge3 --in-place"]) == 0
