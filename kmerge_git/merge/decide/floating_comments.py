"""Take floating comments out of the entries of a collection, and put them back after the merge.

A comment above an entry belongs to that entry; a comment at the top or at the bottom of a
collection belongs to the collection. If an entry is added, deleted, commented in or commented out,
a comment of the base can come to belong to another entry although nobody touched the comment. With
such changes on both sides the comment would be lost or doubled. Therefore the lines of such
comments are taken out of the entries. Each comment returns once, next to its old neighbour, unless
a side deleted the comment.

Lines below a list, in the column of its dashes, belong to the next key. They belong to the list as
soon as an element below them is added, commented in or commented out. Therefore lines below an
entry count as part of the entry in all versions if they are part of the entry in one version.
"""

from __future__ import annotations

from kmerge_git.merge.decide.comments import comment_lines, merge_lines
from kmerge_git.merge.decide.order import inserted
from kmerge_git.merge.plan import Clash, Item, Remark
from kmerge_git.merge.three import Three, counted, grouped
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.tree.nodes import Collection, Entry
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from collections.abc import Collection as Kept
    from typing import TypeVar

    from kmerge_git.merge.decide.rules import Place
    from kmerge_git.merge.plan import Line, Lines

    C = TypeVar("C", bound=Collection)
    Keys = dict[int, Hashable]  # of entries, by their ids
    Counts = list[dict[str, int]]  # of comment lines, in each version
    Merge = Callable[[Three[list[Line]]], Lines | None]
    Row = list[int]  # numbers of items; comment n of base is -1 - n


class FloatingComments:
    """Hold the comments that were taken out of the entries of a collection, for each version."""

    __slots__ = ("names", "parts", "place")

    def __init__(self, parts: Three[_Parted], names: Three[Keys], place: Place) -> None:
        self.parts = parts
        self.names = names
        self.place = place


def part(
    versions: Three[C | None], names: Three[Keys], place: Place
) -> tuple[Three[C | None], FloatingComments | None]:
    """Return the collections without their floating comments, and the floating comments.

    `names` gives an entry the same name in all versions.
    """
    at, names = _with_same_ends(_all_there(versions), names)
    slots = Three(*map(_Slots, at.each(), names.each()))
    pairs = slots.map(slots.base.aligned)
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
    trios = zip(at.each(), slots.each(), numbers.each(), strict=True)
    parted = Three(*(_Parted(*trio, ends) for trio in trios))
    views = parted.map(lambda part: part.view)
    names = Three(*map(_renamed, names.each(), at.each(), views.each()))
    return views, FloatingComments(parted, names, place)  # type: ignore[return-value]


def names_by(tables: Three[dict[Hashable, Entry]]) -> Three[Keys]:
    """Return the names of entries that have keys."""
    return tables.map(lambda table: {id(entry): key for key, entry in table.items()})


def names_in(versions: Three[C | None]) -> Three[Keys]:
    """Name elements that have no keys.

    Equal elements get the same name, and so do versions of an element that was changed in place. If
    a side moved elements, the names are those by which the lists are merged.
    """
    from kmerge_git.merge.decide.unkeyed import are_moved
    from kmerge_git.text.diff3 import diff

    lists = _all_there(versions)
    keys = lists.map(lambda made: [canon(entry.value) for entry in made.entries])
    if are_moved(keys):
        from kmerge_git.merge.decide.element_pairs import pair  # few lists need it

        entries = lists.map(lambda made: list(made.entries))
        pairs = zip(entries.each(), pair(keys, entries).labels.each(), strict=True)
        return Three(*({id(e): n for e, n in zip(*p, strict=True)} for p in pairs))

    def named(side: str) -> Keys:
        names: Keys = {}
        entries, i, j = lists.side(side).entries, 0, 0
        end = (len(keys.base), len(keys.base), len(entries), len(entries))
        for i0, i1, j0, j1 in [*diff(keys.base, keys.side(side)), end]:
            same = i0 - i == j0 - j
            names |= {id(entries[j + n]): i + n if same else (side, j + n) for n in range(j0 - j)}
            names |= {id(entries[j0 + n]): i0 + n for n in range(j1 - j0)}
            i, j = i1, j1
        return names

    return Three(*map(named, VERSIONS))


def _all_there(at: Three[C | None]) -> Three[C]:
    """Return three collections that `may_part` accepted, typed as not None."""
    return at  # type: ignore[return-value]


