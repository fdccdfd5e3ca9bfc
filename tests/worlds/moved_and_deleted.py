"""One side moves a thing to another place, and the other side deletes it.

A clean merge that holds the moved thing lost the deletion, and one without it lost the move: only
a conflict is right. A scene is a file without the thing, which is what the deleting side has; the
base has the thing at the old place, the moving side has it at the new one, equal or edited.
`SMALL` are scenes of things that are too small to be known again elsewhere. `controls` are the
merges nearby that have one answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Value = Any
Step = str | int
Path = tuple[Step, ...]
Versions = tuple[list[Value], list[Value], list[Value]]
LEAVES, LINES = 4, 3  # what has fewer leaves, or as a text fewer lines, is small
NOT_PLAIN = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
END = 99


# -- texts


def written(documents: list[Value], indented: bool = False) -> bytes:
    """Write a file, with the dashes of a list below its key or further to the right."""
    parts = [_block(document, "  " if indented else "") for document in documents]
    return "---\n".join(part + "\n" for part in parts).encode()


def parsed(data: bytes) -> list[Value]:
    """Read the documents of a file."""
    return [document for document in yaml.load_all(data, LOADER) if document is not None]


def _block(value: Value, dash: str) -> str:
    return "\n".join(_lines(value, dash)).removeprefix("\n")


def _lines(value: Value, dash: str) -> list[str]:
    """Write a value that begins on a line of its own."""
    lines = []
    if isinstance(value, dict) and value:
        for key, child in value.items():
            head = f"{_word(str(key))}:"
            if isinstance(child, dict | list) and child:
                margin = dash if isinstance(child, list) else "  "
                lines += [head, *(margin + line for line in _lines(child, dash))]
            elif isinstance(child, str) and "\n" in child:
                lines += [f"{head} |", *("  " + line for line in child.splitlines())]
            else:
                lines.append(f"{head} {_word(child)}")
        return lines
    if isinstance(value, list) and value:
        for child in value:
            first, *rest = _lines(child, dash)
            lines += [f"- {first}", *("  " + line for line in rest)]
        return lines
    return [_word(value)]


def _word(value: Value) -> str:
    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z/][\w./-]*(:[\w./-]+)*", value)
    return str(value) if is_plain and str(value) not in NOT_PLAIN else json.dumps(value)


# -- values


def leaves(value: Value, path: Path = ()) -> list[tuple[Path, Value]]:
    """List the scalars of a value with their paths; of a text its lines."""
    if isinstance(value, dict):
        pairs = [leaves(child, (*path, key)) for key, child in value.items()]
    elif isinstance(value, list):
        pairs = [leaves(child, (*path, at)) for at, child in enumerate(value)]
    elif isinstance(value, str) and "\n" in value:
        return [((*path, at), line) for at, line in enumerate(value.splitlines())]
    else:
        return [(path, value)]
    return [leaf for pair in pairs for leaf in pair]


def changed(value: Value, path: Path) -> Value:
    """Copy a value with another leaf at a path."""
    if isinstance(value, str) and "\n" in value:
        lines = value.splitlines()
        lines[int(path[0])] += " and more"
        return "\n".join(lines) + "\n"
    if path:
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[path[0]] = changed(copy[path[0]], path[1:])
        return copy
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}-2" if value else "apps"


def is_small(thing: Value) -> bool:
    """Say if there is too little of it to know it again."""
    return len(leaves(thing)) < (LINES if isinstance(thing, str) else LEAVES)


@dataclass(frozen=True)
class Place:
    """A collection that a thing is put into: under a key, or in a list at an index."""

    path: Path  # the collection's; what is missing on the way is created
    key: str = ""  # nothing in a list
    wrapped: bool = False  # in a list of its own, which is put there

    def put(self, documents: list[Value], thing: Value, at: int) -> list[Value]:
        """Copy the documents with the thing in it, before what is at the index."""
        documents = deepcopy(documents)
        holder: Value = documents
        for here, after in zip(self.path, (*self.path[1:], self.key or 0), strict=False):
            if isinstance(holder, dict) and here not in holder:
                holder[here] = {} if isinstance(after, str) else []
            holder = holder[here]
        thing = deepcopy([thing] if self.wrapped else thing)
        if isinstance(holder, list):
            holder.insert(at, thing)
        else:
            entries = list(holder.items())
            entries.insert(at, (self.key, thing))
            holder.clear()
            holder.update(entries)
        return documents


@dataclass(frozen=True)
class Scene:
    """A kind of move, in a file without the thing."""

    around: str
    old: Place
    new: Place
    things: tuple[str, ...]
    field: Path  # a leaf far from the thing
    element: Path  # a leaf of a neighbour
    ats: tuple[tuple[int, int], ...] = ((0, END), (1, 0), (END, 1))  # the old and the new index

    def each(self) -> Iterator[Setting]:
        """List the scene with each of its things."""
        for number, text in enumerate(self.things):
            around = parsed(self.around.encode())
            thing = yaml.load(text, LOADER)
            yield Setting(self, around, thing, *self.ats[number % len(self.ats)], number % 2 == 1)


@dataclass(frozen=True)
class Setting:
    """A scene with one thing, at one old and one new index, in one layout."""

    scene: Scene
    around: list[Value]
    thing: Value
    old_at: int
    new_at: int
    indented: bool

    def base(self, edit: str = "") -> list[Value]:
        """The file with the thing at the old place; without it, after an edit elsewhere."""
        return self.scene.old.put(self.without(edit), self.thing, self.old_at)

    def moved(self, edit: str = "", thing: Value = None) -> list[Value]:
        """The file with the thing, or what became of it, at the new place."""
        thing = self.thing if thing is None else thing
        return self.scene.new.put(self.without(edit), thing, self.new_at)

    def without(self, edit: str = "") -> list[Value]:
        """The file without the thing, after an edit: of the `field`, of the `element`, or none."""
        paths = {"field": self.scene.field, "element": self.scene.element}
        documents = deepcopy(self.around)
        return list(changed(documents, paths[edit])) if edit else documents

    def edits(self) -> dict[str, Value]:
        """What may become of the thing: it stays equal, or one leaf is changed."""
        paths = [path for path, _ in leaves(self.thing)]
        named = ("metadata", "name")
        chosen = {
            "named": named if named in paths else paths[0],
            "middle": paths[len(paths) // 2],
            "last": paths[-1],
        }
        return {"equal": self.thing, **{k: changed(self.thing, p) for k, p in chosen.items()}}

    def case(self, name: str, base: list[Value], ours: list[Value], theirs: list[Value]) -> Case:
        """Write three versions."""
        return _case(name, (base, ours, theirs), self.indented)


@dataclass(frozen=True)
class Case:
    """Three versions of a file, and the documents of the one right answer if there is one."""

    name: str
    base: bytes
    ours: bytes
    theirs: bytes
    answer: list[Value] | None = None
    may_conflict: bool = False


def _case(name: str, versions: Versions, indented: bool, answer: list[Value] | None = None) -> Case:
    base, ours, theirs = (written(version, indented) for version in versions)
    return Case(name, base, ours, theirs, answer)


# -- the scenes

POD = (0, "spec", "template", "spec")
OTHER = (1, "spec", "template", "spec")
_DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app: {name}}}
spec:
  replicas: 2
  template:
    spec:
      serviceAccountName: {name}
      containers:
      - name: app
        image: registry.example.com/{name}:1.4.2
        ports:
        - {{name: http, containerPort: 8080}}
        env:
        - {{name: LEVEL, value: info}}
        - {{name: REGION, value: north}}
        volumeMounts:
        - {{name: data, mountPath: /var/lib/data}}
      - name: proxy
        image: registry.example.com/proxy:3.0
        args: [--quiet, --color]
      volumes:
      - name: data
        persistentVolumeClaim: {{claimName: {name}-data}}
      - name: cache
        emptyDir: {{sizeLimit: 1Gi}}
"""
_WEB = _DEPLOYMENT.format(name="web")
_WITH_INIT = f"""{_WEB}
      initContainers:
      - name: wait
        image: busybox:1.36
        command: [sh, -c, "sleep 1"]
"""
_TWO = f"{_WEB}---{_DEPLOYMENT.format(name='worker')}"
_REPLICAS: Path = (0, "spec", "replicas")
_IMAGE: Path = (*POD, "containers", 1, "image")

