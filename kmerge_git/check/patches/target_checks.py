"""D71-D79: compare a patch with the object that it changes, and with the fields of its kind."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.page_values import YES_NO, List, Map, Text, Value, is_integer
from kmerge_git.check.patches.field_types import FieldType, type_below
from kmerge_git.check.patches.patch_verdict import BUILTIN
from kmerge_git.check.patches.patch_walk import (
    ABSENT,
    KeySpot,
    ListDirective,
    ListSpot,
    PatchOperation,
    Spot,
)
from kmerge_git.check.registry import (
    ELEMENT,
    ERROR,
    KEY,
    LIST_DIRECTIVE,
    MAP,
    OPERATION,
    PATCH,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.nearest import distance, misspelt, spelling_hint
from kmerge_git.patch import PATCH as DIRECTIVE
from kmerge_git.patch import RETAIN_KEYS, is_directive

# Name of a list -> the field that a new element must have.
NEEDED = {
    "containers": "image", "initContainers": "image", "volumeMounts": "name",
    "volumeDevices": "name",
}  # fmt: skip
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
# Type of an object -> fields of which an object may have only one.
ONE_OF = {
    **dict.fromkeys(("Probe", "LifecycleHandler", "Handler"), HANDLERS),
    "EnvVarSource": (
        "configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef",
    ),
    "IngressBackend": ("service", "resource"),
}  # fmt: skip
# Type of an object -> values of `type`, and the field that those values forbid.
NOT_WITH = {
    "DeploymentStrategy": (("Recreate",), "rollingUpdate"),
    "StatefulSetUpdateStrategy": (("OnDelete",), "rollingUpdate"),
    "SeccompProfile": (("RuntimeDefault", "Unconfined"), "localhostProfile"),
}

# operation -> its required fields
OPERATIONS = {
    "add": ("path", "value"), "remove": ("path",), "replace": ("path", "value"),
    "move": ("path", "from"), "copy": ("path", "from"), "test": ("path", "value"),
}  # fmt: skip
FIELDS = ("op", "path", "value", "from")
# wrong word -> the operation that people mean
MEANT = {
    "delete": "remove", "del": "remove", "rm": "remove", "set": "replace", "update": "replace",
    "change": "replace", "insert": "add", "append": "add", "create": "add", "merge": "replace",
}  # fmt: skip

# Fields that a kustomization may add to a resource, and the field that kustomize always adds.
MADE = ("annotations", "labels", "matchLabels", "namespace", "replicas")
ALWAYS_MADE = ["metadata", "annotations"]
NUMBER_WANTED = "write the number of the element in place of {}"
# the beginning of the examples
FILES = (
    "# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- path: patch.yaml\n  target: {kind: Deployment}\n# file: patch.yaml\n"
)
BOOLEANS = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
COLLECTIONS = {"list": "a list", "struct": "a map", "map": "a map"}
PLACEHOLDERS = frozenset("${}<>@%#")


@Check(
    "D71", WARNING, ELEMENT, "an element to delete that the target does not have",
    needs="ST",
    kubectl="The patch deletes nothing, and neither tool reports that.",
    kustomize="The patch deletes nothing, and neither tool reports that.",
    example="containers:\n- name: sied\n  $patch: delete\n# file: target.yaml\n"
    "containers:\n- name: web\n  image: web:1\n- name: side\n  image: side:1",
    counter="containers:\n- name: side\n  $patch: delete\n# file: target.yaml\n"
    "containers:\n- name: web\n  image: web:1\n- name: side\n  image: side:1",
    mend="Correct the name, or remove the element.",
)  # fmt: skip
def delete_of_nothing(spot: Spot) -> Iterator[Found]:
    """Find `$patch: delete` for a name that no element of the target has.

    The finding is an error if an element has a similar name.
    """
    parent = spot.element_of
    is_delete = spot.directive == "delete" and parent is not None and not parent.is_replaced
    if parent is not None and is_delete and _is_new(spot, parent):
        guess = _nearest(spot.name, parent)
        hint = f'; did you mean "{guess}"?' if guess else ""
        message = f"{parent.key} of the target has no {spot.name}, so nothing is deleted{hint}"
        severity = ERROR if guess else WARNING
        yield Found(spot.map.at_value(spot.merge_key), message, severity=severity)


@Check(
    "D72", ERROR, ELEMENT, "a new element that was probably meant to change an existing one",
    needs="ST",
    kubectl="kubectl adds the element. The API server refuses a container without an image.",
    kustomize="kustomize adds the element, and the API server refuses the object.",
    example="containers:\n- name: wbe\n  tty: true\n# file: target.yaml\ncontainers:\n"
    "- name: web\n  image: web:1\n- name: side\n  image: side:1",
    counter="containers:\n- name: log\n  image: log:1\n# file: target.yaml\n"
    "containers:\n- name: web\n  image: web:1\n- name: side\n  image: side:1",
    mend="Correct the name. A new container needs an image.",
)  # fmt: skip
def new_by_mistake(spot: Spot) -> Iterator[Found]:
    """Find an element that a patch probably adds by mistake.

    The element is a container without image, has a misspelt name, or removes fields by null.
    """
    parent = spot.element_of
    if parent is None or DIRECTIVE in spot.map.fields or not _is_new(spot, parent):
        return
    needed, meant = NEEDED.get(parent.key, ""), _meant(spot, parent)
    nulls = [key for key, (_, value) in spot.map.fields.items() if value.null]
    hint, severity = "", WARNING
    if needed and needed not in spot.map.fields and not parent.is_replaced:
        guess = _nearest(spot.name, parent)
        hint = f'; did you mean "{guess}"?' if guess else f"; a new one needs {needed}"
        severity = ERROR
    elif meant:
        hint = f', so it is added; did you mean "{meant}"?'
    elif nulls:
        hint = f", so it is added; there is no {nulls[0]} to remove"
    if hint:
        message = f"{parent.key} of the target has no {spot.name}{hint}"
        yield Found(spot.map.at_value(spot.merge_key), message, severity=severity)


def _meant(spot: Spot, parent: ListSpot) -> str:
    """Return the name in the target that a new element was probably meant to have, or ''.

    The two names are similar; they may differ more if both elements have the same image. Elements
    of the target that the patch names as well do not count.
    """
    patched = {value.string(spot.merge_key) for _, value in parent.maps()}
    image = _repository(spot.map)
    for value in parent.target_maps:
        name = value.string(spot.merge_key)
        is_near = bool(image) and _repository(value) == image and distance(spot.name, name, 2) <= 2
        if name and name not in patched and (is_near or is_slip(spot.name, name)):
            return name
    return ""


def _repository(container: Map) -> str:
    """Return the image of a container without its tag."""
    path, slash, name = container.string("image").partition("@")[0].rpartition("/")
    return path + slash + name.partition(":")[0]


def _is_new(spot: Spot, parent: ListSpot) -> bool:
    """Return whether it is known that an element is missing when the patch is applied."""
    # if the list itself is new, all elements are new
    if spot.target is not ABSENT or parent.spot.target is ABSENT or not spot.name:
        return False
    others = spot.verdict.others()
    return others is not None and spot.name not in others


def _nearest(name: str, parent: ListSpot) -> str:
    """Return the name of the target's element that is most similar to a name, or ''."""
    names = [value.string(parent.merge_key) for value in parent.target_maps]
    return misspelt(name, names) if len(name) > 2 and not name.isdigit() else ""


