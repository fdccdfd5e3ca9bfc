"""Answers that are given: each where it can stand, alone and with the others of its file.

Whether one can stand takes a look through the whole file. Of many answers all are tried together,
then halves of those that cannot stand so: one by one a file would be read as often as it has
conflicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.whole.kept import SURE

if TYPE_CHECKING:
    from kmerge_git.whole.kept import Answer
    from kmerge_git.whole.questions import Question
    from kmerge_git.whole.resolving import Resolving

Answered = tuple["Question", "Answer"]
Refusals = list[tuple["Question", str]]
Errors = list[tuple["Question", KmergeError]]

MOST_ALONE = 50  # answers of one file that are tried one by one
MOST_READ = 5_000_000  # bytes that are looked through for the answers of a file, if they are more
_TOO_MANY = "too many answers of this file cannot stand, answer it by itself"


def choose(
    resolving: Resolving, questions: Sequence[Question], choice: str
) -> tuple[list[Answered], Errors]:
    """One answer in a word for some questions; those that cannot have it, and why."""
    found: list[Answered] = []
    refused: Errors = []
    for path, group in groupby(questions, lambda question: question.path):
        some = list(group)
        make = resolving.answer_of if len(some) <= MOST_ALONE else resolving.untried_answer
        made: list[Answered] = []
        for question in some:
            try:
                made.append((question, make(question, choice)))
            except KmergeError as error:
                refused.append((question, error))
        if len(some) > MOST_ALONE and choice not in SURE:
            cannot = _sifted(made, resolving.why_not, resolving.size(path))
            refused += cannot
            left = {question.id for question, _ in cannot}
            made = [one for one in made if one[0].id not in left]
        found += made
    return found, refused


def give_choice(resolving: Resolving, questions: Sequence[Question], choice: str) -> Refusals:
    """Give some questions an answer in a word; those that cannot have it, and why."""
    chosen, errors = choose(resolving, questions, choice)
    made = {question.id: answer for question, answer in chosen}
    refused = [(question, words(error)) for question, error in errors]
    return refused + give(resolving, [q for q, _ in chosen], lambda question: made[question.id])


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
        if len(made) > MOST_ALONE:
            cannot = _sifted(made, lambda some: _refusal(resolving, some), resolving.size(path))
            refused += [(question, words(error)) for question, error in cannot]
            continue
        if len(made) > 1 and not _refusal(resolving, made):
            continue
        for pair in made:
            why = _refusal(resolving, [pair])
            if why:
                refused.append((pair[0], words(why)))
    return refused


def _sifted(
    made: Sequence[Answered],
    why_not: Callable[[Sequence[Answered]], KmergeError | None],
    size: int,
) -> Errors:
    """The answers that cannot stand: halves of what cannot stand together are looked at."""
    refused: Errors = []
    tries = MOST_READ // max(size, 1) + 1
    waiting = [made] if made else []
    while waiting:
        some = waiting.pop()
        if not tries:
            refused += [(question, Refused(_TOO_MANY)) for question, _ in some]
            continue
        tries -= 1
        error = why_not(some)
        if error and len(some) == 1:
            refused.append((some[0][0], error))
        elif error:
            half = len(some) // 2
            waiting += [some[half:], some[:half]]
    return refused


def words(error: KmergeError) -> str:
    """What is wrong, without the place, which is on the screen."""
    return "; ".join(part for part in (error.why, error.hint) if part)


def _refusal(resolving: Resolving, made: Sequence[Answered]) -> KmergeError | None:
    """Give some answers of a file; why they cannot stand with the others, or nothing."""
    known = resolving.answers
    before = [(question, known.get(question.id)) for question, _ in made]
    resolving.give_all(made)
    try:
        resolving.check([made[0][0].path])
    except KmergeError as error:
        resolving.give_all(before)
        return error
    except BaseException:
        resolving.give_all(before)
        raise
    return None
