"""Check that answers to conflicts change only the conflicts, and mean what the user chose.

The result of the merge was checked with every conflict resolved to ours. A document with other
answers is compared with that result. Outside of the conflicts, both must be the same. Inside a
conflict, the entries must be the same as in the lines of the answer when they are parsed alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.merge.finish.possible_answers import BRACKETS, root_of
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES
from kmerge_git.text.pieces import Hunk
from kmerge_git.tree.nodes import Collection, Entry, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.merged import MergedDocument

    Answers = dict[int, str]  # the lines of each answer, by the id() of the hunk
    Range = tuple[int, int]


_EMPTY = ("{}", "[]")


class DocumentProof:
    """Check answers to the conflicts of one document; each text is parsed only once."""

    def __init__(self, document: MergedDocument) -> None:
        self._document = document
        self._hunks = [piece for piece in document.pieces if isinstance(piece, Hunk)]
        self._read: dict[tuple[str, ...], _Answered] = {}  # the documents without and with answers

    def check(self, answers: Answers) -> None:
        """Refuse the answers if they change more than the lines of their conflicts."""
        for side in SIDES:  # the merge itself proved the result with all of one side
            if all(answers.get(id(hunk), hunk.ours) == hunk.side(side) for hunk in self._hunks):
                return
        if self._document.plan is None:
            _check_documents(self._hunks, answers)
            return
        before, after = self._answered({}), self._answered(answers)
        if not _same_around(before.root, after.root, before, after):
            raise Refused("this answer would change the meaning of lines outside the conflict")
        for hunk in self._hunks:
            if id(hunk) in answers:
                _check_inside(after, hunk, answers[id(hunk)])

    def with_empty_ones(self, answers: Answers) -> str | None:
        """Return the document with `[]` or `{}` for each collection that the answers emptied.

        Return None if the answers emptied no collection.
        """
        if self._document.plan is None:
            return None
        before, after = self._answered({}), self._answered(answers)
        emptied: list[tuple[int, str]] = []
        _same_around(before.root, after.root, before, after, emptied)
        if not emptied:
            return None
        text = after.text
        for at, mark in sorted(emptied, reverse=True):
            text = text[:at].rstrip(" ") + " " + mark + text[at:]
        return text[len(after.opening) :]

    def _answered(self, answers: Answers) -> _Answered:
        key = tuple(answers.get(id(hunk), hunk.ours) for hunk in self._hunks)
        if key not in self._read:
            while len(self._read) > 1:
                self._read.popitem()
            self._read[key] = _Answered(self._document, answers)
        return self._read[key]


def _check_documents(hunks: list[Hunk], answers: Answers) -> None:
    """Refuse an answer for a whole document if the answer would extend the previous document."""
    for hunk in hunks:
        text = answers.get(id(hunk), "")
        if not isinstance(hunk.about, Three) or not text:
            continue
        if any(_opens(side) for side in (hunk.ours, hunk.theirs)) and not _opens(text):
            raise Refused("the answer must be a document of its own; begin it with `---`")


def _opens(text: str) -> bool:
    """Return whether the first line that is neither blank nor a comment begins with `---`."""
    lines = (line for line in text.split("\n") if line.strip() and not line.startswith("#"))
    return next(lines, "").startswith("---")


class _Answered:
    """Hold the text of a document with some answers, and the places of its conflicts.

    Conflicts without an answer are resolved to ours.
    """

    def __init__(self, document: MergedDocument, answers: Answers) -> None:
        self.opening = document.opening or "---\n"
        self.ranges: dict[int, Range] = {}  # in the order of the text
        self.of_texts: list[Range] = []  # the ranges of conflicts about lines of a text
        out, at = [self.opening], len(self.opening)
        for piece in document.pieces:
            text = piece if isinstance(piece, str) else answers.get(id(piece), piece.ours)
            if isinstance(piece, Hunk):
                self.ranges[id(piece)] = span = (at, at + len(text))
                self.of_texts += [span] if isinstance(piece.about, tuple) else []
            out.append(text)
            at += len(text)
        self.text = "".join(out)
        try:
            root = root_of(self.text)
        except KmergeError as error:
            why = error.why.removeprefix("not YAML: ")
            raise Refused(f"the file would not be valid YAML: {why}") from None
        if root is None:
            raise Refused("the document would be empty, or split into several documents")
        self.root = root
        self.full = [(at, hunk) for hunk, at in self.ranges.items() if at[0] < at[1]]
        self.all = list(self.ranges.values())

    def around(self, entry: Entry) -> int | None:
        """Return the conflict that holds all lines of an entry, or None."""
        return self._with_all(entry.line, entry.end)

    def has(self, node: Node) -> int | None:
        """Return the conflict that holds the whole text of a node, or None."""
        return self._with_all(node.start, node.end) if node.start < node.end else None

    def _with_all(self, start: int, end: int) -> int | None:
        """Return the conflict that holds all characters from `start` to `end`, or None."""
        at = bisect_right(self.full, start, key=lambda one: one[0][0]) - 1
        return self.full[at][1] if at >= 0 and end <= self.full[at][0][1] else None

    def outside(self, entries: tuple[Entry, ...]) -> list[Entry]:
        """Return the entries that are not completely inside a conflict."""
        return [entry for entry in entries if self.around(entry) is None]

    def has_text_of(self, node: Scalar) -> bool:
        """Return whether a conflict holds some but not all lines of a block text."""
        first = bisect_right(self.of_texts, node.start, key=_end)
        nearest = self.of_texts[first : first + 1]
        return any(not self.text[node.end : start].strip() for start, _ in nearest)

    def brackets(self, start: int, end: int) -> tuple[str, str]:
        """Return the brackets of the innermost flow collection around whole lines, or ''."""
        node: Node | None = self.root
        brackets = ("", "")
        while isinstance(node, Collection):
            if node.flow and node.content < start and end <= node.end:
                brackets = BRACKETS[isinstance(node, Sequence)]
            entries = node.entries
            at = bisect_left(entries, start, key=lambda e: e.start) - 1
            inner = entries[at].value if at >= 0 else None
            node = inner if inner is not None and end <= inner.end else None
        return brackets

    def strays(
        self, entries: tuple[Entry, ...], before: _Answered, known: tuple[Entry, ...]
    ) -> bool:
        """Return whether a conflict has entries in a collection, but had none there in `before`."""
        here = {self.around(entry) for entry in entries} - {before.around(entry) for entry in known}
        return any(start < end for start, end in (before.ranges[h] for h in here if h))

    def touches(self, entry: Entry) -> bool:
        """Return whether an entry has lines that belong to a conflict."""
        first = bisect_right(self.all, entry.line, key=_end)
        return first < len(self.all) and self.all[first][0] < entry.end


def _end(at: Range) -> int:
    return at[1]


def _same_around(
    one: Node,
    other: Node,
    before: _Answered,
    after: _Answered,
    emptied: list[tuple[int, str]] | None = None,
) -> bool:
    """Return whether everything outside of the conflicts is the same in two nodes."""
    if isinstance(one, Collection) and _is_nothing(other):
        is_emptied = not before.outside(one.entries)
        if is_emptied and emptied is not None:
            emptied.append((other.end, _EMPTY[type(one) is Sequence]))
        return is_emptied
    if _is_nothing(one) and isinstance(other, Collection):
        return not after.outside(other.entries)
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


def _same_entries_around(
    one: Collection,
    other: Collection,
    before: _Answered,
    after: _Answered,
    emptied: list[tuple[int, str]] | None,
) -> bool:
    left, there = before.outside(one.entries), after.outside(other.entries)
    if [entry.name for entry in left] != [entry.name for entry in there]:
        return False
    same = not after.strays(other.entries, before, one.entries)
    for a, b in zip(left, there, strict=True):
        is_touched = before.touches(a) or after.touches(b)
        same &= (  # every pair is compared, to find all emptied collections
            _same_around(a.value, b.value, before, after, emptied)
            if is_touched
            else same_node(a.value, b.value)
        )
    return same


def _is_nothing(node: Node) -> bool:
    """Return whether a key has no value because all lines below the key were removed."""
    return isinstance(node, Scalar) and node.start == node.end


def _check_inside(after: _Answered, hunk: Hunk, text: str) -> None:
    """Refuse an answer if its lines mean something else in the document than when parsed alone."""
    start, end = after.ranges[id(hunk)]
    opening, closing = after.brackets(start, end)
    try:
        alone = root_of(opening + text + closing)
    except KmergeError:
        return  # lines of a text or of an incomplete value; the lines around them are compared
    if not isinstance(alone, Collection) or (alone.flow and not opening):
        return
    there = list(_outermost(after.root, start, end))
    wanted: list[Entry] | None = list(alone.entries)
    while there and wanted is not None:
        names, wanted_names = ([entry.name for entry in some] for some in (there, wanted))
        pairs = zip(there, wanted, strict=False)
        if names == wanted_names and all(same_node(a.value, b.value) for a, b in pairs):
            return
        wanted = _with_fields_of_last(wanted)
    if there:
        raise Refused(
            "these lines would have a different meaning at this position; check their indentation"
        )


def _with_fields_of_last(entries: list[Entry]) -> list[Entry] | None:
    """Return list elements with the fields of the last element in place of this element.

    This is for lines that end in the middle of an element. Return None if the last entry is not an
    element with fields.
    """
    last = entries[-1] if entries else None
    if last is None or last.key is not None or not isinstance(last.value, Collection):
        return None
    return [*entries[:-1], *last.value.entries]


def _outermost(node: Node, start: int, end: int) -> Iterator[Entry]:
    """Yield the outermost entries that lie completely between two offsets."""
    entries = node.entries if isinstance(node, Collection) else ()
    first = bisect_right(entries, start, key=lambda entry: entry.end)
    for entry in entries[first : bisect_left(entries, end, key=lambda entry: entry.start)]:
        if start <= entry.line and entry.end <= end:
            yield entry
        else:
            yield from _outermost(entry.value, start, end)
