"""Fields that no side has in a place, and that came there with what is around them.

Ours moved a section, theirs added a field to it: who finishes the merge puts the field where the
section is now. It is no slip where some side has the very same value below the same names.
"""

from __future__ import annotations

from kmerge_git.check.merges.walk import NEW
from kmerge_git.tree.nodes import Mapping, Node, Sequence
from kmerge_git.tree.same import canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kmerge_git.check.merges.walk import Odd
    from kmerge_git.tree.same import Known

    Places = dict[tuple[str, ...], set[Hashable]]  # the values below some names

ENOUGH = 3  # names that a field and those above it have in common: a slip changes the last two


def without_moved(found: list[Odd], roots: Iterable[Node | None]) -> list[Odd]:
    """What is odd, but for fields that some side has, too, with the fields above them."""
    there: Places = {names: set() for odd in found if (names := _names(odd))}
    known: Known = {}
    if not there:
        return found
    for root in roots:
        if root is not None:
            _collect(root, (), there, known)
    return [odd for odd in found if not _is_there(odd, there, known)]


def _names(odd: Odd) -> tuple[str, ...]:
    """The last names of the path of a new field; nothing for what is none, or has too few."""
    names = tuple(step for step in odd.path if isinstance(step, str))
    return names[-ENOUGH:] if odd.what == NEW and odd.value and len(names) >= ENOUGH else ()


def _collect(node: Node, names: tuple[str, ...], there: Places, known: Known) -> None:
    if names in there:
        there[names].add(canon_of(node, known))
    if isinstance(node, Mapping):
        for entry in node.entries:
            _collect(entry.value, (*names, entry.name)[-ENOUGH:], there, known)
    elif isinstance(node, Sequence):
        for entry in node.entries:
            _collect(entry.value, names, there, known)


def _is_there(odd: Odd, there: Places, known: Known) -> bool:
    names = _names(odd)
    return bool(names) and odd.value is not None and canon_of(odd.value, known) in there[names]
