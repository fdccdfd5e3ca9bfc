"""Find additions of both sides that may be one new thing, and so must not both stay.

Two additions may be one thing if they have the same name, or if their contents are the same
except for the name. How much content is enough depends on the collection: maps and lists with keys
have a rule of their own, lists without keys have `has_two_versions`, git's lines `may_be_twice`.
"""

from __future__ import annotations

from itertools import pairwise

from kmerge_git.kube.likeness import (
    MANY_LEAVES,
    MOST_COMPARISONS,
    NAMING,
    RENAMED_LEAVES,
    Leaves,
    are_named_apart,
    is_named_alike,
    is_one_thing,
    option_name,
)
from kmerge_git.kube.listkeys import field_text, has_port_names
from kmerge_git.merge.decide.rules import Riddle
from kmerge_git.merge.plan import Build, Clash, Keep, Take, Why
from kmerge_git.merge.three import Three, counted, grouped
from kmerge_git.tree.nodes import Collection
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from typing import TypeVar

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import KeyPaths, Keys, Table
    from kmerge_git.merge.plan import Item, Plan
    from kmerge_git.tree.nodes import Entry, Node

    T = TypeVar("T", bound=Hashable | None)
    Numbered = list[tuple[int, Node]]  # elements and their indexes
    Values = list[Node]


# -- maps, and lists with keys


def riddles(at: Three[Table], key_paths: KeyPaths, rule: ListRule | None) -> list[Riddle]:
    """Find entries of both sides that may be one new thing under two keys.

    Two ports are one thing if each side gave its own the same name. Entries of a map, or of a list
    whose key was inferred, are one thing if they are large and equal except for their keys. The
    only elements that both sides put into a new list are one thing if half of their leaves are
    equal.
    """
    if rule is not None and has_port_names(rule):
        return _named_alike(at)
    mine = _newcomers(at.ours, at.base, at.theirs)
    yours = _newcomers(at.theirs, at.base, at.ours)
    if not mine or not yours:
        return []
    if rule is None or rule.kind == "infer":
        ours, theirs = (
            {k: _content(v, key_paths) for k, v in new.items()} for new in (mine, yours)
        )
        if found := _alike(ours, theirs, Why.TWO_VERSIONS):
            return found
    if rule is not None and not at.base and len(at.ours) == len(at.theirs) == 1:
        one, other = (Leaves(v, key_paths) for new in (mine, yours) for v in new.values())
        if is_one_thing(one, other):
            return [Riddle([*mine, *yours], Why.BOTH_ADDED)]
    return []


def _named_alike(at: Three[Table]) -> list[Riddle]:
    """Find ports to which both sides gave one name, which neither port had."""
    base, ours, theirs = (
        {k: field_text(e.value, "name") for k, e in table.items()} for table in at.each()
    )
    mine, yours = (
        {k: name for k, name in side.items() if name not in (base.get(k), other.get(k))}
        for side, other in ((ours, theirs), (theirs, ours))
    )
    return _alike(mine, yours, Why.SAME_NAME)


def _newcomers(side: Table, base: Table, other: Table) -> dict[Hashable, Node]:
    return {k: e.value for k, e in side.items() if k not in base and k not in other}


def _alike(mine: dict[Hashable, T], yours: dict[Hashable, T], why: str) -> list[Riddle]:
    """Return the entries of both sides that have the same content."""
    ours, theirs = (grouped((v, k) for k, v in new.items()) for new in (mine, yours))
    return [
        Riddle([*keys, *theirs[found]], why)
        for found, keys in ours.items()
        if found is not None and found in theirs
    ]


def _content(node: Node, key_paths: KeyPaths) -> Hashable:
    """Return the leaves of a large collection, without those that are its key; or None."""
    leaves = Leaves(node, key_paths)
    return frozenset(leaves.counts.items()) if leaves.total >= MANY_LEAVES else None


# -- lists without keys


