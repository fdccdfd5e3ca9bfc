"""Give answers to conflicts: each must hold in its file, alone and with the others there.

To prove an answer the whole file is read. Of many answers all are tried together, then halves of
those that do not hold: one by one a file would be read as often as it has conflicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from kmerge_git.bounds import ANSWERED_BYTES, ANSWERS_ALONE
from kmerge_git.errors import KmergeError, Refused, UsageError
from kmerge_git.kube.fieldpath import matches, pattern
from kmerge_git.nearest import did_you_mean, nearest
from kmerge_git.whole.conflict_questions import ID, Question
from kmerge_git.whole.resolving import Resolving
from kmerge_git.whole.saved_answers import SURE, Answer

Answered = tuple[Question, Answer]
Refusals = list[tuple[Question, str]]
Errors = list[tuple[Question, KmergeError]]

_TOO_MANY = "too many answers of this file cannot stand, answer it by itself"


@dataclass(frozen=True, slots=True)
class ById:
    """An answer by the id of its question: a side, or `value` or `lines` and their text."""

    id: str
    how: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Choosing:
    """Answers that somebody wants: to some questions by their ids, to others one side."""

    given: tuple[ById, ...] = ()
    side: str = ""
    at: tuple[str, ...] = ()  # patterns of fields, and ids; none: every question without an answer


@dataclass(frozen=True, slots=True)
class Picked:
    """Answers that were chosen: those that an id asks for, others, and refusals."""

    named: tuple[Answered, ...]
    others: tuple[Answered, ...] = ()
    refused: tuple[tuple[Question, str], ...] = ()
    staged: tuple[str, ...] = ()  # files, when it is carried out

    @property
    def answers(self) -> tuple[Answered, ...]:
        """All answers."""
        return (*self.named, *self.others)


def decide(resolving: Resolving, wish: Choosing) -> Picked:
    """Return the answers to a wish, each of them proved by itself; nothing is given yet.

    An answer by id has the last word, then one by a pattern; a side for all leaves alone what has
    an answer. An impossible answer is an error where an id names it, else its question is left.
    """
    known = {question.id: question for question in resolving.questions}
    ids = [at for at in wish.at if at in known or _looks_like_an_id(at)]
    named = _by_id(resolving, known, [*wish.given, *(ById(at, wish.side) for at in ids)])
    patterns = [at for at in wish.at if at not in ids]
    about = _at(resolving, patterns) if patterns else []
    if wish.side and not wish.at:  # a side for all is for what nobody has decided yet
        about = list(resolving.left)
    others, errors = choose(resolving, [q for q in about if q.id not in named], wish.side)
    for _, error in errors:
        if not isinstance(error, Refused):
            raise error
    refused = tuple((question, error.why) for question, error in errors)
    return Picked(tuple(named.values()), tuple(others), refused)


def carry_out(resolving: Resolving, picked: Picked) -> Picked:
    """Give the answers and write the files; undo all where a named answer does not hold.

    Another answer may not hold with those of its file: its question is left as it was.
    """
    before = _answers_to(resolving, picked.answers)
    try:
        resolving.give_all(picked.named)
        resolving.check(dict.fromkeys(question.path for question, _ in picked.named))
        refused = give(resolving, picked.others)
        left = {question.id for question, _ in refused}
        others = tuple(one for one in picked.others if one[0].id not in left)
        staged = resolving.put()
    except Refused:
        resolving.give_all(before)
        raise
    return replace(picked, others=others, refused=(*picked.refused, *refused), staged=staged)


def _answers_to(
    resolving: Resolving, answered: Iterable[Answered]
) -> list[tuple[Question, Answer | None]]:
    """Return the answers that some questions have so far."""
    known = resolving.answers
    return [(question, known.get(question.id)) for question, _ in answered]


def _looks_like_an_id(text: str) -> bool:
    return len(text) == ID and all(char in "0123456789abcdef" for char in text)


def _by_id(
    resolving: Resolving, known: dict[str, Question], wanted: Iterable[ById]
) -> dict[str, Answered]:
    """Return the answers whose questions are named; refuse a contradiction."""
    answers: dict[str, Answered] = {}
    for given in wanted:
        question = known.get(given.id)
        if question is None:
            hint = _meant(given.id, known)
            raise UsageError("no conflict here has this id", path=given.id, hint=hint)
        try:
            answer = _answer(resolving, question, given)
        except Refused as why:
            place = question.conflict.shown("the file")
            message = f"{given.how} cannot be its answer: {why.why}"
            raise UsageError(message, path=given.id, hint=f"{question.path}: {place}") from None
        if answers.setdefault(given.id, (question, answer))[1] != answer:
            hint = "say one of them"
            raise UsageError("it is given two different answers", path=given.id, hint=hint)
    return answers


def _meant(of: str, known: dict[str, Question]) -> str:
    """Return a hint about an unknown id: it may be a field, or an id with a slip in it."""
    see = "`kmerge resolve --list` tells those that there are"
    field = nearest(of, (question.conflict.field for question in known.values()))
    ids = [question.id for question in known.values() if field and question.conflict.field == field]
    if len(ids) == 1:
        return f"the id of `{field}` is {ids[0]}"
    return did_you_mean(of, known, see)


def _answer(resolving: Resolving, question: Question, given: ById) -> Answer:
    if given.how == "value":
        return resolving.answer_with(question, given.text)
    if given.how == "lines":
        return resolving.answer_lines(question, given.text)
    return resolving.answer_of(question, given.how)


def _at(resolving: Resolving, patterns: Iterable[str]) -> list[Question]:
    """Return the questions about the fields of some patterns; refuse one that fits no field."""
    about: dict[str, Question] = {}
    for text in patterns:
        words = pattern(text)
        met = [q for q in resolving.questions if words and matches(words, q.field)]
        if not met:
            see = "`kmerge resolve --list` shows the fields, `**` is any number of steps"
            hint = did_you_mean(text, (q.conflict.field for q in resolving.questions), see)
            raise UsageError("--at: no field in conflict is meant", path=text, hint=hint)
        about |= {question.id: question for question in met}
    return list(about.values())


# -- one answer for several questions


def choose(
    resolving: Resolving, questions: Sequence[Question], choice: str
) -> tuple[list[Answered], Errors]:
    """Return one answer in a word for some questions, and why others cannot have it."""
    chosen: list[Answered] = []
    refused: Errors = []
    for path, group in groupby(questions, lambda question: question.path):
        some = list(group)
        is_few = len(some) <= ANSWERS_ALONE
        make = resolving.answer_of if is_few else resolving.untried_answer
        answered: list[Answered] = []
        for question in some:
            try:
                answered.append((question, make(question, choice)))
            except KmergeError as error:
                refused.append((question, error))
        if not is_few and choice not in SURE:
            errors = _sifted(answered, resolving.why_not, resolving.size(path))
            refused += errors
            left = {question.id for question, _ in errors}
            answered = [one for one in answered if one[0].id not in left]
        chosen += answered
    return chosen, refused


def give_choice(resolving: Resolving, questions: Sequence[Question], choice: str) -> Refusals:
    """Give some questions an answer in a word; return those that cannot have it, and why."""
    chosen, errors = choose(resolving, questions, choice)
    return [(question, words(error)) for question, error in errors] + give(resolving, chosen)


def give(resolving: Resolving, answered: Iterable[Answered]) -> Refusals:
    """Give questions their answers; return those that cannot have them, and why."""
    refused: Errors = []
    for path, group in groupby(answered, lambda one: one[0].path):
        some = list(group)
        if len(some) > ANSWERS_ALONE:
            size = resolving.size(path)
            refused += _sifted(some, lambda part: _refusal(resolving, part), size)
        elif len(some) == 1 or _refusal(resolving, some):
            alone = [(pair[0], _refusal(resolving, [pair])) for pair in some]
            refused += [(question, error) for question, error in alone if error]
    return [(question, words(error)) for question, error in refused]


def _sifted(
    answered: Sequence[Answered],
    why_not: Callable[[Sequence[Answered]], KmergeError | None],
    size: int,
) -> Errors:
    """Return the answers that do not hold: look at halves of those that do not together."""
    refused: Errors = []
    tries = ANSWERED_BYTES // max(size, 1) + 1
    waiting = [answered] if answered else []
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
    """Return what is wrong, without the place, which is on the screen."""
    return "; ".join(part for part in (error.why, error.hint) if part)


def _refusal(resolving: Resolving, answered: Sequence[Answered]) -> KmergeError | None:
    """Give some answers of a file; return why they do not hold with the others, or nothing."""
    before = _answers_to(resolving, answered)
    resolving.give_all(answered)
    try:
        resolving.check([answered[0][0].path])
    except BaseException as error:
        resolving.give_all(before)
        if not isinstance(error, KmergeError):
            raise
        return error
    return None
