"""Answer the questions of a stopped merge, and check every answer before its file is written.

The stages of the index are merged again to find the conflicts. Each answer is saved at once. A
file is staged when all its questions are answered; until then, unanswered conflicts keep their
markers. A merge tool answers the conflicts of a single file, without the index.

An answer must leave its file valid, alone and together with the other answers of the file. Each
check reads the whole file. So many answers are checked together; if the check fails,
each half of the answers is checked again. To check answers one by one would read the file once
for each conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from kmerge_git.bounds import ANSWERED_BYTES, ANSWERS_ALONE, TEMPLATE_READINGS
from kmerge_git.errors import KmergeError, Refused, UsageError
from kmerge_git.git.repository import Repository
from kmerge_git.kube.fieldpath import matches, pattern
from kmerge_git.merge.three import Three
from kmerge_git.nearest import did_you_mean, nearest
from kmerge_git.outcome import Options
from kmerge_git.whole.answer_staging import FileStaging, IndexStaging, SavedAnswers
from kmerge_git.whole.both_merges import Both
from kmerge_git.whole.conflict_questions import ID, SURE, Answer, AskedFile, Question
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.moved_edits import has_resource, without_resource
from kmerge_git.whole.operation import UNKNOWN
from kmerge_git.whole.solving import SolvePlan, Wishes, make_plan


class Resolving:
    """Hold a stopped merge, its questions and the answers so far."""

    def __init__(
        self,
        plan: SolvePlan,
        asked: Iterable[AskedFile],
        saved: SavedAnswers,
        staging: IndexStaging | FileStaging,
    ) -> None:
        self._plan = plan
        self._saved = saved
        self._staging = staging
        self._asked = {file.path: file for file in asked}
        self._whole: set[str] = set()  # files that the user staged as they are
        self._to_settle = {file.path: file for file in plan.files if file.verdict == "solved"}
        # the files that need no answer, each with the reason, and what a policy decided
        self.settled = {path: (f.about, *f.chosen) for path, f in self._to_settle.items()}
        self._waiting = [file for file in plan.files if file.waits]
        self.operation = plan.operation
        self.problems = (*plan.problems, *plan.notes)
        self.questions = tuple(q for file in self._asked.values() for q in file.questions)
        ids = {question.id for question in self.questions}
        self._answers = {
            path: {id_: a for id_, a in saved.answers.get(path, {}).items() if id_ in ids}
            for path in self._asked
        }

    @classmethod
    def start(
        cls, repository: Repository, paths: tuple[str, ...] = (), *, json: bool = False
    ) -> Resolving:
        """Merge the files in conflict again to find the questions, without writing any file."""
        saved = SavedAnswers(Path(repository.git_dir))
        saved.forget_older()
        plan = make_plan(repository, Wishes(paths, json=json), is_ours=saved.is_ours)
        # an encrypted or binary file has no fields to ask about
        mine = plan.operation.mine
        asked = [AskedFile(file, plan.options(file.path), mine) for file in plan.files if file.asks]
        staging = IndexStaging(repository, plan, saved, [file.path for file in asked])
        return cls(plan, asked, saved, staging)

    @classmethod
    def of_one_file(
        cls, path: str, both: Both, three: Three[bytes | None], options: Options
    ) -> Resolving:
        """Find the questions of one file whose three versions are files, as for a merge tool."""
        outcome = both.outcome
        file = FileMerge(path, "", "conflict", outcome.reason, outcome.text, both=both, three=three)
        operation = replace(UNKNOWN, name="mergetool", labels=options.labels)
        plan = SolvePlan(operation, (file,), options=lambda path: options)
        staging = FileStaging(path, outcome.text)
        return cls(plan, [AskedFile(file, options)], SavedAnswers(None), staging)

    def refuse_unwritable(self) -> None:
        """Raise an error if answers cannot be written now, before the first one is saved."""
        self._staging.refuse_unwritable()

    # -- questions

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The answers so far, by the ids of their questions."""
        return {id_: one for of in self._answers.values() for id_, one in of.items()}

    @property
    def left(self) -> tuple[Question, ...]:
        """The questions without an answer."""
        known = self.answers
        return tuple(q for q in self.questions if q.id not in known and q.path not in self._whole)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is in conflict."""
        return not (self.questions or self.settled or self.unasked)

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """The files in conflict without questions, each with the reason."""
        waiting = {file.path for file in self._waiting}  # without those that are staged by now
        rest = [
            file
            for file in self._plan.files
            if file.path not in self._asked and file.verdict != "solved"
            if not file.waits or file.path in waiting
        ]
        return (*((file.path, file.reason) for file in rest), *self._plan.others.items())

    def around(self, question: Question) -> tuple[list[str], list[str]]:
        """Return the lines above and below a conflict in its file with the answers so far."""
        return self._asked[question.path].around(question, self._answers[question.path])

    # -- answers

    def answer_of(self, question: Question, choice: str) -> Answer:
        """Return the answer for a one-word choice; refuse an answer that breaks the file."""
        answer = self.untried_answer(question, choice)
        return answer if choice in SURE else self._tried(question, answer)

    def untried_answer(self, question: Question, choice: str) -> Answer:
        """Return the answer for a one-word choice, without checking it in the file."""
        return self._asked[question.path].chosen(question, choice)

    def answer_with(self, question: Question, given: str) -> Answer:
        """Return the answer for a value given as YAML; refuse an answer that breaks the file."""
        return self._tried(question, self._asked[question.path].with_value(question, given))

    def answer_lines(self, question: Question, text: str) -> Answer:
        """Return the answer for lines in place of a conflict; refuse lines that break the file."""
        return self._tried(question, self._asked[question.path].with_lines(text))

    def _tried(self, question: Question, answer: Answer) -> Answer:
        self._asked[question.path].check({question.id: answer})
        return answer

    def why_not(self, answers: Sequence[tuple[Question, Answer]]) -> KmergeError | None:
        """If these answers alone break their file, return the error; otherwise return None."""
        try:
            given = {question.id: answer for question, answer in answers}
            self._asked[answers[0][0].path].check(given)
        except KmergeError as error:
            return error
        return None

    def weight(self, path: str) -> int:
        """Return how many bytes a check of answers reads; it reads a template several times."""
        versions = [data or b"" for data in self._asked[path].file.three.each()]
        times = TEMPLATE_READINGS if any(b"{{" in data for data in versions) else 1
        return max(map(len, versions)) * times

    def give(self, question: Question, answer: Answer | None) -> None:
        """Save an answer to a question; None deletes the saved answer."""
        self.give_all([(question, answer)])

    def give_all(self, answers: Iterable[tuple[Question, Answer | None]]) -> None:
        """Save several answers at once; None deletes a saved answer."""
        changed: set[str] = set()
        for question, answer in answers:
            known = self._answers[question.path]
            if answer is None:
                known.pop(question.id, None)
            else:
                known[question.id] = answer
            changed.add(question.path)
        self._whole -= changed
        for path in changed:
            self._saved.remember(path, self._answers[path])

    def check(self, paths: Iterable[str]) -> None:
        """Check all answers of each file together; refuse answers that break the file."""
        for path in paths:
            if self._answers.get(path):
                try:
                    self._asked[path].check(self._answers[path])
                except Refused as refused:
                    raise Refused(refused.why, path=path, hint=refused.hint) from None

    # -- files

    def take_file(self, path: str) -> None:
        """Stage the present content of a file in the working tree, and drop its saved answers.

        Refuse a content with conflict markers, or with damage that neither side has.
        """
        try:
            self._asked[path].check_content(self._staging.content(path))
        except Refused as refused:
            raise Refused(refused.why, path=path, hint=refused.hint) from None
        self._staging.stage(path)
        self._whole.add(path)
        self._saved.forget([path])

    def put(self, paths: Iterable[str] | None = None, *, is_whole: bool = False) -> tuple[str, ...]:
        """Write the files with their answers, stage the decided files and return the staged paths.

        All answers are checked before any file is written. If `is_whole` is true, also write the
        files without an answer: their conflicts may be smaller than those that git left.
        """
        chosen = [*self._asked, *self._to_settle] if paths is None else list(paths)
        asked = [path for path in chosen if path in self._asked]
        self.check(asked)
        settled = [self._to_settle[path] for path in chosen if path in self._to_settle]
        files = [self._answered(path) for path in asked if is_whole or self._is_to_write(path)]
        if is_whole:
            settled += self._waiting
        elif self._waiting:
            settled += self._decided_with({file.path for file in files} | self._whole)
        self._staging.write(files, settled)
        staged = tuple(file.path for file in (*settled, *files) if file.verdict == "solved")
        self._waiting = [file for file in self._waiting if file.path not in staged]
        self._to_settle = {p: f for p, f in self._to_settle.items() if p not in staged}
        self._saved.forget(staged)
        return staged

    def _decided_with(self, written: set[str]) -> list[FileMerge]:
        """Return the files whose resources are decided in one of the written files."""
        return [
            self._placed(file)
            for file in self._waiting
            if any(path in written for _, path in file.waits)
        ]

    def _placed(self, file: FileMerge) -> FileMerge:
        """Return a file without those of its resources that another file has after the answers."""
        data = file.stages.theirs if file.stages else None
        for key, path in file.waits:
            if path in self._whole:
                other: bytes | None = self._staging.content(path)
            elif path in self._asked and self._is_decided(path):
                other = self._answered(path).data
            else:
                return file
            if data is not None and has_resource(other or b"", key):
                data = without_resource(data, key)
        return replace(file, verdict="solved", data=data)

    def _is_to_write(self, path: str) -> bool:
        """Return whether the file on the disk may lack an answer, or hold an answer taken back."""
        # a file without a conflict of git is not unmerged yet
        is_new = bool(self._answers[path] or self._asked[path].file.stages)
        is_new = is_new or self._is_decided(path)
        return path not in self._whole and (is_new or self._staging.is_touched(path))

    def _is_decided(self, path: str) -> bool:
        return len(self._answers[path]) == len(self._asked[path].questions)

    def _answered(self, path: str) -> FileMerge:
        """Return the file with its answers applied."""
        data = self._asked[path].data(self._answers[path])
        file = self._asked[path].file
        if file.stages and not (data or b"").strip():
            data = None  # nothing but resources that moved elsewhere was in the file
        file = replace(file, data=data, writes=True)
        return replace(file, verdict="solved") if self._is_decided(path) else file


Answered = tuple[Question, Answer]
Refusals = list[tuple[Question, str]]
Errors = list[tuple[Question, KmergeError]]

_TOO_MANY = "too many answers for this file were refused; give this answer in another run"


@dataclass(frozen=True, slots=True)
class ById:
    """Hold an answer and the id of its question; only `value` and `lines` answers have a `text`."""

    id: str
    how: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Choosing:
    """Hold the user's wishes: answers by id, and a side to choose for other questions."""

    given: tuple[ById, ...] = ()
    side: str = ""
    at: tuple[str, ...] = ()  # field patterns and ids; if empty, every unanswered question


