"""D71-D74, D77, D79: what a patch names, beside the object that it changes."""

from __future__ import annotations

import pytest
from tables import DEPLOYMENT, Place, as_kubectl, as_kustomize, check, places

from kmerge_git.check.patches.target_checks import is_slip

TARGET = (
    DEPLOYMENT
    + """\
  namespace: shop
spec:
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1}
  template:
    spec:
      securityContext:
        seccompProfile: {type: Localhost, localhostProfile: a.json}
      containers:
      - name: web
        image: example.com/web:1
        env:
        - name: LOG_LEVEL
          value: info
        - name: FROM
          valueFrom:
            secretKeyRef: {name: a, key: b}
        livenessProbe:
          httpGet: {path: /, port: 80}
      - name: side
        image: example.com:5000/side@sha256:12
"""
)
HEAD = DEPLOYMENT + "  namespace: shop\n"  # five lines
PODS = HEAD + "spec:\n  template:\n    spec:\n      containers:\n"  # what follows starts in line 10
WEB = PODS + "      - name: web\n"
ENV = WEB + "        env:\n"  # what follows starts in line 12

FOUND: list[tuple[str, str, list[tuple[Place, str]]]] = [
    ("a container to delete", PODS + "      - name: sied\n        $patch: delete\n", [(("D71", 10, 15), "error")]),
    ("nothing is near", PODS + "      - name: log\n        $patch: delete\n", [(("D71", 10, 15), "warning")]),
    ("an entry to delete", ENV + "        - name: LOGLEVEL\n          $patch: delete\n", [(("D71", 12, 17), "error")]),
    ("a list that is not there", WEB + "        volumeMounts:\n        - mountPath: /a\n          $patch: delete\n", [(("D71", 12, 22), "warning")]),
    ("a container without image", PODS + "      - name: wbe\n        tty: true\n", [(("D72", 10, 15), "error")]),
    ("the image of another", PODS + "      - name: sides\n        image: example.com:5000/side:2\n", [(("D72", 10, 15), "warning")]),
    ("letters swapped", ENV + "        - name: LOG_LEVLE\n          value: debug\n", [(("D72", 12, 17), "warning")]),
    ("nothing to remove", ENV + "        - name: TO\n          value: a\n          valueFrom: null\n", [(("D72", 12, 17), "warning")]),
    ("Recreate", HEAD + "spec:\n  strategy:\n    type: Recreate\n", [(("D74", 8, 5), "error")]),
    ("a second handler", WEB + "        livenessProbe:\n          tcpSocket: {port: 80}\n", [(("D74", 12, 11), "error")]),
    ("a second source", ENV + "        - name: FROM\n          valueFrom:\n            fieldRef: {fieldPath: spec.nodeName}\n", [(("D74", 14, 13), "error")]),
    ("a profile", HEAD + "spec:\n  template:\n    spec:\n      securityContext:\n        seccompProfile:\n          type: RuntimeDefault\n", [(("D74", 11, 11), "error")]),
    ("both in the patch", WEB + "        readinessProbe:\n          exec: {command: [a]}\n          grpc: {port: 80}\n", [(("D74", 13, 11), "error")]),
    ("a level too high", WEB + "        env:\n        - name: FROM\n        $patch: delete\n", [(("D77", 13, 9), "error")]),
]  # fmt: skip
NOTHING = [
    ("what is there", ENV + "        - name: LOG_LEVEL\n          $patch: delete\n"),
    ("a new container", PODS + "      - name: log\n        image: example.com/log:1\n"),
    ("a name like it", ENV + "        - name: LOG_LABEL\n          value: a\n        - name: TO\n          value: b\n"),
    ("the other one stays", PODS + "      - name: wbe\n        image: example.com/web:2\n      - name: web\n        tty: true\n"),
    ("no strategy is left", HEAD + "spec:\n  strategy:\n    type: Recreate\n    rollingUpdate: null\n"),
    ("all of it is replaced", HEAD + "spec:\n  strategy:\n    $patch: replace\n    type: Recreate\n"),
    ("the handler goes", WEB + "        livenessProbe:\n          httpGet: null\n          tcpSocket: {port: 80}\n"),
    ("another handler elsewhere", WEB + "        readinessProbe:\n          tcpSocket: {port: 80}\n"),
    ("the namespace that it has", HEAD + "spec: {replicas: 2}\n"),
]  # fmt: skip


@pytest.mark.parametrize("why, patch, expected", FOUND, ids=[c[0] for c in FOUND])
def test_found(why: str, patch: str, expected: list[tuple[Place, str]]) -> None:
    for found in (as_kubectl(patch, target=TARGET), as_kustomize(patch, resource=TARGET)):
        severities = [f.severity for f in found]
        assert list(zip(places(found), severities, strict=True)) == expected


