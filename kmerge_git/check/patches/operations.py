"""D75, D76: the operations of JSON 6902 patches.

kubectl (`--type json`) and kustomize execute them with the same library; what it makes of each
fault was tried with both.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.nearness import did_you_mean, nearest
from kmerge_git.check.patches.shapes import FieldType
from kmerge_git.check.patches.spots import PatchOperation
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import ERROR, OPERATION, WARNING, Check, Found
from kmerge_git.check.words import is_integer

# operation -> the fields that it needs
OPERATIONS = {
    "add": ("path", "value"), "remove": ("path",), "replace": ("path", "value"),
    "move": ("path", "from"), "copy": ("path", "from"), "test": ("path", "value"),
}  # fmt: skip
FIELDS = ("op", "path", "value", "from")
# what people write for an operation
MEANT = {
    "delete": "remove", "del": "remove", "rm": "remove", "set": "replace", "update": "replace",
    "change": "replace", "insert": "add", "append": "add", "create": "add", "merge": "replace",
}  # fmt: skip

# What fields of kustomizations make where it is not there, and what kustomize itself makes.
MADE = ("annotations", "labels", "matchLabels", "namespace", "replicas")
ALWAYS_MADE = ["metadata", "annotations"]
# how the examples begin
FILES = (
    "# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- path: patch.yaml\n  target: {kind: Deployment}\n# file: patch.yaml\n"
)


@Check(
    "D75", ERROR, OPERATION, "a JSON 6902 operation that is refused, or does something else",
    kubectl="It refuses the patch: `Unexpected kind: Replace`, `missing value`. A path without a "
    "leading `/` loses its first part: `spec/replicas` becomes a field beside `spec`. Without "
    "`value` the field becomes null.",
    kustomize="As kubectl: the build fails, or the field lands elsewhere.",
    example=FILES + "- op: Replace\n  path: /spec/replicas\n  value: 3",
    counter=FILES + "- op: replace\n  path: /metadata/annotations/example.com~1owner\n"
    "  value: shop",
    mend="Write add, remove, replace, move, copy or test, a `path` that starts with `/`, and the "
    "`value` or `from` that the operation needs; `~1` stands for a `/` inside a key.",
)  # fmt: skip
def malformed(here: PatchOperation) -> Iterator[Found]:
    """An unknown `op`, a field that is missing or misspelt, a path that is none."""
    item = here.value
    if not isinstance(item, Map):
        yield Found(item.at, "an operation is a map with op and path; the patch is refused")
        return
    op = item.get("op")
    if op is None:
        yield _missing(item, "op", "the operation")
    elif not isinstance(op, Text) or op.text not in OPERATIONS:
        yield Found(item.at_value("op"), _unknown(op))
    else:
        yield from _fields(item, op.text)
    for field in ("path", "from"):
        value = item.get(field)
        if value is not None:
            fault = _fault_of_path(value, item.text("op"), field)
            if fault:
                yield Found(item.at_value(field), fault)


def _unknown(op: Value) -> str:
    word = op.text if isinstance(op, Text) else "a collection"
    guess = MEANT.get(word.strip().lower()) or nearest(word.strip(), OPERATIONS)
    hint = f'; did you mean "{guess}"?' if guess else ""
    return f'"{word}" is no operation, the patch is refused{hint}'


def _fields(item: Map, op: str) -> Iterator[Found]:
    for field in OPERATIONS[op]:
        if field not in item.fields:
            yield _missing(item, field, op)


def _missing(item: Map, field: str, op: str) -> Found:
    """A field that is not there, told at the one that was meant to be it."""
    effect = "the field becomes null" if field == "value" and op != "test" else "it is refused"
    for key, (at, _) in item.fields.items():
        if key not in FIELDS and nearest(key, (field,)):
            return Found(at, f'{key} is not read, {op} lacks "{field}": {effect}; write {field}')
    return Found(item.at, f'{op} lacks "{field}": {effect}')


def _fault_of_path(value: Value, op: str, field: str) -> str:
    """What is wrong with a path as it is written, or nothing."""
    if not isinstance(value, Text) or value.null:
        return f"{field} is a text like /spec/replicas; the patch is refused"
    path = value.text
    if not path:
        return "" if op in ("replace", "test") else f"an empty {field}: the patch is refused"
    steps = path.split("/")
    if steps[0]:
        right = "/" + "/".join(steps if len(steps) > 1 else path.split("."))
        return f"{field} must start with a /, its first part is lost otherwise; write {right}"
    if "" in steps[1:]:
        return f"{field} has an empty part between or after its slashes: nothing has that name"
    if "-" in steps[1:-1] or (steps[-1] == "-" and op not in ("add", "move", "copy")):
        return f"- is the place after the last element: {op} finds nothing there"
    for n in range(1, len(steps) - 3):
        if steps[n] == "metadata" and steps[n + 1] in ("annotations", "labels"):
            right = "/".join(steps[: n + 2]) + "/" + "~1".join(steps[n + 2 :])
            return f"a / inside a key is written ~1: {right}"
    return ""


@Check(
    "D76", ERROR, OPERATION, "the path of a JSON 6902 operation leads nowhere",
    needs="S",
    kubectl="It refuses the patch: `doc is missing path`; a new field with a wrong name is stored "
    "or dropped by the API server.",
    kustomize="The build fails, or the field is added to the output.",
    example=FILES + "- op: replace\n  path: /spec/template/spec/containers/web/image\n"
    "  value: web:2",
    counter=FILES + "- op: replace\n  path: /spec/template/spec/containers/0/image\n"
    "  value: web:2",
    mend="Correct the path. Elements of lists are numbered from 0; `-` adds one at the end. Add "
    "the map first where the object has none.",
)  # fmt: skip
def leads_nowhere(here: PatchOperation) -> Iterator[Found]:
    """A field the kind does not have, a name in place of a number, a place that is not there."""
    item = here.value
    if not isinstance(item, Map) or item.text("op") not in OPERATIONS:
        return
    for field, op in _pointers(item):
        value = item.get(field)
        if not isinstance(value, Text) or not value.text or _fault_of_path(value, op, field):
            continue
        steps = steps_of(value.text)
        unknown, sure = _unknown_step(steps, here.type)
        lacking = "" if here.target is None else _not_there(steps, here.target, op, here)
        if unknown and not (here.target is not None and op == "remove" and not lacking):
            yield Found(value.at, unknown, severity="" if sure or lacking else WARNING)
        elif lacking:
            yield Found(value.at, lacking)


def steps_of(path: str) -> list[str]:
    """The keys and numbers of a path."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]


