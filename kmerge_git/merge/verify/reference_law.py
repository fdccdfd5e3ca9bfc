"""Check that new elements of a list stay behind the elements that they name.

An environment variable names others as `$(HOST)`, a step or a task names others in `needs`,
`runAfter` or `depends`, or as `${{ steps.build.outputs.tag }}`.
"""

from __future__ import annotations

from kmerge_git.merge.verify.sites import RESULT
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Places = dict[str, int]

_NAMING = frozenset(("needs", "runAfter", "depends", "dependencies", "dependsOn"))
_EXPRESSIONS = (("$(", ")"), ("{{", "}}"))


def turned(lists: list[list[Entry]]) -> tuple[str, str] | None:
    """Return an element of the result and one that it names, if only the result has it in front.

    A side has the first element behind the second, and base does not have the first one.
    """
    names = [[_name(entry.value) for entry in entries] for entries in lists]
    base, *sides, result = [{name: n for n, name in enumerate(found) if name} for found in names]
    for side, entries in zip(sides, lists[1:RESULT], strict=True):
        kept = [name for name in side if name in result]
        if kept == sorted(kept, key=result.__getitem__):
            continue  # everything stands in the result as this side has it
        for name in kept:
            later = _overtaken(name, side, result) if name not in base else set()
            named = [k for k in _named(entries[side[name]].value) if k in later] if later else []
            if named:
                return name, named[0]
    return None


def _overtaken(name: str, side: Places, result: Places) -> set[str]:
    """Return the elements that are in front of an element on a side, and behind it in a result."""
    ahead = {k for k, n in side.items() if n < side[name] and k in result}
    return {k for k in ahead if result[k] > result[name]}


def _name(node: Node) -> str:
    """Return what others may call an element, or ''."""
    for field in ("id", "name"):
        value = node.get(field) if isinstance(node, Mapping) else None
        if isinstance(value, Scalar) and value.value:
            return value.value
    return ""


def _named(node: Node, *, is_reference: bool = False) -> Iterator[str]:
    """Yield the words of an element that may be names of other elements."""
    if isinstance(node, Scalar):
        if is_reference:
            yield node.value
            yield from _words(node.value)
        for opening, closing in _EXPRESSIONS:
            for part in node.value.split(opening)[1:]:
                yield part.partition(closing)[0]
                yield from _words(part.partition(closing)[0])
    for entry in node.entries if isinstance(node, Collection) else ():
        is_naming = is_reference or (isinstance(node, Mapping) and entry.name in _NAMING)
        yield from _named(entry.value, is_reference=is_naming)


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char in "_-" else " " for char in text).split()
