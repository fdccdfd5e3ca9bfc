"""Render the pages of `preview` and `refresh` in Markdown, for job summaries and comments.

Markdown can contain HTML, and forges turn names and numbers into links, so every text that somebody
else chose is escaped by `escaped`. The length of a page is limited, and a page says what it leaves
out. The data is the output of `--json` of the two commands.
"""

from __future__ import annotations

from collections import Counter

from kmerge_git.visible import counted, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Data = Mapping[str, Any]

MOST = 600_000  # bytes; GitHub refuses a summary of more than 1 MiB
_FIELDS = 50  # fields of a file that are shown
_LINES, _COLUMNS = 4, 120  # lines of a value that are shown, and their length
_NAME = 400  # characters of a path, a field, a note
_LISTED = 500  # files in a list with one line per file
_WHAT = {
    "resolved": "git alone would stop with a conflict, but kmerge merges it",
    "moved": "an edit was merged into the file to which the edited resource was moved",
}
_CONFLICTS = """\

#### Unresolved conflicts

To resolve them, merge the target into the branch with `kmerge merge`, choose the value of each \
field with `kmerge resolve`, then commit and push.
"""
_IMPROVED = """\

#### Git would give a different result

Git's line merge reports no conflict in these files.
"""
_OTHERS = """\

#### Merged by kmerge, not by git alone

The merge button uses git's line merge, which stops at these files. Merge the target into the \
branch with `kmerge merge`, or run `kmerge refresh` in a CI job; then the button works.

"""


def preview_page(data: Mapping[str, Any], ours: str, theirs: str) -> str:
    """Return the page about a merge or a rebase, and report how many files are left out."""
    page = _Page(MOST)
    ends = {"merge": "Merge of {} into {}", "rebase": "Rebase of {} onto {}"}[data["mode"]]
    names = (theirs, ours) if data["mode"] == "merge" else (ours, theirs)
    page.add(f"### {ends.format(*map(_name, names))}\n")
    if data["state"] != "merge":
        words = {"up to date": "Already up to date.", "fast-forward": "This is a fast-forward."}
        return page.text + f"\n{words[data['state']]}\n"
    files = [file for step in data["steps"] for file in step["files"]]
    page.add(f"\n{_head(files)}\n")
    if any(step["criss_cross"] for step in data["steps"]):
        page.add("\nThere are several merge bases; this page uses the first one.\n")
    if data["untried"]:
        page.add(f"\nThe rebase stops here; not tried: {counted(data['untried'], 'commit')}.\n")
    page.add(_warnings(data["steps"]))
    labels = (ours, theirs) if data["mode"] == "merge" else (theirs, "the commit")
    conflicts = [file for file in files if file["result"] == "conflict"]
    page.add_section(_CONFLICTS, conflicts, lambda file: _conflict(file, labels))
    page.add_section(_IMPROVED, [f for f in files if f["result"] == "improved"], _improved)
    page.add_section(_OTHERS, [f for f in files if f["result"] in _WHAT], _other, _LISTED)
    return page.text


def _warnings(steps: Sequence[Data]) -> str:
    notes = (note for step in steps for note in step.get("notes", ()))
    return "".join(f"\n{escaped(note)}\n" for note in notes if note.startswith("warning: "))


class _Page:
    """Collect the text of a page up to a maximum size."""

    def __init__(self, room: int) -> None:
        self.text = ""
        self._room = room

    def add(self, piece: str) -> bool:
        """Add a piece of text if it fits; after the first piece that does not fit, add nothing."""
        self._room -= len(piece.encode("utf-8", "replace"))
        self.text += piece if self._room >= 0 else ""
        return self._room >= 0

    def add_section(
        self,
        head: str,
        files: Sequence[Data],
        rows_of: Callable[[Data], Iterator[str]],
        most: int | None = None,
    ) -> None:
        """Add a section about some files; if files are left out, say how many."""
        if files:
            self.add(head)
        for number, file in enumerate(files):
            if number == most or not self.add("".join(rows_of(file))):
                left = counted(len(files) - number, "file")
                self.text += f"\n**{left} more: `kmerge preview` lists all of them.**\n"
                return


