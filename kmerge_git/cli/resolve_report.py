"""Print the conflicts and the answers of `kmerge resolve`, as lines or as JSON.

The option `--from` reads answers from JSON of the same form.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import dedent
from typing import Any

from kmerge_git.bounds import ANSWERS_BYTES, SHOWN_OF_A_KIND, SHOWN_SIDE_LINES
from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import listed, say, tell, warn
from kmerge_git.cli.solve import what_next
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.generators import hint_for
from kmerge_git.git.repository import Repository
from kmerge_git.merge.finish.possible_answers import CHOICES
from kmerge_git.report.results import SCHEMA
from kmerge_git.text.diff3 import changes
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.visible import counted
from kmerge_git.whole.conflict_questions import Question
from kmerge_git.whole.resolving import ById, Picked, Resolving

MERGETOOL = "mergetool"
NONE = "there are no conflicts"
_ANSWERS = "use ours, theirs, both, base, higher, rebump, {value: YAML} or {lines: TEXT}"


# -- the conflicts, and the answers that the command line gave


def tell_list(resolving: Resolving) -> None:
    """Print all questions, file by file, each with the values of its three versions."""
    for path, questions in groupby(resolving.questions, lambda question: question.path):
        tell(path)
        for question in questions:
            for line in _lines(resolving, question):
                tell(line)
    tell_settled(resolving, resolving.settled, "needs no decision:")
    _tell_unasked(resolving)
    count = counted(len(resolving.questions), "conflict")
    answered = len(resolving.questions) - len(resolving.left)
    more = f", {answered} answered" if answered else ""
    if resolving.settled:
        files = counted(len(resolving.settled), "file")
        more += f"; `kmerge resolve --auto` resolves {files} without asking"
    none = f"{NONE}{what_next(resolving.operation)}"
    say(f"kmerge: {none}" if resolving.is_empty else f"kmerge: {count}{more}")
    warn(*hint_for(_unmerged()))


def tell_settled(resolving: Resolving, paths: Collection[str], words: str = "settled") -> None:
    """Print the files that need no answer, each with the reason."""
    chosen = [(path, *resolving.settled[path]) for path in resolving.settled if path in paths]
    _rows(words, [f"{path} ({why})" for path, why, *_ in chosen])
    for path, _, *decided in chosen:
        warn(*(f"{path}: {line}" for line in decided))


def _lines(resolving: Resolving, question: Question) -> Iterator[str]:
    yield f"  {question.id}  {question.conflict.shown('the file')}"
    base = question.values.base if question.kind == "file" else None
    for side, label in zip(VERSIONS, resolving.operation.labels, strict=True):
        name = f"{side} ({label})" if label != side else side
        text = question.values.side(side)
        if base is None:
            yield from _side(name, text)
        elif side != "base":  # one side deleted the file: show what the other changed
            lines = ["deleted"] if text is None else list(_changed(base, text))
            yield from _side(name, "\n".join(lines or ["same as the base"]))
    answer = resolving.answers.get(question.id)
    if answer is None:
        yield f"      choices: {', '.join(question.choices)}"
    elif answer.how in CHOICES:
        yield f"      answer: {answer.how}"
    else:
        yield from _side("answer", dedent(answer.text or ""))


def _changed(old: str, new: str) -> Iterator[str]:
    """Yield the lines that differ, with the signs of a diff."""
    gone, come = old.splitlines(), new.splitlines()
    for i0, i1, j0, j1 in changes(gone, come):
        yield from (f"- {line}" for line in gone[i0:i1])
        yield from (f"+ {line}" for line in come[j0:j1])


def _side(name: str, text: str | None) -> Iterator[str]:
    lines = [] if text is None else text.rstrip("\n").split("\n")
    if len(lines) < 2:
        yield f"      {name}: {lines[0] if lines else '(nothing)'}"
        return
    yield f"      {name}:"
    yield from (f"        {line}" for line in lines[:SHOWN_SIDE_LINES])
    if len(lines) > SHOWN_SIDE_LINES:
        yield f"        … {len(lines) - SHOWN_SIDE_LINES} more lines"


def _tell_unasked(resolving: Resolving, others: Sequence[str] = ()) -> None:
    reasons = {"not selected": [*others]} if others else {}
    for path, why in resolving.unasked:
        reasons.setdefault(why, []).append(path)
    for why, paths in sorted(reasons.items()):
        say(f"kmerge: still in conflict ({why}): {listed(paths)}")


def tell_end(
    resolving: Resolving,
    staged: Collection[str],
    failed: Mapping[str, str] | None = None,
    refused: Collection[tuple[Question, str]] = (),
) -> int:
    """Print the result for each file and the next step; return the exit code.

    `failed` has the files that could not be written, `refused` the refused answers, with reasons.
    """
    failed, unmerged = failed or {}, _unmerged()
    groups = groupby(resolving.left, lambda question: question.path)
    left = {path: [*of] for path, of in groups if unmerged is None or path in unmerged}
    if not stages(resolving):
        return _tell_end_of_one(left, staged, failed)
    _rows("staged", [path for path in staged if path not in resolving.settled])
    _tell_left(left, {question.id: f"; {words}" for question, words in refused})
    _rows("open", [f"{path} was not written: {words}" for path, words in failed.items()])
    known = {*left, *failed, *(path for path, _ in resolving.unasked)}
    others = sorted(set(unmerged or ()) - known)
    _tell_unasked(resolving, others)
    done = NONE if resolving.is_empty else f"{counted(len(staged), 'file')} staged"
    more = what_next(resolving.operation)
    if rest := len(known) + len(others):
        goes_on = "; run `kmerge resolve` to continue" if left or failed else ""
        more = f", {counted(rest, 'file')} still in conflict{goes_on}"
    say(f"kmerge: {done}{more}")
    warn(*hint_for(unmerged))
    return 1 if left or failed else 0


def _tell_left(left: Mapping[str, list[Question]], why: Mapping[str, str]) -> None:
    """Print the conflicts without an answer; `why` has the reasons of refused answers."""
    for path, questions in [*left.items()][:SHOWN_OF_A_KIND]:
        tell(f"open    {path}: {counted(len(questions), 'conflict')}")
        for question in questions[:SHOWN_OF_A_KIND]:
            place = question.conflict.shown("the file")
            tell(f"    {question.id}  {place}{why.get(question.id, '')}")


def stages(resolving: Resolving) -> bool:
    """Return whether kmerge stages a written file; under `git mergetool`, git stages the file."""
    return resolving.operation.name != MERGETOOL


def _tell_end_of_one(
    left: Mapping[str, list[Question]], written: Collection[str], failed: Mapping[str, str]
) -> int:
    lines = [f"{path}: merged without conflicts" for path in written]
    lines += [f"{path}: {counted(len(of), 'conflict')} left" for path, of in left.items()]
    lines += [f"{path} was not written: {why}" for path, why in failed.items()]
    for line in lines:
        say(f"kmerge: {line}")
    return 1 if left or failed else 0


def _unmerged() -> list[str] | None:
    """Return all unmerged files of the repository, or None outside of a repository."""
    try:
        return [stages.path for stages in Repository.open().conflicts()]
    except KmergeError:  # `kmerge mergetool` also works outside of a repository
        return None


def _rows(kind: str, lines: Sequence[str]) -> None:
    rest = len(lines) - SHOWN_OF_A_KIND
    for line in [*lines[:SHOWN_OF_A_KIND], *([f"and {rest} more"] if rest > 0 else [])]:
        tell(f"{kind:<7} {line}")


# -- JSON


def as_json(resolving: Resolving, picked: Picked | None = None) -> dict[str, Any]:
    """Return the fields of all questions, each with its answer so far.

    If answers were given, add the ids of the answered questions, and the reason of each refusal.
    """
    operation = resolving.operation
    report = {
        "operation": operation.name,
        "labels": dict(zip(VERSIONS, operation.labels, strict=True)),
        "conflicts": [_question(resolving, question) for question in resolving.questions],
        "left": len(resolving.left),
        "settled": list(resolving.settled),
        "left_alone": [{"path": path, "why": why} for path, why in resolving.unasked],
        "finish": operation.finish,
    }
    if picked is not None:
        report |= {
            "staged": list(picked.staged),
            "given": [question.id for question, _ in picked.answers],
            "refused": [{"id": question.id, "why": why} for question, why in picked.refused],
        }
    return report


def _question(resolving: Resolving, question: Question) -> dict[str, Any]:
    conflict = question.conflict
    answer = resolving.answers.get(question.id)
    given: Any = answer and answer.how
    if answer and answer.how not in CHOICES:
        given = {"lines": answer.text or ""}
    return {
        "id": question.id,
        "path": question.path,
        "resource": conflict.resource,
        "field": conflict.field,
        "kind": question.kind,
        "why": conflict.why,
        "told": conflict.told,
        **{side: _version(question, side) for side in VERSIONS},
        "choices": list(question.choices),
        "answer": given,
    }


def _version(question: Question, side: str) -> str | None:
    """Return the value of a side as a YAML scalar or as lines; return None if there is no value."""
    shown: str | None = question.values.side(side)
    if question.kind in ("value", "file") or shown is None:
        return shown
    return str(getattr(question.conflict, side))


def read_answers(name: str) -> tuple[ById, ...]:
    """Read answers from a JSON file; skip conflicts without an answer, refuse malformed ones."""
    data = in_and_out.read(name)
    if len(data) > ANSWERS_BYTES:
        raise UsageError(
            f"the file has more than {ANSWERS_BYTES >> 20} MiB",
            path=name,
            hint="give fewer answers",
        )
    try:
        report = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(
            f"byte {error.start} is not UTF-8", path=name, hint="save it as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        why, line, column = f"not JSON: {error.msg}", error.lineno, error.colno
        raise UsageError(why, path=name, line=line, column=column) from None
    except ValueError:
        raise UsageError("not a file of answers: a number has too many digits", path=name) from None
    except RecursionError:
        raise UsageError(
            "not a file of answers: the JSON is nested too deeply", path=name
        ) from None
    if not isinstance(report, dict) or not isinstance(report.get("conflicts"), list):
        hint = 'use {"schema": 1, "conflicts": [{"id": "ID", "answer": "SIDE"}]}'
        raise UsageError("not a file of answers", path=name, hint=hint)
    if report.get("schema") != SCHEMA or isinstance(report["schema"], bool):
        raise UsageError(
            "this kmerge supports only schema 1", path=name, hint='write `"schema": 1`'
        )
    rows = enumerate(report["conflicts"])
    return tuple(given for at, row in rows if (given := _given(row, f"conflicts[{at}]", name)))


def _given(row: object, place: str, name: str) -> ById | None:
    """Return the answer to one conflict, or None if the conflict has no answer."""
    if not isinstance(row, dict):
        raise UsageError(
            f"{place} is not an object", path=name, hint='write {"id": "ID", "answer": "SIDE"}'
        )
    of, answer = row.get("id"), row.get("answer")
    if not isinstance(of, str):
        raise UsageError(
            f"{place}.id is not a string", path=name, hint="use an id from `kmerge resolve --list`"
        )
    if answer is None:
        return None
    if isinstance(answer, str) and answer in CHOICES:
        return ById(of, answer)
    if isinstance(answer, dict) and len(answer) == 1:
        ((how, text),) = answer.items()
        if how in ("value", "lines") and isinstance(text, str) and _is_writable(text):
            return ById(of, how, text)
    raise UsageError(f"{place}.answer is not a valid answer", path=name, hint=_ANSWERS)


def _is_writable(text: str) -> bool:
    """Return whether a text can be encoded; bytes of a file that are not UTF-8 are allowed."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
