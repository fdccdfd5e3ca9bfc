"""Make and apply JSON merge patches (RFC 7386), for kinds without a schema.

Nulls are treated as in the library of the API server. If a list in a patch replaces a value that is
not a map, nulls are removed from the maps in that list.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmerge_git.errors import PatchError
from kmerge_git.patch.apply_patch import without_nulls
from kmerge_git.patch.json_values import Map, copied, same
from kmerge_git.patch.make_patch import (
    Precondition,
    check_preconditions,
    conflict,
    json_has_conflicts,
)


def apply_json_patch(original: Map, patch: Map) -> Map:
    """Return the object after the patch.

    Maps are merged, a field that is null in the patch is deleted, and lists and scalars are
    replaced.
    """
    if not isinstance(original, dict) or not isinstance(patch, dict):
        raise PatchError("invalid JSON document")
    return copied(_merged(original, patch))


def _merged(original: Map, patch: Map) -> Map:
    result = dict(original)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif not isinstance(result.get(key), dict):
            result[key] = without_nulls(value)
        else:
            result[key] = _merged(result[key], value) if isinstance(value, dict) else value
    return result


def make_json_patch(original: Map, modified: Map) -> Map:
    """Return the JSON merge patch that turns the original object into the modified object."""
    return copied(_difference(original, modified))


def _difference(original: Map, modified: Map) -> Map:
    patch: Map = {}
    for key, value in modified.items():
        before = original.get(key)
        if key in original and isinstance(before, dict) and isinstance(value, dict):
            below = _difference(before, value)
            if below:
                patch[key] = below
        elif key not in original or not same(before, value):
            patch[key] = value
    return patch | dict.fromkeys(key for key in original if key not in modified)


def make_json_patch3(
    original: Map, modified: Map, current: Map, *, preconditions: Iterable[Precondition] = ()
) -> Map:
    """Return the patch that `kubectl apply` sends for a custom resource.

    The patch holds the additions and changes that turn `current` into `modified`, and the deletions
    that turn `original` into `modified`.
    """
    additions = _additions(_difference(current, modified))
    deletions = _deletions(_difference(original, modified))
    if json_has_conflicts(additions, deletions):
        raise conflict(additions, deletions)
    patch = copied(_merged(deletions, additions))
    check_preconditions(patch, preconditions)
    return patch


def _additions(patch: Map) -> Map:
    """Return the patch without nulls, and without maps that are empty when nulls are removed."""
    left = {
        key: _additions(value) if isinstance(value, dict) else value
        for key, value in patch.items()
        if value is not None
    }
    return {k: v for k, v in left.items() if v or not isinstance(v, dict) or not patch[k]}


def _deletions(patch: Map) -> Map:
    """Return only the null fields of the patch, with the maps around these fields."""
    left = {
        key: _deletions(value) if isinstance(value, dict) else None
        for key, value in patch.items()
        if value is None or isinstance(value, dict)
    }
    return {key: value for key, value in left.items() if value is None or value}
