"""Merges on all cores: children that die or hang cost time, never a file, and leave nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from itertools import count

import pytest

from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.whole import both_merges
from kmerge_git.whole.both_merges import Both, Job, merge_all

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


@pytest.mark.parametrize("accident", [None, dies, is_killed, fails, hangs])
def test_every_file_is_merged(
    monkeypatch: pytest.MonkeyPatch, accident: Callable[[Job], None] | None
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

    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        children.append(fork())
        return children[-1]

    monkeypatch.setattr(os, "fork", noted)
    monkeypatch.setattr(both_merges, "merge_both", merge)
    # the clock of a file would end the one that hangs: what if that does not ring, either?
    monkeypatch.setattr(signal, "setitimer", lambda *args: None)
    seconds = 0.01 if accident is hangs else 0.0
    with monkeypatch.context() as patched:
        minutes = count()  # between two looks at the clock; nobody waits for so long
        patched.setattr(both_merges.time, "monotonic", lambda: 60.0 * next(minutes))
        found = both_merges.merge_on_cores(work, seconds=seconds, most=3)
    assert plain(found) == expected
    assert len(set(merged_by)) == 1  # of this process: the others have lists of their own
    assert (len(merged_by) < len(work)) == (accident is None)
    for child in children:  # there are none any more
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
    assert children


def test_a_few_files_are_merged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", None)
    work = jobs(both_merges.FEW_MERGES - 1)
    assert plain(both_merges.merge_on_cores(work, most=8)) == plain(merge_all(work))


def test_a_file_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_merges, "merge_both", lambda three, options, lines: time.sleep(3600))
    (both,) = both_merges.merge_on_cores(jobs(1), seconds=0.01)
    assert "no result within 0.03 s, git's line merge instead" in both.outcome.reason
    assert (both.outcome.clean, both.outcome.text) == (both.git_clean, both.git)
