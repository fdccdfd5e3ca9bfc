"""Large documents without what nobody changed: fewer lines to parse, the same merge.

Two sides of a document of a megabyte change a few lines. The runs of sibling entries that are
the same text in all three versions are taken out, one entry stands for each, the small documents
are merged as any others, and the runs are put back. Whatever is not certain gives the whole
document to the merge: an anchor anywhere, a run that is no YAML of its own, a stand-in that did not
come back as a key, a new key that could repeat one in a run. Elements of lists are never taken out:
their keys decide how the list merges.
"""

from __future__ import annotations

from itertools import accumulate

from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree import parser
from kmerge_git.tree.documents import Document
from kmerge_git.tree.nodes import Collection, Mapping, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.text.pieces import Pieces

    Span = tuple[int, int]

WORTH = 2_000  # a shorter run stays where it is
STAND_IN = "kmerge.elided.run"
# what decides how a list merges, and which resource is which, must stay to be seen
TELLING = frozenset(
    (
        *("apiVersion", "kind", "metadata", "name", "namespace", "generateName", "key", "type"),
        *("ip", "mountPath", "devicePath", "topologyKey", "containerPort", "port", "protocol"),
    )
)
REFERENCES = (": &", "- &", ": *", "- *", "<<:", STAND_IN)


class CommonRun:
    """Lines of the base that stand, unchanged, in all three versions."""

    __slots__ = ("column", "end", "names", "start")

    def __init__(self, start: int, end: int, column: int, names: set[str]) -> None:
        self.start = start
        self.end = end
        self.column = column
        self.names = names  # the keys that are taken out

    def span(self, offsets: list[int], later: int, first: int) -> Span:
        """Where it stands in a version that moves what is below its line `first`."""
        more = later if self.start >= first else 0
        return offsets[self.start] + more, offsets[self.end] + more


class Elided:
    """Three small documents, and the texts that their stand-ins stand for."""

    __slots__ = ("at", "texts")

    def __init__(self, at: Three[Document | None], texts: dict[str, str]) -> None:
        self.at = at
        self.texts = texts  # stand-in line -> the run's text

    def restorable(self, pieces: Pieces) -> bool:
        """Whether every stand-in is in the result once, and in no conflict."""
        plain = "".join(p for p in pieces if isinstance(p, str))
        marked = sum(not isinstance(p, str) and STAND_IN in p.ours + p.theirs for p in pieces)
        return not marked and all(plain.count(line) == 1 for line in self.texts)

    def restored(self, text: str) -> str:
        """A text with the runs in their places."""
        for line, run in self.texts.items():
            before, _, after = text.partition(line)
            text = before + run + after
        return text


def elide(at: Three[Document | None]) -> Elided | None:
    """The three documents without their common runs, or None where that would not be safe."""
    documents = [d for d in at.each() if d is not None and not d.inline]
    if len(documents) != 3:
        return None
    base, ours, theirs = (d.content for d in documents)
    if any(mark in text for text in (base, ours, theirs) for mark in REFERENCES):
        return None
    lines = base.split("\n")
    windows = [_window(lines, base, side) for side in (ours, theirs)]
    runs = _Finder(lines, windows).runs()
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    texts = [base[slice(*run.span(offsets, 0, 0))] for run in runs]
    if not runs or not all(map(parser.accepts, texts)):
        return None
    stand_ins = [" " * r.column + f"{STAND_IN}.{n}: 0\n" for n, r in enumerate(runs)]
    small = [
        # behind its window a version has the same lines, some characters later
        _without(side, [r.span(offsets, len(side) - len(base), first) for r in runs], stand_ins)
        for side, first in ((base, 0), (ours, windows[0][1]), (theirs, windows[1][1]))
    ]
    made = Elided(Three(*map(_document, small)), dict(zip(stand_ins, texts, strict=True)))
    return made if _holds(made, runs) else None


