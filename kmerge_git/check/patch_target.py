"""D71-D74: what a patch names, compared with the object that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmerge_git.check.nearness import distance, nearest
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import ELEMENT, ERROR, KEY, PATCH, WARNING, Check, Found
from kmerge_git.check.spots import ABSENT, KeySpot, ListSpot, Spot
from kmerge_git.patch.directives import PATCH as DIRECTIVE
from kmerge_git.patch.directives import RETAIN_KEYS

# What an element of a list must have when it is new.
NEEDED = {
    "containers": "image", "initContainers": "image", "volumeMounts": "name",
    "volumeDevices": "name",
}  # fmt: skip
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
# Types of objects of whose fields only one may be there.
ONE_OF = {
    **dict.fromkeys(("Probe", "LifecycleHandler", "Handler"), HANDLERS),
    "EnvVarSource": (
        "configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef",
    ),
    "IngressBackend": ("service", "resource"),
}  # fmt: skip
# Types of objects, the value of `type` with which a field must not be there, and that field.
NOT_WITH = {
    "DeploymentStrategy": (("Recreate",), "rollingUpdate"),
    "StatefulSetUpdateStrategy": (("OnDelete",), "rollingUpdate"),
    "SeccompProfile": (("RuntimeDefault", "Unconfined"), "localhostProfile"),
}


@Check(
    "D71", WARNING, ELEMENT, "an element to delete that the target does not have",
    needs="ST",
    kubectl="Nothing is deleted, and nothing is said.",
    kustomize="Nothing is deleted, and nothing is said.",
    example="containers:\n- name: sied\n  $patch: delete\n# file: target.yaml\n"
    "containers:\n- name: web\n  image: web:1\n- name: side\n  image: side:1",
    counter="containers:\n- name: side\n  $patch: delete\n# file: target.yaml\n"
    "containers:\n- name: web\n  image: web:1\n- name: side\n  image: side:1",
    mend="Correct the name, or drop the element.",
)  # fmt: skip
def delete_of_nothing(spot: Spot) -> Iterator[Found]:
    """`$patch: delete` for a name that no element has; an error where one has nearly that name."""
    parent = spot.element_of
    if spot.directive != "delete" or parent is None or not _is_new(spot, parent):
        return
    name = spot.map.text(spot.merge_key)
    guess = _nearest(name, parent)
    hint = f'; did you mean "{guess}"?' if guess else ""
    message = f"{parent.key} of the target has no {name}: nothing is deleted{hint}"
    yield Found(_at_key(spot), message, severity=ERROR if guess else WARNING)


@Check(
    "D72", ERROR, ELEMENT, "a new element that was to be one of the target's",
    needs="ST",
    kubectl="The element is added; the API server refuses a container without image.",
    kustomize="The element is added, and `kubectl apply` refuses the object.",
    example="containers:\n- name: wbe\n  tty: true\n# file: target.yaml\ncontainers:\n"
    "- name: web\n  image: web:1\n- name: side\n  image: side:1",
    counter="containers:\n- name: log\n  image: log:1\n# file: target.yaml\n"
    "containers:\n- name: web\n  image: web:1\n- name: side\n  image: side:1",
    mend="Correct the name; a new container needs an image.",
)  # fmt: skip
def new_by_mistake(spot: Spot) -> Iterator[Found]:
    """A container without image that is not there; a name with two letters swapped."""
    parent = spot.element_of
    if parent is None or DIRECTIVE in spot.map.fields or not _is_new(spot, parent):
        return
    name = spot.map.text(spot.merge_key)
    needed = NEEDED.get(parent.key, "")
    where = f"{parent.key} of the target has no {name}"
    if needed and needed not in spot.map.fields:
        guess = _nearest(name, parent)
        hint = f'did you mean "{guess}"?' if guess else f"a new one needs {needed}"
        yield Found(_at_key(spot), f"{where}; {hint}")
        return
    there = {v.text(spot.merge_key) for _, v in parent.maps()}
    for known in _names(parent):
        if known not in there and is_slip(name, known):
            hint = f'it is added; did you mean "{known}"?'
            yield Found(_at_key(spot), f"{where}: {hint}", severity=WARNING)
            return


def _is_new(spot: Spot, parent: ListSpot) -> bool:
    """Whether the target is known to lack an element, at the time when the patch is executed."""
    name = spot.map.text(parent.merge_key)
    if spot.target is not ABSENT or not name or parent.is_replaced:
        return False
    if parent.spot.target is ABSENT:
        return False  # everything there is new
    others = spot.verdict.others()
    return others is not None and name not in others


def _names(parent: ListSpot) -> list[str]:
    """The merge keys of the target's elements."""
    values = parent.target.values if isinstance(parent.target, List) else []
    return [v.text(parent.merge_key) for v in values if isinstance(v, Map)]