_CONTAINERS = (
    "{name: migrate, image: 'registry.example.com/migrate:2.1', command: [migrate], args: [up]}",
    """
    name: fluent
    image: fluent-bit:2.2
    env: [{name: OUTPUT, value: stdout}, {name: FORMAT, value: json}]
    resources: {limits: {memory: 128Mi}}
    volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
    """,
    "{name: setup, image: busybox, imagePullPolicy: Always, tty: true, workingDir: /srv}",
)
_ENV = (
    "{name: TOKEN, valueFrom: {secretKeyRef: {name: api, key: token, optional: true}}}",
    "{name: URL, valueFrom: {configMapKeyRef: {name: urls, key: main, optional: false}}}",
    "{name: CPUS, valueFrom: {resourceFieldRef: {containerName: app, resource: limits.cpu,"
    " divisor: '1'}}}",
)
_VOLUMES = (
    "{name: settings, configMap: {name: settings, defaultMode: 420, optional: true}}",
    "{name: tls, secret: {secretName: tls, items: [{key: tls.crt, path: crt},"
    " {key: tls.key, path: key}]}}",
    "{name: share, nfs: {server: nfs.example.com, path: /exports, readOnly: true}}",
)
_PROBES = (
    "{httpGet: {path: /healthz, port: 8080}, periodSeconds: 5, failureThreshold: 3}",
    "{exec: {command: [pg_isready, -U, postgres]}, initialDelaySeconds: 30, timeoutSeconds: 2}",
    "{tcpSocket: {port: 5432}, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1}",
)
_RESOURCES = (
    "{requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 500m, memory: 256Mi}}",
    "{limits: {cpu: 2, memory: 4Gi, nvidia.com/gpu: 1}, requests: {cpu: 1, memory: 2Gi}}",
    "{requests: {cpu: 10m, memory: 1Gi, ephemeral-storage: 2Gi}, limits: {memory: 1Gi}}",
)

