"""What two lists have in common: equal ends, and what `difflib` says of the rest.

The laws of merges ask this, and not the package's own comparison of lines, which the merges ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """The blocks `(i0, i1, j0, j1)` with `a[i0:i1] == b[j0:j1]`, in order."""
    most = min(len(a), len(b))
    head = next((at for at in range(most) if a[at] != b[at]), most)
    most -= head
    tail = next((at for at in range(most) if a[-1 - at] != b[-1 - at]), most)
    inner = SequenceMatcher(None, a[head : len(a) - tail], b[head : len(b) - tail], autojunk=False)
    found = [(i + head, j + head, size) for i, j, size in inner.get_matching_blocks()]
    blocks = [(0, 0, head), *found, (len(a) - tail, len(b) - tail, tail)]
    return [(i, i + size, j, j + size) for i, j, size in blocks if size]
