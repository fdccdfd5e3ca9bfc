"""Conflicts and their answers as JSON: what `resolve --list --json` prints, `--from` takes."""

from __future__ import annotations

import json
from typing import Any

from kmerge_git.cli import files
from kmerge_git.errors import UsageError
from kmerge_git.whole.deciding import SIDES, ById, Picked
from kmerge_git.whole.kept import Answer
from kmerge_git.whole.questions import Question
from kmerge_git.whole.resolving import Resolving

SCHEMA = 1
LARGEST = 32 << 20  # bytes
_WHAT = "a side (ours, theirs, both, base, higher), {value: YAML} or {lines: TEXT}"


def as_json(resolving: Resolving, decided: Picked | None = None) -> dict[str, Any]:
    """All questions, each with its answer so far; a schema grows by fields.

    After answers: the ids of those that were given, and why others could not be.
    """
    operation = resolving.operation
    base, ours, theirs = operation.labels
    return {
        "schema": SCHEMA,
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
        "base": _side(question, "base"),
        "ours": _side(question, "ours"),
        "theirs": _side(question, "theirs"),
        "choices": list(question.choices),
        "answer": _answer(resolving.answers.get(question.id)),
    }


def _side(question: Question, side: str) -> str | None:
    """A scalar as YAML, or the lines as they stand in the file; None where there are none."""
    shown: str | None = question.values.side(side)
    if question.kind in ("value", "file") or shown is None:
        return shown
    return str(getattr(question.conflict, side))


def _answer(answer: Answer | None) -> Any:
    if answer is None or answer.how in SIDES:
        return answer and answer.how
    return {"lines": answer.text or ""}


def read_answers(name: str) -> tuple[ById, ...]:
    """The answers in a file; conflicts without one are passed over. Nothing in it is trusted."""
    data = files.read(name)
    if len(data) > LARGEST:
        raise UsageError(f"more than {LARGEST >> 20} MiB", path=name, hint="give fewer answers")
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
    if isinstance(answer, str) and answer in SIDES:
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
