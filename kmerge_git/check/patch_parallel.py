"""D30-D39: `$setElementOrder` and `$deleteFromPrimitiveList`."""

from __future__ import annotations

from kmerge_git.check.nearness import nearest
from kmerge_git.check.page import shown
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import DOLLAR, ERROR, INFO, WARNING, Check, Found
from kmerge_git.check.shapes import FieldType
from kmerge_git.check.walk import KeySpot
from kmerge_git.patch.directives import DELETE, ORDER, PATCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path

UNKNOWN_TO_KUSTOMIZE = "It is not executed and ends up in the output."


@Check(
    "D30", ERROR, DOLLAR, "a directive without `/field`",
    tools="K", hides=("D31", "D32", "D33", "D34", "D35", "D36", "D37", "D38", "D39"),
    kubectl="The API server refuses the patch: `invalid patch format`.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$setElementOrder:\n- name: web",
    mend="Name the list: `$setElementOrder/containers`.",
)  # fmt: skip
def without_field(here: KeySpot) -> Iterator[Found]:
    """`$setElementOrder:`, `$deleteFromPrimitiveListfoo:`."""
    if here.key.startswith((ORDER, DELETE)) and not _list_name(here.key):
        word = _directive(here.key)
        yield Found(here.at, f"{here.key} is refused; write {word}/<list>")


@Check(
    "D31", ERROR, DOLLAR, "the value of a list directive is no list",
    tools="K",
    kubectl="`$setElementOrder` is refused, `$deleteFromPrimitiveList` is ignored; null deletes "
    "the whole list.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$deleteFromPrimitiveList/finalizers: example.com/a",
    mend="Write a list, with one entry if need be.",
)  # fmt: skip
def not_a_list(here: KeySpot) -> Iterator[Found]:
    """A scalar, a map, or null."""
    if not here.key.startswith((ORDER, DELETE)) or isinstance(here.value, List):
        return
    if isinstance(here.value, Text) and here.value.null and here.key.startswith(DELETE):
        yield Found(here.at, f"{here.key}: null deletes the whole list; write the values to delete")
    else:
        yield Found(here.value.at, f"a list is needed below {here.key}")


@Check(
    "D32", ERROR, DOLLAR, "a list directive for a field that is unknown or no list",
    tools="K", needs="S",
    kubectl="`$setElementOrder` is refused (`unable to find api field`), the others do nothing.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$setElementOrder/container:\n- name: web",
    mend="Write the name of the list as the kind has it.",
)  # fmt: skip
def unknown_list(here: KeySpot) -> Iterator[Found]:
    """`$setElementOrder/container`."""
    name, struct = _list_name(here.key), here.spot.struct
    if not name or struct is None:
        return
    field = struct.field(name)
    if field is None or field.kind != "list":
        where = shown(_last_key(here.spot.path)) or struct.name
        guess = nearest(name, (n for n in struct.names if _is_list(struct.field(n))))
        hint = f'; did you mean "{guess}"?' if guess and guess != name else ""
        yield Found(here.at, f'{where} has no list "{name}"{hint}')


@Check(
    "D33", ERROR, DOLLAR, "elements of an order list without the merge key",
    tools="K", needs="S",
    kubectl="The API server refuses the patch; other fields of the element are ignored.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$setElementOrder/containers:\n- web\n- name: side",
    mend="Write `- name: web`, with the merge key and nothing else.",
)  # fmt: skip
def order_elements(here: KeySpot) -> Iterator[Found]:
    """Strings for maps, missing keys; and for information extra keys and repeats."""
    field = _paired(here)
    if field is None or not here.key.startswith(ORDER) or not isinstance(here.value, List):
        return
    seen: set[str] = set()
    for value in here.value.values:
        key = field.merge_key
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


@Check(
    "D34", ERROR, DOLLAR, "the patch list and its order list contradict each other",
    tools="K", needs="S",
    kubectl="The API server refuses the patch: `The order in patch list .. doesn't match "
    "$setElementOrder list`.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$setElementOrder/containers:\n- name: log\ncontainers:\n- name: new",
    mend="List every element of the patch in `$setElementOrder`, in the same order.",
)  # fmt: skip
def contradicting_order(here: KeySpot) -> Iterator[Found]:
    """An element that is not in the order list, or in another order."""
    name = _list_name(here.key)
    values = here.spot.map.items(name) if name else []
    if not here.key.startswith(ORDER) or not isinstance(here.value, List) or not values:
        return
    field = here.spot.field(name)
    keyed = any(isinstance(v, Map) for v in [*values, *here.value.values])
    if keyed and (field is None or not field.merges or not field.merge_key):
        return
    order = [_name(v, field) for v in here.value.values]
    if not order or None in order:
        return
    position = 0
    last = ""
    for value in values:
        if isinstance(value, Map) and PATCH in value.fields:
            if value.text(PATCH) == "delete" or value is not values[-1]:
                continue
            if position >= len(order) and value.text(PATCH) == "replace":
                yield Found(value.at, f"a trailing - $patch: replace contradicts {here.key}")
            continue
        text = _name(value, field)
        if text is None:
            continue
        if text not in order:
            yield Found(value.at, f'"{text}" is not in {here.key}')
        elif text not in order[position:]:
            wanted = ", ".join(str(t) for t in order if t in (text, last))
            yield Found(value.at, f"order {last}, {text} contradicts {wanted} in {here.key}")
            return
        else:
            position = order.index(text, position) + 1
            last = text