def _head(files: Sequence[Data]) -> str:
    """Return the summary, such as `**3 files changed on both sides**: git alone would ...`."""
    count = Counter(file["result"] for file in files)
    # a file that stops both kmerge and git counts for git as well
    git = sum(file["git"] == "conflict" for file in files)
    solved = sum(file["git"] == "conflict" and file["result"] != "conflict" for file in files)
    left = count["conflict"]
    silent = left - (git - solved)
    parts = [
        f"git alone would leave {counted(git, 'file')} in conflict" if git else "",
        f"kmerge resolves {solved}" if solved else "",
        f"git would give a different result in {count['improved']}" if count["improved"] else "",
        f"{counted(left, 'file')} with unresolved conflicts" if left else "",
        f"the merge button reports no conflict in {silent} of these" if silent else "",
    ]
    summary = ", ".join(filter(None, parts)) or ("git merges all of them" if files else "")
    noun = counted(len(files), "file")
    return f"**{noun} changed on both sides**" + (f": {summary}." if summary else ".")


def _conflict(file: Data, labels: tuple[str, str]) -> Iterator[str]:
    """Yield the text about a file with conflicts, and a table of the conflicts."""
    silent = "" if file["git"] == "conflict" else "; the merge button reports no conflict here"
    yield f"\n{_name(file['path'])}: {escaped(_cut(_about(file), _NAME))}{silent}\n"
    fields = [one for one in file["conflicts"] if one["resource"] or one["field"]]
    causes = Counter(one["why"] for one in file["conflicts"] if one not in fields)
    for why, times in causes.items():
        if why and why != file["note"]:
            yield f"\n- {escaped(_cut(why, _NAME))}{f', {times} times' if times > 1 else ''}\n"
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
        yield f"\nAnd {counted(more, 'conflict')} more in this file.\n"


def _improved(file: Data) -> Iterator[str]:
    """Yield the text about a file for which git alone would give a different clean merge."""
    yield f"\n{_name(file['path'])}\n"
    if file["otherwise"]:
        yield "\n| resource | field | git | kmerge |\n| --- | --- | --- | --- |\n"
    for one in file["otherwise"]:
        cells = [_name(one["resource"]), _name(one["field"] or one["how"])]
        cells += [_value(one[whose]) for whose in ("git", "kmerge")]
        yield f"| {' | '.join(cells)} |\n"


def _other(file: Data) -> Iterator[str]:
    """Yield the text about a file that kmerge can merge but git alone cannot."""
    note = f"; {escaped(_cut(file['note'], _NAME))}" if file["note"] else ""
    yield f"- {_name(file['path'])}: {_WHAT[file['result']]}{note}\n"
    for one in file["decided"][:_FIELDS]:
        place = _name(" ".join(filter(None, (one["resource"], one["field"]))))
        yield f"  - {place}: {escaped(one['side'])} taken ({escaped(one['by'])})\n"


