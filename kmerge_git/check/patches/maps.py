"""D01-D08: `$patch` in mappings."""

from __future__ import annotations

from kmerge_git.check.page import shown
from kmerge_git.check.patches.spots import ABSENT, Spot
from kmerge_git.check.patches.verdict import CUSTOM
from kmerge_git.check.plain import List, Map, Value
from kmerge_git.check.registry import ERROR, MAP, WARNING, Check, Found
from kmerge_git.patch.directives import PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path

# What an object cannot be without, wherever it stands in a built-in kind.
NEEDED = ("spec", "template", "jobTemplate", "metadata")


@Check(
    "D01", ERROR, MAP, "a value of `$patch` that no tool knows",
    hides=("D03", "D04", "D05", "D06", "D07", "D08", "D10", "D11", "D12", "D13"),
    kubectl="The API server refuses the whole patch: `unknown patch type`. Where the map is new, "
    "it is dropped without a word.",
    kustomize="The build fails, or the line ends up in the output.",
    example="strategy:\n  $patch: remove",
    counter="strategy:\n  $patch: replace\n  type: Recreate",
    mend="Write `$patch: replace` or `$patch: delete`, in lower case.",
)  # fmt: skip
def unknown_value(spot: Spot) -> Iterator[Found]:
    """`$patch: remove`, `Delete`, true, null: the values are replace, delete and merge."""
    value = spot.directive
    if value is None or value in ("replace", "delete", "merge"):
        return
    written = value or "(nothing)"
    place = f"{shown(spot.path)}: " if spot.path else ""
    message = f'"$patch: {written}" is no directive value; use replace or delete'
    yield Found(spot.at, place + message)


@Check(
    "D02", ERROR, MAP, "`$patch: merge`",
    kubectl="The API server refuses it: `unknown patch type: merge`, in a list `merging lists "
    "cannot yet be specified in the patch`.",
    kustomize="Allowed and without effect; the line is taken out. In an element that has only its "
    "key, nothing is changed: a warning.",
    example="containers:\n- name: side\n  $patch: merge",
    counter="containers:\n- name: side\n  image: side:2",
    mend="Drop the line: merging is what happens without it.",
)  # fmt: skip
def merge_value(spot: Spot) -> Iterator[Found]:
    """`$patch: merge`, which kustomize knows and the API server refuses."""
    if spot.directive == "merge" and "K" not in spot.tools:
        others = spot.map.fields.keys() - {PATCH, spot.merge_key, *spot.server_keys}
        if spot.element_of is not None and not others:
            what = "merging is the default: this element changes nothing; did you mean delete?"
            yield Found(spot.at, what, severity=WARNING)
    elif spot.directive == "merge":
        yield Found(
            spot.at,
            "the API server refuses $patch: merge; merging is the default, drop the line",
            fix=("drop",) if len(spot.map.fields) > 1 else (),
        )


@Check(
    "D03", ERROR, MAP, "other fields beside `$patch: delete` in a map",
    kubectl="They are thrown away without a word.",
    kustomize="They are thrown away without a word.",
    counter="rollingUpdate:\n  $patch: replace\n  maxSurge: 1",
    example="rollingUpdate:\n  $patch: delete\n  maxSurge: 1",
    mend="Drop them, or write `$patch: replace` to put them in place of what was there.",
)  # fmt: skip
def siblings_of_delete(spot: Spot) -> Iterator[Found]:
    """Fields beside `$patch: delete`, which no tool reads."""
    if spot.directive != "delete" or spot.element_of is not None or not spot.path:
        return
    others = [k for k in spot.map.fields if not is_directive(k)]
    if others:
        names = ", ".join(others[:4]) + (", .." if len(others) > 4 else "")
        verb = "is" if len(others) == 1 else "are"
        yield Found(spot.map.at_key(others[0]), f"{names} {verb} ignored next to $patch: delete")


@Check(
    "D04", WARNING, MAP, "`$patch: delete` of all of `spec`, or in a map where null is meant",
    kubectl="The key stays, with an empty map; the API server may fill in defaults again. Without "
    "its spec it refuses the object: that is an error.",
    kustomize="The key is removed, which is fine but for a spec.",
    example="spec:\n  $patch: delete",
    counter="strategy:\n  rollingUpdate: null",
    mend="Write `rollingUpdate: null`: both tools remove the key.",
)  # fmt: skip
def delete_of_a_map(spot: Spot) -> Iterator[Found]:
    """`$patch: delete` in a map that is the value of a field, no element of a list."""
    if spot.directive != "delete" or spot.element_of is not None or not spot.path:
        return
    name = str(spot.path[-1])
    if name in NEEDED and spot.kind != CUSTOM:
        message = f"deletes all of {name}, and without it the object is refused; delete less"
        yield Found(spot.at, message, severity=ERROR)
    elif "K" in spot.tools and spot.target is not ABSENT:
        yield Found(
            spot.at,
            f"kubectl leaves an empty map behind; write {name}: null to remove the key",
            fix=("null",) if len(spot.map.fields) == 1 else (),
        )