def _pointers(item: Map) -> list[tuple[str, str]]:
    """The fields that hold paths, each with the operation that is done there."""
    op = item.text("op")
    if "from" not in OPERATIONS[op]:
        return [("path", op)]
    return [("from", "remove" if op == "move" else "test"), ("path", op)]


def _unknown_step(steps: list[str], type: FieldType | None) -> tuple[str, bool]:
    """The first step that the kind does not know; not sure where it may be a field of tomorrow."""
    for n, step in enumerate(steps):
        if type is None or type.kind == "free":
            break
        if type.kind == "list":
            if step != "-" and not is_integer(step):
                where = "/".join(steps[:n])
                wanted = f"write the number of the element in place of {step}"
                return f"/{where} is a list: {wanted}", True
            type = type.of
        elif type.kind == "map":
            type = type.of
        elif type.struct is None:
            where = "/".join(steps[:n])
            return f"/{where} holds a {type.type}, nothing is below it", True
        else:
            below = type.struct.field(step)
            if below is None:
                hint = did_you_mean(step, type.struct.names)
                return f"{type.struct.name} has no field {step}{hint}", bool(hint)
            type = below
    return "", True


def _not_there(steps: list[str], target: Value, op: str, here: PatchOperation) -> str:
    """What a known target lacks for an operation."""
    value: Value | None = target
    for n, step in enumerate(steps):
        is_last = n == len(steps) - 1
        where = "/" + "/".join(steps[:n])
        if isinstance(value, List):
            size = len(value.values)
            if step == "-":
                return ""
            if not is_integer(step):
                return f"{where} is a list: write the number of the element in place of {step}"
            if int(step) > size - (not (is_last and op in ("add", "move", "copy"))):
                return f"{where} has {size} elements, there is no number {step}"
            value = value.values[int(step)] if int(step) < size else None
        elif isinstance(value, Map):
            if is_last and op not in ("remove", "test"):
                return ""  # a new field, also by replace
            below = value.get(step)
            if below is None:
                if _is_made(steps[: n + 1], here):
                    return ""
                return f"{where if n else 'the target'} has no {step}"
            value = below
        elif not is_last or op in ("remove", "test"):
            return ""
    return ""


def _is_made(steps: list[str], here: PatchOperation) -> bool:
    """Whether kustomize may have made a field before it executes the operation."""
    if "K" in here.tools:
        return False
    return steps == ALWAYS_MADE or (steps[-1] in MADE and not here.is_as_written)