def is_slip(word: str, known: str) -> bool:
    """Return whether a word may be a typing slip for a known word.

    In a slip, two letters are swapped, or one letter is lost or doubled. A changed letter is not a
    slip, because it makes another name: HOST and PORT, web1 and web2.
    """
    if word == known or distance(word, known, 1) > 1:
        return word != known and word.lower() == known.lower()
    if min(len(word), len(known)) < 3:
        return False
    if len(word) == len(known):
        return sorted(word) == sorted(known)
    longer, shorter = sorted((word, known), key=len, reverse=True)
    at = next((n for n in range(len(shorter)) if longer[n] != shorter[n]), len(shorter))
    if at < len(shorter):
        return at > 0 and longer[at].isalpha()
    return longer[-1].isalpha() and _is_end(longer, is_lost=longer == known)


def _is_end(longer: str, *, is_lost: bool) -> bool:
    """Return whether a difference in the last letter of a name may be a slip."""
    if is_lost:
        return len(longer) > 4 and longer[-1] not in "sS"
    return longer[-1] == longer[-2] or (longer[-1].islower() and longer[:-1].isupper())


@Check(
    "D73", ERROR, PATCH, "a patch with another namespace or name than its target",
    tools="K", needs="T",
    kubectl="The API server refuses the patch, because the patch does not name the object that "
    "kubectl changes.",
    kustomize="The build fails with `no matches for Id` (see D69).",
    example="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: prod\nspec:\n  replicas: 2\n# file: target.yaml\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: shop\nspec: {}",
    counter="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: shop\nspec:\n  replicas: 2\n# file: target.yaml\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: shop\nspec: {}",
    mend="Write the name and the namespace of the target.",
)  # fmt: skip
def other_namespace(spot: Spot) -> Iterator[Found]:
    """Find a patch for kubectl whose name or namespace differs from that of its target."""
    target, metadata = spot.target, spot.map.map("metadata")
    if target is None or metadata is None or spot.verdict.entry is not None:
        return
    for field, said in (("name", "is called {}"), ("namespace", "is in the namespace {}")):
        written, known = metadata.string(field), target.string("metadata", field)
        if written and known and written != known:
            yield Found(metadata.at_value(field), f"the target {said.format(known)}, not {written}")


