"""The pages of `preview` and `refresh` in Markdown, for job summaries, comments and notes.

Markdown has HTML in it, and forges make links of names and numbers: every text that somebody
else chose goes through `escaped`. A page is bounded, and it says what is left out. The data is
what `--json` of these commands prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MOST = 600_000  # bytes; GitHub refuses a summary of more than 1 MiB
_FIELDS = 50  # of a file that are shown
_LINES, _COLUMNS = 4, 120  # of a value
_NAME = 400  # characters of a path, a field, a note
_LISTED = 500  # files of which there is only a line to say
_WHAT = {
    "resolved": "git alone would stop with a conflict, kmerge merges it",
    "moved": "an edit follows a resource into the file to which it was moved",
}
_FINISH = """\
To finish it: merge the target into the branch with `kmerge merge`, answer field by field with \
`kmerge resolve`, commit, push.
"""
_BEYOND = """\
The merge button merges by lines, it stops at these files. `kmerge merge` of the target into the \
branch, or `kmerge refresh` in a job, merges them; afterwards the button works.
"""


def preview_page(data: Mapping[str, Any], ours: str, theirs: str) -> str:
    """What the merge of `theirs` into `ours` comes to; bounded, and it says what is left out."""
    room = _Room(MOST)
    ends = {"merge": "Merge of {} into {}", "rebase": "Rebase of {} onto {}"}[data["mode"]]
    names = (theirs, ours) if data["mode"] == "merge" else (ours, theirs)
    room.add(f"### {ends.format(*map(_name, names))}\n")
    if data["state"] != "merge":
        words = {"up to date": "Nothing to do: up to date.", "fast-forward": "A fast-forward."}
        return room.text + f"\n{words[data['state']]}\n"
    files = [file for step in data["steps"] for file in step["files"]]
    room.add(f"\n{_head(files)}\n")
    if any(step["criss_cross"] for step in data["steps"]):
        room.add("\nThere are several merge bases: this is against the first one.\n")
    if data["untried"]:
        room.add(f"\nIt stops here: {_counted(data['untried'], 'commit')} not tried.\n")
    labels = (ours, theirs) if data["mode"] == "merge" else (theirs, "the commit")
    _conflicts(room, [file for file in files if file["result"] == "conflict"], labels)
    _improved(room, [file for file in files if file["result"] == "improved"])
    _others(room, [file for file in files if file["result"] in _WHAT])
    return room.text


class _Room:
    """The text so far, in pieces, as long as there is room."""

    def __init__(self, most: int) -> None:
        self._pieces: list[str] = []
        self._left = most

    def add(self, piece: str) -> bool:
        """Whether a piece found room; once one did not, none does."""
        self._left -= len(piece.encode("utf-8", "replace"))
        if self._left >= 0:
            self._pieces.append(piece)
        return self._left >= 0

    def tell(self, piece: str) -> None:
        """A piece of our own that is always told."""
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        """Everything that found room."""
        return "".join(self._pieces)


def _head(files: Sequence[Mapping[str, Any]]) -> str:
    """`**3 files changed on both sides**: git alone would stop at 2, kmerge resolves 1 ...`."""
    count = Counter(file["result"] for file in files)
    # where both stop the file counts for git as well
    git = sum(file["git"] == "conflict" for file in files)
    solved = sum(file["git"] == "conflict" and file["result"] != "conflict" for file in files)
    parts = [
        f"git alone would leave {_counted(git, 'file')} in conflict" if git else "",
        f"kmerge resolves {solved}" if solved else "",
        f"git would merge {count['improved']} to something else" if count["improved"] else "",
    ]
    left = count["conflict"]
    parts.append(f"a person must decide in {_counted(left, 'file')}" if left else "")
    told = ", ".join(part for part in parts if part) or ("git merges all of them" if files else "")
    noun = _counted(len(files), "file")
    return f"**{noun} changed on both sides**" + (f": {told}." if told else ".")


def _conflicts(room: _Room, files: Sequence[Mapping[str, Any]], labels: tuple[str, str]) -> None:
    """Each file with its conflicts, as a table."""
    if not files:
        return
    room.add(f"\n#### A person must decide\n\n{_FINISH}")
    for number, file in enumerate(files):
        if not room.add("".join(_conflict(file, labels))):
            room.tell(_left_out(len(files) - number))
            return


def _conflict(file: Mapping[str, Any], labels: tuple[str, str]) -> Iterator[str]:
    about = "; ".join(part for part in (file["kind"], file["note"]) if part)
    yield f"\n{_name(file['path'])}: {escaped(_cut(about, _NAME))}\n"
    fields = [one for one in file["conflicts"] if one["resource"] or one["field"]]
    causes = Counter(one["why"] for one in file["conflicts"] if one not in fields)
    for why, times in causes.items():
        if why and why != file["note"]:
            yield (
                f"\n- {escaped(_cut(why, _NAME))}"
                + (f", {times} times" if times > 1 else "")
                + "\n"
            )
    if not fields:
        return
    yield f"\n| resource | field | why | {_name(labels[0])} | {_name(labels[1])} |\n"
    yield "| --- | --- | --- | --- | --- |\n"
    for one in fields[:_FIELDS]:
        cells = [_name(one["resource"]), _name(one["field"]), escaped(_cut(one["why"]))]
        cells += [_value(one[side]) for side in ("ours", "theirs")]
        yield f"| {' | '.join(cells)} |\n"
    more = len(fields) - _FIELDS
    if more > 0:
        yield f"\nAnd {_counted(more, 'conflict')} more in this file.\n"


def _improved(room: _Room, files: Sequence[Mapping[str, Any]]) -> None:
    """Where git's clean merge would say something else."""
    if not files:
        return
    room.add("\n#### Git would merge this to something else\n\nWithout a conflict, by lines.\n")
    for number, file in enumerate(files):
        rows = [f"\n{_name(file['path'])}\n"]
        fields = file["otherwise"]
        if fields:
            rows.append("\n| resource | field | git | kmerge |\n| --- | --- | --- | --- |\n")
        for one in fields:
            cells = [_name(one["resource"]), _name(one["field"] or one["how"])]
            cells += [_value(one[whose]) for whose in ("git", "kmerge")]
            rows.append(f"| {' | '.join(cells)} |\n")
        if not room.add("".join(rows)):
            room.tell(_left_out(len(files) - number))
            return