_MAP = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
data:
  level: info
  {name}.ini: |
    [core]
    editor = vi
    pager = less
  region: north
"""
_MAPS = f"{_MAP.format(name='first')}---{_MAP.format(name='second')}"
_TEXTS = (
    "|\n  server {\n    listen 80;\n    root /srv;\n    index index.html;\n  }\n",
    "|\n  #!/bin/sh\n  set -eu\n  exec run\n",
    "|\n  host: db.example.com\n  port: 5432\n  name: orders\n  pool: 10\n  ssl: true\n",
)

_LIST = """
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: web}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
---
apiVersion: v1
kind: List
metadata:
  name: more
items:
- apiVersion: v1
  kind: ServiceAccount
  metadata:
    name: web
    labels: {app: web}
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: web
  data: {level: info, region: north}
"""
_DOCUMENTS = (
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: flags}, data: {dark: 'on', beta: 'off'}}",
    """
    apiVersion: v1
    kind: Service
    metadata: {name: db, labels: {app: db}}
    spec: {selector: {app: db}, ports: [{name: sql, port: 5432, targetPort: 5432}]}
    """,
    """
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: guard}
    spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
    """,
)

_ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {name}
  labels: {{team: platform}}
rules:
- apiGroups: [""]
  resources: [pods, pods/log]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [create, delete]
"""
_ROLES = f"{_ROLE.format(name='reader')}---{_ROLE.format(name='writer')}"
_RULES = (
    "{apiGroups: [apps], resources: [deployments], verbs: [get, patch]}",
    "{apiGroups: [''], resources: [secrets, configmaps], verbs: [get], resourceNames: [web]}",
    "{apiGroups: [networking.k8s.io], resources: [ingresses], verbs: [get, list, update]}",
)

_INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  ingressClassName: nginx
  rules:
  - host: a.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: web, port: {number: 80}}}
      - path: /static
        pathType: Prefix
        backend: {service: {name: static, port: {number: 8081}}}
  - host: b.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: blog, port: {number: 8082}}}
"""
_PATHS = (
    "{path: /api, pathType: Prefix, backend: {service: {name: api, port: {number: 8080}}}}",
    "{path: /login, pathType: Exact, backend: {service: {name: auth, port: {name: https}}}}",
    "{path: /v2, pathType: ImplementationSpecific,"
    " backend: {service: {name: api-two, port: {number: 9090}}}}",
)

_ALERTS = """
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: web
  labels: {release: stack}