def _value(text: str) -> str:
    """Return the first lines of a value for a cell of a table."""
    lines = text.split("\n")
    shown = [code(_cut(line)) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(f"… {counted(len(lines) - _LINES, 'line')} more")
    return "<br>".join(shown) if text else "(nothing)"


def _name(text: str) -> str:
    return code(_cut(text, _NAME))


def _cut(line: str, most: int = _COLUMNS) -> str:
    return line if len(line) <= most else line[:most] + "…"


# -- the page of `kmerge refresh` ----------------------------------------------------------------

_ROWS = 20  # rows about one branch
_FILES = 3  # files that a row names
_LONGEST = 200  # characters of a name or a cause
_ROOM = 800_000  # bytes of a page
_UNCHANGED = ("up to date", "clean")


def refresh_page(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page of `kmerge refresh`."""
    branches: list[Data] = report["branches"]
    updated = [each for each in branches if each["result"] == "resolved"]
    left = [each for each in branches if each["result"] not in ("resolved", *_UNCHANGED)]
    # a branch may stay unchanged although git's clean merge of it differs from kmerge's
    improved = [
        each
        for each in branches
        if each["result"] == "clean" and any(f["result"] == "improved" for f in each["files"])
    ]
    same = len(branches) - len(updated) - len(left)
    yield f"### Merges of {_code(report['with'])} into branches"
    yield ""
    dry = " (dry run: nothing was changed)" if report["dry_run"] else ""
    yield f"{len(updated)} updated, {len(left)} not merged, {same} unchanged{dry}"
    # branches that need a person come first, so that they are cut last
    table = _table([*left, *updated, *improved])
    yield from _within(_ROOM, (*table, *_details(left, _left), *_details(updated, _decided)))
    if any(each["result"] == "conflict" for each in left):
        yield ""
        yield (
            f"To resolve them, merge {_code(report['with'])} into the branch with `kmerge merge`, "
            "then run `kmerge resolve`."
        )


def _table(branches: list[Data]) -> Iterator[str]:
    if branches:
        yield "\n| result | branch | |\n| --- | --- | --- |"
    for each in branches:
        yield f"| {each['result']} | {_code(each['name'])} | {_words(each)} |"


def _words(branch: Data) -> str:
    """Return the last cell in a branch's row: the merged files, or the reason for the result."""
    if branch["result"] != "resolved":
        return _short(branch["why"])
    paths = [f["path"] for f in branch["files"] if f["result"] in ("resolved", "moved")]
    more = f" and {len(paths) - _FILES} more" if len(paths) > _FILES else ""
    return ", ".join(map(_code, paths[:_FILES])) + more


def _details(branches: list[Data], rows_of: Callable[[Data], Iterator[str]]) -> Iterator[str]:
    """Yield a block of rows for each branch, about the files of the branch."""
    for branch in branches:
        rows = [row for file in branch.get("files", ()) for row in rows_of(file)]
        if rows:
            more = len(rows) - _ROWS
            rows[_ROWS:] = [f"- and {more} more"] if more > 0 else []
            yield "\n".join(["", f"{_code(branch['name'])}:", "", *rows])


def _left(file: Data) -> Iterator[str]:
    """Yield a row for each field of a file that a person must decide."""
    if file["result"] != "conflict":
        return
    if not file["conflicts"]:
        yield f"- {_code(file['path'])}: {_short(_about(file))}"
    for conflict in file["conflicts"]:
        yield f"- {_place(file, conflict)}: {_short(conflict['why'])}"


def _decided(file: Data) -> Iterator[str]:
    """Yield a row for each field that a policy or a favoured side decided."""
    for each in file["decided"]:
        taken = f"{each['side']} taken ({each['by']})"
        yield f"- {_place(file, each)}: {_short(each['why'])}, {_short(taken)}"


def _about(file: Data) -> str:
    return "; ".join(filter(None, (file["kind"], file["note"])))


def _place(file: Data, spot: Data) -> str:
    return " ".join(map(_code, filter(None, (file["path"], spot["resource"], spot["field"]))))


def _within(room: int, blocks: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the blocks that fit, and a line with the number of blocks left out."""
    missing = 0
    for block in blocks:
        room -= len(block.encode()) + 1
        if room >= 0:
            yield from block.split("\n")
        missing += room < 0
    if missing:
        yield ""
        yield f"This page has no room to show {missing} more; run `kmerge refresh --json` for all."


def _code(text: str) -> str:
    return code(_cut(text, _LONGEST))


def _short(text: str) -> str:
    return escaped(_cut(text, _LONGEST))


# -- escaped texts -------------------------------------------------------------------------------

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_INSIDE = frozenset("-./")  # not escaped between plain characters: `apps/web-1.yaml`
# forges make links of `@name` and `#1` even if escaped: an HTML comment prevents that
_SPLIT = frozenset("@#")


def escaped(text: str) -> str:
    """Escape a text so that Markdown and HTML show the text unchanged in a line or a table."""
    shown = visible(text)
    out = []
    for at, char in enumerate(shown):
        if char in _PLAIN or (not char.isascii() and char.isprintable()) or _is_inside(shown, at):
            out.append(char)
        else:
            out.append(f"&#{ord(char)};" + ("<!-- -->" if char in _SPLIT else ""))
    return "".join(out)


def code(text: str) -> str:
    """Return an escaped text as inline code; return '' for an empty text."""
    return f"<code>{escaped(text)}</code>" if text else ""


def _is_inside(text: str, at: int) -> bool:
    """Return whether a character has no meaning in Markdown because of its neighbours."""
    char, before, after = text[at], text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if char == " ":
        return before not in ("", " ") and after != ""
    if char not in _INSIDE or before not in _PLAIN or after not in _PLAIN:
        return False
    return char != "." or text[max(at - 3, 0) : at].lower() != "www"
