"""Spell the values of a place, so that a person sees how the versions differ."""

from __future__ import annotations

from collections import Counter

from kmerge_git.merge.three import Three
from kmerge_git.outcome import LABELS
from kmerge_git.tree.block_scalars import body_lines
from kmerge_git.tree.brief import beside, in_full, listed
from kmerge_git.tree.nodes import Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.same import canon, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import TypeVar

    T = TypeVar("T")

# where two versions differ and read the same
ALMOST = "(same as {} except for blanks, order, tags or anchors)"


def alike(a: Node | None, b: Node | None) -> bool:
    """Return whether two nodes have the same meaning, or are both absent."""
    return a is b or (not (a is None or b is None) and same_node(a, b))


def as_lists(at: Three[Node | None]) -> Three[Sequence | None]:
    """Return the versions that are lists, and None for the others."""
    return at.map(lambda node: node if isinstance(node, Sequence) else None)


def shown_values(at: Three[Node | None]) -> Three[str]:
    """Return the three values of a place, each in one line.

    For texts and lists, return only the parts that differ.
    """
    there = [node for node in at.each() if node is not None]
    texts = at.map(in_full)
    if len(there) > 1 and all(map(is_block_text, there)):
        lines = at.map(lambda node: body_lines(node) if isinstance(node, Scalar) else None)
        texts = apart(lines, str, str.strip, _as_lines)
    elif len(there) > 1 and all(isinstance(node, Sequence) for node in there):
        lists = as_lists(at).map(lambda n: [e.value for e in n.entries] if n is not None else None)
        texts = apart(lists, canon, in_full, lambda parts, is_all: listed(parts, all_of_it=is_all))
    return side_by_side(at, texts, alike)


def side_by_side(at: Three[T], texts: Three[str], same: Callable[[T, T], bool]) -> Three[str]:
    """Return the texts of three versions in one line each, so that different versions differ.

    Words say it where two different versions read the same.
    """
    versions = at.each()
    shown = beside([" ".join(text.split()) for text in texts.each()])
    for later, earlier in ((1, 0), (2, 0), (2, 1)):
        is_read_alike = bool(shown[later]) and shown[later] == shown[earlier]
        if is_read_alike and not same(versions[later], versions[earlier]):
            shown[later] = ALMOST.format(LABELS[earlier])
    return Three(*shown)


def apart(
    at: Three[list[T] | None],
    key: Callable[[T], Hashable],
    spelled: Callable[[T], str],
    joined: Callable[[list[str], bool], str],
) -> Three[str]:
    """Return for each version its parts that some other version lacks.

    If the versions differ only in the order of their parts, return all parts.
    """
    counts = [Counter(map(key, parts)) for parts in at.each() if parts is not None]
    common = counts[0]
    for count in counts[1:]:
        common = common & count

    def rest(parts: list[T] | None) -> list[T]:
        left = Counter(common)
        different = []
        for one in parts or ():
            left[key(one)] -= 1
            different += [one] if left[key(one)] < 0 else []
        return different

    is_order = not any(map(rest, at.each()))

    def shown(parts: list[T] | None) -> str:
        if parts is None:
            return ""
        different = parts if is_order else rest(parts)
        return joined([spelled(one) for one in different], len(different) == len(parts))

    return at.map(shown)


def _as_lines(parts: list[str], is_all: bool) -> str:
    text = " / ".join(part for part in parts if part)
    return text if is_all else f"… {text}"