@dataclass(frozen=True, slots=True)
class Picked:
    """Hold the answers given by id, the other answers, and the questions with refused answers."""

    named: tuple[Answered, ...]
    others: tuple[Answered, ...] = ()
    refused: tuple[tuple[Question, str], ...] = ()
    staged: tuple[str, ...] = ()  # files that `carry_out` staged

    @property
    def answers(self) -> tuple[Answered, ...]:
        """All chosen answers."""
        return (*self.named, *self.others)


def decide(resolving: Resolving, wish: Choosing) -> Picked:
    """Choose the answers that the user wants, and check each answer separately, without saving.

    An answer by id overrides an answer by pattern. A side for all applies only to questions without
    an answer. A refused answer by id is an error; any other refused answer is left out.
    """
    known = {question.id: question for question in resolving.questions}
    digits = frozenset("0123456789abcdef")
    ids = [at for at in wish.at if at in known or (len(at) == ID and digits.issuperset(at))]
    named = _by_id(resolving, known, [*wish.given, *(ById(at, wish.side) for at in ids)])
    patterns = [at for at in wish.at if at not in ids]
    about = _at(resolving, patterns) if patterns else []
    if wish.side and not wish.at:  # a side for all applies to unanswered questions
        about = list(resolving.left)
    others, errors = choose(resolving, [q for q in about if q.id not in named], wish.side)
    for _, error in errors:
        if not isinstance(error, Refused):
            raise error
    refused = tuple((question, error.why) for question, error in errors)
    return Picked(tuple(named.values()), tuple(others), refused)


