"""Policies decide clashes, and only those they were made for."""

from __future__ import annotations

import pytest

from kmerge_git.merge.policies import higher, policy_for, steps_of
from kmerge_git.pipeline import merge_files


@pytest.mark.parametrize(
    "low, high",
    [
        ("1.2.3", "1.2.4"),
        ("1.9.0", "1.10.0"),
        ("v1.2.3", "v2.0.0"),
        ("1.2", "1.2.1"),
        ("1.3.0-rc.1", "1.3.0"),
        ("1.3.0-rc.2", "1.3.0-rc.10"),
        ("1.3.0-rc2", "1.3.0-rc10"),
        ("1.3.0-alpha", "1.3.0-beta"),
        ("1.3.0-alpha", "1.3.0-alpha.1"),
        ("1.2.0", "1.3.0-rc.1"),
        ("1.2-alpine", "1.3-alpine"),
        ("20240101", "20240215"),
        ("release-1.2", "release-1.3"),
        ("1.2.3+build.9", "1.2.4+build.1"),
        ("nginx:1.25", "nginx:1.27"),
        ("localhost:5000/a/b:1.2", "localhost:5000/a/b:1.10"),
        ("app:1.2@sha256:ff", "app:1.3@sha256:aa"),
        ("app:1.2@sha256:ff", "app:1.3"),
    ],
)
def test_the_higher_version_wins_from_both_sides(low: str, high: str) -> None:
    assert (higher(low, high), higher(high, low)) == ("theirs", "ours")


@pytest.mark.parametrize(
    "one, other",
    [
        ("1.2.3", "1.2.3"),
        ("1.2", "1.2.0"),
        ("1.2.3+a", "1.2.3+b"),
        ("1.2-alpine", "1.3-debian"),
        ("release-1.2", "1.3"),
        ("v1.2", "1.3"),
        ("nginx:1.25", "httpd:1.27"),
        ("a/nginx:1.25", "b/nginx:1.27"),
        ("nginx:1.25", "1.27"),
        ("app@sha256:11", "app@sha256:22"),
        ("app:latest", "app:1.2"),
        ("1a2b3c4", "2a2b3c4"),
        ("1.x", "2.x"),
        ("1.2-", "1.3-"),
        ("", "1"),
        ("٣", "4"),
    ],
)
def test_what_cannot_be_compared_stays_a_clash(one: str, other: str) -> None:
    assert (higher(one, other), higher(other, one)) == ("", "")


@pytest.mark.parametrize(
    "path, steps",
    [
        ("", []),
        ("version", ["version"]),
        (".spec.x", ["spec", "x"]),
        ("spec.containers[name=app].image", ["spec", "containers", "[name=app]", "image"]),
        ("data[a.b/c].x", ["data", "[a.b/c]", "x"]),
        ("a[0][1]", ["a", "[0]", "[1]"]),
    ],
)
def test_the_steps_of_a_path(path: str, steps: list[str]) -> None:
    assert steps_of(path) == steps


@pytest.mark.parametrize(
    "field, path, hit",
    [
        ("version", "version", True),
        ("version", "a.version", False),
        ("**", "a.b[0]", True),
        ("**", "", True),
        ("**.image", "spec.containers[name=a].image", True),
        ("**.image", "spec.image.tag", False),
        ("spec.*.image", "spec.a.image", True),
        ("spec.*.image", "spec.a.b.image", False),
        ("spec.containers[*].image", "spec.containers[name=a].image", True),
        ("spec.containers[name=a].image", "spec.containers[name=b].image", False),
        ("args", "args[3]", True),
        ("args", "args[name=a]", False),
    ],
)
def test_which_places_a_field_path_means(field: str, path: str, hit: bool) -> None:
    policy = policy_for([(field, "ours")])
    assert policy is not None
    assert policy(path, [], [], []) == (("ours", "12 policy ours") if hit else None)


BASE = "kind: Pod\nmetadata: {name: a}\nspec:\n  image: x:1.1\n  n: 1\n  cmd:\n  - one\n"


def merged(policies: list[tuple[str, str]], ours: str, theirs: str) -> tuple[str, bool]:
    texts = (text.encode() for text in (BASE, ours, theirs))
    outcome = merge_files(*texts, path="x.yaml", policy=policy_for(policies))
    return outcome.text.decode(), outcome.clean


def test_a_merge_with_policies() -> None:
    policies = [("**.image", "higher"), ("**.cmd", "union"), ("spec.n", "theirs")]
    ours = BASE.replace("1.1", "1.9").replace("n: 1", "n: 2") + "  - two\n"
    theirs = BASE.replace("1.1", "1.10").replace("n: 1", "n: 3") + "  - three\n"
    text, clean = merged(policies, ours, theirs)
    assert clean
    assert text == BASE.replace("1.1", "1.10").replace("n: 1", "n: 3") + "  - two\n  - three\n"


def test_the_first_policy_that_speaks_decides() -> None:
    ours, theirs = BASE.replace("1.1", "dev"), BASE.replace("1.1", "main")
    assert not merged([("**.image", "higher")], ours, theirs)[1]
    assert merged([("**.image", "higher"), ("**", "ours")], ours, theirs) == (ours, True)


def test_no_union_of_changed_elements() -> None:
    ours, theirs = BASE.replace("one", "two"), BASE.replace("one", "three")
    assert not merged([("**", "union")], ours, theirs)[1]


def test_no_policies_no_policy() -> None:
    assert policy_for([]) is None
