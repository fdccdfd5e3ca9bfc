"""The forms of a collection whose elements have an identity: their text, and what a text says.

A leaf of an element is known by its number; a form says where in the element it stands, and how
its elements are called where a word will not do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import yaml
from worlds.identity import Element, Elements, Leaves

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Path = tuple[str | int, ...]
Said = list[tuple[str, Leaves]]  # elements, each with its key and its leaves


@dataclass(frozen=True)
class Form:
    """A file around a collection, and where in an element its key and its leaves stand."""

    at: Path  # of the collection in the file; empty where it is the file
    leaves: tuple[Path, ...]
    key: Path = ("name",)  # empty where the elements are entries of a map
    kind: str = "list"  # or `map`, or `documents`
    head: str = ""  # the lines over the elements
    after: str = ""  # and below them
    column: int = 0
    fixed: dict[Path, object] = field(default_factory=dict)  # what all elements have
    name: Callable[[str], object] = str  # what an element is called
    ordered: bool = False

    def write(self, elements: Elements) -> bytes:
        """The file."""
        text = "".join(map(self._text, elements))
        if self.head and not elements:
            text = " {}\n" if self.kind == "map" else " []\n"
        elif self.head:
            text = "\n" + text
        return (self.head + text + self.after).encode()

    def _text(self, each: Element) -> str:
        said = {self.key: self.name(each.key)} if self.key else {}
        said |= self.fixed
        said |= {self.leaves[int(number)]: value for number, value in each.leaves}
        whole: dict[object, object] = {}
        for path, value in sorted(said.items(), key=lambda pair: pair[0] not in _FIRST):
            _put(whole, path, value)
        if self.kind == "map":
            whole = {self.name(each.key): whole}
        lines = yaml.safe_dump(whole, sort_keys=False).splitlines()
        if self.kind == "list":
            lines = [("  " if number else "- ") + line for number, line in enumerate(lines)]
        start = "---\n" if self.kind == "documents" else ""
        return start + "".join(" " * self.column + line + "\n" for line in lines)

    def read(self, data: bytes, keys: set[str]) -> Said:
        """The elements in their order; `keys` are what they may be called."""
        names = {self.name(key): key for key in keys}
        documents = [*filter(None, yaml.load_all(data, LOADER))]
        value = documents if self.kind == "documents" else _get(documents, (0, *self.at))
        pairs = (
            [*value.items()]
            if isinstance(value, dict)
            else [(_get(each, self.key), each) for each in value or ()]  # type: ignore[attr-defined]
        )
        return [(names[name], self._leaves(content)) for name, content in pairs]

    def _leaves(self, content: object) -> Leaves:
        values = enumerate(_get(content, path) for path in self.leaves)
        return tuple((str(number), str(value)) for number, value in values if value is not None)


_FIRST = {("apiVersion",), ("kind",)}


def _put(whole: dict[object, object], path: Path, value: object) -> None:
    for step in path[:-1]:
        inner = whole.setdefault(step, {})
        assert isinstance(inner, dict)
        whole = inner
    whole[path[-1]] = value


def _get(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        else:
            value = value[step] if value and isinstance(value, list) else None  # type: ignore[index]
    return value


def _paths(text: str) -> tuple[Path, ...]:
    return tuple(tuple(word.split(".")) for word in text.split())


_POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
_APP = _POD + "  containers:\n  - name: app\n"
_WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: web\nspec:\n"
_SPEC = _paths(
    "spec.replicas spec.paused spec.serviceName spec.minReadySeconds spec.strategy.type "
    "spec.template.spec.hostname spec.template.spec.subdomain spec.template.spec.nodeName"
)
_CONTAINER = _paths(
    "image imagePullPolicy tty workingDir resources.limits.cpu resources.limits.memory stdin "
    "terminationMessagePath"
)
_KINDS = {"x": "Deployment", "x-1": "StatefulSet", "x-2": "DaemonSet"}
_VERSIONS = {"x": "extensions/v1beta1", "x-1": "networking.k8s.io/v1", "x-2": "example.com/v1"}
FORMS: dict[str, Form] = {
    "containers": Form(("spec", "containers"), _CONTAINER, head=_POD + "  containers:", column=2),
    "initContainers": Form(
        ("spec", "initContainers"),
        _CONTAINER,
        head=_POD + "  initContainers:",
        after="  containers:\n  - name: app\n    image: app:1\n",
        column=2,
        ordered=True,
    ),
    "env": Form(
        ("spec", "containers", 0, "env"),
        tuple(
            ("valueFrom", "secretKeyRef", name)
            for name in ("name", "key", "optional", "a", "b", "c", "d", "e")
        ),
        head=_APP + "    env:",
        after="    image: app:1\n",
        column=4,
        ordered=True,
    ),
    "volumes": Form(
        ("spec", "volumes"),
        _paths(
            "csi.driver csi.fsType csi.readOnly csi.nodePublishSecretRef.name "
            "csi.volumeAttributes.a csi.volumeAttributes.b csi.volumeAttributes.c "
            "csi.volumeAttributes.d"
        ),
        head=_POD + "  volumes:",
        after="  containers:\n  - name: app\n    image: app:1\n",
        column=2,
    ),
    "volumeMounts": Form(
        ("spec", "containers", 0, "volumeMounts"),
        _paths("name subPath readOnly mountPropagation subPathExpr recursiveReadOnly a b"),
        key=("mountPath",),
        head=_APP + "    volumeMounts:",
        after="    image: app:1\n",
        column=4,
    ),
    "ports": Form(
        ("spec", "ports"),
        _paths("name targetPort appProtocol nodePort a b c d"),
        key=("port",),
        name=lambda key: 1000 + int.from_bytes(key.encode(), "big") % 61001,
        head="apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:",
        after="  selector:\n    app: web\n",
        column=2,
    ),
    "list of an unknown kind": Form(
        ("spec", "backends"),
        _paths("host path weight tls.secret tls.mode timeout retries zone"),
        head=_WIDGET + "  backends:",
        after="  paused: true\n",
        column=2,
    ),
    "map of a custom resource": Form(
        ("spec", "backends"),
        _paths("host path weight tls.secret tls.mode timeout retries zone"),
        key=(),
        kind="map",
        head=_WIDGET + "  backends:",
        after="  paused: true\n",
        column=4,
    ),
    "properties of a definition": Form(
        ("schema", "openAPIV3Schema", "properties"),
        _paths("description pattern type format default title example maxLength"),
        key=(),
        kind="map",
        head="name: v1\nschema:\n  openAPIV3Schema:\n    properties:",
        after="    type: object\n",
        column=6,
    ),
    "services": Form(
        ("services",),
        _paths("image command restart hostname user network_mode pid domainname"),
        key=(),
        kind="map",
        head="services:",
        after="volumes:\n  data: {}\n",
        column=2,
    ),
    "values": Form(
        (),
        _paths("image.repository image.tag pullPolicy replicas host tier zone team"),
        key=(),
        kind="map",
    ),
    "documents by name": Form(
        (),
        _SPEC,
        key=("metadata", "name"),
        kind="documents",
        fixed={("apiVersion",): "apps/v1", ("kind",): "Deployment"},
    ),
    "documents by kind": Form(
        (),
        _SPEC,
        key=("kind",),
        kind="documents",
        fixed={("apiVersion",): "apps/v1", ("metadata", "name"): "web"},
        name=lambda key: _KINDS.get(key, "Kind" + key.title().replace("-", "")),
    ),
    "documents by group": Form(
        (),
        _SPEC,
        key=("apiVersion",),
        kind="documents",
        fixed={("kind",): "Ingress", ("metadata", "name"): "web"},
        name=lambda key: _VERSIONS.get(key, f"{key}.example.com/v1"),
    ),
    "items": Form(
        ("items",),
        _SPEC,
        key=("metadata", "name"),
        fixed={("apiVersion",): "apps/v1", ("kind",): "Deployment"},
        head="apiVersion: v1\nkind: List\nitems:",
    ),
}