def carry_out(resolving: Resolving, picked: Picked, *, is_whole: bool = False) -> Picked:
    """Save the answers and write the files; undo everything if an answer by id is refused.

    If any other answer is refused, keep the previous answer to its question. For `is_whole` see
    `Resolving.put`.
    """
    resolving.refuse_unwritable()
    before = _answers_to(resolving, picked.answers)
    try:
        resolving.give_all(picked.named)
        resolving.check(dict.fromkeys(question.path for question, _ in picked.named))
        refused = give(resolving, picked.others)
        left = {question.id for question, _ in refused}
        others = tuple(one for one in picked.others if one[0].id not in left)
        staged = resolving.put(is_whole=is_whole)
    except Refused:
        resolving.give_all(before)
        raise
    return replace(picked, others=others, refused=(*picked.refused, *refused), staged=staged)


def _answers_to(
    resolving: Resolving, answered: Iterable[Answered]
) -> list[tuple[Question, Answer | None]]:
    """Return the present answers to the given questions; an unanswered question has None."""
    known = resolving.answers
    return [(question, known.get(question.id)) for question, _ in answered]


def _by_id(
    resolving: Resolving, known: dict[str, Question], wanted: Iterable[ById]
) -> dict[str, Answered]:
    """Return the answers that are given by id; refuse different answers for the same id."""
    answers: dict[str, Answered] = {}
    for given in wanted:
        question = known.get(given.id)
        if question is None:
            hint = _meant(given.id, known)
            raise UsageError("there is no conflict with this id", path=given.id, hint=hint)
        try:
            answer = _answer(resolving, question, given)
        except Refused as why:
            place = question.conflict.shown("the file")
            message = f"{given.how} is not a possible answer: {why.why}"
            raise UsageError(message, path=given.id, hint=f"{question.path}: {place}") from None
        if answers.setdefault(given.id, (question, answer))[1] != answer:
            hint = "give only one"
            raise UsageError(
                "this conflict was given two different answers; give one", path=given.id, hint=hint
            )
    return answers


