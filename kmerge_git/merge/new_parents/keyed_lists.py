"""Find a list whose elements got keys on one side, or that got a new key above it."""

from __future__ import annotations

from kmerge_git.kube.likeness import Leaves
from kmerge_git.kube.listkeys import ListKeys
from kmerge_git.merge.new_parents.moved_parts import (
    BY_KEY_ALONE,
    Findings,
    FoundMove,
    is_moved,
    is_much_alike,
    losses,
)
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import moved_text
from kmerge_git.tree.nodes import Entry, Mapping, Scalar, Sequence
from kmerge_git.tree.same import (
    same_node,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.write.moved_text import Rewritten
    from kmerge_git.tree.nodes import Node

    Doubts = dict[Path, str]
    Rewrite = Callable[[str], Rewritten | None]  # the side -> the lines of that version


def list_to_map(
    findings: Findings, entries: Three[Entry | None], side: str, where: Where, path: Path
) -> None:
    """Search elements that got keys on one side, or whose list got a new key above it."""
    other = "theirs" if side == "ours" else "ours"
    versions = entries.base, entries.side(side), entries.side(other)
    base, mover, theirs = (entry.value if entry is not None else None for entry in versions)
    assert isinstance(base, Sequence) and isinstance(theirs, Sequence)  # the caller's case
    assert isinstance(mover, Mapping)  # the caller's case
    parents, keys = _shape(base, mover)
    if path[-1] in BY_KEY_ALONE or len(parents) > 1 or (keys is None) is (not parents):
        return
    pairs = _paired(base, theirs, where)
    if pairs is None:
        findings.doubt([path], Why.UNDER_NEW_PARENT)
        return
    if keys is None:
        moved = mover.index()[parents[0]].value
        lost = losses(base, theirs, moved, where, (*path, parents[0]))
        findings.doubt(lost, Why.UNDER_NEW_PARENT)
    else:
        _doubt_elements(findings, keys, pairs, mover, where, path)

    def rewrite(name: str) -> Rewritten | None:
        entry, like = entries.side(name), entries.side(side)
        assert entry is not None and like is not None  # the caller's case
        if keys is None:
            return moved_text.list_under_key(entry, like, parents[0])
        return moved_text.with_keys(entry, like, keys)

    findings.found(("map", path, side), FoundMove(other, rewrite, {}))


def two_maps(findings: Findings, at: Three[Node | None], where: Where, path: Path) -> None:
    """Doubt a list of which the sides made two maps in two ways, and what one map lacks."""
    base, ours, theirs = at.each()
    assert isinstance(base, Sequence)  # the caller's case
    assert isinstance(ours, Mapping) and isinstance(theirs, Mapping)  # the caller's case
    mine, yours = _shape(base, ours), _shape(base, theirs)
    if mine != yours:
        findings.doubt([path], Why.UNDER_NEW_PARENT)
        return
    parents, keys = mine
    pairs: list[tuple[str, Node, Where]] = [(name, base, where) for name in parents]
    given = zip(keys or (), base.entries, strict=False)
    pairs += [(name, element.value, where.items()) for (name, _), element in given]
    for name, old, inside in pairs:
        for one, other in ((ours, theirs), (theirs, ours)):
            versions = one.index()[name].value, other.index()[name].value
            lost = losses(old, *versions, inside, (*path, name))
            findings.doubt(lost, Why.UNDER_NEW_PARENT)


def _shape(
    base: Sequence, mover: Mapping
) -> tuple[list[str], list[tuple[str, tuple[str, ...]]] | None]:
    """Return the keys that hold the whole list of base, and the new keys of its elements."""
    parents = [name for name, e in mover.index().items() if _is_the_list(base, e.value)]
    return parents, _keys_given(base, mover)


def _is_the_list(base: Sequence, value: Node) -> bool:
    return isinstance(value, Sequence) and is_moved(base, value)


def _doubt_elements(
    findings: Findings,
    keys: list[tuple[str, tuple[str, ...]]],
    pairs: list[tuple[Node, Node]],
    mover: Mapping,
    where: Where,
    path: Path,
) -> None:
    """Doubt what the other side deleted or renamed inside of elements that got keys."""
    for (key, dropped), (old, new) in zip(keys, pairs, strict=True):
        inside = (*path, key)
        if any(_differs(old, new, field) for field in dropped):  # its name is its key now
            findings.doubt([inside], Why.UNDER_NEW_PARENT)
        lost = losses(old, new, mover.index()[key].value, where.items(), inside)
        findings.doubt(lost, Why.UNDER_NEW_PARENT)


def _paired(base: Sequence, other: Sequence, where: Where) -> list[tuple[Node, Node]] | None:
    """Return the elements of two lists in pairs; return None if one is gone or new."""
    lists = [list(base.entries), list(other.entries)]
    keys = ListKeys(where.list_rule(), lists)
    old, new = (keys.table(entries) for entries in lists)
    if old is not None and new is not None:
        if list(old) != list(new):
            return None
        return [(entry.value, new[key].value) for key, entry in old.items()]
    if len(lists[0]) != len(lists[1]):
        return None
    pairs = [(a.value, b.value) for a, b in zip(*lists, strict=True)]
    return pairs if all(type(a) is type(b) for a, b in pairs) else None


def _differs(old: Node, new: Node, field: str) -> bool:
    """Return whether a field of an element was changed."""
    values = [node.get(field) if isinstance(node, Mapping) else None for node in (old, new)]
    return values[0] is None or values[1] is None or not same_node(values[0], values[1])


def _keys_given(base: Sequence, mover: Mapping) -> list[tuple[str, tuple[str, ...]]] | None:
    """Return the new key of each element, and the fields that it lost to its key.

    Return None if an element has no key for certain.
    """
    keys: list[tuple[str, tuple[str, ...]]] = []
    for entry in base.entries:
        same = [
            (name, dropped)
            for name, there in mover.index().items()
            for dropped in _as_keyed(entry.value, name, there.value)
        ]
        if len(same) != 1:
            return None
        keys += same
    return keys if len({key for key, _ in keys}) == len(keys) > 0 else None


def _as_keyed(old: Node, name: str, new: Node) -> Iterable[tuple[str, ...]]:
    """Return the fields that an element lost when it got a key; nothing: it is another one."""
    if is_moved(old, new):
        return [()]
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return []
    return [
        (entry.name,)
        for entry in old.entries
        if isinstance(entry.value, Scalar)
        and entry.value.value == name
        and entry.name not in new.index()
        and len(new.entries) > 0
        and _is_part(old, new, entry.name)
    ]


def _is_part(old: Mapping, new: Mapping, without: str) -> bool:
    """Return whether an element is equal to another one, or much like it, without one field."""
    rest = [entry for entry in old.entries if entry.name != without]
    there = new.index()
    values = [[e.value, there[e.name].value] for e in rest if e.name in there]
    if len(values) == len(rest) == len(there) and all(same_node(*pair) for pair in values):
        return True
    return is_much_alike(Leaves(old, ((without,),)), Leaves(new))
