"""Generated objects and patches: small pools of names, so that they meet often.

A spec says what a field is; `make_value` makes an object of it, `make_patch_for` a patch with
every directive, mostly well formed. Everything comes from one `Random`, so a seed is a case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

Value = Any


@dataclass(frozen=True)
class Scalar:
    pool: tuple[Value, ...]


@dataclass(frozen=True)
class Struct:
    fields: dict[str, Any]
    retain: bool = False  # $retainKeys is tried here


@dataclass(frozen=True)
class Texts:
    """A map of strings, as labels or data are."""

    keys: tuple[str, ...] = ("a", "b", "c")


@dataclass(frozen=True)
class Scalars:
    pool: tuple[Value, ...] = ("a", "b", "c", "d", "e")
    merge: bool = False


@dataclass(frozen=True)
class Keyed:
    key: str
    pool: tuple[Value, ...]
    element: dict[str, Any] = field(default_factory=dict)
    retain: bool = False


@dataclass(frozen=True)
class Atomic:
    """A list of maps without a merge key."""

    element: dict[str, Any]


NAMES = ("n1", "n2", "n3", "n4", "n5")
META = {
    "labels": Texts(),
    "annotations": Texts(("x", "y")),
    "finalizers": Scalars(merge=True),
    "ownerReferences": Keyed("uid", ("u1", "u2", "u3"), {"kind": Scalar(("A", "B"))}),
}
CONTAINER = {
    "image": Scalar(("i:1", "i:2")),
    "args": Scalars(),
    "env": Keyed("name", NAMES, {"value": Scalar(("1", "2"))}),
    "ports": Keyed("containerPort", (80, 81, 82, 83), {"protocol": Scalar(("TCP", "UDP"))}),
    "volumeMounts": Keyed("mountPath", ("/a", "/b", "/c"), {"name": Scalar(("v1", "v2"))}),
    "resources": Struct({"limits": Texts(("cpu", "memory"))}),
}
POD_SPEC = {
    "containers": Keyed("name", NAMES, CONTAINER),
    "initContainers": Keyed("name", NAMES[:3], {"image": Scalar(("i:1", "i:2"))}),
    "volumes": Keyed(
        "name",
        NAMES,
        {
            "emptyDir": Struct({"medium": Scalar(("", "Memory"))}),
            "configMap": Struct({"name": Scalar(("c1", "c2"))}),
        },
        retain=True,
    ),
    "tolerations": Atomic({"key": Scalar(("k1", "k2"))}),
    "imagePullSecrets": Keyed("name", NAMES[:3]),
    "nodeSelector": Texts(),
    "hostAliases": Keyed("ip", ("1.1.1.1", "2.2.2.2"), {"hostnames": Scalars()}),
    "terminationGracePeriodSeconds": Scalar((1, 2)),
}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "Deployment": (
        "apps/v1",
        {
            "spec": Struct(
                {
                    "replicas": Scalar((1, 2)),
                    "paused": Scalar((True, False)),
                    "selector": Struct({"matchLabels": Texts()}),
                    "strategy": Struct(
                        {
                            "type": Scalar(("Recreate", "RollingUpdate")),
                            "rollingUpdate": Struct({"maxSurge": Scalar((1, "10%"))}),
                        },
                        retain=True,
                    ),
                    "template": Struct({"metadata": Struct(META), "spec": Struct(POD_SPEC)}),
                }
            )
        },
    ),
    "Pod": ("v1", {"spec": Struct(POD_SPEC)}),
    "Service": (
        "v1",
        {
            "spec": Struct(
                {
                    "ports": Keyed(
                        "port",
                        (80, 81, 82),
                        {"protocol": Scalar(("TCP", "UDP")), "targetPort": Scalar((1, "web"))},
                    ),
                    "selector": Texts(),
                    "externalIPs": Scalars(),
                    "type": Scalar(("ClusterIP", "NodePort")),
                }
            )
        },
    ),
    "ServiceAccount": (
        "v1",
        {
            "secrets": Keyed("name", NAMES, {"namespace": Scalar(("a", "b"))}),
            "imagePullSecrets": Atomic({"name": Scalar(NAMES)}),
            "automountServiceAccountToken": Scalar((True, False)),
        },
    ),
    "ConfigMap": ("v1", {"data": Texts(), "immutable": Scalar((True, False))}),
    "PodDisruptionBudget": (
        "policy/v1",
        {
            "spec": Struct(
                {
                    "minAvailable": Scalar((1, "50%")),
                    "selector": Struct({"matchLabels": Texts()}),
                }
            )
        },
    ),
}


def make_object(rnd: Random, kind: str, name: str = "x", *, repeats: bool = False) -> Value:
    """An object of the kind; `repeats`: lists may hold a value, or a merge key, twice."""
    version, fields = KINDS[kind]
    body = _fields(rnd, {"metadata": Struct(META), **fields}, repeats=repeats)
    body.setdefault("metadata", {})["name"] = name
    return {"apiVersion": version, "kind": kind, **body}


def make_patch_for(rnd: Random, kind: str) -> Value:
    """A patch for objects of the kind, mostly well formed."""
    _, fields = KINDS[kind]
    patch = _patch_fields(rnd, {"metadata": Struct(META), **fields}, chance=0.6)
    # The object keeps its name, by which the results of one kubectl call are told apart.
    (patch.get("metadata") or {}).pop("$patch", None)
    return {key: value for key, value in patch.items() if (key, value) != ("metadata", None)}


def _fields(rnd: Random, fields: dict[str, Any], *, repeats: bool) -> dict[str, Value]:
    return {
        name: make_value(rnd, spec, repeats=repeats)
        for name, spec in fields.items()
        if rnd.random() < 0.6
    }


def make_value(rnd: Random, spec: Any, *, repeats: bool = False) -> Value:
    if isinstance(spec, Scalar):
        return rnd.choice(spec.pool)
    if isinstance(spec, Texts):
        return {key: rnd.choice("12") for key in _some(rnd, spec.keys)}
    if isinstance(spec, Scalars):
        return _some(rnd, spec.pool, repeats=repeats)
    if isinstance(spec, Struct):
        return _fields(rnd, spec.fields, repeats=repeats)
    if isinstance(spec, Atomic):
        return [_fields(rnd, spec.element, repeats=repeats) for _ in range(rnd.randrange(3))]
    keys = _some(rnd, spec.pool, repeats=repeats)
    return [{spec.key: key, **_fields(rnd, spec.element, repeats=repeats)} for key in keys]


def _some(rnd: Random, pool: tuple[Value, ...], *, repeats: bool = False) -> list[Value]:
    chosen = rnd.sample(pool, rnd.randrange(len(pool) + 1))
    return [*chosen, rnd.choice(chosen)] if repeats and chosen and rnd.random() < 0.3 else chosen


def _patch_fields(rnd: Random, fields: dict[str, Any], chance: float = 0.4) -> dict[str, Value]:
    patch: dict[str, Value] = {}
    for name, spec in fields.items():
        if rnd.random() >= chance:
            continue
        dice = rnd.random()
        if dice < 0.06:
            patch[name] = None
        elif isinstance(spec, Struct | Texts):
            patch[name] = _patch_map(rnd, spec)
        elif isinstance(spec, Keyed):
            _patch_keyed(rnd, patch, name, spec)
        elif isinstance(spec, Scalars):
            _patch_scalars(rnd, patch, name, spec)
        else:
            patch[name] = make_value(rnd, spec)
    return patch


def _patch_map(rnd: Random, spec: Struct | Texts) -> Value:
    if isinstance(spec, Texts):
        patch: dict[str, Value] = {k: rnd.choice(("1", "2", None)) for k in _some(rnd, spec.keys)}
    else:
        patch = _patch_fields(rnd, spec.fields)
        if spec.retain and rnd.random() < 0.5:
            patch["$retainKeys"] = _retained(rnd, patch, spec.fields)
    dice = rnd.random()
    if dice < 0.05:
        patch["$patch"] = "replace"
    elif dice < 0.08:
        patch["$patch"] = "delete"
    elif dice < 0.09:
        patch["$patch"] = rnd.choice(("merge", "Delete", None, True))
    return patch


def _retained(rnd: Random, patch: dict[str, Value], fields: dict[str, Any]) -> list[str]:
    named = [key for key in patch if not key.startswith("$")]
    extra = [name for name in fields if name not in named and rnd.random() < 0.3]
    return named[:-1] if named and rnd.random() < 0.1 else [*named, *extra]


def _patch_scalars(rnd: Random, patch: dict[str, Value], name: str, spec: Scalars) -> None:
    added = _some(rnd, spec.pool)
    if rnd.random() < 0.7:
        patch[name] = added
    if rnd.random() < 0.3:
        gone = [v for v in _some(rnd, spec.pool) if v not in patch.get(name, [])]
        patch[f"$deleteFromPrimitiveList/{name}"] = gone
    if rnd.random() < 0.3:
        patch[f"$setElementOrder/{name}"] = _around(rnd, patch.get(name, []), spec.pool)


def _patch_keyed(rnd: Random, patch: dict[str, Value], name: str, spec: Keyed) -> None:
    elements: list[dict[str, Value]] = []
    for key in _some(rnd, spec.pool):
        element = {spec.key: key, **_patch_fields(rnd, spec.element)}
        if spec.retain and rnd.random() < 0.4:
            element["$retainKeys"] = [spec.key, *_retained(rnd, element, spec.element)]
        if rnd.random() < 0.2:
            element["$patch"] = "delete"
        elements.append(element)
    if rnd.random() < 0.05:
        elements.insert(rnd.randrange(len(elements) + 1), {"$patch": "replace"})
    if elements and rnd.random() < 0.02:
        rnd.choice(elements).pop(spec.key, None)
    if rnd.random() < 0.8:
        patch[name] = elements
    if rnd.random() < 0.35:
        keys = [e[spec.key] for e in patch.get(name, []) if "$patch" not in e and spec.key in e]
        order = _around(rnd, keys, spec.pool)
        patch[f"$setElementOrder/{name}"] = [{spec.key: key} for key in order]


def _around(rnd: Random, wanted: list[Value], pool: tuple[Value, ...]) -> list[Value]:
    """An order list: the wanted values in their order, others between; seldom inconsistent."""
    order = list(wanted)
    for value in pool:
        if value not in order and rnd.random() < 0.6:
            order.insert(rnd.randrange(len(order) + 1), value)
    if rnd.random() < 0.05:
        rnd.shuffle(order)
    return order or [pool[0]]
