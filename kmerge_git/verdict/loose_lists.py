"""Pair the elements of three lists without keys, and those of a result."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kmerge_git.kube.likeness import MOST_COMPARISONS, Leaves, is_edit
from kmerge_git.merge.decide.element_pairs import pair
from kmerge_git.merge.three import Three
from kmerge_git.text.diff3 import changes
from kmerge_git.tree.same import canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kmerge_git.tree.nodes import Entry, Node, Sequence
    from kmerge_git.tree.same import Known

    Labels = list[Hashable]
    Nodes = dict[Hashable, Node]


@dataclass(frozen=True, slots=True)
class LabelledLists:
    """Hold the elements of lists by labels; elements of one label are versions of one element."""

    tables: Three[Nodes]
    result: Nodes
    counts: Three[Counter[Hashable]]
    made: Counter[Hashable]
    known: Known

    @property
    def labels(self) -> list[Hashable]:
        """Return the labels of all elements that some version has."""
        tables = self.tables.each()
        return list(dict.fromkeys(label for table in tables for label in table))

    def number(self, label: Hashable) -> int:
        """Return the index of an element in the first version that has the element."""
        table = next(table for table in self.tables.each() if label in table)
        return list(table).index(label)

    def has_as_many(self, at: Three[Node | None]) -> bool:
        """Return whether the result has an added element as often as the side that added it.

        Of a deleted element, return whether it has the element no more often than that side.
        """
        for node, counts in zip(at.each(), self.counts.each(), strict=True):
            if at.base is None and node is not None:
                key = canon_of(node, self.known)
                if self.made[key] >= counts[key]:
                    return True
            elif at.base is not None and node is None:
                key = canon_of(at.base, self.known)
                if self.made[key] <= counts[key]:
                    return True
        return False


def labelled(lists: Three[Sequence | None], result: Sequence) -> LabelledLists:
    """Pair the elements of three lists as the merge does, and those of the result with them."""
    known: Known = {}
    entries: Three[list[Entry]] = lists.map(lambda one: [*one.entries] if one is not None else [])
    keys = entries.map(lambda one: [canon_of(entry.value, known) for entry in one])
    labels = pair(keys, entries).labels
    labels = Three(labels.base, *(_by_place(labels.base, side) for side in labels.each()[1:]))
    made = [canon_of(entry.value, known) for entry in result.entries]
    found = _LabelledResult(keys, labels, entries).of(made, [e.value for e in result.entries])
    tables = Three(
        *(
            {label: entry.value for label, entry in zip(names, one, strict=True)}
            for names, one in zip(labels.each(), entries.each(), strict=True)
        )
    )
    there = zip(found, result.entries, strict=True)
    of_result = {label: entry.value for label, entry in there if label is not None}
    return LabelledLists(tables, of_result, keys.map(Counter), Counter(made), known)


def _by_place(base: Labels, side: Labels) -> Labels:
    """Give elements that replaced as many elements of base the labels of these."""
    known, there = set(base), set(side)
    found = [*side]
    for b0, b1, s0, s1 in changes(base, side):
        are_gone = there.isdisjoint(base[b0:b1])
        if b1 - b0 == s1 - s0 and are_gone and known.isdisjoint(side[s0:s1]):
            found[s0:s1] = base[b0:b1]
    return found


class _LabelledResult:
    """Find the label of each element of a result; a new element has none."""

    def __init__(
        self, keys: Three[Labels], labels: Three[Labels], entries: Three[list[Entry]]
    ) -> None:
        self._labels = labels
        self._contents: dict[Hashable, list[Hashable]] = {}
        self._versions: dict[Hashable, list[Node]] = {}
        for names, contents, one in zip(labels.each(), keys.each(), entries.each(), strict=True):
            for label, key, entry in zip(names, contents, one, strict=True):
                self._contents.setdefault(key, []).append(label)
                self._versions.setdefault(label, []).append(entry.value)
        self._taken: set[Hashable] = set()

    def of(self, keys: Labels, nodes: list[Node]) -> list[Hashable | None]:
        """Pair equal elements first, then edited ones, then those that are in the same place."""
        found = [self._free(self._contents.get(key, ())) for key in keys]
        new = [number for number, label in enumerate(found) if label is None]
        left = [label for label in self._versions if label not in self._taken]
        if len(new) * len(left) <= MOST_COMPARISONS:
            for number in new:
                found[number] = self._free(self._closest(nodes[number], left))
        for version in (self._labels.ours, self._labels.theirs, self._labels.base):
            own = [("result", n) if label is None else label for n, label in enumerate(found)]
            for number, label in enumerate(_by_place(version, own)):
                if found[number] is None and label != own[number]:
                    found[number] = self._free([label])
        return found

    def _free(self, labels: Iterable[Hashable]) -> Hashable | None:
        """Take the first label that no other element of the result has."""
        label = next((label for label in labels if label not in self._taken), None)
        self._taken.update(() if label is None else (label,))
        return label

    def _closest(self, node: Node, labels: list[Hashable]) -> list[Hashable]:
        """Return the labels of the elements of which a node may be an edited version."""
        leaves = Leaves(node)
        shared: dict[Hashable, int] = {}
        for label in labels:
            alike = [old for old in self._versions[label] if is_edit(old, node)]
            if alike:
                shared[label] = max(leaves.shared(Leaves(old)) for old in alike)
        return sorted(shared, key=lambda label: -shared[label])
