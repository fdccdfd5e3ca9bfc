"""Find the lines of a text that a side changed, and whose change the result does not have."""

from __future__ import annotations

from collections import Counter

from kmerge_git.outcome import SIDES
from kmerge_git.text.diff3 import changes
from kmerge_git.tree.block_scalars import body_lines
from kmerge_git.tree.nodes import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.tree.nodes import Node

    Lines = list[str]

_ALIKE = 0.5  # the share of common words of a line and its rewritten version


def lost_lines(at: Three[Node | None], result: Node) -> Iterator[tuple[str, str]]:
    """Yield the side and the first line of each change to a text that the result lost.

    Lines are compared without their indentation; comments and empty lines do not count.
    """
    base, ours, theirs = (_lines(node) for node in at.each())
    made = _lines(result)
    versions = {"ours": (ours, theirs), "theirs": (theirs, ours)}
    invented = [*(Counter(made) - Counter(base) - Counter(ours) - Counter(theirs))]
    for side in SIDES:
        mine, other = versions[side]
        for line in _LostLines(base, mine, other, made, invented).each():
            yield side, line


def _lines(node: Node | None) -> Lines:
    if not isinstance(node, Scalar):
        return []
    lines = (line.strip() for line in body_lines(node))
    return [line for line in lines if line and not line.startswith("#")]


class _LostLines:
    """Compare the changes that one side made to a text with the result."""

    __slots__ = ("_base", "_invented", "_made", "_other", "_side", "_texts")

    def __init__(
        self, base: Lines, side: Lines, other: Lines, made: Lines, invented: Lines
    ) -> None:
        self._base, self._side, self._other, self._made = map(Counter, (base, side, other, made))
        self._invented = invented
        self._texts = base, side

    def each(self) -> Iterator[str]:
        """Yield a line for each lost change."""
        base, side = self._texts
        for b0, b1, s0, s1 in changes(base, side):
            old, new = base[b0:b1], side[s0:s1]
            missing = [line for line in new if self._is_missing(line)]
            left = [line for line in old if self._is_left(line)]
            if missing and self._is_lost(missing, old, left):
                yield missing[0]
            elif old and not new and len(left) == len(old):
                yield left[0]

    def _is_missing(self, line: str) -> bool:
        """Return whether the side added a line that the result does not have."""
        return self._made[line] <= self._base[line] < self._side[line]

    def _is_left(self, line: str) -> bool:
        """Return whether the side took away a line that the result still has."""
        return self._made[line] >= self._base[line] > self._side[line]

    def _is_lost(self, missing: Lines, old: Lines, left: Lines) -> bool:
        """Return whether nothing stands for the missing lines, although nobody decided this."""
        if left:
            return True
        if any(self._other[line] < self._base[line] for line in old):
            return False  # both sides changed these lines, so a person decided
        return not any(_is_rewritten(missing[0], line) for line in self._invented)


def _is_rewritten(line: str, new: str) -> bool:
    mine, yours = Counter(line.split()), Counter(new.split())
    common = (mine & yours).total()
    return common >= _ALIKE * max(mine.total(), yours.total())
