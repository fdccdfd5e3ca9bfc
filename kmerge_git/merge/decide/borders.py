"""Where the lines of an entry end, seen by all three versions.

What stands below a list, in the column of its dashes, is above the next key, until an element is
added below it, or commented in or out: then it is in the list. So lines below an entry are its own
in all versions if one version has them in it.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Collection, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from typing import TypeVar

    C = TypeVar("C", bound=Collection)
    Names = dict[int, Hashable]  # of entries, by their ids
    Counts = dict[str, int]


def drawn(at: Three[C], names: Three[Names]) -> tuple[Three[C], Three[Names]]:
    """The collections with the same lines in each entry, and the names of their entries."""
    while any((ends := _ends(at, names)).each()):  # it ends: lines only come in
        made = Three(*map(_with_ends, at.each(), ends.each()))
        names = Three(*map(_renamed, names.each(), at.each(), made.each()))
        at = made
    return at, names


def _renamed(names: Names, old: Collection, new: Collection) -> Names:
    pairs = zip(old.entries, new.entries, strict=True)
    return {id(after): names[id(before)] for before, after in pairs}


def _ends(at: Three[C], names: Three[Names]) -> Three[dict[int, int]]:
    """For numbers of entries where their lines end, if that is further down than they know."""
    found: Three[dict[int, int]] = Three({}, {}, {})
    tables = Three(*map(_blocks, at.each(), names.each()))
    for name in tables.base:
        if name not in tables.ours or name not in tables.theirs:
            continue
        numbers = Three(*(table[name] for table in tables.each()))
        below = Three(*map(_below, at.each(), numbers.each()))
        if not any(
            "#" in c.text[slice(*span)] for c, span in zip(at.each(), below.each(), strict=True)
        ):
            continue
        spans = zip(at.each(), numbers.each(), strict=True)
        inside = Three(*(_counts(c, (c.entries[n].line, c.entries[n].end)) for c, n in spans))
        outside = Three(*map(_counts, at.each(), below.each()))
        for side in ("base", "ours", "theirs"):
            end = _end(at.side(side), below.side(side), side, inside, outside)
            if end:
                found.side(side)[numbers.side(side)] = end
    return found


def _blocks(made: Collection, names: Names) -> dict[Hashable, int]:
    """The numbers of the entries that hold a block collection."""
    return {
        names[id(entry)]: number
        for number, entry in enumerate(made.entries)
        if isinstance(entry.value, Collection) and not entry.value.flow
    }


def _below(made: Collection, number: int) -> tuple[int, int]:
    """The lines between an entry and the next one, or the end of the collection."""
    entries = made.entries
    last = number + 1 == len(entries)
    return entries[number].end, made.bottom if last else entries[number + 1].line


def _comments(made: Collection, span: tuple[int, int]) -> Iterator[tuple[str, int]]:
    """The comment lines of a span, with their ends."""
    at, stop = span
    while at < stop:
        end = made.text.find("\n", at, stop) + 1 or stop
        line = made.text[at:end].strip(" \t\r\n")
        if line.startswith("#"):
            yield line, end
        at = end


def _counts(made: Collection, span: tuple[int, int]) -> Counts:
    counts: Counts = {}
    for line, _ in _comments(made, span):
        counts[line] = counts.get(line, 0) + 1
    return counts


def _end(
    made: Collection,
    below: tuple[int, int],
    side: str,
    inside: Three[Counts],
    outside: Three[Counts],
) -> int:
    """The end of the last line below an entry that another version has in it; 0: there is none."""
    end = 0
    others = [other for other in ("base", "ours", "theirs") if other != side]
    seen: Counts = {}
    for line, stop in _comments(made, below):
        seen[line] = nth = seen.get(line, 0) + 1
        if any(
            inside.side(other).get(line, 0) - inside.side(side).get(line, 0) >= nth
            and outside.side(other).get(line, 0) < outside.side(side)[line]
            for other in others
        ):
            end = stop
    return end


def _with_ends(made: C, ends: dict[int, int]) -> C:
    """A collection whose entries have other last lines."""
    if not ends:
        return made
    entries: list[Entry] = []
    floor = -1
    for number, entry in enumerate(made.entries):
        end = ends.get(number, entry.end)
        lead = max(entry.lead, floor)
        new = entry
        if end != entry.end or lead != entry.lead:
            new = Entry(entry.start, end, lead, max(entry.attached, lead), entry.line)
            new.key, new.value = entry.key, entry.value
        value = entry.value
        if end != entry.end and isinstance(value, Collection):
            new.value = value.with_entries(value.entries, value.top, end)
        entries.append(new)
        floor = end if number in ends else -1
    return made.with_entries(tuple(entries), made.top, made.bottom)
