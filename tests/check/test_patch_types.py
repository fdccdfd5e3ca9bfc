"""D78: values of another type than their field has; D68: where a field belongs."""

from __future__ import annotations

import pytest
from tables import CUSTOM, DEPLOYMENT, POD_SPEC, Place, as_kubectl, as_kustomize, check, places

CONTAINER = POD_SPEC + "      containers:\n      - name: web\n"  # what follows starts in line 10
SPEC = DEPLOYMENT + "spec:\n"  # what follows starts in line 6

FOUND: list[tuple[str, str, list[Place]]] = [
    ("a map for a list", CONTAINER + "        env:\n          A: b\n", [("D78", 10, 9)]),
    ("a text for a list", CONTAINER + "        command: a b\n", [("D78", 10, 9)]),
    ("a list for a map", CONTAINER + "        resources: [a]\n", [("D78", 10, 9)]),
    ("a map for a text", CONTAINER + "        image: {a: b}\n", [("D78", 10, 9)]),
    ("a quoted number", SPEC + '  replicas: "3"\n', [("D78", 6, 13)]),
    ("a word for a number", SPEC + "  replicas: three\n", [("D78", 6, 13)]),
    ("a quoted boolean", SPEC + "  paused: 'true'\n", [("D78", 6, 11)]),
    ("a number for a text", CONTAINER + "        env:\n        - name: A\n          value: 80\n", [("D78", 12, 18)]),
    ("a boolean among texts", CONTAINER + "        args: [--a, true, 1.5]\n", [("D78", 10, 21), ("D78", 10, 27)]),
    ("an annotation", DEPLOYMENT + "  annotations:\n    a: true\n", [("D78", 6, 8)]),
    ("a key that is none", CONTAINER.replace("name: web\n", "name: null\n", 2).replace("name: null", "name: web", 1), [("D78", 9, 15)]),
    ("below what is replaced", POD_SPEC + "      containers:\n      - $patch: replace\n      - name: a\n        image: b\n        env: {A: b}\n", [("D78", 12, 9)]),
]  # fmt: skip
NOTHING = [
    ("as they shall be", SPEC + "  replicas: 3\n  paused: true\n"),
    ("one of two types", SPEC + "  strategy:\n    rollingUpdate: {maxSurge: 1, maxUnavailable: 25%}\n"),
    ("quantities", CONTAINER + "        resources: {limits: {cpu: 1, memory: 1Gi}}\n"),
    ("nulls remove", SPEC + "  replicas: null\n  template:\n    spec:\n      containers: null\n"),
    ("placeholders", SPEC + '  replicas: ${REPLICAS}\n  paused: "${PAUSED}"\n'),
    ("placeholders in words", SPEC + "  replicas: REPLICAS\n  paused: placeholder\n  minReadySeconds: __A__\n"),
    ("modes", POD_SPEC + "      volumes:\n      - name: a\n        secret: {secretName: b, defaultMode: 0x1ff}\n"),
    ("quoted texts", CONTAINER + "        env:\n        - name: A\n          value: '80'\n"),
    ("versions and the like", CONTAINER + "        args: [1.2.3, 1m, -a, 10:30, .x, +y]\n"),
    ("a custom resource", CUSTOM + "spec:\n  replicas: '3'\n"),
]  # fmt: skip
MISPLACED = [
    ("  containers: []\n", "spec.template.spec.containers"),
    ("  image: a\n", "spec.template.spec.containers[].image"),
    ("  template:\n    containers: []\n", "spec.template.spec.containers"),
    ("  template:\n    spec:\n      replicas: 2\n", "spec.replicas"),
    ("  maxSurge: 1\n", "spec.strategy.rollingUpdate.maxSurge"),
    ("  template:\n    spec:\n      containers:\n      - name: a\n        volumes: []\n", "spec.template.spec.volumes"),
    ("  template:\n    spec:\n      containers:\n      - name: a\n        runAsUser: 1\n", "spec.template.spec.containers[].securityContext.runAsUser"),
]  # fmt: skip


@pytest.mark.parametrize("why, text, expected", FOUND, ids=[c[0] for c in FOUND])
def test_found(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kubectl(text)) == expected
    assert places(as_kustomize(text)) == expected


@pytest.mark.parametrize("why, text", NOTHING, ids=[c[0] for c in NOTHING])
def test_nothing(why: str, text: str) -> None:
    assert as_kubectl(text) == []
    assert [f.id for f in as_kustomize(text) if f.id not in ("D62", "D67")] == []


@pytest.mark.parametrize("text, right", MISPLACED)
def test_where_it_belongs(text: str, right: str) -> None:
    [one] = as_kubectl(SPEC + text)
    assert (one.id, one.severity) == ("D68", "error")
    assert one.message.endswith(f"; did you mean {right}?")


@pytest.mark.parametrize("field", ["newField", "apiVersion"])
def test_it_belongs_nowhere(field: str) -> None:
    [one] = as_kubectl(SPEC + f"  {field}: '1'\n")
    assert (one.id, one.severity) == ("D68", "warning")
    assert "did you mean" not in one.message


def test_in_manifests() -> None:
    """Only the fields of a pod in the spec of what makes pods."""
    whole = SPEC + "  selector: {}\n  containers:\n  - name: a\n    image: b\n"
    assert places(check({"d.yaml": whole})) == [("D68", 7, 3)]
    [one] = check({"c.yaml": whole.replace("Deployment", "CronJob")})
    assert one.message.endswith("did you mean spec.jobTemplate.spec.template.spec.containers?")
    assert check({"p.yaml": whole.replace("Deployment", "Pod").replace("apps/v1", "v1")}) == []
    assert check({"p.yaml": whole.replace("apps/v1", "example.com/v1")}) == []


def test_the_pods_of_a_patch_without_a_kind() -> None:
    """All workloads have the same; `kubectl patch` has the kind in its command line."""
    patch = "spec:\n  template:\n    spec:\n      containers:\n      - image: a\n        envs: []\n"
    assert places(as_kubectl(patch)) == [("D15", 5, 9), ("D68", 6, 9)]
    assert as_kubectl(patch.replace("  template", "  serviceName: a\n  template")) == []
    assert as_kubectl(patch.replace("containers", "things")) == []