@pytest.mark.parametrize("why, patch", NOTHING, ids=[c[0] for c in NOTHING])
def test_nothing(why: str, patch: str) -> None:
    assert as_kubectl(patch, target=TARGET) == []
    assert as_kustomize(patch, resource=TARGET) == []


@pytest.mark.parametrize("why, patch, expected", FOUND[:-2], ids=[c[0] for c in FOUND[:-2]])
def test_nobody_knows_the_target(why: str, patch: str, expected: list[tuple[Place, str]]) -> None:
    assert as_kubectl(patch) == []


def test_what_only_kubectl_can_do() -> None:
    retained = HEAD + "spec:\n  strategy:\n    $retainKeys: [type]\n    type: Recreate\n"
    assert as_kubectl(retained, target=TARGET) == []
    assert "D74" in [f.id for f in as_kustomize(retained, resource=TARGET)]
    other = HEAD.replace("namespace: shop", "namespace: prod")
    assert places(as_kubectl(other, target=TARGET)) == [("D73", 5, 14)]
    assert [f.id for f in as_kustomize(other, resource=TARGET)] == ["D69"]
    other = HEAD.replace("name: web", "name: wbe")
    assert places(as_kubectl(other, target=TARGET)) == [("D73", 4, 9)]


def test_another_patch_has_added_it() -> None:
    files = {
        "kustomization.yaml": "resources: [r.yaml]\npatches:\n- path: p.yaml\n- path: q.yaml\n",
        "r.yaml": TARGET,
        "p.yaml": PODS + "      - name: log\n        image: example.com/log:1\n",
        "q.yaml": PODS + "      - name: log\n        tty: true\n",
    }
    assert check(files) == []
    files["p.yaml"] = files["p.yaml"].replace("log", "loki")
    assert places(check(files)) == [("D72", 10, 15)]


def test_what_a_base_has_patched_is_not_known() -> None:
    files = {
        "kustomization.yaml": "resources: [b]\npatches:\n- path: p.yaml\n",
        "p.yaml": PODS + "      - name: log\n        tty: true\n",
        "b/kustomization.yaml": "resources: [r.yaml]\npatches:\n- path: p.yaml\n",
        "b/r.yaml": TARGET,
        "b/p.yaml": HEAD + "spec: {replicas: 2}\n",
    }
    assert check(files) == []


def test_orders() -> None:
    order = (
        "      $setElementOrder/containers:\n      - name: wbe\n      - name:\n      - name: side\n"
    )
    patch = PODS.replace("      containers:\n", order)
    assert places(as_kubectl(patch, target=TARGET)) == [("D79", 10, 15), ("D79", 11, 9)]
    assert (
        as_kubectl(patch.replace("wbe", "web").replace("      - name:\n", ""), target=TARGET) == []
    )
    assert as_kubectl(patch) == []


@pytest.mark.parametrize(
    "word, known, expected",
    [
        ("wbe", "web", True),
        ("lgo", "log", True),
        ("LOG_LEVLE", "LOG_LEVEL", True),
        ("log_level", "LOG_LEVEL", True),
        ("LOG_LEVE", "LOG_LEVEL", True),
        ("LOGG_LEVEL", "LOG_LEVEL", True),
        ("webb", "web", True),
        ("web", "web", False),
        ("HOST", "PORT", False),
        ("web1", "web2", False),
        ("web1", "web", False),
        ("HOST", "HOSTS", False),
        ("HOSTS", "HOST", False),
        ("HOSTA", "HOST", False),
        ("HOSTx", "HOST", True),
        ("api", "app", False),
        ("xweb", "web", False),
    ],
)
def test_slips(word: str, known: str, expected: bool) -> None:
    assert is_slip(word, known) is expected


DELETED = [
    (HEAD + "spec:\n  strategy:\n    type: Recreate\n    rollingUpdate: {$patch: delete}\n", ("D74", 8, 5)),
    (WEB + "        livenessProbe:\n          tcpSocket: {port: 80}\n          httpGet:\n            $patch: delete\n", ("D74", 13, 11)),
    (ENV + "        - name: FROM\n          value: a\n          valueFrom: {$patch: delete}\n", ("D22", 13, 11)),
]  # fmt: skip


@pytest.mark.parametrize("patch, place", DELETED, ids=["strategy", "probe", "env"])
def test_only_kustomize_deletes_the_key_of_a_map(patch: str, place: Place) -> None:
    """Kubectl leaves an empty map behind, which the API server refuses beside the other field."""
    assert as_kustomize(patch, resource=TARGET) == []
    assert as_kustomize(patch) == []
    found = as_kubectl(patch, target=TARGET)
    assert place in places(found)
    assert {f.id for f in found} == {place[0], "D04"}
