"""The comments that stand among the entries of a collection (see `asides`), put back there."""

from __future__ import annotations

from kmerge_git.merge.decide.asides import FOOT, with_lead
from kmerge_git.merge.decide.comments import merge_lines
from kmerge_git.merge.decide.order import inserted
from kmerge_git.merge.plan import Clash, Item, Remark
from kmerge_git.merge.three import Three
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.tree.nodes import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from collections.abc import Collection as Kept

    from kmerge_git.merge.decide.asides import Asides
    from kmerge_git.merge.plan import Line, Lines

    Merge = Callable[[Three[list[Line]]], Lines | None]
    Row = list[int]  # items by their numbers, comment n of base as -1 - n, what is gone above all


def put_back(asides: Asides, items: list[Item], merge: Merge) -> tuple[list[Item], Lines | None]:
    """The items with the comments among them; where no item is left, the comments alone."""
    path = items[0].path[:-1] if items else ()
    numbers = _numbers(asides, items)
    outside = _outside(asides, items, numbers)
    inside: set[tuple[str, Hashable]] = set()
    items = [_with_own_comments(asides, item, outside, inside) for item in items]
    made: dict[Hashable, Item] = {}
    for token in dict.fromkeys(t for row in asides.tokens.each() for t in row):
        if isinstance(token, Entry):
            continue
        at = Three(
            *(None if (s, token) in inside else asides.lines.side(s).get(token) for s in VERSIONS)
        )
        lines = _merged(at, token, merge, stands=token in outside)
        if lines:
            made[token] = Item(Remark(lines), None, None, path)
    if not items:
        found = [made[t] for t in sorted(made, key=lambda t: (t == FOOT, t))]
        return [], [part for item in found for part in item.plan.parts]  # type: ignore[attr-defined]
    foot = [made.pop(FOOT)] if FOOT in made else []
    rows = asides.tokens.map(lambda tokens: _row(tokens, numbers))
    order = _order(rows, items, made)
    return [*(items[n] if n >= 0 else made[-1 - n] for n in order), *foot], None


def switched(asides: Asides, items: list[Item]) -> list[int]:
    """The items that one side commented in, where the other took the commented line away."""
    ours, theirs = (set(asides.lines.side(side)) for side in ("ours", "theirs"))
    gone = {
        lines[-1].lstrip("#").strip()
        for token, lines in asides.lines.base.items()
        if token != FOOT and token not in ours and token not in theirs
    }
    if not gone:
        return []
    found = []
    for number, item in enumerate(items):
        entry = item.ours or item.theirs
        alone = item.base is None and (item.ours is None) != (item.theirs is None)
        if alone and entry is not None and not isinstance(item.plan, Clash):
            text = entry.value.text
            if text[entry.start : text.find("\n", entry.start)].strip() in gone:
                found.append(number)
    return found


def _numbers(asides: Asides, items: list[Item]) -> dict[int, int]:
    """The numbers of the items by the ids of their entries, and of all that have their names."""
    names = {id_: name for side in asides.names.each() for id_, name in side.items()}
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


def _outside(asides: Asides, items: list[Item], numbers: dict[int, int]) -> set[Hashable]:
    """The comments that both sides have, but for those that stand within one conflict."""
    around: list[dict[Hashable, int]] = []
    for tokens in (asides.tokens.ours, asides.tokens.theirs):
        found: dict[Hashable, int] = {}
        waiting: list[Hashable] = []
        above = -1
        for token in tokens:
            if not isinstance(token, Entry):
                waiting.append(token)
                continue
            number = numbers.get(id(token), -1)
            within = number == above >= 0 and isinstance(items[number].plan, Clash)
            found.update(dict.fromkeys(waiting, number if within else -1))
            waiting, above = [], number
        around.append(found | dict.fromkeys(waiting, -1))
    ours, theirs = around
    return {t for t in ours if t in theirs and not (ours[t] == theirs[t] >= 0)}


def _with_own_comments(
    asides: Asides, item: Item, outside: set[Hashable], inside: set[tuple[str, Hashable]]
) -> Item:
    """A conflict whose entries have those of their comments that stand nowhere else."""
    clash = item.plan
    if not isinstance(clash, Clash):
        return item
    firsts = [entries[0] for entries in clash.at.each() if entries]
    sides: list[list[Entry]] = []
    for side in VERSIONS:
        starts = _own_starts(asides, side, outside)
        sides.append([])
        for entry in clash.at.side(side):
            start, tokens = starts.get(id(entry), (entry.lead, []))
            inside.update((side, token) for token in tokens)
            sides[-1].append(with_lead(entry, start) if tokens else entry)
    at = Three(*sides)
    is_lead = any(entry not in firsts for entries in at.each() for entry in entries[:1])
    shows_lead = clash.with_lead or is_lead
    plan = Clash(at, clash.why, clash.where, with_lead=shows_lead, refused=clash.refused)
    return item.but(plan, item.theirs, None if plan.with_lead else item.lead)


