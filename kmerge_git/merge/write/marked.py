"""Where the markers of a result stand: its hunks widened, cut, and joined.

A hunk covers what could not be decided. What stands between markers is made for the person who
reads it: no half of a short element, no lines that both sides have, one conflict where git would
have one. However they are cut: all conflicts decided for one side are exactly that side.
"""

from __future__ import annotations

from kmerge_git.merge.write.cuts import Cut, differences, trimmed
from kmerge_git.merge.write.units import Version
from kmerge_git.text.markers import conflict
from kmerge_git.text.pieces import VERSIONS, Hunk, is_clean, side_text
from kmerge_git.text.undecided import without_placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.text.pieces import Pieces

# Lines that two differences may have between them and still be read as one, as git has it.
NEAR = 3


class Marked:
    """What stands between one pair of markers: the lines of each side, and the hunks it shows."""

    __slots__ = ("base", "hunks", "ours", "theirs")

    def __init__(self, base: str, ours: str, theirs: str, hunks: list[Hunk]) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.hunks = hunks


class Span:
    """Lines that differ, and the numbers of the hunks that they show."""

    __slots__ = ("b0", "b1", "cut", "first", "last")

    def __init__(self, b0: int, b1: int, cut: Cut, first: int, last: int) -> None:
        self.b0 = b0  # the lines of the base
        self.b1 = b1
        self.cut = cut
        self.first = first
        self.last = last

    def to(self, other: Span) -> Span:
        """The lines from here to the end of another span."""
        mine, yours = self.cut, other.cut
        cut = Cut(mine.o0, max(mine.o1, yours.o1), mine.t0, max(mine.t1, yours.t1))
        return Span(self.b0, max(self.b1, other.b1), cut, self.first, other.last)

    def longer(self, lines: int) -> Span:
        """With so many lines more, which are the same on all sides."""
        cut = Cut(self.cut.o0, self.cut.o1 + lines, self.cut.t0, self.cut.t1 + lines)
        return Span(self.b0, self.b1 + lines, cut, self.first, self.last)

    def part(self, cut: Cut) -> Span:
        """A part of the lines of both sides; there is no telling which of the base."""
        return Span(self.b0, self.b1, cut, self.first, self.last)


def marked(
    pieces: Pieces, at: Three[str], style: str = "merge", uncut: Collection[str] = ()
) -> list[str | Marked]:
    """The text of a document in pieces, with what stands between markers.

    `at`: the versions of the document; `uncut`: lines that must not come between markers.
    """
    if is_clean(pieces):
        return [side_text(pieces, "ours")]
    return _Marker(pieces, at, uncut).made(style)


class _Marker:
    """A text with hunks, decided for each version, and where in it the hunks are."""

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
                lines = piece.count("\n")  # it may begin or end within a line
                b, o, t = b + lines, o + lines, t + lines
                continue
            b1, o1, t1 = (
                n + _count(piece.side(v)) for n, v in zip((b, o, t), VERSIONS, strict=True)
            )
            number = len(self.spans)
            self.spans.append(Span(b, b1, Cut(o, o1, t, t1), number, number))
            b, o, t = b1, o1, t1

    def made(self, style: str) -> list[str | Marked]:
        found = self._widened()
        if style == "merge":
            found = self._joined([part for span in found for part in self._parts(span)], NEAR)
        else:
            found = self._joined(found, 0)
        if style == "zdiff3":
            found = [self._trimmed(span) for span in found]
        return [*self._pieces(found)]

    # -- no half of a short element

    def _widened(self) -> list[Span]:
        """The hunks, each with the rest of the short elements that begin in it."""
        found: list[Span] = []
        for span in self.spans:
            if not found or found[-1].last < span.last:
                found.append(self._wide(span))
        return found

    def _wide(self, span: Span) -> Span:
        """One hunk with the lines below it, and the hunks in these, that belong to its elements."""
        while True:
            cut = span.cut
            more = max(
                self.ours.begun(cut.o0, cut.o1) - cut.o1,
                self.theirs.begun(cut.t0, cut.t1) - cut.t1,
            )
            if not more:
                return span
            below = self.spans[span.last + 1] if span.last + 1 < len(self.spans) else None
            free = below.cut.o0 - cut.o1 if below is not None else len(self.ours.lines) - cut.o1
            lines = self.ours.lines[cut.o1 : cut.o1 + min(more, free)]
            if any(line in self.uncut for line in lines):
                return span
            span = span.longer(len(lines))
            if more > free:
                if below is None:
                    return span
                span = span.to(below)

    # -- no lines that both sides have

    def _parts(self, span: Span) -> list[Span]:
        cut = span.cut
        if cut.o0 == cut.o1 or cut.t0 == cut.t1 or self._is_one_line(cut):
            return [span]
        if any(hunk.is_whole for hunk in self.hunks[span.first : span.last + 1]):
            return [self._trimmed(span)]
        return [span.part(part) for part in differences(self.ours, self.theirs, cut)]

    def _is_one_line(self, cut: Cut) -> bool:
        """Whether one line stands against another: most conflicts are so, and need no reading."""
        lines = self.ours.lines[cut.o0 : cut.o1], self.theirs.lines[cut.t0 : cut.t1]
        return len(lines[0]) == len(lines[1]) == 1 and lines[0] != lines[1]

    def _trimmed(self, span: Span) -> Span:
        cut = span.cut
        if cut.o0 == cut.o1 or cut.t0 == cut.t1:
            return span
        return span.part(trimmed(self.ours, self.theirs, cut))

    # -- one conflict where git would have one

    def _joined(self, spans: list[Span], most: int) -> list[Span]:
        found: list[Span] = []
        for above, span in zip([None, *spans], spans, strict=False):
            if above is not None and self._is_one(above, span, most):
                found.append(found.pop().to(span))
            else:
                found.append(span)
        return found

    def _is_one(self, above: Span, below: Span, most: int) -> bool:
        """Whether two conflicts are near, and what stands between them may be in both sides."""
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
        """Whether all versions have the same lines between a hunk and one below it."""
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
    """The text with whole-line markers; the cause of the hunks stands behind our label."""
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
    """The lines of a text; the last one may be without an end."""
    return text.count("\n") + (not text.endswith("\n") and text != "")
