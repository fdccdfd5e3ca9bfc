"""The conflicts of `kmerge resolve` in lines: what there is to decide, and what was decided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from textwrap import dedent
from typing import TYPE_CHECKING

from kmerge_git.cli.accounts import counted
from kmerge_git.cli.files import say, tell
from kmerge_git.cli.solve import what_next
from kmerge_git.whole.deciding import SIDES

if TYPE_CHECKING:
    from kmerge_git.whole.deciding import Picked
    from kmerge_git.whole.questions import Question
    from kmerge_git.whole.resolving import Resolving

_MOST = 5  # lines of a text that are shown of each side


def tell_list(resolving: Resolving) -> None:
    """All questions, file by file, with their three values."""
    for path, questions in groupby(resolving.questions, lambda question: question.path):
        tell(path)
        for question in questions:
            for line in _lines(resolving, question):
                tell(line)
    for path in resolving.settled:
        tell(f"{path}: structure alone solves it: the first answer stages it, and `kmerge solve`")
    _tell_unasked(resolving)
    count = counted(len(resolving.questions), "conflict")
    answered = len(resolving.questions) - len(resolving.left)
    said = f"{count}, {answered} answered" if answered else count
    say(f"kmerge: {said}" if resolving.questions else "kmerge: no conflict waits for an answer")


def _lines(resolving: Resolving, question: Question) -> Iterator[str]:
    conflict = question.conflict
    yield f"  {question.id}  {conflict.shown('the file')}"
    base, ours, theirs = resolving.operation.labels
    for side, label in (("base", base), ("ours", ours), ("theirs", theirs)):
        yield from _side(f"{side} ({label})" if label != side else side, question.values.side(side))
    answer = resolving.answers.get(question.id)
    if answer is None:
        yield f"      choices: {', '.join(question.choices)}"
    elif answer.how in SIDES:
        yield f"      answer: {answer.how}"
    else:
        yield from _side("answer", dedent(answer.text or ""))


def _side(name: str, text: str | None) -> Iterator[str]:
    lines = [] if text is None else text.rstrip("\n").split("\n")
    if len(lines) < 2:
        yield f"      {name}: {lines[0] if lines else '(nothing)'}"
        return
    yield f"      {name}:"
    for line in lines[:_MOST]:
        yield f"        {line}"
    if len(lines) > _MOST:
        yield f"        … {len(lines) - _MOST} more lines"


def tell_decided(resolving: Resolving, decided: Picked) -> None:
    """What became of each file that was asked about, and what is left."""
    why = {question.id: words for question, words in decided.refused}
    left = {path: list(found) for path, found in groupby(resolving.left, lambda q: q.path)}
    for path in decided.staged:
        tell(f"staged  {path}")
    for path, questions in left.items():
        tell(f"left    {path}: {counted(len(questions), 'conflict')}")
        for question in questions:
            more = f"; {why[question.id]}" if question.id in why else ""
            tell(f"    {question.id}  {question.conflict.shown('the file')}{more}")
    _tell_unasked(resolving)
    said = f"{counted(len(decided.staged), 'file')} staged"
    if left:
        rest = counted(len(resolving.left), "conflict")
        say(f"kmerge: {said}, {rest} left: `kmerge resolve` asks, --take and --set answer")
    else:
        say(f"kmerge: {said}{'' if resolving.unasked else what_next(resolving.operation)}")


def _tell_unasked(resolving: Resolving) -> None:
    reasons: dict[str, list[str]] = {}
    for path, why in resolving.unasked:
        reasons.setdefault(why, []).append(path)
    for why, paths in sorted(reasons.items()):
        more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
        say(f"kmerge: left to you, {why}: {', '.join(paths[:_MOST])}{more}")
