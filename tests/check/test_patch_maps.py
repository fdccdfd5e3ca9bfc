"""D01-D08: `$patch` in mappings."""

from __future__ import annotations

import pytest
from tables import DEPLOYMENT, POD_SPEC, Place, as_kubectl, as_kustomize, places

STRATEGY = DEPLOYMENT + "spec:\n  strategy:\n"  # what follows starts in line 7

KUBECTL: list[tuple[str, str, list[Place]]] = [
    ("an unknown value", STRATEGY + "    $patch: remove\n", [("D01", 7, 5)]),
    ("case counts", STRATEGY + "    $patch: Delete\n", [("D01", 7, 5)]),
    ("a boolean", STRATEGY + "    $patch: true\n", [("D01", 7, 5)]),
    ("null", STRATEGY + "    type: Recreate\n    $patch:\n", [("D01", 8, 5)]),
    ("a list", STRATEGY + "    $patch: [delete]\n", [("D01", 7, 5)]),
    (
        "an unknown value in an element",
        POD_SPEC + "      containers:\n      - name: web\n        $patch: remove\n",
        [("D01", 10, 9)],
    ),
    (
        "in flow style",
        DEPLOYMENT + "spec: {strategy: {$patch: no}}\n",
        [("D01", 5, 19), ("D67", 5, 27)],
    ),
    ("merge", STRATEGY + "    $patch: merge\n    type: Recreate\n", [("D02", 7, 5)]),
    ("merge at the top", "$patch: merge\n" + DEPLOYMENT, [("D02", 1, 1)]),
    (
        "delete with siblings, and an empty map stays",
        STRATEGY + "    $patch: delete\n    type: Recreate\n",
        [("D04", 7, 5), ("D03", 8, 5)],
    ),
    (
        "delete leaves a map",
        STRATEGY + "    rollingUpdate:\n      $patch: delete\n",
        [("D04", 8, 7)],
    ),
    (
        "a null below replace",
        STRATEGY + "    $patch: replace\n    type: Recreate\n    rollingUpdate: null\n",
        [("D05", 9, 5)],
    ),
    (
        "directives below replace, at any depth",
        DEPLOYMENT
        + "spec:\n  template:\n    $patch: replace\n    spec:\n      containers:\n"
        + "      - name: web\n        image: web:1\n        env:\n        - name: A\n"
        + "          $patch: delete\n        resources:\n          $retainKeys: [limits]\n",
        [("D05", 14, 11), ("D05", 16, 11)],
    ),
    (
        "below a replaced list",
        POD_SPEC + "      containers:\n      - $patch: replace\n      - name: web\n"
        "        image: web:1\n        command: null\n",
        [("D05", 12, 9)],
    ),
    ("replace at the top", DEPLOYMENT + "$patch: replace\n", [("D07", 5, 1)]),
    ("delete at the top", "$patch: delete\n" + DEPLOYMENT, [("D07", 1, 1)]),
    (
        "beside $retainKeys",
        STRATEGY + "    $patch: delete\n    $retainKeys: [type]\n",
        [("D04", 7, 5), ("D08", 8, 5)],
    ),
    (
        "replace beside $retainKeys",
        STRATEGY + "    $patch: replace\n    $retainKeys: [type]\n    type: Recreate\n",
        [("D08", 8, 5)],
    ),
]

KUSTOMIZE: list[tuple[str, str, list[Place]]] = [
    ("an unknown value", STRATEGY + "    $patch: remove\n", [("D01", 7, 5)]),
    ("delete of a spec", DEPLOYMENT + "spec:\n  $patch: delete\n", [("D04", 6, 3)]),
    (
        "delete of the pods' spec",
        DEPLOYMENT + "spec: {template: {spec: {$patch: delete}}}\n",
        [("D04", 5, 26)],
    ),
    ("replace at the top", DEPLOYMENT + "$patch: replace\n", [("D07", 5, 1)]),
    ("delete with siblings", STRATEGY + "    $patch: delete\n    type: R\n", [("D03", 8, 5)]),
]