def _nearest(name: str, parent: ListSpot) -> str:
    """The element of the target whose name is nearly this one."""
    return nearest(name, _names(parent)) if len(name) > 2 and not name.isdigit() else ""


def _at_key(spot: Spot) -> int:
    value = spot.map.get(spot.merge_key)
    return value.at if value is not None else spot.map.at


def is_slip(word: str, known: str) -> bool:
    """Whether a word is another one with two letters swapped, one lost or one doubled.

    A letter changed into another one makes other names: HOST and PORT, web1 and web2.
    """
    if word == known or distance(word, known, 1) > 1:
        return word != known and word.lower() == known.lower()
    if min(len(word), len(known)) < 3 or word.startswith(known) or known.startswith(word):
        return False
    if len(word) == len(known):
        return sorted(word) == sorted(known)
    longer, shorter = sorted((word, known), key=len, reverse=True)
    return any(
        longer[n].isalpha() and longer[:n] + longer[n + 1 :] == shorter
        for n in range(1, len(longer))
    )


@Check(
    "D73", ERROR, PATCH, "a patch with another namespace than its target",
    needs="T",
    kubectl="The API server refuses it: the namespace of the object does not match that of the "
    "request.",
    kustomize="The build fails: `no matches for Id`. Namespaces that a kustomization sets come "
    "after its patches.",
    example="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: prod\nspec:\n  replicas: 2\n# file: target.yaml\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: shop\nspec: {}",
    counter="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: shop\nspec:\n  replicas: 2\n# file: target.yaml\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    "  namespace: shop\nspec: {}",
    mend="Write the namespace that the object has.",
)  # fmt: skip
def other_namespace(spot: Spot) -> Iterator[Found]:
    """`metadata.namespace` of the patch and of the object that it changes."""
    target, metadata = spot.target, spot.map.map("metadata")
    if not isinstance(target, Map) or metadata is None:
        return
    written, wanted = _namespace(spot.map), _namespace(target)
    entry = spot.verdict.entry
    if "K" in spot.tools or entry is None:
        differ = bool(written and wanted) and written != wanted
    else:
        differ = (written or "default") != (wanted or "default") and spot.verdict.is_direct
    if differ and (entry is None or entry.target is None):
        value = metadata.get("namespace")
        has = f"is in the namespace {wanted}" if wanted else "has no namespace"
        says = f"the patch says {written}" if written else "the patch has none"
        yield Found(value.at if value else metadata.at, f"the target {has}, {says}")


def _namespace(root: Map) -> str:
    metadata = root.map("metadata")
    return metadata.text("namespace") if metadata is not None else ""


@Check(
    "D74", ERROR, KEY, "two fields of which only one may be there",
    needs="S",
    kubectl="Both remain, and the API server refuses the object.",
    kustomize="Both remain in the output, and `kubectl apply` refuses it.",
    example="strategy:\n  type: Recreate\n# file: target.yaml\nstrategy:\n"
    "  type: RollingUpdate\n  rollingUpdate:\n    maxSurge: 1",
    counter="strategy:\n  type: Recreate\n  rollingUpdate: null\n# file: target.yaml\n"
    "strategy:\n  type: RollingUpdate\n  rollingUpdate:\n    maxSurge: 1",
    mend="Set the old field to null in the same patch; with kubectl `$retainKeys` works too.",
)  # fmt: skip
def both_remain(here: KeySpot) -> Iterator[Found]:
    """`Recreate` over a `rollingUpdate`, a second handler of a probe, a second source of env."""
    spot = here.spot
    if spot.struct is None or here.value.null or DIRECTIVE in spot.map.fields:
        return
    for old in _excluded(spot.struct.name, here.key, here.value):
        value = spot.map.get(old)
        if value is not None and not value.null:
            if here.at > spot.map.at_key(old) or old not in _alternatives(spot.struct.name):
                yield Found(here.at, f"{here.key} and {old} exclude each other; drop one of them")
        elif value is None and _remains(spot, old):
            what = "type: " + here.value.text if isinstance(here.value, Text) else here.key
            yield Found(here.at, f"{old} of the target would remain beside {what}; add {old}: null")


def _alternatives(name: str) -> Iterable[str]:
    return ONE_OF.get(name, ())


def _excluded(name: str, key: str, value: Value) -> Iterator[str]:
    """The fields that must not be there together with one."""
    if key in _alternatives(name):
        yield from (other for other in _alternatives(name) if other != key)
    values, other = NOT_WITH.get(name, ((), ""))
    if key == "type" and isinstance(value, Text) and value.text in values:
        yield other


def _remains(spot: Spot, field: str) -> bool:
    """Whether the target has a field that the patch leaves there."""
    retained = "K" in spot.tools and RETAIN_KEYS in spot.map.fields
    target = spot.target
    if retained or not isinstance(target, Map) or not target.has(field):
        return False
    others = spot.verdict.others()
    return others is not None and field not in others