def _meant(of: str, known: dict[str, Question]) -> str:
    """Return a hint for an unknown id, which may be a field name or a misspelled id."""
    see = "run `kmerge resolve --list` to see the ids"
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
    """Return the questions whose fields match the patterns; refuse a pattern without a match."""
    about: dict[str, Question] = {}
    for text in patterns:
        words = pattern(text)
        met = [q for q in resolving.questions if words and matches(words, q.field)]
        if not met:
            see = "run `kmerge resolve --list` to see the fields; `**` matches any number of keys"
            hint = did_you_mean(text, (q.conflict.field for q in resolving.questions), see)
            raise UsageError(
                "--at: no field in conflict matches this pattern", path=text, hint=hint
            )
        about |= {question.id: question for question in met}
    return list(about.values())


# -- one answer for several questions


def choose(
    resolving: Resolving, questions: Sequence[Question], choice: str
) -> tuple[list[Answered], Errors]:
    """Apply one choice to several questions; return the answers, and the errors of refused ones."""
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
            errors = _sifted(answered, resolving.why_not, resolving.weight(path))
            refused += errors
            left = {question.id for question, _ in errors}
            answered = [one for one in answered if one[0].id not in left]
        chosen += answered
    return chosen, refused


def give_choice(resolving: Resolving, questions: Sequence[Question], choice: str) -> Refusals:
    """Save one choice as the answer to several questions; return the refused ones with reasons."""
    chosen, errors = choose(resolving, questions, choice)
    return [(question, words(error)) for question, error in errors] + give(resolving, chosen)


def give(resolving: Resolving, answered: Iterable[Answered]) -> Refusals:
    """Save answers; return the questions whose answers are refused, each with the reason."""
    refused: Errors = []
    for path, group in groupby(answered, lambda one: one[0].path):
        some = list(group)
        if len(some) > ANSWERS_ALONE:
            weight = resolving.weight(path)
            refused += _sifted(some, lambda part: _refusal(resolving, part), weight)
        elif len(some) == 1 or _refusal(resolving, some):
            alone = [(pair[0], _refusal(resolving, [pair])) for pair in some]
            refused += [(question, error) for question, error in alone if error]
    return [(question, words(error)) for question, error in refused]


def _sifted(
    answered: Sequence[Answered],
    why_not: Callable[[Sequence[Answered]], KmergeError | None],
    weight: int,
) -> Errors:
    """Check answers together and return the refused answers; halve a set of answers that fails."""
    refused: Errors = []
    tries = ANSWERED_BYTES // max(weight, 1) + 1
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
    """Return the text of an error without its place, because the screen already shows the place."""
    return "; ".join(part for part in (error.why, error.hint) if part)


def _refusal(resolving: Resolving, answered: Sequence[Answered]) -> KmergeError | None:
    """Save some answers of a file; if the answers break the file, restore the previous answers."""
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
