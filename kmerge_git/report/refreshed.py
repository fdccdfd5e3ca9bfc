"""What became of branches, as a page in Markdown: what a person must decide, by resource and field.

It is made of what `kmerge refresh --json` prints. Forges take a page of 1 MB at most: so much
stands in it of one branch, and of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kmerge_git.report.markdown import code, escaped

Data = dict[str, Any]
_FIELDS = 20  # of one branch
_FILES = 3  # named in a row
_LONGEST = 200  # characters of a name or a cause
_ROOM = 800_000  # bytes of a page
_UNCHANGED = ("up to date", "clean")


def refresh_page(report: Data) -> Iterator[str]:
    """The lines of the page."""
    branches: list[Data] = report["branches"]
    updated = [each for each in branches if each["result"] == "resolved"]
    left = [each for each in branches if each["result"] not in ("resolved", *_UNCHANGED)]
    same = len(branches) - len(updated) - len(left)
    yield f"### Merges of {_code(report['with'])} into branches"
    yield ""
    dry = " (nothing was changed: a dry run)" if report["dry_run"] else ""
    yield f"{len(updated)} updated, {len(left)} left, {same} unchanged{dry}"
    # what needs a person stands first: it is what is cut last
    told = [*left, *updated, *(each for each in branches if _is_worth_a_word(each))]
    yield from _within(_ROOM, (*_table(told), *_details(left, _left), *_details(updated, _decided)))
    if any(each["result"] == "conflict" for each in left):
        yield ""
        yield (
            f"To decide them: on the branch `kmerge merge` with {_code(report['with'])}, "
            "then `kmerge resolve`."
        )


def _is_worth_a_word(branch: Data) -> bool:
    """Whether git's clean merge of an unchanged branch says something else than ours."""
    return branch["result"] == "clean" and any(f["result"] == "improved" for f in branch["files"])


def _table(branches: list[Data]) -> Iterator[str]:
    if branches:
        yield "\n| result | branch | |\n| --- | --- | --- |"
    for each in branches:
        yield f"| {each['result']} | {_code(each['name'])} | {_words(each)} |"


def _words(branch: Data) -> str:
    """What there is to say in one cell."""
    if branch["result"] != "resolved":
        return _short(branch["why"])
    paths = [f["path"] for f in branch["files"] if f["result"] in ("resolved", "moved")]
    more = f" and {len(paths) - _FILES} more" if len(paths) > _FILES else ""
    return ", ".join(map(_code, paths[:_FILES])) + more


def _details(branches: list[Data], rows_of: Callable[[Data], Iterator[str]]) -> Iterator[str]:
    """What there is to say of the files of some branches, a block each."""
    for branch in branches:
        rows = [row for file in branch.get("files", ()) for row in rows_of(file)]
        if rows:
            more = len(rows) - _FIELDS
            rows[_FIELDS:] = [f"- and {more} more"] if more > 0 else []
            yield "\n".join(["", f"{_code(branch['name'])}:", "", *rows])


def _left(file: Data) -> Iterator[str]:
    """The fields of a file that a person must decide."""
    if file["result"] != "conflict":
        return
    if not file["conflicts"]:
        about = "; ".join(part for part in (file["kind"], file["note"]) if part)
        yield f"- {_code(file['path'])}: {_short(about)}"
    for conflict in file["conflicts"]:
        yield f"- {_place(file, conflict)}: {_short(conflict['why'])}"


def _decided(file: Data) -> Iterator[str]:
    """The fields of a file that a policy or a favoured side decided: nobody else will look."""
    for each in file["decided"]:
        taken = f"{each['side']} taken ({each['by']})"
        yield f"- {_place(file, each)}: {_short(each['why'])}, {_short(taken)}"


def _place(file: Data, spot: Data) -> str:
    named = (file["path"], spot["resource"], spot["field"])
    return " ".join(_code(text) for text in named if text)


def _within(room: int, blocks: Iterable[str]) -> Iterator[str]:
    """The lines of the blocks as long as there is room, and how many blocks there would be."""
    missing = 0
    for block in blocks:
        room -= len(block.encode()) + 1
        if room >= 0:
            yield from block.split("\n")
        missing += room < 0
    if missing:
        yield ""
        yield f"Left out here, for its length: {missing} more; `kmerge refresh --json` has all."


def _code(text: str) -> str:
    return code(_cut(text))


def _short(text: str) -> str:
    return escaped(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