def _renamed(names: Keys, old: Collection, new: Collection) -> Keys:
    pairs = zip(old.entries, new.entries, strict=True)
    return {id(after): names[id(before)] for before, after in pairs}


HEAD, FOOT = "head", "foot"


class _Slots:
    """Hold the comment lines of a collection and their places: above an entry, `head` or `foot`."""

    __slots__ = ("at", "lines", "top", "where")

    def __init__(self, made: Collection, names: Keys) -> None:
        entries = made.entries
        slots = [(names[id(entry)],) for entry in entries]
        self.top = {HEAD, slots[0]}  # only blank lines separate these two places
        spans = [
            (HEAD, made.top, entries[0].lead),
            *((slot, e.lead, e.line) for slot, e in zip(slots, entries, strict=True)),
            (FOOT, entries[-1].end, made.bottom),
        ]
        rows = [(slot, *row) for slot, *span in spans for row in _lines(made.text, *span)]
        self.at: list[Hashable] = [row[0] for row in rows]
        self.lines = [row[1] for row in rows]
        self.where = [row[2:] for row in rows]

    def around(self, places: Iterable[Hashable]) -> set[Hashable]:
        """Return the places; if one of them is at the top, add all other places at the top."""
        whole = set(places)
        return whole | self.top if whole & self.top else whole

    def aligned(self, side: _Slots) -> dict[int, int]:
        """Map each line of base to the same line on a side, at the same place if possible."""
        from kmerge_git.text.diff3 import diff

        pairs: dict[int, int] = {}
        there = side.numbers()
        for place, mine in self.numbers().items():
            yours = there.get(place, [])
            texts = [self.lines[n] for n in mine], [side.lines[m] for m in yours]
            for i0, i1, j0, _ in diff(*texts):
                pairs.update(zip(mine[i0:i1], yours[j0:], strict=False))
        taken = set(pairs.values())
        left = grouped((line, m) for m, line in enumerate(side.lines) if m not in taken)
        for n, line in enumerate(self.lines):
            if n not in pairs and left.get(line):
                pairs[n] = left[line].pop(0)
        return pairs

    def numbers(self) -> dict[Hashable, list[int]]:
        """Map each place to the numbers of its lines."""
        return grouped((place, n) for n, place in enumerate(self.at))


def _lines(text: str, start: int, stop: int) -> Iterator[tuple[str, int, int]]:
    """Return the lines of a span that are not blank, with their offsets."""
    while start < stop:
        end = text.find("\n", start, stop) + 1 or stop
        line = text[start:end].strip(" \t\r\n")
        if line:
            yield line, start, end
        start = end


