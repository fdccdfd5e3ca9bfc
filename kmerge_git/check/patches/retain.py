"""D40-D43: `$retainKeys`."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.nearness import nearest
from kmerge_git.check.patches.parallel import KubectlCheck
from kmerge_git.check.patches.spots import ABSENT, KeySpot
from kmerge_git.check.plain import List, Text
from kmerge_git.check.registry import ERROR, INFO, RETAINED, WARNING, Found
from kmerge_git.patch.directives import is_directive


@KubectlCheck(
    "D40", ERROR, RETAINED, "`$retainKeys` is no list of strings",
    hides=("D41", "D42", "D43"),
    kubectl="The API server refuses the patch: `invalid patch format of retainKeys`.",
    example="strategy:\n  $retainKeys: type",
    counter="strategy:\n  $retainKeys: [type]\n  type: Recreate",
    mend="Write a list of field names.",
)  # fmt: skip
def retain_is_list(here: KeySpot) -> Iterator[Found]:
    """`$retainKeys` with a scalar, a map, or a list of anything but strings."""
    values = here.value.values if isinstance(here.value, List) else None
    if values is None or not all(isinstance(v, Text) and not v.null for v in values):
        yield Found(here.at, "$retainKeys is a list of field names")


@KubectlCheck(
    "D41", ERROR, RETAINED, "a field that is set but not in `$retainKeys`",
    kubectl="The API server refuses the patch: `invalid patch format of retainKeys`.",
    example="strategy:\n  $retainKeys: [rollingUpdate]\n  type: Recreate",
    counter="strategy:\n  $retainKeys: [type]\n  type: Recreate",
    mend="List every field that the patch sets, the merge key too.",
)  # fmt: skip
def not_retained(here: KeySpot) -> Iterator[Found]:
    """A field of the patch that its own `$retainKeys` would remove."""
    listed = _retained(here)
    if not listed:
        return
    for key, (at, value) in here.spot.map.fields.items():
        if not value.null and not is_directive(key) and key not in listed:
            yield Found(at, f"{key} is set but not in $retainKeys")


@KubectlCheck(
    "D42", WARNING, RETAINED, "`$retainKeys` is empty or lists a field that does not exist",
    kubectl="An empty list clears the whole map, and a field whose name is misspelt is removed: "
    "these are errors. A name that is nothing at all is ignored.",
    counter="strategy:\n  $retainKeys: [type, rollingUpdate]\n  type: RollingUpdate",
    example="strategy:\n  $retainKeys: [type, rolingUpdate]\n  type: RollingUpdate",
    mend="List the fields that shall stay.",
)  # fmt: skip
def odd_names_retained(here: KeySpot) -> Iterator[Found]:
    """`$retainKeys: []`, or a name in it that is no field of the kind."""
    listed = _retained(here)
    if listed is None:
        return
    if not listed:
        message = "clears the whole map; write null for the field, or list its fields"
        yield Found(here.at, message, severity=ERROR)
    struct = here.spot.struct
    if struct is not None:
        for name, at in listed.items():
            if struct.field(name) is None:
                guess = nearest(name, struct.names)
                hint = f"; did you mean {guess}? It is removed" * bool(guess)
                severity = ERROR if guess else ""
                yield Found(at, f"no such field: {name}{hint}", severity=severity)


@KubectlCheck(
    "D43", INFO, RETAINED, "`$retainKeys` on a field without that strategy, or on a new map",
    kubectl="It works on any map that exists, but is unusual; in a new map it is stored.",
    example="resources:\n  $retainKeys: [limits]\n  limits:\n    cpu: 1",
    counter="strategy:\n  $retainKeys: [type]\n  type: Recreate",
    mend="Set the other fields to null instead.",
)  # fmt: skip
def unusual_retain(here: KeySpot) -> Iterator[Found]:
    """`$retainKeys` where the schema has another strategy, or where the target has no map."""
    spot = here.spot
    if spot.target is ABSENT:
        message = "the target has no such map: stored as a field in a new map; drop it"
        yield Found(here.at, message, severity=ERROR)
    elif spot.struct is not None and spot.path and "k" not in spot.strategies:
        yield Found(here.at, "works, but is unusual here; null removes a field as well")


def _retained(here: KeySpot) -> dict[str, int] | None:
    """The names in `$retainKeys` and where they stand; None where it is no list."""
    if not isinstance(here.value, List):
        return None
    return {v.text: v.at for v in here.value.values if isinstance(v, Text)}
