"""D30-D39: `$setElementOrder` and `$deleteFromPrimitiveList`."""

from __future__ import annotations

from functools import partial

from kmerge_git.check.nearness import did_you_mean
from kmerge_git.check.page import shown
from kmerge_git.check.patches.spots import ListDirective
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import ERROR, INFO, LIST_DIRECTIVE, WARNING, Check, Found
from kmerge_git.patch.directives import DELETE, ORDER, PATCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path

# Kustomize knows none of the directives that stand beside a field.
KubectlCheck = partial(Check, tools="K", kustomize="It is not executed and ends up in the output.")


@KubectlCheck(
    "D30", ERROR, LIST_DIRECTIVE, "a directive without `/field`",
    hides=("D31", "D32", "D33", "D34", "D35", "D36", "D37", "D38", "D39"),
    kubectl="The API server refuses the patch: `invalid patch format`.",
    example="$setElementOrder:\n- name: web",
    counter="$setElementOrder/containers:\n- name: web",
    mend="Name the list: `$setElementOrder/containers`.",
)  # fmt: skip
def without_field(here: ListDirective) -> Iterator[Found]:
    """`$setElementOrder:` or `$deleteFromPrimitiveListfoo:`, which name no list."""
    if not here.list:
        yield Found(here.at, f"{here.key} is refused; write {here.word}/<list>")


@KubectlCheck(
    "D31", ERROR, LIST_DIRECTIVE, "the value of a list directive is no list",
    kubectl="`$setElementOrder` is refused, `$deleteFromPrimitiveList` is ignored; null deletes "
    "the whole list.",
    example="$deleteFromPrimitiveList/finalizers: example.com/a",
    counter="$deleteFromPrimitiveList/finalizers: [example.com/a]",
    mend="Write a list, with one entry if need be.",
)  # fmt: skip
def not_a_list(here: ListDirective) -> Iterator[Found]:
    """A scalar, a map or null below a directive that takes a list."""
    if isinstance(here.value, List):
        return
    if here.value.null and here.word == DELETE:
        yield Found(here.at, f"{here.key}: null deletes the whole list; write the values to delete")
    else:
        yield Found(here.value.at, f"a list is needed below {here.key}")


@KubectlCheck(
    "D32", ERROR, LIST_DIRECTIVE, "a list directive for a field that is unknown or no list",
    needs="S",
    kubectl="`$setElementOrder` is refused (`unable to find api field`), the others do nothing.",
    example="$setElementOrder/container:\n- name: web",
    counter="$setElementOrder/containers:\n- name: web",
    mend="Write the name of the list as the kind has it.",
)  # fmt: skip
def unknown_list(here: ListDirective) -> Iterator[Found]:
    """`$setElementOrder/container`: the kind has no list of this name."""
    struct = here.spot.struct
    if here.list and struct is not None and here.type is None:
        where = shown(_last_key(here.spot.path)) or struct.name
        fields = ((name, struct.field(name)) for name in struct.names)
        lists = (name for name, field in fields if field is not None and field.kind == "list")
        hint = did_you_mean(here.list, lists)
        yield Found(here.at, f'{where} has no list "{here.list}"{hint}')


@KubectlCheck(
    "D33", ERROR, LIST_DIRECTIVE, "elements of an order list without the merge key",
    needs="S",
    kubectl="The API server refuses the patch; other fields of the element are ignored.",
    example="$setElementOrder/containers:\n- web\n- name: side",
    counter="$setElementOrder/containers:\n- name: web\n- name: side",
    mend="Write `- name: web`, with the merge key and nothing else.",
)  # fmt: skip
def order_elements(here: ListDirective) -> Iterator[Found]:
    """Elements of `$setElementOrder` that are no map with the merge key, and nothing else."""
    key = here.merge_key
    seen: set[str] = set()
    for value in here.order if key else ():
        if not isinstance(value, Map) or key not in value.fields:
            yield Found(value.at, f'order elements need "{key}"; write - {key}: ..')
            continue
        extra = [k for k in value.fields if k != key]
        if extra:
            at = value.at_key(extra[0])
            yield Found(at, f'only "{key}" is read here, not {extra[0]}', severity=INFO)
        if value.text(key) in seen:
            yield Found(value.at, f"{key}: {value.text(key)} is here twice", severity=INFO)
        seen.add(value.text(key))


@KubectlCheck(
    "D34", ERROR, LIST_DIRECTIVE, "the patch list and its order list contradict each other",
    needs="S",
    kubectl="The API server refuses the patch: `The order in patch list .. doesn't match "
    "$setElementOrder list`.",
    example="$setElementOrder/containers:\n- name: log\ncontainers:\n- name: new",
    counter="$setElementOrder/containers:\n- name: log\n- name: new\ncontainers:\n- name: new",
    mend="List every element of the patch in `$setElementOrder`, in the same order.",
)  # fmt: skip
def contradicting_order(here: ListDirective) -> Iterator[Found]:
    """An element of the patch that `$setElementOrder` lists elsewhere, or not at all."""
    patched = here.spot.map.items(here.list) if here.list else []
    keyed = any(isinstance(v, Map) for v in [*patched, *here.order])
    order = [_name(v, here.merge_key) for v in here.order]
    if order and None not in order and (here.merge_key or not keyed):
        yield from _contradictions(here, order, patched)


