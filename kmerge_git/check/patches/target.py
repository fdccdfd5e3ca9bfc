"""D71-D74: what a patch names, compared with the object that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmerge_git.check.nearness import distance, nearest
from kmerge_git.check.patches.spots import ABSENT, KeySpot, ListDirective, ListSpot, Spot
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import (
    ELEMENT,
    ERROR,
    KEY,
    LIST_DIRECTIVE,
    MAP,
    PATCH,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.patch.directives import PATCH as DIRECTIVE
from kmerge_git.patch.directives import RETAIN_KEYS, is_directive

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
    if spot.directive != "delete" or parent is None or parent.is_replaced:
        return
    if not _is_new(spot, parent):
        return
    name = spot.map.text(spot.merge_key)
    guess = _nearest(name, parent)
    hint = f'; did you mean "{guess}"?' if guess else ""
    message = f"{parent.key} of the target has no {name}: nothing is deleted{hint}"
    yield Found(spot.map.at_value(spot.merge_key), message, severity=ERROR if guess else WARNING)


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
    """A container without image, a name with two letters swapped, fields to remove from nothing."""
    parent = spot.element_of
    if parent is None or DIRECTIVE in spot.map.fields or not _is_new(spot, parent):
        return
    name = spot.map.text(spot.merge_key)
    needed = NEEDED.get(parent.key, "")
    where = f"{parent.key} of the target has no {name}"
    if needed and needed not in spot.map.fields and not parent.is_replaced:
        guess = _nearest(name, parent)
        hint = f'did you mean "{guess}"?' if guess else f"a new one needs {needed}"
        yield Found(spot.map.at_value(spot.merge_key), f"{where}; {hint}")
        return
    meant = _meant(spot, parent, name)
    nulls = [key for key, (_, value) in spot.map.fields.items() if value.null]
    if not meant and nulls:
        hint = f"it is added, there is no {nulls[0]} to remove"
        yield Found(spot.map.at_value(spot.merge_key), f"{where}: {hint}", severity=WARNING)
    elif meant:
        hint = f'it is added; did you mean "{meant}"?'
        yield Found(spot.map.at_value(spot.merge_key), f"{where}: {hint}", severity=WARNING)


def _meant(spot: Spot, parent: ListSpot, name: str) -> str:
    """The element that a new one was probably to be: nearly its name, or nearly that and its image.

    Only one that the patch does not name itself.
    """
    there = {v.text(spot.merge_key) for _, v in parent.maps()}
    image = _repository(spot.map)
    values = parent.target.values if isinstance(parent.target, List) else []
    for value in values:
        known = value.text(spot.merge_key) if isinstance(value, Map) else ""
        if not known or known in there or not isinstance(value, Map):
            continue
        same_image = image and _repository(value) == image and distance(name, known, 2) <= 2
        if same_image or is_slip(name, known):
            return known
    return ""


def _repository(container: Map) -> str:
    """The image of a container without its tag."""
    path, slash, name = container.text("image").partition("@")[0].rpartition("/")
    return path + slash + name.partition(":")[0]


def _is_new(spot: Spot, parent: ListSpot) -> bool:
    """Whether the target is known to lack an element, at the time when the patch is executed."""
    name = spot.map.text(parent.merge_key)
    if spot.target is not ABSENT or not name:
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


def is_slip(word: str, known: str) -> bool:
    """Whether a word is another one with two letters swapped, one lost or one doubled.

    A letter changed into another one makes other names: HOST and PORT, web1 and web2.
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
    """Whether the last letter of a name is lost, or another one is no part of it."""
    if is_lost:
        return len(longer) > 4 and longer[-1] not in "sS"
    return longer[-1] == longer[-2] or (longer[-1].islower() and longer[:-1].isupper())


