"""Finish a conflict field by field: the questions of a stopped merge, and answers to them.

The conflicts come from the stages of the index, merged anew. An answer is saved the moment it is
given. A file whose questions are all answered is proved, written and staged; in others the rest
keeps its markers. A merge tool answers the conflicts of one file, of which no index knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.git.repository import Repository
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.text.markers import SIZE, first_marker
from kmerge_git.whole.answer_staging import FileStaging, IndexStaging
from kmerge_git.whole.both_merges import Both
from kmerge_git.whole.conflict_questions import AskedFile, Question
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.operation import UNKNOWN, current_operation
from kmerge_git.whole.saved_answers import SURE, Answer, SavedAnswers
from kmerge_git.whole.solving import SolvePlan, Wishes, make_plan


class Resolving:
    """A stopped merge, its questions, and the answers so far."""

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
        self._whole: set[str] = set()  # files that are taken as they are
        self._to_settle = {file.path: file for file in plan.files if file.verdict == "solved"}
        self.operation = plan.operation
        self.problems = plan.problems
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
        """Merge anew what is in conflict; nothing is written."""
        saved = SavedAnswers(Path(repository.git_dir))
        saved.forget_older()
        operation = current_operation(repository)
        plan = make_plan(repository, Wishes(paths, json=json), operation, is_ours=saved.is_ours)
        # a person cannot decide in a file that is sealed, or no text: it has no fields
        asked = [AskedFile(file, plan.options(file.path)) for file in plan.files if file.asks]
        staging = IndexStaging(repository, plan, saved, [file.path for file in asked])
        return cls(plan, asked, saved, staging)

    @classmethod
    def of_one_file(
        cls, path: str, both: Both, three: Three[bytes | None], options: Options
    ) -> Resolving:
        """Ask about a file that was merged out of three others, as a merge tool does."""
        outcome = both.outcome
        file = FileMerge(path, "", "conflict", outcome.reason, outcome.text, both=both, three=three)
        operation = replace(UNKNOWN, name="mergetool", labels=options.labels)
        plan = SolvePlan(operation, (file,), (), options=lambda path: options)
        staging = FileStaging(path, outcome.text)
        return cls(plan, [AskedFile(file, options)], SavedAnswers(None), staging)

    # -- questions

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The answers so far, by the id of the question."""
        return {id_: one for of in self._answers.values() for id_, one in of.items()}

    @property
    def left(self) -> tuple[Question, ...]:
        """The questions without an answer."""
        known = self.answers
        return tuple(q for q in self.questions if q.id not in known and q.path not in self._whole)

    @property
    def settled(self) -> tuple[str, ...]:
        """The files that structure alone solves; the first `put` stages them."""
        return tuple(self._to_settle)

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """The files in conflict that nobody is asked about, each with the reason."""
        rest = [f for f in self._plan.files if f.path not in self._asked and f.verdict != "solved"]
        others = zip(self._plan.others, self._plan.why_not, strict=True)
        return (*((f.path, f.why) for f in rest), *others)

    # -- answers

    def answer_of(self, question: Question, choice: str) -> Answer:
        """Return an answer in one word; refuse one that cannot be."""
        answer = self.untried_answer(question, choice)
        return answer if choice in SURE else self._tried(question, answer)

    def untried_answer(self, question: Question, choice: str) -> Answer:
        """Return an answer in one word that nobody has proved in its file yet."""
        return self._asked[question.path].chosen(question, choice)

    def answer_with(self, question: Question, given: str) -> Answer:
        """Return a value that was given as YAML; refuse one that cannot be."""
        return self._tried(question, self._asked[question.path].with_value(question, given))

    def answer_lines(self, question: Question, text: str) -> Answer:
        """Return lines for the place of the conflict; refuse those that cannot be."""
        return self._tried(question, self._asked[question.path].with_lines(text))

    def _tried(self, question: Question, answer: Answer) -> Answer:
        self._asked[question.path].check({question.id: answer})
        return answer

    def why_not(self, answers: Sequence[tuple[Question, Answer]]) -> KmergeError | None:
        """Return why some answers to one file cannot be without any other, or nothing."""
        try:
            given = {question.id: answer for question, answer in answers}
            self._asked[answers[0][0].path].check(given)
        except KmergeError as error:
            return error
        return None

    def size(self, path: str) -> int:
        """Return the bytes of the largest version of a file."""
        return max(len(data or b"") for data in self._asked[path].file.three.each())

    def give(self, question: Question, answer: Answer | None) -> None:
        """Remember an answer, or take it back."""
        self.give_all([(question, answer)])

    def give_all(self, answers: Iterable[tuple[Question, Answer | None]]) -> None:
        """Remember several answers at once."""
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
        """Refuse answers that cannot be together in their file."""
        for path in paths:
            if self._answers.get(path):
                try:
                    self._asked[path].check(self._answers[path])
                except Refused as refused:
                    raise Refused(refused.why, path=path, hint=refused.hint) from None

    # -- files

    def take_file(self, path: str) -> None:
        """Stage a file as it is in the working tree, whatever was answered before."""
        text = self._staging.content(path).decode("utf-8", "surrogateescape")
        if first_marker(text, min(self._plan.options(path).marker_size, SIZE)) >= 0:
            raise Refused("conflict markers are left in it", path=path)
        self._staging.stage(path)
        self._whole.add(path)
        self._saved.forget([path])

    def put(self, paths: Iterable[str] | None = None) -> tuple[str, ...]:
        """Write the files with their answers, stage those that are decided, and return these.

        All is checked before anything is written.
        """
        chosen = [*self._asked, *self._to_settle] if paths is None else list(paths)
        asked = [path for path in chosen if path in self._asked]
        self.check(asked)
        settled = [self._to_settle[path] for path in chosen if path in self._to_settle]
        files = [self._answered(path) for path in asked if self._is_to_write(path)]
        self._staging.write(files, settled)
        staged = tuple(file.path for file in (*settled, *files) if file.verdict == "solved")
        self._to_settle = {p: f for p, f in self._to_settle.items() if p not in staged}
        self._saved.forget(staged)
        return staged

    def _is_to_write(self, path: str) -> bool:
        """Return whether a file has other answers than those that are written in it."""
        is_new = bool(self._answers[path]) or self._is_decided(path)
        return path not in self._whole and (is_new or self._staging.is_touched(path))

    def _is_decided(self, path: str) -> bool:
        return len(self._answers[path]) == len(self._asked[path].questions)

    def _answered(self, path: str) -> FileMerge:
        """Return the file with its answers."""
        data = self._asked[path].data(self._answers[path])
        file = replace(self._asked[path].file, data=data, writes=True)
        return replace(file, verdict="solved") if self._is_decided(path) else file