@Check(
    "D74", ERROR, KEY, "two fields that exclude each other",
    needs="S",
    kubectl="The object then has both fields, and the API server refuses it.",
    kustomize="The output has both fields, and the API server refuses it.",
    example="strategy:\n  type: Recreate\n# file: target.yaml\nstrategy:\n"
    "  type: RollingUpdate\n  rollingUpdate:\n    maxSurge: 1",
    counter="strategy:\n  type: Recreate\n  rollingUpdate: null\n# file: target.yaml\n"
    "strategy:\n  type: RollingUpdate\n  rollingUpdate:\n    maxSurge: 1",
    mend="Set the old field to null in the same patch. With kubectl, you can also use "
    "`$retainKeys`.",
)  # fmt: skip
def both_remain(here: KeySpot) -> Iterator[Found]:
    """Find two fields that exclude each other but are both set after the patch."""
    spot = here.spot
    if spot.struct is None or not spot.leaves(here.key) or DIRECTIVE in spot.map.fields:
        return
    for old in _excluded(spot.struct.name, here.key, here.value):
        if spot.leaves(old):
            if here.at > spot.map.at_key(old) or old not in ONE_OF.get(spot.struct.name, ()):
                yield Found(here.at, f"{here.key} and {old} exclude each other; remove one of them")
        elif old not in spot.map.fields and _remains(spot, old):
            what = "type: " + here.value.text if isinstance(here.value, Text) else here.key
            yield Found(
                here.at, f"{old} of the target would remain next to {what}; add {old}: null"
            )


def _excluded(name: str, key: str, value: Value) -> list[str]:
    """Return the fields that must not be used together with a field."""
    alternatives = ONE_OF.get(name, ())
    others = [other for other in alternatives if other != key and key in alternatives]
    values, other = NOT_WITH.get(name, ((), ""))
    is_barred = key == "type" and isinstance(value, Text) and value.text in values
    return [*others, other] if is_barred else others


def _remains(spot: Spot, field: str) -> bool:
    """Return whether the target has a field that remains after the patch."""
    target = spot.target
    is_retained = "K" in spot.tools and RETAIN_KEYS in spot.map.fields
    if is_retained or target is None or not target.has(field):
        return False
    others = spot.verdict.others()
    return others is not None and field not in others


