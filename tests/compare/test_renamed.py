"""A comparison pairs what a merge pairs: whatever the merge follows to a new name is one change."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.compare.file_changes import compare
from kmerge_git.compare.shown_changes import change_lines

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: app
          image: registry.example.com/shop/app:1.4.2
          ports:
            - {name: http, containerPort: 8080, protocol: TCP, hostPort: 80}
            - {name: metrics, containerPort: 9090, protocol: TCP, hostPort: 90}
          env:
            - name: DATABASE_URL
              valueFrom:
                secretKeyRef: {name: web-database-credentials, key: url, optional: true}
            - name: LOG_LEVEL
              value: info
        - name: proxy
          image: registry.example.com/mesh/proxy:2.1.0
          imagePullPolicy: IfNotPresent
          args: [--quiet]
      volumes:
        - name: data
          persistentVolumeClaim: {claimName: shop-web-data-volume-claim, readOnly: false}
        - name: config
          configMap: {name: web-config}
"""
SERVICES = """\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  type: ClusterIP
  selector: {app: web}
  ports:
    - {name: http, port: 80, targetPort: http}
---
apiVersion: v1
kind: Service
metadata:
  name: db
spec:
  clusterIP: None
"""
VALUES = """\
controllerManager:
  replicas: 2
  image: registry.example.com/shop/manager:1.0.0
  port: 8080
other:
  a: 1
"""
GROUPS = """\
spec:
  groups:
    - name: web
      rules:
        - alert: WebDown
          expr: up{job="web"} == 0
          for: 5m
        - alert: WebSlow
          expr: rate(http_request_seconds{job="web"}[5m]) > 1
          for: 10m
    - name: db
      interval: 30s
"""
ROUTES = """\
routes:
  - {id: alpha, uri: "http://alpha.example.com/index", timeout: 5}
  - {id: beta, uri: "http://beta.example.com/index", timeout: 6}
  - {id: gamma, uri: "http://gamma.example.com/index", timeout: 7}
"""
Edit = tuple[str, str]
SPEC = "spec.template.spec."
PROXY = WEB[WEB.index("        - name: proxy") : WEB.index("      volumes:")]
APP = WEB[WEB.index("        - name: app") : WEB.index("        - name: proxy")]
LOUD = ("[--quiet]", "[--quiet, --loud]")

# base, the edits of the side that renames, that of the side that edits inside, and what is said
RENAMED: dict[str, tuple[str, list[Edit], Edit, list[str]]] = {
    "a container": (WEB, [("- name: proxy", "- name: mesh")], LOUD,
                    ["containers[name=proxy].name: proxy -> mesh"]),
    "a container, edited": (
        WEB, [("- name: proxy", "- name: mesh"), ("IfNotPresent", "Never")], LOUD,
        ["containers[name=proxy].name: proxy -> mesh",
         "containers[name=proxy].imagePullPolicy: IfNotPresent -> Never"]),
    "two containers": (WEB, [("- name: proxy", "- name: mesh"), ("- name: app", "- name: shop")], LOUD,
                       ["containers[name=app].name: app -> shop",
                        "containers[name=proxy].name: proxy -> mesh"]),
    "a container beside a new one": (
        WEB, [("- name: proxy", "- name: mesh"), ("      volumes:", "        - {name: log}\n      volumes:")],
        LOUD, ["containers[name=proxy].name: proxy -> mesh", "containers: + {name: log}"]),
    "a container, swapped": (
        WEB, [(APP + PROXY, PROXY.replace("name: proxy", "name: mesh") + APP)], LOUD,
        ["containers[name=proxy].name: proxy -> mesh",
         "containers: new order: name=proxy, name=app"]),
    "a variable": (WEB, [("DATABASE_URL", "DB_URL")], ("optional: true", "optional: false"),
                   ["containers[name=app].env[name=DATABASE_URL].name: DATABASE_URL -> DB_URL"]),
    "a volume": (WEB, [("- name: data", "- name: store")], ("readOnly: false", "readOnly: true"),
                 ["volumes[name=data].name: data -> store"]),
    "the numbers of ports": (
        WEB, [("8080", "8081"), ("9090", "9091")], ("hostPort: 90", "hostPort: 91"),
        ["containers[name=app].ports[containerPort=8080,protocol=TCP].containerPort: 8080 -> 8081",
         "containers[name=app].ports[containerPort=9090,protocol=TCP].containerPort: 9090 -> 9091"]),
    "the protocols of ports": (
        WEB, [("TCP", "UDP")], ("hostPort: 90", "hostPort: 91"),
        ["containers[name=app].ports[containerPort=8080,protocol=TCP].protocol: TCP -> UDP",
         "containers[name=app].ports[containerPort=9090,protocol=TCP].protocol: TCP -> UDP"]),
    "a key of a mapping": (VALUES, [("controllerManager", "manager")], ("replicas: 2", "replicas: 3"),
                           ["manager: renamed from controllerManager"]),
    "a key of a mapping, edited": (
        VALUES, [("controllerManager", "manager"), ("8080", "9090")], ("replicas: 2", "replicas: 3"),
        ["manager: renamed from controllerManager", "  manager.port: 8080 -> 9090"]),
    "a resource": (SERVICES, [("name: web\n", "name: front\n")], ("targetPort: http", "targetPort: 8080"),
                   ["Service/front: renamed from web"]),
    "an element of a list that no table knows": (
        GROUPS, [("- name: web", "- name: frontend")], ("for: 10m", "for: 15m"),
        ["spec.groups[name=web].name: web -> frontend"]),
    "an element without a key in an element": (
        GROUPS, [("WebSlow", "WebIsSlow")], ("for: 10m", "for: 15m"),
        ["spec.groups[name=web].rules[1].alert: WebSlow -> WebIsSlow"]),
    "an element without a key": (ROUTES, [("id: beta", "id: delta")], ("timeout: 5", "timeout: 50"),
                                 ["routes[1].id: beta -> delta"]),
}  # fmt: skip


