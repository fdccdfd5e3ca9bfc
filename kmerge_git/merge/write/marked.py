"""Decide where conflict markers go: hunks are made wider, cut into parts, and joined.

A hunk covers text that could not be decided. The text between markers is made for the person who
reads it: it has no half of a short entry and no lines that both sides have, and there is one
conflict wherever git would have one. To find the differences, two lists of units are aligned. Equal
units stay outside of conflicts. If an entry, an element or a document differs between the sides,
the units inside it are aligned in turn. However the hunks are cut, deciding all conflicts for one
side gives exactly that side.
"""

from __future__ import annotations

from operator import itemgetter

from kmerge_git.kube.likeness import (
    BETTER_THAN_NONE,
    MOST_COMPARISONS,
    SAME_PLACE,
    SAME_SHORT,
    bag,
    likeness,
)
from kmerge_git.merge.write.units import Version, are_one, can_differ, share_first_line
from kmerge_git.text.diff3 import diff
from kmerge_git.text.markers import conflict
from kmerge_git.text.pieces import VERSIONS, Hunk, is_clean, side_text, without_placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.merge.write.units import Unit
    from kmerge_git.text.pieces import Pieces

    Units = list[Unit]
    Pair = tuple[Unit, Unit]


# At most this many lines separate differences that become one conflict, as in git.
NEAR = 3


class Marked:
    """Hold the text between one pair of markers: the lines of each side, and their hunks."""

    __slots__ = ("base", "hunks", "ours", "theirs")

    def __init__(self, base: str, ours: str, theirs: str, hunks: list[Hunk]) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.hunks = hunks


class Span:
    """Hold the range of lines that differ, and the numbers of the hunks in this range."""

    __slots__ = ("b0", "b1", "cut", "first", "last")

    def __init__(self, b0: int, b1: int, cut: Cut, first: int, last: int) -> None:
        self.b0 = b0  # the lines of the base
        self.b1 = b1
        self.cut = cut
        self.first = first
        self.last = last

    def to(self, other: Span) -> Span:
        """Return a span from the start of this span to the end of another span."""
        mine, yours = self.cut, other.cut
        cut = Cut(mine.o0, max(mine.o1, yours.o1), mine.t0, max(mine.t1, yours.t1))
        return Span(self.b0, max(self.b1, other.b1), cut, self.first, other.last)

    def longer(self, up: int, down: int) -> Span:
        """Return the span with more lines above and below, which are the same on all sides."""
        o0, o1, t0, t1 = self.cut.o0, self.cut.o1, self.cut.t0, self.cut.t1
        cut = Cut(o0 - up, o1 + down, t0 - up, t1 + down)
        return Span(self.b0 - up, self.b1 + down, cut, self.first, self.last)

    def part(self, cut: Cut) -> Span:
        """Return a span with some of the lines of both sides, and with the same lines of base."""
        return Span(self.b0, self.b1, cut, self.first, self.last)


def marked(
    pieces: Pieces, at: Three[str], style: str = "merge", uncut: Collection[str] = ()
) -> list[str | Marked]:
    """Divide a document into text without conflicts and text that goes between markers.

    `at` has the versions of the document; lines in `uncut` must not come between markers.
    """
    if is_clean(pieces):
        return [side_text(pieces, "ours")]
    return _Marker(pieces, at, uncut).made(style)


