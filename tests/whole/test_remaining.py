"""How fields are named when many conflicts are counted together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kmerge_git.git.line_merges import LineMerges
from kmerge_git.kube.fieldpath import matches, pattern
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Decision, Options, Outcome
from kmerge_git.replay.left_conflicts import (
    FieldPolicy,
    Judge,
    Judgement,
    Listener,
    Remaining,
    any_element,
    anywhere,
    hinted,
    judged,
)
from kmerge_git.tree.nodes import Entry
from kmerge_git.whole.both_merges import merge_both

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


@pytest.mark.parametrize(
    "path, form, name, called",
    [
        (("version",), "version", "**.version", "version of Chart.yaml"),
        (("spec", "replicas"), "spec.replicas", "**.replicas", "**.replicas"),
        (
            ("spec", "containers", (("name", "app"),), "image"),
            "spec.containers[*].image",
            "**.image",
            "**.image",
        ),
        (
            ("metadata", "labels", "helm.sh/chart"),
            "metadata.labels[helm.sh/chart]",
            "**[helm.sh/chart]",
            "**[helm.sh/chart]",
        ),
        (("spec", "args", 3), "spec.args", "**.args", "**.args"),
        (("spec", "rules", 3, "host"), "spec.rules[*].host", "**.host", "**.host"),
        (
            ("spec", "env", (("name", "A"),)),
            "spec.env[*]",
            "**.env[*]",
            "**.env[*]",
        ),
        (("images", (("name", "a"),)), "images[*]", "**.images[*]", "images[*] of Chart.yaml"),
        (((("name", "a"),),), "[*]", "", "[name=a]"),
        ((), "", "", ""),
    ],
)
def test_a_field_and_its_patterns(path: Path, form: str, name: str, called: str) -> None:
    assert (any_element(path), anywhere(path)) == (form, name)
    field = "[name=a]" if form == "[*]" else ""
    assert Remaining("", field, "changed", path).called("c/Chart.yaml") == called
    for text in filter(None, (form, name)):
        assert matches(pattern(text), path)


def clash(resource: str, field: str, what: str = Why.BOTH_CHANGED) -> Decision:
    return Decision(resource, field, what, "conflict", "6")


def test_what_was_asked_in_vain_is_not_left() -> None:
    """A resource that is given up as a whole is one conflict, whatever was asked inside of it."""
    outcome = Outcome(
        b"",
        False,
        "structure",
        conflicts=(Conflict("A/a", "", "cannot be merged"), Conflict("B/b", "x", "changed")),
        decisions=(clash("A/a", "x"), clash("A/a", "y"), clash("B/b", "x")),
    )
    left = [(each.resource, each.field) for each, _ in Listener().clashes(outcome)]
    assert left == [("B/b", "x"), ("A/a", "")]


def test_which_question_was_about_which_conflict() -> None:
    """Only where there are as many; asking twice about the same entries is asking once."""
    listener = Listener()
    entries = [Entry(number, number) for number in range(8)]
    for number in (0, 0, 2, 4, 6):
        path = ("x",) if number < 4 else ("y",)
        listener(path, [], [entries[number]], [entries[number + 1]], "what else is told")
    decisions = (clash("A/a", "x"), clash("B/b", "x"), clash("A/a", "y"))
    conflicts = tuple(Conflict(d.resource, d.path, "changed") for d in decisions)
    outcome = Outcome(b"", False, "structure", conflicts=conflicts, decisions=decisions)
    asked = [inquiry for _, inquiry in listener.clashes(outcome)]
    assert [each and each.at[1] for each in asked] == [[entries[0]], [entries[2]], None]
    assert asked[0] is not None and asked[0].at[3] == "what else is told"


@pytest.mark.parametrize(
    "form, field, hints",
    [
        ("a:\n  b: {}\n", "a.b", {"higher": True}),
        ("a:\n- b: {}\n  c: 1\n", "a[0].b", {"higher": True}),
        ("a:\n- {}\n", "a[0]", {"higher": None}),
        ("a:\n- first\n- {}\n", "a[1]", {"higher": None}),
        ("a: |\n  {}\n  last\n", "a", {}),
    ],
)
def test_of_elements_and_lines_only_a_merge_can_tell(
    form: str, field: str, hints: dict[str, bool | None]
) -> None:
    """People took theirs; the place of an element may be another one in their file."""
    three = Three(*(form.format(word).encode() for word in ("a:1.0", "a:1.1", "a:1.2")))
    for people, hint in ((three.theirs, hints), (three.ours, hints | {"higher": False})):
        left = clashes_of(three, people)
        expected = hint if hints.get("higher") else hints
        assert [(each.field, dict(each.hints)) for each in left] == [(field, expected)]


def clashes_of(three: Three[bytes], people: bytes) -> tuple[Remaining, ...]:
    listener = Listener()
    both = merge_both(three, Options("a.yaml", policy=listener), LineMerges())
    clashes = listener.clashes(both.outcome)
    return hinted(clashes, Judge(three, "a.yaml"), people, "ours", "a.yaml")


def test_an_element_is_settled_with_its_list() -> None:
    """Without a policy it is in conflict alone; with the policy the list would be empty."""
    head, one, two = "kind: A\nspec:\n  args:\n", "  - {name: a, v: %d}\n", "  - {name: b}\n"
    versions = [head + one % 1 + two, head + one % 2, head + two]
    three = Three(*(text.encode() for text in versions))
    left = clashes_of(three, three.theirs)
    assert [each.field for each in left] == ["spec.args[name=a]"]
    policy = FieldPolicy("*", "**", "theirs").asked("ours", "a.yaml")
    outcome = merge_both(three, Options("a.yaml", policy=policy), LineMerges()).outcome
    assert [decision.path for decision in outcome.decisions] == ["spec.args"]
    judge = Judge(three, "a.yaml")
    assert list(judged(left, outcome, three, judge, three.theirs)) == [Judgement("as people")]


@pytest.mark.parametrize(
    "decided, match",
    [
        ([("a", "theirs")], "as people"),
        ([("a.b[0]", "theirs")], "as people"),
        ([("a.b[0].c", "theirs")], "as people"),
        ([("a.b", "theirs"), ("a", "conflict")], "silent"),
        ([("a.b", "theirs"), ("a.b[1]", "conflict")], "silent"),
        ([("a.b", "theirs"), ("a.c", "conflict")], "as people"),
        ([("a.bc", "theirs")], "silent"),
        ([], "silent"),
    ],
)
def test_which_decisions_settle_a_conflict(decided: list[tuple[str, str]], match: str) -> None:
    """Those at its place, around it and inside of it; none of them is a conflict."""
    text = b"kind: A\nmetadata: {name: a}\na: {b: [{c: 1}]}\n"
    decisions = tuple(Decision("A/a", path, "changed", side, "12 policy") for path, side in decided)
    outcome = Outcome(text, True, "structure", decisions=decisions)
    three = Three[bytes | None](text, text, text)
    left = Remaining("A/a", "a.b", "changed", ("a", "b"))
    (judgement,) = judged([left], outcome, three, Judge(three, "a.yaml"), text)
    assert judgement.match == match
