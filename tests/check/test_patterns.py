"""The patterns of a `target:`: what they match, and those that nobody may try."""

from __future__ import annotations

import pytest

from kmerge_git.check.kustomize.gathered_resources import NO, PERHAPS, YES, matches


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("", "web", YES),
        ("web", "web", YES),
        ("web", "my-web", NO),
        ("web|api", "api", YES),
        ("web|api", "apis", NO),
        (".*-(web|api)-.*", "my-web-1", YES),
        ("(my-)?web", "web", YES),
        ("[a-z]+-[0-9]+", "web-12", YES),
        ("[^]*+]+", "web", YES),
        (r"a\+\*b", "a+*b", YES),
        ("web.?", "webs", YES),
        ("a.b", "axb", YES),
        ("Deployment|StatefulSet|DaemonSet|Job|CronJob|ReplicaSet|Pod|Service", "Pods", NO),
    ],
)
def test_what_matches(pattern: str, value: str, expected: str) -> None:
    assert matches(pattern, ["nothing", value]) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a*)*b",
        "(a|a)*b",
        "(?:a{1,9}){9}b",
        "(a|a)" * 30 + "b",
        "a?" * 30 + "a" * 30 + "b",
        ".*" * 12 + "b",
        "a{99999999999}",
        "(" * 3000 + "a" + ")" * 3000,
        "a." * 2500,
        "[",
        "a**",
    ],
)
def test_what_nobody_knows(pattern: str) -> None:
    assert matches(pattern, ["a" * 60 + "c"]) == PERHAPS


def test_the_names_count_too() -> None:
    assert matches("a.*b.*c", ["abc"]) == YES
    assert matches("a.*b.*c", ["a" * 100_000]) == PERHAPS
