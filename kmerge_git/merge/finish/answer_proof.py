"""Whether answers may stand: outside of the conflicts nothing changes, inside is what was chosen.

The merge with every conflict decided for ours was proved when it was made. A document with other
answers is laid beside it: whatever stands outside of the conflicts must be the same there, and the
entries inside must be those that the lines of the answer hold when they are read alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.merge.finish.possible_answers import BRACKETS
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES
from kmerge_git.text.pieces import Hunk
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Entry, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.merged import MergedDocument


if TYPE_CHECKING:
    Answers = dict[int, str]  # by the identity of a hunk
    Range = tuple[int, int]


def check(document: MergedDocument, answers: Answers) -> None:
    """Refuse the answers to a document's conflicts if they do more than they say."""
    hunks = [piece for piece in document.pieces if isinstance(piece, Hunk)]
    for side in SIDES:  # all of one side was proved when the merge was made
        if all(answers.get(id(hunk), hunk.ours) == hunk.side(side) for hunk in hunks):
            return
    if document.plan is None:
        _check_documents(hunks, answers)
        return
    before, after = _Laid(document, {}), _Laid(document, answers)
    if not _same_around(before.root, after.root, before, after):
        raise Refused("with this answer other lines would mean something else")
    for hunk in hunks:
        if id(hunk) in answers:
            _check_inside(after, hunk, answers[id(hunk)])


def _check_documents(hunks: list[Hunk], answers: Answers) -> None:
    """What stands for a whole document begins like one, and goes on with none before it."""
    for hunk in hunks:
        text = answers.get(id(hunk), "")
        if not isinstance(hunk.about, Three) or not text:
            continue
        if any(_opens(side) for side in (hunk.ours, hunk.theirs)) and not _opens(text):
            raise Refused("it is a document of its own: it begins with `---`")


def _opens(text: str) -> bool:
    """Whether lines begin with `---`, or with comments above it."""
    lines = (line for line in text.split("\n") if line.strip() and not line.startswith("#"))
    return next(lines, "").startswith("---")


def with_empty_ones(document: MergedDocument, answers: Answers) -> str | None:
    """The text of a document whose answers took all entries of a collection: `[]` or `{}` stays.

    None where there is no such collection.
    """
    if document.plan is None:
        return None
    before, after = _Laid(document, {}), _Laid(document, answers)
    found: list[tuple[int, str]] = []
    _same_around(before.root, after.root, before, after, found)
    if not found:
        return None
    text = after.text
    for at, mark in sorted(found, reverse=True):
        text = text[:at].rstrip(" ") + " " + mark + text[at:]
    return text[len(after.opening) :]


class _Laid:
    """The text of a document with some answers, ours for the rest, and where its conflicts are."""

    def __init__(self, document: MergedDocument, answers: Answers) -> None:
        self.opening = document.opening or "---\n"
        self.ranges: dict[int, Range] = {}  # in the order of the text, as all that follow
        self.texts: set[int] = set()  # the conflicts about lines of a text
        out, at = [self.opening], len(self.opening)
        for piece in document.pieces:
            text = piece if isinstance(piece, str) else answers.get(id(piece), piece.ours)
            if isinstance(piece, Hunk):
                self.ranges[id(piece)] = (at, at + len(text))
                if isinstance(piece.about, tuple):
                    self.texts.add(id(piece))
            out.append(text)
            at += len(text)
        self.text = "".join(out)
        try:
            documents = split(Source.of(self.text)).documents
            root = documents[0].root if len(documents) == 1 else None
        except KmergeError as error:
            why = error.why.removeprefix("not YAML: ")
            raise Refused(f"the file would be no YAML any more: {why}") from None
        if root is None:
            raise Refused("the resource would be empty, or several")
        self.root = root
        self.full = [(at, hunk) for hunk, at in self.ranges.items() if at[0] < at[1]]
        self.all = list(self.ranges.values())
        self.of_texts = [at for hunk, at in self.ranges.items() if hunk in self.texts]

    def is_inside(self, entry: Entry) -> bool:
        """Whether a conflict has all lines of an entry."""
        return self.around(entry) is not None

    def around(self, entry: Entry) -> int | None:
        """The conflict that has all lines of an entry."""
        return self._with_all(entry.line, entry.end)

    def has(self, node: Node) -> int | None:
        """The conflict that has all of a node."""
        return self._with_all(node.start, node.end) if node.start < node.end else None

    def _with_all(self, start: int, end: int) -> int | None:
        """The conflict that has all of a run of characters: the last that begins before its end."""
        at = bisect_right(self.full, start, key=lambda one: one[0][0]) - 1
        found = at >= 0 and end <= self.full[at][0][1]
        return self.full[at][1] if found else None

    def has_text_of(self, node: Scalar) -> bool:
        """Whether a conflict is about lines of a text that goes on before or behind them."""
        first = bisect_right(self.of_texts, node.start, key=_end)
        below = self.of_texts[first : first + 1]  # of all that may be, nothing is nearer
        return any(not self.text[node.end : start].strip() for start, _ in below)

    def brackets(self, start: int, end: int) -> tuple[str, str]:
        """Those of the flow collection that a run of whole lines stands in, or none."""
        node: Node | None = self.root
        found = ("", "")
        while isinstance(node, Collection):
            if node.flow and node.content < start and end <= node.end:
                found = BRACKETS[isinstance(node, Sequence)]
            entries = node.entries
            at = bisect_left(entries, start, key=lambda e: e.start) - 1
            inner = entries[at].value if at >= 0 else None
            node = inner if inner is not None and end <= inner.end else None
        return found

    def strays(self, entries: tuple[Entry, ...], before: _Laid, known: tuple[Entry, ...]) -> bool:
        """Whether lines of a conflict came among entries where `before` has none of them."""
        here = {self.around(entry) for entry in entries} - {None}
        there = {before.around(entry) for entry in known}
        return any(start < end for start, end in (before.ranges[h] for h in here - there if h))

    def touches(self, entry: Entry) -> bool:
        """Whether a conflict stands within the lines of an entry."""
        first = bisect_right(self.all, entry.line, key=_end)
        return first < len(self.all) and self.all[first][0] < entry.end