@Check(
    "D77", ERROR, ELEMENT, "`$patch: delete` next to maps or lists, which it deletes as well",
    hides=("D03", "D11"),
    kubectl="The whole map or element is deleted, including what is next to the directive.",
    kustomize="The whole map or element is deleted, including what is next to the directive.",
    example="containers:\n- name: web\n  env:\n  - name: A\n  $patch: delete",
    counter="containers:\n- name: web\n  env:\n  - name: A\n    $patch: delete",
    mend="Move the directive to the map or element that you want to delete, or remove the fields "
    "next to the directive.",
)  # fmt: skip
def delete_with_more(spot: Spot) -> Iterator[Found]:
    """Find a `$patch: delete` that is probably one level too high.

    The map with the directive also has fields with maps or lists, which would be deleted as well.
    """
    if spot.directive != "delete" or not (spot.path or spot.element_of is not None):
        return
    beside = [key for key, (_, v) in spot.map.fields.items() if isinstance(v, Map | List)]
    names = ", ".join(key for key in beside if not is_directive(key))
    if names:
        what = "element" if spot.element_of is not None else "map"
        yield Found(
            spot.at, f"this deletes the whole {what}, including {names}; is it one level too high?"
        )


@also("D77", MAP)
def delete_of_map_with_more(spot: Spot) -> Iterator[Found]:
    """Find such a `$patch: delete` in a map that is the value of a field."""
    if spot.element_of is None:
        yield from delete_with_more(spot)


@Check(
    "D79", WARNING, LIST_DIRECTIVE, "`$setElementOrder` lists an element that does not exist",
    tools="K", needs="ST",
    kubectl="The API server ignores the unknown name. It refuses elements of the patch that "
    "`$setElementOrder` does not list.",
    kustomize="kustomize does not know the directive and copies it to the output.",
    example="$setElementOrder/containers:\n- name: wbe\n- name: side\ncontainers:\n- name: side\n"
    "  image: side:2\n# file: target.yaml\ncontainers:\n- name: web\n  image: web:1\n"
    "- name: side\n  image: side:1",
    counter="$setElementOrder/containers:\n- name: web\n- name: side\ncontainers:\n- name: side\n"
    "  image: side:2\n# file: target.yaml\ncontainers:\n- name: web\n  image: web:1\n"
    "- name: side\n  image: side:1",
    mend="Correct the name, or remove the entry.",
)  # fmt: skip
def order_of_nothing(here: ListDirective) -> Iterator[Found]:
    """Find a name in `$setElementOrder` that neither the patch nor the target has."""
    target, key = here.spot.target, here.merge_key
    if not isinstance(target, Map) or not key:
        return
    values = [*target.items(here.list), *here.spot.map.items(here.list)]
    known = {value.string(key) for value in values}
    for value in here.order:
        name, at = value.string(key), value.at_value(key)
        if key in value.fields and not name:
            yield Found(at, f"{key} identifies the element and must not be empty")
        elif name and name not in known:
            hint = spelling_hint(name, sorted(known)) if len(name) > 2 else ""
            yield Found(at, f"neither the patch nor the target has {name} in {here.list}{hint}")


# -- JSON 6902 patches: kubectl (`--type json`) and kustomize execute them with the same library;
# the effect of each mistake was tried with both tools


