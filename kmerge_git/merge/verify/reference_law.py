"""Check that new elements of a list stay behind the elements that they name.

An environment variable names others as `$(HOST)`, a step or a task names others in `needs`,
`runAfter` or `depends`, or as `${{ steps.build.outputs.tag }}`.
"""

from __future__ import annotations

from kmerge_git.merge.verify import sites
from kmerge_git.merge.verify.sites import RESULT
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    Places = dict[Hashable, int]

_NAMING = frozenset(("needs", "runAfter", "depends", "dependencies", "dependsOn", "if"))
_EXPRESSIONS = (("$(", ")"), ("{{", "}}"))


def turned(lists: list[list[Entry]]) -> tuple[str, str] | None:
    """Return an element of the result and one that it names, if only the result has it in front.

    A side has the first element behind the second, and base does not have the first one.
    """
    base, *sides, result = (_places(entries) for entries in lists)
    for side, entries in zip(sides, lists[1:RESULT], strict=True):
        kept = [name for name in side if name in result]
        if kept == sorted(kept, key=result.__getitem__):
            continue  # everything stands in the result as this side has it
        for name in kept:
            later = _overtaken(name, side, result) if name not in base else set()
            named = [k for k in _named(entries[side[name]].value) if k in later] if later else []
            if named:
                return sites.shown(name), named[0]
    return None


def _places(entries: list[Entry]) -> Places:
    """Return the places of elements by their names; an element without one is its own name."""
    places: Places = {}
    for place, entry in enumerate(entries):
        for name in (*_names(entry.value),) or (canon(entry.value),):
            places.setdefault(name, place)
    return places


def _overtaken(name: Hashable, side: Places, result: Places) -> set[Hashable]:
    """Return the elements that are in front of an element on a side, and behind it in a result."""
    ahead = {k for k, n in side.items() if n < side[name] and k in result}
    return {k for k in ahead if result[k] > result[name]}


def _names(node: Node) -> Iterator[str]:
    """Yield what others may call an element, or the elements of a list that is an element."""
    for entry in node.entries if isinstance(node, Sequence) else ():
        yield from _names(entry.value)
    fields = (node.get(field) for field in ("id", "name")) if isinstance(node, Mapping) else ()
    found = [field.value for field in fields if isinstance(field, Scalar) and field.value]
    yield from found[:1]


def _named(node: Node, *, is_reference: bool = False) -> Iterator[str]:
    """Yield the words of an element that may be names of other elements."""
    if isinstance(node, Scalar):
        text = node.value.replace("$$", "")  # an escape: no `$(` begins behind it
        parts = [text] if is_reference else []
        for opening, closing in _EXPRESSIONS:
            parts += (part.partition(closing)[0] for part in text.split(opening)[1:])
        for part in parts:
            yield part
            yield from _words(part)
    for entry in node.entries if isinstance(node, Collection) else ():
        is_naming = is_reference or (isinstance(node, Mapping) and entry.name in _NAMING)
        yield from _named(entry.value, is_reference=is_naming)


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char in "_-" else " " for char in text).split()
