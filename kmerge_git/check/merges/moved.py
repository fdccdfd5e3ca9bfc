"""Fields that no side has in a place, and that came there with what is around them.

Ours moved a section, or gave its fields other names, theirs added a field to it: who finishes the
merge puts the field where the section is now, under the name that is used now. It is no slip where
some side has the very same value below the same names, or beside fields that moved the same way.
"""

from __future__ import annotations

from kmerge_git.check.merges.walk import NEW
from kmerge_git.kube.identity import identity
from kmerge_git.kube.listkeys import field_text
from kmerge_git.tree.nodes import Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kmerge_git.check.merges.walk import Odd
    from kmerge_git.tree.same import Known

    Place = tuple[Hashable, ...]
    Roots = list[Node]  # of one side

ENOUGH = 3  # names that a field and those above it have in common: a slip changes the last two
WITH_BASE = 3  # versions


def without_moved(found: list[Odd], sides: Iterable[Iterable[Node | None]]) -> list[Odd]:
    """What is odd, but for fields that came with others from where some side has them."""
    known: Known = {}
    versions = [_Version([root for root in roots if root is not None], known) for roots in sides]
    return [odd for odd in found if odd.what != NEW or not _is_moved(odd, versions, known)]


class _Version:
    """The mappings of one side by their places, and what it has below some names."""

    __slots__ = ("_roots", "at", "below", "named")

    def __init__(self, roots: Roots, known: Known) -> None:
        self._roots = roots
        self.at: dict[Place, Mapping] = {}
        self.below: set[tuple[tuple[str, ...], Hashable]] = set()
        self.named: dict[tuple[str, Hashable], list[Place]] = {}
        for number, root in enumerate(roots):
            self._collect(root, (identity(root) or number,), (), known)

    def _collect(self, node: Node, place: Place, names: tuple[str, ...], known: Known) -> None:
        self.below.add((names, canon_of(node, known)))
        if isinstance(node, Mapping):
            self.at[place] = node
            for entry in node.entries:
                field = (entry.name, canon_of(entry.value, known))
                self.named.setdefault(field, []).append(place)
                below = (*names, entry.name)[-ENOUGH:]
                self._collect(entry.value, (*place, entry.name), below, known)
        elif isinstance(node, Sequence):
            for number, entry in enumerate(node.entries):
                step = ("element", field_text(entry.value, "name") or number)
                self._collect(entry.value, (*place, step), names, known)

    def has(self, node: Node) -> bool:
        """Whether a node stands in a document of this version."""
        return any(root.text is node.text for root in self._roots)

    def field(self, place: Place, name: str) -> Node | None:
        """The field of the mapping in a place."""
        found = self.at.get(place)
        return found.get(name) if found is not None else None


def _is_moved(odd: Odd, versions: list[_Version], known: Known) -> bool:
    if odd.value is None or odd.parent is None:
        return False
    names = tuple(step for step in odd.path if isinstance(step, str))
    field = (names[-1], canon_of(odd.value, known))
    if len(names) >= ENOUGH and any((names[-ENOUGH:], field[1]) in one.below for one in versions):
        return True
    if _was_element(odd, names[-1]):
        return True
    if len(versions) < WITH_BASE:
        return False
    base, *sides = versions
    return any(
        _came_with_others(odd, odd.parent, place, base, sides)
        for version in versions
        for place in version.named.get(field, ())
    ) or _is_renamed(odd, odd.parent, names[-1], _Renames(base, sides, known))


def _came_with_others(
    odd: Odd, parent: Mapping, place: Place, base: _Version, sides: list[_Version]
) -> bool:
    """Whether a side moved what base has beside the field, from that place to this one."""
    there = base.at.get(place)
    if there is None:
        return False
    here = [one for one in odd.beside if isinstance(one, Mapping)]
    moved = [name for name in parent.index() if there.get(name) is not None]
    return any(
        side.has(one) and one.get(name) is not None and side.field(place, name) is None
        for name in moved
        if not any(base.has(one) and one.get(name) is not None for one in here)
        for one in here
        for side in sides
    )


class _Renames:
    """The names that the sides gave to fields of base."""

    __slots__ = ("_base", "_known", "_sides")

    def __init__(self, base: _Version, sides: list[_Version], known: Known) -> None:
        self._base = base
        self._sides = sides
        self._known = known

    def has(self, old: str, new: str) -> bool:
        """Whether a value of base has another name on a side, in the same place."""
        return any(self._of_side(side, old, new) for side in self._sides)

    def _of_side(self, side: _Version, old: str, new: str) -> bool:
        for place, mapping in side.at.items():
            after, before = mapping.get(new), self._base.field(place, old)
            if after is None or before is None:
                continue
            is_other = mapping.get(old) is None and self._base.field(place, new) is None
            if is_other and canon_of(before, self._known) == canon_of(after, self._known):
                return True
        return False


def _is_renamed(odd: Odd, parent: Mapping, new: str, renames: _Renames) -> bool:
    """Whether a side has the field here under a name that is used no more."""
    there = {name for one in odd.beside if isinstance(one, Mapping) for name in one.index()}
    return any(renames.has(old, new) for old in sorted(there - parent.index().keys()))


def _was_element(odd: Odd, name: str) -> bool:
    """Whether a side has a list here, and in it an element that is called so."""
    elements = (e.value for one in odd.beside if isinstance(one, Sequence) for e in one.entries)
    return any(_is_called(element, name) for element in elements)


def _is_called(element: Node, name: str) -> bool:
    if isinstance(element, Mapping):
        return any(_is_text(entry.value, name) for entry in element.entries)
    return _is_text(element, name)


def _is_text(node: Node, text: str) -> bool:
    return isinstance(node, Scalar) and node.value == text
