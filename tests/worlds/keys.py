"""Lists whose elements are known by what a place says: several fields, defaults, sets, identities.

The world knows who each element is, and what the path to it is called; edits are made of elements,
and the truth of two sides is computed from their edits alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Element = dict[str, object]
Version = dict[str, Element]  # elements by what the world calls them, in their order
Edit = Callable[[Version], Version]


@dataclass(frozen=True)
class List:
    """A list in a file: where it is, and its elements, by their steps in a path."""

    head: str  # the lines above it, and its own key
    at: tuple[str | int, ...]  # where it is in the file
    path: str  # how its place is shown
    known: dict[str, Element]  # what makes each element the one it is
    is_ordered: bool = False
    field: str = "extra"  # one that an edit changes

    def element(self, step: str, value: object = "old") -> Element:
        """An element as it is in the base."""
        return {**self.known[step], self.field: value}

    def base(self) -> Version:
        """All but the last element, which an edit adds."""
        return {step: self.element(step) for step in list(self.known)[:-1]}

    def text(self, version: Version) -> bytes:
        """The file with a version of the list."""
        lines = [
            "  " + line
            for line in yaml.safe_dump([*version.values()], sort_keys=False).splitlines()
        ]
        indent = " " * (len(self.head) - len(self.head.rpartition("\n")[2]) and _column(self.head))
        return (self.head + "\n" + "".join(indent + line + "\n" for line in lines)).encode()

    def read(self, data: bytes) -> list[Element]:
        """The elements of the list in a file."""
        value = yaml.load(data, LOADER)
        for step in self.at:
            value = value[step]
        return value


def _column(head: str) -> int:
    last = head.rpartition("\n")[2]
    return len(last) - len(last.lstrip(" "))


def changed(step: str, value: str) -> Edit:
    """Another value in a field of an element."""
    return lambda version: {
        k: {**e, [*e][-1]: value} if k == step else e for k, e in version.items()
    }


def without(step: str) -> Edit:
    """An element less."""
    return lambda version: {k: e for k, e in version.items() if k != step}


def with_first(step: str, element: Element) -> Edit:
    """An element more, in front of all others."""
    return lambda version: {step: element, **version}


def reversed_order(version: Version) -> Version:
    """All elements the other way round."""
    return dict(reversed(version.items()))


def truth(base: Version, ours: Version, theirs: Version) -> Version | None:
    """The elements after the edits of both sides; None: they contradict each other."""
    result: Version = {}
    for step in {**base, **ours, **theirs}:
        old, mine, yours = (version.get(step) for version in (base, ours, theirs))
        if mine != yours and old not in (mine, yours):
            return None
        standing = yours if mine == old else mine
        if standing is not None:
            result[step] = standing
    return result


SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:"
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
CONTAINER = POD + "  containers:\n  - name: app\n    "
OWN = "apiVersion: example.com/v1\nkind: Own\nmetadata:\n  name: web\nspec:\n  rows:"

LISTS = {
    "several fields": List(
        SERVICE, ("spec", "ports"), "spec.ports",
        {
            "[port=80,protocol=UDP]": {"port": 80, "protocol": "UDP"},
            "[port=80,protocol=TCP]": {"port": 80},
            "[port=90,protocol=UDP]": {"port": 90, "protocol": "UDP"},
            "[port=80,protocol=SCTP]": {"port": 80, "protocol": "SCTP"},
        },
        field="targetPort",
    ),
    "several fields without defaults": List(
        POD + "  topologySpreadConstraints:", ("spec", "topologySpreadConstraints"),
        "spec.topologySpreadConstraints",
        {
            f"[topologyKey={key},whenUnsatisfiable={when}]":
            {"topologyKey": key, "whenUnsatisfiable": when}
            for key, when in (("zone", "DoNotSchedule"), ("zone", "ScheduleAnyway"),
                              ("host", "DoNotSchedule"), ("host", "ScheduleAnyway"))
        },
        field="maxSkew",
    ),
    "below an element": List(
        CONTAINER + "ports:", ("spec", "containers", 0, "ports"), "spec.containers[name=app].ports",
        {
            "[containerPort=80,protocol=TCP]": {"containerPort": 80},
            "[containerPort=80,protocol=UDP]": {"containerPort": 80, "protocol": "UDP"},
            "[containerPort=90,protocol=TCP]": {"containerPort": 90},
            "[containerPort=90,protocol=UDP]": {"containerPort": 90, "protocol": "UDP"},
        },
        field="hostPort",
    ),
    "a field that is no name": List(
        CONTAINER + "volumeMounts:", ("spec", "containers", 0, "volumeMounts"),
        "spec.containers[name=app].volumeMounts",
        # two of one name, and of one case
        {f"[mountPath={path}]": {"mountPath": path, "name": "data"} for path in ("a", "A", "b", "c")},
        field="subPath",
    ),
    "a name": List(
        CONTAINER + "env:", ("spec", "containers", 0, "env"), "spec.containers[name=app].env",
        {f"[name={name}]": {"name": name} for name in ("A", "AB", "a", "B")},
        is_ordered=True, field="value",
    ),
    "keys that show themselves": List(
        OWN, ("spec", "rows"), "spec.rows",
        {f"[name={name}]": {"name": name, "containerPort": n}
         for n, name in enumerate(("a", "A", "ab", "b"))},
    ),
    "keys that show themselves, by the one that never repeats": List(
        OWN,
        ("spec", "rows"),
        "spec.rows",
        {f"[name={name}]": {"type": "same", "name": name} for name in ("a", "A", "ab", "b")},
    ),
    "keys that show themselves, by the one that all have": List(
        OWN,
        ("spec", "rows"),
        "spec.rows",
        {
            **{f"[name={name}]": {"type": f"is {name}", "name": name} for name in ("a", "A", "ab")},
            "[name=b]": {"name": "b"},
        },
    ),
    "keys that show themselves, by the first that fits": List(
        OWN, ("spec", "rows"), "spec.rows",
        {f"[type={kind}]": {"name": "same", "type": kind} for kind in ("a", "A", "ab", "b")},
    ),
}  # fmt: skip
# Members of a set: nothing else is known of them.
SETS = {
    "a set": ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  finalizers:", ("metadata", "finalizers")),
    "a set of a kustomization": ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:", ("resources",)),
}  # fmt: skip