@Check(
    "D75", ERROR, OPERATION, "a JSON 6902 operation that is refused, or has another effect",
    kubectl="The patch is refused: `Unexpected kind: Replace` or `missing value`. If a path has "
    "no leading `/`, its first part is ignored: `spec/replicas` means a field "
    "`replicas` next to `spec`. Without `value`, the field becomes null.",
    kustomize="The build fails, or the value is added at another path.",
    example=FILES + "- op: Replace\n  path: /spec/replicas\n  value: 3",
    counter=FILES + "- op: replace\n  path: /metadata/annotations/example.com~1owner\n"
    "  value: shop",
    mend="Use add, remove, replace, move, copy or test, with a `path` that starts with `/`, "
    "and the `value` or `from` that the operation needs. Write `~1` for a `/` inside a "
    "key.",
)  # fmt: skip
def malformed(here: PatchOperation) -> Iterator[Found]:
    """Find an unknown `op`, a missing or misspelt field, or a malformed path in an operation."""
    item = here.value
    if not isinstance(item, Map):
        yield Found(item.at, "an operation must be a map with op and path; the patch is refused")
        return
    op = item.get("op")
    if op is None:
        yield _missing(item, "op", "the operation")
    elif not isinstance(op, Text) or op.text not in OPERATIONS:
        yield Found(item.at_value("op"), _unknown(op))
    else:
        missing = [field for field in OPERATIONS[op.text] if field not in item.fields]
        yield from (_missing(item, field, op.text) for field in missing)
    for field in ("path", "from"):
        value = item.get(field)
        fault = _fault_of_path(value, item.string("op"), field) if value is not None else ""
        if fault:
            yield Found(item.at_value(field), fault)


def _unknown(op: Value) -> str:
    word = op.text if isinstance(op, Text) else "a collection"
    guess = MEANT.get(word.strip().lower()) or misspelt(word.strip(), OPERATIONS)
    hint = f'; did you mean "{guess}"?' if guess else ""
    return f'"{word}" is not an operation, so the patch is refused{hint}'


def _missing(item: Map, field: str, op: str) -> Found:
    """Report a missing field; if a field has a similar name, report it there."""
    effect = "the field becomes null" if field == "value" and op != "test" else "it is refused"
    for key, (at, _) in item.fields.items():
        if key not in FIELDS and misspelt(key, (field,)):
            return Found(
                at, f'{key} is ignored, and {op} lacks "{field}", so {effect}; write {field}'
            )
    return Found(item.at, f'{op} lacks "{field}", so {effect}')


def _fault_of_path(value: Value, op: str, field: str) -> str:
    """Return what is wrong with the spelling of a path, or ''."""
    if not isinstance(value, Text) or value.null:
        return f"{field} must be a text like /spec/replicas; the patch is refused"
    path = value.text
    if not path:
        return "" if op in ("replace", "test") else f"{field} is empty, so the patch is refused"
    steps = path.split("/")
    if steps[0]:
        right = "/" + "/".join(steps if len(steps) > 1 else path.split("."))
        return f"{field} must start with a /, or its first part is lost; write {right}"
    if "" in steps[1:]:
        return f"{field} has an empty part between or after its slashes; remove the extra slash"
    if "-" in steps[1:-1] or (steps[-1] == "-" and op not in ("add", "move", "copy")):
        return f"`-` is the place after the last element, where {op} finds nothing; write a number"
    for n in range(1, len(steps) - 3):
        if steps[n] == "metadata" and steps[n + 1] in ("annotations", "labels"):
            right = "/".join(steps[: n + 2]) + "/" + "~1".join(steps[n + 2 :])
            return f"a / inside a key is written ~1; write {right}"
    return ""


@Check(
    "D76", ERROR, OPERATION, "a JSON 6902 operation with a path that does not exist",
    needs="S",
    kubectl="The patch is refused: `doc is missing path`. If an operation adds a field with a "
    "wrong name, the API server stores or drops that field.",
    kustomize="The build fails, or the field with the wrong name is added to the output.",
    example=FILES + "- op: replace\n  path: /spec/template/spec/containers/web/image\n"
    "  value: web:2",
    counter=FILES + "- op: replace\n  path: /spec/template/spec/containers/0/image\n"
    "  value: web:2",
    mend="Correct the path. List elements are numbered from 0; `-` adds an element at the "
    "end. If the map that a new field belongs to is missing, add that map first.",
)  # fmt: skip
def leads_nowhere(here: PatchOperation) -> Iterator[Found]:
    """Find a path to a field that the kind lacks, or to a value that the target lacks."""
    item = here.value
    for field, op in _pointers(item):
        value = item.get(field)
        if not isinstance(value, Text) or not value.text or _fault_of_path(value, op, field):
            continue
        steps = steps_of(value.text)
        unknown, is_sure = _unknown_step(steps, here.type)
        lacking = "" if here.target is None else _not_there(steps, here.target, op, here)
        if unknown and not (here.target is not None and op == "remove" and not lacking):
            yield Found(value.at, unknown, severity="" if is_sure or lacking else WARNING)
        elif lacking:
            yield Found(value.at, lacking)


