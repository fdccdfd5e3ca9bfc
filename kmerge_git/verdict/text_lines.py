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


def lost_lines(at: Three[Lines], made: Lines) -> Iterator[tuple[str, str]]:
    """Yield the side and the first line of each change to a text that the result lost."""
    base, ours, theirs = at.each()
    versions = {"ours": (ours, theirs), "theirs": (theirs, ours)}
    for side in SIDES:
        for line in _LostLines(base, *versions[side], made).each():
            yield side, line


def judged_lines(node: Node | None) -> Lines:
    """Return the lines of a block text without indentation, comments and empty lines."""
    if not isinstance(node, Scalar):
        return []
    lines = (line.strip() for line in body_lines(node))
    return [line for line in lines if line and not line.startswith("#")]


class _LostLines:
    """Compare the changes that one side made to a text with the result."""

    __slots__ = ("_base", "_made", "_new", "_other", "_side", "_texts")

    def __init__(self, base: Lines, side: Lines, other: Lines, made: Lines) -> None:
        self._base, self._side, self._other, self._made = map(Counter, (base, side, other, made))
        self._new = [*(self._made - self._base - self._side)]
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
        return self._side[line] > self._base[line] and self._made[line] < self._expected(line)

    def _is_left(self, line: str) -> bool:
        """Return whether the side took away a line that the result still has."""
        return self._side[line] < self._base[line] and self._made[line] > self._expected(line)

    def _expected(self, line: str) -> int:
        """Return how often the result has a line if it has the changes of both sides."""
        base, side, other = self._base[line], self._side[line], self._other[line]
        if min(side, other) > base:
            return max(side, other)
        return max(side + other - base, 0)

    def _is_lost(self, missing: Lines, old: Lines, left: Lines) -> bool:
        """Return whether the result has no other version of the missing lines."""
        if left:
            return True
        if any(self._other[line] < self._base[line] for line in old):
            return False  # both sides changed these lines, so a person decided
        return not any(_is_rewritten(missing[0], line) for line in self._new)


def _is_rewritten(line: str, new: str) -> bool:
    mine, yours = Counter(line.split()), Counter(new.split())
    common = (mine & yours).total()
    return common >= _ALIKE * max(mine.total(), yours.total())
