"""D30-D43: `$setElementOrder`, `$deleteFromPrimitiveList` and `$retainKeys`."""

from __future__ import annotations

import pytest
from tables import DEPLOYMENT, POD_SPEC, Place, as_kubectl, as_kustomize, mapped, places

from kmerge_git.check.run import Run, check_files

META = DEPLOYMENT  # what follows, indented by two, belongs to metadata and starts in line 5
STRATEGY = DEPLOYMENT + "spec:\n  strategy:\n"  # starts in line 7

KUBECTL: list[tuple[str, str, list[Place]]] = [
    ("no field", POD_SPEC + "      $setElementOrder:\n      - name: a\n", [("D30", 8, 7)]),
    ("no slash", META + "  $deleteFromPrimitiveListfinalizers: [a]\n", [("D30", 5, 3)]),
    ("nothing behind the slash", META + "  $deleteFromPrimitiveList/: [a]\n", [("D30", 5, 3)]),
    ("a scalar", META + "  $deleteFromPrimitiveList/finalizers: a\n", [("D31", 5, 40)]),
    ("null deletes", META + "  $deleteFromPrimitiveList/finalizers: null\n", [("D31", 5, 3)]),
    ("null for an order", META + "  $setElementOrder/finalizers:\n", [("D31", 5, 31)]),
    (
        "a misspelt list",
        POD_SPEC + "      $setElementOrder/container:\n      - name: a\n",
        [("D32", 8, 7)],
    ),
    ("no list", STRATEGY + "    $setElementOrder/type: [a]\n", [("D32", 7, 5)]),
    (
        "strings for maps",
        POD_SPEC + "      $setElementOrder/containers:\n      - a\n      - name: b\n",
        [("D33", 9, 9)],
    ),
    (
        "the key is missing, another is there twice",
        POD_SPEC
        + "      $setElementOrder/containers:\n      - image: a\n      - name: b\n      - name: b\n",
        [("D33", 9, 9), ("D33", 11, 9)],
    ),
    (
        "an extra key",
        POD_SPEC + "      $setElementOrder/containers:\n      - name: a\n        image: b\n",
        [("D33", 10, 9)],
    ),
    (
        "not in the order list",
        POD_SPEC
        + "      $setElementOrder/containers:\n      - name: log\n      containers:\n      - name: new\n",
        [("D34", 11, 9)],
    ),
    (
        "another order",
        POD_SPEC + "      $setElementOrder/containers:\n      - name: log\n      - name: side\n"
        "      containers:\n      - name: side\n      - name: log\n",
        [("D34", 13, 9)],
    ),
    (
        "a trailing marker",
        POD_SPEC + "      $setElementOrder/containers:\n      - name: log\n"
        "      containers:\n      - name: log\n      - $patch: replace\n",
        [("D34", 12, 9)],
    ),
    (
        "scalars too",
        META + "  $setElementOrder/finalizers: [a]\n  finalizers: [b]\n",
        [("D34", 6, 16)],
    ),
    (
        "tolerations",
        POD_SPEC + "      $setElementOrder/tolerations:\n      - key: a\n",
        [("D35", 8, 7)],
    ),
    ("empty", POD_SPEC + "      $setElementOrder/containers: []\n", [("D36", 8, 7)]),
    (
        "maps to delete",
        POD_SPEC + "      $deleteFromPrimitiveList/containers:\n      - name: a\n",
        [("D37", 9, 9)],
    ),
    (
        "texts to delete in a list of maps",
        POD_SPEC + "      $deleteFromPrimitiveList/containers: [a]\n",
        [("D37", 8, 45)],
    ),
    (
        "deleted and added",
        META + "  $deleteFromPrimitiveList/finalizers: [a, b]\n  finalizers: [b]\n",
        [("D38", 5, 44)],
    ),
    (
        "a list that is not merged",
        POD_SPEC
        + "      containers:\n      - name: a\n        $deleteFromPrimitiveList/args: [x]\n",
        [("D39", 10, 9)],
    ),
    ("no list to retain", STRATEGY + "    $retainKeys: type\n    type: R\n", [("D40", 7, 5)]),
    ("maps to retain", STRATEGY + "    $retainKeys: [{type: R}]\n", [("D40", 7, 5)]),
    (
        "not listed",
        STRATEGY + "    $retainKeys: [rollingUpdate]\n    type: R\n",
        [("D41", 8, 5)],
    ),
    (
        "the merge key is not listed",
        POD_SPEC
        + "      volumes:\n      - name: v\n        $retainKeys: [emptyDir]\n        emptyDir: {}\n",
        [("D41", 9, 9)],
    ),
    ("nothing is retained", STRATEGY + "    $retainKeys: []\n", [("D42", 7, 5)]),
    (
        "an unknown name",
        STRATEGY + "    $retainKeys: [type, rolingUpdate]\n    type: R\n",
        [("D42", 7, 25)],
    ),
    (
        "on another field",
        POD_SPEC
        + "      securityContext:\n        $retainKeys: [runAsUser]\n        runAsUser: 1\n",
        [("D43", 9, 9)],
    ),
]