def has_two_versions(items: list[Item], keys: Three[Keys], entries: Three[list[Entry]]) -> bool:
    """Return whether a merged list would have two versions of one new element.

    `keys` has the content of each element of the three lists. An option has two versions if it has
    two values anywhere in the list. Other elements are two versions if they are in one gap, and
    have the same name, or differ only in a leaf that is equal in all elements of base.
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
    base = [entry.value for entry in entries.base]
    return _are_in_one_gap(mine, yours, keys, base)


def _are_in_one_gap(mine: Numbered, yours: Numbered, keys: Three[Keys], base: Values) -> bool:
    """Return whether two additions of one gap are one thing."""
    alike = [(i, j) for i, a in mine for j, b in yours if _are_one_thing(a, b, base)]
    if not alike:
        return False
    from kmerge_git.merge.decide.element_pairs import gap_choices, share_gap  # few lists need it

    choices = list(gap_choices(keys))
    return any(share_gap(choices, i, j) for i, j in alike)


def _has_one_option(
    mine: Numbered, yours: Numbered, keys: Three[Keys], entries: Three[list[Entry]]
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


def _without_edits(
    elements: Numbered, names: Keys, other: set[Hashable], base: list[Entry], keys: Keys
) -> Numbered:
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


def _are_one_thing(a: Node, b: Node, base: Values) -> bool:
    """Return whether two new elements have one name, or differ in a leaf that never differed.

    Where names repeat in base, two elements of one name are two things if they differ in each leaf
    in which such elements of base differ.
    """
    one, other = Leaves(a).counts.items(), Leaves(b).counts.items()
    mine, yours = one - other, other - one
    paths = {path for (path, _), _ in mine ^ yours}
    if is_named_alike(a, b, anywhere=True):
        shared = [f for f in NAMING if field_text(a, f) == field_text(b, f) is not None]
        telling = _telling(base, shared)
        return not telling or not telling <= paths
    if len(mine) != 1 or len(yours) != 1 or len(paths) > 1 or len(base) < 2:
        return False
    path = paths.pop()
    values = [{leaf for leaf in Leaves(node).counts if leaf[0] == path} for node in base]
    return all(values) and all(found == values[0] for found in values)


def _telling(base: Values, fields: list[str]) -> set[tuple[str, ...]]:
    """Return the paths of the leaves in which elements of base differ that share such a field."""
    named = grouped(((field, field_text(node, field)), node) for field in fields for node in base)
    differences = [
        {path for path, _ in Leaves(a).counts.keys() ^ Leaves(b).counts.keys()}
        for name, nodes in named.items()
        for a, b in (pairwise(nodes) if name[1] is not None else ())
    ]
    return set.intersection(*differences) if differences else set()


# -- the lines of git


def may_be_twice(plan: Plan | None, by_lines: str) -> bool:
    """Return whether git's clean lines settle a conflict with one new thing twice.

    The conflict is about elements without keys.
    """
    return plan is not None and any(_may_be_one(clash.at, by_lines) for clash in _of_lists(plan))


def _of_lists(plan: Plan) -> Iterator[Clash]:
    """Yield the conflicts of a plan about elements of lists without keys."""
    for item in plan.items if isinstance(plan, Build) else ():
        if isinstance(item.plan, Clash):
            entries = [*item.plan.at.ours, *item.plan.at.theirs]
            has_key = item.path and isinstance(item.path[-1], tuple)
            if not has_key and all(entry.key is None for entry in entries):
                yield item.plan
        else:
            yield from _of_lists(item.plan)


def _may_be_one(at: Three[list[Entry]], by_lines: str) -> bool:
    """Return whether two additions that the lines hold may be one thing.

    Two of three leaves are equal, and no naming field differs. An element that is as much like one
    of base, which its side lacks, may be an edited version of that one.
    """
    base, ours, theirs = at.map(lambda there: {canon(e.value): e.value for e in there}).each()
    if len(ours) * len(theirs) > MOST_COMPARISONS:
        return False
    mine, yours = (
        [
            (node, leaves, max((leaves.shared(Leaves(old)) for old in gone), default=0))
            for gone in [[old for key, old in base.items() if key not in side]]
            for key, node in side.items()
            if key not in base and key not in other and node.raw in by_lines
            for leaves in [Leaves(node)]
        ]
        for side, other in ((ours, theirs), (theirs, ours))
    )
    part, whole = RENAMED_LEAVES
    return any(
        whole * shared >= part * max(one.total, two.total)
        and shared > max(old, older)
        and not are_named_apart(a, b)
        for a, one, old in mine
        for b, two, older in yours
        for shared in [one.shared(two)]
    )
