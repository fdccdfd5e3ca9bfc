"""Finish a conflict field by field: the questions of a stopped merge, and answers to them.

The conflicts come from the stages of the index, merged anew. An answer is saved the moment it
is given. A file whose questions are all answered is proved, written and staged; in others the
rest keeps its markers. A merge tool answers the conflicts of one file, of which no index knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kmerge_git.atomic_files import content, replace_file
from kmerge_git.errors import KmergeError, Refused
from kmerge_git.git import index_stages
from kmerge_git.git.index_stages import Operation
from kmerge_git.git.repository import Repository
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.text.markers import SIZE, first_marker
from kmerge_git.whole.both_merges import Both
from kmerge_git.whole.conflict_questions import AskedFile, Question
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.operation import UNKNOWN, current_operation
from kmerge_git.whole.saved_answers import SURE, Answer, Kept, digest
from kmerge_git.whole.solving import SolvePlan, Wishes, carry_out, make_plan


class Resolving:
    """A stopped merge, its questions, and the answers so far."""

    def __init__(
        self, repository: Repository, plan: SolvePlan, asked: Iterable[AskedFile], kept: Kept
    ) -> None:
        self._repository = repository
        self._plan = plan
        self._kept = kept
        self._asked = {file.path: file for file in asked}
        self._stages = {stages.path: stages for stages in repository.conflicts()}
        self._done: set[str] = set()  # files that are staged
        self._whole: set[str] = set()  # those of them that were taken as they stand
        self._found = {path: self._on_disk(path) for path in self._asked}
        self.operation: Operation = plan.operation
        self.problems = plan.problems
        self.questions: tuple[Question, ...] = tuple(
            question for file in self._asked.values() for question in file.questions
        )
        self._answers = {
            path: _known(file, kept.answers.get(path, {})) for path, file in self._asked.items()
        }
        self._to_settle = {file.path: file for file in plan.files if file.verdict == "solved"}
        kept.forget(kept.answers.keys() - self._stages.keys())
        kept.forget(kept.written.keys() - self._stages.keys())

    @classmethod
    def start(
        cls, repository: Repository, paths: tuple[str, ...] = (), *, json: bool = False
    ) -> Resolving:
        """Merge anew what is in conflict; nothing is written."""
        kept = Kept(Path(repository.git_dir))
        kept.forget_what_is_older()
        operation = current_operation(repository)
        wishes = Wishes(paths, json=json)
        plan = make_plan(repository, wishes, operation, is_ours=kept.is_ours)
        asked = [AskedFile(f, plan.options(f.path)) for f in plan.files if _can_be_asked(f)]
        return cls(repository, plan, asked, kept)

    # -- what is asked

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The answers so far, by the id of the question."""
        return {id_: one for found in self._answers.values() for id_, one in found.items()}

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
        """An answer in one word; refused where it cannot stand."""
        answer = self.untried_answer(question, choice)
        return answer if choice in SURE else self._tried(question, answer)

    def untried_answer(self, question: Question, choice: str) -> Answer:
        """An answer in one word that nobody has looked at in its file yet."""
        return self._asked[question.path].chosen(question, choice)

    def why_not(self, answers: Sequence[tuple[Question, Answer]]) -> KmergeError | None:
        """Why some answers to one file cannot stand without any other, or nothing."""
        try:
            given = {question.id: answer for question, answer in answers}
            self._asked[answers[0][0].path].check(given)
        except KmergeError as error:
            return error
        return None

    def size(self, path: str) -> int:
        """The bytes of the largest version of a file."""
        return max(len(data or b"") for data in self._asked[path].file.three.each())

    def answer_with(self, question: Question, given: str) -> Answer:
        """A value as YAML; refused where it cannot stand."""
        return self._tried(question, self._asked[question.path].with_value(question, given))

    def answer_lines(self, question: Question, text: str) -> Answer:
        """Lines as they shall stand in the file; refused where they cannot."""
        return self._tried(question, self._asked[question.path].with_lines(question, text))

    def _tried(self, question: Question, answer: Answer) -> Answer:
        self._asked[question.path].check({question.id: answer})
        return answer

    def give(self, question: Question, answer: Answer | None) -> None:
        """Remember an answer, or take it back."""
        self.give_all([(question, answer)])

    def give_all(self, answers: Iterable[tuple[Question, Answer | None]]) -> None:
        """Remember several at once."""
        changed: set[str] = set()
        for question, answer in answers:
            known = self._answers[question.path]
            if answer is None:
                known.pop(question.id, None)
            else:
                known[question.id] = answer
            self._whole.discard(question.path)
            changed.add(question.path)
        for path in changed:
            self._kept.remember(path, self._answers[path])

    def check(self, paths: Iterable[str] | None = None) -> None:
        """Refuse answers that cannot stand together in their file."""
        for path in self._asked if paths is None else paths:
            if self._answers.get(path):
                try:
                    self._asked[path].check(self._answers[path])
                except Refused as refused:
                    raise Refused(refused.why, path=path, hint=refused.hint) from None

    # -- files

    def take_file(self, path: str) -> None:
        """Stage a file as it stands in the working tree, whatever was answered before."""
        data = self._on_disk(path) or b""
        size = min(self._plan.options(path).marker_size, SIZE)
        if first_marker(data.decode("utf-8", "surrogateescape"), size) >= 0:
            raise Refused("conflict markers are left in it", path=path)
        index_stages.stage_files(self._worktree, [path], sparse=self._is_sparse())
        self._whole.add(path)
        self._done.add(path)
        self._kept.forget([path])

    def put(self, paths: Iterable[str] | None = None) -> tuple[str, ...]:
        """Write the files with their answers, stage those that are decided, and tell these.

        All is checked before anything is written.
        """
        chosen = [*self._asked, *self._to_settle] if paths is None else list(paths)
        self.check(path for path in chosen if path in self._asked)
        files = [self._to_settle[path] for path in chosen if path in self._to_settle]
        for path in chosen:
            made = self._made(path) if path in self._asked and path not in self._whole else None
            files += [made] if made is not None else []
        self._write(files)
        staged = tuple(file.path for file in files if file.verdict == "solved")
        self._to_settle = {p: f for p, f in self._to_settle.items() if p not in staged}
        self._done.update(path for path in staged if path in self._asked)
        self._kept.forget(staged)
        return staged

    def _made(self, path: str) -> FileMerge | None:
        """The file as it is to be written; None: it stands there already."""
        asked, answers = self._asked[path], self._answers[path]
        is_decided = len(answers) == len(asked.questions)
        if not (is_decided or answers or path in self._done or path in self._kept.written):
            return None
        data = asked.data(answers)
        verdict = "solved" if is_decided else "conflict"
        return replace(asked.file, verdict=verdict, data=data, writes=True)  # type: ignore[arg-type]

    def _write(self, files: list[FileMerge]) -> None:
        asked = [file for file in files if file.path in self._asked]
        self._refuse_ended(file.path for file in asked)
        for file in asked:
            self._refuse_handwork(file.path)
        # git does not stage a second time that a file is gone
        open_ = [f for f in asked if f.verdict != "solved" or f.data is None]
        again = [f.path for f in open_ if f.path in self._done]
        index_stages.mark_unmerged(self._worktree, [self._stages[path] for path in again])
        self._done.difference_update(again)
        # of a decided file, too: a kill may come before it is staged
        self._kept.will_write(
            (file.path, self._repository.to_worktree(file.path, file.data))
            for file in asked
            if file.data is not None
        )
        try:
            carry_out(self._repository, replace(self._plan, files=tuple(files)))
        except KmergeError:  # written, but the index was held by another: it is no handwork
            self._found |= {
                file.path: found
                for file in asked
                if self._kept.is_ours(file.path, found := self._on_disk(file.path) or b"")
            }
            raise
        self._found |= {file.path: self._on_disk(file.path) for file in asked}

    def _refuse_ended(self, paths: Iterable[str]) -> None:
        """Nothing is written for a conflict that somebody else has ended."""
        now = {stages.path for stages in self._repository.conflicts()}
        for path in paths:
            if path in self._stages and path not in now and path not in self._done:
                hint = "`git status` says more"
                raise Refused("somebody has ended this conflict meanwhile", path=path, hint=hint)

    def _refuse_handwork(self, path: str) -> None:
        """What somebody did in a file while the questions were asked is not overwritten."""
        if _seen(self._on_disk(path)) != _seen(self._found[path]):
            raise Refused(
                "it was edited meanwhile", path=path, hint="take it as it stands, or start again"
            )

    def _on_disk(self, path: str) -> bytes | None:
        return content(Path(self._worktree), path)

    @property
    def _worktree(self) -> str:
        return self._repository.worktree or ""

    def _is_sparse(self) -> bool:
        return ("core.sparsecheckout", "true") in self._repository.settings()


