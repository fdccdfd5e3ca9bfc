"""The conflicts of `kmerge resolve` in lines: what there is to decide, and what was decided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from kmerge_git.cli.accounts import counted
from kmerge_git.cli.files import say, tell
from kmerge_git.git.manifests import is_manifest

if TYPE_CHECKING:
    from kmerge_git.whole.deciding import Decided
    from kmerge_git.whole.resolving import Question, Resolving

_MOST = 5  # lines of a text that are shown of each side


def exit_code(resolving: Resolving) -> int:
    """1 while a manifest is in conflict."""
    waits = any(is_manifest(path, json=True) for path, _ in resolving.unasked)
    return 1 if resolving.left or waits else 0


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
        yield from _side(f"{side} ({label})" if label != side else side, question.value(side))
    answer = resolving.answers.get(question.id)
    if answer is None:
        yield f"      choices: {', '.join(question.choices)}"
    elif answer.text is None or answer.how not in ("value", "lines"):
        yield f"      answer: {answer.how}"
    else:
        yield from _side("answer", answer.text)


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


def tell_decided(resolving: Resolving, decided: Decided) -> None:
    """What became of each file that was decided about, and what is left."""
    left = {question.path: 0 for question in resolving.questions}
    for question in resolving.left:
        left[question.path] += 1
    why = {question.id: words for question, words in decided.refused}
    for path in dict.fromkeys((*left, *resolving.settled)):
        if not left.get(path):
            tell(f"resolved {path}")
            continue
        tell(f"CONFLICT {path} ({counted(left[path], 'conflict')} left)")
        for question in resolving.left:
            if question.path == path:
                more = f"; {why[question.id]}" if question.id in why else ""
                tell(f"    {question.id}  {question.conflict.shown('the file')}{more}")
    _tell_unasked(resolving)
    done = sum(not count for count in left.values()) + len(resolving.settled)
    said = f"{counted(done, 'file')} resolved and staged"
    if resolving.left:
        rest = f"{counted(len(resolving.left), 'conflict')} left"
        say(f"kmerge: {said}, {rest}: `kmerge resolve` asks, --take and --set answer")
        return
    end = resolving.operation.finish
    say(f"kmerge: {said}" + (f"; finish with `{end}`" if end and not resolving.unasked else ""))


def _tell_unasked(resolving: Resolving) -> None:
    reasons: dict[str, list[str]] = {}
    for path, why in resolving.unasked:
        reasons.setdefault(why, []).append(path)
    for why, paths in sorted(reasons.items()):
        more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
        say(f"kmerge: left to you, {why}: {', '.join(paths[:_MOST])}{more}")
