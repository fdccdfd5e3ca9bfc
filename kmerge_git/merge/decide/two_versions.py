"""Find additions of both sides that are two versions of one new thing, and so must not both stay.

An option that gets two values is one thing. In a list without keys, two new elements of one gap are
one thing if they have the same name, or if they differ only in a leaf that is equal in all elements
of the base.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import MOST_COMPARISONS, Leaves, is_named_alike, option_name
from kmerge_git.merge.decide.element_pairs import gap_choices, share_gap
from kmerge_git.merge.plan import Keep, Take
from kmerge_git.merge.three import Three, counted
from kmerge_git.tree.nodes import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.merge.plan import Item
    from kmerge_git.tree.nodes import Entry, Node

    Keys = list[Hashable]
    Numbered = tuple[int, Node]  # an element and its index


def has_two_versions(items: list[Item], keys: Three[Keys], entries: Three[list[Entry]]) -> bool:
    """Return whether a merged list would have two versions of one new element.

    `keys` has the content of each element of the three lists.
    """
    known = keys.map(set)
    nodes = {id(item.plan.node) for item in items if isinstance(item.plan, Keep | Take)}
    sides = (keys.ours, entries.ours), (keys.theirs, entries.theirs)
    kept = {
        key
        for names, there in sides
        for key, entry in zip(names, there, strict=True)
        if id(entry.value) in nodes and key not in known.base
    }
    mine, yours = (
        [(n, entry.value) for n, entry in enumerate(there) if names[n] in kept]
        for names, there in sides
    )
    if len(mine) * len(yours) > MOST_COMPARISONS or _has_one_option(mine, yours, keys, entries):
        return True
    mine = _without_edits(mine, keys.ours, known.theirs, entries.base, keys.base)
    yours = _without_edits(yours, keys.theirs, known.ours, entries.base, keys.base)
    return bool(mine and yours) and _are_in_one_gap(mine, yours, keys, entries.base)


def _are_in_one_gap(
    mine: list[Numbered], yours: list[Numbered], keys: Three[Keys], base: list[Entry]
) -> bool:
    """Return whether two additions of one gap are one thing."""
    old = [Leaves(entry.value) for entry in base]
    alike = [(i, j) for i, a in mine for j, b in yours if _are_one_thing(a, b, old)]
    choices = list(gap_choices(keys)) if alike else []
    return any(share_gap(choices, i, j) for i, j in alike)


def _without_edits(
    elements: list[Numbered], names: Keys, other: set[Hashable], base: list[Entry], keys: Keys
) -> list[Numbered]:
    """Return the collections that only one side has, without edited versions of older elements.

    `names` has the contents of the elements of the side, `other` those of the other side, and
    `keys` those of base.
    """
    there = set(names)
    gone = [e.value for e, key in zip(base, keys, strict=True) if key not in there]
    return [
        (n, node)
        for n, node in elements
        if names[n] not in other
        and isinstance(node, Collection)
        and not any(is_named_alike(old, node) for old in gone)
    ]


def _has_one_option(
    mine: list[Numbered], yours: list[Numbered], keys: Three[Keys], entries: Three[list[Entry]]
) -> bool:
    """Return whether new scalars give two values to an option that the lists do not repeat."""
    both = {option_name(a) for _, a in mine}.intersection(option_name(b) for _, b in yours) - {""}
    if not both:
        return False
    options = entries.map(lambda there: counted(option_name(e.value) for e in there))
    return any(
        options.base.get(name, 0) < 2 and min(options.ours[name], options.theirs[name]) < 2
        for i, a in mine
        for j, b in yours
        for name in both & {option_name(a)} & {option_name(b)}
        if keys.ours[i] != keys.theirs[j]
    )


def _are_one_thing(a: Node, b: Node, base: list[Leaves]) -> bool:
    """Return whether two new elements have one name, or differ in a leaf that never differed."""
    if is_named_alike(a, b, anywhere=True):
        return True
    one, other = Leaves(a).counts.items(), Leaves(b).counts.items()
    mine, yours = one - other, other - one
    paths = {path for (path, _), _ in mine ^ yours}
    if len(mine) != 1 or len(yours) != 1 or len(paths) > 1 or len(base) < 2:
        return False
    path = paths.pop()
    values = [{leaf for leaf in leaves.counts if leaf[0] == path} for leaves in base]
    return all(values) and all(found == values[0] for found in values)