def _without(text: str, spans: list[Span], stand_ins: list[str]) -> str:
    """A text with stand-ins in the places of some spans."""
    out: list[str] = []
    end = 0
    for (start, stop), stand_in in zip(spans, stand_ins, strict=True):
        out += [text[end:start], stand_in]
        end = stop
    return "".join([*out, text[end:]])


def _document(text: str) -> Document | None:
    return Document(Source.of(text), 0, 0, 0, len(text), False)


def _window(lines: list[str], base: str, side: str) -> Span:
    """The lines of the base that a side changed, with a neighbour on either end."""
    head = _common(base, side)
    tail = _common_end(base, side, min(len(base), len(side)) - head)
    first = base.count("\n", 0, head)
    last = len(lines) - base.count("\n", len(base) - tail)
    return max(first - 1, 0), min(last + 1, len(lines))


def _common(a: str, b: str) -> int:
    """The length of the common beginning, by halves: comparing is fast, indexing is not."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(a: str, b: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low


class _Finder:
    """Finds runs of sibling entries outside of the windows, by indentation alone."""

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
        """The runs, in order; none where the lines are not laid out as usual."""
        return self.found if self._mapping(0, len(self.lines)) else []

    def _mapping(self, low: int, high: int) -> bool:
        """Walk the entries of the mapping that these lines are; False: they are something else."""
        indents = self.indents
        inside = [i for i in indents[low:high] if i >= 0]
        if not inside or min(inside) < inside[0]:
            return False
        column = inside[0]
        starts = [n for n in range(low, high) if indents[n] == column]
        if any(self.lines[n][column : column + 2] in ("- ", "-", "? ") for n in starts):
            for start, end in zip(starts, [*starts[1:], high], strict=True):
                self._inside(start, end)  # no element is taken out
            return True
        first: int | None = None
        names: set[str] = set()
        for start, end in zip(starts, [*starts[1:], high], strict=True):
            name = self.lines[start][column:].split(":")[0].strip("\"' ")
            touched = self._touched(start, end)
            if not touched and name not in TELLING:
                first = start if first is None else first
                names.add(name)
                continue
            self._add(first, start, column, names)
            first, names = None, set()
            if self.lines[start].rstrip().endswith(":"):
                self._inside(start, end)
        self._add(first, high, column, names)
        return True

    def _inside(self, start: int, end: int) -> None:
        """Look below the line of an entry that a side changed, if it is large."""
        if self._touched(start, end) and self._size(start, end) > WORTH:
            self._mapping(start + 1, end)

    def _add(self, first: int | None, end: int, column: int, names: set[str]) -> None:
        """A run from `first` on; the comments in front of `end` belong to what stands there."""
        if first is None:
            return
        while end > first and self.indents[end - 1] < 0:
            end -= 1
        if self._size(first, end) >= WORTH:
            self.found.append(CommonRun(first, end, column, names))

    def _touched(self, start: int, end: int) -> bool:
        return any(start < last and first < end for first, last in self.windows)

    def _size(self, start: int, end: int) -> int:
        return sum(map(len, self.lines[start:end]))


def _holds(made: Elided, runs: list[CommonRun]) -> bool:
    """Whether every stand-in is a key in all three trees, beside no key of its own run."""
    taken = {f"{STAND_IN}.{n}": run.names for n, run in enumerate(runs)}
    for document in made.at.each():
        try:
            root = document.root if document is not None else None
            if root is None or _seen(root, taken) != len(runs):
                return False
        except KmergeError:
            return False
    return True


def _seen(node: Node, taken: dict[str, set[str]]) -> int:
    """How many stand-ins there are below a node; a negative number where a key could repeat."""
    if not isinstance(node, Collection):
        return 0
    found = 0
    if isinstance(node, Mapping):
        names = {e.name for e in node.entries}
        for name in names & taken.keys():
            found += 1 if not names & taken[name] else -len(taken)
    return found + sum(_seen(e.value, taken) for e in node.entries)
