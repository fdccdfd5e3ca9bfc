"""What a merge of three trees has to come to: a merge by who is who, knowing nothing of lines.

A node that one side deleted must be untouched on the other. What a node says is merged word by
word of it. A node that was wrapped, or whose block was taken away, has another parent now. What
both put into one gap may stand in either order. Then the keys: what stands twice where each side
has it once is a conflict, unless both added the same in one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cmp_to_key
from itertools import product

from worlds.template_model import Node, walk

SMALL = 3  # nodes of an entry that may be another one under another key


@dataclass(frozen=True)
class Truth:
    """The trees that are right, none where it must be a conflict."""

    trees: tuple[Node, ...]
    may_clash: bool = False  # a conflict will do as well


class Clash(Exception):
    """Two changes of one thing."""


def truth(base: Node, ours: Node, theirs: Node) -> Truth:
    """The merge."""
    first, other = map(_merged, ((base, ours, theirs), _replaced(base, ours, theirs)))
    return Truth(first.trees + other.trees, first.may_clash or not first.trees)


def _merged(versions: tuple[Node, Node, Node]) -> Truth:
    try:
        return _Merge(*versions).truth()
    except Clash:
        return Truth(())


def _replaced(base: Node, ours: Node, theirs: Node) -> tuple[Node, Node, Node]:
    """The versions with new nodes for small ones with another key or kind, and no lost comment."""
    old, mine, yours = ({node.who: node for node in walk(x)} for x in (base, ours, theirs))

    def renewed(tree: Node, side: str, other: dict[str, Node], inside: bool = False) -> Node:
        was = old.get(tree.who)
        if was is not None and was.says[:2] != tree.says[:2]:
            small = len(list(walk(tree))) <= SMALL
            inside |= was.kind == "scalar" or (was.kind == "entry" and small)
            inside |= was.kind == "comment" and tree.who not in other
        children = tuple(renewed(child, side, other, inside) for child in tree.children)
        return replace(tree, who=f"{side}~{tree.who}" if inside else tree.who, children=children)

    return base, renewed(ours, "o", yours), renewed(theirs, "t", mine)


class _Version:
    """A tree, with what is asked of it."""

    def __init__(self, root: Node) -> None:
        self.nodes = {node.who: node for node in walk(root)}
        self.parent = {child.who: node.who for node in walk(root) for child in node.children}
        self.start = {who: at for at, who in enumerate(self.nodes)}

    def end(self, who: str) -> int:
        return self.start[who] + sum(1 for _ in walk(self.nodes[who]))


class _Merge:
    def __init__(self, base: Node, ours: Node, theirs: Node) -> None:
        self.root = base.who
        self.base, self.ours, self.theirs = map(_Version, (base, ours, theirs))
        self.may_clash = False
        self.common = [who for who in self.ours.nodes if who in self.theirs.nodes]

    def truth(self) -> Truth:
        known = dict.fromkeys([*self.base.nodes, *self.ours.nodes, *self.theirs.nodes])
        for who in self.base.nodes:
            self._deleted_well(who)
        kept = [who for who in known if self._is_kept(who)]
        says = {who: self._says(who) for who in kept}
        parents = {who: self._parent(who) for who in kept if who != self.root}
        self._into_wraps(parents)
        trees = []
        for ours_first, left_out in product((True, False), self._alike(parents)):
            here = {who: parent for who, parent in parents.items() if who not in left_out}
            tree = self._tree(self.root, here, says, ours_first)
            if tree not in trees and self._is_sound(tree):
                trees.append(tree)
        if not trees:
            raise Clash
        return Truth(tuple(trees), self.may_clash)

    # -- what is there

    def _is_kept(self, who: str) -> bool:
        return who not in self.base.nodes or (who in self.ours.nodes and who in self.theirs.nodes)

    def _deleted_well(self, who: str) -> None:
        """What one side deleted has no change on the other."""
        for side, other in ((self.ours, self.theirs), (self.theirs, self.ours)):
            if who in side.nodes or who not in other.nodes:
                continue
            if other.nodes[who].says != self.base.nodes[who].says:
                raise Clash
            if other.parent[who] == self.base.parent[who]:
                continue
            wrapped = other.parent[who] not in self.base.nodes
            if wrapped or self.base.parent[who] not in side.nodes:
                raise Clash

    def _says(self, who: str) -> tuple[str, ...]:
        versions = [
            v.nodes[who].says for v in (self.base, self.ours, self.theirs) if who in v.nodes
        ]
        if who not in self.base.nodes:
            return versions[0]
        old, mine, yours = versions
        if old not in (mine, yours) and mine != yours:
            if old[0] != mine[0] or old[0] != yours[0]:
                raise Clash
            self.may_clash = True
        return tuple(_one_of(*three) for three in zip(old, mine, yours, strict=True))

    def _parent(self, who: str) -> str:
        if who not in self.base.nodes:
            side = self.ours if who in self.ours.nodes else self.theirs
            return self._lifted(who, side)
        old, mine, yours = (v.parent[who] for v in (self.base, self.ours, self.theirs))
        if old not in (mine, yours) and mine != yours:
            new = [parent for parent in (mine, yours) if parent not in self.base.nodes]
            if len(new) != 1:
                raise Clash
            self.may_clash = True
            return new[0]
        return _one_of(old, mine, yours)

    def _lifted(self, who: str, side: _Version) -> str:
        """Where a new node stands if its block was taken away around what is left."""
        other = self.theirs if side is self.ours else self.ours
        parent = side.parent[who]
        while not self._is_kept(parent):
            self.may_clash = True
            inside = [child.who for child in self.base.nodes[parent].children]
            held = self.base.nodes[parent].kind == "arm" and any(x in other.nodes for x in inside)
            if side.nodes[who].kind == "arm" or not (held or self._is_left(parent, other)):
                raise Clash
            parent = self.base.parent[parent]
        return parent

    def _is_left(self, who: str, other: _Version) -> bool:
        """Whether something is left of a block that is gone."""
        return self.base.nodes[who].kind == "block" and any(
            node.who in other.nodes for node in walk(self.base.nodes[who])
        )

    def _into_wraps(self, parents: dict[str, str]) -> None:
        """What one side put between two nodes that the other wrapped together is wrapped, too."""
        for side, other in ((self.ours, self.theirs), (self.theirs, self.ours)):
            for who in [who for who in parents if self._is_new(who, side)]:
                for wrap in [who for who in parents if self._is_new(who, other)]:
                    low, high = self._span(wrap, other)
                    first, last = self._span(who, side)
                    if parents[who] == parents[wrap] and low < first and last < high:
                        parents[who] = other.nodes[wrap].children[0].who
                        self.may_clash = True

    def _is_new(self, who: str, side: _Version) -> bool:
        return who not in self.base.nodes and who in side.nodes

    def _alike(self, parents: dict[str, str]) -> list[set[str]]:
        """What may be left out: nothing, or on one side what both added alike."""
        found: list[set[str]] = [set()]
        tops = [
            [w for w in parents if self._is_new(w, side) and parents[w] in self.base.nodes]
            for side in (self.ours, self.theirs)
        ]
        for mine, yours in product(*tops):
            left, right = self.ours.nodes[mine], self.theirs.nodes[yours]
            if parents[mine] == parents[yours] and _content(left) == _content(right):
                self.may_clash = True
                found += [{node.who for node in walk(top)} for top in (left, right)]
        return found

    # -- the tree

    def _tree(
        self, who: str, parents: dict[str, str], says: dict[str, tuple[str, ...]], ours_first: bool
    ) -> Node:
        def compare(x: str, y: str) -> int:
            return self._before(x, y) or (1 if (x in self.ours.nodes) != ours_first else -1)

        inside = sorted((x for x in parents if parents[x] == who), key=cmp_to_key(compare))
        kind, name, value, trim = says[who]
        children = tuple(self._tree(x, parents, says, ours_first) for x in inside)
        return Node(who, kind, name, value, trim, children)

    def _before(self, x: str, y: str) -> int:
        """Negative if the first stands before the second, 0 if they stand in one gap."""
        for version in (self.ours, self.theirs, self.base):
            if x in version.nodes and y in version.nodes:
                return version.start[x] - version.start[y]
        (low, high), (first, last) = (
            self._span(who, self.ours if who in self.ours.nodes else self.theirs) for who in (x, y)
        )
        return (first >= high and -1) + (low >= last and 1)

    def _span(self, who: str, side: _Version) -> tuple[int, int]:
        """How many common nodes stand before its start, and before its end."""
        start, end = side.start[who], side.end(who)
        places = [side.start[other] for other in self.common]
        return sum(at < start for at in places), sum(at < end for at in places)

    # -- the keys

    def _is_sound(self, tree: Node) -> bool:
        """Whether nothing stands twice, or beside its like, that did not on a side."""
        seen = Counter[tuple[str, ...]]()
        for version in (self.base, self.ours, self.theirs):
            seen |= _twice(version.nodes[self.root])
        return not (
            _twice(tree) - seen
            or self._both_replaced()
            or self._spelled_twice(tree)
            or self._assigned_twice(tree)
            or any(_has_two_ends(node) for node in walk(tree))
        )

    def _both_replaced(self) -> bool:
        """Whether both sides have outputs of their own instead of an entry, or one for two."""
        mine, yours = (
            {who: node for who, node in side.nodes.items() if "~" in who and node.kind == "output"}
            for side in (self.ours, self.theirs)
        )
        return any(
            one[1:] == other[1:] or mine[one].name == yours[other].name
            for one, other in product(mine, yours)
        )

    def _assigned_twice(self, tree: Node) -> bool:
        """Whether both sides set a variable to other values, wherever in the file."""
        new = [
            {
                n.name: n.value
                for n in walk(tree)
                if n.kind == "assign" and self._is_new(n.who, side)
            }
            for side in (self.ours, self.theirs)
        ]
        return any(new[1].get(name, value) != value for name, value in new[0].items())

    def _spelled_twice(self, tree: Node) -> bool:
        """Whether both sides have a new key in one container, one of them a templated one."""
        return any(
            "{{" in one.name + other.name
            for keys in _containers(tree)
            for (_, _, one), (_, _, other) in product(keys, keys)
            if self._has_new_key(one, self.ours) and self._has_new_key(other, self.theirs)
        )

    def _has_new_key(self, node: Node, side: _Version) -> bool:
        if node.kind not in ("entry", "list", "flow", "scalar", "item", "doc") or not _key(node):
            return False
        old, new = self.base.nodes.get(node.who), side.nodes.get(node.who)
        return new is not None and (old is None or _key(old) != _key(new))


def _one_of(old: str, mine: str, yours: str) -> str:
    if mine in (yours, old):
        return yours
    if yours == old:
        return mine
    raise Clash


def _content(node: Node) -> object:
    return node.says, tuple(map(_content, node.children))


Key = tuple[tuple[str, ...], tuple[tuple[str, int], ...], Node]


def _has_two_ends(node: Node) -> bool:
    """Whether something stands behind an `else`."""
    return any(arm.name == "else" for arm in node.children[:-1])


def _twice(tree: Node) -> Counter[tuple[str, ...]]:
    """The keys that stand more than once where one text may show both."""
    return Counter(
        (one[0], *sorted((one[2].who, other[2].who)))
        for keys in _containers(tree)
        for at, one in enumerate(keys)
        for other in keys[:at]
        if one[0] == other[0] and not _exclude(one[1], other[1])
    )


def _exclude(one: tuple[tuple[str, int], ...], other: tuple[tuple[str, int], ...]) -> bool:
    """Whether they stand in two arms of one block."""
    arms = dict(one)
    return any(arms.get(who, at) != at for who, at in other)


def _containers(tree: Node) -> Iterator[list[Key]]:
    """The keys of every container, blocks seen through, each with its arms."""
    for node in walk(tree):
        if node.kind not in ("block", "arm") or node.name.startswith("define "):
            yield list(_keys(node, ()))


def _keys(node: Node, arms: tuple[tuple[str, int], ...]) -> Iterator[Key]:
    for at, child in enumerate(node.children):
        inner = (*arms, (node.who, at)) if node.kind == "block" else arms
        key = _key(child)
        if key:
            yield key, inner, child
        if child.kind == "block" and child.children[0].name.startswith("define "):
            yield (child.children[0].name,), inner, child
        elif child.kind in ("block", "arm"):
            yield from _keys(child, inner)


def _key(node: Node) -> tuple[str, ...]:
    if node.kind in ("entry", "list", "flow", "scalar"):
        return "key", node.name
    if node.kind == "item":
        return ("item", node.name) if node.value == "keyed" else ()
    if node.kind == "doc":
        return ("doc", node.value, node.name) if node.value else ()
    return (node.kind, node.name) if node.kind in ("output", "assign") else ()
