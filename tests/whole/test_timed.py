"""A file that takes too long is git's line merge; one that a generator writes keeps ours."""

from __future__ import annotations

import time

import pytest

from kmerge_git.errors import TimeUp
from kmerge_git.merge.three import Three
from kmerge_git.outcome import GENERATED, Options
from kmerge_git.whole import both_merges
from kmerge_git.whole.both_merges import Both, Job

BASE = b"a: 1\nb: 1\nc: 1\nd: 1\n"


@pytest.mark.parametrize(
    "generated, ours, theirs, method, clean",
    [
        (False, b"a: 2", b"a: 3", "lines", False),
        (True, b"a: 2", b"a: 3", "kept", False),
        (False, b"a: 2", b"d: 4", "lines", True),
        (True, b"a: 2", b"d: 4", "lines", True),
    ],
)
def test_no_result_in_time(
    monkeypatch: pytest.MonkeyPatch,
    generated: bool,
    ours: bytes,
    theirs: bytes,
    method: str,
    clean: bool,
) -> None:
    def late(*args: object) -> Both:
        raise TimeUp

    def changed(line: bytes) -> bytes:
        return BASE.replace(line[:1] + b": 1", line)

    monkeypatch.setattr(both_merges, "merge_both", late)
    three = Three[bytes | None](BASE, changed(ours), changed(theirs))
    (both,) = both_merges.merge_all([Job(three, Options("x.yaml", generated=generated))], 9.0)
    assert (both.outcome.method, both.outcome.clean) == (method, clean)
    assert both.git_clean is clean
    assert "no result within 9 s of CPU time" in both.outcome.reason
    assert (GENERATED in both.outcome.reason) is (method == "kept")
    assert (b"<<<<<<<" in both.outcome.text) is (method == "lines" and not clean)
    assert method != "kept" or both.outcome.text == three.ours


def test_two_hundred_files_that_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_merges, "merge_both", lambda three, options, lines: time.sleep(3600))
    job = Job(Three[bytes | None](BASE, BASE + b"e: 1\n", b"f: 1\n" + BASE), Options("x.yaml"))
    ends = [both.outcome.reason for both in both_merges.merge_all([job] * 200, 0.001)]
    assert ends == ["no result within 0.003 s, so git's line merge was used"] * 200
