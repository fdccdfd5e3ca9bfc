"""D50, D51, D68: keys that are misspelt or not there."""

from __future__ import annotations

import pytest
from tables import CUSTOM, DEPLOYMENT, POD_SPEC, Place, as_kubectl, check, places

STRATEGY = DEPLOYMENT + "spec:\n  strategy:\n"  # what follows starts in line 7

FOUND: list[tuple[str, str, list[Place]]] = [
    ("$path", STRATEGY + "    $path: delete\n", [("D50", 7, 5)]),
    ("$Patch", STRATEGY + "    $Patch: delete\n", [("D50", 7, 5)]),
    ("$retainkeys", STRATEGY + "    $retainkeys: [type]\n    type: R\n", [("D50", 7, 5)]),
    (
        "$setElementsOrder",
        POD_SPEC + "      $setElementsOrder/containers:\n      - a: {b: [null, c]}\n",
        [("D50", 8, 7)],
    ),
    (
        "$deleteFromPrimitivList",
        DEPLOYMENT + "  $deleteFromPrimitivList/finalizers: [a]\n",
        [("D50", 5, 3)],
    ),
    ("quoted", STRATEGY + '    "$path": delete\n', [("D50", 7, 5)]),
    ("retainKeys", STRATEGY + "    retainKeys: [type]\n    type: R\n", [("D51", 7, 5)]),
    (
        "setElementOrder",
        POD_SPEC + "      setElementOrder/containers:\n      - name: a\n",
        [("D51", 8, 7)],
    ),
    (
        "patch: delete",
        POD_SPEC + "      containers:\n      - name: a\n        patch: delete\n",
        [("D51", 10, 9)],
    ),
    (
        "an element without a name because of it",
        POD_SPEC + "      containers:\n      - $pacth: replace\n",
        [("D50", 9, 9)],
    ),
    ("container", POD_SPEC + "      container:\n      - name: a\n", [("D68", 8, 7)]),
    ("at the top", DEPLOYMENT + "sepc:\n  replicas: 1\n", [("D68", 5, 1)]),
    ("nothing like it", STRATEGY + "    whatever: 1\n", [("D68", 7, 5)]),
]

NOTHING = [
    (
        "labels are the user's",
        DEPLOYMENT + "  labels:\n    $path: a\n    patch: delete\n    foo: bar\n",
    ),
    (
        "data is the user's",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  $path: a\n",
    ),
    (
        "a schema",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a\n"
        "spec:\n  versions: null\n",
    ),
    ("all known", STRATEGY + "    type: R\n    rollingUpdate:\n      maxSurge: 1\n"),
    ("a custom resource has any field", CUSTOM + "spec:\n  patch: delete\n  container: 1\n"),
    ("nothing is known about it", "spec:\n  container: 1\n  $ref: a\n  $schema: b\n"),
    ("quantities", POD_SPEC + "      overhead:\n        cpu: 1\n        memory: 2\n"),
]


@pytest.mark.parametrize("why, text, expected", FOUND, ids=[c[0] for c in FOUND])
def test_found(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kubectl(text)) == expected


@pytest.mark.parametrize("why, text", NOTHING, ids=[c[0] for c in NOTHING])
def test_nothing(why: str, text: str) -> None:
    assert as_kubectl(text) == []


def test_messages() -> None:
    [one] = as_kubectl(STRATEGY + "    $path: delete\n")
    assert one.message == "did you mean $patch? $path is stored as a field"
    [two] = as_kubectl(POD_SPEC + "      container:\n      - name: a\n")
    assert (
        two.message
        == 'PodSpec has no field spec.template.spec.container; did you mean "containers"?'
    )
    assert two.severity == "error"


def test_a_misspelt_key_is_not_looked_into() -> None:
    text = STRATEGY + "    $path:\n      $patch: nonsense\n"
    assert places(as_kubectl(text)) == [("D50", 7, 5)]


def test_a_switch_that_a_misspelt_directive_was_to_make() -> None:
    """The second source of the volume follows from the misspelt word, and is not reported."""
    volume = "      - name: v\n        %s: [name, emptyDir]\n        emptyDir: {}\n"
    target = POD_SPEC + "      volumes:\n      - name: v\n        hostPath: {path: /a}\n"
    for word, ids in (("$retainKey", ["D50"]), ("retainKeys", ["D51"]), ("x", ["D22", "D68"])):
        patch = POD_SPEC + "      volumes:\n" + volume % word
        files = {"web-patch.yaml": patch, "target.yaml": target}
        found = check(files, "web-patch.yaml", target="target.yaml")
        assert sorted(one.id for one in found) == ids
