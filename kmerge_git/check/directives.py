"""Where the directives of a patch stand."""

from __future__ import annotations

from kmerge_git.check.plain import Map, Value, collections
from kmerge_git.patch.directives import is_directive


def directives_below(value: Value | None) -> list[tuple[int, str]]:
    """Offset and key of every directive at and below a value, in the order of the text."""
    return sorted(
        (at, key)
        for inner in collections(value)
        if isinstance(inner, Map)
        for key, (at, _) in inner.fields.items()
        if is_directive(key)
    )
