"""Pair the elements of lists without keys in which a naming field repeats.

An alert is in its list twice, as a warning and as critical; an Ingress has two rules for one
host. Equal contents are paired first, by a comparison of the lists. Between these pairs,
elements of one name are paired in their order, if each version has equally many of them there, and
if no other pairing shares more leaves. Otherwise their names do not identify the elements.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import MOST_COMPARISONS, NAMING, Leaves
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.three import Three, grouped
from kmerge_git.text.diff3 import diff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.merge.decide.rules import Keys
    from kmerge_git.tree.nodes import Entry

    Names = list[str]


def labels(keys: Three[Keys], entries: Three[list[Entry]]) -> Three[Keys] | None:
    """Return the index in base of each element, or another label if it is new; None if unknown.

    `keys` has the content of each element. What both sides added has one label.
    """
    if max(len(side) for side in keys.each()) ** 2 > MOST_COMPARISONS:
        return None
    names = _repeated_names(entries)
    if names is None:
        return None
    ours = _PairedSide("ours", keys.base, keys.ours, entries.base, entries.ours)
    theirs = _PairedSide("theirs", keys.base, keys.theirs, entries.base, entries.theirs)
    if not (ours.pair(names.base, names.ours) and theirs.pair(names.base, names.theirs)):
        return None
    added = grouped((key, j) for j, key in theirs.added())
    for i, key in ours.added():
        if added.get(key):
            j = added[key].pop(0)
            if ours.before(i) != theirs.before(j):
                return None  # perhaps two elements
            theirs.labels[j] = ours.labels[i]
    return Three(list(range(len(keys.base))), ours.labels, theirs.labels)


def _repeated_names(entries: Three[list[Entry]]) -> Three[Names] | None:
    """Return the names of all elements, if all have the same naming field, and a name repeats."""
    every = [entry.value for side in entries.each() for entry in side]
    for field in NAMING if all(entries.each()) else ():
        if all(field_text(node, field) is not None for node in every):
            names = entries.map(lambda side, f=field: [field_text(e.value, f) or "" for e in side])  # type: ignore[misc]
            repeats = any(len(set(side)) < len(side) for side in names.each())
            return names if repeats else None
    return None


class _PairedSide:
    """Hold the labels of a side's elements."""

    __slots__ = ("_old_entries", "entries", "keys", "labels", "old")

    def __init__(
        self, name: str, old: Keys, keys: Keys, old_entries: list[Entry], entries: list[Entry]
    ) -> None:
        self.old = old
        self.keys = keys
        self.entries = entries
        self._old_entries = old_entries
        self.labels: Keys = [(name, j) for j in range(len(keys))]

    def added(self) -> list[tuple[int, Hashable]]:
        """Return the elements that are new, with their contents."""
        pairs = enumerate(zip(self.labels, self.keys, strict=True))
        return [(j, key) for j, (label, key) in pairs if not isinstance(label, int)]

    def before(self, place: int) -> set[Hashable]:
        """Return the elements of base before a place."""
        return {label for label in self.labels[:place] if isinstance(label, int)}

    def pair(self, old_names: Names, names: Names) -> bool:
        """Pair the elements; return whether each element that is left is certainly new or gone."""
        gaps = self._by_content()
        for gone, new in gaps:
            mine = grouped((old_names[i], i) for i in gone)
            yours = grouped((names[j], j) for j in new)
            for name in mine.keys() & yours.keys():
                if not self._by_order(mine[name], yours[name]):
                    return False
        known = {label for label in self.labels if isinstance(label, int)}
        is_gone = len(known) < len(self.old)
        return not (is_gone and self.added())  # perhaps renamed, or moved and edited

    def _by_content(self) -> list[tuple[list[int], list[int]]]:
        """Pair equal elements, also moved ones; return the rest between the pairs in order."""
        gaps = []
        b = s = 0
        ends = (len(self.old), len(self.old), len(self.keys), len(self.keys))
        for b0, b1, s0, s1 in [*diff(self.old, self.keys), ends]:
            gaps.append(([*range(b, b0)], [*range(s, s0)]))
            self.labels[s0:s1] = range(b0, b1)
            b, s = b1, s1
        gone = grouped((self.old[i], i) for mine, _ in gaps for i in mine)
        new = grouped((self.keys[j], j) for _, yours in gaps for j in yours)
        moved = {i: new[key][0] for key, (i, *more) in gone.items() if not more and key in new}
        for i, j in moved.items():
            if len(new[self.keys[j]]) == 1:
                self.labels[j] = i
        return [
            (
                [i for i in mine if i not in self.labels],
                [j for j in yours if not isinstance(self.labels[j], int)],
            )
            for mine, yours in gaps
        ]

    def _by_order(self, gone: list[int], new: list[int]) -> bool:
        """Pair elements of one name in their order, if they are the best pairs."""
        if len(gone) != len(new):
            return False
        if len(gone) > 1:
            mine = [Leaves(self._old_entries[i].value) for i in gone]
            yours = [Leaves(self.entries[j].value) for j in new]
            for n, leaves in enumerate(mine):
                own = leaves.shared(yours[n])
                if any(leaves.shared(other) > own for other in yours):
                    return False
        for i, j in zip(gone, new, strict=True):
            self.labels[j] = i
        return True
