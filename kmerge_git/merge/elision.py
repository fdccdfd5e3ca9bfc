"""Take unchanged parts out of large documents, so that fewer lines have to be parsed.

Two sides often change only a few lines of a document of a megabyte. Sibling entries that follow one
another with the same text in all three versions form a common run. Each long run is replaced by one
placeholder entry, the stand-in. The shortened documents are merged like any others, and then the
runs are put back. The lines of a long text (`|`) are treated the same way.

The whole document is merged if it has an anchor anywhere, if a run is not valid YAML by itself, if
a stand-in does not come back as a key or as a line, or if a new key could repeat a key in a run.
List elements are never taken out, because their keys decide how the list merges.
"""

from __future__ import annotations

from itertools import accumulate

from kmerge_git.errors import KmergeError
from kmerge_git.kube.listkeys import key_names
from kmerge_git.merge.three import Three
from kmerge_git.text.diff3 import head, tail
from kmerge_git.tree import parser
from kmerge_git.tree.documents import Document, whole_document
from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar
from kmerge_git.tree.parser import has_odd_breaks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.text.pieces import Pieces

    Span = tuple[int, int]

WORTH = 2_000  # characters; a shorter run is not taken out
STAND_IN = "kmerge.elided.run"
TEXTS = ("|", "|-", "|+")
# These keys must stay in the document: they decide how a list merges, and identify resources.
TELLING = key_names() | {"apiVersion", "kind", "metadata", "namespace", "generateName", "key"}
# The marks of references, each under a rare character that can be searched for quickly.
REFERENCES = {"&": (": &", "- &"), "*": (": *", "- *"), "<": ("<<:",), ".": (STAND_IN,)}


class CommonRun:
    """Hold consecutive lines of the base that are the same in all three versions."""

    __slots__ = ("column", "end", "is_text", "names", "start")

    def __init__(self, start: int, end: int, column: int, names: set[str] | None) -> None:
        self.start = start
        self.end = end
        self.column = column
        self.is_text = names is None
        self.names = names or set()  # the keys that are taken out

    def span(self, offsets: list[int], later: int, first: int) -> Span:
        """Return where the run is in a version whose lines from `first` on are moved by `later`."""
        more = later if self.start >= first else 0
        return offsets[self.start] + more, offsets[self.end] + more


class Elided:
    """Hold three shortened documents, and the texts that their stand-ins replace."""

    __slots__ = ("at", "texts")

    def __init__(self, at: Three[Document | None], texts: dict[str, str]) -> None:
        self.at = at
        self.texts = texts  # stand-in line -> the run's text

    def restorable(self, pieces: Pieces) -> bool:
        """Return whether every stand-in occurs once in the result, outside of conflicts."""
        plain = "".join(p for p in pieces if isinstance(p, str))
        marked = sum(not isinstance(p, str) and STAND_IN in p.ours + p.theirs for p in pieces)
        return not marked and all(plain.count(line) == 1 for line in self.texts)

    def restored(self, text: str) -> str:
        """Put the removed lines back in the place of every stand-in."""
        for line, run in self.texts.items():
            text = text.replace(line, run, 1)
        return text


def elide(at: Three[Document | None]) -> Elided | None:
    """Take the lines common to three documents out of them; return None if that is unsafe."""
    documents = [d for d in at.each() if d is not None and not d.inline]
    if len(documents) != 3:
        return None
    base, ours, theirs = (d.content for d in documents)
    if any(map(_refers, (base, ours, theirs))):
        return None
    lines = base.split("\n")
    windows = [_window(lines, base, side) for side in (ours, theirs)]
    runs = _Finder(lines, windows).runs()
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    texts = [base[slice(*run.span(offsets, 0, 0))] for run in runs]
    stand_ins = [" " * r.column + f"{STAND_IN}.{n}: 0\n" for n, r in enumerate(runs)]
    if not runs or not all(map(_is_yaml, runs, stand_ins, texts)):
        return None
    small = [
        # after the lines that it changed, a version has the lines of the base at shifted offsets
        _without(side, [r.span(offsets, len(side) - len(base), first) for r in runs], stand_ins)
        for side, first in ((base, 0), (ours, windows[0][1]), (theirs, windows[1][1]))
    ]
    elided = Elided(Three(*map(whole_document, small)), dict(zip(stand_ins, texts, strict=True)))
    return elided if _holds(elided, runs) else None


def _is_yaml(run: CommonRun, stand_in: str, text: str) -> bool:
    if not run.is_text:
        return parser.accepts(text)
    # a line of the text shows at which column the text begins
    return not has_odd_breaks(text) and parser.accepts("x: |\n" + stand_in + text)


def _refers(text: str) -> bool:
    return any(c in text and any(m in text for m in marks) for c, marks in REFERENCES.items())


