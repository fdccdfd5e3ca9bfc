"""Find the fields of a resource, or of a part of a resource, that differ between two versions."""

from __future__ import annotations

from kmerge_git.kube.likeness import Leaves, is_one_thing
from kmerge_git.kube.listkeys import ListKeys
from kmerge_git.tree.nodes import Mapping, Sequence
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Element, Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.tree.nodes import Node

    # the step of an entry in a path, its old value, its new value, and its place in the tables
    Pair = tuple[Path, Node | None, Node | None, Where]
    Place = tuple[Element, int, int]


def differing(old: Node, new: Node, where: Where) -> list[Path]:
    """Return the paths below two nodes that were changed, added or removed.

    If the nodes themselves differ, return an empty path. If the nodes mean the same, return no
    path.
    """
    if same_node(old, new):
        return []
    pairs = _pairs(old, new, where)
    paths: list[Path] = []
    for step, before, after, inner in pairs or ():
        if before is None or after is None:
            paths.append(step)
        else:
            paths += [(*step, *path) for path in differing(before, after, inner)]
    return paths or [()]


def _pairs(old: Node, new: Node, where: Where) -> list[Pair] | None:
    """Return the entries of two collections in pairs, or None if the entries cannot be paired."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        place = where.at(new)
        mine, yours = old.index(), new.index()
        names = [*yours, *(name for name in mine if name not in yours)]
        tables = {n: e.value for n, e in mine.items()}, {n: e.value for n, e in yours.items()}
        return [((n,), tables[0].get(n), tables[1].get(n), place.child(n)) for n in names]
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        return _elements(old, new, where)
    return None


def _elements(old: Sequence, new: Sequence, where: Where) -> list[Pair] | None:
    if where.list_rule().kind == "set":
        return None
    paired = paired_elements(old, new, where)
    if paired is None:
        return _only_one(old, new, where)
    mine, yours, inner = old.entries, new.entries, where.items()
    return [
        ((step,), None if i < 0 else mine[i].value, None if j < 0 else yours[j].value, inner)
        for step, i, j in paired
    ]


def paired_elements(old: Sequence, new: Sequence, where: Where) -> list[Place] | None:
    """Pair the elements of two versions of a list by key; return None if the keys are not unique.

    Each result has the step of an element in a path, its index in the old version, and its index in
    the new version. An index is -1 if the version does not have the element.
    """
    rule = where.list_rule()
    keys = ListKeys(rule, [old.entries, new.entries])
    tables = [keys.table(sequence.entries) for sequence in (old, new)]
    places = [{k: n for n, k in enumerate(table)} for table in tables if table is not None]
    if len(places) < 2:
        return None
    before, after = places
    gone = [key for key in before if key not in after]
    come = [key for key in after if key not in before]
    if len(gone) == len(come) == 1:
        versions = old.entries[before[gone[0]]].value, new.entries[after[come[0]]].value
        if is_one_thing(*map(Leaves, versions)):  # the same element under another key
            after[gone[0]] = after.pop(come[0])
    return [
        (keys.step(key), before.get(key, -1), after.get(key, -1))
        for key in [*after, *(k for k in gone if k not in after)]
    ]


def _only_one(old: Sequence, new: Sequence, where: Where) -> list[Pair] | None:
    """Return the only pair of list elements that differs, or None if several pairs differ.

    The elements have no keys, so they are paired by index.
    """
    if len(old.entries) != len(new.entries):
        return None
    pairs = zip(old.entries, new.entries, strict=True)
    values = [(n, a.value, b.value) for n, (a, b) in enumerate(pairs)]
    changed: list[Pair] = [((n,), a, b, where.items()) for n, a, b in values if not same_node(a, b)]
    return changed if len(changed) == 1 else None
