"""Pair the nodes of the versions of a document, and find which anchor each alias means.

An alias means the last anchor of its name before it, so an anchor that comes, goes or moves can
turn an alias that nobody touched. What an alias means is its name and the node that has the anchor,
paired as the merge pairs it, whatever the value of this node becomes. It is merged like a scalar:
if one side alone changed what an alias means, the result follows that side; if both sides changed
it, the place is a conflict.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import is_edit
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.plan import Build, Clash, Remark
from kmerge_git.merge.three import Three, agreed, grouped
from kmerge_git.tree.nodes import Alias, Collection
from kmerge_git.tree.parser import name_end
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from kmerge_git.merge.plan import Plan
    from kmerge_git.tree.nodes import Entry, Node
    from kmerge_git.tree.same import Known

    Meaning = tuple[str, int]  # the name of an alias, and the number of the node that it means
    Group = list[Node | None]  # a node in base, ours and theirs, and perhaps in the result
    Entries = Sequence[Entry]


def may_turn(texts: list[str]) -> bool:
    """Return whether an alias may mean something else after a merge of a document's versions.

    The answer False is certain: there is no alias, or all versions have the same lines with anchors
    and aliases, and each anchor only once.
    """
    if not any("*" in text and "&" in text for text in texts[-2:]):
        return False
    lines = [_marked_lines(text) for text in texts]
    names = [part[: name_end(part, 0)] for part in "\n".join(lines[0]).split("&")[1:]]
    names = [name for name in names if name]  # `&&` in a script names nothing
    return len(texts) < 3 or lines[1:] != lines[:-1] or len(set(names)) < len(names)


def _marked_lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if "&" in line or "*" in line]


def marks(node: Node) -> Iterator[Node]:
    """Yield the aliases and the nodes that have an anchor, in the order of the text."""
    if node.anchor or isinstance(node, Alias):
        yield node
    if isinstance(node, Collection):
        text, first, end = node.text, node.start, node.end
        if text.find("*", first, end) >= 0 or text.find("&", first, end) >= 0:
            for entry in node.entries:
                yield from marks_of_key(entry)
                yield from marks(entry.value)


def marks_of_key(entry: Entry | None) -> Iterator[Node]:
    if entry is not None and entry.key is not None:
        yield from marks(entry.key)


def resolved(nodes: Iterable[Node]) -> Iterator[tuple[Alias, Node | None]]:
    """Yield each alias with the node that it means."""
    last: dict[str, Node] = {}
    for node in nodes:
        if isinstance(node, Alias):
            yield node, last.get(node.name)
        else:
            last[node.anchor] = node


def lawful(at: Three[Meaning | None], side: str) -> list[Meaning | None]:
    """Return what an alias may mean in the result, if all conflicts are decided for a side."""
    if at.ours is None or at.theirs is None:
        return [at.ours or at.theirs]
    return [agreed(at), at.side(side)]


class Groups:
    """Hold which nodes of the three versions are one; a group has one node of each at most."""

    __slots__ = ("_known", "_of", "_sides")

    def __init__(self, count: int = 3) -> None:
        self._sides = range(count)  # of the versions
        self._of: dict[int, Group] = {}
        self._known: Known = {}

    def of(self, node: Node) -> Group:
        return self._of[id(node)]

    def number(self, node: Node) -> int:
        return id(self._of[id(node)])

    def meaning(self, alias: Alias, target: Node | None) -> Meaning:
        return alias.name, self.number(target) if target is not None else 0

    def unite(self, nodes: Group) -> None:
        """Make one group of nodes, unless their groups have two nodes of one version."""
        made: Group = [None for _ in self._sides]
        for side, node in enumerate(nodes):
            if node is None:
                continue
            alone: Group = [node if n == side else None for n in self._sides]
            group = self._of.setdefault(id(node), alone)
            if any(a and b and a is not b for a, b in zip(made, group, strict=True)):
                continue
            made = [a or b for a, b in zip(made, group, strict=True)]
            self._of.update((id(one), made) for one in made if one is not None)

    def pair(self, plan: Plan | None, nodes: Group) -> None:
        """Pair the nodes of one place and all nodes below them, as the plan pairs them."""
        self.unite(nodes)
        versions = [n.entries if isinstance(n, Collection) else () for n in nodes]
        plans = self.pair_planned(plan) if isinstance(plan, Build) else {}
        entry_of: dict[int, Entry] = {}
        for side, entries in enumerate(versions):
            for entry in entries:
                entry_of[id(entry.value)] = entry
                self.unite([entry.value if n == side else None for n in self._sides])
        for one, other in _each_two(len(self._sides)):
            if type(nodes[one]) is type(nodes[other]):
                self.pair_rest(one, versions[one], other, versions[other])
        groups = {self.number(entry.value): self.of(entry.value) for entry in entry_of.values()}
        for group in groups.values():
            there = [entry_of.get(id(node)) for node in group]
            self.unite([entry.key if entry is not None else None for entry in there])
            inside = (plans[id(node)] for node in group if id(node) in plans)
            self.pair(next(inside, None), group)

    def pair_planned(self, plan: Build) -> dict[int, Plan]:
        """Pair what the plan pairs in one collection; return the plan of each node by its id."""
        plans: dict[int, Plan] = {}
        for item in plan.items:
            if not isinstance(item.plan, Clash | Remark):
                trio = item.base, item.ours or item.replaces, item.theirs
                values = [entry.value if entry is not None else None for entry in trio]
                self.unite(values)
                plans.update((id(value), item.plan) for value in values if value is not None)
        return plans

    def pair_rest(self, one: int, some: Entries, other: int, others: Entries) -> None:
        """Pair entries of two versions that the plan does not pair: by key, or else by content."""
        left = [e for e in some if self.of(e.value)[other] is None]
        right = [e for e in others if self.of(e.value)[one] is None]
        for key in (_name, self.content, _name_inside):
            there = grouped((key(entry), entry) for entry in right)
            pairs = [(e, there[key(e)].pop(0)) for e in left if key(e) and there.get(key(e))]
            self.unite_all(pairs, one, other)
            left = [e for e in left if self.of(e.value)[other] is None]
            right = [e for e in right if self.of(e.value)[one] is None]
        if left and right and one == 0 and left[0].key is None:
            self.pair_edited(some, other, others)

    def pair_edited(self, base: Entries, other: int, others: Entries) -> None:
        """Pair elements of a list that were edited in their place."""
        gaps, there = self.gaps(base, other), self.gaps(others, 0)
        both = [(gaps[gap], there[gap]) for gap in gaps if gap in there]
        self.unite_all([(a[0], b[0]) for a, b in both if _is_one_edited(a, b)], 0, other)

    def gaps(self, entries: Entries, other: int) -> dict[Hashable, list[Entry]]:
        """Return the entries that another version does not have, by the paired entries around."""
        numbers = [self.number(e.value) if self.of(e.value)[other] else 0 for e in entries]
        around: list[list[int]] = [[], []]
        for near, order in zip(around, (numbers, reversed(numbers)), strict=True):
            for number in order:
                near.append(number or (near[-1] if near else 0))
        beside = zip(around[0], reversed(around[1]), strict=True)
        alone = zip(beside, numbers, entries, strict=True)
        return grouped((gap, entry) for gap, number, entry in alone if not number)

    def unite_all(self, pairs: Iterable[tuple[Entry, Entry]], one: int, other: int) -> None:
        for a, b in pairs:
            self.unite([{one: a.value, other: b.value}.get(n) for n in self._sides])

    def content(self, entry: Entry) -> Hashable:
        return canon(entry.value, self._known) if entry.key is None else None

    def pair_moved(self, anchored: list[list[Node]]) -> None:
        """Pair nodes with the same anchor and value, if two versions have one such node left."""
        for one, other in _each_two(len(self._sides)):
            versions = [
                grouped((canon(n, self._known), n) for n in anchored[x] if not self.of(n)[y])
                for x, y in ((one, other), (other, one))
            ]
            for value, nodes in versions[0].items():
                there = versions[1].get(value, [])
                if len(nodes) == len(there) == 1:
                    self.unite([{one: nodes[0], other: there[0]}.get(n) for n in self._sides])


def _name(entry: Entry) -> str:
    return entry.name


def _is_one_edited(some: list[Entry], others: list[Entry]) -> bool:
    """Return whether a gap has one element without a key in each of two versions, and it is one."""
    if len(some) > 1 or len(others) > 1 or _name_inside(some[0]) or _name_inside(others[0]):
        return False
    old, new = some[0].value, others[0].value
    return old.anchor == new.anchor != "" or is_edit(old, new)


def _name_inside(entry: Entry) -> str | None:
    return field_text(entry.value, "name") if entry.key is None else None


def _each_two(count: int) -> list[tuple[int, int]]:
    return [(one, other) for other in range(count) for one in range(other)]
