"""Turn the conflicts of a file into questions, each with an id and its possible answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from posixpath import basename
from typing import TYPE_CHECKING

from kmerge_git.errors import Refused
from kmerge_git.git.line_merges import LineMerges
from kmerge_git.merge.decide.policies import CHART, VERSION, rebumped
from kmerge_git.merge.finish.open_conflicts import OpenConflicts, open_lines
from kmerge_git.merge.finish.possible_answers import edited
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES, Conflict, Options
from kmerge_git.template.template_damage import brought
from kmerge_git.text.markers import SIZE, has_new_conflict, has_torn_markers, marker_size_for
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.conflicted_files import FileMerge

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


ID = 12  # hex digits of an id
SURE = ("ours", "theirs")  # the merge has proved each of these answers alone, but not together


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold the answer to a conflict; `text` is None if the answer deletes the file."""

    how: str  # one of `CHOICES`; for a text of the user, `value` or `lines`
    text: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """Hold a conflict that the user can answer."""

    id: str
    path: str
    number: int  # the index of the conflict in its file, from 0
    conflict: Conflict
    kind: str  # value, entries, text, comment, document, lines, or `file`
    choices: tuple[str, ...]  # the one-word answers that this question allows
    field: Path
    values: Three[str | None]  # texts to show; None if a version has nothing at this place

    @property
    def name(self) -> str:
        """The last name in the field's path; conflicts of the same sort share this name."""
        return next((step for step in reversed(self.field) if isinstance(step, str)), "")

    def is_like(self, other: Question) -> bool:
        """Return whether both questions are so alike that one answer may fit both."""
        return (self.name, self.kind, self.conflict.why) == (
            other.name, other.kind, other.conflict.why,
        )  # fmt: skip


class AskedFile:
    """Hold a file in conflict with its questions, and apply answers to the file."""

    def __init__(self, file: FileMerge, options: Options, mine: str = "") -> None:
        self.file = file
        self.path = file.path
        self._options = options
        self._open = _open_conflicts(file, options)
        self._rebumped: dict[str, str] = {}  # by id, the version that `rebump` writes
        inside = _inside(self.path, self._open) if self._open else _about_file(file)
        self.questions = tuple(self._with_rebump(question, mine) for question in inside)

    def _with_rebump(self, question: Question, mine: str) -> Question:
        """Let a question about the version of a chart be answered as the policy would decide it.

        `mine` is the side whose change goes on top.
        """
        is_version = basename(self.path) == CHART and question.field == VERSION
        if not (is_version and question.kind == "value" and mine):
            return question
        other = "theirs" if mine == "ours" else "ours"
        base, own, others = (
            plain and plain.strip("\"'")
            for plain in map(question.values.side, ("base", mine, other))
        )
        version, _ = rebumped(base, own or "", others or "")
        if not version:
            return question
        raw = question.values.side(mine) or ""
        self._rebumped[question.id] = raw.replace(own or "", version)
        return replace(question, choices=(*question.choices, "rebump"))

    def chosen(self, question: Question, choice: str) -> Answer:
        """Return the answer for a one-word choice such as `ours`."""
        if choice not in question.choices and choice in VERSIONS:
            raise Refused(
                f"`{choice}` is not a possible answer; use {' or '.join(question.choices)}"
            )
        if self._open is not None and question.id in self._rebumped and choice == "rebump":
            version = self._rebumped[question.id]
            return Answer(choice, self._open.with_value(question.number, version))
        if self._open is not None:
            return Answer(choice, self._open.chosen(question.number, choice))
        if choice not in question.choices:
            raise Refused(
                f"`{choice}` is not possible for a whole file; use {' or '.join(question.choices)}"
            )
        return Answer(choice, _text(self.file.three.side(choice)))

    def with_value(self, question: Question, given: str) -> Answer:
        """Return the answer for a value that the user gave as YAML."""
        if self._open is None:
            raise Refused("the question is whether to keep the file: answer ours or theirs")
        return Answer("value", self._open.with_value(question.number, given))

    def with_lines(self, text: str) -> Answer:
        """Return the answer for lines that the user gave to replace a conflict."""
        three = self.file.three
        lines = edited(text, self._options.marker_size, map(_decoded, three.each()))
        if self._open is None and b"\r\n" in (three.ours or three.theirs or b""):
            lines = lines.replace("\n", "\r\n")  # the answer is a whole file, with its line ends
        return Answer("lines", lines)

    def check(self, answers: Mapping[str, Answer]) -> None:
        """Refuse answers that contradict each other or break the file."""
        if self._open is not None:
            self._define()
            self._open.check(self._by_number(answers))
        elif any(answer.how == "lines" for answer in answers.values()):
            self.check_content(self.data(answers) or b"")

    def check_content(self, data: bytes) -> None:
        """Refuse a content of the whole file that has damage which neither side has."""
        self._define()
        size, versions = self._options.marker_size, [*map(_decoded, self.file.three.each())]
        text = _decoded(data)
        if has_torn_markers(text, versions, size) or has_new_conflict(text, versions, size):
            raise Refused("the answer still contains conflict markers; remove them")
        broken = brought(YamlText(data, self.path), _texts(self.file), {})
        if broken:
            raise Refused(f"the file would be damaged: {min(broken)}")

    def _define(self) -> None:
        """Define the list keys again, because another merge may have replaced them."""
        if self._options.define is not None:
            self._options.define()

    def data(self, answers: Mapping[str, Answer]) -> bytes | None:
        """Return the file with the answers applied, or None if the answers delete the file."""
        if self._open is not None:
            return self._open.text(self._by_number(answers))
        answer = answers.get(self.questions[0].id)
        if answer is None:  # keep the version that git left
            ours, theirs = self.file.three.ours, self.file.three.theirs
            return theirs if ours is None else ours
        return None if answer.text is None else answer.text.encode("utf-8", "surrogateescape")

    def around(
        self, question: Question, answers: Mapping[str, Answer]
    ) -> tuple[list[str], list[str]]:
        """Return the lines of the file above and below a conflict; there may be none."""
        given = self._by_number(answers)
        return self._open.around(question.number, given) if self._open else ([], [])

    def _by_number(self, answers: Mapping[str, Answer]) -> dict[int, str]:
        return {q.number: answers[q.id].text or "" for q in self.questions if q.id in answers}


