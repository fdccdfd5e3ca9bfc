"""Lists without a key: a three-way merge of the sequence of elements."""

from __future__ import annotations

from kmerge_git.merge.plan import MOVED_AND_GONE, Item, Keep, Take
from kmerge_git.merge.sides import has_clash
from kmerge_git.merge.three import Three, cut, under
from kmerge_git.text.diff3 import Region, diff3
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.decide.git import GitRules

    Table = dict[Hashable, Entry]
    T = TypeVar("T")

ALIKE = 0.5  # the share of equal lines that makes two versions of one element


def merge_elements(
    rules: GitRules, at: Three[Sequence | None], path: Path, where: Where
) -> list[Item]:
    """diff3 over the elements; elements that align one to one are merged inside.

    What one side moved and the other took away looks like a deletion on both sides and an
    addition on one: then the lists clash as they are.
    """
    inner, bag = where.items(), where.list_rule().bag
    entries = at.map(lambda seq: list(seq.entries) if seq is not None else [])
    keys = entries.map(lambda found: [canon(e.value) for e in found])
    items: list[Item | None] = []
    for region in diff3(keys.base, keys.ours, keys.theirs, adjacent_ok=True):
        part, named = cut(region, entries), cut(region, keys)
        met = region.kind == "clash" and rules.strict and bool(keys.base)
        if met and _only_additions(named, bag=bag):
            tables = Three(
                dict(zip(named.base, part.base, strict=True)),
                dict(zip(named.ours, part.ours, strict=True)),
                dict(zip(named.theirs, part.theirs, strict=True)),
            )
            items += _woven(rules, tables, path, region.o0, inner)
        else:
            items += _region(rules, region, part, path, inner)
    result = [item for item in items if item is not None]
    if rules.strict and _comes_back(keys, result):
        result = [i for i in rules.clash_of_elements(entries, MOVED_AND_GONE, path) if i]
    return result


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
    if any(len(set(found)) < len(found) for found in (keys.base, keys.ours, keys.theirs)):
        return False
    if bag:
        return {*keys.ours, *keys.theirs}.issuperset(keys.base)
    return not keys.base and _one_in_the_other(keys.ours, keys.theirs)


def _one_in_the_other(a: list[Hashable], b: list[Hashable]) -> bool:
    shorter, longer = sorted((a, b), key=len)
    return [key for key in longer if key in shorter] == shorter


def _woven(
    rules: GitRules, tables: Three[Table], path: Path, first: int, where: Where
) -> list[Item | None]:
    """Elements that are told apart by what they are."""
    items: dict[Hashable, Item] = {}
    for i, key in enumerate(dict.fromkeys([*tables.ours, *tables.theirs])):
        item = rules.entry(under(tables, key), (*path, first + i), where)
        if item is not None:
            items[key] = item
    return [items[key] for key in rules.order(tables, items)[0]]


def _region(
    rules: GitRules, region: Region, at: Three[list[Entry]], path: Path, where: Where
) -> list[Item | None]:
    def place(index: int) -> Path:
        return (*path, region.o0 + index)

    aligned = len(at.base) == len(at.ours) == len(at.theirs) and _alike(at)
    if region.kind == "same" or aligned:
        trios = zip(at.base, at.ours, at.theirs, strict=True)
        return [rules.entry(Three(*trio), place(i), where) for i, trio in enumerate(trios)]
    if region.kind == "both":
        pairs = zip(at.ours, at.theirs, strict=True)
        return [rules.entry(Three(None, *pair), place(i), where) for i, pair in enumerate(pairs)]
    if region.kind == "ours":
        return [Item(Keep(e.value), e, None, place(i)) for i, e in enumerate(at.ours)]
    if region.kind == "theirs":
        for i in range(len(at.theirs)):
            rules.journal.note(place(i), "changed", "theirs", "5")
        return [Item(Take(e.value, e), None, e, place(i)) for i, e in enumerate(at.theirs)]
    inside = _twins(rules, at, place, where) if rules.strict and not at.base else None
    if inside is not None:
        return inside
    why = "changed on both sides" if at.base else "both add here"
    return rules.clash_of_elements(at, why, place(0))


def _twins(
    rules: GitRules, at: Three[list[Entry]], place: Callable[[int], Path], where: Where
) -> list[Item | None] | None:
    """Elements that both sides add and that begin alike: the conflict is inside of them.

    They have no key, so they may be two all the same. A merge that leaves nothing to decide
    would hide that: then, and where they are not alike, the elements clash as a whole.
    """
    pairs = list(zip(at.ours, at.theirs, strict=False))
    if len(at.ours) != len(at.theirs) or not all(_begin_alike(*pair) for pair in pairs):
        return None
    known = len(rules.journal.decisions)
    items = [rules.entry(Three(None, *pair), place(i), where) for i, pair in enumerate(pairs)]
    for item, (ours, theirs) in zip(items, pairs, strict=True):
        decided = item is None or not has_clash(item.plan)
        if decided and not same_node(ours.value, theirs.value):
            del rules.journal.decisions[known:]
            return None
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


def clash_on_repeated_names(
    rules: GitRules, tables: Three[Table], items: dict[Hashable, Item], path: Path
) -> None:
    """Both sides added an element of the same `name` under different keys (two ports): a clash."""
    ours = {_name(e): key for key, e in tables.ours.items() if key not in tables.theirs}
    for key, entry in tables.theirs.items():
        name = _name(entry)
        twin = ours.get(name)
        if name is None or twin is None or key in tables.ours or key not in items:
            continue
        if twin in items and items[twin].ours is not None:
            clash = rules.clash(
                [], [tables.ours[twin]], [entry], "the same name twice", (*path, (("name", name),))
            )
            del items[key]
            if clash is None:
                del items[twin]
            else:
                items[twin] = clash


def _name(entry: Entry) -> str | None:
    value = entry.value
    name = value.get("name") if isinstance(value, Mapping) else None
    return name.value if isinstance(name, Scalar) and name.value else None