class _Marker:
    """Hold the text of each version with all hunks decided for it, and the spans of the hunks."""

    __slots__ = ("at", "base", "hunks", "ours", "spans", "theirs", "uncut")

    def __init__(self, pieces: Pieces, at: Three[str], uncut: Collection[str]) -> None:
        self.at = at
        self.uncut = uncut
        self.base, self.ours, self.theirs = (Version(side_text(pieces, v)) for v in VERSIONS)
        self.hunks = [piece for piece in pieces if isinstance(piece, Hunk)]
        self.spans: list[Span] = []
        b = o = t = 0
        for piece in pieces:
            if isinstance(piece, str):
                lines = piece.count("\n")  # the piece may begin or end within a line
                b, o, t = b + lines, o + lines, t + lines
                continue
            b1, o1, t1 = (
                n + _count(piece.side(v)) for n, v in zip((b, o, t), VERSIONS, strict=True)
            )
            number = len(self.spans)
            self.spans.append(Span(b, b1, Cut(o, o1, t, t1), number, number))
            b, o, t = b1, o1, t1

    def made(self, style: str) -> list[str | Marked]:
        spans = self._widened()
        if style == "merge":
            spans = self._joined([part for span in spans for part in self._parts(span)], NEAR)
        else:
            spans = self._joined(spans, 0)
        if style == "zdiff3":
            spans = [self._trimmed(span) for span in spans]
        return [*self._pieces(spans)]

    # -- no half of a short entry or element

    def _widened(self) -> list[Span]:
        """Return the spans of the hunks, extended to whole short entries and elements."""
        widened: list[Span] = []
        for span in self.spans:
            if not widened or widened[-1].last < span.last:
                widened.append(self._wide(span, widened))
        return widened

    def _wide(self, span: Span, above: list[Span]) -> Span:
        """Widen a span to the ends of its entries, and over the hunks in these entries.

        If the span reaches the last span above, it takes that span out of the list.
        """
        while True:
            cut = span.cut
            columns = self.ours.column(cut.o0, cut.o1), self.theirs.column(cut.t0, cut.t1)
            is_moved = None not in columns and columns[0] != columns[1]
            o0, o1 = self.ours.whole(cut.o0, cut.o1, is_moved=is_moved)
            t0, t1 = self.theirs.whole(cut.t0, cut.t1, is_moved=is_moved)
            up, down = max(cut.o0 - o0, cut.t0 - t0), max(o1 - cut.o1, t1 - cut.t1)
            if not up and not down:
                return span
            below = self.spans[span.last + 1] if span.last + 1 < len(self.spans) else None
            ceiling = above[-1].cut.o1 if above else 0
            floor = below.cut.o0 if below is not None else len(self.ours.lines)
            start, end = max(cut.o0 - up, ceiling), min(cut.o1 + down, floor)
            more = self.ours.lines[start : cut.o0] + self.ours.lines[cut.o1 : end]
            if any(line in self.uncut for line in more):
                return span
            span = span.longer(cut.o0 - start, end - cut.o1)
            if cut.o0 - up < ceiling:
                span = above.pop().to(span)
            if cut.o1 + down > floor and below is not None:
                span = span.to(below)
            elif span.cut.o0 == cut.o0 and span.cut.o1 == cut.o1:
                return span

    # -- no lines that both sides have

    def _parts(self, span: Span) -> list[Span]:
        cut = span.cut
        if cut.o0 == cut.o1 or cut.t0 == cut.t1 or self._is_one_line(cut):
            return [span]
        if any(hunk.is_whole for hunk in self.hunks[span.first : span.last + 1]):
            return [self._trimmed(span)]
        return [span.part(part) for part in differences(self.ours, self.theirs, cut)]

    def _is_one_line(self, cut: Cut) -> bool:
        """Return whether a conflict is about one line; such a conflict needs no parsing."""
        lines = self.ours.lines[cut.o0 : cut.o1], self.theirs.lines[cut.t0 : cut.t1]
        return len(lines[0]) == len(lines[1]) == 1 and lines[0] != lines[1]

    def _trimmed(self, span: Span) -> Span:
        cut = span.cut
        if cut.o0 == cut.o1 or cut.t0 == cut.t1:
            return span
        return span.part(trimmed(self.ours, self.theirs, cut))

    # -- one conflict where git would have one

    def _joined(self, spans: list[Span], most: int) -> list[Span]:
        joined: list[Span] = []
        for above, span in zip([None, *spans], spans, strict=False):
            if above is not None and self._is_one(above, span, most):
                joined.append(joined.pop().to(span))
            else:
                joined.append(span)
        return joined

    def _is_one(self, above: Span, below: Span, most: int) -> bool:
        """Return whether two conflicts are near and may be joined with the lines between them."""
        a, b = above.cut, below.cut
        between = self.ours.lines[a.o1 : b.o0]
        if len(between) > most or any(line in self.uncut for line in between):
            return False
        is_next = bool(between) and above.last < below.first
        if is_next and not self._is_old(above.last, below.first):
            return False
        known = []
        if a.o0 < a.o1 and b.o0 < b.o1:
            known.append(self.ours.are_neighbours((a.o0, a.o1), (b.o0, b.o1)))
        if a.t0 < a.t1 and b.t0 < b.t1:
            known.append(self.theirs.are_neighbours((a.t0, a.t1), (b.t0, b.t1)))
        return bool(known) and all(known)

    def _is_old(self, first: int, second: int) -> bool:
        """Return whether all versions have the same lines between two hunks."""
        above, below = self.hunks[first], self.hunks[second]
        start, end = self.spans[first].cut.o1, self.spans[second].cut.o0
        between = "".join(self.ours.lines[start:end])
        return all(above.side(v) + between + below.side(v) in self.at.side(v) for v in VERSIONS)

    def _pieces(self, spans: list[Span]) -> Iterator[str | Marked]:
        at = 0
        for span in spans:
            cut = span.cut
            yield "".join(self.ours.lines[at : cut.o0])
            ours = "".join(self.ours.lines[cut.o0 : cut.o1])
            theirs = "".join(self.theirs.lines[cut.t0 : cut.t1])
            base = "".join(self.base.lines[span.b0 : span.b1])
            hunks = self.hunks[span.first : span.last + 1]
            yield ours if ours == theirs else Marked(base, ours, theirs, hunks)
            at = cut.o1
        yield "".join(self.ours.lines[at:])