@Check(
    "D35", ERROR, DOLLAR, "`$setElementOrder` on a list of maps without merge key",
    tools="K", needs="S",
    kubectl="kubectl crashes on this with a Go panic.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$setElementOrder/tolerations:\n- key: spot",
    mend="Drop the directive and write the whole list.",
)  # fmt: skip
def order_of_unpaired_maps(here: KeySpot) -> Iterator[Found]:
    """Tolerations, envFrom."""
    field = _list_field(here)
    if here.key.startswith(ORDER) and field and field.of_maps and not _paired(here):
        yield Found(
            here.at,
            f"kubectl crashes on this (Go panic): {_list_name(here.key)} has no merge key; "
            "write the whole list instead",
        )


@Check(
    "D36", WARNING, DOLLAR, "an empty `$setElementOrder`",
    tools="K",
    kubectl="It has no effect, but may scramble new elements.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$setElementOrder/containers: []",
    mend="Drop it.",
)  # fmt: skip
def empty_order(here: KeySpot) -> Iterator[Found]:
    """`$setElementOrder/containers: []`."""
    if here.key.startswith(ORDER) and isinstance(here.value, List) and not here.value.values:
        yield Found(here.at, "has no effect but may scramble new elements; drop it")


@Check(
    "D37", ERROR, DOLLAR, "`$deleteFromPrimitiveList` for a list of maps",
    tools="K", needs="S",
    kubectl="The elements are added instead of deleted, or the patch is refused.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$deleteFromPrimitiveList/containers:\n- name: side",
    mend="Delete elements of a list of maps with `- {name: side, $patch: delete}`.",
)  # fmt: skip
def maps_to_delete(here: KeySpot) -> Iterator[Found]:
    """It is for scalars only."""
    field = _list_field(here)
    if not here.key.startswith(DELETE) or field is None or not isinstance(here.value, List):
        return
    for value in here.value.values:
        key = field.merge_key or "name"
        if isinstance(value, Map):
            name = value.text(key) or ".."
            yield Found(
                value.at, f"would ADD the elements; use - {{{key}: {name}, $patch: delete}}"
            )
        elif field.of_maps and isinstance(value, Text):
            yield Found(
                value.at,
                f"kubectl refuses texts for maps; use - {{{key}: {value.text}, $patch: delete}}",
            )


@Check(
    "D38", ERROR, DOLLAR, "a value both in a list and in its delete list",
    tools="K",
    kubectl="The result depends on chance: on the order of Go's maps.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$deleteFromPrimitiveList/finalizers: [a]\nfinalizers: [a]",
    mend="Delete it, or add it.",
)  # fmt: skip
def deleted_and_added(here: KeySpot) -> Iterator[Found]:
    """The same value twice, with opposite meaning."""
    name = _list_name(here.key)
    if not here.key.startswith(DELETE) or not name or not isinstance(here.value, List):
        return
    added = {v.text for v in here.spot.map.items(name) if isinstance(v, Text)}
    for value in here.value.values:
        if isinstance(value, Text) and value.text in added:
            yield Found(
                value.at, f"{value.text} is added in {name} too: the result depends on chance"
            )


@Check(
    "D39", INFO, DOLLAR, "`$deleteFromPrimitiveList` on a list that is not merged",
    tools="K", needs="S",
    kubectl="Servers before 1.28 replace the list by these values.",
    kustomize=UNKNOWN_TO_KUSTOMIZE,
    example="$deleteFromPrimitiveList/args: [--debug]",
    mend="Write the whole list, if older servers count.",
)  # fmt: skip
def delete_from_atomic(here: KeySpot) -> Iterator[Found]:
    """The arguments of a container."""
    field = _list_field(here)
    if here.key.startswith(DELETE) and field and not field.merges and not field.of_maps:
        yield Found(here.at, "servers before 1.28 replace the list by these values")


def _directive(key: str) -> str:
    return ORDER if key.startswith(ORDER) else DELETE


def _list_name(key: str) -> str:
    """The list that a directive is about; nothing for other keys and where none is named."""
    for word in (ORDER, DELETE):
        if key.startswith(word + "/"):
            return key[len(word) + 1 :]
    return ""


def _last_key(path: Path) -> Path:
    """The last key of a path, and the element of its list."""
    return path[-2:] if path and not isinstance(path[-1], str) else path[-1:]


def _is_list(field: FieldType | None) -> bool:
    return field is not None and field.kind == "list"


def _list_field(here: KeySpot) -> FieldType | None:
    field = here.spot.field(_list_name(here.key))
    return field if field is not None and field.kind == "list" else None


def _paired(here: KeySpot) -> FieldType | None:
    """The list's type, where its elements are paired by a merge key."""
    field = _list_field(here)
    return field if field and field.merges and field.merge_key else None


def _name(value: Value, field: FieldType | None) -> str | None:
    if isinstance(value, Map):
        return value.text(field.merge_key) or None if field else None
    return value.text if isinstance(value, Text) else None
