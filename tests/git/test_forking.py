"""Programs in forked processes come to what they come to when they are started for real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forking
import pytest
from manifests import deployment, service
from world import Repo, World

from kmerge_git.cli.main import COMMANDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")

BASE = {
    "app.yaml": deployment(),
    "clash.yaml": deployment(),
    "ö.yaml": "kind: A\nmetadata: {name: ö}\n",
}
OURS = {"app.yaml": deployment(2), "clash.yaml": deployment(2), "own/kustomization.yaml": "a: 1\n"}
THEIRS = {"app.yaml": deployment(env=("A=1", "T=1")), "clash.yaml": deployment(3)}
THREE = ("base.yaml", "ours.yaml", "theirs.yaml")
# the state of the repository ("torn" is in the middle of a merge) and the words of each command
ROWS: dict[str, list[tuple[str, ...]]] = {
    "install": [("", "--dry-run"), ("", "--hooks")],
    "uninstall": [("",)],
    "status": [("",), ("", "--json"), ("", "--deep")],
    "merge": [("", "side", "--explain"), ("", "nothing")],
    "preview": [("", "side", "--json")],
    "solve": [("torn", "--dry-run"), ("torn", "--json")],
    "resolve": [("torn", "--list", "--json"), ("torn", "--take", "theirs")],
    "explain": [("torn", "--all")],
    "refresh": [("", "--with", "side", "main", "--dry-run")],
    "generate": [("torn", "--restore"), ("", "--yes")],
    "replay": [("", "--json"), ("", "--policy", "*.yaml ** ours", "--json")],
    "diff": [("", "side", "HEAD"), ("", "ours.yaml", "ö.yaml")],
    "check": [("", "--select", "all"), ("torn", "--merge")],
    "merge-file": [("", *THREE), ("", *THREE, "-o", "ours.yaml"), ("", "none", "none", "none")],
    "merge2": [("", "--src", "theirs.yaml", "--dest", "ours.yaml")],
    "merge3": [("", "-O", THREE[0], "-U", THREE[2], "-D", THREE[1], "--summary")],
    "mergetool": [("", *THREE, "out.yaml")],
    "vendor": [("", "add", "../up", "shop"), ("", "list", "--json")],
    "patch": [("", "ours.yaml", "-p", '{"spec": {"replicas": 7}}')],
    "make-patch": [("", "ours.yaml", "theirs.yaml")],
    "apply": [("", "ours.yaml", "--live", "theirs.yaml", "--explain")],
    "last-applied": [("", "view", "ours.yaml")],
    "completion": [("", "bash")],
}


def test_every_command_has_its_row() -> None:
    assert {*ROWS} == {*COMMANDS, "solve"}


@pytest.fixture
def shop(world: World) -> Repo:
    """A repository with a branch to merge, three versions of a file, and an upstream beside it."""
    world.init("up").commit("up", {"web.yaml": deployment(), "svc.yaml": service(80)})
    repo = world.init()
    three = zip(THREE, (deployment(), deployment(2), deployment(env=("A=1", "T=1"))), strict=True)
    repo.fork(BASE | dict(three), OURS, THEIRS)
    return repo


Came = tuple[int, bytes, bytes]


def forked(world: World, cwd: Path, *words: str, env: dict[str, str] | None = None) -> Came:
    argv = [sys.executable, *words]
    given = world.env | (env or {})
    done = forking.run_forked(argv, cwd=str(cwd), env=given, stdin=b"in\n", timeout=600)
    assert done is not None, "it was not forked"
    return done.returncode, done.stdout, done.stderr


def started(world: World, cwd: Path, *words: str, env: dict[str, str] | None = None) -> Came:
    argv = [sys.executable, *words]
    given = world.env | (env or {})
    done = subprocess.run(argv, cwd=cwd, env=given, input=b"in\n", capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def files(root: Path) -> dict[str, object]:
    """All that lies there, but for the index, which knows when a file was written."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
        if path.name != "index" and "driver" not in path.parts
    }


