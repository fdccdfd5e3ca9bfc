"""The conflicts of a file as questions: each with its id, and what it may be answered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from kmerge_git.errors import Refused
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.merge.finish.open_conflicts import Deciding, open_lines
from kmerge_git.merge.finish.possible_answers import edited
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify import line_damage
from kmerge_git.outcome import Conflict, Options
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.saved_answers import Answer

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


ID = 12  # hex digits of an id


@dataclass(frozen=True, slots=True)
class Question:
    """A conflict that waits for an answer."""

    id: str
    path: str
    number: int  # in its file, from 0
    conflict: Conflict
    kind: str  # value, entries, text, comment, document, lines, or `file`
    choices: tuple[str, ...]  # answers in one word that it may have
    field: Path
    values: Three[str | None]  # for people: None where a version has nothing there

    @property
    def name(self) -> str:
        """The field's own name: what two conflicts of the same sort have in common."""
        return next((step for step in reversed(self.field) if isinstance(step, str)), "")

    def is_like(self, other: Question) -> bool:
        """Whether one answer may be meant for both."""
        return (self.name, self.kind, self.conflict.why) == (
            other.name, other.kind, other.conflict.why,
        )  # fmt: skip


class AskedFile:
    """A file with its questions, and the file that answers make of it."""

    def __init__(self, file: FileMerge, options: Options) -> None:
        self.file = file
        self.path = file.path
        self._deciding = _deciding(file, options)
        self._options = options
        self.questions = _questions(self)

    @property
    def deciding(self) -> Deciding | None:
        """The conflicts inside of it; None: the file itself is the question."""
        return self._deciding

    def chosen(self, question: Question, choice: str) -> Answer:
        """An answer in one word."""
        if choice not in question.choices and choice in ("ours", "theirs", "base"):
            raise Refused(f"`{choice}` is no answer here")
        if self._deciding is not None:
            return Answer(choice, self._deciding.chosen(question.number, choice))
        if choice not in question.choices:
            raise Refused("a file is deleted on one side: there is no such answer")
        return Answer(choice, _text(self.file.three.side(choice)))

    def with_value(self, question: Question, given: str) -> Answer:
        """A value as YAML."""
        if self._deciding is None:
            raise Refused("the question is whether the file stays: take a side")
        return Answer("value", self._deciding.with_value(question.number, given))

    def with_lines(self, question: Question, text: str) -> Answer:
        """Lines as they shall stand in the file."""
        lines = edited(text, self._options.marker_size)
        three = self.file.three
        if self._deciding is None and b"\r\n" in (three.ours or three.theirs or b""):
            lines = lines.replace("\n", "\r\n")  # of a whole file they are its own
        return Answer("lines", lines)

    def check(self, answers: Mapping[str, Answer]) -> None:
        """Refuse answers that cannot stand together."""
        if self._options.define is not None:  # another file may have been merged meanwhile
            self._options.define()
        if self._deciding is not None:
            self._deciding.check(self._given(answers))
        elif any(answer.how == "lines" for answer in answers.values()):
            result = YamlText(self.data(answers) or b"", self.path)
            broken = line_damage.brought(result, _texts(self.file))
            if broken:
                raise Refused(f"the file would be broken: {min(broken)}")

    def data(self, answers: Mapping[str, Answer]) -> bytes | None:
        """The file with these answers, and markers around what is left; None: deleted."""
        if self._deciding is not None:
            return self._deciding.text(self._given(answers))
        answer = answers.get(self.questions[0].id)
        if answer is None:  # what git leaves there
            ours, theirs = self.file.three.ours, self.file.three.theirs
            return theirs if ours is None else ours
        text = answer.text
        return None if text is None else text.encode("utf-8", "surrogateescape")

    def _given(self, answers: Mapping[str, Answer]) -> dict[int, str]:
        asked = {question.id: question.number for question in self.questions}
        return {asked[id_]: a.text or "" for id_, a in answers.items() if id_ in asked}


def _deciding(file: FileMerge, options: Options) -> Deciding | None:
    if file.both is None:
        return None
    open_merge = file.both.outcome.open_merge
    if open_merge is None:
        data = file.three.map(lambda data: data or b"")
        marked, _ = Libgit2LineMerge().merge_file(*data.each(), options.but(style="diff3"))
        open_merge = open_lines(marked, data, options)
    return Deciding(open_merge, _texts(file))


def _texts(file: FileMerge) -> Three[YamlText]:
    return file.three.map(lambda data: YamlText(data or b"", file.path))


def _questions(asked: AskedFile) -> tuple[Question, ...]:
    deciding = asked.deciding
    if deciding is None:
        return (_about_file(asked.file),)
    found = []
    often: dict[str, int] = {}  # how often a conflict was there, by its id
    for number, conflict in enumerate(deciding.conflicts):
        id_ = first = _id(asked.path, conflict, 0)
        while id_ in often:
            often[first] += 1
            id_ = _id(asked.path, conflict, often[first])
        often[id_] = 0
        values = Three("base", "ours", "theirs").map(
            lambda side, number=number: deciding.value(number, side)  # type: ignore[misc]
        )
        found.append(
            Question(
                id_,
                asked.path,
                number,
                conflict,
                deciding.kinds[number],
                deciding.choices(number),
                deciding.path(number),
                values,
            )
        )
    return tuple(found)


def _about_file(file: FileMerge) -> Question:
    values = file.three.map(_text)
    texts = values.map(lambda text: text or "")
    conflict = Conflict("", "", file.why, *texts.each())
    choices = ("ours", "theirs", *(("base",) if values.base is not None else ()))
    id_ = _id(file.path, conflict, 0)
    return Question(id_, file.path, 0, conflict, "file", choices, (), values)


def _id(path: str, conflict: Conflict, again: int) -> str:
    """Of path, place and the three versions: another merge has other ids."""
    parts = [path, conflict.place, conflict.base, conflict.ours, conflict.theirs]
    parts += [str(again)] if again else []
    found = "\0".join(parts).encode("utf-8", "surrogateescape")
    return sha256(found).hexdigest()[:ID]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")