@Check(
    "D73", ERROR, PATCH, "a patch with another namespace or name than its target",
    tools="K", needs="T",
    kubectl="The API server refuses it: namespace or name of the object do not match those of the "
    "request.",
    kustomize="The build fails: `no matches for Id`, see D69.",
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
    """`metadata.name` and `metadata.namespace` of a patch for kubectl, and of its target."""
    target, metadata = spot.target, spot.map.map("metadata")
    if not isinstance(target, Map) or metadata is None or spot.verdict.entry is not None:
        return
    for field, said in (("name", "is called {}"), ("namespace", "is in the namespace {}")):
        written, known = metadata.text(field), _metadata(target).text(field)
        if written and known and written != known:
            yield Found(metadata.at_value(field), f"the target {said.format(known)}, not {written}")


def _metadata(root: Map) -> Map:
    return root.map("metadata") or Map(root.at)


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
    if spot.struct is None or not spot.leaves(here.key) or DIRECTIVE in spot.map.fields:
        return
    for old in _excluded(spot.struct.name, here.key, here.value):
        if spot.leaves(old):
            if here.at > spot.map.at_key(old) or old not in _alternatives(spot.struct.name):
                yield Found(here.at, f"{here.key} and {old} exclude each other; drop one of them")
        elif old not in spot.map.fields and _remains(spot, old):
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


@Check(
    "D77", ERROR, ELEMENT, "`$patch: delete` beside maps or lists that are lost with it",
    hides=("D03", "D11"),
    kubectl="Everything there is deleted, what is written beside the directive is ignored.",
    kustomize="Everything there is deleted, what is written beside the directive is ignored.",
    example="containers:\n- name: web\n  env:\n  - name: A\n  $patch: delete",
    counter="containers:\n- name: web\n  env:\n  - name: A\n    $patch: delete",
    mend="Move the directive to the map or element that shall go; or drop what stands beside it.",
)  # fmt: skip
def delete_with_more(spot: Spot) -> Iterator[Found]:
    """A directive one level too high: it deletes what the patch goes on to change."""
    if spot.directive == "delete" and (spot.path or spot.element_of is not None):
        beside = [k for k, (_, v) in spot.map.fields.items() if isinstance(v, Map | List)]
        names = ", ".join(key for key in beside if not is_directive(key))
        if names:
            what = "element" if spot.element_of is not None else "map"
            yield Found(
                spot.at, f"deletes the whole {what}, {names} too; is it one level too high?"
            )


@also("D77", MAP)
def delete_of_map_with_more(spot: Spot) -> Iterator[Found]:
    """The same of a map that is no element of a list."""
    if spot.element_of is None:
        yield from delete_with_more(spot)


@Check(
    "D79", WARNING, LIST_DIRECTIVE, "an order names an element that is nowhere",
    tools="K", needs="ST",
    kubectl="The name is ignored; an element of the patch that is not listed is refused.",
    kustomize="It does not know the directive.",
    example="$setElementOrder/containers:\n- name: wbe\n- name: side\ncontainers:\n- name: side\n"
    "  image: side:2\n# file: target.yaml\ncontainers:\n- name: web\n  image: web:1\n"
    "- name: side\n  image: side:1",
    counter="$setElementOrder/containers:\n- name: web\n- name: side\ncontainers:\n- name: side\n"
    "  image: side:2\n# file: target.yaml\ncontainers:\n- name: web\n  image: web:1\n"
    "- name: side\n  image: side:1",
    mend="Correct the name, or drop the entry.",
)  # fmt: skip
def order_of_nothing(here: ListDirective) -> Iterator[Found]:
    """A name in `$setElementOrder` that neither the patch nor the target has."""
    target = here.spot.target
    key = here.merge_key
    if not isinstance(target, Map) or not key or not here.order:
        return
    values = [*target.items(here.list), *here.spot.map.items(here.list)]
    known = {value.text(key) for value in values if isinstance(value, Map)}
    for value in here.order:
        name = value.text(key) if isinstance(value, Map) else ""
        if isinstance(value, Map) and key in value.fields and not name:
            yield Found(value.at_value(key), f"{key} tells which element is meant; this is none")
        elif name and name not in known:
            guess = nearest(name, sorted(known)) if len(name) > 2 else ""
            hint = f'; did you mean "{guess}"?' if guess else ""
            at = value.at_value(key) if isinstance(value, Map) else value.at
            yield Found(at, f"{here.list} has no {name}, neither here nor in the target{hint}")
