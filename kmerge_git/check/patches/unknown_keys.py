"""D50, D51, D68, D70: find keys that are misspelt, that the kind lacks, or that no tool knows."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.checked_texts import Page, shown
from kmerge_git.check.kustomize.kustomization import inside
from kmerge_git.check.page_values import (
    List,
    Map,
    Plain,
    Text,
    Value,
    is_passed_on,
    is_values_file,
    may_be_builtin,
)
from kmerge_git.check.patches.patch_verdict import BUILTIN, CUSTOM
from kmerge_git.check.registry import (
    DOLLAR,
    ERROR,
    KEY,
    MANIFEST,
    OBJECT,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.nearest import distance, spelling_hint
from kmerge_git.patch import DELETE, DIRECTIVES, ORDER, PATCH, RETAIN_KEYS, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.patches.field_types import FieldType
    from kmerge_git.check.patches.patch_walk import KeySpot, Spot


# Kind of a workload -> the path of its pod spec, and the fields of a pod spec.
PODS = {
    **dict.fromkeys(
        ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"), "spec.template.spec"
    ),
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
POD_FIELDS = ("containers", "initContainers", "volumes")
# Keys with a `$` that are not for patches, such as those of JSON Schema.
OTHERS = frozenset(("$ref", "$schema", "$id", "$defs", "$openapi", "$comment"))
# Words that people write -> the value of `$patch` that they mean.
VALUES = {
    **dict.fromkeys(("delete", "remove", "deleted", "removed", "absent", "delet"), "delete"),
    **dict.fromkeys(("replace", "overwrite", "replaced", "set"), "replace"),
    **dict.fromkeys(("merge", "keep", "retain"), "merge"),
}
ACTIONS = frozenset(("action", "op", "operation", "do", "mode", "strategy", "state", "directive"))
TRUE = frozenset(("true", "yes", "on", "null", "~", ""))


@Check(
    "D50", ERROR, DOLLAR, "a misspelt directive",
    hides=("D15", "D22", "D68", "D72"), ends_walk=True,
    kubectl="The API server stores the key as an ordinary field, or refuses the object.",
    kustomize="kustomize copies the key to the output.",
    example="containers:\n- name: side\n  $path: delete",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Correct the spelling of the directive.",
)  # fmt: skip
def misspelt(here: KeySpot) -> Iterator[Found]:
    """Find a directive with one or two wrong letters, such as `$path` or `$setElementsOrder/x`."""
    guess, value = meant(here.key), here.value
    is_valid = isinstance(value, List)
    if guess == PATCH:
        is_valid = isinstance(value, Text) and value.text in ("replace", "delete", "merge")
    is_others = here.spot.user or here.spot.kind == CUSTOM
    if guess and (is_valid or not is_others):
        yield _misspelt(here, guess)


def _misspelt(here: KeySpot, guess: str) -> Found:
    """Report a misspelt directive; suggest the right one if the tool for the patch knows it."""
    message = f"did you mean {guess}? {here.key} is stored as a field"
    if here.spot.verdict.known_tools == "Z" and guess != PATCH:
        return Found(here.at, f"{message}; kustomize knows only $patch; remove this directive")
    return Found(here.at, message, fix=("word", here.key, guess))


def meant(key: str) -> str:
    """Return the directive that a misspelt key was meant to be, or ''."""
    if not key.startswith("$") or key in OTHERS or is_directive(key):
        return ""
    word, slash, rest = key.partition("/")
    near = (one for one in DIRECTIVES if distance(word.lower(), one.lower(), 2) <= 2)
    return next((directive + slash + rest for directive in near), "")


@Check(
    "D51", ERROR, KEY, "a directive without its `$`",
    hides=("D15", "D22", "D68", "D72"), ends_walk=True,
    kubectl="The API server stores the key as an ordinary field, or refuses the object.",
    kustomize="kustomize copies the key to the output.",
    example="strategy:\n  retainKeys: [type]\n  type: Recreate",
    counter="strategy:\n  type: Recreate\n  rollingUpdate: null",
    mend="Add the `$`. In a patch for kustomize, remove all directives except `$patch`.",
)  # fmt: skip
def without_dollar(here: KeySpot) -> Iterator[Found]:
    """Find a directive without its `$`, such as `retainKeys:` or `patch: delete`.

    A key that is a field of the kind does not count.
    """
    spot, key, value = here.spot, here.key, here.value
    guess = ""
    if key.startswith((f"{ORDER[1:]}/", f"{DELETE[1:]}/")):
        guess = f"${key}"
    elif key == RETAIN_KEYS[1:] and isinstance(value, List) and _names_fields(value, spot):
        guess = RETAIN_KEYS
    elif key == PATCH[1:] and spot.kind != CUSTOM and spot.map.string(key) in ("delete", "replace"):
        guess = PATCH
    if guess and not spot.user and spot.field(key) is None:
        yield _misspelt(here, guess)


def _names_fields(value: List, spot: Spot) -> bool:
    """Return whether all elements of a list are names of fields of a mapping or its type."""
    names = [v.text for v in value.values if isinstance(v, Text)]
    known = set(spot.map.fields) | set(spot.struct.names if spot.struct else ())
    return 0 < len(names) == len(value.values) and known.issuperset(names)


@Check(
    "D68", WARNING, KEY, "a field that the kind does not have",
    needs="S",
    kubectl="The API server refuses the patch (`unable to find api field`), or drops the field.",
    kustomize="kustomize adds the field to the output. The API server then refuses the object or "
    "drops the field.",
    example="spec:\n  template:\n    spec:\n      container:\n      - name: web",
    counter="spec:\n  template:\n    spec:\n      containers:\n      - name: web\n"
    "        image: web:2",
    mend="Correct the name, or move the field to the map where it belongs.",
)  # fmt: skip
def unknown_field(here: KeySpot) -> Iterator[Found]:
    """Find `container:` in a PodSpec, or any other field that the kind lacks."""
    spot, key, struct = here.spot, here.key, here.spot.struct
    if struct is None or spot.user or spot.kind != BUILTIN or key.startswith(("$", DELETE[1:])):
        return
    is_removed = here.value.null and spot.target is not None and key in spot.target.fields
    if struct.field(key) is None and not is_removed:
        from kmerge_git.check.patches.field_types import belongs  # late: few fields are unknown

        hint = spelling_hint(key, struct.names)
        place = "" if hint else belongs(spot.verdict.type, spot.path, key)
        hint = f"; did you mean {place}?" if place else hint
        message = f"{struct.name} has no field {shown((*spot.path, key))}{hint}"
        yield Found(here.at, message, severity=ERROR if hint else WARNING)


@also("D68", OBJECT)
def pod_fields_of_workload(root: Map) -> Iterator[Found]:
    """Find `containers` under the `spec` of a workload; they belong in the pod template."""
    kind, spec = root.string("kind"), root.map("spec")
    if kind not in PODS or spec is None or not may_be_builtin(root):
        return
    for key in POD_FIELDS:
        if key in spec.fields:
            message = f"{kind} has no field spec.{key}; did you mean {PODS[kind]}.{key}?"
            yield Found(spec.at_key(key), message, path=("spec", key), severity=ERROR)


@Check(
    "D70", ERROR, DOLLAR, "a key with a `$` that no tool knows",
    hides=("D68",), ends_walk=True,
    kubectl="The key has no effect in any tool. The API server stores it as an ordinary field, or "
    "refuses the object.",
    kustomize="kustomize copies the key to the output.",
    example="containers:\n- name: side\n  $delete: true",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Use `$patch`, `$retainKeys`, `$setElementOrder/..` or `$deleteFromPrimitiveList/..`, "
    "and only in patches.",
)  # fmt: skip
def unknown_word(here: KeySpot) -> Iterator[Found]:
    """Find an unknown key that starts with `$` in a patch, such as `$delete: true`.

    If the kind is not built in, find only keys that look like a directive.
    """
    spot, key = here.spot, here.key
    if key in OTHERS or is_directive(key) or meant(key):
        return
    is_no_field = spot.kind == BUILTIN and spot.struct is not None and spot.field(key) is None
    is_order = spot.kind != CUSTOM and reads_as_order(key, here.value)
    if is_order or (is_no_field and not spot.user):
        yield Found(here.at, f"{key} is not a directive and is stored as a field{_hint(here)}")


def _hint(here: KeySpot) -> str:
    """Return a hint that suggests the value of `$patch` that was probably meant."""
    words = (here.value.text if isinstance(here.value, Text) else "", here.key[1:])
    guesses = (VALUES.get(word.lower(), "merge") for word in words)
    guess = next((guess for guess in guesses if guess != "merge"), "")
    return f"; did you mean $patch: {guess}?" if guess else "; remove it"


def reads_as_order(key: str, value: Value) -> bool:
    """Return whether a key and its value look like a directive, as in `$delete: true`."""
    text = value.text.lower() if isinstance(value, Text) else None
    guess, word = meant(key), key[1:].lower()
    if guess:
        return text in VALUES if guess == PATCH else isinstance(value, List)
    is_value = word in VALUES
    return (is_value and text in TRUE) or ((is_value or word in ACTIONS) and text in VALUES)


# -- files that are not patches ------------------------------------------------------------------


@also("D70", MANIFEST)
def in_manifest(page: Page, plain: Plain) -> Iterator[Found]:
    """Find an unknown key that starts with `$` in a manifest.

    If the kind is not built in, find only keys that look like a directive.
    """
    root = plain.root
    if not plain.dollar or not isinstance(root, Map):
        return
    api, kind = root.string("apiVersion"), root.string("kind")
    if not (api and kind) and not is_values_file(page.path, root):
        return  # JSON Schema, queries and much else have such keys
    from kmerge_git.check.patches.field_types import root_type  # late: most files have no such key

    type = root_type(api, kind)
    held = {id(entry.value) for entry in inside(page, root) if entry.value is not None}
    what = "not a field of this kind" if type is not None else "not a directive"
    for key, at in _unknown(root, type, held):
        yield Found(at, f"{key} is {what}; it is refused or stored as a field; remove it")


def _unknown(root: Map, type: FieldType | None, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield the keys with a `$` that a kind lacks; if it is unknown, only those like directives."""
    todo: list[tuple[Value, FieldType | None]] = [(root, type)]
    while todo:
        value, field = todo.pop()
        if id(value) in seen or (type is not None and (field is None or field.kind == "free")):
            continue
        seen.add(id(value))
        for step, item in value.entries:
            key = str(step) if value.fields else ""
            if key[:1] != "$" and (type is not None or not is_passed_on(key)):
                todo.append((item, field.below(step) if field is not None else None))
            elif key[:1] == "$" and _is_unknown(key, item, field):
                yield key, value.at_key(key)


def _is_unknown(key: str, value: Value, field: FieldType | None) -> bool:
    struct = field.struct if field else None
    is_no_field = struct is not None and struct.field(key) is None
    return (
        key not in OTHERS and not is_directive(key) and (is_no_field or reads_as_order(key, value))
    )
