"""`kmerge refresh` of many branches in forked processes, which die, hang or are killed with it."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from depth import kill_points, part
from test_refresh import history, refs
from world import ROOT, Done, Repo, World

from kmerge_git.bounds import FEW_BRANCHES

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are looked for as Linux lists them"
)

# a row of kinds that two children share unevenly
MANY = (["resolved", "clean", "conflict", "resolved", "resolved"] * FEW_BRANCHES)[:FEW_BRANCHES]
ALL = ("refresh", "--with", "main", "--branches", "*")
# A run on some cores, with a hook for what happens in a child: git's processes, and its results.
RUN = """
import os, signal, subprocess, sys, time
from kmerge_git.cli.main import main
from kmerge_git.whole import cores, refreshing
cores.cores = lambda: {cores}
cores.CHILD_SECONDS = 1.0
parent, steps = os.getpid(), 0
def accident():
    {accident}
def counted():
    global steps
    steps += 1
    if steps == {step}:
        accident()
def watch(event, args):
    if event != "subprocess.Popen":
        return
    if os.getpid() != parent:
        counted()
    elif "merge-tree" in args[1]:
        open("merged-here", "w").close()
def dumps(result, dumped=cores.pickle.dumps):
    counted()
    return dumped(result)
sys.addaudithook(watch)
cores.pickle.dumps = dumps
code = main(sys.argv[1:])
sys.stdout.flush()
raise SystemExit(code)
"""


def run(
    repo: Repo, *words: str, cores: int = 2, accident: str = "pass", step: int = 0, env: str = "60"
) -> Done:
    """Refresh in a process of its own."""
    argv = [sys.executable, "-c", RUN.format(cores=cores, accident=accident, step=step), *words]
    given = repo.world.env | {"TMPDIR": str(temporary(repo)), "KMERGE_TIMEOUT": env}
    done = subprocess.run(argv, cwd=repo.path, env=given, capture_output=True, check=False)
    return Done(tuple(argv), done.returncode, done.stdout.decode(), done.stderr.decode())


def temporary(repo: Repo) -> Path:
    folder = repo.world.root / "temporary"
    folder.mkdir(exist_ok=True)
    return folder


def put_back(repo: Repo, before: dict[str, str]) -> None:
    moved = "".join(f"update {name} {oid}\n" for name, oid in before.items())
    repo.git("update-ref", "--stdin", stdin=moved)


@contextmanager
def nothing_left(repo: Repo) -> Iterator[None]:
    """Check that no scratch folder and no process of this test is left."""
    yield
    assert [*temporary(repo).iterdir()] == []
    assert processes(repo) == []


def processes(repo: Repo) -> list[str]:
    """The running processes that live in the repository, or in a scratch folder of it."""
    lines = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            here = os.readlink(place / "cwd")
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
            words = (place / "cmdline").read_text()
        except OSError:
            continue
        if (
            state != "Z"
            and int(place.name) != os.getpid()
            and here.startswith(str(repo.world.root))
        ):
            lines.append(words)
    return lines


@pytest.fixture
def many(world: World) -> Repo:
    return filled(world, "both")


def filled(world: World, favor: str) -> Repo:
    repo = world.init("bare.git", bare=True)
    history(repo, MANY, {".gitattributes": f"*.yaml kmerge-favor={favor}\n"})
    return repo


@pytest.mark.parametrize("words", [(), ("--json",), ("--format", "markdown"), ("--dry-run",)])
@pytest.mark.parametrize("favor", ["both", "theirs"])  # there is no such favor; decisions of favor
def test_all_is_as_in_one_process(world: World, words: tuple[str, ...], favor: str) -> None:
    repo = filled(world, favor)
    before = refs(repo)
    alone = run(repo, *ALL, *words, cores=1)
    moved = refs(repo)
    put_back(repo, before)
    (repo.path / "merged-here").unlink()
    with nothing_left(repo):
        beside = run(repo, *ALL, *words)
    assert (beside.code, beside.out, beside.err) == (alone.code, alone.out, alone.err)
    assert ("both" in beside.err, beside.code) == ((True, 1) if favor == "both" else (False, 0))
    assert refs(repo) == moved
    assert (moved == before) == (words == ("--dry-run",))
    assert not (repo.path / "merged-here").exists()
    repo.git("fsck", "--strict")


def test_errors_of_branches_are_as_in_one_process(many: Repo) -> None:
    ends = [run(many, *ALL, cores=cores, env="soon") for cores in (1, 2)]
    assert ends[0].said == ends[1].said
    assert {end.code for end in ends} == {2}
    assert ends[0].err.count("not a number of seconds") == len(MANY) + 1


def test_calls_of_git_are_shown_in_their_order(many: Repo) -> None:
    done = run(many, "--verbose", *ALL, "--dry-run")
    assert (many.path / "merged-here").exists()
    assert done.code == 1


STOPPED = "signal.setitimer(signal.ITIMER_REAL, 0)"
ACCIDENTS = {
    "dies": "os._exit(1)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "fails": "raise ZeroDivisionError",
    # its own clock would end it: what if that does not ring, either?
    "hangs": f"{STOPPED}; subprocess.Popen(['sleep', '3600']); time.sleep(3600)",
    "hangs in git": f"{STOPPED}; subprocess.run(['sleep', '3600'])",
    "dies with git at work": "subprocess.Popen(['sleep', '3600']); os._exit(1)",
}


@pytest.mark.parametrize("step", [1, 5])  # before the first merges, and after the first results
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_an_accident_costs_no_branch(many: Repo, accident: str, step: int) -> None:
    before = refs(many)
    alone = run(many, *ALL, "--json", cores=1)
    moved = refs(many)
    put_back(many, before)
    started = time.monotonic()
    with nothing_left(many):
        beside = run(many, *ALL, "--json", accident=ACCIDENTS[accident], step=step, env="0.4")
    assert (beside.code, beside.out, beside.err) == (alone.code, alone.out, alone.err)
    assert refs(many) == moved
    assert time.monotonic() - started < 60


@pytest.mark.kill
def test_a_child_that_is_killed_before_each_step(many: Repo) -> None:
    before = refs(many)
    alone = run(many, *ALL, "--json", cores=1)
    moved = refs(many)
    for step in kill_points():
        put_back(many, before)
        with nothing_left(many):
            # the file says that there was such a step
            dies = "open('killed', 'w').close(); os.kill(os.getpid(), signal.SIGKILL)"
            beside = run(many, *ALL, "--json", accident=dies, step=step)
        assert (beside.code, beside.out, beside.err) == (alone.code, alone.out, alone.err)
        assert refs(many) == moved
        if not (many.path / "killed").exists():
            break
        (many.path / "killed").unlink()
    assert step > FEW_BRANCHES // 2


@contextmanager
def started(repo: Repo) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-c", RUN.format(cores=2, accident="pass", step=0), *ALL]
    env = repo.world.env | {"TMPDIR": str(temporary(repo))}
    with subprocess.Popen(argv, cwd=repo.path, env=env, stdout=-1, stderr=-1) as process:
        yield process


def children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in listed.split()]


@pytest.mark.kill
def test_children_that_are_killed_at_random_moments(many: Repo) -> None:
    before = refs(many)
    alone = run(many, *ALL, cores=1)
    moved = refs(many)
    moments, killed = random.Random(56), 0
    for wait in part([moments.uniform(0.0, 0.3) for _ in range(12)], 3):
        put_back(many, before)
        with nothing_left(many), started(many) as process:
            forked: list[int] = []
            while process.poll() is None and len(forked) < 2:  # git's are not leaders of groups
                forked = [pid for pid in children(process.pid) if is_leader(pid)]
            time.sleep(wait)
            for pid in forked[: 1 + killed % 2]:
                if pid in children(process.pid):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            out, err = process.communicate()
        assert (process.returncode, out.decode(), err.decode()) == (
            alone.code,
            alone.out,
            alone.err,
        )
        assert refs(many) == moved
    assert killed


def is_leader(pid: int) -> bool:
    try:
        return os.getpgid(pid) == pid
    except OSError:
        return False


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_whole_run_ends(many: Repo, number: signal.Signals) -> None:
    before, main = refs(many), many.head("main")
    moments = random.Random(56)
    for wait in part([moments.uniform(0.0, 0.3) for _ in range(9)], 3):
        with started(many) as process:
            while process.poll() is None and not any(map(is_leader, children(process.pid))):
                time.sleep(0.001)
            time.sleep(wait)
            process.send_signal(number)
            process.communicate()
        assert process.returncode in (0, 1, 130, -number)
        deadline = time.monotonic() + 30  # who was not killed ends when it has a result to send
        while processes(many) and time.monotonic() < deadline:
            assert number == signal.SIGKILL
            time.sleep(0.01)
        assert processes(many) == []
        if number == signal.SIGINT:
            assert [*temporary(many).iterdir()] == []
        for name, old in before.items():
            tip = many.head(name)
            assert tip == old or many.head(f"{tip}^@").split() == [old, main]
        for lock in many.path.glob("refs/heads/*/*.lock"):
            lock.unlink()
        put_back(many, before)
    many.git("fsck", "--strict")


ORPHANS = """
import time
from kmerge_git.whole.cores import on_cores

def work(item):
    return b"x" * 200_000  # more than a pipe holds

for result in on_cores(list(range(9)), work, 2, 0.0):
    print(flush=True)
    time.sleep(60)
"""


def test_no_child_waits_for_a_process_that_was_killed() -> None:
    argv = [sys.executable, "-c", ORPHANS]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as run:
        assert run.stdout
        run.stdout.readline()
        run.kill()
        # the children held the other end, and they have ended
        assert select.select([run.stdout], [], [], 30.0)[0]
        assert run.stdout.read() == b""
