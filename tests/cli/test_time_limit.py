"""The clock of the commands: what takes too long is an error, and nothing is written."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kmerge_git import time_limit
from kmerge_git.cli import in_and_out
from kmerge_git.cli.main import main
from kmerge_git.errors import TimeUp, UsageError
from kmerge_git.tree.parser import accepts

LARGE = "".join(f"k{n}:\n  a: {{v}}\n" for n in range(9_000))
COMMANDS = [
    ["merge", "base.yaml", "ours.yaml", "theirs.yaml", "-o", "out.yaml"],
    ["merge3", "-O", "base.yaml", "-U", "theirs.yaml", "-D", "ours.yaml", "--in-place"],
    ["merge2", "-S", "theirs.yaml", "-D", "ours.yaml", "--in-place"],
    ["patch", "ours.yaml", "-p", "theirs.yaml", "--in-place"],
    ["make-patch", "ours.yaml", "theirs.yaml", "-o", "out.yaml"],
    ["apply", "theirs.yaml", "--live", "ours.yaml", "-o", "out.yaml"],
    ["last-applied", "view", "ours.yaml", "-o", "out.yaml"],
    ["check", "ours.yaml"],
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three versions of a file that takes a while."""
    accepts("a: 1")  # a clock that rings during the first import of the parser leaves half of it
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KMERGE_TIMEOUT", "0.001")
    for name, value in (("base", 0), ("ours", 1), ("theirs", 2)):
        text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n" + LARGE.format(v=value)
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


# the clock may ring between `open` and its `with`: that file is closed by the collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("command", COMMANDS, ids=[c[0] for c in COMMANDS])
def test_a_command_that_takes_too_long_writes_nothing(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(command) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    late = r"\.yaml: no result within 0\.00(1 s of CPU time|3 s); set KMERGE_TIMEOUT=SECONDS"
    assert re.search(late, ended.err)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.costly
def test_one_file_of_a_directory_is_enough(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for side in ("base", "ours", "theirs"):
        (folder / side).mkdir()
        (folder / side / "slow.yaml").write_bytes((folder / f"{side}.yaml").read_bytes())
        (folder / side / "a.yaml").write_text(f"a: {len(side) if side == 'theirs' else 0}\n")
    assert main(["merge3", "-O", "base", "-U", "theirs", "-D", "ours", "--in-place"]) == 2
    assert ".yaml: no result within" in capsys.readouterr().err
    assert (folder / "ours" / "a.yaml").read_text() == "a: 0\n"


@pytest.mark.parametrize("seconds", ["x", "-1", "inf", "nan"])
def test_what_is_no_number_of_seconds_is_an_error(
    seconds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KMERGE_TIMEOUT", seconds)
    with pytest.raises(UsageError, match="is not a number of seconds"):
        time_limit.limit()


@pytest.mark.parametrize("given, seconds", [("", 60.0), ("0", 0.0), ("2.5", 2.5), ("7s", 7.0)])
def test_how_many_seconds_a_file_may_take(
    given: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KMERGE_TIMEOUT", given)
    assert time_limit.limit() == seconds


def test_what_is_written_is_written_whole(tmp_path: Path) -> None:
    with time_limit.within("a.yaml"):
        assert left() == pytest.approx([60, 180], rel=0.1)
        in_and_out.write(str(tmp_path / "a.yaml"), b"a: 1\n")
        assert left() == [0, 0]


def test_the_clock_of_the_caller_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = (signal.SIGPROF, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]
    monkeypatch.setenv("KMERGE_TIMEOUT", "0.001")
    with pytest.raises(TimeUp), time_limit.within("a.yaml"):
        time.sleep(5)
    assert [signal.getsignal(number) for number in numbers] == before
    assert left() == [0, 0]


def left() -> list[float]:
    """The seconds that the two clocks have left."""
    return [signal.getitimer(timer)[0] for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL)]


def busy() -> None:
    while True:
        pass


def sleeping() -> None:
    time.sleep(10)


def waiting() -> None:
    """Wait for a child, whose CPU does not count."""
    subprocess.run(["sh", "-c", "while :; do :; done"], timeout=10, check=False)


@pytest.mark.parametrize(
    "work, patience, late",
    [(busy, 100, "0.1 s of CPU time"), (sleeping, 2, "0.2 s"), (waiting, 4, "0.4 s")],
)
def test_which_clock_ends_the_work(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], None], patience: int, late: str
) -> None:
    monkeypatch.setattr(TimeUp, "PATIENCE", patience)
    monkeypatch.setenv("KMERGE_TIMEOUT", "0.1")
    with pytest.raises(TimeUp) as up, time_limit.within("a.yaml"):
        work()
    assert up.value.late == f"no result within {late}"


def test_time_without_cpu_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process on a busy machine waits in the same way."""
    monkeypatch.setenv("KMERGE_TIMEOUT", "0.5")
    with time_limit.within("a.yaml"):
        time.sleep(0.6)


def test_both_timers_may_ring_at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter would report the second one with a traceback."""
    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    with time_limit.alarm(60) as ring_in:
        ring_in(60)
        with pytest.raises(TimeUp):
            both_ring()
    assert not reported


def both_ring() -> None:
    both = (signal.SIGPROF, signal.SIGALRM)
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    try:
        for number in both:  # a signal of the process could be taken by another thread at once
            signal.pthread_kill(threading.get_ident(), number)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
