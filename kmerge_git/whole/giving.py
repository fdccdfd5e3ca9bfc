"""Answers that are given: each where it can stand, alone and with the others of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from kmerge_git.errors import KmergeError

if TYPE_CHECKING:
    from kmerge_git.whole.kept import Answer
    from kmerge_git.whole.questions import Question
    from kmerge_git.whole.resolving import Resolving

Refusals = list[tuple["Question", str]]


def give(
    resolving: Resolving, questions: Iterable[Question], make: Callable[[Question], Answer]
) -> Refusals:
    """Give each question the answer made for it; those that it cannot have, and why."""
    refused: Refusals = []
    for path, group in groupby(questions, lambda question: question.path):
        made: list[tuple[Question, Answer]] = []
        for question in group:
            try:
                made.append((question, make(question)))
            except KmergeError as error:
                refused.append((question, words(error)))
        if len(made) > 1 and not _refusal(resolving, path, made):
            continue
        for pair in made:
            why = _refusal(resolving, path, [pair])
            if why:
                refused.append((pair[0], why))
    return refused


def words(error: KmergeError) -> str:
    """What is wrong, without the place, which is on the screen."""
    return "; ".join(part for part in (error.why, error.hint) if part)


def _refusal(resolving: Resolving, path: str, made: Sequence[tuple[Question, Answer]]) -> str:
    """Give some answers of a file; why they cannot stand with the others, or nothing."""
    before = [(question, resolving.answers.get(question.id)) for question, _ in made]
    resolving.give_all(made)
    try:
        resolving.check([path])
    except KmergeError as error:
        resolving.give_all(before)
        return words(error)
    except BaseException:
        resolving.give_all(before)
        raise
    return ""