def _end(at: Range) -> int:
    return at[1]


def _same_around(
    one: Node,
    other: Node,
    before: _Laid,
    after: _Laid,
    emptied: list[tuple[int, str]] | None = None,
) -> bool:
    """Whether all that stands outside of the conflicts is the same."""
    if isinstance(one, Collection) and _is_nothing(other):
        return _is_emptied(one, other, before, emptied)
    if _is_nothing(one) and isinstance(other, Collection):
        return all(after.is_inside(entry) for entry in other.entries)
    if before.has(one) and before.has(one) == after.has(other):
        return True
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        if (one.style, one.anchor) != (other.style, other.anchor):
            return False
        is_text = before.has_text_of(one) and after.has_text_of(other)
        return is_text or same_node(one, other)
    if not (isinstance(one, Collection) and isinstance(other, Collection)):
        return same_node(one, other)
    if type(one) is not type(other) or (one.anchor, one.tag) != (other.anchor, other.tag):
        return False
    return _same_entries_around(one, other, before, after, emptied)


def _is_emptied(
    one: Collection, other: Node, before: _Laid, emptied: list[tuple[int, str]] | None
) -> bool:
    """Whether the answers took all entries, so that `[]` or `{}` must stand there."""
    if not all(before.is_inside(entry) for entry in one.entries):
        return False
    if emptied is not None:
        emptied.append((other.end, "[]" if isinstance(one, Sequence) else "{}"))
    return True


def _same_entries_around(
    one: Collection,
    other: Collection,
    before: _Laid,
    after: _Laid,
    emptied: list[tuple[int, str]] | None,
) -> bool:
    left = [entry for entry in one.entries if not before.is_inside(entry)]
    there = [entry for entry in other.entries if not after.is_inside(entry)]
    if [entry.name for entry in left] != [entry.name for entry in there]:
        return False
    same = not after.strays(other.entries, before, one.entries)
    for a, b in zip(left, there, strict=True):
        if before.touches(a) or after.touches(b):
            same = _same_around(a.value, b.value, before, after, emptied) and same
        else:
            same = same_node(a.value, b.value) and same
    return same


def _is_nothing(node: Node) -> bool:
    """Whether a key has no value: all that stood below it is gone."""
    return isinstance(node, Scalar) and node.start == node.end


def _check_inside(after: _Laid, hunk: Hunk, text: str) -> None:
    """The entries within a conflict are those that its lines hold when they are read alone."""
    start, end = after.ranges[id(hunk)]
    opening, closing = after.brackets(start, end)
    try:
        documents = split(Source.of(opening + text + closing)).documents
        alone = documents[0].root if len(documents) == 1 else None
    except KmergeError:
        return  # lines of a text, a part of something; what is around them has been looked at
    if not isinstance(alone, Collection) or (alone.flow and not opening):
        return
    found: list[Entry] = []
    _collect(after.root, start, end, found)
    wanted: list[Entry] | None = list(alone.entries)
    while found and wanted is not None:
        if _are_same(found, wanted):
            return
        wanted = _with_fields_of_last(wanted)
    if found:
        raise Refused("these lines would mean something else in their place")


def _are_same(some: list[Entry], others: list[Entry]) -> bool:
    if [entry.name for entry in some] != [entry.name for entry in others]:
        return False
    return all(same_node(a.value, b.value) for a, b in zip(some, others, strict=True))


def _with_fields_of_last(entries: list[Entry]) -> list[Entry] | None:
    """The entries of lines that end within an element: of the last one, the fields alone."""
    last = entries[-1] if entries else None
    if last is None or last.key is not None or not isinstance(last.value, Collection):
        return None
    return [*entries[:-1], *last.value.entries]


def _collect(node: Node, start: int, end: int, found: list[Entry]) -> None:
    """The outermost entries that lie within a run of characters."""
    entries = node.entries if isinstance(node, Collection) else ()
    first = bisect_right(entries, start, key=lambda entry: entry.end)
    for entry in entries[first : bisect_left(entries, end, key=lambda entry: entry.start)]:
        if start <= entry.line and entry.end <= end:
            found.append(entry)
        else:
            _collect(entry.value, start, end, found)