def steps_of(path: str) -> list[str]:
    """Return the keys and numbers of a path."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]


def _pointers(item: Value) -> list[tuple[str, str]]:
    """Return the fields of an operation that hold paths, each with the effect on that path.

    A `move`, for example, works like a `remove` on the path in `from`.
    """
    op = item.string("op")
    if op == "test" and "value" in item.fields and not item.has("value"):
        return [("path", "replace")]  # null is what a test finds where nothing is
    if "from" not in OPERATIONS.get(op, ()):
        return [("path", op)] if op in OPERATIONS else []
    return [("from", "remove" if op == "move" else "test"), ("path", op)]


def _unknown_step(steps: list[str], type: FieldType | None) -> tuple[str, bool]:
    """Return a message about the first step that the kind lacks; also whether it is certain.

    The message is not certain if a later version of the kind may have such a field.
    """
    for n, step in enumerate(steps):
        if type is None or type.kind == "free":
            break
        where = "/" + "/".join(steps[:n])
        if type.kind == "scalar":
            return f"{where} is a {type.type}, so it has no fields", True
        if type.kind == "list" and step != "-" and not is_integer(step):
            return f"{where} is a list: {NUMBER_WANTED.format(step)}", True
        below = type.below(step)
        if below is None and type.struct is not None:
            hint = spelling_hint(step, type.struct.names)
            return f"{type.struct.name} has no field {step}{hint}", bool(hint)
        type = below
    return "", True


def _not_there(steps: list[str], target: Value, op: str, here: PatchOperation) -> str:
    """Return a message about a place that an operation needs and the target lacks, or ''."""
    value: Value | None = target
    for n, step in enumerate(steps):
        is_last = n == len(steps) - 1
        where = "/" + "/".join(steps[:n])
        if isinstance(value, List):
            size = len(value.values)
            if step == "-":
                return ""
            if not is_integer(step):
                return f"{where} is a list: {NUMBER_WANTED.format(step)}"
            if int(step) > size - (not (is_last and op in ("add", "move", "copy"))):
                return f"{where} has only {size} elements, so number {step} does not exist"
            value = value.values[int(step)] if int(step) < size else None
        elif isinstance(value, Map):
            if is_last and op not in ("remove", "test"):
                return ""  # the operation may add a field, even `replace`
            value = value.get(step)
            if value is None:
                is_made = _is_made(steps[: n + 1], here)
                return "" if is_made else f"{where if n else 'the target'} has no {step}"
        elif not is_last or op in ("remove", "test"):
            return ""
    return ""


def _is_made(steps: list[str], here: PatchOperation) -> bool:
    """Return whether kustomize may have added a field before it executes the operation."""
    is_made = steps == ALWAYS_MADE or (steps[-1] in MADE and not here.is_as_written)
    return "K" not in here.tools and is_made


# -- values of another type than their field has --------------------------------------------------


@Check(
    "D78", ERROR, KEY, "a value whose type does not fit the field",
    needs="S",
    kubectl="The API server refuses the object: `cannot unmarshal`.",
    kustomize="If the base has a value of the right type, the build fails (`wrong node kind`). "
    "Otherwise the API server refuses the output.",
    example="containers:\n- name: web\n  env:\n    LOG_LEVEL: debug",
    counter="containers:\n- name: web\n  env:\n  - name: LOG_LEVEL\n    value: debug",
    mend="Write a list as a list and a map as a map. Quote strings that look like numbers, but do "
    "not quote numbers and booleans.",
)  # fmt: skip
def other_type(here: KeySpot) -> Iterator[Found]:
    """Find a value of the wrong type: a map for a list, a text for a number, or the like."""
    spot, value = here.spot, here.value
    field = spot.field(here.key)
    if field is None or spot.kind != BUILTIN:
        return
    is_key = here.key == spot.merge_key
    if value.null and is_key:
        message = f"{here.key} identifies the element and must not be null"
        yield Found(spot.map.at_value(here.key), message)
    elif not value.null and not (is_key and spot.directive == "delete" and "K" not in spot.tools):
        yield from _misfits(here.key, here.at, value, field)


@also("D78", OPERATION)
def value_of_other_type(here: PatchOperation) -> Iterator[Found]:
    """Find an operation whose value does not fit the field at its path."""
    item, path = here.value, here.value.string("path")
    value = item.get("value") if item.string("op") in ("add", "replace") else None
    if value is None or value.null or not path.startswith("/"):
        return
    steps = steps_of(path)
    field = type_below(here.type, *steps)
    if field is not None:
        yield from _misfits(steps[-1], item.at_key("value"), value, field)


def _misfits(key: str, at: int, value: Value, field: FieldType) -> Iterator[Found]:
    """Find values that do not fit the type of a field."""
    wanted = COLLECTIONS.get(field.kind, "a single value" if field.kind == "scalar" else "")
    kinds = {Map: "a map", List: "a list", Text: "a single value"}
    if wanted and wanted != kinds[type(value)]:
        if not (isinstance(value, Text) and _is_placeholder(value.text)):
            yield Found(at, f"{key} must be {wanted}, not {kinds[type(value)]}")
        return
    for item, name in _scalars(value, field):
        fault = _fault(item, name)
        if fault:
            yield Found(item.at, f"{key} must be {fault}")


def _scalars(value: Value, field: FieldType) -> list[tuple[Text, str]]:
    """Return the scalars of a field, or of its elements or values, each with its type."""
    type = field.type if field.kind == "scalar" else field.of.type if field.of else ""
    below = [item for key, item in value.entries if str(key)[:1] != "$"]
    items = (item for item in below or [value] if isinstance(item, Text) and not item.null)
    return [(item, type) for item in items if type]


def _fault(value: Text, type: str) -> str:
    """If a value does not fit a field, return what the field needs; otherwise return ''."""
    text = value.text
    if value.tag or _is_placeholder(text):
        return ""
    if type == "string" and value.is_plain:
        if text in BOOLEANS:
            return f"a string, but {text} is a boolean; quote it"
        return f"a string, but {text} is a number; quote it" if _is_number(text) else ""
    if type == "integer":
        if value.is_plain:
            return "" if _is_number(text) else f"a number, not {text}"
        return f"a number; write {text} without quotes" if _is_number(text) else "a number"
    if type == "boolean" and (not value.is_plain or (text not in BOOLEANS and text not in YES_NO)):
        is_quoted = "; remove the quotes" if text in BOOLEANS else ""
        return f"true or false, not the text {text}{is_quoted}"
    return ""


def _is_placeholder(text: str) -> bool:
    """Return whether a text is a placeholder that is filled in later."""
    is_name = len(text) > 2 and text.isupper() and text not in BOOLEANS  # such as REPLICAS, for sed
    is_marked = not PLACEHOLDERS.isdisjoint(text) or text.startswith("__")
    words = ("placeholder", "replace", "changeme")
    return is_name or is_marked or any(word in text.lower() for word in words)


def _is_number(text: str) -> bool:
    """Return whether kubectl reads a plain word as a number."""
    if not text or text[0] not in "+-.0123456789":
        return False
    bare = text.replace("_", "")
    try:
        int(bare, 0) if bare.lstrip("+-")[:2].lower() in ("0x", "0o", "0b") else float(bare)
    except ValueError:
        return False
    return True
