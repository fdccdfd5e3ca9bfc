"""Find the elements of a version that have another key in a newer version, by their content.

A merge asks this of base and a side, and a comparison asks it of an old and a new version.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import (
    MOST_COMPARISONS,
    Leaves,
    counted,
    found_in_none,
    in_common,
    is_alike,
)
from kmerge_git.kube.listkeys import field_text, has_port_names
from kmerge_git.tree.nodes import Collection
from kmerge_git.tree.same import same_entry_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from collections.abc import Collection as Names

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.tree.nodes import Entry, Node

    Keys = list[Hashable]
    Table = dict[Hashable, Entry]
    Renamed = dict[Hashable, Hashable]  # new key -> old key
    Candidates = list[tuple[float, Hashable, Hashable]]  # likeness, old key, new key
    Changed = Callable[[Table, Table, Table], Renamed]


def renamed(old: Table, new: Table, key_paths: Names[tuple[str, ...]] = ()) -> Renamed:
    """Return the new keys of a newer version, each with the old key that it replaced.

    These are the elements that a merge follows to their new keys if the other side edited them.
    """
    gone, fresh = exchanged(old, new)
    if not 0 < len(gone) * len(fresh) <= MOST_COMPARISONS:
        return {}
    return matched(candidates(old, new, gone, fresh, EntryLeaves(key_paths)))[0]


def labelled(table: Table, renamed: Renamed) -> Table:
    """Return a table with the renamed elements under their old keys."""
    return {renamed.get(k, k): entry for k, entry in table.items()} if renamed else table


class EntryLeaves:
    """Count the leaves of elements without their keys, and cache the counts."""

    __slots__ = ("_key_paths", "_known")

    def __init__(self, key_paths: Names[tuple[str, ...]]) -> None:
        self._key_paths = key_paths
        self._known: dict[int, Leaves] = {}

    def of(self, entry: Entry) -> Leaves:
        """Return the leaves of an element."""
        known = self._known.get(id(entry))
        if known is None:
            known = self._known[id(entry)] = Leaves(entry.value, self._key_paths)
        return known


def exchanged(old: Table, new: Table) -> tuple[Keys, Keys]:
    """Return the old keys that a version lacks, and its new keys; scalars do not count."""
    gone = [k for k in old if k not in new and isinstance(old[k].value, Collection)]
    return gone, [k for k in new if k not in old and isinstance(new[k].value, Collection)]


def candidates(old: Table, new: Table, gone: Keys, fresh: Keys, leaves: EntryLeaves) -> Candidates:
    """Return pairs of old and new keys whose elements have similar values, and how similar."""
    alike = [
        (before, after)
        for before in gone
        for after in fresh
        if is_alike(leaves.of(old[before]), leaves.of(new[after]))
    ]
    pairs = [(leaves.of(old[before]), leaves.of(new[after])) for before, after in alike]
    common = [in_common(*pair) for pair in pairs]
    alone = found_in_none(set().union(*common), _staying(old, new))
    return [
        (a.shared(b) / max(a.total, b.total), *keys)
        for (a, b), keys, shared in zip(pairs, alike, common, strict=True)
        if not alone.isdisjoint(shared)
    ]


def _staying(old: Table, new: Table) -> Iterator[Node]:
    """Yield the elements whose keys both versions have."""
    for key, entry in old.items():
        if key in new:
            yield entry.value
            if not same_entry_text(entry, new[key]):
                yield new[key].value


def matched(candidates: Candidates) -> tuple[Renamed, list[tuple[Hashable, Hashable]]]:
    """Match the most similar pairs first; also return the pairs that rivals make uncertain.

    Rivals are equally similar pairs that share a key.
    """
    renamed: Renamed = {}
    uncertain: list[tuple[Hashable, Hashable]] = []
    taken: set[tuple[str, Hashable]] = set()
    for score in sorted({score for score, *_ in candidates}, reverse=True):
        level = [
            (old, new)
            for s, old, new in candidates
            if s == score and ("old", old) not in taken and ("new", new) not in taken
        ]
        rivals = counted(old for old, _ in level), counted(new for _, new in level)
        for old, new in level:
            if rivals[0][old] == rivals[1][new] == 1:
                renamed[new] = old
            else:
                uncertain.append((old, new))
            taken |= {("old", old), ("new", new)}
    return renamed, uncertain


# -- keys that the tables of Kubernetes declare


def key_changes(rule: ListRule, *, by_name: bool = True) -> list[Changed]:
    """Return functions that find elements of a keyed list by a part of their key.

    Each is asked about base, a side, and the other side, or about an old version, a new version and
    the old one again. It returns the new keys of the elements, each with the old key.
    """
    if rule.kind != "keyed":
        return []
    ways: list[Changed] = [_changed_second_key] if len(rule.fields) > 1 else []
    return [*ways, _changed_number] if by_name and has_port_names(rule) else ways


def _changed_second_key(base: Table, side: Table, other: Table) -> Renamed:
    """Find the elements of which a side changed a key field other than the first.

    80/TCP becomes 80/UDP, for example. Three conditions hold: the changed side has lost the old
    full key, exactly one new element has the same first field, and the other side still has the old
    full key.
    """
    fresh = _grouped((_first(k), k) for k in side if k not in base and k not in other)
    return {
        fresh[first][0]: old[0]
        for first, old in _grouped((_first(k), k) for k in base if k not in side).items()
        if len(old) == len(fresh.get(first, ())) == 1 and old[0] in other
    }


def _changed_number(base: Table, side: Table, other: Table) -> Renamed:
    """Find the ports of which a side changed only the number; port names are unique."""
    gone = [k for k in base if k not in side]
    fresh = _grouped(
        (field_text(entry.value, "name"), key)
        for key, entry in (side if gone else {}).items()
        if key not in base and key not in other
    )
    renamed: Renamed = {}
    for old in gone:
        name = field_text(base[old].value, "name")
        if name is not None and len(fresh.get(name, ())) == 1:
            renamed[fresh.pop(name)[0]] = old
    return renamed


def _first(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else key


def _grouped(pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, Keys]:
    groups: dict[Hashable, Keys] = {}
    for group, key in pairs:
        groups.setdefault(group, []).append(key)
    return groups
