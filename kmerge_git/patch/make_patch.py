"""Makes strategic merge patches: between two objects, and the three-way patch of kubectl apply.

The result is what kubectl would send, its quirks included: a field under strategy `replace` is
always sent, a scalar list reordered into sorted order gives nothing, and elements with one merge
key come out in reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kmerge_git.errors import PatchConflict, PatchError
from kmerge_git.kube.fieldpath import show
from kmerge_git.patch.apply_patch import merge_patches, schema_of
from kmerge_git.patch.conflicts import first_conflict
from kmerge_git.patch.diff import Wanted, diff_maps
from kmerge_git.patch.last_applied import without_annotation
from kmerge_git.patch.schema import Schema
from kmerge_git.patch.values import At, Map, copied, go_text, sorted_keys

Precondition = Callable[[Map], bool]


def make_patch(
    original: Map,
    modified: Map,
    schema: Schema | None = None,
    *,
    preconditions: Iterable[Precondition] = (),
) -> Map:
    """The strategic merge patch that makes the modified object of the original one."""
    patch = copied(diff_maps(original, modified, schema or schema_of(modified), (), Wanted()))
    check_preconditions(patch, preconditions)
    return patch


def make_patch3(
    original: Map,
    modified: Map,
    current: Map,
    schema: Schema | None = None,
    *,
    overwrite: bool = True,
    preconditions: Iterable[Precondition] = (),
) -> Map:
    """The patch of `kubectl apply`: brings the modified config into the current object.

    What the original config had and the modified one has not is deleted; what only the current
    object has stays. Without `overwrite`, a field that was changed in the current object and is
    changed differently by the patch raises `PatchConflict`.
    """
    schema = schema or schema_of(modified)
    delta = diff_maps(current, modified, schema, (), Wanted(deletions=False))
    deletions = diff_maps(original, modified, schema, (), Wanted(changes=False))
    patch = merge_patches(deletions, delta, schema)
    check_preconditions(patch, preconditions)
    if not overwrite:
        changed = diff_maps(original, current, schema, (), Wanted(order=False))
        place = first_conflict(without_annotation(patch), without_annotation(changed), schema)
        if place is not None:
            raise conflict(patch, changed, place)
    return patch


def conflict(patch: Map, changed: Map, at: At = ()) -> PatchConflict:
    """The error that shows what both sides did; `at` is where they first clash."""
    from kmerge_git.tree.emit import dump

    return PatchConflict(
        f"patch:\n{dump(sorted_keys(patch))}\n"
        f"conflicts with changes made from original to current:\n{dump(sorted_keys(changed))}\n",
        field=show(at),
        steps=at,
    )


def check_preconditions(patch: Map, preconditions: Iterable[Precondition]) -> None:
    """Raise if one of the functions refuses the finished patch."""
    if not all(accepts(patch) for accepts in preconditions):
        raise PatchError(f"precondition failed for: {go_text(patch)}")


def require_key_unchanged(key: str) -> Precondition:
    """Refuses a patch that has the key."""
    return lambda patch: key not in patch


def require_metadata_key_unchanged(key: str) -> Precondition:
    """Refuses a patch that has the key below metadata."""

    def accepts(patch: Map) -> bool:
        metadata = patch.get("metadata")
        return not (isinstance(metadata, dict) and key in metadata)

    return accepts