def _loose(slots: Three[_Slots], pairs: Three[dict[int, int]]) -> list[int]:
    """Return the lines of base that float between the entries.

    A line floats if a side has it at another place. If one line at a place floats in any version,
    all lines at that place float.
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
    """Hold a collection without its floating comments, and those comments in order.

    A token is an entry, the number of a line of base, or `foot` for the other lines at the bottom.
    `lines` has the lines of a token, `starts` the offset of its first line.
    """

    __slots__ = ("lines", "starts", "tokens", "view")

    def __init__(
        self, made: Collection, slots: _Slots, loose: dict[int, int], ends: set[Hashable]
    ) -> None:
        self.tokens: list[Hashable] = []
        self.lines: dict[Hashable, list[Line]] = {}
        self.starts: dict[Hashable, int] = {}
        above = [(loose[m], slots.where[m]) for m in sorted(loose)]
        text, column, first = made.text, made.column, made.entries[0]
        entries: list[Entry] = []
        for entry in made.entries:
            lead = made.top if entry is first and HEAD in ends else entry.lead
            while above and above[0][1][0] < entry.line:
                n, (_, end) = above.pop(0)
                self._add(n, lead, comment_lines(text[lead:end], column))
                lead = end
            entries.append(entry if lead == entry.lead else _moved_lines(entry, lead, entry.end))
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


def _moved_lines(entry: Entry, lead: int, end: int) -> Entry:
    """Return the same entry with new limits of the lines above and below it."""
    moved = Entry(entry.start, end, lead, max(entry.attached, lead), entry.line)
    moved.key, moved.value = entry.key, entry.value
    return moved


def put_back(
    floating: FloatingComments, items: list[Item], merge: Merge
) -> tuple[list[Item], Lines | None]:
    """Put the comments back among the items, and return the items.

    If there are no items, return only the comments.
    """
    path = items[0].path[:-1] if items else ()
    numbers = _numbers(floating, items)
    outside = _outside(floating, items, numbers)
    inside: set[tuple[str, Hashable]] = set()
    items = [_with_own_comments(floating, item, outside, inside) for item in items]
    remarks: dict[Hashable, Item] = {}
    for token in dict.fromkeys(t for part in floating.parts.each() for t in part.tokens):
        if isinstance(token, Entry):
            continue
        parts = zip(VERSIONS, floating.parts.each(), strict=True)
        at = Three(*(None if (s, token) in inside else p.lines.get(token) for s, p in parts))
        lines = _merged(at, token, merge, stands=token in outside)
        if lines:
            remarks[token] = Item(Remark(lines), None, None, path)
    if not items:
        alone = [remarks[t] for t in sorted(remarks, key=lambda t: (t == FOOT, t))]
        return [], [part for item in alone for part in item.plan.parts]  # type: ignore[attr-defined]
    foot = [remarks.pop(FOOT)] if FOOT in remarks else []
    order = _order(floating.parts.map(lambda part: _row(part.tokens, numbers)), items, remarks)
    return [*(items[n] if n >= 0 else remarks[-1 - n] for n in order), *foot], None


def switched(floating: FloatingComments, items: list[Item]) -> list[int]:
    """Return the items that one side commented in while the other side deleted the comment."""
    base, ours, theirs = (part.lines for part in floating.parts.each())
    gone = {
        lines[-1].lstrip("#").strip()
        for token, lines in base.items()
        if token != FOOT and token not in ours and token not in theirs
    }
    return [n for n, item in enumerate(items) if gone and _new_line(item) in gone]


def _new_line(item: Item) -> str | None:
    """Return the first line of an entry that only one side added."""
    entry = item.ours or item.theirs
    is_alone = item.base is None and (item.ours is None or item.theirs is None)
    if not is_alone or entry is None or isinstance(item.plan, Clash):
        return None
    text = entry.value.text
    return text[entry.start : text.find("\n", entry.start)].strip()


def _numbers(floating: FloatingComments, items: list[Item]) -> dict[int, int]:
    """Map the ids of all entries to the number of the item with the same name."""
    names = {id_: name for side in floating.names.each() for id_, name in side.items()}
    known: dict[int, int] = {}
    by_name: dict[Hashable, int] = {}
    for number, item in enumerate(items):
        entries = [item.ours, item.replaces, item.theirs, item.base]
        if isinstance(item.plan, Clash):
            entries += [entry for side in item.plan.at.each() for entry in side]
        for entry in entries:
            if entry is not None:
                known.setdefault(id(entry), number)
                by_name.setdefault(names.get(id(entry)), number)
    return {id_: by_name[name] for id_, name in names.items() if name in by_name} | known


def _outside(
    floating: FloatingComments, items: list[Item], numbers: dict[int, int]
) -> set[Hashable]:
    """Return the comments that both sides have, except comments within a single conflict."""
    around: list[dict[Hashable, int]] = []
    for part in (floating.parts.ours, floating.parts.theirs):
        conflicts: dict[Hashable, int] = {}
        waiting: list[Hashable] = []
        above = -1
        for token in part.tokens:
            if not isinstance(token, Entry):
                waiting.append(token)
                continue
            number = numbers.get(id(token), -1)
            within = number == above >= 0 and isinstance(items[number].plan, Clash)
            conflicts.update(dict.fromkeys(waiting, number if within else -1))
            waiting, above = [], number
        around.append(conflicts | dict.fromkeys(waiting, -1))
    ours, theirs = around
    return {t for t in ours if t in theirs and not (ours[t] == theirs[t] >= 0)}


def _with_own_comments(
    floating: FloatingComments,
    item: Item,
    outside: set[Hashable],
    inside: set[tuple[str, Hashable]],
) -> Item:
    """Give the entries of a conflict their own floating comments back.

    Comments that are put back outside of the conflict are omitted.
    """
    clash = item.plan
    if not isinstance(clash, Clash):
        return item
    firsts = [entries[0] for entries in clash.at.each() if entries]
    sides: list[list[Entry]] = []
    for side in VERSIONS:
        starts = _own_starts(floating, side, outside)
        sides.append([])
        for entry in clash.at.side(side):
            start, tokens = starts.get(id(entry), (entry.lead, []))
            inside.update((side, token) for token in tokens)
            sides[-1].append(_moved_lines(entry, start, entry.end) if tokens else entry)
    at = Three(*sides)
    is_lead = any(entry not in firsts for entries in at.each() for entry in entries[:1])
    shows_lead = clash.with_lead or is_lead
    plan = Clash(at, clash.why, clash.where, with_lead=shows_lead, refused=clash.refused)
    return item.but(plan, item.theirs, None if plan.with_lead else item.lead)


def _own_starts(
    floating: FloatingComments, side: str, outside: set[Hashable]
) -> dict[int, tuple[int, list[Hashable]]]:
    """Map the ids of a side's entries to their own comments and the offset where these start."""
    starts: dict[int, tuple[int, list[Hashable]]] = {}
    own: list[Hashable] = []
    part = floating.parts.side(side)
    for token in part.tokens:
        if isinstance(token, Entry):
            if own:
                starts[id(token)] = part.starts[own[0]], own
            own = []
        else:
            own = [] if token in outside else [*own, token]
    return starts