@pytest.mark.world
@pytest.mark.parametrize("command", ROWS)
def test_a_command_comes_to_the_same(shop: Repo, command: str) -> None:
    world = shop.world
    for state, *words in ROWS[command]:
        if state == "torn" and not shop.unmerged():
            assert shop.merge().code == 1
        kept = world.root.with_name("kept")
        shutil.copytree(world.root, kept, symlinks=True)
        ends = []
        for way in (forked, started):
            came = way(world, shop.path, "-m", "kmerge_git", command, *words)
            staged = shop.git("ls-files", "--stage").out
            ends.append((came, staged, files(world.root)))
            for place in world.root.iterdir():  # the folder stays: this process lives in it
                shutil.rmtree(place) if place.is_dir() else place.unlink()
            shutil.copytree(kept, world.root, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(kept)
        assert ends[0] == ends[1]
        assert b"internal error" not in ends[0][0][2]


PROGRAMS = {
    "input": "import sys; print(sys.stdin.read(), sys.argv)",
    "exit code": "raise SystemExit(7)",
    "large exit code": "raise SystemExit(259)",
    "words for an exit code": "raise SystemExit('no')",
    "exception": "1 / 0",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "Ctrl-C": "import atexit; atexit.register(print, 'end'); print('a'); raise KeyboardInterrupt",
    "at the end": "import atexit; atexit.register(print, 'end'); print('begin')",
    "threads": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
    "streams": "import sys\n"
    "for s in (sys.stdin, sys.stdout, sys.stderr): print(s.encoding, s.errors, s.line_buffering,\n"
    "    s.write_through, s.newlines, s.isatty(), s.name, s.mode, s.fileno(), s.seekable())",
    "characters": "import sys; print('ö\\udcff'); print('ö', file=sys.stderr)",
    "descriptors": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "place": "import os, sys; print(os.getcwd(), sys.path[0], sys.executable, sys.flags)",
    "environment": "import os; print(sorted(os.environ.items()))",
    "signals": "import signal; print([(s, str(signal.getsignal(s))) for s in signal.valid_signals()])",
    "wake up": "import signal; print(signal.set_wakeup_fd(-1), signal.pthread_sigmask(0, []))",
    "limits": "import resource as r, os; print(r.getrlimit(r.RLIMIT_NOFILE), os.umask(0))",
    "warnings": "import warnings\n"
    "print([f for f in warnings.filters if 'ruamel' not in str(f)])  # it adds some when imported\n"
    "warnings.warn('w', DeprecationWarning)",
    "time": "import time; print(time.tzname, time.localtime(0))",
    "recursion": "import sys, threading, gc\n"
    "print(sys.getrecursionlimit(), threading.active_count(), gc.isenabled(), gc.get_threshold())",
    "random": "import random; print(random.getstate()[1][:3] != random.Random(0).getstate()[1][:3])",
    "home": "import pygit2, sys; from pygit2 import enums\n"
    "print(getattr(pygit2.settings, 'homedir', ''))\n"
    "p = pygit2.settings.search_path; print([p[enums.ConfigLevel[n]] for n in ('GLOBAL', 'XDG')])",
}


@pytest.mark.world
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_comes_to_the_same(world: World, name: str) -> None:
    forked(world, world.home, "-c", "")  # the server is there, and lives in another time zone
    words = ("-c", PROGRAMS[name], "a", "b")
    code, out, err = forked(world, world.home, *words, env={"TZ": "Asia/Tokyo"})
    wanted = started(world, world.home, *words, env={"TZ": "Asia/Tokyo"})
    if name in ("exception", "Ctrl-C"):  # a traceback has a frame of ours above
        err, (_, _, told) = err[-30:], wanted
        wanted = (*wanted[:2], told[-30:])
    assert (code, out, err) == wanted


def test_a_script_comes_to_the_same(world: World) -> None:
    script = world.root / "it.py"
    script.write_text("import sys\nprint(__name__, __file__, sys.argv, sys.path[0])\n")
    ways = (forked, started)
    assert len({way(world, world.home, str(script), "a") for way in ways}) == 1


@pytest.mark.parametrize(
    "words, env",
    [
        (("-I", "-c", ""), {}),
        (("-P", "-m", "kmerge_git"), {}),
        (("-c", ""), {"PYTHONIOENCODING": "ascii"}),
        (("-c", ""), {"LC_ALL": "C.UTF-8"}),
        (("-c", ""), {"PYTHONWARNINGS": "error"}),
    ],
)
def test_what_an_interpreter_reads_at_its_start_is_never_forked(
    world: World, words: tuple[str, ...], env: dict[str, str]
) -> None:
    forked(world, world.home, "-c", "")  # there is a server
    argv, given = [sys.executable, *words], world.env | env
    assert forking.run_forked(argv, cwd="/", env=given, stdin=b"", timeout=600) is None


ENDLESS = {
    "itself": "import time; time.sleep(3600)",
    "without streams": "import os, time; os.close(1); os.close(2); time.sleep(3600)",
    "a child of it": "import subprocess, sys; subprocess.Popen(['sleep', '5'])",
}


@pytest.mark.parametrize("who", ENDLESS)
def test_a_program_that_never_ends_is_killed(world: World, who: str) -> None:
    words = ("-c", ENDLESS[who])
    with pytest.raises(subprocess.TimeoutExpired):
        world.python(*words, timeout=0.2)
    assert world.python("-c", "print('next')").out == "next\n"


def test_a_server_that_was_killed_is_made_again(world: World) -> None:
    with pytest.raises(AssertionError, match="has ended"):
        world.python("-c", "import os; os.kill(os.getppid(), 9)")
    assert world.python("-c", "print('next')").out == "next\n"


def test_much_input_and_output_do_not_block(world: World) -> None:
    code = "import sys; t = sys.stdin.read(); print(t); print(t, file=sys.stderr)"
    text = "x" * 300_000
    assert world.python("-c", code, stdin=text).said == f"{text}\n{text}\n"


def test_the_server_has_no_thread_and_no_repository(world: World) -> None:
    code = (
        "import os, sys; print(len(os.listdir(f'/proc/{os.getppid()}/task')))\n"
        "print([p for p in os.listdir(f'/proc/{os.getppid()}/fd') if '.git' in"
        " os.readlink(f'/proc/{os.getppid()}/fd/{p}')])\n"
        "print('kmerge_git.whole.resolving' in sys.modules)"
    )
    assert forked(world, world.home, "-c", code)[1] == b"1\n[]\nTrue\n"
