"""What both sides did, in whole merges: it is there once."""

from __future__ import annotations

import pytest
from worlds.lines import git_itself

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome


def script(*lines: str) -> bytes:
    """A ConfigMap with a script."""
    body = "".join(f"    {line}\n" for line in lines)
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  run.sh: |\n"
    return (head + body).encode()


def both_ways(base: bytes, ours: bytes, theirs: bytes) -> list[Outcome]:
    sides = ((ours, theirs), (theirs, ours))
    return [merge_files(base, *pair, path="values.yaml", line_merge=git_itself) for pair in sides]


F, G = ("f() {", "one", "}"), ("g() {", "two", "}")
NEW = ("new() {", "three", "}")


def test_a_function_of_both_is_there_once() -> None:
    base = script(*F, *G)
    ours = script("f() {", "one", "}", *NEW, "g() {", "TWO", "}")
    theirs = script("f() {", "ONE", "}", *NEW, *G)
    for outcome in both_ways(base, ours, theirs):
        assert outcome.clean
        assert outcome.text == script("f() {", "ONE", "}", *NEW, "g() {", "TWO", "}")


@pytest.mark.parametrize("lines", [("one",), F])
def test_lines_that_one_side_moved_and_the_other_deleted_are_a_conflict(lines) -> None:
    around = [f"line {n}" for n in range(6)]
    base = script(*around[:4], *lines, *around[4:])
    ours = script(*around[:1], *lines, *around[1:])
    theirs = script(*around)
    for outcome in both_ways(base, ours, theirs):
        assert not outcome.clean
        inside = outcome.text.partition(b"<<<<<<<")[2].partition(b">>>>>>>")[0]
        assert inside.count(b"\n") <= len(lines) + 2  # nothing else is in doubt


def test_a_line_that_one_side_edited_where_the_other_moved_another_is_no_conflict() -> None:
    around = [f"line {n}" for n in range(9)]
    base = script(*around)
    ours = script(around[0], around[5], *around[1:5], *around[6:])
    theirs = script(*around[:8], "edited")
    wanted = script(around[0], around[5], *around[1:5], *around[6:8], "edited")
    assert [outcome.text for outcome in both_ways(base, ours, theirs)] == [wanted, wanted]


def alert(severity: str, limit: int, wait: str) -> str:
    return (
        f"    - alert: Slow\n      expr: latency > {limit}\n      for: {wait}\n"
        f"      labels:\n        severity: {severity}\n"
    )


def rules(*alerts: str) -> bytes:
    head = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: web\n"
    return (head + "spec:\n  groups:\n  - name: all\n    rules:\n" + "".join(alerts)).encode()


def test_alerts_of_one_name_are_told_apart_by_their_places() -> None:
    base = rules(alert("warning", 1, "5m"), alert("critical", 2, "5m"))
    ours = rules(alert("warning", 1, "10m"), alert("critical", 2, "10m"))
    theirs = rules(alert("warning", 1, "5m"), alert("critical", 3, "5m"))
    wanted = rules(alert("warning", 1, "10m"), alert("critical", 3, "10m"))
    assert [outcome.text for outcome in both_ways(base, ours, theirs)] == [wanted, wanted]


def test_alerts_of_one_name_that_are_another_each_are_not_paired_by_places() -> None:
    base = rules(alert("warning", 1, "5m"), alert("critical", 2, "6m"))
    ours = rules(alert("critical", 2, "9m"), alert("warning", 1, "9m"))
    theirs = rules(alert("warning", 7, "5m"), alert("critical", 2, "6m"))
    for outcome in both_ways(base, ours, theirs):
        wanted = rules(alert("critical", 2, "9m"), alert("warning", 7, "9m"))
        assert not outcome.clean or outcome.text == wanted