def _own_starts(
    asides: Asides, side: str, outside: set[Hashable]
) -> dict[int, tuple[int, list[Hashable]]]:
    """For entries of a side where their own comments start, and which these are."""
    found: dict[int, tuple[int, list[Hashable]]] = {}
    own: list[Hashable] = []
    for token in asides.tokens.side(side):
        if isinstance(token, Entry):
            if own:
                found[id(token)] = asides.starts.side(side)[own[0]], own
            own = []
        else:
            own = [] if token in outside else [*own, token]
    return found


def _merged(at: Three[list[Line] | None], token: Hashable, merge: Merge, *, stands: bool) -> Lines:
    """A comment of base with what the sides put above it, or only that; or what is at the foot."""
    base, ours, theirs = at.each()
    if token == FOOT:
        rest = at.map(lambda lines: lines or [])
        return merge(rest) or [rest.ours]
    if not stands or base is None or ours is None or theirs is None:
        left = [side[:-1] for side in (ours, theirs) if side and any(side[:-1])]
        return [*left]
    above = Three(base[:-1], ours[:-1], theirs[:-1])
    own = merge_lines(Three(base[-1:], ours[-1:], theirs[-1:]))
    return [*(merge(above) or [above.ours]), *(own or [ours[-1:]])]


# -- where they go


def _row(tokens: list[Hashable], numbers: dict[int, int]) -> Row:
    found: dict[int, None] = {}
    for token in tokens:
        if isinstance(token, Entry):
            found[numbers.get(id(token), len(numbers) + id(token))] = None
        elif token != FOOT:
            found[-1 - token] = None  # type: ignore[operator]
    return list(found)


def _order(rows: Three[Row], items: list[Item], made: Kept[Hashable]) -> Row:
    """The items in their order with the comments among them.

    Every comment stands where ours has it, or theirs where they alone moved it or all the order.
    """
    count, there = len(items), set(rows.theirs)
    both = {n for n in rows.ours if n in there}
    shared = [n for n in range(count) if n in both]
    canvas, other, behind = rows.ours, rows.theirs, _added(items) - both
    if _only(canvas, shared) != shared and _only(other, shared) == shared:
        canvas, other, behind = other, canvas, set()
    moved = _moved(rows.base, canvas, other, both, shared)
    stay = [n for n in canvas if n not in moved]
    order = inserted(stay, set(stay), other, behind=behind)
    kept = [n for n in order if (n < count if n >= 0 else -1 - n in made)]
    if _only(kept, shared) == shared and len(_only(kept, [*range(count)])) == count:
        return kept
    return _beside(kept, count)


def _added(items: list[Item]) -> set[int]:
    """The items that base has not; a conflict is about what it had."""
    found = enumerate(items)
    return {n for n, item in found if item.base is None and not isinstance(item.plan, Clash)}


def _moved(base: Row, canvas: Row, other: Row, both: set[int], shared: Row) -> set[int]:
    """The comments that the other side alone put below another item."""
    old = _only(shared, base)
    before, here, there = (_above(row, old) for row in (base, canvas, other))
    moved = {n for n in both if n < 0 and before.get(n) == here[n] != there[n]}
    return moved | _out_of_order(base, canvas, other, both)


def _out_of_order(base: Row, canvas: Row, other: Row, both: set[int]) -> set[int]:
    """The comments that the other side alone put in another order."""
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
    """For every comment the item above it that both sides have."""
    found: dict[int, int] = {}
    last, there = -1, set(shared)
    for number in row:
        if number < 0:
            found[number] = last
        elif number in there:
            last = number
    return found


def _beside(kept: Row, count: int) -> Row:
    """The items in their own order, each comment behind the item that it follows."""
    behind: dict[int, list[int]] = {}
    last = -1
    for number in kept:
        if number >= 0:
            last = number
        else:
            behind.setdefault(last, []).append(number)
    result = behind.get(-1, [])
    for number in range(count):
        result += [number, *behind.get(number, [])]
    return result
