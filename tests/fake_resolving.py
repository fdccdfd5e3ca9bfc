"""Questions without a repository: what is asked and what is shown can be tried with these."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

from kmerge_git.errors import KmergeError
from kmerge_git.merge.decide.higher_version import higher
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict

SIDES = ("base", "ours", "theirs")
ALL = ("ours", "theirs", "both", "base", "higher")


@dataclass(frozen=True)
class FakeQuestion:
    id: str
    path: str
    conflict: Conflict
    kind: str = "value"
    choices: tuple[str, ...] = ("ours", "theirs", "base")
    name: str = ""
    values: Three[str | None] = field(default_factory=lambda: Three(None, None, None))

    def is_like(self, other: FakeQuestion) -> bool:
        return (self.name, self.conflict.why) == (other.name, other.conflict.why)


@dataclass(frozen=True)
class FakeAnswer:
    how: str
    text: str | None


def question(
    values: tuple[str | None, str | None, str | None],
    *,
    path: str = "web.yaml",
    resource: str = "Deployment/web",
    field: str = "spec.image",
    why: str = Why.BOTH_CHANGED,
    kind: str = "value",
    choices: tuple[str, ...] = ("ours", "theirs", "base"),
) -> FakeQuestion:
    conflict = Conflict(resource, field, why, *(text or "" for text in values))
    name = field.rpartition(".")[2]
    return FakeQuestion(f"{path}:{field}", path, conflict, kind, choices, name, Three(*values))


class FakeResolving:
    """Writes down what it is told to do."""

    def __init__(self, *questions: FakeQuestion) -> None:
        self.questions = questions
        self.operation = SimpleNamespace(
            name="merge", labels=("1a2b3c4", "HEAD", "feature"), finish="git commit", package=""
        )
        self.answers: dict[str, FakeAnswer] = {}
        self.unasked: tuple[tuple[str, str], ...] = ()
        self.settled: dict[str, tuple[str, ...]] = {}
        self.problems: tuple[str, ...] = ()
        self.is_empty = not questions
        self.puts: list[list[str] | None] = []
        self.taken: list[str] = []

    @property
    def left(self) -> tuple[FakeQuestion, ...]:
        open_ones = (q for q in self.questions if q.id not in self.answers)
        return tuple(q for q in open_ones if q.path not in self.taken)

    def answer_of(self, question: FakeQuestion, side: str) -> FakeAnswer:
        if side not in question.choices:
            raise KmergeError(f"`{side}` cannot be here")
        _, ours, theirs = question.values.each()
        if side == "both":
            return FakeAnswer(side, f"{ours}{theirs}")
        taken = higher(ours, theirs) if side == "higher" else side
        return FakeAnswer(side, question.values.side(taken))

    untried_answer = answer_of

    def around(self, question: FakeQuestion) -> tuple[list[str], list[str]]:
        return ["kind: Deployment", "spec:"], ["status: {}"]

    def answer_with(self, question: FakeQuestion, yaml: str) -> FakeAnswer:
        if "rubbish" in yaml:
            raise KmergeError("the answer is not valid YAML")
        return FakeAnswer("value", yaml)

    def answer_lines(self, question: FakeQuestion, text: str) -> FakeAnswer:
        return FakeAnswer("lines", text)

    def give(self, question: FakeQuestion, answer: FakeAnswer | None) -> None:
        if answer is None:
            self.answers.pop(question.id, None)
        else:
            self.answers[question.id] = answer

    def check(self, paths: list[str]) -> None:
        pass

    def take_file(self, path: str) -> None:
        self.taken.append(path)

    def give_all(self, answers: list[tuple[FakeQuestion, FakeAnswer | None]]) -> None:
        for asked, answer in answers:
            self.give(asked, answer)

    def put(self, paths: list[str] | None = None, *, is_whole: bool = False) -> tuple[str, ...]:
        self.puts.append(paths)
        left = {q.path for q in self.left}
        known = dict.fromkeys(q.path for q in self.questions) if paths is None else paths
        return tuple(path for path in known if path not in left)