spec:
  groups:
  - name: web.rules
    interval: 30s
    rules:
    - alert: Down
      expr: up == 0
      for: 5m
      labels: {severity: page}
    - alert: Slow
      expr: latency > 1
      for: 10m
      labels: {severity: ticket}
  - name: node.rules
    interval: 60s
    rules:
    - alert: DiskFull
      expr: disk_free < 0.1
      for: 15m
      labels: {severity: page}
"""
_ALERT = (
    "{alert: Errors, expr: 'errors > 5', for: 2m, labels: {severity: page}}",
    "{alert: Restarts, expr: 'restarts > 3', for: 1h, labels: {severity: ticket, team: web},"
    " annotations: {summary: Too many restarts}}",
    "{alert: Certificate, expr: 'days_left < 7', labels: {severity: ticket},"
    " annotations: {summary: It ends, runbook: certificates}}",
)

_WORKFLOW = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: build
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - name: fetch
        template: git
        arguments: {parameters: [{name: branch, value: main}]}
    - - name: build
        template: make
        arguments: {parameters: [{name: target, value: all}]}
      - name: check
        template: make
        arguments: {parameters: [{name: target, value: style}]}
    - - name: publish
        template: push
        arguments: {parameters: [{name: registry, value: main}]}
"""
_STEPS = (
    "{name: unit, template: pytest, arguments: {parameters: [{name: folder, value: tests}]}}",
    "{name: scan, template: trivy, when: always, arguments: {parameters: ["
    "{name: image, value: web}, {name: level, value: high}]}}",
    "{name: docs, template: sphinx, continueOn: {failed: true}, when: always}",
)
_STEP_LISTS: Path = (0, "spec", "templates", 0, "steps")

_VALUES = """
global:
  domain: example.com
  debug: false
web:
  image: {repository: web, tag: 1.2.3}
  replicas: 2
db:
  image: {repository: postgres, tag: 16.1}
  storage: 10Gi
"""
_ENTRIES = (
    "{image: {repository: queue, tag: '4.0'}, replicas: 3, service: {port: 5672}}",
    "{enabled: true, schedule: nightly, keep: 7, bucket: backups}",
    """
    image: {repository: search, tag: 8.11.0}
    ingress: {enabled: true, hosts: [search.example.com, find.example.com]}
    resources: {requests: {cpu: 100m, memory: 1Gi}}
    """,
)
_VALUE_FIELDS: tuple[Path, Path] = ((0, "global", "domain"), (0, "web", "replicas"))

_ENV_OF = (*POD, "containers", 0, "env")


def _in_pod(around: str, old: Place, new: Place, things: tuple[str, ...]) -> Scene:
    return Scene(around, old, new, things, _REPLICAS, _IMAGE)


