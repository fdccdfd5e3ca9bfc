"""Policies decide clashes, and only those they were made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.higher_version import higher
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.plan import Why

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


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


IMAGE = ("spec", "containers", (("name", "a"),), "image")


@pytest.mark.parametrize(
    "field, path, hit",
    [
        ("version", ("version",), True),
        ("version", ("a", "version"), False),
        ("**", ("a", "b", 0), True),
        ("**", (), True),
        ("**.image", IMAGE, True),
        ("**.image", ("spec", "image", "tag"), False),
        ("spec.*.image", ("spec", "a", "image"), True),
        ("spec.*.image", IMAGE, False),
        ("spec.containers[*].image", IMAGE, True),
        ("spec.containers[name=b].image", IMAGE, False),
        ("args", ("args", 3), True),
        ("args", ("args", (("name", "a"),)), False),
        # the field paths that docs/policies.md shows
        ("appVersion", ("appVersion",), True),
        ("**.containers[*].image", IMAGE, True),
    ],
)
def test_which_places_a_field_path_means(field: str, path: Path, hit: bool) -> None:
    policy = policy_for([(field, "ours")])
    assert policy is not None
    ruling = policy(path, [], [], [], None)
    assert (ruling and (ruling.side, ruling.rule)) == (("ours", "12 policy ours") if hit else None)


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


@pytest.mark.parametrize("key", ["plain", "example.com/x"])
def test_a_star_is_one_key_whatever_stands_in_it(key: str) -> None:
    texts = (f"metadata:\n  annotations:\n    {key}: {n}\n".encode() for n in "123")
    outcome = merge_files(*texts, policy=policy_for([("metadata.annotations.*", "theirs")]))
    assert (outcome.clean, outcome.text[-2:]) == (True, b"3\n")


def test_the_first_policy_that_speaks_decides() -> None:
    ours, theirs = BASE.replace("1.1", "dev"), BASE.replace("1.1", "main")
    assert not merged([("**.image", "higher")], ours, theirs)[1]
    assert merged([("**.image", "higher"), ("**", "ours")], ours, theirs) == (ours, True)


def test_no_union_of_changed_elements() -> None:
    ours, theirs = BASE.replace("one", "two"), BASE.replace("one", "three")
    assert not merged([("**", "union")], ours, theirs)[1]


def test_no_policies_no_policy() -> None:
    assert policy_for([]) is None


LIST = "args:\n- a\n- b\nend: 1\n"


@pytest.mark.parametrize(
    "ours, theirs, result",
    [
        ("- x\n- y\n", "- y\n- z\n", "- x\n- y\n- z\n"),
        ("- x\n", "- x\n- y\n- x\n", "- x\n- y\n- x\n"),  # twice on one side is meant so
        ("- x  # mine\n- w\n", "- x\n- y\n", None),  # a comment would be lost
        ("- --x=1\n", "- --y=1\n", "- --x=1\n- --y=1\n"),
        ("- --x=1\n- -v\n", "- --x=1\n- -w\n", "- --x=1\n- -v\n- -w\n"),
        ("- --x=1\n", "- --x=2\n", None),
        ("- --x\n- 1\n", "- --x\n- 2\n", None),  # `--x 1 2` is nobody's
    ],
)
def test_a_union_keeps_once_what_both_added(ours: str, theirs: str, result: str | None) -> None:
    base, mine, yours = (LIST.replace("end", f"{lines}end") for lines in ("", ours, theirs))
    texts = (text.encode() for text in (base, mine, yours))
    made = merge_files(*texts, policy=policy_for([("args", "union")]))
    assert made.clean == (result is not None)
    if result is not None:
        assert made.text.decode() == LIST.replace("end", f"{result}end")


@pytest.mark.parametrize("before", ["", "args: []\n"])
def test_no_union_of_lists_that_are_new_on_both_sides(before: str) -> None:
    texts = (f"{args}end: 1\n".encode() for args in (before, "args:\n- x\n", "args:\n- y\n"))
    made = merge_files(*texts, policy=policy_for([("**", "union")]))
    assert [c.told for c in made.conflicts] == [
        f"{Why.BOTH_ADD_HERE} (policy union: both sides added the whole list)"
    ]


@pytest.mark.parametrize(
    "base, ours, theirs, why",
    [
        ("1", "2", "3", "a plain number is not a version"),
        (
            "1.5",
            "0.5",
            "0.25",
            "YAML reads these values as numbers (1.10 as 1.1); put them in quotes",
        ),
        (
            "1.1",
            "1.9",
            "1.10",
            "YAML reads these values as numbers (1.10 as 1.1); put them in quotes",
        ),
        ("1.1", "&a 1.2", "1.3", "one of the values has an anchor or a tag"),
        ("x:1", "x:2", "y:3", "the names in front of the versions differ"),
        ("x:80", "x:81", "x:82", "the values may be port numbers"),
        (
            "0.1",
            "0.5",
            "0.7",
            "the field's name does not show that the values are versions",
        ),
        (
            "0.1",
            "'0.5'",
            "'0.25'",
            "the field's name does not show that the values are versions",
        ),
        (
            "2-core",
            "4-core",
            "8-core",
            "the field's name does not show that the values are versions",
        ),
        (
            "zone-1",
            "zone-2",
            "zone-3",
            "the field's name does not show that the values are versions",
        ),
        ("1.2.0", "1.3.0", "1.1.0", "one side went back to a lower version"),
        ("12.1", "11.6", "'12.1'", "one side went back to a lower version"),  # spelled anew
        (
            "1.9.0",
            "1.9.1",
            "1.10",
            "YAML reads these values as numbers (1.10 as 1.1); put them in quotes",
        ),
    ],
)
def test_the_conflict_says_why_a_policy_does_not_speak(
    base: str, ours: str, theirs: str, why: str
) -> None:
    texts = (f"a: {value}\nb: 1\n".encode() for value in (base, ours, theirs))
    made = merge_files(*texts, path="x.yaml", policy=policy_for([("**", "higher")]))
    told = f"{Why.BOTH_CHANGED} (policy higher: {why})"
    assert [(c.told, c.why) for c in made.conflicts] == [(told, Why.BOTH_CHANGED)]
    assert f"<<<<<<< ours (a: {told})\n" in made.text.decode()
    assert [d.what for d in made.explained] == [told]


def test_a_number_behind_an_image_is_a_tag() -> None:
    texts = (f"image: app:{value}\n".encode() for value in (16, 17, 18))
    assert merge_files(*texts, policy=policy_for([("**", "higher")])).text == b"image: app:18\n"


@pytest.mark.parametrize("base", ["", "\n", "# nothing\n"])
@pytest.mark.parametrize("policy, taken", [("ours", 1), ("theirs", 2), ("higher", 2)])
def test_a_file_that_is_new_on_both_sides(base: str, policy: str, taken: int) -> None:
    three = [base, *(f"a: 1\nx:\n  version: 1.{n}.0\n" for n in (1, 2))]
    made = merge_files(*(t.encode() for t in three), policy=policy_for([("**", policy)]))
    assert (made.method, made.text.decode()[-len(three[1]) :]) == ("structure", three[taken])


def test_what_merges_clean_by_lines_is_for_no_policy() -> None:
    """An element without a key that is another one on both sides; its lines do not clash."""
    rows = (("y", "z", "y"), ("u", "x", "u"), ("u", "x", "y"))
    three = [f"rules:\n- a: {a}\n  b: {b}\n  c: 1\n  d: {d}\n".encode() for a, b, d in rows]
    plain = merge_files(*three)
    assert (plain.clean, plain.method, plain.text) == (True, "lines", three[1])
    for name in ("ours", "theirs", "union", "higher"):
        assert merge_files(*three, policy=policy_for([("**", name)])).text == plain.text


@pytest.mark.parametrize("field", ["**.zone", "zone", "a.*", "**"])
def test_what_is_named_or_called_a_version_is_one(field: str) -> None:
    texts = (f"a:\n  zone: z-{n}\n  x: 1\n  tag: z-{n}\n".encode() for n in "123")
    made = merge_files(*texts, policy=policy_for([(field, "higher"), ("**.tag", "higher")]))
    assert b"tag: z-3\n" in made.text
    assert made.clean == ("zone" in field and field.startswith("**"))


def test_a_program_s_clock_may_be_late() -> None:
    times = ("2023-10-11", "2023-10-12", "2023-10-10")
    texts = (f"a: '{time}T01:02:03Z'\n".encode() for time in times)
    assert merge_files(*texts, policy=policy_for([("**", "higher")])).clean


@pytest.mark.parametrize("field", [".", "[", "[]", "*", "]"])
def test_an_odd_field_path_breaks_nothing(field: str) -> None:
    texts = [f"a: x:{n}.0\n".encode() for n in "123"]
    policy = policy_for([(field, "higher")])
    for three in (texts, [b"a: 1\n", b"", b"a: 2\n"]):
        assert "internal error" not in merge_files(*three, policy=policy).reason


def test_quoted_numbers_are_versions() -> None:
    texts = (f"a: '{value}'\n".encode() for value in ("1.1", "1.9", "1.10"))
    made = merge_files(*texts, policy=policy_for([("a", "higher")]))
    assert made.text == b"a: '1.10'\n"


def test_higher_takes_the_value_and_leaves_the_comments_to_the_merge() -> None:
    texts = (f"{line}\nb: 1\n".encode() for line in ("a: 1.1", "# why\na: 1.3", "a: 1.2  # new"))
    made = merge_files(*texts, policy=policy_for([("a", "higher")]))
    assert made.text == b"# why\na: 1.3  # new\nb: 1\n"


@pytest.mark.parametrize(
    "field, file, settled",
    [
        ("version", "a/Chart.yaml", True),  # who names it has it
        ("**", "a/Chart.yaml", False),
        ("*", "Chart.yaml", False),
        ("**", "a/values.yaml", True),
    ],
)
def test_higher_reaches_a_charts_own_version_only_by_name(
    field: str, file: str, settled: bool
) -> None:
    texts = (f"version: {value}\nb: 1\n".encode() for value in ("1.1.0", "1.2.0", "1.3.0"))
    made = merge_files(*texts, path=file, policy=policy_for([(field, "higher")], "ours", file))
    assert made.clean == settled
    assert settled or "use `rebump` for a chart's own version" in made.conflicts[0].told


def test_a_conflict_that_only_one_answer_can_solve() -> None:
    """Without a policy git's lines are taken: with theirs the alias would have no anchor."""
    texts = b"k: 0\n", b"k: &x 1\nz: *x\n", b"k: 2\n"
    assert merge_files(*texts).method == "lines"
    made = merge_files(*texts, policy=policy_for([("k", "ours")]))
    assert (made.clean, made.text) == (True, texts[1])
    assert not merge_files(*texts, policy=policy_for([("k", "theirs")])).clean
