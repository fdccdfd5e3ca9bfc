"""Answers that can stand alone, and not together; files that cannot be written."""

from __future__ import annotations

import io
import os
from types import SimpleNamespace

import pytest
from fake_resolving import FakeAnswer, FakeQuestion, FakeResolving, question

from kmerge_git.cli.asking import Asking
from kmerge_git.cli.question_screen import Keys, Screen
from kmerge_git.cli.resolve_report import tell_end
from kmerge_git.errors import KmergeError, Refused
from kmerge_git.git.repository import Repository
from kmerge_git.merge.three import Three
from kmerge_git.whole.resolving import Resolving, give, give_choice

FIELDS = ("a", "b", "c")
ASKED = [question(("0", "1", "2"), field=name) for name in FIELDS]
OTHER = question(("0", "1", "2"), path="x.yaml", field="a")


class Picky(FakeResolving):
    """`theirs` may stand in one place of a file only; some files cannot be written."""

    broken: tuple[str, ...] = ()

    def check(self, paths: list[str]) -> None:
        for path in paths:
            of = [q.id for q in self.questions if q.path == path]
            taken = [id_ for id_, answer in self.answers.items() if answer.how == "theirs"]
            if len(set(of) & set(taken)) > 1:
                raise Refused("not twice")

    def put(self, paths: list[str] | None = None, *, is_whole: bool = False) -> tuple[str, ...]:
        if set(self.broken) & set(paths or ()):
            raise KmergeError("no room", hint="make some")
        return super().put(paths)

    def hows(self) -> str:
        return "".join(self.answers[q.id].how[0] if q.id in self.answers else "." for q in ASKED)


def theirs(resolving: FakeResolving, questions: list[FakeQuestion]) -> list[tuple[str, str]]:
    refused = give(resolving, [(q, resolving.answer_of(q, "theirs")) for q in questions])  # type: ignore
    return [(q.conflict.field, why) for q, why in refused]


def test_what_cannot_stand_together_is_refused_and_the_rest_is_given() -> None:
    resolving = Picky(*ASKED, OTHER)
    assert theirs(resolving, [*ASKED, OTHER]) == [("b", "not twice"), ("c", "not twice")]
    assert resolving.hows() == "t.."
    assert OTHER.id in resolving.answers


def test_a_refused_answer_leaves_the_one_before() -> None:
    resolving = Picky(*ASKED)
    resolving.give(ASKED[0], resolving.answer_of(ASKED[0], "theirs"))
    resolving.give(ASKED[1], resolving.answer_of(ASKED[1], "ours"))
    assert theirs(resolving, [ASKED[1]]) == [("b", "not twice")]
    assert resolving.hows() == "to."


def answered(keys: str, resolving: FakeResolving, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """The questions, answered from a pipe."""
    there, here = os.pipe()
    os.write(here, "".join(f"{key}\n" for key in keys).encode())
    os.close(here)
    nothing_left = SimpleNamespace(conflicts=list)
    monkeypatch.setattr(Repository, "open", lambda: nothing_left)
    with os.fdopen(there) as stdin, Keys(stdin) as pressed:
        asking = Asking(resolving, Screen(io.StringIO()), pressed)  # type: ignore[arg-type]
        asking.settle()
        asking.run()
        asking.write_rest()
    return asking


def test_a_file_that_cannot_be_written_is_in_nobodys_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resolving = Picky(*ASKED, OTHER)
    resolving.broken, resolving.settled = ("web.yaml",), {"moved.yaml": ("moved",)}
    asking = answered("oooo", resolving, monkeypatch)
    assert tell_end(resolving, asking.staged, asking.failed) == 1  # type: ignore[arg-type]
    out = capsys.readouterr()
    assert out.out.splitlines() == [
        "settled moved.yaml (moved)",
        "staged  x.yaml",
        "open    web.yaml was not written: no room; make some",
    ]
    assert "2 files staged, 1 file still in conflict; run `kmerge resolve` to continue" in out.err


def test_the_end_of_a_pipe_is_the_end_of_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving = Picky(*ASKED)
    asking = answered("to", resolving, monkeypatch)
    assert resolving.hows() == "to."
    assert not asking.staged and not asking.failed


class Many(Picky):
    """Some fields cannot be `both`; counts how often a file is looked through."""

    looks = 0
    wrong: tuple[str, ...] = ()
    bytes_ = 1

    def untried_answer(self, question: FakeQuestion, side: str) -> FakeAnswer:
        return FakeAnswer(side, side)

    def why_not(self, answers: list[tuple[FakeQuestion, FakeAnswer]]) -> KmergeError | None:
        self.looks += 1
        found = [q.conflict.field for q, _ in answers if q.conflict.field in self.wrong]
        return Refused(f"not {found[0]}") if found else None

    def check(self, paths: list[str]) -> None:
        self.looks += 1

    def weight(self, path: str) -> int:
        return self.bytes_


def many(size: int) -> Many:
    made = [question(("0", "1", "2"), field=f"f{n}") for n in range(size)]
    return Many(*made)


def test_many_answers_are_tried_together() -> None:
    resolving = many(1000)
    resolving.wrong = ("f7", "f500")
    refused = give_choice(resolving, resolving.questions, "both")  # type: ignore[arg-type]
    assert [(q.conflict.field, why) for q, why in refused] == [
        ("f7", "not f7"),
        ("f500", "not f500"),
    ]
    assert len(resolving.answers) == 998
    assert resolving.looks < 60


def test_a_large_file_is_not_looked_through_for_ever() -> None:
    resolving = many(1000)
    resolving.wrong = tuple(f"f{n}" for n in range(0, 1000, 2))
    resolving.bytes_ = 1_000_000
    refused = give_choice(resolving, resolving.questions, "both")  # type: ignore[arg-type]
    assert resolving.looks < 20
    assert "give this answer in another run" in refused[-1][1]
    assert not {q.id for q, _ in refused} & resolving.answers.keys()


@pytest.mark.parametrize(("text", "weight"), [(b"a: 1\n", 9), (b"a: {{x}}\n", 36)])
def test_a_template_weighs_as_much_as_its_readings(text: bytes, weight: int) -> None:
    file = SimpleNamespace(three=Three(None, b"a: 12345\n", text))
    asked = SimpleNamespace(path="a.yaml", questions=(), file=file)
    plan = SimpleNamespace(files=(), operation="merge", problems=(), notes=())
    resolving = Resolving(plan, [asked], SimpleNamespace(answers={}), None)  # type: ignore
    assert resolving.weight("a.yaml") == weight