def _without(text: str, spans: list[Span], stand_ins: list[str]) -> str:
    """Return a text in which stand-ins replace some spans."""
    out: list[str] = []
    end = 0
    for (start, stop), stand_in in zip(spans, stand_ins, strict=True):
        out += [text[end:start], stand_in]
        end = stop
    return "".join([*out, text[end:]])


def _window(lines: list[str], base: str, side: str) -> Span:
    """Return the range of base lines that a side changed, plus one line before and after."""
    same = head(base, side)
    end = tail(base, side, min(len(base), len(side)) - same)
    first = base.count("\n", 0, same)
    last = len(lines) - base.count("\n", len(base) - end)
    return max(first - 1, 0), min(last + 1, len(lines))


class _Finder:
    """Find runs of sibling entries outside of the changed lines, by indentation alone."""

    __slots__ = ("found", "indents", "lines", "windows")

    def __init__(self, lines: list[str], windows: list[Span]) -> None:
        self.lines = lines
        self.windows = windows
        # the column of every line that has content; comments and blank lines have none
        bare = [line.lstrip(" ") for line in lines]
        self.indents = [
            len(line) - len(rest) if rest and rest[0] != "#" else -1
            for line, rest in zip(lines, bare, strict=True)
        ]
        self.found: list[CommonRun] = []

    def runs(self) -> list[CommonRun]:
        """Return the common runs in order, or an empty list if the line layout is unusual."""
        return self.found if self._mapping(0, len(self.lines)) else []

    def _mapping(self, low: int, high: int) -> bool:
        """Look through the mapping in these lines; return False if they are no mapping."""
        inside = [i for i in self.indents[low:high] if i >= 0]
        if not inside or min(inside) < inside[0]:
            return False
        column = inside[0]
        starts = [n for n, i in enumerate(self.indents[low:high], low) if i == column]
        ends = [*starts[1:], high]
        touched = self._touched(starts, ends)
        if any(self.lines[n][column : column + 2] in ("- ", "-", "? ") for n in starts):
            for n in sorted(touched):  # no element is taken out
                self._inside(starts[n], ends[n])
            return True
        names = [self.lines[n][column:].partition(":")[0].strip("\"' ") for n in starts]
        behind = 0  # the number of entries handled so far
        for n in [n for n, name in enumerate(names) if n in touched or name in TELLING]:
            self._add(starts[behind:n], starts[n], column, names[behind:n])
            behind = n + 1
            if n in touched:
                self._below(starts[n], ends[n], column)
        self._add(starts[behind:], high, column, names[behind:])
        return True

    def _touched(self, starts: list[int], ends: list[int]) -> set[int]:
        """Return the indexes of the entries that a side changed."""
        spans = list(zip(starts, ends, strict=True))
        return {
            n
            for first, last in self.windows
            for n, (start, end) in enumerate(spans)
            if start < last and first < end
        }

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
            self._mapping(start + 1, end)

    def _add(self, starts: list[int], end: int, column: int, names: list[str]) -> None:
        """Add a run of entries; comments just above `end` belong to the next entry."""
        if not starts:
            return
        while end > starts[0] and self.indents[end - 1] < 0:
            end -= 1
        if self._size(starts[0], end) >= WORTH:
            self.found.append(CommonRun(starts[0], end, column, set(names)))

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
        for first, last in [*sorted(self.windows), (full[-1], high)]:
            if self._size(start, min(first, full[-1])) >= WORTH:
                self.found.append(CommonRun(start, min(first, full[-1]), home, None))
            start = max(start, last)

    def _size(self, start: int, end: int) -> int:
        return sum(map(len, self.lines[start:end])) if start < end else 0


def _holds(elided: Elided, runs: list[CommonRun]) -> bool:
    """Return whether every stand-in is usable in all three documents.

    A stand-in must be a line of a text, or a key of a mapping that has none of the keys in the run.
    """
    taken = {f"{STAND_IN}.{n}": run.names for n, run in enumerate(runs) if not run.is_text}
    lines = [line for line, run in zip(elided.texts, runs, strict=True) if run.is_text]
    for document in elided.at.each():
        try:
            root = document.root if document is not None else None
            if root is None or _seen(root, taken, lines) != len(runs):
                return False
        except KmergeError:
            return False
    return True


def _seen(node: Node, taken: dict[str, set[str]], lines: list[str]) -> int:
    """Count the stand-ins below a node; return a negative number if a key could repeat."""
    if isinstance(node, Scalar) and lines and node.style == "|":
        return sum(map(node.text[node.content : node.end].count, lines))
    if not isinstance(node, Collection):
        return 0
    count = 0
    if isinstance(node, Mapping):
        names = {e.name for e in node.entries}
        for name in names & taken.keys():
            count += 1 if not names & taken[name] else -len(taken)
    return count + sum(_seen(e.value, taken, lines) for e in node.entries)