def edited(text: str, *edits: Edit) -> str:
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def told(old: str, new: str) -> list[str]:
    lines = [line for line, _ in change_lines(compare(old.encode(), new.encode(), "a.yaml"))]
    is_named = lines[:1] == ["Deployment/web"]
    return [line.removeprefix("  ").removeprefix(SPEC) for line in lines[1:]] if is_named else lines


@pytest.mark.parametrize("name", RENAMED)
def test_what_a_merge_follows_is_renamed(name: str) -> None:
    base, edits, inside, lines = RENAMED[name]
    new, other = edited(base, *edits), edited(base, inside)
    for sides in ((new, other), (other, new)):
        outcome = merge_files(*(text.encode() for text in (base, *sides)), path="a.yaml")
        assert outcome.clean
        assert outcome.text.decode() == edited(new, inside)
    assert told(base, new) == lines
    back = told(new, base)
    assert len(back) == len(lines)
    assert not [line for line in back if ": - " in line] or name == "a container beside a new one"


def test_what_a_merge_does_not_follow_is_deleted_and_added() -> None:
    """Scalars of a mapping, and an element that has nothing in common with that at its place."""
    labels = "metadata:\n  labels:\n    old: some-value-that-is-long\n    b: x\n"
    assert told(labels, labels.replace("old:", "new:")) == [
        "metadata.labels.new: + some-value-that-is-long",
        "metadata.labels.old: - some-value-that-is-long",
    ]
    beta = '{id: beta, uri: "http://beta.example.com/index", timeout: 6}'
    assert told(ROUTES, ROUTES.replace(beta, "{socket: /run/delta.sock, id: 4}")) == [
        "routes: - {id: beta, uri: http://beta.example.com/index, timeout: 6}, "
        "+ {socket: /run/delta.sock, id: 4}"
    ]


def test_a_label_names_the_fields_of_a_renamed_element() -> None:
    """One side deleted the list, the other renamed two of its elements."""
    at = WEB.index("      containers:")
    gone = WEB[:at] + WEB[WEB.index("      volumes:") :]
    new = edited(WEB, ("- name: proxy", "- name: mesh"), ("- name: app", "- name: shop"))
    (conflict,) = merge_files(WEB.encode(), gone.encode(), new.encode(), path="a.yaml").conflicts
    assert conflict.told == (
        "deleted in ours, 2 of 16 lines changed in theirs: [name=app].name, [name=proxy].name"
    )


def test_a_label_names_a_renamed_key() -> None:
    base = "a:\n" + "".join(f"  {line}\n" for line in VALUES.splitlines())
    new = edited(base, ("controllerManager", "manager"), ("8080", "9090"))
    (conflict,) = merge_files(base.encode(), b"b: 1\n", f"{new}b: 1\n".encode()).conflicts
    assert conflict.told == (
        "deleted in ours, 2 of 7 lines changed in theirs: controllerManager, controllerManager.port"
    )


def test_conflicts_inside_are_where_the_comparison_has_the_element() -> None:
    new = edited(WEB, ("- name: proxy", "- name: mesh"), ("IfNotPresent", "Never"))
    other = edited(WEB, ("IfNotPresent", "Always"))
    (conflict,) = merge_files(*(t.encode() for t in (WEB, new, other)), path="a.yaml").conflicts
    assert conflict.field == f"{SPEC}containers[name=proxy].imagePullPolicy"
    assert told(WEB, new)[1].startswith(conflict.field.removeprefix(SPEC))


def test_elements_behind_an_alias_are_paired_by_key() -> None:
    old = "a: &x [{name: a, v: 1}, {name: b, v: 1}]\nc: *x\n"
    new = "a: &x [{name: b, v: 1}, {name: a, v: 2}]\nc: *x\n"
    order = "new order: name=b, name=a"
    assert told(old, new) == [
        *("a[name=a].v: 1 -> 2", f"a: {order}"),
        *("c[name=a].v: 1 -> 2", f"c: {order}"),
    ]


def test_values_behind_an_alias_have_any_keys() -> None:
    """A key that is too long for JSON's spelling, and values that JSON does not have."""
    text = f"a: &x {{? {'k' * 2000} : [.nan, 1.10], b: %s, c: []}}\nd: {{<<: *x, e: *x}}\n"
    assert told(text % 1, text % 2) == ["a.b: 1 -> 2", "d.b: 1 -> 2", "d.e.b: 1 -> 2"]


def test_lists_in_lists_are_paired_by_their_places() -> None:
    assert told("l: [[1, [2]], [3]]\n", "l: [[4, [5]], [6]]\n") == [
        *("l[0][0]: 1 -> 4", "l[0][1][0]: 2 -> 5", "l[1][0]: 3 -> 6"),
    ]