SCENES = {
    "container to initContainers": _in_pod(
        _WITH_INIT, Place((*POD, "containers")), Place((*POD, "initContainers")), _CONTAINERS
    ),
    "container to new initContainers": _in_pod(
        _WEB, Place((*POD, "containers")), Place((*POD, "initContainers")), _CONTAINERS
    ),
    "container from initContainers": _in_pod(
        _WITH_INIT, Place((*POD, "initContainers")), Place((*POD, "containers")), _CONTAINERS
    ),
    "container to another Deployment": _in_pod(
        _TWO, Place((*POD, "containers")), Place((*OTHER, "containers")), _CONTAINERS
    ),
    "env to another container": _in_pod(
        _TWO, Place(_ENV_OF), Place((*OTHER, "containers", 0, "env")), _ENV
    ),
    "env to a container without": _in_pod(
        _WEB, Place(_ENV_OF), Place((*POD, "containers", 1, "env")), _ENV
    ),
    "only env to a container with": _in_pod(
        _WEB, Place((*POD, "containers", 1, "env")), Place(_ENV_OF), _ENV
    ),
    "volume to another Deployment": _in_pod(
        _TWO, Place((*POD, "volumes")), Place((*OTHER, "volumes")), _VOLUMES
    ),
    "probe to another container": _in_pod(
        _WEB,
        Place((*POD, "containers", 0), "livenessProbe"),
        Place((*POD, "containers", 1), "livenessProbe"),
        _PROBES,
    ),
    "probe to another key": _in_pod(
        _WEB,
        Place((*POD, "containers", 0), "livenessProbe"),
        Place((*POD, "containers", 0), "startupProbe"),
        _PROBES,
    ),
    "resources to another container": _in_pod(
        _WEB,
        Place((*POD, "containers", 1), "resources"),
        Place((*POD, "containers", 0), "resources"),
        _RESOURCES,
    ),
    "resources to another Deployment": _in_pod(
        _TWO,
        Place((*POD, "containers", 0), "resources"),
        Place((*OTHER, "containers", 1), "resources"),
        _RESOURCES,
    ),
    "document into a List": Scene(
        _LIST,
        Place(()),
        Place((1, "items")),
        _DOCUMENTS,
        (0, "spec", "ports", 0, "port"),
        (1, "items", 1, "data", "level"),
        ((1, END), (2, 0), (END, 1)),
    ),
    "document out of a List": Scene(
        _LIST,
        Place((1, "items")),
        Place(()),
        _DOCUMENTS,
        (0, "spec", "ports", 0, "port"),
        (1, "items", 1, "data", "level"),
    ),
    "text to another key": Scene(
        _MAPS,
        Place((0, "data"), "main.conf"),
        Place((0, "data"), "extra.conf"),
        _TEXTS,
        (1, "data", "level"),
        (0, "data", "level"),
    ),
    "text to another ConfigMap": Scene(
        _MAPS,
        Place((0, "data"), "main.conf"),
        Place((1, "data"), "main.conf"),
        _TEXTS,
        (0, "data", "region"),
        (1, "data", "level"),
    ),
    "rule to another Role": Scene(
        _ROLES,
        Place((0, "rules")),
        Place((1, "rules")),
        _RULES,
        (0, "metadata", "labels", "team"),
        (0, "rules", 1, "verbs", 1),
    ),
    "path to another host": Scene(
        _INGRESS,
        Place((0, "spec", "rules", 0, "http", "paths")),
        Place((0, "spec", "rules", 1, "http", "paths")),
        _PATHS,
        (0, "spec", "ingressClassName"),
        (0, "spec", "rules", 0, "http", "paths", 1, "backend", "service", "port", "number"),
    ),
    "alert to another group": Scene(
        _ALERTS,
        Place((0, "spec", "groups", 0, "rules")),
        Place((0, "spec", "groups", 1, "rules")),
        _ALERT,
        (0, "spec", "groups", 1, "interval"),
        (0, "spec", "groups", 0, "rules", 1, "for"),
    ),
    "step to a list of its own": Scene(
        _WORKFLOW,
        Place((*_STEP_LISTS, 1)),
        Place(_STEP_LISTS, wrapped=True),
        _STEPS,
        (0, "spec", "entrypoint"),
        (*_STEP_LISTS, 1, 1, "template"),
        ((END, 2), (1, 1), (0, END)),
    ),
    "step from a list of its own": Scene(
        _WORKFLOW,
        Place(_STEP_LISTS, wrapped=True),
        Place((*_STEP_LISTS, 1)),
        _STEPS,
        (0, "spec", "entrypoint"),
        (*_STEP_LISTS, 1, 1, "template"),
        ((2, END), (END, 1), (1, 0)),
    ),
    "values to a new parent": Scene(
        _VALUES, Place((0,), "queue"), Place((0, "apps"), "queue"), _ENTRIES, *_VALUE_FIELDS
    ),
    "values to a parent": Scene(
        _VALUES, Place((0,), "queue"), Place((0, "global"), "queue"), _ENTRIES, *_VALUE_FIELDS
    ),
    "values out of a parent": Scene(
        _VALUES, Place((0, "global"), "queue"), Place((0,), "queue"), _ENTRIES, *_VALUE_FIELDS
    ),
    "values out of an only parent": Scene(
        _VALUES, Place((0, "apps"), "queue"), Place((0,), "queue"), _ENTRIES, *_VALUE_FIELDS
    ),
}
SMALL = {
    "small: volume mount to another container": _in_pod(
        _WEB,
        Place((*POD, "containers", 0, "volumeMounts")),
        Place((*POD, "containers", 1, "volumeMounts")),
        (
            "{name: cache, mountPath: /cache, readOnly: true}",
            "{name: data, mountPath: /srv, subPath: srv}",
        ),
    ),
    "small: env to another container": _in_pod(
        _WEB,
        Place(_ENV_OF),
        Place((*POD, "containers", 1, "env")),
        (
            "{name: COLOR, value: blue}",
            "{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}",
        ),
    ),
    "small: port to another container": _in_pod(
        _WEB,
        Place((*POD, "containers", 0, "ports")),
        Place((*POD, "containers", 1, "ports")),
        ("{name: metrics, containerPort: 9090, protocol: TCP}",),
    ),
    "small: resources to another container": _in_pod(
        _WEB,
        Place((*POD, "containers", 0), "resources"),
        Place((*POD, "containers", 1), "resources"),
        ("{limits: {cpu: 500m, memory: 256Mi}}",),
    ),
    "small: probe to another container": _in_pod(
        _WEB,
        Place((*POD, "containers", 0), "livenessProbe"),
        Place((*POD, "containers", 1), "livenessProbe"),
        ("{httpGet: {path: /healthz, port: 8080}, periodSeconds: 5}",),
    ),
    "small: text to another ConfigMap": Scene(
        _MAPS,
        Place((0, "data"), "main.conf"),
        Place((1, "data"), "main.conf"),
        ("|\n  one\n  two\n", "just a word"),
        (0, "data", "region"),
        (1, "data", "level"),
    ),
    "small: values to a new parent": Scene(
        _VALUES,
        Place((0,), "queue"),
        Place((0, "apps"), "queue"),
        ("{enabled: true, replicas: 3, port: 5672}",),
        *_VALUE_FIELDS,
    ),
}

