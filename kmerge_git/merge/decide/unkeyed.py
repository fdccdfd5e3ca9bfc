"""Merge lists without a key as sequences of elements, and check the laws of such a merge.

The law of counts: if only one side added or removed an element, the result follows that side. If
both sides added an element, the result has it once if both put it between the same neighbours, and
otherwise once or twice. The law of order: if two elements are in all versions, they follow the side
that changed their order.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import share_lines
from kmerge_git.kube.listkeys import ATOMIC
from kmerge_git.merge.decide.comments import takes_new_comments
from kmerge_git.merge.decide.order import arranged
from kmerge_git.merge.plan import Clash, Item, Keep, Note, Take, Why, has_clash
from kmerge_git.merge.three import Three, counted, cut, shared_start, under
from kmerge_git.text.diff3 import diff3
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon_of, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import TypeVar

    from kmerge_git.merge.decide.rules import Place, Table, Walker
    from kmerge_git.text.diff3 import Region
    from kmerge_git.tree.same import Known

    T = TypeVar("T")
    Keys = list[Hashable]


def merge_elements(walk: Walker, at: Three[Sequence | None], place: Place) -> list[Item]:
    """Merge the elements with diff3; merge elements by their fields where they align one to one.

    If elements were moved, or if the result of diff3 breaks one of the two laws of sequences, the
    elements are paired by their content. If that pairing is uncertain, the lists clash.
    """
    inner, bag = place.elements(at), place.where.list_rule().bag
    entries = at.map(lambda seq: list(seq.entries) if seq is not None else [])
    known: Known = {}
    keys = entries.map(lambda found: [canon_of(e.value, known) for e in found])
    trial = walk.trial()
    items = _by_regions(trial, keys, entries, inner, bag=bag)
    if not walk.rules.stops:
        walk.journal.adopt(trial.journal)
        return items
    doubt = _doubt(walk, keys, entries, items, known)
    if keys.base and (doubt or _are_moved(keys) or any(has_clash(i.plan) for i in items)):
        arranged = _arranged(walk, keys, entries, inner, bag=bag)
        if arranged is not None:
            return arranged
    if doubt:
        return _as_one(walk, keys, entries, inner, doubt)
    walk.journal.adopt(trial.journal)
    return items


def _by_regions(
    walk: Walker,
    keys: Three[list[Hashable]],
    entries: Three[list[Entry]],
    inner: Place,
    *,
    bag: bool,
) -> list[Item]:
    items: list[Item | None] = []
    for region in diff3(*keys.each(), adjacent_ok=True):
        part, named = cut(region, entries), cut(region, keys)
        if region.kind == "clash" and keys.base and _only_additions(named, bag=bag):
            items += _woven(walk, named, part, inner, region.b0)
        else:
            items += _region(walk, region, part, inner)
    return [item for item in items if item is not None]


def _doubt(
    walk: Walker,
    keys: Three[list[Hashable]],
    at: Three[list[Entry]],
    items: list[Item],
    known: Known,
) -> str:
    """If a merge of the elements cannot be right, return the reason; otherwise return ''."""
    merged = {
        id(entry)
        for item in items
        for entry in _entries_within(item)
        if not isinstance(item.plan, Keep | Take)
    }
    if merged:
        versions = zip(keys.each(), at.each(), strict=True)
        pairs = [zip(names, entries, strict=True) for names, entries in versions]
        keys = Three(*([key for key, e in found if id(e) not in merged] for found in pairs))
    result = [canon_of(i.plan.node, known) for i in items if isinstance(i.plan, Keep | Take)]
    if not is_lawful(keys, result):
        return Why.MOVED_AND_GONE if _comes_back(keys, result) else Why.ORDER
    _, riddles = walk.rules.renamed(_tables(keys, at, merged), (), ATOMIC)
    return next((riddle.why for riddle in riddles), "")


def _entries_within(item: Item) -> list[Entry]:
    """Return the entries of the three versions that an item replaces."""
    if isinstance(item.plan, Clash):
        return [entry for side in item.plan.at.each() for entry in side]
    return [entry for entry in (item.base, item.ours, item.theirs) if entry is not None]


def _tables(keys: Three[list[Hashable]], at: Three[list[Entry]], merged: set[int]) -> Three[Table]:
    """Return the elements by their content, without the elements that are already merged."""
    rest = at.map(lambda entries: [e for e in entries if id(e) not in merged])
    pairs = zip(keys.each(), rest.each(), strict=True)
    return Three(*(dict(zip(names, there, strict=True)) for names, there in pairs))


def _are_moved(keys: Three[list[Hashable]]) -> bool:
    """Return whether a side has the common elements in a different order."""
    stay = set(keys.base).intersection(keys.ours).intersection(keys.theirs)
    orders = keys.map(lambda names: [k for k in names if k in stay])
    return not orders.base == orders.ours == orders.theirs


def _comes_back(keys: Three[list[Hashable]], result: list[Hashable]) -> bool:
    """Return whether an element that one side deleted returns because the other side moved it."""
    counts, there = keys.map(counted), counted(result)
    for key, count in counts.base.items():
        ours, theirs = counts.ours.get(key, 0), counts.theirs.get(key, 0)
        if min(ours, theirs) < count == max(ours, theirs) and there.get(key, 0) > min(ours, theirs):
            return True
    return False


def _arranged(
    walk: Walker,
    keys: Three[list[Hashable]],
    entries: Three[list[Entry]],
    inner: Place,
    *,
    bag: bool,
) -> list[Item] | None:
    """Pair the elements by their content, and merge them in an order that follows the laws.

    Return None if the pairing or the order is uncertain.
    """
    if any(len(set(names)) < len(names) for names in keys.each()):
        return None
    counts = keys.map(counted)
    known = Gaps(keys, counts)
    own = [
        ("theirs", k) if k not in counts.base and k in counts.ours and not known.is_one(k) else k
        for k in keys.theirs
    ]
    tables = _tables(Three(keys.base, keys.ours, own), entries, set())
    followed, riddles = walk.rules.renamed(tables, (), ATOMIC)
    labels = tables.map(list)
    # likeness alone does not justify a merge that a line merge would not make
    is_certain = not riddles and followed.map(list).each() == labels.each()
    order = arranged(*labels.each()) if is_certain else None
    if order is None or _meet(labels, bag=bag):
        return None
    places = labels.map(lambda names: {name: n for n, name in enumerate(names)})
    items: list[Item] = []
    for label in order:
        at = under(tables, label)
        if at.ours is None and at.theirs is None:
            continue
        item = walk.entry(at, inner.step(_place_of(label, places)))
        if item is not None:
            items.append(item)
    return items


def _place_of(label: Hashable, places: Three[dict[Hashable, int]]) -> int:
    """Return the index of an element in base, or else its lowest index in the other versions."""
    numbers = [known[label] for known in places.each() if label in known]
    return numbers[0] if label in places.base else min(numbers)


def _meet(labels: Three[list[Hashable]], *, bag: bool) -> bool:
    """Return whether new elements of both sides meet, or new elements meet elements gone on both.

    With `bag` the order of the list has no meaning, and new elements may meet one another.
    """
    known = labels.map(set)
    gaps = Gaps(labels, labels.map(counted))
    ours, theirs, lost = (
        {gaps.behind(side, k) for k in labels.side(side) if k not in other and k not in third}
        for side, other, third in (
            ("ours", known.theirs, known.base),
            ("theirs", known.ours, known.base),
            ("base", known.ours, known.theirs),
        )
    )
    if lost & (ours | theirs):
        return True
    new = (known.ours & known.theirs) - known.base
    alike = [k for k in labels.ours if k in new] == [k for k in labels.theirs if k in new]
    return not bag and bool(ours & theirs or not alike)


def _as_one(
    walk: Walker, keys: Three[list[Hashable]], at: Three[list[Entry]], place: Place, why: str
) -> list[Item]:
    """Make one clash of the elements; keep the common start and end of all lists outside of it."""
    head = shared_start(keys.each())
    tail = shared_start([names[head:][::-1] for names in keys.each()])
    parts = at.map(lambda entries: entries[head : len(entries) - tail])
    ends = [*range(head), *range(-tail, 0)]
    outside = [walk.entry(at.map(lambda e, n=n: e[n]), place) for n in ends]  # type: ignore[misc]
    items = [*outside[:head], *walk.clash(parts, why, place), *outside[head:]]
    return [item for item in items if item is not None]


def _only_additions(keys: Three[list[Hashable]], *, bag: bool) -> bool:
    """Return whether both sides only added elements, and whether the additions can be merged.

    With `bag` the order of the list has no meaning; then every element of base must be on a side.
    Otherwise base must be empty, and one side must have all additions of the other side.
    """
    if any(len(set(found)) < len(found) for found in keys.each()):
        return False
    if bag:
        return {*keys.ours, *keys.theirs}.issuperset(keys.base)
    return not keys.base and _one_in_the_other(keys.ours, keys.theirs)


def _one_in_the_other(a: list[Hashable], b: list[Hashable]) -> bool:
    shorter, longer = sorted((a, b), key=len)
    there = set(shorter)
    return [key for key in longer if key in there] == shorter


def _woven(
    walk: Walker, keys: Three[list[Hashable]], at: Three[list[Entry]], inner: Place, first: int
) -> list[Item]:
    """Merge the elements; elements with equal content are one element."""
    tables = _tables(keys, at, set())
    items: dict[Hashable, Item] = {}
    for i, key in enumerate(dict.fromkeys([*tables.ours, *tables.theirs])):
        item = walk.entry(under(tables, key), inner.step(first + i))
        if item is not None:
            items[key] = item
    return [items[key] for key in walk.rules.order(tables, items, None) or items]


def _region(
    walk: Walker, region: Region, at: Three[list[Entry]], inner: Place
) -> list[Item | None]:
    places = [inner.step(region.b0 + i) for i in range(max(len(at.ours), len(at.theirs), 1))]
    aligned = len(at.base) == len(at.ours) == len(at.theirs) and _alike(at)
    if region.kind == "same" or aligned:
        trios = zip(at.base, at.ours, at.theirs, places, strict=False)
        return [walk.entry(Three(*trio), place) for *trio, place in trios]
    if region.kind == "both":
        pairs = zip(at.ours, at.theirs, places, strict=False)
        return [walk.entry(Three(None, *pair), place) for *pair, place in pairs]
    if region.kind != "clash" and takes_new_comments(at, region.kind):
        return [*walk.clash(at, Why.BOTH_CHANGED, places[0])]
    if region.kind == "ours":
        kept = zip(at.ours, places, strict=False)
        return [Item(Keep(e.value), e, None, place.path) for e, place in kept]
    if region.kind == "theirs":
        taken = list(zip(at.theirs, places, strict=False))
        walk.journal.write(Note(p.path, "changed", "theirs", "5") for _, p in taken)
        return [Item(Take(e.value, e), None, e, place.path) for e, place in taken]
    inside = _twins(walk, at, places) if not at.base else None
    if inside is not None:
        return inside
    return [*walk.clash(at, Why.BOTH_CHANGED if at.base else Why.BOTH_ADD_HERE, places[0])]


def _twins(walk: Walker, at: Three[list[Entry]], places: list[Place]) -> list[Item | None] | None:
    """Merge elements that both sides added and that begin alike, to have the conflict inside them.

    Elements without a key may be different elements even if they begin alike, and a merge without a
    conflict would hide that. If the merge has no conflict, or if the elements do not begin alike,
    return None, so that the elements clash as a whole.
    """
    pairs = list(zip(at.ours, at.theirs, strict=False))
    if len(at.ours) != len(at.theirs) or not all(_begin_alike(*pair) for pair in pairs):
        return None
    trial = walk.trial()
    items = [trial.entry(Three(None, *pair), p) for pair, p in zip(pairs, places, strict=False)]
    for item, (ours, theirs) in zip(items, pairs, strict=True):
        settled = item is None or not has_clash(item.plan)
        if settled and not same_node(ours.value, theirs.value):
            return None
    walk.journal.adopt(trial.journal)
    return items


def _begin_alike(ours: Entry, theirs: Entry) -> bool:
    """Return whether two elements have the same first field and similar fields below it."""
    a, b = ours.value, theirs.value
    if not (isinstance(a, Mapping) and isinstance(b, Mapping) and a.entries and b.entries):
        return False
    first, other = a.entries[0], b.entries[0]
    named = isinstance(first.value, Scalar) and not (a.flow or b.flow)
    return (
        named
        and first.name == other.name
        and same_node(first.value, other.value)
        and _likeness(ours, theirs)
    )


def _alike(at: Three[list[Entry]]) -> bool:
    """Return whether elements with the same index are versions of one another."""
    return all(
        _is_settled(base.value, ours.value, theirs.value)
        or (_likeness(base, ours) and _likeness(base, theirs))
        for base, ours, theirs in zip(at.base, at.ours, at.theirs, strict=True)
    )


def _is_settled(base: Node, ours: Node, theirs: Node) -> bool:
    """Return whether at most one side changed an element, or both changed it in the same way."""
    return same_node(base, ours) or same_node(base, theirs) or same_node(ours, theirs)


def _likeness(a: Entry, b: Entry) -> bool:
    if isinstance(a.value, Scalar):
        return isinstance(b.value, Scalar)
    if type(a.value) is not type(b.value):
        return False
    if any(isinstance(value, Collection) and not value.entries for value in (a.value, b.value)):
        return True  # a side filled or emptied the collection
    return share_lines(a.value.raw, b.value.raw)


def is_lawful(at: Three[Keys], result: Keys) -> bool:
    """Return whether a list is a merge of three lists that follows the laws of counts and order."""
    counts, there = at.map(counted), counted(result)
    gaps = Gaps(at, counts)
    for key in {**counts.base, **counts.ours, **counts.theirs, **there}:
        how_often = under(counts, key).map(lambda count: count or 0)
        low, high = _bounds(how_often, key not in counts.base and gaps.is_one(key))
        if not low <= there.get(key, 0) <= high:
            return False
    return _is_in_order(at, gaps.stay, there, result)


class Gaps:
    """Hold the gaps between common elements, where the sides added their elements."""

    __slots__ = ("_counts", "_orders", "_places", "_sets", "stay")

    def __init__(self, at: Three[Keys], counts: Three[dict[Hashable, int]]) -> None:
        self._counts = counts
        # keys that each version has once, in the order of base
        self.stay = [k for k in at.base if all(count.get(k) == 1 for count in counts.each())]
        members = set(self.stay)
        self._orders = at.map(lambda keys: [k for k in keys if k in members])
        self._places = at.map(lambda keys: _places(keys, members))
        self._sets: dict[tuple[str, int], frozenset[Hashable]] = {}

    def is_one(self, key: Hashable) -> bool:
        """Return whether both sides added an element once, behind the same common elements."""
        if not self._counts.ours.get(key) == self._counts.theirs.get(key) == 1:
            return False
        if self._orders.ours == self._orders.theirs:
            return self._places.ours[key] == self._places.theirs[key]
        return self.behind("ours", key) == self.behind("theirs", key)

    def behind(self, side: str, key: Hashable) -> frozenset[Hashable]:
        """Return the common elements that are in front of an element on a side."""
        place: tuple[str, int] = side, self._places.side(side)[key]
        if place not in self._sets:
            self._sets[place] = frozenset(self._orders.side(side)[: place[1]])
        return self._sets[place]


def _places(keys: Keys, members: set[Hashable]) -> dict[Hashable, int]:
    """Count the common elements in front of the first occurrence of each key."""
    places: dict[Hashable, int] = {}
    before = 0
    for key in keys:
        places.setdefault(key, before)
        before += key in members
    return places


def _bounds(counts: Three[int], is_one: bool) -> tuple[int, int]:
    """Return how often an element may occur in the result, as the least and the greatest number."""
    base, ours, theirs = counts.each()
    total = ours + theirs - base
    if base in (ours, theirs):
        return total, total
    if ours < base and theirs < base:
        return max(0, total), min(ours, theirs)
    if ours > base and theirs > base:
        most = max(ours, theirs)
        return most, most if is_one else total
    return max(0, total), max(0, total)


def _is_in_order(at: Three[Keys], stay: Keys, there: dict[Hashable, int], result: Keys) -> bool:
    members = {key for key in stay if there.get(key) == 1}
    orders = at.map(lambda keys: [k for k in keys if k in members])
    order = [k for k in result if k in members]
    if orders.ours == orders.base or orders.theirs in (orders.base, orders.ours):
        return order == (orders.theirs if orders.ours == orders.base else orders.ours)
    from kmerge_git.merge.decide.order import arranged

    return order == arranged(*orders.each())
