"""Merge lists without a key as sequences of elements, and check the laws of such a merge.

The law of counts: if only one side added or removed an element, the result follows that side. If
both sides added an element, the result has it once if the two additions have a common neighbour,
and otherwise twice. The law of order: if two elements are in all versions, they follow the side
that changed their order.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import is_named_alike, share_lines
from kmerge_git.kube.listkeys import ATOMIC
from kmerge_git.merge.decide.comments import takes_new_comments
from kmerge_git.merge.decide.order import MOST_ARRANGED, arranged, in_place
from kmerge_git.merge.decide.rules import ElementPairs
from kmerge_git.merge.plan import Build, Clash, Item, Keep, Note, Take, Why, has_clash
from kmerge_git.merge.three import Three, counted, cut, is_part, shared_start, under, whose_by
from kmerge_git.text.diff3 import diff3
from kmerge_git.text.shared_edits import diff3_once
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Scalar, Sequence
from kmerge_git.tree.same import canon_of, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from typing import TypeVar

    from kmerge_git.merge.decide.rules import Keys, Place, Table, Walker
    from kmerge_git.text.diff3 import Region
    from kmerge_git.tree.same import Known

    T = TypeVar("T")


def merge_elements(walk: Walker, at: Three[Sequence | None], place: Place) -> list[Item]:
    """Merge the elements with diff3; merge elements by their fields where they align one to one.

    If elements were moved, or if the result of diff3 breaks one of the two laws of sequences, the
    elements are paired (see `element_pairs`). If that pairing is uncertain, the lists conflict.
    """
    inner, bag = place.elements(at), place.where.list_rule().bag
    entries = at.map(lambda seq: list(seq.entries) if seq is not None else [])
    known: Known = {}
    keys = entries.map(lambda found: [canon_of(e.value, known) for e in found])
    named = _by_repeated_names(walk, keys, entries, inner, bag=bag)
    if named is not None:
        return named
    trial = walk.trial()
    items = _by_regions(trial, keys, entries, inner, bag=bag)
    if not walk.rules.stops:
        walk.journal.adopt(trial.journal)
        return items
    if _are_moved_only_by_repetition(keys) and not _comes_back(
        keys, _result_of(items, keys, entries)
    ):
        walk.journal.adopt(trial.journal)
        return items
    is_moved = are_moved(keys)
    pairs = _pairs(keys, entries, is_moved=is_moved)
    doubt = pairs.why or _doubt(walk, pairs, entries, items, bag=bag)
    is_open = place.path in walk.opened  # a conflict inside of an element is wanted
    may_arrange = not pairs.why and not is_open and keys.base
    if may_arrange and (doubt or is_moved or any(has_clash(item.plan) for item in items)):
        second = walk.trial()
        arranged = _arranged(second, keys, pairs.labels, entries, inner, bag=bag)
        if arranged is not None:
            _mark_guesses(arranged, items)
            items, trial, doubt = arranged, second, ""
    doubt = doubt or _two_versions(items, keys, entries)
    if doubt:
        return _as_one(walk, keys, entries, inner, doubt)
    walk.journal.adopt(trial.journal)
    return items


def _by_repeated_names(
    walk: Walker,
    keys: Three[list[Hashable]],
    entries: Three[list[Entry]],
    inner: Place,
    *,
    bag: bool,
) -> list[Item] | None:
    """Merge elements whose names repeat; return None if that would leave a conflict."""
    if not (
        walk.rules.stops and keys.base and all(isinstance(e.value, Mapping) for e in entries.base)
    ):
        return None
    from kmerge_git.merge.decide.repeated_names import labels  # few names repeat

    found = labels(keys, entries)
    order = arranged(*found.each()) if found is not None else None
    if found is None or order is None or _meet(found, bag=bag):
        return None
    trial = walk.trial()
    items = _in_order(trial, order, found, entries, inner)
    if any(has_clash(item.plan) for item in items) or _two_versions(items, keys, entries):
        return None
    walk.journal.adopt(trial.journal)
    return items


def _in_order(
    walk: Walker,
    order: list[Hashable],
    labels: Three[list[Hashable]],
    entries: Three[list[Entry]],
    inner: Place,
) -> list[Item]:
    """Merge the elements that have the same label, in this order; additions keep their place."""
    tables = _tables(labels, entries, set())
    places = labels.map(lambda names: {name: n for n, name in enumerate(names)})
    items: dict[Hashable, Item] = {}
    for label in order:
        at = under(tables, label)
        if at.ours is not None or at.theirs is not None:
            # the index in base, or else the lowest one
            numbers = [known[label] for known in places.each() if label in known]
            number = numbers[0] if label in places.base else min(numbers)
            item = walk.entry(at, inner.step(number))
            if item is not None:
                items[label] = item
    placed = in_place(list(items), *labels.each(), _certain(labels, entries))
    return [items[label] for label in placed]


def _certain(labels: Three[list[Hashable]], entries: Three[list[Entry]]) -> set[Hashable]:
    """Return the additions whose place counts: none is a scalar, or an edited older element.

    A scalar that one side alone added may be the value of the option in front of it.
    """
    base, ours, theirs = labels.map(set).each()
    if any(isinstance(entry.value, Scalar) for there in entries.each() for entry in there):
        return (ours & theirs) - base
    kept = [side for side in (ours, theirs) if base <= side]
    return set().union(*kept, ours & theirs) - base


def _pairs(
    keys: Three[list[Hashable]], entries: Three[list[Entry]], *, is_moved: bool
) -> ElementPairs:
    """Pair the elements of three lists.

    It is enough to compare their contents if no side moved an element, and if no content was added
    by both sides or lost on both sides.
    """
    base, ours, theirs = keys.map(counted).each()
    both_added = any(min(n, theirs.get(key, 0)) > base.get(key, 0) for key, n in ours.items())
    both_lost = any(max(ours.get(k, 0), theirs.get(k, 0)) < n for k, n in base.items())
    if not (is_moved or both_added or both_lost):
        return ElementPairs(keys)
    from kmerge_git.merge.decide.element_pairs import pair  # few lists need it

    return pair(keys, entries)


def are_moved(keys: Three[list[Hashable]]) -> bool:
    """Return whether a side has elements of base in a different order."""
    for side in (keys.ours, keys.theirs):
        stay = set(keys.base).intersection(side)
        kept = [key for key in keys.base if key in stay]
        now = [key for key in side if key in stay]
        if kept != now and not (is_part(kept, now) or is_part(now, kept)):
            return True
    return False


def _are_moved_only_by_repetition(keys: Three[list[Hashable]]) -> bool:
    """Return whether elements repeat, and no element that is there once was moved.

    Where an element repeats, a copy of it at another place is no move.
    """
    often: set[Hashable] = set()
    for version in keys.each():
        often.update(key for key, n in counted(version).items() if n > 1)
    return bool(often) and not are_moved(keys.map(lambda side: [k for k in side if k not in often]))


def _result_of(
    items: list[Item], keys: Three[list[Hashable]], entries: Three[list[Entry]]
) -> list[Hashable]:
    """Return the contents of the elements that a merge takes as they are."""
    versions = zip(keys.each(), entries.each(), strict=True)
    key_of = {id(e): key for names, there in versions for key, e in zip(names, there, strict=True)}
    return [key_of[id(entry)] for item in items for entry in _taken_from(item)]


def _two_versions(
    items: list[Item], keys: Three[list[Hashable]], entries: Three[list[Entry]]
) -> str:
    """Return the reason of a conflict if the items hold two versions of one new element."""
    base, ours, theirs = keys.map(set).each()
    mine, yours = ours - base, theirs - base
    if not mine or not yours or mine == yours:
        return ""
    from kmerge_git.merge.decide.new_things import has_two_versions  # few lists need it

    return Why.TWO_VERSIONS if has_two_versions(items, keys, entries) else ""


def _by_regions(
    walk: Walker,
    keys: Three[list[Hashable]],
    entries: Three[list[Entry]],
    inner: Place,
    *,
    bag: bool,
) -> list[Item]:
    items: list[Item | None] = []
    # two new lists are one clash, unless one of them only has more than the other
    is_once = keys.base or _has_only_more(keys, entries)
    regions = (diff3_once if is_once else diff3)(*keys.each(), adjacent_ok=True)
    added = last = 0  # how many elements were added in the gap, and where the gap is
    for region in regions:
        part, named = cut(region, entries), cut(region, keys)
        added = added if region.b0 == region.b1 == last else 0
        if region.kind == "clash" and keys.base and _only_additions(named, bag=bag):
            items += _woven(walk, named, part, inner, region.b0 + added)
        else:
            items += _region(walk, region, part, inner, region.b0 + added)
        last = region.b1
        added = 0 if part.base else added + max(len(part.ours), len(part.theirs))
    return [item for item in items if item is not None]


def _doubt(
    walk: Walker, pairs: ElementPairs, at: Three[list[Entry]], items: list[Item], *, bag: bool
) -> str:
    """If a merge of the elements cannot be right, return the reason; otherwise return ''."""
    versions = list(zip(pairs.labels.each(), at.each(), strict=True))
    label_of = {
        id(e): label for names, there in versions for label, e in zip(names, there, strict=True)
    }
    if any(_mixes(item, label_of, pairs.unclear) for item in items):
        return Why.WHICH
    merged = {
        id(entry) for item in items if not _taken_from(item) for entry in _entries_within(item)
    }
    rest = at.map(lambda there: [label_of[id(e)] for e in there if id(e) not in merged])
    result = [label_of[id(entry)] for item in items for entry in _taken_from(item)]
    if _is_divided(items, label_of, result):
        return Why.MOVED_AND_GONE
    if not is_lawful(rest, result):
        return Why.MOVED_AND_GONE if _comes_back(rest, result) else Why.ORDER
    if not bag and not _are_in_place(rest, at, result):
        return Why.BOTH_ADD_HERE
    _, riddles = walk.rules.renamed(_tables(pairs.labels, at, merged), (), ATOMIC)
    return next((riddle.why for riddle in riddles), "")


def _are_in_place(labels: Three[Keys], at: Three[list[Entry]], result: Keys) -> bool:
    """Return whether each addition of a result has its place, if no element repeats."""
    if any(len(set(keys)) < len(keys) for keys in (*labels.each(), result)):
        return True
    placed = in_place(result, *labels.each(), _certain(labels, at))
    base, ours, theirs = labels.map(set).each()
    # two additions that are different sides' own know no order between them
    return all(
        [key for key in placed if key not in other] == [key for key in result if key not in other]
        for other in (ours - base - theirs, theirs - base - ours)
    )


def _is_divided(items: list[Item], label_of: dict[int, Hashable], result: list[Hashable]) -> bool:
    """Return whether an element of base is in a conflict, and outside of it on a side."""
    clashing = {
        label_of[id(entry)]
        for item in items
        if isinstance(item.plan, Clash)
        for entry in _entries_within(item)
    }
    return any(isinstance(label, int) and label in clashing for label in result)


def _taken_from(item: Item) -> list[Entry]:
    """Return the entry that an item takes as a whole, or nothing if the item merges entries."""
    if not isinstance(item.plan, Keep | Take):
        return []
    entry = item.theirs if isinstance(item.plan, Take) else item.ours
    return [entry] if entry is not None else []


def _mixes(item: Item, label_of: dict[int, Hashable], unclear: set[Hashable]) -> bool:
    """Return whether an item merges the fields of elements that may be different ones."""
    if not isinstance(item.plan, Build):
        return False
    labels = {label_of[id(entry)] for entry in _entries_within(item)}
    return not labels.isdisjoint(unclear) or sum(isinstance(k, int) for k in labels) > 1


def _mark_guesses(arranged: list[Item], aligned: list[Item]) -> None:
    """Mark the elements that only likeness pairs; those that diff3 aligns as well are certain."""
    certain = {_versions_of(item) for item in aligned}
    for item in arranged:
        if isinstance(item.plan, Build) and _versions_of(item) not in certain:
            item.plan.is_guess = _is_by_likeness(item)


def _versions_of(item: Item) -> tuple[int, int, int]:
    return id(item.base), id(item.ours), id(item.theirs)


def _entries_within(item: Item) -> list[Entry]:
    """Return the entries of the three versions that an item replaces."""
    if isinstance(item.plan, Clash):
        return [entry for side in item.plan.at.each() for entry in side]
    return [entry for entry in (item.base, item.ours, item.theirs) if entry is not None]


def _tables(keys: Three[list[Hashable]], at: Three[list[Entry]], merged: set[int]) -> Three[Table]:
    """Return the elements by their content, without the elements that are already merged."""
    versions = zip(keys.each(), at.each(), strict=True)
    return Three(
        *(
            {name: e for name, e in zip(names, entries, strict=True) if id(e) not in merged}
            for names, entries in versions
        )
    )


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
    names: Three[list[Hashable]],
    entries: Three[list[Entry]],
    inner: Place,
    *,
    bag: bool,
) -> list[Item] | None:
    """Merge the elements that have the same label, in an order that follows the laws.

    `keys` has the content of each element, `names` its label. Return None if the pairing or the
    order is uncertain.
    """
    old = set(keys.base)
    for there, labels_there in zip(keys.each(), names.each(), strict=True):
        known = [key for key in there if key in old]
        if len(set(known)) < len(known) or len(set(labels_there)) < len(labels_there):
            return None
    # where elements meet, no name is asked for, unless the list may be too long to be merged
    meets = _meet(names, bag=bag)
    if meets and len(old) <= MOST_ARRANGED:
        return None
    followed, riddles = walk.rules.renamed(_tables(names, entries, set()), (), ATOMIC)
    is_certain = not riddles and followed.map(list).each() == names.each()
    order = arranged(*names.each()) if is_certain else None
    if order is None or meets:
        return None
    items = _in_order(walk, order, names, entries, inner)
    # likeness alone does not justify a merge that a line merge would not make
    if any(_is_by_likeness(item) and not has_clash(item.plan) for item in items):
        return None
    return items


def _is_by_likeness(item: Item) -> bool:
    """Return whether an item merges two edits of an element that only its likeness identifies."""
    if item.base is None or not isinstance(item.plan, Build):
        return False
    others = (e for e in (item.ours, item.theirs) if e is not None)
    return not all(is_named_alike(item.base.value, entry.value) for entry in others)


def _meet(labels: Three[list[Hashable]], *, bag: bool) -> bool:
    """Return whether new elements of both sides meet, or new elements meet elements gone on both.

    With `bag` the order of the list has no meaning, and new elements may meet one another.
    """
    known = labels.map(set)
    stay = known.base & known.ours & known.theirs
    ours, theirs, lost = (
        {there for k, there in _in_front(side, stay) if k not in other and k not in third}
        for side, other, third in (
            (labels.ours, known.theirs, known.base),
            (labels.theirs, known.ours, known.base),
            (labels.base, known.ours, known.theirs),
        )
    )
    if lost & (ours | theirs):
        return True
    new = (known.ours & known.theirs) - known.base
    alike = [k for k in labels.ours if k in new] == [k for k in labels.theirs if k in new]
    return not bag and bool(ours & theirs or not alike)


def _in_front(
    labels: list[Hashable], stay: set[Hashable]
) -> Iterator[tuple[Hashable, frozenset[Hashable]]]:
    """Yield each label with those labels of `stay` that are in front of it."""
    ahead: frozenset[Hashable] = frozenset()
    for label in labels:
        yield label, ahead
        if label in stay:
            ahead |= {label}


def _as_one(
    walk: Walker, keys: Three[list[Hashable]], at: Three[list[Entry]], place: Place, why: str
) -> list[Item]:
    """Make one conflict of the elements, without the common start and end of all lists."""
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


def _has_only_more(keys: Three[list[Hashable]], entries: Three[list[Entry]]) -> bool:
    """Return whether no element repeats, and one side has all elements of the other, and more."""
    texts = [[entry.value.raw for entry in side] for side in (entries.ours, entries.theirs)]
    are_unique = all(len(set(side)) == len(side) for side in (keys.ours, keys.theirs))
    return are_unique and _one_in_the_other(*texts)


def _one_in_the_other(a: list[Hashable] | list[str], b: list[Hashable] | list[str]) -> bool:
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
    walk: Walker, region: Region, at: Three[list[Entry]], inner: Place, first: int
) -> list[Item | None]:
    places = [inner.step(first + i) for i in range(max(len(at.ours), len(at.theirs), 1))]
    is_aligned = len(at.base) == len(at.ours) == len(at.theirs) and _are_one(walk, at, places)
    if region.kind == "same" or is_aligned:
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


def _are_one(walk: Walker, at: Three[list[Entry]], places: list[Place]) -> bool:
    return _alike(at) or any(place.path in walk.opened for place in places)


def _twins(walk: Walker, at: Three[list[Entry]], places: list[Place]) -> list[Item | None] | None:
    """Merge elements that both sides added and that begin alike, to have the conflict inside them.

    Elements without a key may be different elements even if they begin alike, and a merge without a
    conflict would hide that. If the merge has no conflict, or if the elements do not begin alike,
    return None, so that the elements conflict as a whole.
    """
    pairs = list(zip(at.ours, at.theirs, strict=False))
    if len(at.ours) != len(at.theirs) or not all(_begin_alike(*pair) for pair in pairs):
        return None
    items: list[Item | None] = []
    trials = []
    for pair, place in zip(pairs, places, strict=False):
        trial = walk.trial()
        item = trial.entry(Three(None, *pair), place)
        is_settled = item is None or not has_clash(item.plan)
        if is_settled and not same_node(*(entry.value for entry in pair)):
            return None
        items.append(item)
        trials.append(trial)
    for trial in trials:
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
        and are_versions(ours, theirs)
    )


def _alike(at: Three[list[Entry]]) -> bool:
    """Return whether elements with the same index are versions of one another."""
    return all(
        whose_by(Three(base.value, ours.value, theirs.value), same_node)
        or (are_versions(base, ours) and are_versions(base, theirs))
        for base, ours, theirs in zip(at.base, at.ours, at.theirs, strict=True)
    )


def are_versions(a: Entry, b: Entry) -> bool:
    """Return whether two elements with the same index may be versions of one another."""
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
    for key in {**counts.base, **counts.ours, **counts.theirs, **there}:
        low, high = _bounds(under(counts, key).map(lambda count: count or 0))
        if not low <= there.get(key, 0) <= high:
            return False
    stay = [k for k in at.base if all(count.get(k) == 1 for count in counts.each())]
    return _is_in_order(at, stay, there, result)


def _bounds(counts: Three[int]) -> tuple[int, int]:
    """Return how often an element may occur in the result, as the least and the greatest number."""
    base, ours, theirs = counts.each()
    total = max(0, ours + theirs - base)
    if ours < base and theirs < base:
        return total, min(ours, theirs)
    if not base and ours and theirs:  # both sides added it, and it has one label
        return max(ours, theirs), max(ours, theirs)
    return total, total


def _is_in_order(at: Three[Keys], stay: Keys, there: dict[Hashable, int], result: Keys) -> bool:
    members = {key for key in stay if there.get(key) == 1}
    orders = at.map(lambda keys: [k for k in keys if k in members])
    order = [k for k in result if k in members]
    if orders.ours == orders.base or orders.theirs in (orders.base, orders.ours):
        return order == (orders.theirs if orders.ours == orders.base else orders.ours)
    from kmerge_git.merge.decide.order import arranged

    return order == arranged(*orders.each())
