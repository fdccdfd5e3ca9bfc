"""D30-D43, D61-D63: find directives and patches that only one of the tools understands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kmerge_git.bounds import LOST_NAMES
from kmerge_git.check import registry
from kmerge_git.check.checked_texts import shown
from kmerge_git.check.page_values import List, Map, Text, Value, alike, directives_below, mappings
from kmerge_git.check.patches.patch_verdict import CUSTOM
from kmerge_git.check.patches.patch_walk import ABSENT, KeySpot, ListDirective, Spot
from kmerge_git.check.registry import (
    ERROR,
    INFO,
    LIST_DIRECTIVE,
    RETAINED,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.nearest import misspelt, spelling_hint
from kmerge_git.patch import DELETE, ORDER, PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


# Fields that may identify the elements of a list, for lists without a schema.
NAMES = ("name", "id", "key", "host", "type")
# kustomize knows none of the directives that are written beside a field.
KubectlCheck = partial(
    Check,
    tools="K",
    kustomize="kustomize does not know the directive and copies it to the output.",
)


@KubectlCheck(
    "D30", ERROR, LIST_DIRECTIVE, "a list directive without the name of its list",
    hides=("D31", "D32", "D33", "D34", "D35", "D36", "D37", "D38", "D39"),
    kubectl="The API server refuses the patch: `invalid patch format`.",
    example="$setElementOrder:\n- name: web",
    counter="$setElementOrder/containers:\n- name: web",
    mend="Add the name of the list: `$setElementOrder/containers`.",
)  # fmt: skip
def without_field(here: ListDirective) -> Iterator[Found]:
    """Find `$setElementOrder:` or `$deleteFromPrimitiveListfoo:`, which name no list."""
    if not here.list:
        yield Found(here.at, f"kubectl refuses {here.key}; write {here.word}/<list>")


@KubectlCheck(
    "D31", ERROR, LIST_DIRECTIVE, "a list directive whose value is not a list",
    kubectl="The API server refuses `$setElementOrder` and ignores `$deleteFromPrimitiveList`. But "
    "a null as the value of `$deleteFromPrimitiveList` deletes the whole list.",
    example="$deleteFromPrimitiveList/finalizers: example.com/a",
    counter="$deleteFromPrimitiveList/finalizers: [example.com/a]",
    mend="Write a list, even if it has only one entry.",
)  # fmt: skip
def not_a_list(here: ListDirective) -> Iterator[Found]:
    """Find a scalar, a map or null as the value of a directive that takes a list."""
    if here.value.null and here.word == DELETE:
        yield Found(here.at, f"{here.key}: null deletes the whole list; write the values to delete")
    elif not isinstance(here.value, List):
        yield Found(here.value.at, f"the value of {here.key} must be a list")


@KubectlCheck(
    "D32", ERROR, LIST_DIRECTIVE, "a list directive for a field that is unknown or not a list",
    needs="S",
    kubectl="The API server refuses `$setElementOrder` (`unable to find api field`). "
    "`$deleteFromPrimitiveList` has no effect.",
    example="$setElementOrder/container:\n- name: web",
    counter="$setElementOrder/containers:\n- name: web",
    mend="Correct the name of the list.",
)  # fmt: skip
def unknown_list(here: ListDirective) -> Iterator[Found]:
    """Find `$setElementOrder/container` if the kind has no list of this name."""
    struct, path = here.spot.struct, here.spot.path
    if here.list and struct is not None and here.type is None:
        # the last key, or the element with the key of its list
        where = shown(path[-2:] if path and not isinstance(path[-1], str) else path[-1:])
        fields = ((name, struct.field(name)) for name in struct.names)
        lists = (name for name, field in fields if field is not None and field.kind == "list")
        hint = spelling_hint(here.list, lists)
        yield Found(here.at, f'{where or struct.name} has no list "{here.list}"{hint}')


@KubectlCheck(
    "D33", ERROR, LIST_DIRECTIVE, "elements of `$setElementOrder` without the merge key",
    needs="S",
    kubectl="If a merge key is missing, the API server refuses the patch. Fields next to a merge "
    "key are ignored.",
    example="$setElementOrder/containers:\n- web\n- name: side",
    counter="$setElementOrder/containers:\n- name: web\n- name: side",
    mend="Write only the merge key, such as `- name: web`.",
)  # fmt: skip
def order_elements(here: ListDirective) -> Iterator[Found]:
    """Find elements of `$setElementOrder` that are not a map with only the merge key."""
    key = here.merge_key
    seen: set[str] = set()
    for value in here.order if key else ():
        if key not in value.fields:
            yield Found(value.at, f'each element of this list needs "{key}"; write - {key}: ..')
            continue
        for extra in [field for field in value.fields if field != key][:1]:
            message = f'only "{key}" is read in this list, not {extra}'
            yield Found(value.at_key(extra), message, severity=INFO)
        name = value.string(key)
        if name in seen:
            yield Found(value.at, f"duplicate element {key}: {name}", severity=INFO)
        seen.add(name)


@KubectlCheck(
    "D34", ERROR, LIST_DIRECTIVE, "a list of the patch that contradicts its `$setElementOrder`",
    needs="S",
    kubectl="The API server refuses the patch: `The order in patch list .. doesn't match "
    "$setElementOrder list`.",
    example="$setElementOrder/containers:\n- name: log\ncontainers:\n- name: new",
    counter="$setElementOrder/containers:\n- name: log\n- name: new\ncontainers:\n- name: new",
    mend="List every element of the patch in `$setElementOrder`, in the same order.",
)  # fmt: skip
def contradicting_order(here: ListDirective) -> Iterator[Found]:
    """Find a patch element that `$setElementOrder` omits or lists at another place."""
    patched = here.spot.map.items(here.list) if here.list else []
    order = [_name(value, here.merge_key) for value in here.order]
    is_of_maps = any(isinstance(value, Map) for value in [*patched, *here.order])
    if order and None not in order and (here.merge_key or not is_of_maps):
        yield from _contradictions(here, order, patched)


def _contradictions(
    here: ListDirective, order: list[str | None], patched: list[Value]
) -> Iterator[Found]:
    position, last = 0, ""
    for value in patched:
        text = _name(value, here.merge_key)
        if PATCH in value.fields:
            is_last = value is patched[-1] and position >= len(order)
            if is_last and value.string(PATCH) == "replace":
                yield Found(value.at, f"a trailing - $patch: replace contradicts {here.key}")
        elif text in order[position:]:
            position, last = order.index(text, position) + 1, str(text)
        elif text in order:
            wanted = ", ".join(str(t) for t in order if t in (text, last))
            yield Found(value.at, f"the order {last}, {text} differs from {wanted} in {here.key}")
            return
        elif text is not None:
            yield Found(value.at, f'"{text}" is missing in {here.key}; add it')


@KubectlCheck(
    "D35", ERROR, LIST_DIRECTIVE, "`$setElementOrder` on a list of maps without merge key",
    needs="S",
    kubectl="kubectl crashes with a Go panic.",
    example="$setElementOrder/tolerations:\n- key: spot",
    counter="$setElementOrder/volumes:\n- name: data",
    mend="Remove the directive and write the whole list.",
)  # fmt: skip
def order_of_unpaired_maps(here: ListDirective) -> Iterator[Found]:
    """Find `$setElementOrder` for tolerations, envFrom or another list without merge key."""
    if here.word == ORDER and here.type and here.type.of_maps and not here.merge_key:
        yield Found(
            here.at,
            f"kubectl crashes on this (Go panic): {here.list} has no merge key; "
            "write the whole list instead",
        )


@KubectlCheck(
    "D36", WARNING, LIST_DIRECTIVE, "an empty `$setElementOrder`",
    kubectl="The directive sorts nothing, but new elements may get another position.",
    example="$setElementOrder/containers: []",
    counter="$setElementOrder/containers:\n- name: web",
    mend="Remove the directive.",
)  # fmt: skip
def empty_order(here: ListDirective) -> Iterator[Found]:
    """Find `$setElementOrder/containers: []`, which orders nothing."""
    if here.word == ORDER and isinstance(here.value, List) and not here.value.values:
        yield Found(
            here.at, "this has no effect, but may change the order of new elements; remove it"
        )


@KubectlCheck(
    "D37", ERROR, LIST_DIRECTIVE, "`$deleteFromPrimitiveList` for a list of maps",
    needs="S",
    kubectl="kubectl adds the elements instead of deleting them, or refuses the patch.",
    example="$deleteFromPrimitiveList/containers:\n- name: side",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Delete elements of a list of maps with `- {name: side, $patch: delete}`.",
)  # fmt: skip
def maps_to_delete(here: ListDirective) -> Iterator[Found]:
    """Find `$deleteFromPrimitiveList` with maps or for a list of maps.

    The directive deletes only scalars.
    """
    key = (here.type.merge_key if here.type else "") or "name"
    for value in here.deletions if here.type else ():
        text = value.text if isinstance(value, Text) else value.string(key) or ".."
        use = f"use - {{{key}: {text}, $patch: delete}}"
        if isinstance(value, Map):
            yield Found(value.at, f"kubectl would add this element, not delete it; {use}")
        elif here.type and here.type.of_maps and isinstance(value, Text):
            yield Found(value.at, f"kubectl refuses a text in a list of maps; {use}")


@KubectlCheck(
    "D38", ERROR, LIST_DIRECTIVE, "a value that a patch adds to a list and also deletes from it",
    kubectl="The result is random: it depends on the order of Go maps.",
    example="$deleteFromPrimitiveList/finalizers: [a]\nfinalizers: [a]",
    counter="$deleteFromPrimitiveList/finalizers: [a]\nfinalizers: [b]",
    mend="Either delete the value or add it.",
)  # fmt: skip
def deleted_and_added(here: ListDirective) -> Iterator[Found]:
    """Find a value that the patch adds to a list and also deletes from the list."""
    values = here.spot.map.items(here.list) if here.list else []
    added = {value.text for value in values if isinstance(value, Text)}
    for value in here.deletions:
        if isinstance(value, Text) and value.text in added:
            message = (
                f"{value.text} is also added in {here.list}, so the result is random; keep one"
            )
            yield Found(value.at, message)


@KubectlCheck(
    "D39", INFO, LIST_DIRECTIVE, "`$deleteFromPrimitiveList` for a list that patches replace as a "
    "whole",
    needs="S",
    kubectl="API servers before Kubernetes 1.28 replace the list with the values that should be "
    "deleted.",
    example="$deleteFromPrimitiveList/args: [--debug]",
    counter="$deleteFromPrimitiveList/finalizers: [a]",
    mend="If you use API servers before 1.28, write the whole list.",
)  # fmt: skip
def delete_from_atomic(here: ListDirective) -> Iterator[Found]:
    """Find `$deleteFromPrimitiveList` for a list that is not merged, such as container args."""
    if here.word == DELETE and here.type and not here.type.merges and not here.type.of_maps:
        yield Found(here.at, "servers before 1.28 replace the list with these values")


def _name(value: Value, key: str) -> str | None:
    return value.text if isinstance(value, Text) else value.string(key) or None


@KubectlCheck(
    "D40", ERROR, RETAINED, "`$retainKeys` that is not a list of strings",
    hides=("D41", "D42", "D43"),
    kubectl="The API server refuses the patch: `invalid patch format of retainKeys`.",
    example="strategy:\n  $retainKeys: type",
    counter="strategy:\n  $retainKeys: [type]\n  type: Recreate",
    mend="Write a list of field names.",
)  # fmt: skip
def retain_is_list(here: KeySpot) -> Iterator[Found]:
    """Find `$retainKeys` whose value is not a list of strings."""
    is_list = isinstance(here.value, List)
    if not is_list or not all(isinstance(v, Text) and not v.null for v in here.value.values):
        yield Found(here.at, "$retainKeys must be a list of field names")


@KubectlCheck(
    "D41", ERROR, RETAINED, "a field that is set but not in `$retainKeys`",
    kubectl="The API server refuses the patch: `invalid patch format of retainKeys`.",
    example="strategy:\n  $retainKeys: [rollingUpdate]\n  type: Recreate",
    counter="strategy:\n  $retainKeys: [type]\n  type: Recreate",
    mend="List every field that the patch sets, including the merge key.",
)  # fmt: skip
def not_retained(here: KeySpot) -> Iterator[Found]:
    """Find a field of the patch that the `$retainKeys` next to it would remove."""
    listed = _retained(here)
    for key, (at, value) in here.spot.map.fields.items() if listed else ():
        if not value.null and not is_directive(key) and key not in listed:
            yield Found(at, f"{key} is set but not in $retainKeys; add it to the list")


@KubectlCheck(
    "D42", WARNING, RETAINED, "`$retainKeys` that is empty or lists a field that does not exist",
    kubectl="An empty list removes all fields of the map, and a misspelt name removes the field "
    "that was meant (both are reported as errors). Any other unknown name is ignored.",
    counter="strategy:\n  $retainKeys: [type, rollingUpdate]\n  type: RollingUpdate",
    example="strategy:\n  $retainKeys: [type, rolingUpdate]\n  type: RollingUpdate",
    mend="List the fields to keep.",
)  # fmt: skip
def odd_names_retained(here: KeySpot) -> Iterator[Found]:
    """Find a `$retainKeys` that is empty or names a field that does not exist."""
    listed, struct = _retained(here), here.spot.struct
    if not listed and isinstance(here.value, List):
        message = "an empty list clears the whole map; write null, or list the fields to keep"
        yield Found(here.at, message, severity=ERROR)
    names = struct.names if struct is not None else list(listed)
    for name, at in listed.items():
        if name not in names:
            guess = misspelt(name, names)
            hint = f"; did you mean {guess}? This list removes that field" * bool(guess)
            yield Found(at, f"the map has no field {name}{hint}", severity=ERROR if guess else "")


@KubectlCheck(
    "D43", INFO, RETAINED, "`$retainKeys` on a map that does not need it, or on a new map",
    kubectl="In a map that the target has, the directive works, but is unusual. In a new map, it "
    "is stored as a field.",
    example="resources:\n  $retainKeys: [limits]\n  limits:\n    cpu: 1",
    counter="strategy:\n  $retainKeys: [type]\n  type: Recreate",
    mend="Remove the directive, and set unwanted fields to null.",
)  # fmt: skip
def unusual_retain(here: KeySpot) -> Iterator[Found]:
    """Find `$retainKeys` in a map that the target lacks or that the schema merges otherwise."""
    spot = here.spot
    if spot.target is ABSENT:
        message = "the target has no such map, so this is stored as a field; remove it"
        yield Found(here.at, message, severity=ERROR)
    elif spot.struct is not None and spot.path and "k" not in spot.strategies:
        yield Found(
            here.at, "this works, but is unusual for this map; null removes a field as well"
        )


def _retained(here: KeySpot) -> dict[str, int]:
    """Return the names in `$retainKeys`, with their offsets."""
    return {value.text: value.at for value in here.value.values if isinstance(value, Text)}


@also("D61", RETAINED)
@Check(
    "D61", ERROR, LIST_DIRECTIVE, "a directive that kustomize does not know",
    tools="Z",
    kubectl="The directive works with kubectl.",
    kustomize="kustomize copies the directive to the output.",
    counter="containers:\n- name: web\n  $patch: delete",
    example="$setElementOrder/containers:\n- name: web\n- name: side",
    mend="Remove the directive. With kustomize you can delete with `$patch: delete` or null, but "
    "not set the order of a list.",
)  # fmt: skip
def unknown_to_kustomize(here: ListDirective | KeySpot) -> Iterator[Found]:
    """Find a directive other than `$patch` in a patch for kustomize."""
    verdict = here.spot.verdict
    what = f"kustomize does not know {here.key} and copies it to the output"
    if verdict.is_known:
        yield Found(here.at, f"{what}; remove it")
    elif verdict.rule == 0 or verdict.kustomization is not None:
        mend = "remove it, or use --tool kubectl if kubectl reads this patch"
        yield Found(here.at, f"{what}; {mend}", severity=WARNING)


@Check(
    "D62", ERROR, registry.PATCH, "a strategic merge patch for a custom resource",
    needs="ST", refused_by="K",
    kubectl="The API server refuses the patch (415): `strategic merge patch is not supported`.",
    kustomize="Lists are replaced, not merged, unless the kustomization has an `openapi:` field. "
    "Elements that are lost this way are reported as a warning.",
    example="apiVersion: example.com/v1\nkind: Database\nmetadata:\n  name: db\nspec:\n"
    "  groups:\n  - name: a\n# file: target.yaml\napiVersion: example.com/v1\nkind: Database\n"
    "metadata:\n  name: db\nspec:\n  groups:\n  - name: a\n  - name: b",
    counter="apiVersion: example.com/v1\nkind: Database\nmetadata:\n  name: db\nspec:\n"
    "  size: 2\n# file: target.yaml\napiVersion: example.com/v1\nkind: Database\n"
    "metadata:\n  name: db\nspec:\n  groups:\n  - name: a\n  size: 1",
    mend="Use a JSON merge patch (`kubectl patch --type merge`). With kustomize, write the whole "
    "list, or define the merge keys in `openapi:`.",
)  # fmt: skip
def custom_resource(spot: Spot) -> Iterator[Found]:
    """Find lists and directives that fail in a patch for a custom resource.

    A patch for kubectl is refused. kustomize replaces whole lists, so elements are lost.
    """
    if spot.kind != CUSTOM:
        return
    if "K" in spot.verdict.known_tools:
        places = [at for at, _ in directives_below(spot.map)]
        for value in mappings(spot.map):
            places += (at for at, item in value.fields.values() if isinstance(item, List))
        if places:
            yield Found(
                min(places),
                "the API server refuses this patch of a custom resource; use a JSON merge patch",
            )
    elif isinstance(spot.target, Map):
        lists = list(_losses(spot.map, spot.target, (), set()))
        names = [name for _, _, lost in lists for name in lost]
        more = f" and {len(names) - LOST_NAMES} more" if len(names) > LOST_NAMES else ""
        what = "lists of a custom resource are replaced, not merged (there is no `openapi`); lost: "
        for at, path, _ in lists[:1]:
            message = what + ", ".join(names[:LOST_NAMES]) + more
            yield Found(at, message, path=path, severity=WARNING)


@Check(
    "D63", ERROR, registry.PATCH, "a kustomize patch without apiVersion, kind or metadata.name",
    tools="Z",
    kubectl="kubectl does not need these fields, because its command line names the object.",
    kustomize="The build fails: `unable to parse SM or JSON patch`, even with a `target:`.",
    example="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- target: {kind: Deployment, name: web}\n  patch: |\n    spec:\n      replicas: 2",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- target: {kind: Deployment, name: web}\n  patch: |\n    kind: Deployment\n    metadata:\n"
    "      name: any\n    spec:\n      replicas: 2",
    mend="Add apiVersion, kind and metadata.name. With a `target:`, any name is valid, and "
    "apiVersion is optional.",
)  # fmt: skip
def incomplete_identity(spot: Spot) -> Iterator[Found]:
    """Find a patch for kustomize without apiVersion, kind or metadata.name."""
    entry, root = spot.verdict.entry, spot.map
    if entry is None or entry.is_of_policy:
        return
    missing = [field for field in ("apiVersion", "kind") if not root.string(field)]
    if entry.target is not None and missing == ["apiVersion"]:
        missing = []  # kustomize finds the target without apiVersion
    if not (root.string("metadata", "name") or root.string("metadata", "generateName")):
        missing.append("metadata.name")
    if missing:
        no_resource = missing == ["apiVersion"]
        effect = "finds no resource" if no_resource else "is unable to parse SM or JSON patch"
        mend = "add it, even if there is a target" if entry.target else "add it"
        yield Found(root.at, f"without {' and '.join(missing)} kustomize {effect}; {mend}")


# -- parts of a resource that are lost when a list of a patch replaces a whole list ---------------


def _losses(
    patch: Map, target: Map, path: Path, seen: set[int]
) -> Iterator[tuple[int, Path, list[str]]]:
    """Yield the offset, the path and the losses of each list that removes parts of the target."""
    if id(patch) in seen:
        return
    seen.add(id(patch))
    for key, (at, item) in patch.fields.items():
        there, where = target.get(key), (*path, key)
        if isinstance(item, Map) and isinstance(there, Map):
            yield from _losses(item, there, where, seen)
        elif isinstance(item, List) and isinstance(there, List):
            lost = _lost(item, there, where)
            if lost:
                yield at, where, lost


def _lost(patch: List, target: List, path: Path) -> list[str]:
    """Return the elements and fields of the target that a list of the patch removes.

    Nothing counts as lost if the list is empty or has only other values, because that is intended.
    """
    name = _name_of(patch.values, target.values)
    partners = _partners(target.values, patch.values, name)
    if not patch.values or (not name and all(partner is None for partner in partners)):
        return []  # the patch intends other values, or none
    lost = []
    for number, (element, partner) in enumerate(zip(target.values, partners, strict=True)):
        here: Path = (*path, ((name, element.string(name)),) if name else number)
        if partner is None and isinstance(element, Text):
            lost.append(f'"{element.text}" of {shown(path)}')
        elif partner is None:
            lost.append(shown(here))
        elif isinstance(partner, Map) and isinstance(element, Map):
            lost += _fields_lost(partner, element, here)
    return lost


def _fields_lost(patch: Map, target: Map, path: Path) -> list[str]:
    """Return the fields of a target map that its partner in the patch lacks, at any depth."""
    lost = []
    for key, (_, there) in target.fields.items():
        item, where = patch.get(key), (*path, key)
        if item is None:
            lost += [] if there.null else [shown(where)]
        elif isinstance(item, Map) and isinstance(there, Map):
            lost += _fields_lost(item, there, where)
        elif isinstance(item, List) and isinstance(there, List):
            lost += _lost(item, there, where)
    return lost


def _name_of(*lists: list[Value]) -> str:
    """Return a field that identifies the elements of all the lists, or '' if there is none."""
    for name in NAMES:
        texts = [[value.string(name) for value in values] for values in lists]
        if all(all(each) and len(set(each)) == len(each) for each in texts):
            return name
    return ""


def _partners(target: list[Value], patch: list[Value], name: str) -> list[Value | None]:
    """Return the patch element for each target element, paired by name, value or order."""
    if name:
        named = {value.string(name): value for value in patch}
        return [named.get(element.string(name)) for element in target]
    left = list(patch)
    partners: list[Value | None] = []
    for element in target:
        same = next((value for value in left if alike(value, element)), None)
        left = [value for value in left if value is not same]
        partners.append(same)
    others = (value for value in left if isinstance(value, Map))
    return [
        next(others, None) if one is None and isinstance(element, Map) else one
        for element, one in zip(target, partners, strict=True)
    ]
