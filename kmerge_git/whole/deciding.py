"""Answers that are given by words instead of keys: all of them are proved before one is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kmerge_git.errors import Refused, UsageError
from kmerge_git.kube.fieldpath import matches_shown, pattern
from kmerge_git.whole.resolving import Answer, Question, Resolving

SIDES = ("ours", "theirs", "both", "base", "higher")
_ID = 12  # hex digits


@dataclass(frozen=True, slots=True)
class Given:
    """An answer by the id of its question: a side, or `value` or `lines` and their text."""

    id: str
    how: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be decided: some questions by their ids, others by one side."""

    given: tuple[Given, ...] = ()
    side: str = ""
    at: tuple[str, ...] = ()  # patterns of fields, and ids; none: every question without an answer


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of a wish: the answers, and why a question that it is about has none."""

    answers: tuple[tuple[Question, Answer], ...]
    refused: tuple[tuple[Question, str], ...] = ()


def decide(resolving: Resolving, wish: Wish) -> Decided:
    """The answers to a wish, each of them proved; nothing is given yet.

    An answer by id has the last word, then one by a pattern; a side for all leaves alone what has
    an answer. What cannot be is an error where an id names it, and else a question that is left.
    """
    known = {question.id: question for question in resolving.questions}
    ids = [at for at in wish.at if at in known or _looks_like_an_id(at)]
    named = [*wish.given, *(Given(at, wish.side) for at in ids)]
    answers = _by_id(resolving, known, named)
    patterns = [at for at in wish.at if at not in ids]
    if patterns:
        about = _at(resolving, patterns)
    else:
        # a side for all is for what nobody has decided yet
        about = [q for q in resolving.left if wish.side and not wish.at]
    refused: list[tuple[Question, str]] = []
    for question in about:
        if question.id in answers:
            continue
        try:
            answers[question.id] = resolving.answer_of(question, wish.side)
        except Refused as why:
            refused.append((question, why.why))
    made = tuple((known[of], answer) for of, answer in answers.items())
    return Decided(made, tuple(refused))


def carry_out(resolving: Resolving, answers: Iterable[tuple[Question, Answer]]) -> None:
    """Give the answers and write what comes of them; if one file cannot be, all is as before."""
    before = dict(resolving.answers)
    given = list(answers)
    try:
        for question, answer in given:
            resolving.give(question, answer)
        resolving.put()
    except Refused:
        for question, _ in given:
            resolving.give(question, before.get(question.id))
        raise


def _looks_like_an_id(text: str) -> bool:
    return len(text) == _ID and all(char in "0123456789abcdef" for char in text)


def _by_id(
    resolving: Resolving, known: dict[str, Question], named: Iterable[Given]
) -> dict[str, Answer]:
    """The answers whose questions are named; a contradiction is an error."""
    answers: dict[str, Answer] = {}
    for given in named:
        question = known.get(given.id)
        if question is None:
            hint = "`kmerge resolve --list` tells those that there are"
            raise UsageError("no conflict here has this id", path=given.id, hint=hint)
        try:
            answer = _answer(resolving, question, given)
        except Refused as why:
            place = question.conflict.shown(question.path)
            told = f"{given.how} cannot be its answer: {why.why}"
            raise UsageError(told, path=given.id, hint=f"{question.path}: {place}") from None
        if answers.setdefault(given.id, answer) != answer:
            hint = "say one of them"
            raise UsageError("it is given two different answers", path=given.id, hint=hint)
    return answers


def _answer(resolving: Resolving, question: Question, given: Given) -> Answer:
    if given.how == "value":
        return resolving.answer_with(question, given.text)
    if given.how == "lines":
        return resolving.answer_lines(question, given.text)
    return resolving.answer_of(question, given.how)


def _at(resolving: Resolving, patterns: Iterable[str]) -> list[Question]:
    """The questions about fields that a pattern means; one that means none is a slip."""
    found: dict[str, Question] = {}
    for text in patterns:
        words = pattern(text)
        met = [q for q in resolving.questions if matches_shown(words, q.conflict.field)]
        if not met:
            hint = "`kmerge resolve --list` shows the fields, `**` is any number of steps"
            raise UsageError("--at: no field in conflict is meant", path=text, hint=hint)
        found |= {question.id: question for question in met}
    return list(found.values())
