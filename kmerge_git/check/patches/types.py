"""D78: values of another type than their field has."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.patches.operations import steps_of
from kmerge_git.check.patches.shapes import FieldType
from kmerge_git.check.patches.spots import KeySpot, PatchOperation
from kmerge_git.check.patches.verdict import BUILTIN
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import ERROR, KEY, OPERATION, Check, Found, also
from kmerge_git.check.words import YES_NO, is_plain

BOOLEANS = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
COLLECTIONS = {"list": "a list", "struct": "a map", "map": "a map"}
PLACEHOLDERS = frozenset("${}<>@%#")


@Check(
    "D78", ERROR, KEY, "a value of another type than the field has",
    needs="S",
    kubectl="It puts the value there; the API server refuses the object: `cannot unmarshal`.",
    kustomize="The build fails where the base has a value of the right kind (`wrong node kind`); "
    "else `kubectl apply` refuses the output.",
    example="containers:\n- name: web\n  env:\n    LOG_LEVEL: debug",
    counter="containers:\n- name: web\n  env:\n  - name: LOG_LEVEL\n    value: debug",
    mend="Write a list as a list and a map as a map; quote a string that looks like a number, and "
    "leave numbers and booleans without quotes.",
)  # fmt: skip
def other_type(here: KeySpot) -> Iterator[Found]:
    """A map for a list, a text for a number, a number for a text."""
    spot, value = here.spot, here.value
    field = spot.field(here.key)
    if field is None or spot.kind != BUILTIN:
        return
    is_key = here.key == spot.merge_key
    if value.null or (is_key and spot.directive == "delete" and "K" not in spot.tools):
        if value.null and is_key:
            yield Found(
                spot.map.at_value(here.key),
                f"{here.key} tells which element is meant; null is none",
            )
        return
    yield from _misfits(here.key, here.at, value, field)


@also("D78", OPERATION)
def value_of_other_type(here: PatchOperation) -> Iterator[Found]:
    """The value of an operation, compared with the field that its path names."""
    item, field = here.value, here.type
    if not isinstance(item, Map) or item.text("op") not in ("add", "replace"):
        return
    path, value = item.text("path"), item.get("value")
    if value is None or value.null or not path.startswith("/"):
        return
    steps = steps_of(path)
    for step in steps:
        if field is None:
            return
        field = field.struct.field(step) if field.struct else field.of
    if field is not None:
        yield from _misfits(steps[-1], item.at_key("value"), value, field)


def _misfits(key: str, at: int, value: Value, field: FieldType) -> Iterator[Found]:
    """What of a value does not fit the type of its field."""
    wanted = COLLECTIONS.get(field.kind, "a single value" if field.kind == "scalar" else "")
    if wanted and wanted != _collection(value):
        if not (isinstance(value, Text) and _is_placeholder(value.text)):
            yield Found(at, f"{key} is {wanted}, not {_collection(value)}")
        return
    for item, type in _scalars(value, field):
        wanted = _fault(item, type)
        if wanted:
            yield Found(item.at, f"{key} holds {wanted}")


def _collection(value: Value) -> str:
    if isinstance(value, Map):
        return "a map"
    return "a list" if isinstance(value, List) else "a single value"


def _scalars(value: Value, field: FieldType) -> Iterator[tuple[Text, str]]:
    """The scalars that a field holds, each with its type: itself, its elements, its values."""
    type = field.type if field.kind == "scalar" else field.of.type if field.of else ""
    items = value.values if isinstance(value, List) else [value]
    if isinstance(value, Map):
        items = [item for key, (_, item) in value.fields.items() if key[:1] != "$"]
    for item in items if type else ():
        if isinstance(item, Text) and not item.null:
            yield item, type


def _fault(value: Text, type: str) -> str:
    """What a field wants where it gets something else; nothing where that is right or unsure."""
    text = value.text
    if value.tag or _is_placeholder(text):
        return ""
    if type == "string" and is_plain(value):
        if text in BOOLEANS:
            return f"strings, {text} is a boolean; quote it"
        return f"strings, {text} is a number; quote it" if _is_number(text) else ""
    if type == "integer":
        if is_plain(value):
            return "" if _is_number(text) else f"a number, not {text}"
        return f"a number; write {text} without quotes" if _is_number(text) else "a number"
    if type == "boolean" and (not is_plain(value) or (text not in BOOLEANS and text not in YES_NO)):
        is_quoted = "; drop the quotes" if text in BOOLEANS else ""
        return f"true or false, not the text {text}{is_quoted}"
    return ""


def _is_placeholder(text: str) -> bool:
    """Whether something else is put there before anybody reads it."""
    if not PLACEHOLDERS.isdisjoint(text) or text.startswith("__"):
        return True
    is_name = len(text) > 2 and text.isupper() and text not in BOOLEANS  # REPLICAS, for sed
    return is_name or any(word in text.lower() for word in ("placeholder", "replace", "changeme"))


def _is_number(text: str) -> bool:
    """Whether a plain word is a number to kubectl."""
    if not text or text[0] not in "+-.0123456789":
        return False
    bare = text.replace("_", "")
    try:
        int(bare, 0) if bare.lstrip("+-")[:2].lower() in ("0x", "0o", "0b") else float(bare)
    except ValueError:
        return False
    return True