def _can_be_asked(file: FileMerge) -> bool:
    """Whether a person can decide in a file: one with seals or of bytes has no fields."""
    if file.verdict != "conflict":
        return False
    return file.both is None or file.both.outcome.method != "kept"


def _known(file: AskedFile, kept: Mapping[str, Answer]) -> dict[str, Answer]:
    ids = {question.id for question in file.questions}
    return {id_: answer for id_, answer in kept.items() if id_ in ids}


def _seen(data: bytes | None) -> str:
    return "" if data is None else digest(data)


class OneFile(Resolving):
    """A file in conflict, its questions, and the answers so far."""

    def __init__(self, path: str, both: Both, three: Three[bytes | None], options: Options) -> None:
        outcome = both.outcome
        file = FileMerge(path, "", "conflict", outcome.reason, outcome.text, both=both, three=three)
        self._file = AskedFile(file, options)
        self._path = path
        self._kept = _Nowhere(Path(path).parent)
        self._asked = {path: self._file}
        self._answers = {path: {}}
        self._whole = set()
        self._to_settle = {}
        self._written = outcome.text
        self.operation = replace(UNKNOWN, name="mergetool", labels=options.labels)
        self.problems = ()
        self.questions = self._file.questions

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """There is no other file."""
        return ()

    def take_file(self, path: str) -> None:
        """Let the file be as it stands, whatever was answered before."""
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
        if first_marker(text) >= 0:
            raise Refused("conflict markers are left in it", path=path)
        self._whole.add(path)

    def put(self, paths: Iterable[str] | None = None) -> tuple[str, ...]:
        """Write the file with its answers; it is told if none is missing."""
        if self._whole:
            return (self._path,)
        self.check()
        target, answers = Path(self._path), self._answers[self._path]
        if target.read_bytes() != self._written:
            raise Refused("it was edited meanwhile", path=self._path)
        data = self._file.data(answers) or b""
        if data != self._written:
            replace_file(target, data)
            self._written = data
        return () if self.left else (self._path,)


class _Nowhere(Kept):
    """Answers that nobody will ask for again."""

    def _load(self) -> None:
        pass

    def _save(self) -> None:
        pass
