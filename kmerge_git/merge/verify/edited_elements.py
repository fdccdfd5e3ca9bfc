"""Find the edited elements in the four versions of a list without keys.

An element of base that a side lacks is edited on that side if the side has a new element that is
alike (see `kube.likeness.is_edit`), and if no other element can be meant: no other element that is
gone or new on that side is alike with one of the two, or both are alone in one gap.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import is_edit
from kmerge_git.merge.verify.newcomers import readings
from kmerge_git.merge.verify.sites import RESULT
from kmerge_git.tree.nodes import Alias, has_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.merge.verify.count_laws import Count, Keys
    from kmerge_git.tree.nodes import Node

    Counts = dict[Hashable, Count]
    Positions = list[int]

_MOST_COMPARISONS = 400


class Edit:
    """Hold the key of an edited element in base, and its keys on both sides.

    The key is None on a side that deleted the element.
    """

    __slots__ = ("old", "ours", "theirs")

    def __init__(self, old: Hashable, ours: Hashable, theirs: Hashable) -> None:
        self.old = old
        self.ours = ours  # equal to `old` if ours has not changed the element
        self.theirs = theirs

    @property
    def is_disputed(self) -> bool:
        """Return whether one side edited the element and the other side deleted it."""
        return self.ours is None or self.theirs is None

    @property
    def single(self) -> Hashable:
        """Return the key that the result must have, or None if the sides differ."""
        if self.theirs in (self.ours, self.old):
            return self.ours
        return self.theirs if self.ours == self.old else None


def edits(keys: list[Keys], nodes: list[list[Node]], counts: Counts) -> list[Edit]:
    """Return the elements of base that one side or both sides edited."""
    found = [_edited(keys, nodes, counts, side) for side in (1, 2)]
    result = []
    for old in {**found[0], **found[1]}:
        news = [pairs.get(old) for pairs in found]
        for side, new in enumerate(news, 1):
            if new is None and counts[old][side] == 1:
                news[side - 1] = old  # unchanged on this side
            elif new is None and not _only_deletes(counts, side):
                break  # a new element of this side may be a version that is not alike
        else:
            if all(new is None or _is_new(counts, old, new, news) for new in news):
                result.append(Edit(old, *news))
    return result


def _only_deletes(counts: Counts, side: int) -> bool:
    """Return whether a side added no element that the other side lacks."""
    return not any(count[side] > max(count[0], count[3 - side]) for count in counts.values())


def _is_new(counts: Counts, old: Hashable, new: Hashable, news: list[Hashable]) -> bool:
    """Return whether only the edited element can have this key in the three versions."""
    return new == old or counts[new][1:RESULT] == [int(each == new) for each in news]


def _edited(
    keys: list[Keys], nodes: list[list[Node]], counts: Counts, side: int
) -> dict[Hashable, Hashable]:
    """Return the edited elements of a side by their keys in base."""
    gone = [n for n, key in enumerate(keys[0]) if counts[key][side] < counts[key][0]]
    new = [n for n, key in enumerate(keys[side]) if counts[key][side] > counts[key][0]]
    if len(gone) * len(new) > _MOST_COMPARISONS:
        return {}
    alike = {(n, m) for n in gone for m in new if _is_version(nodes[0][n], nodes[side][m])}
    pairs = _unique(alike)
    if len(pairs) < len(alike):
        near = _alone_in_a_gap(keys, side, gone, new) & alike
        pairs |= {pair for pair in _unique(near) if not _is_taken(pair, pairs)}
    named = {keys[0][n]: keys[side][m] for n, m in pairs}
    return {x: y for x, y in named.items() if counts[x][0] == 1 and not counts[y][0]}


def _is_version(old: Node, new: Node) -> bool:
    if has_lines(old) or has_lines(new) or isinstance(old, Alias):
        return False
    return is_edit(old, new)


def _unique(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs of which neither part is in another pair."""
    olds, news = [n for n, _ in pairs], [m for _, m in pairs]
    return {(n, m) for n, m in pairs if olds.count(n) == 1 == news.count(m)}


def _is_taken(pair: tuple[int, int], pairs: set[tuple[int, int]]) -> bool:
    return any(pair[0] == n or pair[1] == m for n, m in pairs)


def _alone_in_a_gap(
    keys: list[Keys], side: int, gone: Positions, new: Positions
) -> set[tuple[int, int]]:
    """Return the pairs that are the only gone and the only new element of a gap, in any reading."""
    found = set()
    for reading in readings(keys[0], keys[side]):
        gaps: dict[int, tuple[Positions, Positions]] = {}
        stayed = reading.stayed
        for n in gone:
            gaps.setdefault(sum(old < n for old in stayed), ([], []))[0].append(n)
        for m in new:
            gaps.setdefault(sum(there < m for there in stayed.values()), ([], []))[1].append(m)
        found |= {(a[0], b[0]) for a, b in gaps.values() if len(a) == 1 == len(b)}
    return found
