"""Tell what `kmerge resolve` has to decide and what was decided, as lines and as JSON.

`--from` reads the answers from the same JSON.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import dedent
from typing import Any

from kmerge_git.bounds import ANSWERS_BYTES, SHOWN_OF_A_KIND, SHOWN_SIDE_LINES
from kmerge_git.cli import in_and_out
from kmerge_git.cli.printing import counted, say, tell
from kmerge_git.cli.solve import what_next
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.merge.finish.possible_answers import CHOICES
from kmerge_git.report.results import SCHEMA
from kmerge_git.whole.conflict_questions import Question
from kmerge_git.whole.given_answers import ById, Picked
from kmerge_git.whole.resolving import Resolving
from kmerge_git.whole.saved_answers import Answer


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
    elif answer.how in CHOICES:
        yield f"      answer: {answer.how}"
    else:
        yield from _side("answer", dedent(answer.text or ""))


def _side(name: str, text: str | None) -> Iterator[str]:
    lines = [] if text is None else text.rstrip("\n").split("\n")
    if len(lines) < 2:
        yield f"      {name}: {lines[0] if lines else '(nothing)'}"
        return
    yield f"      {name}:"
    for line in lines[:SHOWN_SIDE_LINES]:
        yield f"        {line}"
    if len(lines) > SHOWN_SIDE_LINES:
        yield f"        … {len(lines) - SHOWN_SIDE_LINES} more lines"


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
        more = f" and {len(paths) - SHOWN_SIDE_LINES} more" if len(paths) > SHOWN_SIDE_LINES else ""
        say(f"kmerge: left to you, {why}: {', '.join(paths[:SHOWN_SIDE_LINES])}{more}")


MERGETOOL = "mergetool"


def told(resolving: Resolving, staged: Collection[str], failed: Mapping[str, str]) -> int:
    """Tell what became of the files and what ends the operation; the exit code."""
    left = _left(resolving)
    if not stages(resolving):
        return _told_of_one(left, staged, failed)
    unmerged = _unmerged()
    left = left if unmerged is None else _within(unmerged, left)
    known = {*left, *failed, *(path for path, _ in resolving.unasked)}
    unasked = sorted(set(unmerged or ()) - known)
    _lines_resolved("staged", list(staged))
    _lines_resolved("left", [f"{path}: {counted(n, 'conflict')}" for path, n in left.items()])
    _lines_resolved("left", [f"{path}: not written: {why}" for path, why in failed.items()])
    _lines_resolved("alone", [f"{path}: {why}" for path, why in resolving.unasked])
    _lines_resolved("alone", [f"{path}: not asked for" for path in unasked])
    said = _begin(resolving, staged)
    rest = len(known) + len(unasked)
    operation = resolving.operation
    if rest:
        more = "; `kmerge resolve` goes on" if left or failed else ""
        said += f", {counted(rest, 'file')} left in conflict{more}"
    elif operation.name == "stash":
        said += "; the stash entry is kept: `git stash list`"
    elif operation.finish:
        said += f"; finish with `{operation.finish}`"
    say(f"kmerge: {said}")
    return 1 if left or failed else 0


def _begin(resolving: Resolving, staged: Collection[str]) -> str:
    if staged or resolving.questions or resolving.unasked:
        return f"{counted(len(staged), 'file')} staged"
    return "nothing is in conflict"


def _left(resolving: Resolving) -> dict[str, int]:
    """How many questions of each file have no answer."""
    left: dict[str, int] = {}
    for question in resolving.left:
        left[question.path] = left.get(question.path, 0) + 1
    return left


def _within(unmerged: Collection[str], left: Mapping[str, int]) -> dict[str, int]:
    """Those that still are in conflict: somebody may have ended some of them meanwhile."""
    return {path: count for path, count in left.items() if path in unmerged}


def stages(resolving: Resolving) -> bool:
    """Whether a file that is written is staged as well; what a merge tool wrote, git stages."""
    return resolving.operation.name != MERGETOOL


def _told_of_one(left: Mapping[str, int], written: Iterable[str], failed: Mapping[str, str]) -> int:
    for path in written:
        say(f"kmerge: {path}: merged, no conflict is left")
    for path, count in left.items():
        say(f"kmerge: {path}: {counted(count, 'conflict')} left")
    for path, why in failed.items():
        say(f"kmerge: {path}: not written: {why}")
    return 1 if left or failed else 0


def _unmerged() -> list[str] | None:
    """All that git still calls unmerged, asked about or not; None: this is no repository."""
    from kmerge_git.git.repository import Repository

    try:
        return [stages.path for stages in Repository.open().conflicts()]
    except KmergeError:  # three files in no repository may be asked about as well
        return None


def _lines_resolved(what: str, lines: Sequence[str]) -> None:
    for line in lines[:SHOWN_OF_A_KIND]:
        tell(f"{what:<7} {line}")
    if len(lines) > SHOWN_OF_A_KIND:
        tell(f"{what:<7} and {len(lines) - SHOWN_OF_A_KIND} more")


_WHAT = "a side (ours, theirs, both, base, higher), {value: YAML} or {lines: TEXT}"


def as_json(resolving: Resolving, decided: Picked | None = None) -> dict[str, Any]:
    """All questions, each with its answer so far; a schema grows by fields.

    After answers: the ids of those that were given, and why others could not be.
    """
    operation = resolving.operation
    base, ours, theirs = operation.labels
    return {
        "operation": operation.name,
        "labels": {"base": base, "ours": ours, "theirs": theirs},
        "conflicts": [_question(resolving, question) for question in resolving.questions],
        "left": len(resolving.left),
        "settled": list(resolving.settled),
        "left_alone": [{"path": path, "why": why} for path, why in resolving.unasked],
        "finish": operation.finish,
    } | _decided(decided)


def _decided(decided: Picked | None) -> dict[str, Any]:
    if decided is None:
        return {}
    return {
        "staged": list(decided.staged),
        "given": [question.id for question, _ in decided.answers],
        "refused": [{"id": question.id, "why": why} for question, why in decided.refused],
    }


def _question(resolving: Resolving, question: Question) -> dict[str, Any]:
    conflict = question.conflict
    return {
        "id": question.id,
        "path": question.path,
        "resource": conflict.resource,
        "field": conflict.field,
        "kind": question.kind,
        "why": conflict.why,
        "told": conflict.told,
        "base": _side_answers(question, "base"),
        "ours": _side_answers(question, "ours"),
        "theirs": _side_answers(question, "theirs"),
        "choices": list(question.choices),
        "answer": _answer(resolving.answers.get(question.id)),
    }


def _side_answers(question: Question, side: str) -> str | None:
    """A scalar as YAML, or the lines as they stand in the file; None where there are none."""
    shown: str | None = question.values.side(side)
    if question.kind in ("value", "file") or shown is None:
        return shown
    return str(getattr(question.conflict, side))


def _answer(answer: Answer | None) -> Any:
    if answer is None or answer.how in CHOICES:
        return answer and answer.how
    return {"lines": answer.text or ""}


def read_answers(name: str) -> tuple[ById, ...]:
    """The answers in a file; conflicts without one are passed over. Nothing in it is trusted."""
    data = in_and_out.read(name)
    if len(data) > ANSWERS_BYTES:
        raise UsageError(
            f"more than {ANSWERS_BYTES >> 20} MiB", path=name, hint="give fewer answers"
        )
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"no UTF-8: byte {error.start}", path=name) from None
    except json.JSONDecodeError as error:
        why, line, column = f"no JSON: {error.msg}", error.lineno, error.colno
        raise UsageError(why, path=name, line=line, column=column) from None
    except ValueError:
        raise UsageError("no answers: a number in it has too many digits", path=name) from None
    except RecursionError:
        raise UsageError("no answers: it is nested too deeply", path=name) from None
    if not isinstance(found, dict) or not isinstance(found.get("conflicts"), list):
        hint = 'it looks like {"schema": 1, "conflicts": [{"id": .., "answer": ..}]}'
        raise UsageError("no answers", path=name, hint=hint)
    if found.get("schema") != SCHEMA or isinstance(found["schema"], bool):
        raise UsageError("schema: this kmerge knows 1 alone", path=name)
    rows = enumerate(found["conflicts"])
    return tuple(given for at, row in rows if (given := _given(row, f"conflicts[{at}]", name)))


def _given(row: object, place: str, name: str) -> ById | None:
    """The answer of one conflict, or None where there is none."""
    if not isinstance(row, dict):
        raise UsageError(f"{place}: no conflict with an id", path=name)
    of, answer = row.get("id"), row.get("answer")
    if not isinstance(of, str):
        raise UsageError(f"{place}.id: no text", path=name)
    if answer is None:
        return None
    if isinstance(answer, str) and answer in CHOICES:
        return ById(of, answer)
    if isinstance(answer, dict) and len(answer) == 1:
        ((how, text),) = answer.items()
        if how in ("value", "lines") and isinstance(text, str) and _is_writable(text):
            return ById(of, how, text)
    raise UsageError(f"{place}.answer: none of those that there are", path=name, hint=_WHAT)


def _is_writable(text: str) -> bool:
    """Whether a file can hold it: bytes that are no UTF-8 come from a file, other halves do not."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
