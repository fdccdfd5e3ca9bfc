"""Give answers to conflicts: each where it can stand, alone and with the others of its file.

Whether an answer can stand takes a look through the whole file. Of many answers all are tried
together, then halves of those that cannot stand so: one by one a file would be read as often as
it has conflicts.
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

SIDES = ("ours", "theirs", "both", "base", "higher")


@dataclass(frozen=True, slots=True)
class ById:
    """An answer by the id of its question: a side, or `value` or `lines` and their text."""

    id: str
    how: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Choosing:
    """What is to be decided: some questions by their ids, others by one side."""

    given: tuple[ById, ...] = ()
    side: str = ""
    at: tuple[str, ...] = ()  # patterns of fields, and ids; none: every question without an answer


@dataclass(frozen=True, slots=True)
class Picked:
    """What comes of a wish: answers that an id asks for, others, and why some cannot be."""

    named: tuple[Answered, ...]
    others: tuple[Answered, ...] = ()
    refused: tuple[tuple[Question, str], ...] = ()
    staged: tuple[str, ...] = ()  # files, when it is carried out

    @property
    def answers(self) -> tuple[Answered, ...]:
        """All answers."""
        return (*self.named, *self.others)


def decide(resolving: Resolving, wish: Choosing) -> Picked:
    """The answers to a wish, each of them proved by itself; nothing is given yet.

    An answer by id has the last word, then one by a pattern; a side for all leaves alone what has
    an answer. What cannot be is an error where an id names it, and else a question that is left.
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


def carry_out(resolving: Resolving, decided: Picked) -> Picked:
    """Give the answers and write what comes of them; if a named one cannot be, all is as before.

    Others may not stand beside those of their file: such a question is left as it was.
    """
    known = resolving.answers
    before = [(q, known.get(q.id)) for q, _ in decided.answers]
    try:
        resolving.give_all(decided.named)
        resolving.check(dict.fromkeys(question.path for question, _ in decided.named))
        made = {question.id: answer for question, answer in decided.others}
        asked = [question for question, _ in decided.others]
        refused = give(resolving, asked, lambda question: made[question.id])
        left = {question.id for question, _ in refused}
        others = tuple(one for one in decided.others if one[0].id not in left)
        refused = [*decided.refused, *refused]
        staged = tuple(resolving.put())
    except Refused:
        resolving.give_all(before)
        raise
    return replace(decided, others=others, refused=tuple(refused), staged=staged)


def _looks_like_an_id(text: str) -> bool:
    return len(text) == ID and all(char in "0123456789abcdef" for char in text)


def _by_id(
    resolving: Resolving, known: dict[str, Question], wanted: Iterable[ById]
) -> dict[str, Answered]:
    """The answers whose questions are named; a contradiction is an error."""
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
            told = f"{given.how} cannot be its answer: {why.why}"
            raise UsageError(told, path=given.id, hint=f"{question.path}: {place}") from None
        if answers.setdefault(given.id, (question, answer))[1] != answer:
            hint = "say one of them"
            raise UsageError("it is given two different answers", path=given.id, hint=hint)
    return answers


def _meant(of: str, known: dict[str, Question]) -> str:
    """What to do about an id that there is not; it may be a field, or one with a slip in it."""
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
    """The questions about fields that a pattern means; one that means none is a slip."""
    found: dict[str, Question] = {}
    for text in patterns:
        words = pattern(text)
        met = [q for q in resolving.questions if words and matches(words, q.field)]
        if not met:
            see = "`kmerge resolve --list` shows the fields, `**` is any number of steps"
            hint = did_you_mean(text, (q.conflict.field for q in resolving.questions), see)
            raise UsageError("--at: no field in conflict is meant", path=text, hint=hint)
        found |= {question.id: question for question in met}
    return list(found.values())


Answered = tuple["Question", "Answer"]
Refusals = list[tuple["Question", str]]
Errors = list[tuple["Question", KmergeError]]

_TOO_MANY = "too many answers of this file cannot stand, answer it by itself"


def choose(
    resolving: Resolving, questions: Sequence[Question], choice: str
) -> tuple[list[Answered], Errors]:
    """One answer in a word for some questions; those that cannot have it, and why."""
    found: list[Answered] = []
    refused: Errors = []
    for path, group in groupby(questions, lambda question: question.path):
        some = list(group)
        make = resolving.answer_of if len(some) <= ANSWERS_ALONE else resolving.untried_answer
        made: list[Answered] = []
        for question in some:
            try:
                made.append((question, make(question, choice)))
            except KmergeError as error:
                refused.append((question, error))
        if len(some) > ANSWERS_ALONE and choice not in SURE:
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
        if len(made) > ANSWERS_ALONE:
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
    tries = ANSWERED_BYTES // max(size, 1) + 1
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
