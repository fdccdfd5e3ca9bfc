"""Lists without a key: a three-way merge of the sequence of elements."""

from __future__ import annotations

from kmerge_git.merge.journal import Note
from kmerge_git.merge.plan import Item, Keep, Take, Why, has_clash
from kmerge_git.merge.three import Three, cut, under
from kmerge_git.text.diff3 import diff3
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import TypeVar

    from kmerge_git.merge.decide.rules import Place, Walker
    from kmerge_git.text.diff3 import Region

    T = TypeVar("T")

ALIKE = 0.5  # the share of equal lines that makes two versions of one element


def merge_elements(walk: Walker, at: Three[Sequence | None], place: Place) -> list[Item]:
    """diff3 over the elements; elements that align one to one are merged inside.

    What one side moved and the other took away looks like a deletion on both sides and an
    addition on one: then the lists clash as they are.
    """
    inner, bag = place.elements(at), place.where.list_rule().bag
    entries = at.map(lambda seq: list(seq.entries) if seq is not None else [])
    keys = entries.map(lambda found: [canon(e.value) for e in found])
    items: list[Item | None] = []
    for region in diff3(*keys.each(), adjacent_ok=True):
        part, named = cut(region, entries), cut(region, keys)
        if region.kind == "clash" and keys.base and _only_additions(named, bag=bag):
            items += _woven(walk, named, part, inner, region.o0)
        else:
            items += _region(walk, region, part, inner)
    result = [item for item in items if item is not None]
    return walk.clash(entries, Why.MOVED_AND_GONE, place) if _comes_back(keys, result) else result


def _comes_back(keys: Three[list[Hashable]], items: list[Item]) -> bool:
    """Whether an element that one side took away is still there, because the other moved it."""
    counts = keys.map(_counted)
    left: dict[Hashable, int] = {}  # how many of it the side left that took some away
    for key, count in counts.base.items():
        ours, theirs = counts.ours.get(key, 0), counts.theirs.get(key, 0)
        if min(ours, theirs) < count == max(ours, theirs):
            left[key] = min(ours, theirs)
    if not left:
        return False
    there = _counted(canon(i.plan.node) for i in items if isinstance(i.plan, Keep | Take))
    return any(there.get(key, 0) > count for key, count in left.items())


def _counted(keys: Iterable[T]) -> dict[T, int]:
    counts: dict[T, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return counts


def _only_additions(keys: Three[list[Hashable]], *, bag: bool) -> bool:
    """Whether nothing but additions meet where both sides changed a list.

    Either one side adds all that the other adds, and more; or the order of a bag means nothing,
    and there is no element that both sides took away or rewrote.
    """
    if any(len(set(found)) < len(found) for found in keys.each()):
        return False
    if bag:
        return {*keys.ours, *keys.theirs}.issuperset(keys.base)
    return not keys.base and _one_in_the_other(keys.ours, keys.theirs)


def _one_in_the_other(a: list[Hashable], b: list[Hashable]) -> bool:
    shorter, longer = sorted((a, b), key=len)
    return [key for key in longer if key in shorter] == shorter


def _woven(
    walk: Walker, keys: Three[list[Hashable]], at: Three[list[Entry]], inner: Place, first: int
) -> list[Item]:
    """Elements that are told apart by what they are."""
    tables = Three(
        dict(zip(keys.base, at.base, strict=True)),
        dict(zip(keys.ours, at.ours, strict=True)),
        dict(zip(keys.theirs, at.theirs, strict=True)),
    )
    items: dict[Hashable, Item] = {}
    for i, key in enumerate(dict.fromkeys([*tables.ours, *tables.theirs])):
        item = walk.entry(under(tables, key), inner.step(first + i))
        if item is not None:
            items[key] = item
    return [items[key] for key in walk.rules.order(tables, items, None) or items]


def _region(
    walk: Walker, region: Region, at: Three[list[Entry]], inner: Place
) -> list[Item | None]:
    places = [inner.step(region.o0 + i) for i in range(max(len(at.ours), len(at.theirs), 1))]
    aligned = len(at.base) == len(at.ours) == len(at.theirs) and _alike(at)
    if region.kind == "same" or aligned:
        trios = zip(at.base, at.ours, at.theirs, places, strict=False)
        return [walk.entry(Three(*trio), place) for *trio, place in trios]
    if region.kind == "both":
        pairs = zip(at.ours, at.theirs, places, strict=False)
        return [walk.entry(Three(None, *pair), place) for *pair, place in pairs]
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
    """Elements that both sides add and that begin alike: the conflict is inside of them.

    They have no key, so they may be two all the same. A merge that leaves nothing to decide
    would hide that: then, and where they are not alike, the elements clash as a whole.
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
    """Whether two elements have the same first field, and are alike below it."""
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
    """Whether elements that stand at the same places are versions of one another."""
    return all(
        _is_settled(base.value, ours.value, theirs.value)
        or (_likeness(base, ours) and _likeness(base, theirs))
        for base, ours, theirs in zip(at.base, at.ours, at.theirs, strict=True)
    )


def _is_settled(base: Node, ours: Node, theirs: Node) -> bool:
    """Whether at most one side changed an element, or both alike."""
    return same_node(base, ours) or same_node(base, theirs) or same_node(ours, theirs)


def _likeness(a: Entry, b: Entry) -> bool:
    if isinstance(a.value, Scalar):
        return isinstance(b.value, Scalar)
    if type(a.value) is not type(b.value):
        return False
    values = (a.value, b.value)
    if any(isinstance(value, Collection) and not value.entries for value in values):
        return True  # filled, or emptied
    lines, others = _lines(a), _lines(b)
    common = sum(min(n, others.get(line, 0)) for line, n in lines.items())
    return common >= ALIKE * max(sum(lines.values()), sum(others.values()))


def _lines(entry: Entry) -> dict[str, int]:
    return _counted(line.strip(" -") for line in entry.value.raw.split("\n"))
