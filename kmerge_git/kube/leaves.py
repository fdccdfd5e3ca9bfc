"""Whether an element of a collection was renamed: the same leaves under another key.

A leaf is a scalar, or an empty collection, with the keys that lead to it. The leaves of a list
are one group: an element more or less does not make the others strange.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import FEW_LEAVES, LONG_LEAF, RENAMED_LEAVES, SAME_THING
from kmerge_git.tree.nodes import Alias, Collection, Mapping, Node, Scalar
from kmerge_git.tree.scalars import meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection as Names
    from collections.abc import Hashable

    Leaf = tuple[tuple[str, ...], Hashable]


# what makes a resource the one it is
IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


class Leaves:
    """The leaves of an element without those that are its key, and how often each is there."""

    __slots__ = ("counts", "total")

    def __init__(self, node: Node | None, without: Names[tuple[str, ...]] = ()) -> None:
        self.counts: dict[Leaf, int] = {}
        if node is not None:
            _collect(node, (), self.counts)
        for leaf in [leaf for leaf in self.counts if leaf[0] in without]:
            del self.counts[leaf]
        self.total = sum(self.counts.values())

    def shared(self, other: Leaves) -> int:
        """How many leaves two elements have in common."""
        there = other.counts
        return sum(min(count, there.get(leaf, 0)) for leaf, count in self.counts.items())


def is_alike(old: Leaves, new: Leaves) -> bool:
    """Whether an element holds what an old one held, under another key."""
    part, whole = RENAMED_LEAVES
    if whole * old.shared(new) < part * max(old.total, new.total):
        return False
    return min(old.total, new.total) >= FEW_LEAVES or any(map(_is_long, _in_common(old, new)))


def leaves_of(resource: Node | None) -> Leaves:
    """What a resource holds, whatever it is called."""
    return Leaves(resource, IDENTITY)


def tells(old: Leaves, new: Leaves, elsewhere: set[Leaf]) -> bool:
    """Whether anything that two elements share is found in no other one."""
    return not _in_common(old, new) <= elsewhere


def _in_common(a: Leaves, b: Leaves) -> set[Leaf]:
    return a.counts.keys() & b.counts.keys()


def is_one_thing(ours: Leaves, theirs: Leaves) -> bool:
    """Whether what both sides put into a new list is one thing under two names."""
    part, whole = SAME_THING
    if min(ours.total, theirs.total) < FEW_LEAVES:
        return False
    return whole * ours.shared(theirs) >= part * max(ours.total, theirs.total)


def _is_long(leaf: Leaf) -> bool:
    value = leaf[1]
    return isinstance(value, tuple) and isinstance(value[-1], str) and len(value[-1]) > LONG_LEAF


def _collect(node: Node, path: tuple[str, ...], found: dict[Leaf, int]) -> None:
    if isinstance(node, Collection) and node.entries:
        for entry in node.entries:
            step = entry.name if isinstance(node, Mapping) else "[]"
            _collect(entry.value, (*path, step), found)
        return
    if isinstance(node, Scalar):
        value: Hashable = meaning(node)
    elif isinstance(node, Alias):
        value = ("*", node.name)
    else:
        value = type(node).__name__
    leaf = (path, value)
    found[leaf] = found.get(leaf, 0) + 1