def spell(
    pieces: list[str | Marked],
    cause: Callable[[list[Hunk]], str],
    labels: tuple[str, str, str],
    size: int,
    style: str,
) -> str:
    """Return the text with marker lines; our label is followed by the cause of the conflict."""
    base, ours, theirs = labels
    out = []
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
            continue
        why = cause(piece.hunks)
        mine = " ".join(part for part in (ours, f"({why})" if why else "") if part)
        old = without_placeholders(piece.base) if style in ("diff3", "zdiff3") else None
        out.append(conflict(piece.ours, old, piece.theirs, (mine, base, theirs), size))
    return "".join(out)


def _count(text: str) -> int:
    """Count the lines of a text; the last line may lack a line end."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


class Cut:
    """Hold lines that differ: our lines from o0 to o1, and their lines from t0 to t1."""

    __slots__ = ("o0", "o1", "t0", "t1")

    def __init__(self, o0: int, o1: int, t0: int, t1: int) -> None:
        self.o0 = o0
        self.o1 = o1
        self.t0 = t0
        self.t1 = t1

    def swapped(self) -> Cut:
        """Return the same lines with the sides exchanged."""
        return Cut(self.t0, self.t1, self.o0, self.o1)


def trimmed(ours: Version, theirs: Version, within: Cut) -> Cut:
    """Drop the units with which both sides begin or end from lines that differ."""
    cut = Cut(within.o0, within.o1, within.t0, within.t1)
    mine, yours = ours.units(cut.o0, cut.o1), theirs.units(cut.t0, cut.t1)
    while True:
        while mine and yours and mine[0].text == yours[0].text:
            cut.o0, cut.t0 = mine.pop(0).end, yours.pop(0).end
        while mine and yours and mine[-1].text == yours[-1].text:
            cut.o1, cut.t1 = mine.pop().start, yours.pop().start
        if not (len(mine) == len(yours) == 1 and _pairs(mine, yours)):
            return cut
        mine, yours = ours.inside(mine[0]), theirs.inside(yours[0])


def differences(ours: Version, theirs: Version, within: Cut) -> list[Cut]:
    """Return the differences within lines that differ, the same whichever side is ours."""
    mine, yours = ours.units(within.o0, within.o1), theirs.units(within.t0, within.t1)
    if [unit.text for unit in yours] < [unit.text for unit in mine]:
        return [cut.swapped() for cut in _differences(theirs, ours, yours, mine, within.swapped())]
    return _differences(ours, theirs, mine, yours, within)


def _differences(
    ours: Version, theirs: Version, mine: Units, yours: Units, within: Cut
) -> list[Cut]:
    """Return the differences of two lists of units, which hold all differing lines of the sides."""
    keys = ([unit.name for unit in units if unit.is_field] for units in (mine, yours))
    if _are_turned(*keys):  # or a key would be in two of the conflicts
        return [_around(mine, yours)]
    cuts: list[Cut] = []
    o0, t0 = within.o0, within.t0
    for one, other in _pairs(mine, yours):
        cuts.append(Cut(o0, one.start, t0, other.start))
        if one.text != other.text:
            inside = Cut(one.start, one.end, other.start, other.end)
            parts = ours.inside(one), theirs.inside(other)
            cuts += _differences(ours, theirs, *parts, inside)
        o0, t0 = one.end, other.end
    cuts.append(Cut(o0, within.o1, t0, within.t1))
    return [cut for cut in cuts if cut.o0 < cut.o1 or cut.t0 < cut.t1]


def _around(mine: Units, yours: Units) -> Cut:
    """Return the lines of two lists of units without the equal units at the start and the end."""
    size = min(len(mine), len(yours))
    head = next((n for n in range(size) if mine[n].text != yours[n].text), 0)
    ends = range(1, size - head + 1)
    tail = next((n for n in ends if mine[-n].text != yours[-n].text), 1)
    return Cut(mine[head].start, mine[-tail].end, yours[head].start, yours[-tail].end)


def _are_turned(mine: Collection[Hashable], yours: Collection[Hashable]) -> bool:
    """Return whether two lists have common names in different orders."""
    common = set(mine).intersection(yours)
    return [name for name in mine if name in common] != [name for name in yours if name in common]


def _pairs(mine: Units, yours: Units) -> list[Pair]:
    """Pair equal units; between these, pair units that are versions of one thing."""
    pairs: list[Pair] = []
    for i0, i1, j0, j1, is_same in _laid([one.text for one in mine], [one.text for one in yours]):
        left, right = mine[i0:i1], yours[j0:j1]
        pairs += zip(left, right, strict=True) if is_same else _namesakes(left, right)
    return pairs


def _namesakes(mine: Units, yours: Units) -> list[Pair]:
    """Pair versions of one thing: entries and documents by name, other units by similarity."""
    pairs: list[Pair] = []
    names = [[object() if u.name is None else u.name for u in units] for units in (mine, yours)]
    for i0, i1, j0, j1, is_same in _laid(*names):
        left, right = mine[i0:i1], yours[j0:j1]
        if is_same:
            found = zip(left, right, strict=True)
            pairs += [
                pair
                for pair in found
                if _may_part(*pair) and can_differ(pair[0].node, pair[1].node)
            ]
        else:
            pairs += _alike(left, right)
    return pairs


def _laid(mine: list[Hashable], yours: list[Hashable]) -> Iterator[tuple[int, int, int, int, bool]]:
    """Divide two lists into ranges (i0, i1, j0, j1), and say for each whether the lists agree."""
    i = j = 0
    for i0, i1, j0, j1 in [*diff(mine, yours), (len(mine), len(mine), len(yours), len(yours))]:
        if i < i0 or j < j0:
            yield i, i0, j, j0, False
        if i0 < i1:
            yield i0, i1, j0, j1, True
        i, j = i1, j1


def _alike(mine: Units, yours: Units) -> list[Pair]:
    """Return the pairs of units, in order, whose similarities have the greatest sum."""
    left, right = _comparable(mine, yours)
    bags = [bag(unit.text) for unit in right]
    least = SAME_PLACE if len(left) > 1 or len(right) > 1 else 0.0  # only one pair is possible
    # best[j]: the greatest total likeness of the units so far with the first j other units
    best: list[tuple[float, list[Pair]]] = [(0.0, [])] * (len(right) + 1)
    for one in left:
        row, lines = [best[0]], bag(one.text)
        for j, other in enumerate(right):
            here = max(best[j + 1], row[j], key=itemgetter(0))
            share = _share(one, other, likeness(lines, bags[j]), least)
            if best[j][0] + share > here[0] and can_differ(one.node, other.node):
                here = best[j][0] + share, [*best[j][1], (one, other)]
            row.append(here)
        best = row
    return best[-1][1]


def _comparable(mine: Units, yours: Units) -> tuple[Units, Units]:
    """Return the units to compare for similarity.

    If there are too many, return only the long units, or none.
    """
    left = [unit for unit in mine if unit.thing is not None]
    right = [unit for unit in yours if unit.thing is not None]
    if len(left) * len(right) > MOST_COMPARISONS:
        left = [unit for unit in left if unit.is_long]
        right = [unit for unit in right if unit.is_long]
    return (left, right) if len(left) * len(right) <= MOST_COMPARISONS else ([], [])


def _share(one: Unit, other: Unit, share: float, least: float) -> float:
    """Return how likely two units are versions of one thing, or 0 if they must not be divided."""
    if one.is_bare and other.is_bare:
        return share + BETTER_THAN_NONE
    is_one = one.is_element and other.is_element and are_one(one, other)
    if one.is_long and other.is_long:
        is_alike = share >= least
    else:  # two versions of one rule may be divided, two different rules must not
        is_alike = is_one is None and share >= SAME_SHORT and _fields_apart(one, other) == 1
    if not (is_one or is_alike) or not _may_part(one, other):
        return 0.0
    return share + bool(is_one) + BETTER_THAN_NONE


def _may_part(one: Unit, other: Unit) -> bool:
    """Return whether parts of two units may be separated from their common lines.

    If a person accepts both sides, the differing parts occur twice below one first line. This would
    destroy two short units with different first lines. In elements that have their fields in
    different orders, it would repeat a field. Two documents without `---` become one in any case.
    """
    if (one.is_long and other.is_long) or (one.is_bare and other.is_bare):
        return True
    # the same fields in different orders would be there twice
    return share_first_line(one, other) and not _are_turned(one.fields, other.fields)


def _fields_apart(one: Unit, other: Unit) -> int:
    """Return how many fields of two elements differ in their text."""
    mine, yours = one.fields, other.fields
    return sum(mine.get(name) != yours.get(name) for name in mine | yours)
