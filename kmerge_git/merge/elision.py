"""Take unchanged parts out of large documents, so that fewer lines have to be parsed.

Two sides often change only a few lines of a document of a megabyte. Sibling entries that follow one
another with the same text in all three versions form a common run. Each long run is replaced by one
placeholder entry, the stand-in. The shortened documents are merged like any others, and then the
runs are put back. The lines of a long text (`|`) are treated the same way.

The whole document is merged if it has an anchor anywhere, if a run is not valid YAML by itself, if
a stand-in does not come back as an entry or as a line, or if a new key could repeat a key in a run.

Elements are taken out of a list only if it has keys: the stand-in has a value of its own in each
field that identifies the elements. Their values are read from their lines, so an element that is
not written plainly stays. Where a side renamed or moved something, its content shows what it was:
then the document, or at least the list, stays whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from kmerge_git.errors import KmergeError
from kmerge_git.kube.listkeys import ListKeys, Where, field_text, key_names, start
from kmerge_git.merge.three import Three
from kmerge_git.text.diff3 import changes, head, tail
from kmerge_git.tree import parser
from kmerge_git.tree.documents import Document, whole_document
from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.parser import has_odd_breaks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from collections.abc import Sequence as List

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.nodes import Entry

    ByKey = Callable[[Three[List[Entry]], ListRule], Three[dict[Hashable, Entry]] | None]

    Span = tuple[int, int]
    Values = dict[str, set[str]]  # the values that taken elements have in each field

WORTH = 2_000  # characters; a shorter run is not taken out
NEAR = 2  # so many elements stay around a changed one
STAND_IN = "kmerge.elided.run"
TEXTS = ("|", "|-", "|+")
NULLS = ("", "~", "null", "Null", "NULL")
FEW = 8  # lines between two edits that are looked at as one
# These keys must stay in the document: they decide how a list merges, and identify resources.
KEYED = key_names()
TELLING = KEYED | {"apiVersion", "kind", "metadata", "namespace", "generateName", "key"}
# The characters of keys that are written plainly.
WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")
QUOTES = frozenset("\"'[]{}")  # what a value may leave open at the end of its line
# The marks of references, each under a rare character that can be searched for quickly.
REFERENCES = {"&": (": &", "- &"), "*": (": *", "- *"), "<": ("<<:",), ".": (STAND_IN,)}


class CommonRun:
    """Hold consecutive lines of the base that are the same in all three versions."""

    __slots__ = ("column", "end", "names", "start", "values")

    def __init__(
        self,
        start: int,
        end: int,
        column: int,
        names: set[str] | None = None,
        values: Values | None = None,
    ) -> None:
        self.start = start
        self.end = end
        self.column = column
        self.names = names  # the keys that are taken out of a mapping
        self.values = values  # of all elements that are taken out of a list

    def stand_in(self, number: int) -> str:
        """Return the line that takes the place of the run."""
        name = f"{STAND_IN}.{number}"
        if self.values is None:
            return " " * self.column + f"{name}: 0\n"
        fields = ", ".join(f"{field}: {name}" for field in self.values)
        return " " * self.column + f"- {{{fields}}}\n"


class Elided:
    """Hold three shortened documents, and the texts that their stand-ins replace."""

    __slots__ = ("at", "texts")

    def __init__(self, at: Three[Document | None], texts: dict[str, str]) -> None:
        self.at = at
        self.texts = texts  # stand-in line -> the run's text

    def restorable(self, pieces: Pieces) -> bool:
        """Return whether every stand-in occurs once in the result, outside of conflicts."""
        plain = "".join(p for p in pieces if isinstance(p, str))
        if any(not isinstance(p, str) and STAND_IN in p.ours + p.theirs for p in pieces):
            return False
        found = [line + "\n" for line in plain.split("\n") if STAND_IN in line]
        return sorted(found) == sorted(self.texts)

    def restored(self, text: str) -> str:
        """Put the removed lines back in the place of every stand-in."""
        *lines, end = text.split("\n")
        whole = (line + "\n" for line in lines)
        return "".join([self.texts.get(line, line) for line in whole]) + end


def elide(at: Three[Document | None], by_key: ByKey | None = None) -> Elided | None:
    """Take the lines common to three documents out of them; return None if that is unsafe.

    `by_key` returns the elements of three lists by key. Without it, no element is taken out, and
    the short documents only show how much the sides changed.
    """
    documents = [d for d in at.each() if d is not None and not d.inline]
    if len(documents) != 3:
        return None
    base, ours, theirs = (d.content for d in documents)
    if any(map(_refers, (base, ours, theirs))):
        return None
    lines = base.split("\n")
    edits = [_Edits(base, lines, side, is_exact=by_key is not None) for side in (ours, theirs)]
    windows = _apart([window for made in edits for window in made.windows])
    if len(base) - sum(len(line) + 1 for a, z in windows for line in lines[a:z]) < WORTH:
        return None
    path = documents[0].source.path
    finder = _Finder(lines, windows)
    for runs in finder.tries(elements=by_key is not None):
        elided = _without_runs(runs, base, finder.offsets, edits)
        if elided is not None and _holds(elided, runs, path, by_key):
            return elided
    return None


def _without_runs(
    runs: list[CommonRun], base: str, offsets: list[int], edits: list[_Edits]
) -> Elided | None:
    spans = [(offsets[run.start] + run.start, offsets[run.end] + run.end) for run in runs]
    texts = [base[slice(*span)] for span in spans]
    stand_ins = [run.stand_in(number) for number, run in enumerate(runs)]
    if not all(map(_is_yaml, runs, stand_ins, texts)):
        return None
    small = [_without(base, spans, stand_ins)]
    for side in edits:
        moved = [side.moved(run.start) for run in runs]
        there = [(a + n, z + n) for (a, z), n in zip(spans, moved, strict=True)]
        small.append(_without(side.text, there, stand_ins))
    return Elided(Three(*map(whole_document, small)), dict(zip(stand_ins, texts, strict=True)))


def _is_yaml(run: CommonRun, stand_in: str, text: str) -> bool:
    if run.names is not None or run.values is not None:
        return parser.accepts(text)
    # a line of the text shows at which column the text begins
    return not has_odd_breaks(text) and parser.accepts("x: |\n" + stand_in + text)


def _refers(text: str) -> bool:
    return any(c in text and any(m in text for m in marks) for c, marks in REFERENCES.items())


def _without(text: str, spans: list[Span], stand_ins: list[str]) -> str:
    """Return a text in which stand-ins replace some spans."""
    out: list[str] = []
    end = 0
    for (first, last), stand_in in zip(spans, stand_ins, strict=True):
        out += [text[end:first], stand_in]
        end = last
    return "".join([*out, text[end:]])


class _Edits:
    """Hold the lines of the base that a side changed, and by how much it moved the others."""

    __slots__ = ("_behind", "_moves", "text", "windows")

    def __init__(self, base: str, lines: list[str], side: str, *, is_exact: bool) -> None:
        self.text = side
        same = base.rfind("\n", 0, head(base, side)) + 1
        behind = tail(base, side, min(len(base), len(side)) - same)
        stop = base.find("\n", len(base) - behind) + 1 or len(base)
        first = base.count("\n", 0, same)
        if stop < len(base):
            old = lines[first : first + base.count("\n", same, stop)]
            new = side[same : stop + len(side) - len(base)].split("\n")[:-1]
        else:
            old, new = lines[first:], side[same:].split("\n")
        self.windows: list[Span] = []  # with a line before and after each edit
        self._behind: list[int] = []  # where the lines behind each edit begin
        self._moves = [0]
        moved = 0
        one = [(0, len(old), 0, len(new))]
        for b0, b1, s0, s1 in changes(old, new, most_work=0) if is_exact else one:
            moved += sum(map(len, new[s0:s1])) + s1 - s0 - sum(map(len, old[b0:b1])) - b1 + b0
            self.windows.append((max(first + b0 - 1, 0), min(first + b1 + 1, len(lines))))
            self._behind.append(first + b1)
            self._moves.append(moved)

    def moved(self, line: int) -> int:
        """Return by how many characters an unchanged line of the base is moved in this version."""
        return self._moves[bisect_right(self._behind, line)]


class _Finder:
    """Find runs of sibling entries outside of the changed lines, by indentation alone."""

    __slots__ = (
        *("at_column", "columns", "enters_lists", "found", "lines", "offsets"),
        *("takes_elements", "windows"),
    )

    def __init__(self, lines: list[str], windows: list[Span]) -> None:
        self.lines = lines
        self.windows = windows
        self.offsets = [0, *accumulate(map(len, lines))]  # without the line ends
        # the column of every line that has content; comments and blank lines have none
        bare = [line.lstrip(" ") for line in lines]
        self.columns = [
            len(line) - len(rest) if rest and rest[0] != "#" else -1
            for line, rest in zip(lines, bare, strict=True)
        ]
        # the numbers of the lines at each column
        self.at_column: dict[int, list[int]] = {column: [] for column in set(self.columns)}
        for number, column in enumerate(self.columns):
            self.at_column[column].append(number)
        self.found: list[CommonRun] = []
        self.enters_lists = self.takes_elements = True

    def tries(self, *, elements: bool) -> Iterator[list[CommonRun]]:
        """Yield the common runs in order; then, if there are any in lists, the others."""
        for self.enters_lists in (True, False) if elements else (True,):
            self.takes_elements = elements
            self.found = []
            if not self._collection(0, len(self.lines)):
                return
            if self.found:
                yield self.found

    def _collection(self, low: int, high: int) -> bool:
        """Look through the collection in these lines; return False if the layout is unusual."""
        first = next((n for n in range(low, high) if self.columns[n] >= 0), high)
        if first == high:
            return False
        column = self.columns[first]
        if any(self._at(c, low, high) for c in self.at_column if 0 <= c < column):
            return False
        starts = self._at(column, low, high)
        marks = [self.lines[n][column : column + 2] for n in starts]
        if "? " in marks:
            return False
        dashes = [mark in ("- ", "-") for mark in marks]
        if dashes[0]:
            if all(dashes) and self.enters_lists:
                self._sequence(starts, high, column)
            return all(dashes)
        # the elements of a list may be at the column of its key
        self._mapping([n for n, dash in zip(starts, dashes, strict=True) if not dash], high, column)
        return True

    def _at(self, column: int, low: int, high: int) -> list[int]:
        """Return the lines of a range that begin at a column."""
        numbers = self.at_column.get(column, [])
        return numbers[bisect_left(numbers, low) : bisect_left(numbers, high)]

    def _mapping(self, starts: list[int], high: int, column: int) -> None:
        ends = [*starts[1:], high]
        touched = self._touched(starts, ends)
        names = [self.lines[n][column:].partition(":")[0].strip("\"' ") for n in starts]
        behind = 0  # the number of entries handled so far
        for n, name in enumerate(names):
            # the lines above an entry are in the range of the one before
            is_below = n - 1 in touched and self.columns[starts[n] - 1] < 0
            if n in touched or is_below or name in TELLING:
                self._add(starts[behind:n], starts[n], column, names=set(names[behind:n]))
                behind = n + 1
            if n in touched:
                self._below(starts[n], ends[n], column)
        self._add(starts[behind:], high, column, names=set(names[behind:]))

    def _sequence(self, starts: list[int], high: int, column: int) -> None:
        ends = [*starts[1:], high]
        touched = self._touched(starts, ends)
        near = {n + m for n in touched for m in range(-NEAR, NEAR + 1)}
        fields: dict[int, dict[str, str]] = {}
        for n in range(len(starts) if self.takes_elements else 0):
            if n not in near and (read := self._fields(starts[n], ends[n], column)) is not None:
                fields[n] = read
        values = _telling(list(fields.values()))
        behind = 0
        for n, first in enumerate(starts):
            if n in fields and values:
                continue
            self._add(starts[behind:n], first, column, values=values)
            behind = n + 1
            if n in touched:
                self._inside(first, ends[n])
        self._add(starts[behind:], high, column, values=values)

    def _fields(self, start: int, end: int, column: int) -> dict[str, str] | None:
        """Return the fields of an element that may be keys, or None if it is not written plainly.

        A value may be quoted, but not otherwise special.
        """
        inner = column + 2  # the column of the keys
        lines = self.lines[start:end]
        if any(map(_is_unclosed, lines)):
            return None
        found: dict[str, str] = {}
        last = ""  # the key of the line before
        for number, line in enumerate(lines, start):
            if self.columns[number] < 0:
                continue
            if number > start and (self.columns[number] > inner or line.startswith("- ", inner)):
                if last in KEYED:
                    return None
                continue
            last, colon, value = line[inner:].partition(":")
            is_word = last.isidentifier() or WORD.issuperset(last)
            if not is_word or not colon or value[:1] not in ("", " "):
                return None
            if last in KEYED:
                text = _plain(value)
                if text is None or last in found:
                    return None
                found[last] = text
        return found

    def _touched(self, starts: list[int], ends: list[int]) -> set[int]:
        """Return the indexes of the entries that a side changed."""
        touched: set[int] = set()
        for first, last in self._windows(starts[0], ends[-1]):
            touched.update(
                range(max(bisect_right(starts, first) - 1, 0), bisect_left(starts, last))
            )
        return touched

    def _windows(self, low: int, high: int) -> list[Span]:
        """Return the windows that reach into a range of lines."""
        start = bisect_right(self.windows, low, key=lambda window: window[1])
        return self.windows[start : bisect_left(self.windows, high, key=lambda window: window[0])]

    def _below(self, start: int, end: int, column: int) -> None:
        """Search the value of the mapping entry that begins at line `start`."""
        line = self.lines[start].rstrip()
        if line.endswith(":"):
            self._inside(start, end)
        elif line.rpartition(": ")[2].strip() in TEXTS:
            self._text(start + 1, end, column)

    def _inside(self, start: int, end: int) -> None:
        """Search the lines below the first line of a changed entry, if the entry is large."""
        if self._size(start, end) > WORTH:
            self._collection(start + 1, end)

    def _add(
        self,
        starts: list[int],
        end: int,
        column: int,
        *,
        names: set[str] | None = None,
        values: Values | None = None,
    ) -> None:
        """Add a run of entries; comments just above `end` belong to the next entry."""
        if not starts:
            return
        while end > starts[0] and self.columns[end - 1] < 0:
            end -= 1
        if self._size(starts[0], end) >= WORTH:
            self.found.append(CommonRun(starts[0], end, column, names, values))

    def _text(self, low: int, high: int, column: int) -> None:
        """Find unchanged lines of a block text; keep its first and last line to fix the layout."""
        if self._size(low, high) <= WORTH:
            return
        columns = [len(line) - len(line.lstrip(" ")) for line in self.lines[low:high]]
        full = [n for n, line in enumerate(self.lines[low:high], low) if line.strip()]
        if not full or columns[full[0] - low] <= column:
            return
        home = columns[full[0] - low]
        # blank lines may be rewritten, and lines further left are not part of the text
        odd = [
            n
            for n, line in enumerate(self.lines[low:high], low)
            if line and (columns[n - low] < home or line.isspace())
        ]
        if odd:
            return
        start = full[0] + 1
        for first, last in [*self._windows(low, high), (full[-1], high)]:
            if self._size(start, min(first, full[-1])) >= WORTH:
                self.found.append(CommonRun(start, min(first, full[-1]), home))
            start = max(start, last)

    def _size(self, start: int, end: int) -> int:
        return self.offsets[end] - self.offsets[start] if start < end else 0


def _apart(windows: list[Span]) -> list[Span]:
    """Return the windows in order; those with few lines between them become one."""
    found: list[Span] = []
    for first, last in sorted(windows):
        if found and first < found[-1][1] + FEW:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def _is_unclosed(line: str) -> bool:
    """Return whether a line may leave a quote or a bracket open."""
    if QUOTES.isdisjoint(line):
        return False
    if line.count('"') % 2 or line.count("'") % 2:
        return True
    return line.count("[") != line.count("]") or line.count("{") != line.count("}")


def _plain(value: str) -> str | None:
    """Return a value without its quotes; None for null and if the quotes are not the only sign."""
    bare = value.split(" #", maxsplit=1)[0].strip()
    if bare.isalnum() and bare not in NULLS:
        return bare
    if bare[:1] in ("'", '"'):
        inner = bare[1:-1]
        return None if bare[-1] != bare[0] or bare[0] in inner or "\\" in inner else inner
    return None if bare in NULLS or bare[0] in "|>&*!{[%@`-?" or ": " in bare else bare


def _telling(elements: list[dict[str, str]]) -> Values:
    """Return the fields that all elements have, each with a value of its own, and the values."""
    if not elements:
        return {}
    values = {field: {element.get(field, "") for element in elements} for field in elements[0]}
    return {
        field: found - {""} for field, found in values.items() if len(found - {""}) == len(elements)
    }


# -- what the stand-ins are in the shortened documents


def _holds(elided: Elided, runs: list[CommonRun], path: str, by_key: ByKey | None) -> bool:
    """Return whether every stand-in is usable in all three documents.

    A stand-in must be a line of a text, a key of a mapping that has none of the keys in the run, or
    an element of a list that has keys.
    """
    places: list[_StandIns] = []
    for document in elided.at.each():
        try:
            root = document.root if document is not None else None
            if root is None:
                return False
            places.append(_StandIns(elided, runs))
            places[-1].look(root, start(root, path), ())
            if places[-1].count != len(runs):
                return False
        except KmergeError:
            return False
    names, lists = [at.names for at in places], [at.lists for at in places]
    if any(each.keys() != names[0].keys() for each in names):
        return False
    if any(each.keys() != lists[0].keys() for each in lists):
        return False
    if by_key is None:
        return True
    return all(_no_exchange(*(each[at] for each in names)) for at in names[0]) and all(
        _is_keyed(rule, [each[at][0] for each in lists], values, by_key)
        for at, (_, rule, values) in lists[0].items()
    )


class _StandIns:
    """Find the stand-ins in a shortened document, and count them."""

    __slots__ = ("_lines", "_runs", "count", "lists", "names")

    def __init__(self, elided: Elided, runs: list[CommonRun]) -> None:
        pairs = [*zip(elided.texts, runs, strict=True)]
        self._lines = [line for line, run in pairs if run.names is None and run.values is None]
        self._runs = {f"{STAND_IN}.{number}": run for number, run in enumerate(runs)}
        # the collections that hold stand-ins
        self.names: dict[tuple[object, ...], list[str]] = {}  # of entries that hold collections
        self.lists: dict[tuple[object, ...], tuple[Sequence, ListRule, Values]] = {}
        self.count = 0

    def look(self, node: Node, where: Where, path: tuple[object, ...]) -> None:
        """Look through a node; count nothing for a stand-in whose key could repeat."""
        if node.text.find(STAND_IN, node.start, node.end) < 0:
            return
        before = self.count
        if isinstance(node, Scalar) and node.style == "|":
            self.count += sum(map(node.text[node.content : node.end].count, self._lines))
        elif isinstance(node, Mapping):
            where = where.at(node)
            known = {entry.name for entry in node.entries}
            for name in known & self._runs.keys():
                self.count += known.isdisjoint(self._runs[name].names or ())
            for entry in node.entries:
                self.look(entry.value, where.child(entry.name), (*path, entry.name))
            if self.count > before:
                inner = [e.name for e in node.entries if isinstance(e.value, Collection)]
                self.names[path] = inner
        elif isinstance(node, Sequence):
            values: Values = {}
            for entry in node.entries:
                name = _stand_in(entry.value)
                if name in self._runs:
                    values = self._runs[name].values or {}
                    self.count += 1
                else:
                    key = *path, *(field_text(entry.value, field) for field in sorted(KEYED))
                    self.look(entry.value, where.items(), key)
            if self.count > before:
                self.lists[path] = node, where.list_rule(), values


def _stand_in(element: Node) -> str:
    """Return the name of the stand-in that an element is, or ''."""
    if not isinstance(element, Mapping) or not element.flow or not element.entries:
        return ""
    values = {entry.value.value for entry in element.entries if isinstance(entry.value, Scalar)}
    return values.pop() if len(values) == 1 else ""


def _is_keyed(rule: ListRule, lists: list[Sequence], values: Values, by_key: ByKey) -> bool:
    """Return whether three lists have keys, and would have the same with the elements of a run.

    No side may have renamed or moved elements: what an element is like counts then.
    """
    if rule.kind not in ("keyed", "infer"):
        return False
    entries = Three(*lists).map(lambda made: made.entries)
    tables = by_key(entries, rule)
    fields = ListKeys(rule, entries.each()).fields
    if tables is None or not fields or (values and fields[0] not in values):
        return False
    for field, taken in values.items():
        if any(field_text(e.value, field) in taken for there in entries.each() for e in there):
            return False
    return _no_exchange(*map(list, tables.each()))


def _no_exchange(base: List[Hashable], *sides: List[Hashable]) -> bool:
    """Return whether no side moved things, or has new ones and lacks others."""
    known = set(base)
    for side in sides:
        kept = [name for name in side if name in known]
        there = set(kept)
        if kept != [name for name in base if name in there]:
            return False
        if len(kept) < len(side) and len(kept) < len(base):
            return False
    return True
