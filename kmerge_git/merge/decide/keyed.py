"""Find the elements of three lists that are the same element because they have the same key."""

from __future__ import annotations

from kmerge_git.kube.likeness import MOST_COMPARISONS
from kmerge_git.kube.listkeys import ListKeys, field_text, has_port_names
from kmerge_git.merge.three import Three, grouped
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from collections.abc import Sequence as List

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import Riddle
    from kmerge_git.merge.plan import Item
    from kmerge_git.tree.nodes import Entry

    Table = dict[Hashable, Entry]


def by_key(
    lists: Three[List[Entry]], rule: ListRule, *, by_name: bool = False, infer: bool = True
) -> Three[Table] | None:
    """Return the elements of each version by key, or None if the list has no usable key.

    With `by_name`, a port keeps its key if its number changes and its name stays. Without `infer`,
    only the tables of Kubernetes' kinds declare keys.
    """
    if len(lists.base) > MOST_COMPARISONS:
        from kmerge_git.merge.bulk import refuse_long  # few lists are so long

        refuse_long(lists)
    keys = ListKeys(rule, lists.each() if infer else ())
    versions = [table for entries in lists.each() if (table := keys.table(entries)) is not None]
    if len(versions) < 3:
        return None
    tables = Three(*versions)
    if rule.kind == "keyed":
        if len(rule.fields) > 1:
            _see_changed_second_key(tables)
        if by_name and has_port_names(rule):
            _see_changed_number(tables)
    return tables


def keys_of(at: Three[Sequence | None], rule: ListRule) -> ListKeys:
    """Return the keys that identify the elements of three lists."""
    lists = at.map(lambda sequence: sequence.entries if sequence is not None else ())
    return ListKeys(rule, lists.each())


def are_runs(table: Table, riddles: List[Riddle]) -> bool:
    """Return whether the elements of each riddle are next to one another in a table.

    A riddle is a group of elements that only a person can pair.
    """
    places = {key: place for place, key in enumerate(table)} if riddles else {}
    runs = [[places[key] for key in riddle.keys if key in places] for riddle in riddles]
    return all(max(run) - min(run) < len(run) for run in runs if run)


def _see_changed_second_key(tables: Three[Table]) -> None:
    """Give an element its old key if a side changed a key field other than the first.

    80/TCP becomes 80/UDP, for example. Three conditions hold: the changed side has lost the old
    full key, exactly one new element has the same first field, and the other side still has the old
    full key.
    """
    base = tables.base
    for side, other in ((tables.ours, tables.theirs), (tables.theirs, tables.ours)):
        fresh = grouped((_first(k), k) for k in side if k not in base and k not in other)
        renamed = {
            fresh[first][0]: old[0]
            for first, old in grouped((_first(k), k) for k in base if k not in side).items()
            if len(old) == len(fresh.get(first, ())) == 1 and old[0] in other
        }
        _rename(side, renamed)


def _see_changed_number(tables: Three[Table]) -> None:
    """Give a port its old key if a side changed only its number; port names are unique."""
    base = tables.base
    for side, other in ((tables.ours, tables.theirs), (tables.theirs, tables.ours)):
        gone = [k for k in base if k not in side]
        if not gone:
            continue
        fresh = grouped(
            (field_text(entry.value, "name"), key)
            for key, entry in side.items()
            if key not in base and key not in other
        )
        renamed: dict[Hashable, Hashable] = {}
        for old in gone:
            name = field_text(base[old].value, "name")
            if name is not None and len(fresh.get(name, ())) == 1:
                renamed[fresh.pop(name)[0]] = old
        _rename(side, renamed)


def _first(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else key


def _rename(table: Table, names: dict[Hashable, Hashable]) -> None:
    if names:
        renamed = [(names.get(key, key), entry) for key, entry in table.items()]
        table.clear()
        table.update(renamed)


def repeated_names(
    tables: Three[Table], items: dict[Hashable, Item]
) -> Iterator[tuple[str, Hashable, Hashable]]:
    """Find names that each side gave to a new element, but under different keys.

    For example, both sides add a port of the same name with different numbers.
    """
    ours = {_name(e): key for key, e in tables.ours.items() if key not in tables.theirs}
    for key, entry in tables.theirs.items():
        name = _name(entry)
        twin = ours.get(name)
        if name is None or twin is None or key in tables.ours or key not in items:
            continue
        if twin in items and items[twin].ours is not None:
            yield name, twin, key


def _name(entry: Entry) -> str | None:
    name = entry.value.get("name") if isinstance(entry.value, Mapping) else None
    return name.value if isinstance(name, Scalar) and name.value else None
