"""Work on all cores: children that die or hang cost time, never an item, and leave nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.whole import both_merges, cores
from kmerge_git.whole.both_merges import Both, Job, merge_all
from kmerge_git.whole.cores import on_cores

PARENT = os.getpid()


def jobs(many: int) -> list[Job]:
    def texts(number: int) -> Three[bytes | None]:
        rest = f"name: a{number}\n"
        lines = (("a: 1", "b: 1"), ("a: 2", "b: 1"), ("a: 1", f"b: {number + 2}"))
        return Three(*(f"{rest}{one}\n{two}\n".encode() for one, two in lines))

    return [Job(texts(number), Options(f"{number}.yaml")) for number in range(many)]


def plain(results: list[Both]) -> list[tuple[bytes, bool, bytes, bool]]:
    return [(r.outcome.text, r.outcome.clean, r.git, r.git_clean) for r in results]


def dies(job: Job) -> None:
    os._exit(1)


def is_killed(job: Job) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fails(job: Job) -> None:
    raise ZeroDivisionError


def hangs(job: Job) -> None:
    time.sleep(3600)


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The children that are started; in the end there are none any more."""
    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        children.append(fork())
        return children[-1]

    monkeypatch.setattr(os, "fork", noted)
    yield children
    for child in children:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


@pytest.mark.parametrize("accident", [None, dies, is_killed, fails, hangs])
def test_every_file_is_merged(
    monkeypatch: pytest.MonkeyPatch, forked: list[int], accident: Callable[[Job], None] | None
) -> None:
    work = jobs(3 * both_merges.FEW_MERGES)
    expected = plain(merge_all(work))
    merged_by: list[int] = []
    merge_both = both_merges.merge_both

    def merge(three: Three[bytes | None], options: Options, lines: object) -> Both:
        if os.getpid() != PARENT and accident and len(merged_by) == 3:
            accident(Job(three, options))
        merged_by.append(os.getpid())
        return merge_both(three, options, lines)  # type: ignore[arg-type]

    monkeypatch.setattr(both_merges, "merge_both", merge)
    # the clock of a file would end the one that hangs: what if that does not ring, either?
    monkeypatch.setattr(signal, "setitimer", lambda *args: None)
    monkeypatch.setattr(cores, "CHILD_SECONDS", 0.3)
    seconds = 0.01 if accident is hangs else 0.0
    found = both_merges.merge_on_cores(work, seconds=seconds, most=3)
    assert plain(found) == expected
    # of this process: the others have lists of their own, and each has sent three results
    assert merged_by == [PARENT] * (len(work) - 3 * len(forked) if accident else 0)
    assert len(forked) == 3


def test_results_come_in_order_whoever_is_slow(forked: list[int]) -> None:
    def work(number: int) -> bytes:
        if number % 3 == 1:
            time.sleep(0.02)
        return b"%d" % number * 100_000  # more than a pipe holds

    found = list(on_cores(range(20), work, 3, 0.0))
    assert found == [b"%d" % number * 100_000 for number in range(20)]


def test_children_end_when_nobody_wants_more(forked: list[int]) -> None:
    with closing(on_cores(range(100), str, 2, 0.0)) as results:
        assert next(results) == "0"
        assert len(forked) == 2


def test_an_error_is_that_of_this_process(forked: list[int]) -> None:
    def work(number: int) -> float:
        return 1 / (number - 3)

    results = on_cores(range(9), work, 2, 0.0)
    assert [next(results) for _ in range(3)] == [work(number) for number in range(3)]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_no_process_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fork)
    before = len(os.listdir("/dev/fd"))
    assert list(on_cores(range(9), str, 3, 0.0)) == [str(number) for number in range(9)]
    assert len(os.listdir("/dev/fd")) == before


def test_a_few_files_are_merged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", None)
    work = jobs(both_merges.FEW_MERGES - 1)
    assert plain(both_merges.merge_on_cores(work, most=8)) == plain(merge_all(work))


def test_a_file_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_merges, "merge_both", lambda three, options, lines: time.sleep(3600))
    (both,) = both_merges.merge_on_cores(jobs(1), seconds=0.01)
    assert "no result within 0.03 s, so git's line merge was used" in both.outcome.reason
    assert (both.outcome.clean, both.outcome.text) == (both.git_clean, both.git)