def _others(room: _Room, files: Sequence[Mapping[str, Any]]) -> None:
    """What kmerge merges where git stops."""
    if not files:
        return
    room.add(f"\n#### Merged by kmerge, not by git alone\n\n{_BEYOND}\n")
    for number, file in enumerate(files):
        note = f"; {escaped(_cut(file['note'], _NAME))}" if file["note"] else ""
        rows = [f"- {_name(file['path'])}: {_WHAT[file['result']]}{note}\n"]
        for one in file["decided"][:_FIELDS]:
            place = _name(" ".join(part for part in (one["resource"], one["field"]) if part))
            rows.append(f"  - {place}: {escaped(one['side'])} taken ({escaped(one['by'])})\n")
        if number == _LISTED or not room.add("".join(rows)):
            room.tell(_left_out(len(files) - number))
            return


def _value(text: str) -> str:
    """A value of a field in a cell: its first lines."""
    lines = text.split("\n")
    shown = [code(_cut(line)) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(f"… {_counted(len(lines) - _LINES, 'line')} more")
    return "<br>".join(shown) if text else "(nothing)"


def _name(text: str) -> str:
    return code(_cut(text, _NAME))


def _cut(line: str, most: int = _COLUMNS) -> str:
    return line if len(line) <= most else line[:most] + "…"


def _left_out(files: int) -> str:
    return f"\n**{_counted(files, 'file')} more: `kmerge preview` lists all of them.**\n"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


Data = dict[str, Any]
_FIELDS_refreshed = 20  # of one branch
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
            more = len(rows) - _FIELDS_refreshed
            rows[_FIELDS_refreshed:] = [f"- and {more} more"] if more > 0 else []
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
    return code(_cut_refreshed(text))


def _short(text: str) -> str:
    return escaped(_cut_refreshed(text))


def _cut_refreshed(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_INSIDE = frozenset("-./")  # as they are between two plain characters: `apps/web-1.yaml`
# forges look for `@name` and `#1` in what was rendered: a comment keeps the two parts apart
_SPLIT = frozenset("@#")


def escaped(text: str) -> str:
    """The text for one line of Markdown, of a table or of HTML: it shows as text."""
    shown = visible(text)
    out = []
    for at, char in enumerate(shown):
        if char in _PLAIN or (not char.isascii() and char.isprintable()) or _is_inside(shown, at):
            out.append(char)
        else:
            out.append(f"&#{ord(char)};" + ("<!-- -->" if char in _SPLIT else ""))
    return "".join(out)


def code(text: str) -> str:
    """The same as code; nothing for nothing."""
    return f"<code>{escaped(text)}</code>" if text else ""


def _is_inside(text: str, at: int) -> bool:
    """Whether a character means nothing where it stands; at an end it could, to Markdown."""
    char, before, after = text[at], text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if char == " ":
        return before not in ("", " ") and after != ""
    if char not in _INSIDE or before not in _PLAIN or after not in _PLAIN:
        return False
    return char != "." or text[max(at - 3, 0) : at].lower() != "www"