# edits elsewhere, of the moving side and of the deleting side
ELSEWHERE = [
    ("", ""),
    ("field", ""),
    ("element", ""),
    ("", "field"),
    ("", "element"),
    ("element", "field"),
]


def cases(name: str) -> list[Case]:
    """List the merges of a scene; ours is the side that moves."""
    found = []
    for number, setting in enumerate((SCENES | SMALL)[name].each()):
        for edit, thing in setting.edits().items():
            for mover, deleter in ELSEWHERE if edit in ("equal", "middle") else ELSEWHERE[:1]:
                marks = [f"moved with {mover}"] * bool(mover)
                marks += [f"deleted with {deleter}"] * bool(deleter)
                title = ", ".join([f"{name} {number}", edit, *marks])
                versions = (setting.base(), setting.moved(mover, thing), setting.without(deleter))
                found.append(setting.case(title, *versions))
    return found


# -- what has one answer

# A conflict loses nothing here: the new thing stands where the old one would have been moved to,
# the neighbour that was edited is taken apart from a list by both sides, or the document that stays
# may as well be the deleted one under another name.
MAY_CONFLICT = {
    ("values to a new parent", "both delete, one adds another there"),
    ("values to a new parent", "both delete, one adds one a little like it there"),
    ("step to a list of its own", "both move and element"),
    ("step to a list of its own", "both move and edit alike and element"),
    ("document into a List", "one much like it is moved"),
}


def controls(name: str) -> list[Case]:
    """List merges of a scene in which nothing is moved and deleted."""
    found = []
    for number, setting in enumerate(SCENES[name].each()):
        for title, versions, answer in _answered(setting):
            case = setting.case(f"{name} {number}, {title}", *versions)
            is_doubtful = (name, title) in MAY_CONFLICT
            found.append(replace(case, answer=answer, may_conflict=is_doubtful))
    return found


Answered = tuple[str, Versions, list[Value]]


def _answered(setting: Setting) -> Iterator[Answered]:
    base, edited = setting.base(), setting.edits()["middle"]
    for edit in ("", "field", "element"):
        with_edit = f" and {edit}" * bool(edit)
        ours, theirs = setting.moved(edit), setting.moved()
        yield f"both move{with_edit}", (base, ours, theirs), ours
        ours = setting.moved(edit, edited)
        theirs = setting.moved("", edited)
        yield f"both move and edit alike{with_edit}", (base, ours, theirs), ours
        ours, theirs = setting.without(edit), setting.without()
        yield f"both delete{with_edit}", (base, ours, theirs), ours
        if edit:
            versions = (base, setting.moved(), setting.base(edit))
            yield f"one moves, one edits {edit}", versions, setting.moved(edit)
            versions = (base, setting.without(), setting.base(edit))
            yield f"one deletes, one edits {edit}", versions, setting.without(edit)
    # nothing of the deleted one is in the new one, or less than a half
    paths = [path for path, _ in leaves(setting.thing)]
    for title, apart in (("another", paths), ("one a little like it", paths[:-1])):
        other = setting.thing
        for path in apart:
            other = changed(other, path)
        fresh = setting.moved("", other)
        yield f"both delete, one adds {title} there", (base, fresh, setting.without()), fresh
    # another index in the same list, or in the same map, is no other place
    within = setting.scene.old.put(setting.without(), setting.thing, 0 if setting.old_at else END)
    if within != base:
        answer = setting.without()
        yield "one moves it in its list, one deletes", (base, within, answer), answer


