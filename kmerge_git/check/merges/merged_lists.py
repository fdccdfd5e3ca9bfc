"""The elements of a merged list, and what each side of the merge has in their places.

By their keys, where the list has some. Without keys equal elements are the same, and what stands
between two of the same is the other's version of what stands there, if it is much alike.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from kmerge_git.kube.likeness import CLEARLY, MOST_COMPARISONS, SAME_PLACE, Leaves, likeness
from kmerge_git.kube.listkeys import ListKeys
from kmerge_git.text.diff3 import changes
from kmerge_git.tree.nodes import Alias, Collection, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kmerge_git.kube.fieldpath import Element
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.tree.same import Known

    Nodes = list[Node | None]
    Keyed = list[tuple[Hashable, Node]]

SURE = SAME_PLACE + CLEARLY  # more than keys that are the same
BLOCK = ("|", ">")  # the headers of texts of several lines


class ElementKeys:
    """What tells the elements of a list apart: their key fields, or all that they are."""

    __slots__ = ("_keys", "_known", "are_fields")

    def __init__(
        self, versions: list[Sequence], sides: list[Sequence], rule: ListRule, known: Known
    ) -> None:
        self._known = known
        self._keys = ListKeys(rule, [side.entries for side in sides])
        self.are_fields = self._keys.exist and rule.kind != "set"
        if self.are_fields:
            nodes = [entry.value for version in versions for entry in version.entries]
            self.are_fields = all(self._keys.of(node) is not None for node in nodes)

    def of(self, node: Node) -> Hashable:
        """Return the key of an element."""
        return self._keys.of(node) if self.are_fields else canon_of(node, self._known)

    def step(self, key: Hashable, number: int) -> Element | int:
        """Return the step of a path to the element with a key, or with a number."""
        return (self._keys.step(key) if self.are_fields else ()) or number


class Elements:
    """The elements of a merged list and of the list on each side, by their keys."""

    __slots__ = ("_lists", "_partners", "_tables", "all", "made")

    def __init__(
        self, made: Sequence, lists: list[Sequence], key_of: Callable[[Node], Hashable]
    ) -> None:
        self.made, *self._lists = (
            [(key_of(e.value), e.value) for e in one.entries] for one in (made, *lists)
        )
        self.all = [node for side in self._lists for _, node in side]
        self._tables = [_table(side) for side in self._lists]
        self._partners: list[dict[int, Node]] | None = None

    def of(self, key: Hashable) -> list[Node]:
        """Return the element with a key, as each side has it that has it."""
        return [table[key][0] for table in self._tables if key in table]

    def in_place(self, number: int) -> Nodes:
        """Return what each side has in the place of an element that no side has unchanged."""
        if self._partners is None:
            self._partners = [_in_places(side, self.made) for side in self._lists]
        return [partners.get(number) for partners in self._partners]

    def twice(self) -> list[Node]:
        """Return elements that are here more often than on any side, or twice in a row."""
        tables = [Counter(_with_options(side)) for side in self._lists]
        behind = {pair for side in self._lists for pair in _repeated(side)}
        met: Counter[Hashable] = Counter()
        found = []
        before: Hashable = None
        for (key, node), words in zip(self.made, _with_options(self.made), strict=True):
            met[words] += 1
            most = max((table[words] for table in tables), default=0)
            if met[words] > max(most, 1) or (key == before and key not in behind):
                found.append(node)
            before = key
        return found

    def gone(self) -> list[Node]:
        """Return elements that every side has and no merge drops, unless others replaced them."""
        counts = Counter(key for key, _ in self.made)
        new = [n for n, (key, _) in enumerate(self.made) if not self.of(key)]
        taken = {id(node) for n in new for node in self.in_place(n)}
        found = [
            nodes[0]
            for key, nodes in self._tables[0].items()
            if counts[key] < least([len(table.get(key, ())) for table in self._tables])
            and not taken.intersection(map(id, nodes))
        ]
        found += self._versions_gone(set(counts), taken)
        strange = sum(not any(self.in_place(n)) for n in new)
        return found if len(found) > strange else [n for n in found if isinstance(n, Alias)]

    def _versions_gone(self, made: set[Hashable], taken: set[int]) -> list[Node]:
        """Return elements that differ between the sides, and none of whose versions is left."""
        ours, others = self._lists[-2], [*self._lists[:-2], self._lists[-1]]
        wanted = [
            n
            for n, (key, node) in enumerate(ours)
            if key not in made and id(node) not in taken and len(self.of(key)) < len(self._lists)
        ]
        if not wanted:
            return []
        partners = [_in_places(side, ours, SURE) for side in others]
        keys = {id(node): key for side in others for key, node in side}
        found = []
        for n in wanted:
            key, node = ours[n]
            versions = [
                table[key][0] if key in table else places.get(n)
                for table, places in zip(map(_table, others), partners, strict=True)
            ]
            if all(v and keys[id(v)] not in made and id(v) not in taken for v in versions):
                found.append(node)
        return found


def least(counts: list[int]) -> int:
    """Return how many equal things a merge must leave, given their counts in base, ours and theirs.

    Without a base the counts are those of ours and theirs.
    """
    if len(counts) < 3:
        return min(counts)
    base, ours, theirs = counts
    return max(0, min(base, ours, theirs, ours + theirs - base))


def _table(side: Keyed) -> dict[Hashable, list[Node]]:
    table: dict[Hashable, list[Node]] = {}
    for key, node in side:
        table.setdefault(key, []).append(node)
    return table


# -- elements that stand twice


def _with_options(side: Keyed) -> list[Hashable]:
    """Return the keys of elements, an option and its argument as one: `-f a -f b`."""
    words: list[Hashable] = []
    option: Hashable = None  # that waits for its argument
    for number, (key, node) in enumerate(side):
        if _is_option(node):
            words.append(("option", key, _argument(side, number)))
            option = key
        else:
            is_argument = option is not None and not _has_dash(node)
            words.append(("argument", option, key) if is_argument else key)
            option = None
    return words


def _argument(side: Keyed, number: int) -> Hashable:
    """Return the key of the argument behind an option; None if another option follows."""
    for key, node in side[number + 1 :]:
        if key != side[number][0]:
            return None if _has_dash(node) else key
    return None


def _is_option(node: Node) -> bool:
    return _has_dash(node) and isinstance(node, Scalar) and "=" not in node.value


def _has_dash(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value[:1] == "-"


def _repeated(side: Keyed) -> list[Hashable]:
    return [key for (key, _), (after, _) in pairwise(side) if key == after]


# -- elements that were changed


def _in_places(side: Keyed, made: Keyed, share: float = SAME_PLACE) -> dict[int, Node]:
    """Return elements of a side by the numbers of the merged elements in their places."""
    found: dict[int, Node] = {}
    for s0, s1, m0, m1 in changes([key for key, _ in side], [key for key, _ in made]):
        if s0 == s1 or m0 == m1 or (s1 - s0) * (m1 - m0) > MOST_COMPARISONS:
            continue
        old, new = ([_Content(node) for _, node in gap] for gap in (side[s0:s1], made[m0:m1]))
        table = [
            (_likeness(a, b), -abs(i - j), i, j)
            for i, a in enumerate(old)
            for j, b in enumerate(new)
        ]
        taken: set[int] = set()
        for alike, _, i, j in sorted(table, reverse=True):
            if alike >= share and i not in taken and m0 + j not in found:
                taken.add(i)
                found[m0 + j] = old[i].node
    return found


class _Content:
    """What an element holds, as it is compared with others."""

    __slots__ = ("is_text", "leaves", "names", "node", "words")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.leaves = Leaves(node) if isinstance(node, Collection) else None
        self.names = node.index().keys() if isinstance(node, Mapping) else None
        self.is_text = isinstance(node, Scalar) and node.style in BLOCK
        text = node.value if isinstance(node, Scalar) else node.raw
        self.words = Counter(text.split())


def _likeness(old: _Content, new: _Content) -> float:
    """Return the share of two elements that is the same; equal keys alone count as one place."""
    if old.is_text:  # a text that lost its header may be anything; a value of a line is replaced
        is_part = new.is_text and new.words <= old.words
        return max(likeness(old.words, new.words), SAME_PLACE if is_part else 0.0)
    if old.leaves is None or new.leaves is None or type(old.node) is not type(new.node):
        return 0.0
    total = old.leaves.total + new.leaves.total
    share = 2 * old.leaves.shared(new.leaves) / total if total else 1.0
    return max(share, SAME_PLACE) if _is_rest(old, new) else share


def _is_rest(old: _Content, new: _Content) -> bool:
    """Return whether a mapping has the fields of another, or a part of them and nothing else."""
    if old.names is None or new.names is None or old.leaves is None or new.leaves is None:
        return False
    is_part = new.leaves.total > 0 and old.leaves.shared(new.leaves) == new.leaves.total
    return old.names == new.names or (is_part and new.names <= old.names)
