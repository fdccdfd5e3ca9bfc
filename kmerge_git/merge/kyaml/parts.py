"""Parts of a value: what updated changed in it, and what only the destination has in it.

Both are plans over one text, so that they are written with its comments and its spelling.
"""

from __future__ import annotations

from kmerge_git.kube.listkeys import infer_key
from kmerge_git.merge.decide.keyed import keyed, step
from kmerge_git.merge.plan import Build, Item, Keep, Plan
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Mapping, Node, Sequence
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.tree.nodes import Entry

    Trio = tuple[Entry | None, Entry, Where, Path]


class ListKeys:
    """Which lists have keys: by the table, and where `infer` says so by what the elements hold."""

    __slots__ = ("infer",)

    def __init__(self, infer: bool) -> None:
        self.infer = infer  # K6: off leaves only the table

    def tables(
        self, at: Three[Sequence | None], rule: ListRule
    ) -> Three[dict[Hashable, Entry]] | None:
        """The elements by key, or None for a list without keys."""
        return keyed(at, rule) if self.infer or rule.kind != "infer" else None

    def fields(self, at: Three[Sequence | None], rule: ListRule) -> tuple[str, ...]:
        """The names of the fields that make an element's key."""
        if rule.kind == "infer":
            name = infer_key((at.base, at.ours, at.theirs)) if self.infer else None
            return (name,) if name else ()
        return rule.fields


def delta(
    old: Node, new: Node, where: Where, keys: ListKeys, kept: tuple[str, ...] = ()
) -> Plan | None:
    """What `new` adds to `old` or changes, together with the fields `kept`; None: nothing."""
    if same_node(old, new):
        return None
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _delta_of_mapping(old, new, where.at(new), keys, kept)
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        rule = where.list_rule()
        at = Three(old, None, new)
        tables = keys.tables(at, rule)
        if tables is not None and rule.kind != "set":
            names = keys.fields(at, rule)
            items = []
            for key, entry in tables.theirs.items():
                before = tables.base.get(key)
                plan = _part(before, entry, where.items(), keys, names)
                if plan is not None:
                    items.append(Item(plan, entry, entry, ()))
            return Build(new, new, items) if items else None
    return Keep(new)


def _delta_of_mapping(
    old: Mapping, new: Mapping, where: Where, keys: ListKeys, kept: tuple[str, ...]
) -> Plan | None:
    there = old.index()
    items: list[Item] = []
    changed = False
    for entry in new.entries:
        plan = _part(there.get(entry.name), entry, where.child(entry.name), keys, ())
        changed = changed or plan is not None
        if plan is not None or entry.name in kept:
            items.append(Item(plan or Keep(entry.value), entry, entry, ()))
    return Build(new, new, items) if changed else None


def _part(
    before: Entry | None, entry: Entry, where: Where, keys: ListKeys, kept: tuple[str, ...]
) -> Plan | None:
    if before is None:
        return Keep(entry.value)
    return delta(before.value, entry.value, where, keys, kept)


def rest(
    base: Node, ours: Node, where: Where, keys: ListKeys, path: Path, lost: list[Path]
) -> Plan | None:
    """What only ours has in a mapping or keyed list that updated removed; None: nothing.

    What base had goes, and is `lost` where ours had changed it.
    """
    found: list[Trio] | None = None
    if isinstance(base, Mapping) and isinstance(ours, Mapping):
        there, inner = base.index(), where.at(ours)
        found = [(there.get(e.name), e, inner.child(e.name), (*path, e.name)) for e in ours.entries]
    elif isinstance(base, Sequence) and isinstance(ours, Sequence):
        found = _elements(base, ours, where, keys, path)
    if found is None or not isinstance(ours, Mapping | Sequence):
        if not same_node(base, ours):
            lost.append(path)
        return None
    items: list[Item] = []
    for before, entry, inner, place in found:
        plan: Plan | None = Keep(entry.value)
        if before is not None:
            plan = _rest_of_entry(before, entry, inner, keys, place, lost)
        if plan is not None:
            items.append(Item(plan, entry, None, place))
    return Build(ours, ours, items) if items else None


def _rest_of_entry(
    before: Entry, entry: Entry, where: Where, keys: ListKeys, path: Path, lost: list[Path]
) -> Plan | None:
    if entry.key is not None:
        return rest(before.value, entry.value, where, keys, path, lost)
    if not same_node(before.value, entry.value):
        lost.append(path)  # M21: an element goes as a whole
    return None


def _elements(
    base: Sequence, ours: Sequence, where: Where, keys: ListKeys, path: Path
) -> list[Trio] | None:
    rule = where.list_rule()
    tables = keys.tables(Three(base, ours, None), rule)
    if tables is None:
        return None
    return [
        (tables.base.get(key), entry, where.items(), (*path, step(key, rule)))
        for key, entry in tables.ours.items()
    ]