def _merged(at: Three[list[Line] | None], token: Hashable, merge: Merge, *, stands: bool) -> Lines:
    """Merge a comment of base and the new lines above it, or merge the lines at the foot."""
    base, ours, theirs = at.each()
    if token == FOOT:
        rest = at.map(lambda lines: lines or [])
        return merge(rest) or [rest.ours]
    if not stands or base is None or ours is None or theirs is None:
        return [*[side[:-1] for side in (ours, theirs) if side and any(side[:-1])]]
    above = Three(base[:-1], ours[:-1], theirs[:-1])
    own = merge_lines(Three(base[-1:], ours[-1:], theirs[-1:]))
    return [*(merge(above) or [above.ours]), *(own or [ours[-1:]])]


# -- the places of the comments


def _row(tokens: list[Hashable], numbers: dict[int, int]) -> Row:
    row: dict[int, None] = {}
    for token in tokens:
        if isinstance(token, Entry):
            row[numbers.get(id(token), len(numbers) + id(token))] = None
        elif token != FOOT:
            row[-1 - token] = None  # type: ignore[operator]
    return list(row)


def _order(rows: Three[Row], items: list[Item], made: Kept[Hashable]) -> Row:
    """Return the order of the items with the comments among them.

    Every comment keeps its place in our version unless only their side moved the comment or
    reordered the items.
    """
    count, there = len(items), set(rows.theirs)
    both = {n for n in rows.ours if n in there}
    shared = [n for n in range(count) if n in both]
    # a conflict counts as an item of base
    added = {n for n, i in enumerate(items) if i.base is None and not isinstance(i.plan, Clash)}
    canvas, other, behind = rows.ours, rows.theirs, added - both
    if _only(canvas, shared) != shared and _only(other, shared) == shared:
        canvas, other, behind = other, canvas, set()
    moved = _moved(rows.base, canvas, other, both, shared)
    stay = [n for n in canvas if n not in moved]
    order = inserted(stay, set(stay), other, behind=behind)
    kept = [n for n in order if (n < count if n >= 0 else -1 - n in made)]
    if _only(kept, shared) == shared and len(_only(kept, [*range(count)])) == count:
        return kept
    return _each_behind_its_item(kept, count)


def _moved(base: Row, canvas: Row, other: Row, both: set[int], shared: Row) -> set[int]:
    """Return the comments that `other` put below a different item and `canvas` left in place."""
    old = _only(shared, base)
    before, here, there = (_above(row, old) for row in (base, canvas, other))
    moved = {n for n in both if n < 0 and before.get(n) == here[n] != there[n]}
    return moved | _out_of_order(base, canvas, other, both)


def _out_of_order(base: Row, canvas: Row, other: Row, both: set[int]) -> set[int]:
    """Return the comments whose order `other` changed and `canvas` did not."""
    comments = [n for n in canvas if n < 0 and n in both]
    there = _only(other, comments)
    if there == comments or _only(base, comments) != comments:
        return set()
    from kmerge_git.text.diff3 import diff

    stay = {n for start, end, _, _ in diff(comments, there) for n in comments[start:end]}
    return set(comments) - stay


