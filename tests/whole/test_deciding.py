"""Answers by words: which questions they mean, which of them wins, what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from kmerge_git.errors import Refused, UsageError
from kmerge_git.kube.fieldpath import show
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Options, Outcome
from kmerge_git.text.linemerge import Given
from kmerge_git.whole import conflict_questions
from kmerge_git.whole.both_merges import Both
from kmerge_git.whole.conflict_questions import Answer, AskedFile, Question
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.resolving import ById, Choosing, Picked, carry_out, decide

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Step

ONE, TWO, THREE = "0" * 12, "1" * 12, "a" * 12


def question(of: str, *field: Step, higher: bool = False) -> Question:
    conflict = Conflict("Deployment/web", show(field), Why.BOTH_CHANGED)
    choices = ("ours", "theirs", "base", *(["higher"] if higher else []))
    values = Three[str | None]("1", "2", "3")
    return Question(of, "a.yaml", 0, conflict, "value", choices, field, values)


QUESTIONS = (
    question(ONE, "spec", "replicas", higher=True),
    question(TWO, "spec", "containers", (("name", "app"),), "image"),
    question(THREE, "metadata", "annotations", "example.com/a"),
)


class Fake:
    """What is asked of a `Resolving`."""

    def __init__(self, **answers: str) -> None:
        self.questions = QUESTIONS
        self.answers = {of: Answer(how, how) for of, how in answers.items()}
        self.once: tuple[str, ...] = ()  # answers of which a file may hold one alone

    @property
    def left(self) -> tuple[Question, ...]:
        return tuple(q for q in self.questions if q.id not in self.answers)

    def refuse_unwritable(self) -> None:
        """It can be written."""

    def answer_of(self, question: Question, side: str) -> Answer:
        if side not in question.choices:
            raise Refused(f"{side} cannot stand here")
        return Answer(side, side)

    def answer_with(self, question: Question, yaml: str) -> Answer:
        if yaml == "[":
            raise Refused("no YAML")
        return Answer("value", yaml)

    def answer_lines(self, question: Question, text: str) -> Answer:
        return Answer("lines", text)

    def give(self, question: Question, answer: Answer | None) -> None:
        self.give_all([(question, answer)])

    def give_all(self, answers: Iterable[tuple[Question, Answer | None]]) -> None:
        for question, answer in answers:
            self.answers.pop(question.id, None)
            if answer is not None:
                self.answers[question.id] = answer

    def check(self, paths: Iterable[str]) -> None:
        hows = [answer.how for answer in self.answers.values()]
        if any(hows.count(how) > 1 for how in self.once):
            raise Refused("a name stands twice")

    def put(self, *, is_whole: bool = False) -> tuple[str, ...]:
        self.check(["a.yaml"])
        return () if self.left else ("a.yaml",)


def hows(wish: Choosing, **answers: str) -> dict[str, str]:
    return {of.id: answer.how for of, answer in decided(wish, **answers).answers}


def decided(wish: Choosing, **answers: str) -> Picked:
    return decide(Fake(**answers), wish)  # type: ignore[arg-type]


def test_a_side_for_all() -> None:
    assert hows(Choosing(side="theirs")) == dict.fromkeys((ONE, TWO, THREE), "theirs")


def test_a_side_for_all_leaves_the_answers_that_there_are() -> None:
    assert hows(Choosing(side="theirs"), **{ONE: "higher"}) == {TWO: "theirs", THREE: "theirs"}


@pytest.mark.parametrize(
    "at, meant",
    [
        ("spec.replicas", [ONE]),
        ("spec.*", [ONE]),
        ("**.image", [TWO]),
        ("spec.containers[*].image", [TWO]),
        ("spec.containers[app].image", [TWO]),
        ("spec.containers[name=app].image", [TWO]),
        ("metadata.annotations[example.com/a]", [THREE]),
        ("metadata.annotations.*", [THREE]),
        ("**", [ONE, TWO, THREE]),
        (THREE, [THREE]),
    ],
)
def test_at(at: str, meant: list[str]) -> None:
    assert hows(Choosing(side="ours", at=(at,))) == dict.fromkeys(meant, "ours")


def test_at_replaces_an_answer() -> None:
    assert hows(Choosing(side="ours", at=("spec.replicas",)), **{ONE: "theirs"}) == {ONE: "ours"}


def test_by_id_before_by_field_before_all() -> None:
    given = (ById(ONE, "value", "7"),)
    assert hows(Choosing(given, "ours", ("spec.*", "**.image"))) == {ONE: "value", TWO: "ours"}
    assert hows(Choosing(given, "ours")) == {ONE: "value", TWO: "ours", THREE: "ours"}
    assert hows(Choosing(given)) == {ONE: "value"}


def test_what_cannot_be_is_left_where_no_id_names_it() -> None:
    for at in ((), ("**",)):
        found = decided(Choosing(side="higher", at=at))
        assert [of.id for of, _ in found.answers] == [ONE]
        assert [(of.id, why) for of, why in found.refused] == [
            (TWO, "higher cannot stand here"),
            (THREE, "higher cannot stand here"),
        ]


@pytest.mark.parametrize(
    "wish, said",
    [
        (
            Choosing(side="higher", at=(TWO,)),
            f"{TWO}: higher is not a possible answer: higher cannot",
        ),
        (Choosing((ById(ONE, "value", "["),)), f"{ONE}: value is not a possible answer: no YAML"),
        (Choosing((ById("b" * 12, "ours"),)), f"{'b' * 12}: there is no conflict with this id"),
        (
            Choosing((ById("replicas", "value", "1"),)),
            "replicas: there is no conflict with this id",
        ),
        (Choosing(side="ours", at=("b" * 12,)), f"{'b' * 12}: there is no conflict with this id"),
        (
            Choosing(side="ours", at=("spec.none",)),
            "spec.none: --at: no field in conflict matches this pattern",
        ),
        (Choosing(side="ours", at=("",)), "--at: no field in conflict matches this pattern"),
        (
            Choosing((ById(ONE, "ours"),), "base", (ONE,)),
            "this conflict was given two different answers; give one",
        ),
        (Choosing((ById(ONE, "ours"), ById(ONE, "value", "1"))), "two different answers"),
    ],
)
def test_what_is_refused(wish: Choosing, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        decided(wish)
    assert said in str(caught.value)


def test_the_same_answer_twice_is_one() -> None:
    assert hows(Choosing((ById(ONE, "ours"),) * 2, "ours", (ONE,))) == {ONE: "ours"}


def test_all_or_nothing() -> None:
    """The answers of a file are proved together: what fails there leaves all as it was."""
    resolving: Any = Fake(**{THREE: "ours"})
    resolving.once = ("value",)
    before = dict(resolving.answers)
    given = ById(ONE, "value", "1"), ById(TWO, "value", "2")
    found = decide(resolving, Choosing(given, "theirs", ("**",)))
    with pytest.raises(Refused):
        carry_out(resolving, found)
    assert resolving.answers == before


def test_what_cannot_stand_beside_others_is_left() -> None:
    """Of a side for many as much as there can be, in their order, and beside what an id says."""
    resolving: Any = Fake(**{THREE: "base"})
    resolving.once = ("ours",)
    found = carry_out(resolving, decide(resolving, Choosing(side="ours", at=("**",))))
    assert [of.id for of, _ in found.answers] == [ONE]
    assert [(of.id, why) for of, why in found.refused] == [
        (TWO, "a name stands twice"),
        (THREE, "a name stands twice"),
    ]
    assert {of: answer.how for of, answer in resolving.answers.items()} == {
        ONE: "ours",
        THREE: "base",
    }
    named = Choosing((ById(THREE, "ours"),), "ours", ("**.image",))
    resolving = Fake()
    resolving.once = ("ours",)
    found = carry_out(resolving, decide(resolving, named))
    assert [of.id for of, _ in found.answers] == [THREE]


def test_conflicts_that_are_alike_have_ids_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And as many looks as there are conflicts."""
    hashed: list[bytes] = []
    monkeypatch.setattr(
        conflict_questions, "sha256", lambda data: hashed.append(data) or sha256(data)
    )
    texts = Three(*((f"{side}\n" + "same\n" * 5) * 50 for side in "bot")).map(str.encode)
    both = Both(Outcome(texts.ours, False, "lines"), Given(b"", False))
    file = FileMerge("a.txt", "both modified", "conflict", both=both, three=texts)
    found = AskedFile(file, Options("a.txt")).questions
    assert {
        (q.conflict.place, q.conflict.base, q.conflict.ours, q.conflict.theirs) for q in found
    } == {("", "b\n", "o\n", "t\n")}
    assert len({question.id for question in found}) == len(found) == 50
    same = "a.txt\0\0b\n\0o\n\0t\n"
    firsts = [
        sha256(text.encode()).hexdigest()[:12] for text in (same, f"{same}\0001", f"{same}\0002")
    ]
    assert [question.id for question in found][:3] == firsts
    assert 50 <= len(hashed) < 110
