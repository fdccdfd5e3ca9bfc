"""Read the JSON results of replays, and add up those of several repositories.

The sum does not depend on the order of the reports, and a single report is not changed.
"""

from __future__ import annotations

import json
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Any

from kmerge_git.bounds import REPORT_BYTES
from kmerge_git.errors import KmergeError
from kmerge_git.replay.left_conflicts import canon
from kmerge_git.replay.policy_trials import SHOWN_WRONG, Proposal, by_worth, with_lines
from kmerge_git.replay.tally import OF_A_SORT, Report, Tally

_MOST = 2**53  # programs that read JSON may know no larger number exactly
_WORDS = ("commit", "path", "resource", "field")
_FILE = dict.fromkeys(("commit", "subject", "path", "git", "kmerge", "people"), "") | {
    "git_damage": [""],
    "people_damage": [""],
    "conflicts": [""],
    "blobs": {"": ""},
}
_TOTALS = (
    *("settled", "as_people", "otherwise", "unknown", "silent", "free", "compared_in"),
    *("conflicted_files", "files_settled", "files_freed", "files_as_people"),
)
_WRONG = dict.fromkeys((*_WORDS, "why", "people", "value", "value_of_people"), "")
_PROPOSAL = dict.fromkeys(_TOTALS, 0) | {
    **dict.fromkeys(("policy", "files", "field", "standing"), ""),
    **dict.fromkeys(("gitattributes", "config", "command"), ""),
    "authors": [""],
    "wrong": [_WRONG],
}


def read_report(name: str, schema: int) -> Report:
    """Read the report of `kmerge replay --json` in a file, or raise an error with its path."""
    try:
        with Path(name).open("rb") as file:
            data = file.read(REPORT_BYTES + 1)
        if len(data) > REPORT_BYTES:
            raise KmergeError(f"the report is larger than {REPORT_BYTES >> 20} MiB", path=name)
        report: Report = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise KmergeError("not JSON", path=name) from error
    if not _is_like(report, _form()) or report.pop("schema") != schema:
        why = "not a complete `kmerge replay --json` report from this version of kmerge"
        raise KmergeError(why, path=name)
    return report


def _form() -> dict[str, Any]:
    """Return an example of a result; a list has an example of its items, `""` is any name."""
    return Tally().as_json() | {
        "schema": 0,
        "notes": [""],
        "by_kind": {"": dict.fromkeys(OF_A_SORT, 0)},
        "disagreements": [_FILE | {"number": 0}],
        "git_broken": [_FILE],
        "new_conflicts": [_FILE],
        "left": [{"cause": "", "field": "", "conflicts": [dict.fromkeys(_WORDS, "")]}],
        "proposals": [_PROPOSAL],
        "gitattributes": [""],
    }


def _is_like(value: object, form: object) -> bool:
    """Return whether a value has all parts of an example, each of the same type."""
    if isinstance(form, dict) and isinstance(value, dict):
        if "" in form:
            return all(_is_like(each, form[""]) for each in value.values())
        return value.keys() == form.keys() and all(_is_like(value[at], form[at]) for at in form)
    if isinstance(form, list) and isinstance(value, list):
        return all(_is_like(each, form[0]) for each in value)
    if isinstance(form, int | float):  # JSON has one type for both, and NaN is no number
        kinds = (int, float) if isinstance(form, float) else (int,)
        return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value < _MOST
    return isinstance(value, str) and isinstance(form, str)


def combined(reports: list[Report]) -> Report:
    """Add up the reports of several repositories."""
    if len(reports) == 1:
        return reports[0]
    sums = {
        name: _sum([report[name] for report in reports])
        for name in ("repositories", "merges", "squash_merges", "picks", "counts", "by_kind")
    }
    lists = {
        name: _together(reports, name)
        for name in ("disagreements", "git_broken", "new_conflicts", "left", "proposals")
    }
    left = [
        {"cause": cause, "field": field, "conflicts": _together(groups, "conflicts")}
        for (cause, field), groups in _grouped(lists["left"], ("cause", "field"))
    ]
    proposals = [
        _added(parts) for _, parts in _grouped(lists["proposals"], ("policy", "files", "field"))
    ]
    return {
        **sums,
        "notes": sorted({note for report in reports for note in report["notes"]}),
        "milliseconds": _times(reports),
        **lists,
        "left": sorted(left, key=lambda group: -len(group["conflicts"])),
        "proposals": sorted(proposals, key=by_worth),
        "gitattributes": [],  # of one repository only: git reads one file
    }


def _sum(values: list[Any]) -> Any:
    """Add numbers, and maps name by name."""
    if not isinstance(values[0], dict):
        return sum(values)
    names = sorted({name for value in values for name in value})
    return {name: _sum([value[name] for value in values if name in value]) for name in names}


def _together(parts: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Join a list of all parts, in an order that does not depend on theirs."""
    return sorted(chain.from_iterable(part[name] for part in parts), key=canon)


def _grouped(
    rows: list[dict[str, Any]], names: tuple[str, ...]
) -> list[tuple[list[str], list[dict[str, Any]]]]:
    """Return groups of rows that have the same words under some names, sorted by these words."""

    def key(row: dict[str, Any]) -> list[str]:
        return [row[name] for name in names]

    return [(words, [*group]) for words, group in groupby(sorted(rows, key=key), key)]


def _added(parts: list[Proposal]) -> Proposal:
    """Add up the counts of one policy; the standing is that of the sums."""
    return with_lines(
        {name: parts[0][name] for name in ("policy", "files", "field")}
        | {name: sum(part[name] for part in parts) for name in _TOTALS}
        | {"authors": sorted({author for part in parts for author in part["authors"]})}
        | {"wrong": _together(parts, "wrong")[:SHOWN_WRONG]}
    )


def _times(reports: list[Report]) -> dict[str, float]:
    """Return the longest time, and the median of all medians, each as often as it has files."""
    rows = sorted((r["milliseconds"]["median"], r["counts"]["files"]) for r in reports)
    seen = [*accumulate(files for _, files in rows)]
    middle = next(at for at, count in enumerate(seen) if 2 * count >= seen[-1])
    return {
        "median": rows[middle][0],
        "longest": max(r["milliseconds"]["longest"] for r in reports),
    }
