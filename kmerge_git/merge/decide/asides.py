"""Comment lines that a side has at another entry than base: they stand among the entries.

A line above an entry, at the top or at the bottom of a collection belongs to what stands there.
When an entry comes or goes, or is commented in or out, what base had there can become the lead of
another entry, though nobody touched it; with such changes on both sides it would be lost, or be
there twice. So those lines are parted from the entries: each is there once, if no side took it
away, beside what it stood beside.
"""

from __future__ import annotations

from kmerge_git.merge.decide.borders import drawn
from kmerge_git.merge.decide.comments import comment_lines
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Collection, Entry
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import TypeVar

    from kmerge_git.merge.decide.rules import Place
    from kmerge_git.merge.plan import Line

    C = TypeVar("C", bound=Collection)
    Keys = dict[int, Hashable]  # of entries, by their ids
    Where = tuple[int, int]  # the offsets of a line


class Asides:
    """What was parted from the entries of a collection in each version."""

    __slots__ = ("lines", "names", "place", "starts", "tokens")

    def __init__(self, parts: Three[_Parted], names: Three[Keys], place: Place) -> None:
        self.place = place
        self.tokens = parts.map(lambda part: part.tokens)
        self.lines = parts.map(lambda part: part.lines)
        self.starts = parts.map(lambda part: part.starts)
        self.names = names


def part(
    at: Three[C | None], names: Three[Keys], place: Place
) -> tuple[Three[C | None], Asides | None]:
    """The collections without the comments that stand among their entries, and those comments.

    `names` tells entries that are one by the same name.
    """
    assert at.base is not None and at.ours is not None and at.theirs is not None  # `may_part`
    there, names = drawn(Three(at.base, at.ours, at.theirs), names)
    if there.base is not at.base or there.ours is not at.ours or there.theirs is not at.theirs:
        at = Three(*there.each())
    slots = Three(*map(_Slots, there.each(), names.each()))
    base = slots.base
    pairs = slots.map(base.aligned)
    loose = _loose(slots, pairs)
    if not loose:
        return at, None
    ends: set[Hashable] = {
        end
        for side, where in zip(slots.each(), pairs.each(), strict=True)
        for end in side.around(side.at[where[n]] for n in loose if n in where)
        if end in (HEAD, FOOT)
    }
    numbers = pairs.map(lambda where: {where[n]: n for n in loose if n in where})
    parted = Three(
        *(
            _Parted(*each, ends)
            for each in zip(there.each(), slots.each(), numbers.each(), strict=True)
        )
    )
    known = Three(*map(_named, names.each(), there.each(), parted.each()))
    return parted.map(lambda found: found.view), Asides(parted, known, place)  # type: ignore[arg-type,return-value]


def names_by(tables: Three[dict[Hashable, Entry]]) -> Three[Keys]:
    """The names of entries that have keys."""
    return tables.map(lambda table: {id(entry): key for key, entry in table.items()})


def names_in(lists: Three[C | None]) -> Three[Keys]:
    """The names of elements without keys: what is equal, or changed in its place, has one name."""
    from kmerge_git.text.diff3 import diff

    at = lists.map(lambda made: made.entries if made is not None else ())
    keys = at.map(lambda entries: [canon(entry.value) for entry in entries])

    def named(side: str) -> Keys:
        found: Keys = {}
        entries, i, j = at.side(side), 0, 0
        end = (len(keys.base), len(keys.base), len(entries), len(entries))
        for i0, i1, j0, j1 in [*diff(keys.base, keys.side(side)), end]:
            same = i0 - i == j0 - j
            found |= {id(entries[j + n]): i + n if same else (side, j + n) for n in range(j0 - j)}
            found |= {id(entries[j0 + n]): i0 + n for n in range(j1 - j0)}
            i, j = i1, j1
        return found

    return Three(named("base"), named("ours"), named("theirs"))


def _named(names: Keys, old: Collection, new: _Parted) -> Keys:
    pairs = zip(old.entries, new.view.entries, strict=True)
    return {id(after): names[id(before)] for before, after in pairs}


HEAD, FOOT = "head", "foot"


