"""D50, D51, D68: keys that are misspelt or not there."""

from __future__ import annotations

from kmerge_git.check.nearness import did_you_mean, distance
from kmerge_git.check.objects import may_be_builtin
from kmerge_git.check.page import shown
from kmerge_git.check.patches.verdict import BUILTIN, CUSTOM
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import DOLLAR, ERROR, KEY, OBJECT, WARNING, Check, Found, also
from kmerge_git.patch.directives import DELETE, DIRECTIVES, ORDER, PATCH, RETAIN_KEYS, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.patches.spots import KeySpot, Spot

# Where workloads have their pods, and what stands there.
PODS = {
    **dict.fromkeys(
        ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"), "spec.template.spec"
    ),
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
POD_FIELDS = ("containers", "initContainers", "volumes")
# Keys with a `$` that mean something else, as JSON Schema's.
OTHERS = frozenset(("$ref", "$schema", "$id", "$defs", "$openapi", "$comment"))


@Check(
    "D50", ERROR, DOLLAR, "a misspelt directive",
    hides=("D68",), ends_walk=True,
    kubectl="It is stored as a field, or refused as an unknown one.",
    kustomize="It ends up in the output.",
    example="containers:\n- name: side\n  $path: delete",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="Correct the spelling.",
)  # fmt: skip
def misspelt(here: KeySpot) -> Iterator[Found]:
    """`$path`, `$Patch` or `$setElementsOrder/x`: a directive but for a letter or two."""
    guess = meant(here.key)
    is_others = here.spot.user or here.spot.kind == CUSTOM
    if guess and (not is_others or _is_order(guess, here.value)):
        yield _misspelt(here, guess)


def _misspelt(here: KeySpot, guess: str) -> Found:
    """What to write instead, where the tool that reads the patch knows it."""
    message = f"did you mean {guess}? {here.key} is stored as a field"
    if here.spot.verdict.known_tools == "Z" and guess != PATCH:
        return Found(here.at, f"{message}; but kustomize knows only $patch: drop it")
    return Found(here.at, message, fix=("word", here.key, guess))


def _is_order(guess: str, value: Value) -> bool:
    """Whether a value is one that the directive takes."""
    if guess == PATCH:
        return isinstance(value, Text) and value.text in ("replace", "delete", "merge")
    return isinstance(value, List)


def meant(key: str) -> str:
    """The directive that a misspelt key was meant to be, or nothing."""
    if not key.startswith("$") or key in OTHERS or is_directive(key):
        return ""
    word, slash, rest = key.partition("/")
    for directive in DIRECTIVES:
        if distance(word.lower(), directive.lower(), 2) <= 2:
            return directive + slash + rest
    return ""


@Check(
    "D51", ERROR, KEY, "a directive without its `$`",
    hides=("D68",), ends_walk=True,
    kubectl="It is stored as a field, or refused as an unknown one.",
    kustomize="It ends up in the output.",
    example="strategy:\n  retainKeys: [type]\n  type: Recreate",
    counter="strategy:\n  type: Recreate\n  rollingUpdate: null",
    mend="Write the `$` of a directive that the tool knows: kustomize has only `$patch`.",
)  # fmt: skip
def without_dollar(here: KeySpot) -> Iterator[Found]:
    """`retainKeys:`, `setElementOrder/x` or `patch: delete` where the kind has no such field."""
    guess = meant_without_dollar(here)
    if guess:
        yield _misspelt(here, guess)


def meant_without_dollar(here: KeySpot) -> str:
    """The directive that a key without `$` was meant to be, or nothing."""
    spot, key, value = here.spot, here.key, here.value
    if spot.user or key.startswith("$") or spot.field(key) is not None:
        return ""
    if key.startswith((f"{ORDER[1:]}/", f"{DELETE[1:]}/")):
        return f"${key}"
    if key == RETAIN_KEYS[1:] and isinstance(value, List) and _names_fields(value, spot):
        return RETAIN_KEYS
    if key == PATCH[1:] and spot.kind != CUSTOM and spot.map.text(key) in ("delete", "replace"):
        return PATCH
    return ""


def _names_fields(value: List, spot: Spot) -> bool:
    """Whether a list names fields that a mapping has, or that its type has."""
    names = [v.text for v in value.values if isinstance(v, Text)]
    known = set(spot.map.fields) | set(spot.struct.names if spot.struct else ())
    return 0 < len(names) == len(value.values) and known.issuperset(names)


@Check(
    "D68", WARNING, KEY, "a field that the kind does not have",
    needs="S",
    kubectl="`unable to find api field`, or dropped, depending on the server's validation.",
    kustomize="It is added to the output; `kubectl apply` then refuses or drops it.",
    example="spec:\n  template:\n    spec:\n      container:\n      - name: web",
    counter="spec:\n  template:\n    spec:\n      containers:\n      - name: web\n"
    "        image: web:2",
    mend="Correct the name, or move the field to where it belongs.",
)  # fmt: skip
def unknown_field(here: KeySpot) -> Iterator[Found]:
    """`container:` in a PodSpec: the kind has no field of this name."""
    spot, key = here.spot, here.key
    if spot.struct is None or spot.user or spot.kind != BUILTIN or key.startswith("$"):
        return
    if here.value.null and isinstance(spot.target, Map) and key in spot.target.fields:
        return  # that is how it goes away
    if spot.struct.field(key) is None and not key.startswith(DELETE[1:]):
        hint = did_you_mean(key, spot.struct.names)
        from kmerge_git.check.patches.misplaced import belongs  # late: few fields are unknown

        place = "" if hint else belongs(spot.verdict.type, spot.path, key)
        hint = f"; did you mean {place}?" if place else hint
        message = f"{spot.struct.name} has no field {shown((*spot.path, key))}{hint}"
        yield Found(here.at, message, severity=ERROR if hint else WARNING)


@also("D68", OBJECT)
def pod_fields_of_workload(path: str, root: Map) -> Iterator[Found]:
    """`containers` under the `spec` of a workload in a manifest: the pod's are in its template."""
    below = PODS.get(root.text("kind"))
    spec = root.map("spec")
    if below is None or spec is None or not may_be_builtin(root):
        return
    for key in POD_FIELDS:
        if key in spec.fields:
            message = f"{root.text('kind')} has no field spec.{key}; did you mean {below}.{key}?"
            yield Found(spec.at_key(key), message, path=("spec", key), severity=ERROR)