def _contradictions(
    here: ListDirective, order: list[str | None], patched: list[Value]
) -> Iterator[Found]:
    position, last = 0, ""
    for value in patched:
        if isinstance(value, Map) and PATCH in value.fields:
            is_last = value is patched[-1] and position >= len(order)
            if is_last and value.text(PATCH) == "replace":
                yield Found(value.at, f"a trailing - $patch: replace contradicts {here.key}")
            continue
        text = _name(value, here.merge_key)
        if text is None:
            continue
        if text not in order:
            yield Found(value.at, f'"{text}" is not in {here.key}')
        elif text not in order[position:]:
            wanted = ", ".join(str(t) for t in order if t in (text, last))
            yield Found(value.at, f"order {last}, {text} contradicts {wanted} in {here.key}")
            return
        else:
            position, last = order.index(text, position) + 1, text


@KubectlCheck(
    "D35", ERROR, LIST_DIRECTIVE, "`$setElementOrder` on a list of maps without merge key",
    needs="S",
    kubectl="kubectl crashes on this with a Go panic.",
    example="$setElementOrder/tolerations:\n- key: spot",
    counter="$setElementOrder/volumes:\n- name: data",
    mend="Drop the directive and write the whole list.",
)  # fmt: skip
def order_of_unpaired_maps(here: ListDirective) -> Iterator[Found]:
    """`$setElementOrder` for tolerations, envFrom or another list without merge key."""
    if here.word == ORDER and here.type and here.type.of_maps and not here.merge_key:
        yield Found(
            here.at,
            f"kubectl crashes on this (Go panic): {here.list} has no merge key; "
            "write the whole list instead",
        )


@KubectlCheck(
    "D36", WARNING, LIST_DIRECTIVE, "an empty `$setElementOrder`",
    kubectl="It has no effect, but may scramble new elements.",
    example="$setElementOrder/containers: []",
    counter="$setElementOrder/containers:\n- name: web",
    mend="Drop it.",
)  # fmt: skip
def empty_order(here: ListDirective) -> Iterator[Found]:
    """`$setElementOrder/containers: []`, which orders nothing."""
    if here.word == ORDER and isinstance(here.value, List) and not here.value.values:
        yield Found(here.at, "has no effect but may scramble new elements; drop it")


@KubectlCheck(
    "D37", ERROR, LIST_DIRECTIVE, "`$deleteFromPrimitiveList` for a list of maps",
    needs="S",
    kubectl="The elements are added instead of deleted, or the patch is refused.",
    example="$deleteFromPrimitiveList/containers:\n- name: side",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Delete elements of a list of maps with `- {name: side, $patch: delete}`.",
)  # fmt: skip
def maps_to_delete(here: ListDirective) -> Iterator[Found]:
    """`$deleteFromPrimitiveList` with maps, or for a list of maps: it deletes scalars only."""
    if here.type is None:
        return
    key = here.type.merge_key or "name"
    for value in here.deletions:
        if isinstance(value, Map):
            name = value.text(key) or ".."
            use = f"use - {{{key}: {name}, $patch: delete}}"
            yield Found(value.at, f"would ADD the elements; {use}")
        elif here.type.of_maps and isinstance(value, Text):
            use = f"use - {{{key}: {value.text}, $patch: delete}}"
            yield Found(value.at, f"kubectl refuses texts for maps; {use}")


@KubectlCheck(
    "D38", ERROR, LIST_DIRECTIVE, "a value both in a list and in its delete list",
    kubectl="The result depends on chance: on the order of Go's maps.",
    example="$deleteFromPrimitiveList/finalizers: [a]\nfinalizers: [a]",
    counter="$deleteFromPrimitiveList/finalizers: [a]\nfinalizers: [b]",
    mend="Delete it, or add it.",
)  # fmt: skip
def deleted_and_added(here: ListDirective) -> Iterator[Found]:
    """A value that the patch adds to a list and deletes from it."""
    values = here.spot.map.items(here.list) if here.list else []
    added = {v.text for v in values if isinstance(v, Text)}
    for value in here.deletions:
        if isinstance(value, Text) and value.text in added:
            message = f"{value.text} is added in {here.list} too: the result depends on chance"
            yield Found(value.at, message)


@KubectlCheck(
    "D39", INFO, LIST_DIRECTIVE, "`$deleteFromPrimitiveList` on a list that is not merged",
    needs="S",
    kubectl="Servers before 1.28 replace the list by these values.",
    example="$deleteFromPrimitiveList/args: [--debug]",
    counter="$deleteFromPrimitiveList/finalizers: [a]",
    mend="Write the whole list, if older servers count.",
)  # fmt: skip
def delete_from_atomic(here: ListDirective) -> Iterator[Found]:
    """`$deleteFromPrimitiveList` for a list that is replaced, as the args of a container."""
    if here.word == DELETE and here.type and not here.type.merges and not here.type.of_maps:
        yield Found(here.at, "servers before 1.28 replace the list by these values")


def _last_key(path: Path) -> Path:
    """The last key of a path, and the element of its list."""
    return path[-2:] if path and not isinstance(path[-1], str) else path[-1:]


def _name(value: Value, key: str) -> str | None:
    if isinstance(value, Map):
        return value.text(key) or None
    return value.text if isinstance(value, Text) else None