class _Slots:
    """The comment lines of a collection, and the place of each: above an entry, head, or foot."""

    __slots__ = ("at", "lines", "top", "where")

    def __init__(self, made: Collection, names: Keys) -> None:
        self.lines: list[str] = []
        self.where: list[Where] = []
        self.at: list[Hashable] = []
        entries, text = made.entries, made.text
        self.top = {HEAD, (names[id(entries[0])],)}  # one follows the other, blank lines part them
        self._read(text, made.top, entries[0].lead, HEAD)
        for entry in entries:
            if entry.lead < entry.line:
                self._read(text, entry.lead, entry.line, (names[id(entry)],))
        self._read(text, entries[-1].end, made.bottom, FOOT)

    def _read(self, text: str, start: int, stop: int, slot: Hashable) -> None:
        while start < stop:
            end = text.find("\n", start, stop) + 1 or stop
            bare = text[start:end].strip(" \t\r\n")
            if bare:
                self.lines.append(bare)
                self.where.append((start, end))
                self.at.append(slot)
            start = end

    def around(self, places: Iterable[Hashable]) -> set[Hashable]:
        """Places, and what stands with the first of them."""
        found = set(places)
        return found | self.top if found & self.top else found

    def aligned(self, side: _Slots) -> dict[int, int]:
        """For lines of base the line of a side that is the same: in its place, or elsewhere."""
        from kmerge_git.text.diff3 import diff

        found: dict[int, int] = {}
        there = side.numbers()
        for place, mine in self.numbers().items():
            yours = there.get(place, [])
            texts = [self.lines[n] for n in mine], [side.lines[m] for m in yours]
            for i0, i1, j0, _ in diff(*texts):
                found.update(zip(mine[i0:i1], yours[j0:], strict=False))
        taken = set(found.values())
        left: dict[str, list[int]] = {}
        for m, line in enumerate(side.lines):
            if m not in taken:
                left.setdefault(line, []).append(m)
        for n, line in enumerate(self.lines):
            if n not in found and left.get(line):
                found[n] = left[line].pop(0)
        return found

    def numbers(self) -> dict[Hashable, list[int]]:
        """The numbers of the lines in each place."""
        found: dict[Hashable, list[int]] = {}
        for n, place in enumerate(self.at):
            found.setdefault(place, []).append(n)
        return found


def _loose(slots: Three[_Slots], pairs: Three[dict[int, int]]) -> list[int]:
    """The lines of base that stand among the entries.

    Those that a side has at another place, and all that stand with one of them anywhere.
    """
    base = slots.base
    sides = ((slots.ours, pairs.ours), (slots.theirs, pairs.theirs))
    loose = {n for side, at in sides for n, m in at.items() if base.at[n] != side.at[m]}
    known = -1
    while known < len(loose):
        known = len(loose)
        places = base.around(base.at[n] for n in loose)
        loose |= {n for n in range(len(base.lines)) if base.at[n] in places}
        for side, at in sides:
            places = side.around(side.at[at[n]] for n in loose if n in at)
            loose |= {n for n, m in at.items() if side.at[m] in places}
    return sorted(loose)


class _Parted:
    """A collection without its loose comments, and these in order among its entries.

    A token is an entry, the number of a line of base, or `foot`: what is left at the bottom.
    `lines` has for a comment where the lines above it, itself, and it begin and end.
    """

    __slots__ = ("lines", "starts", "tokens", "view")

    def __init__(
        self, made: Collection, slots: _Slots, loose: dict[int, int], ends: set[Hashable]
    ) -> None:
        self.tokens: list[Hashable] = []
        self.lines: dict[Hashable, list[Line]] = {}
        self.starts: dict[Hashable, int] = {}
        above: list[tuple[int, Where]] = [(loose[m], slots.where[m]) for m in sorted(loose)]
        text, column, first = made.text, made.column, made.entries[0]
        entries: list[Entry] = []
        for entry in made.entries:
            lead = made.top if entry is first and HEAD in ends else entry.lead
            while above and above[0][1][0] < entry.line:
                n, (_, end) = above.pop(0)
                self._add(n, lead, comment_lines(text[lead:end], column))
                lead = end
            entries.append(entry if lead == entry.lead else with_lead(entry, lead))
            self.tokens.append(entries[-1])
        top = entries[0].lead if HEAD in ends else made.top
        start = bottom = entries[-1].end
        for n, (_, end) in above:
            self._add(n, start, comment_lines(text[start:end], column))
            start = end
        if FOOT in ends:
            self._add(FOOT, start, comment_lines(text[start : made.bottom], column))
        else:
            bottom = made.bottom
        self.view = made.with_entries(tuple(entries), top, bottom)

    def _add(self, token: Hashable, start: int, lines: list[Line]) -> None:
        self.tokens.append(token)
        self.starts[token] = start
        self.lines[token] = lines


def with_lead(entry: Entry, lead: int) -> Entry:
    """The same entry with other lines above it."""
    made = Entry(entry.start, entry.end, lead, max(entry.attached, lead), entry.line)
    made.key, made.value = entry.key, entry.value
    return made