def _open_conflicts(file: FileMerge, options: Options) -> OpenConflicts | None:
    """Return the conflicts inside a file, or None if the question is about the whole file."""
    if file.both is None:
        return None
    open_merge = file.both.outcome.open_merge
    if open_merge is None:
        data = file.three.map(lambda data: data or b"")
        # no version has a line that looks like these markers, so each side is cut out exactly
        size = marker_size_for((text.decode("latin-1") for text in data.each()), SIZE)
        own = options.but(style="diff3", marker_size=max(size, options.marker_size))
        marked, count = LineMerges().merge_file(data.each(), own)
        if count < 0 or own.marker_size < size:
            return None
        open_merge = open_lines(marked, data, own)
        results, versions = map(open_merge.decided, SIDES), data.map(_decoded)
        if any(has_torn_markers(_decoded(result), versions.each()) for result in results):
            return None  # the lines around the conflicts tear the markers already
    return OpenConflicts(open_merge, _texts(file), brought)


def _texts(file: FileMerge) -> Three[YamlText]:
    return file.three.map(lambda data: YamlText(data or b"", file.path))


def _inside(path: str, conflicts: OpenConflicts) -> Iterator[Question]:
    """Yield a question for each conflict inside a file."""
    often: dict[str, int] = {}  # by id, how often the same conflict occurred
    for number, conflict in enumerate(conflicts.conflicts):
        id_ = first = _id(path, conflict, 0)
        while id_ in often:
            often[first] += 1
            id_ = _id(path, conflict, often[first])
        often[id_] = 0
        yield Question(
            id_,
            path,
            number,
            conflict,
            conflicts.kinds[number],
            conflicts.choices(number),
            conflicts.path(number),
            Three(*(conflicts.value(number, side) for side in VERSIONS)),
        )


def _about_file(file: FileMerge) -> Iterator[Question]:
    """Yield the question about a file that one side deleted."""
    values = file.three.map(_text)
    conflict = Conflict("", "", file.why, *(text or "" for text in values.each()))
    choices = ("ours", "theirs", *(("base",) if values.base is not None else ()))
    id_ = _id(file.path, conflict, 0)
    yield Question(id_, file.path, 0, conflict, "file", choices, (), values)


def _id(path: str, conflict: Conflict, again: int) -> str:
    """Return an id made from the path, the place and the three versions of a conflict."""
    parts = [path, conflict.place, conflict.base, conflict.ours, conflict.theirs]
    about = "\0".join([*parts, *([str(again)] if again else [])])
    return sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:ID]


def _decoded(data: bytes | None) -> str:
    return _text(data) or ""


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")