def _only(row: Row, wanted: list[int]) -> Row:
    there = set(wanted)
    return [n for n in row if n in there]


def _above(row: Row, shared: list[int]) -> dict[int, int]:
    """Map every comment to the nearest item above it that both sides have."""
    above: dict[int, int] = {}
    last, there = -1, set(shared)
    for number in row:
        if number < 0:
            above[number] = last
        elif number in there:
            last = number
    return above


def _each_behind_its_item(kept: Row, count: int) -> Row:
    """Return the items in their own order, with each comment behind the item above it."""
    above = _above(kept, [*range(count)])
    behind = grouped((above[number], number) for number in kept if number < 0)
    result = behind.get(-1, [])
    for number in range(count):
        result += [number, *behind.get(number, [])]
    return result


def _with_same_ends(at: Three[C], names: Three[Keys]) -> tuple[Three[C], Three[Keys]]:
    """Extend entries so that each entry has the same lines below it in all versions.

    Return the collections and the names of their new entries.
    """
    while any(ends := _ends(at.each(), names.each())):  # the loop ends, because entries only grow
        extended = Three(*map(_with_ends, at.each(), ends))
        names = Three(*map(_renamed, names.each(), at.each(), extended.each()))
        at = extended
    return at, names


def _ends(versions: tuple[C, ...], names: tuple[Keys, ...]) -> list[dict[int, int]]:
    """Return, by number, the later end of each entry that ends further down in another version."""
    ends: list[dict[int, int]] = [{} for _ in versions]
    tables = list(map(_blocks, versions, names))
    for name in tables[0].keys() & tables[1].keys() & tables[2].keys():
        numbers = [table[name] for table in tables]
        below = [
            _comments(*pair) for pair in zip(versions, map(_below, versions, numbers), strict=True)
        ]
        if not any(below):
            continue
        outside = [counted(line for line, _ in lines) for lines in below]
        entries = [made.entries[n] for made, n in zip(versions, numbers, strict=True)]
        inside = [
            counted(line for line, _ in _comments(made, (entry.line, entry.end)))
            for made, entry in zip(versions, entries, strict=True)
        ]
        for side, number in enumerate(numbers):
            end = _end(side, below[side], inside, outside)
            if end:
                ends[side][number] = end
    return ends


def _blocks(made: Collection, names: Keys) -> dict[Hashable, int]:
    """Return the numbers of the entries that hold a block collection."""
    return {
        names[id(entry)]: number
        for number, entry in enumerate(made.entries)
        if isinstance(entry.value, Collection) and not entry.value.flow
    }


def _below(made: Collection, number: int) -> tuple[int, int]:
    """Return the range from an entry to the next entry, or to the end of the collection."""
    entries = made.entries
    last = number + 1 == len(entries)
    return entries[number].end, made.bottom if last else entries[number + 1].line


def _comments(made: Collection, span: tuple[int, int]) -> list[tuple[str, int]]:
    """Return the comment lines of a range of text, each with the offset of its end."""
    return [(line, end) for line, _, end in _lines(made.text, *span) if line[0] == "#"]


def _end(side: int, below: list[tuple[str, int]], inside: Counts, outside: Counts) -> int:
    """Return the end of the last line below an entry that another version has inside the entry.

    Return 0 if there is no such line.
    """
    end = 0
    seen: dict[str, int] = {}
    for line, stop in below:
        seen[line] = nth = seen.get(line, 0) + 1
        if any(
            there.get(line, 0) - inside[side].get(line, 0) >= nth
            and others.get(line, 0) < outside[side][line]
            for there, others in zip(inside, outside, strict=True)
        ):
            end = stop
    return end


def _with_ends(made: C, ends: dict[int, int]) -> C:
    """Return a collection whose entries end at the given offsets."""
    if not ends:
        return made
    entries: list[Entry] = []
    floor = -1
    for number, entry in enumerate(made.entries):
        end, lead, new = ends.get(number, entry.end), max(entry.lead, floor), entry
        if end != entry.end or lead != entry.lead:
            new = _moved_lines(entry, lead, end)
        if end != entry.end and isinstance(entry.value, Collection):
            new.value = entry.value.with_entries(entry.value.entries, entry.value.top, end)
        entries.append(new)
        floor = end if number in ends else -1
    return made.with_entries(tuple(entries), made.top, made.bottom)