@Check(
    "D05", ERROR, MAP, "directives or nulls below `$patch: replace`",
    tools="K",
    kubectl="What stands below `$patch: replace` is stored as it is: a directive becomes a field, "
    "a null stays a null, which the API server takes for an empty value (a warning).",
    kustomize="Nested directives are executed.",
    example="strategy:\n  $patch: replace\n  type: Recreate\n  rollingUpdate: null",
    counter="strategy:\n  $patch: replace\n  type: Recreate",
    mend="Drop them: what is not written below `$patch: replace` is gone anyway.",
)  # fmt: skip
def inside_replace(spot: Spot) -> Iterator[Found]:
    """Directives and nulls at any depth of a map with `$patch: replace`."""
    if spot.directive == "replace" and spot.element_of is None:
        yield from _literal(spot.map, spot.path, set(), top=True)


def literal_list(value: List, path: Path) -> Iterator[Found]:
    """The same in the elements of a list that is replaced."""
    for number, element in enumerate(value.values):
        if isinstance(element, Map) and PATCH not in element.fields:
            yield from _literal(element, (*path, number), set(), top=False)


def _literal(value: Value, path: Path, seen: set[int], *, top: bool) -> Iterator[Found]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Map):
        for key, (at, item) in value.fields.items():
            if is_directive(key):
                if not top:
                    effect = "kubectl stores it as a field; drop it"
                    message = f"{key} is not executed below $patch: replace, {effect}"
                    yield Found(at, message, path=path)
            elif item.null:
                effect = f"kubectl stores it; drop {key}"
                message = f"null is not executed below $patch: replace, {effect}"
                yield Found(at, message, path=(*path, key), severity=WARNING)
            else:
                yield from _literal(item, (*path, key), seen, top=False)
    elif isinstance(value, List):
        for number, item in enumerate(value.values):
            yield from _literal(item, (*path, number), seen, top=False)


@Check(
    "D06", ERROR, MAP, "`$patch: replace` on a map that the target lacks",
    tools="K", needs="T",
    kubectl="The API server drops the whole map, its new content too.",
    kustomize="The content is added.",
    example="strategy:\n  $patch: replace\n  type: Recreate\n"
    "# file: target.yaml\nreplicas: 2",
    counter="strategy:\n  $patch: replace\n  type: Recreate\n"
    "# file: target.yaml\nstrategy:\n  type: RollingUpdate",
    mend="Remove the directive: a new map needs none.",
)  # fmt: skip
def replace_of_nothing(spot: Spot) -> Iterator[Found]:
    """`$patch: replace` in a map that the patched object does not have."""
    if spot.directive == "replace" and spot.target is ABSENT and spot.element_of is None:
        effect = "the API server drops it with its content; remove the directive"
        yield Found(spot.at, f"the target has no such map, so {effect}")


@Check(
    "D07", ERROR, MAP, "`$patch` at the top of a patch",
    kubectl="`delete` leaves an object without a kind, which is refused; with `replace` nothing "
    "stays of the object but what the patch has.",
    kustomize="`delete` removes the resource, that is fine; with `replace` the patch is ignored.",
    example="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n$patch: replace",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- path: web.yaml\n# file: web.yaml\n$patch: delete\napiVersion: apps/v1\n"
    "kind: Deployment\nmetadata:\n  name: web",
    mend="Delete a resource with `kubectl delete` or with a kustomize patch; to replace one, "
    "apply the whole manifest.",
)  # fmt: skip
def at_root(spot: Spot) -> Iterator[Found]:
    """`$patch: replace` beside the kind of an object; `$patch: delete` there, but for kustomize."""
    if spot.path or spot.element_of is not None:
        return
    if spot.directive == "replace":
        yield Found(
            spot.at,
            "$patch: replace at the top: kustomize ignores the patch, kubectl loses all other "
            "fields; write the fields that change",
        )
    elif spot.directive == "delete" and "K" in spot.tools:
        yield Found(
            spot.at,
            "only kustomize can delete a resource with $patch: delete at the top; "
            "with kubectl use `kubectl delete`",
        )


@Check(
    "D08", WARNING, MAP, "`$patch` beside `$retainKeys`, `$setElementOrder/..` or "
    "`$deleteFromPrimitiveList/..`",
    kubectl="`$patch` is executed alone; next to `replace` the others are stored as fields.",
    kustomize="Next to `replace` the others stay in the output.",
    counter="strategy:\n  $patch: replace\n  type: Recreate",
    example="strategy:\n  $patch: replace\n  $retainKeys: [type]\n  type: Recreate",
    mend="Keep one of them.",
)  # fmt: skip
def beside_parallel(spot: Spot) -> Iterator[Found]:
    """`$patch` and another directive in one map: only `$patch` is executed."""
    if spot.directive not in ("replace", "delete", "merge"):
        return
    others = [k for k in spot.map.fields if k != PATCH and is_directive(k)]
    for key in others:
        if spot.directive == "replace":
            message = f"{key} is stored as a field next to $patch: replace; drop it"
            yield Found(spot.map.at_key(key), message, severity=ERROR)
        else:
            yield Found(spot.map.at_key(key), f"{key} is ignored next to $patch; drop it")