NOTHING = [
    (
        "an order",
        POD_SPEC + "      $setElementOrder/containers:\n      - name: a\n      - name: b\n",
    ),
    (
        "an order with its patch",
        POD_SPEC
        + "      $setElementOrder/containers:\n      - name: a\n      - name: b\n      - name: c\n"
        "      containers:\n      - name: a\n      - name: c\n      - name: d\n        $patch: delete\n",
    ),
    ("an order of scalars", META + "  $setElementOrder/finalizers: [b, a]\n  finalizers: [a]\n"),
    ("values to delete", META + "  $deleteFromPrimitiveList/finalizers: [a]\n  finalizers: [b]\n"),
    ("retained", STRATEGY + "    $retainKeys: [type]\n    type: Recreate\n"),
    (
        "null need not be listed",
        STRATEGY + "    $retainKeys: [type]\n    type: R\n    rollingUpdate: null\n",
    ),
    (
        "a volume",
        POD_SPEC
        + "      volumes:\n      - name: v\n        $retainKeys: [name, emptyDir]\n        emptyDir: {}\n",
    ),
]

KUSTOMIZE = [
    ("order", POD_SPEC + "      $setElementOrder/containers:\n      - name: a\n", [("D61", 8, 7)]),
    ("retain", STRATEGY + "    $retainKeys: []\n", [("D61", 7, 5)]),
    ("values to delete", META + "  $deleteFromPrimitiveList/finalizers: a\n", [("D61", 5, 3)]),
]


@pytest.mark.parametrize("why, text, expected", KUBECTL, ids=[c[0] for c in KUBECTL])
def test_kubectl(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kubectl(text)) == expected


@pytest.mark.parametrize("why, text", NOTHING, ids=[c[0] for c in NOTHING])
def test_nothing(why: str, text: str) -> None:
    assert as_kubectl(text) == []


@pytest.mark.parametrize("why, text, expected", KUSTOMIZE, ids=[c[0] for c in KUSTOMIZE])
def test_kustomize(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kustomize(text)) == expected


def test_a_new_map_stores_the_directive() -> None:
    patch = STRATEGY + "    $retainKeys: [type]\n    type: Recreate\n"
    [one] = as_kubectl(patch, target=DEPLOYMENT + "spec:\n  replicas: 1\n")
    assert (one.id, one.severity, one.line) == ("D43", "error", 7)
    assert as_kubectl(patch, target=DEPLOYMENT + "spec:\n  strategy:\n    type: X\n") == []


def test_severities_of_retained_names() -> None:
    def severity(names: str) -> list[str]:
        return [f.severity for f in as_kubectl(STRATEGY + f"    $retainKeys: [{names}]\n")]

    assert severity("") == ["error"]
    assert severity("rolingUpdate") == ["error"]  # what was meant is removed
    assert severity("color") == ["warning"]
    assert severity("type") == []


def test_who_does_not_know_a_directive() -> None:
    text = STRATEGY + "    $retainKeys: [type]\n    type: Recreate\n"

    def severity(tools: str = "", *, target: str = "", told: str = "patch") -> list[str]:
        files = {
            "a-patch.yaml": text.encode(),
            "t.yaml": (DEPLOYMENT + "spec: {strategy: {type: A}}\n").encode(),
        }
        run = Run(mapped(files), told=told, tools=tools, target=target)
        return [f"{f.id} {f.severity}" for f in check_files(["a-patch.yaml"], run)]

    assert severity() == ["D61 warning"]
    assert severity(told="") == []  # no kustomization is near
    assert severity("K") == severity(target="t.yaml") == []
    assert severity("Z") == severity("KZ") == ["D61 error"]
    assert severity("Z", target="t.yaml") == ["D61 error"]


def test_severities_of_order_elements() -> None:
    found = as_kubectl(
        POD_SPEC
        + "      $setElementOrder/containers:\n      - a\n      - name: b\n        image: c\n"
    )
    assert [(f.id, f.severity) for f in found] == [("D33", "error"), ("D33", "info")]


def test_messages() -> None:
    [one] = as_kubectl(POD_SPEC + "      $setElementOrder/container:\n      - name: a\n")
    assert one.message == 'spec has no list "container"; did you mean "containers"?'
    [two] = as_kubectl(KUBECTL[11][1])
    assert two.message == '"new" is missing in $setElementOrder/containers; add it'
    [three] = as_kubectl(KUBECTL[12][1])
    assert three.message == (
        "the order side, log differs from log, side in $setElementOrder/containers"
    )
    [four] = as_kubectl(POD_SPEC + "      $deleteFromPrimitiveList/containers:\n      - name: a\n")
    assert (
        four.message
        == "kubectl would add this element, not delete it; use - {name: a, $patch: delete}"
    )