NOTHING_FOR_KUBECTL = [
    ("replace", STRATEGY + "    $patch: replace\n    type: Recreate\n"),
    ("null removes", STRATEGY + "    type: Recreate\n    rollingUpdate: null\n"),
    (
        "an element to delete",
        POD_SPEC + "      containers:\n      - name: a\n        $patch: delete\n",
    ),
    ("an empty replace", STRATEGY + "    $patch: replace\n"),
    ("quoted", STRATEGY + '    "$patch": "replace"\n    type: Recreate\n'),
    ("the words as data", DEPLOYMENT + "  annotations:\n    patch: delete\n    a: $patch\n"),
]

NOTHING_FOR_KUSTOMIZE = [
    ("delete at the top", DEPLOYMENT + "$patch: delete\n"),
    ("merge", STRATEGY + "    $patch: merge\n    type: Recreate\n"),
    ("delete of a map", STRATEGY + "    rollingUpdate:\n      $patch: delete\n"),
    ("null below replace", STRATEGY + "    $patch: replace\n    rollingUpdate: null\n"),
]


@pytest.mark.parametrize("why, text, expected", KUBECTL, ids=[c[0] for c in KUBECTL])
def test_kubectl(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kubectl(text)) == expected


@pytest.mark.parametrize("why, text, expected", KUSTOMIZE, ids=[c[0] for c in KUSTOMIZE])
def test_kustomize(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kustomize(text)) == expected


@pytest.mark.parametrize("why, text", NOTHING_FOR_KUBECTL, ids=[c[0] for c in NOTHING_FOR_KUBECTL])
def test_nothing_for_kubectl(why: str, text: str) -> None:
    assert as_kubectl(text) == []


@pytest.mark.parametrize(
    "why, text", NOTHING_FOR_KUSTOMIZE, ids=[c[0] for c in NOTHING_FOR_KUSTOMIZE]
)
def test_nothing_for_kustomize(why: str, text: str) -> None:
    assert as_kustomize(text) == []


BASE = DEPLOYMENT + "spec:\n  replicas: 1\n"


def test_a_replaced_map_that_the_target_lacks() -> None:
    patch = STRATEGY + "    $patch: replace\n    type: Recreate\n"
    assert places(as_kubectl(patch, target=BASE)) == [("D06", 7, 5)]
    has_it = BASE + "  strategy:\n    type: RollingUpdate\n"
    assert as_kubectl(patch, target=has_it) == []
    assert as_kubectl(patch) == []  # nobody knows the target


def test_nothing_is_left_where_nothing_was() -> None:
    patch = STRATEGY + "    $patch: delete\n"
    assert as_kubectl(patch, target=BASE) == []
    assert places(as_kubectl(patch, target=BASE + "  strategy: {type: A}\n")) == [("D04", 7, 5)]


def test_severities() -> None:
    def severity(text: str) -> list[str]:
        return [f.severity for f in as_kubectl(text)]

    assert severity(STRATEGY + "    $patch: delete\n    $retainKeys: [type]\n") == ["warning"] * 2
    assert severity(DEPLOYMENT + "spec:\n  $patch: delete\n") == ["error"]
    assert severity(STRATEGY + "    $patch: delete\n    type: A\n") == ["warning", "error"]
    assert severity(STRATEGY + "    $patch: replace\n    type: null\n") == ["warning"]
    assert severity(STRATEGY + "    $patch: replace\n    $retainKeys: [a]\n") == ["error"]


def test_messages() -> None:
    [one] = as_kubectl(STRATEGY + "    $patch: remove\n")
    assert one.message == 'spec.strategy: "$patch: remove" is not valid; use replace or delete'
    assert one.path == "spec.strategy"
    assert one.rule == "rule 7: a script passes it to kubectl patch: deploy.sh"
    [two] = as_kubectl(STRATEGY + "    rollingUpdate:\n      $patch: delete\n")
    assert "write rollingUpdate: null" in two.message