def _listed(around: str, path: Path, things: tuple[str, ...], label: str) -> Iterator[Case]:
    """List merges of a list without keys: each deletes another one, or one and the order."""
    start = parsed(around.encode())
    values = [yaml.load(text, LOADER) for text in things]

    def text(chosen: list[Value]) -> list[Value]:
        documents = start
        for at, value in enumerate(chosen):
            documents = Place(path).put(documents, value, at)
        return documents

    for indented in (False, True):
        every = range(len(values))
        for one in every:
            for two in every:
                if one == two:
                    continue
                ours = [value for at, value in enumerate(values) if at != one]
                theirs = [value for at, value in enumerate(values) if at != two]
                answer = text([v for at, v in enumerate(values) if at not in (one, two)])
                versions = (text(values), text(ours), text(theirs))
                yield _case(f"{label}: delete {one} and {two}", versions, indented, answer)


def _probed() -> Iterator[Case]:
    """List merges that delete a probe while the other side adds an equal one elsewhere."""
    around = parsed(_WEB.encode())
    for number, text in enumerate(_PROBES):
        probe = yaml.load(text, LOADER)
        held = Place((*POD, "containers", 0), "livenessProbe")
        new = {"name": "next", "image": "registry.example.com/next:1.0", "livenessProbe": probe}
        base = held.put(around, probe, 2)
        for name, place, thing in (
            ("a new container", Place((*POD, "containers")), new),
            ("another container", Place((*POD, "containers", 1), "livenessProbe"), probe),
        ):
            versions = (base, around, place.put(base, thing, END))
            title = f"probe {number} deleted, equal in {name}"
            yield _case(title, versions, number % 2 == 1, place.put(around, thing, END))


def _twins(name: str) -> Iterator[Case]:
    """List merges of a thing that is in two places in base: each side deletes one of them."""
    for number, setting in enumerate(SCENES[name].each()):
        both = setting.scene.new.put(setting.base(), setting.thing, setting.new_at)
        case = setting.case(
            f"{name} {number}, in both places", both, setting.base(), setting.moved()
        )
        yield replace(case, answer=setting.without())


def _alike(name: str) -> Iterator[Case]:
    """List merges that delete a thing while the other side moves one that is much like it."""
    for number, setting in enumerate(SCENES[name].each()):
        old, new = setting.scene.old, setting.scene.new
        like = setting.edits()["named"]
        base = old.put(setting.base(), like, END)
        ours = old.put(setting.without(), like, END)
        theirs = new.put(setting.base(), like, setting.new_at)
        title = "one much like it is moved"
        case = setting.case(f"{name} {number}, {title}", base, ours, theirs)
        answer = new.put(setting.without(), like, setting.new_at)
        yield replace(case, answer=answer, may_conflict=(name, title) in MAY_CONFLICT)


def others() -> list[Case]:
    """List the merges with one answer that are no scene's."""
    rules = "".join(_ROLE.format(name="reader").partition("rules:")[0])
    alike = (_RULES[0], _RULES[0].replace("patch", "update"), _RULES[2])
    found = [
        *_listed(rules, (0, "rules"), _RULES, "rules"),
        *_listed(rules, (0, "rules"), alike, "rules alike"),
        *_listed(_ROLES, (0, "rules"), _RULES[:2], "rules before others"),
        *_probed(),
    ]
    twins = ("probe to another container", "rule to another Role", "text to another ConfigMap")
    for name in (*twins, "path to another host", "resources to another Deployment"):
        found += _twins(name)
    listed = ("container to another Deployment", "env to another container", "rule to another Role")
    more = ("volume to another Deployment", "path to another host", "alert to another group")
    for name in (*listed, *more, "document into a List"):
        found += _alike(name)
    return found
