"""D10-D22: `$patch` in lists, merge keys, elements."""

from __future__ import annotations

import pytest
from tables import (
    CUSTOM,
    DEPLOYMENT,
    POD_SPEC,
    SERVICE,
    Place,
    as_kubectl,
    as_kustomize,
    check,
    places,
)

CONTAINERS = POD_SPEC + "      containers:\n"  # what follows starts in line 9

KUBECTL: list[tuple[str, str, list[Place]]] = [
    (
        "delete without key",
        CONTAINERS + "      - image: x\n        $patch: delete\n",
        [("D10", 10, 9)],
    ),
    (
        "delete with content",
        CONTAINERS + "      - name: a\n        image: x\n        $patch: delete\n",
        [("D11", 10, 9)],
    ),
    (
        "replace in an element",
        CONTAINERS + "      - name: a\n        image: x\n        $patch: replace\n",
        [("D12", 11, 9)],
    ),
    (
        "replace and delete",
        CONTAINERS + "      - $patch: replace\n      - name: a\n        $patch: delete\n",
        [("D13", 11, 9)],
    ),
    (
        "two markers",
        CONTAINERS
        + "      - $patch: replace\n      - name: a\n        image: x\n      - $patch: replace\n",
        [("D13", 12, 9)],
    ),
    (
        "tolerations",
        POD_SPEC + "      tolerations:\n      - key: a\n        $patch: delete\n",
        [("D14", 10, 9)],
    ),
    (
        "envFrom",
        CONTAINERS + "      - name: a\n        envFrom:\n        - $patch: replace\n",
        [("D14", 11, 11)],
    ),
    ("no key", CONTAINERS + "      - image: x\n", [("D15", 9, 9)]),
    (
        "no key in a replaced list",
        CONTAINERS + "      - $patch: replace\n      - image: x\n",
        [("D15", 10, 9)],
    ),
    ("a volume without name", POD_SPEC + "      volumes:\n      - emptyDir: {}\n", [("D15", 9, 9)]),
    (
        "a mount without path",
        CONTAINERS + "      - name: a\n        volumeMounts:\n        - name: v\n",
        [("D15", 11, 11)],
    ),
    ("a null element", CONTAINERS + "      -\n      - name: a\n", [("D16", 9, 8)]),
    ("a scalar element", CONTAINERS + "      - web\n", [("D16", 9, 9)]),
    ("null later", CONTAINERS + "      - name: a\n      - null\n", [("D16", 10, 9)]),
    (
        "the same key twice",
        CONTAINERS + "      - name: a\n        image: x\n      - name: a\n        image: z\n",
        [("D17", 11, 9)],
    ),
    (
        "deleted and set",
        CONTAINERS + "      - name: a\n        $patch: delete\n      - name: a\n        image: z\n",
        [("D18", 11, 9)],
    ),
    (
        "a quoted port",
        SERVICE + '  ports:\n  - port: "80"\n    targetPort: 8080\n',
        [("D20", 7, 11)],
    ),
    ("a number for a name", CONTAINERS + "      - name: 1\n", [("D20", 9, 15)]),
    (
        "one port, two protocols",
        SERVICE + "  ports:\n  - port: 53\n    protocol: TCP\n  - port: 53\n    protocol: UDP\n",
        [("D17", 9, 5)],
    ),
    (
        "$patch in the list of a custom resource: the patch is refused anyway",
        CUSTOM + "spec:\n  groups:\n  - name: a\n    $patch: delete\n",
        [("D62", 6, 3)],
    ),
]

KUSTOMIZE: list[tuple[str, str, list[Place]]] = [
    ("no key", CONTAINERS + "      - image: x\n", [("D15", 9, 9)]),
    (
        "$patch in the list of a custom resource",
        CUSTOM + "spec:\n  groups:\n  - name: a\n    $patch: delete\n",
        [("D14", 8, 5)],
    ),
]

NOTHING = [
    ("an element to delete", CONTAINERS + "      - name: a\n        $patch: delete\n"),
    (
        "a replaced list",
        CONTAINERS + "      - $patch: replace\n      - name: a\n        image: x\n",
    ),
    ("a marker alone", CONTAINERS + "      - $patch: replace\n"),
    (
        "a list to replace",
        POD_SPEC + "      tolerations:\n      - key: a\n        operator: Exists\n",
    ),
    ("an empty list", POD_SPEC + "      containers: []\n"),
    ("null for a list", POD_SPEC + "      containers: null\n"),
    (
        "a key from an anchor",
        DEPLOYMENT
        + "x: &a {name: web}\n".replace("x", "status")
        + "spec:\n  template:\n    spec:\n      containers:\n      - <<: *a\n        image: x\n",
    ),
    (
        "nested lists",
        CONTAINERS + "      - name: a\n        env:\n        - name: B\n          $patch: delete\n"
        '        - name: C\n          value: "3"\n',
    ),
    (
        "a port to delete with its protocol",
        SERVICE + "  ports:\n  - port: 53\n    protocol: UDP\n    $patch: delete\n",
    ),
    ("words and numbers in args", CONTAINERS + '      - name: a\n        args: [a, "1"]\n'),
    ("quoted name", CONTAINERS + '      - name: "1"\n'),
]


@pytest.mark.parametrize("why, text, expected", KUBECTL, ids=[c[0] for c in KUBECTL])
def test_kubectl(why: str, text: str, expected: list[Place]) -> None:
    found = [p for p in places(as_kubectl(text)) if p[0] != "D68"]
    assert found == expected


@pytest.mark.parametrize("why, text, expected", KUSTOMIZE, ids=[c[0] for c in KUSTOMIZE])
def test_kustomize(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kustomize(text)) == expected


@pytest.mark.parametrize("why, text", NOTHING, ids=[c[0] for c in NOTHING])
def test_nothing(why: str, text: str) -> None:
    assert [p for p in places(as_kubectl(text)) if p[0] != "D68"] == []


BASE = (
    POD_SPEC
    + """\
      containers:
      - name: web
        image: web:1
        env:
        - name: A
          value: "1"
        ports:
        - containerPort: 80
          protocol: TCP
      volumes:
      - name: data
        emptyDir: {}
"""
)


def test_directives_in_a_new_element() -> None:
    patch = (
        CONTAINERS
        + "      - name: new\n        image: m\n        env:\n        - name: Q\n"
        + "          $patch: delete\n"
    )
    assert places(as_kubectl(patch, target=BASE)) == [("D19", 13, 11)]
    assert as_kubectl(patch) == []
    assert places(as_kubectl(patch.replace("name: new", "name: web"), target=BASE)) == [
        ("D71", 12, 17)
    ]


SWITCHED = (
    CONTAINERS
    + """\
      - name: web
        env:
        - name: A
          valueFrom:
            fieldRef:
              fieldPath: spec.nodeName
"""
)


def test_a_map_in_a_new_element_is_one_cause() -> None:
    patch = (
        CONTAINERS + "      - name: new\n        image: m\n        resources:\n"
        "          $patch: replace\n          limits: {cpu: 1}\n"
    )
    assert places(as_kubectl(patch, target=BASE)) == [("D19", 12, 11)]


def test_a_map_that_is_replaced_as_a_whole() -> None:
    patch = (
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: a\nspec:\n"
        "  selector:\n    $patch: delete\n"
    )
    assert places(as_kubectl(patch)) == [("D14", 7, 5)]
    assert as_kustomize(patch) == []


def test_a_switched_value() -> None:
    assert places(as_kustomize(SWITCHED, resource=BASE)) == [("D22", 12, 11)]
    assert places(as_kubectl(SWITCHED, target=BASE)) == [("D22", 12, 11)]
    mended = SWITCHED.replace("- name: A\n", "- name: A\n          value: null\n")
    assert as_kustomize(mended, resource=BASE) == []


def test_an_empty_value_may_stay() -> None:
    assert as_kustomize(SWITCHED, resource=BASE.replace('value: "1"', 'value: ""')) == []
    switched = BASE.replace('value: "1"', "valueFrom: {fieldRef: {fieldPath: spec.nodeName}}")
    patch = CONTAINERS + "      - name: web\n        env:\n        - name: A\n          value: "
    assert as_kustomize(patch + "''\n", resource=switched) == []
    assert places(as_kustomize(patch + "x\n", resource=switched)) == [("D22", 12, 11)]


def test_a_switched_volume() -> None:
    patch = POD_SPEC + "      volumes:\n      - name: data\n        hostPath:\n          path: /d\n"
    [one] = as_kustomize(patch, resource=BASE)
    assert (one.id, one.line, one.column) == ("D22", 10, 9)
    assert "add emptyDir: null" in one.message
    mended = patch + "        emptyDir: null\n"
    assert as_kustomize(mended, resource=BASE) == []
    retained = patch + "        $retainKeys: [name, hostPath]\n"
    assert as_kubectl(retained, target=BASE) == []


PORTS = [
    ("the base has one", "{port: 80, protocol: TCP}", "{port: 80, name: a}", "is TCP in the base; add protocol: TCP"),
    ("the base has two", "{port: 80, protocol: TCP}, {port: 80, protocol: UDP}", "{port: 80}", "is TCP and UDP in the base; add protocol"),
    ("one to delete", "{port: 80, protocol: TCP}", "{port: 80, $patch: delete}", "is TCP in the base; add protocol: TCP"),
    ("the base has none", "{port: 80}, {port: 81}", "{port: 80, protocol: TCP}", "has no protocol in the base; remove it"),
    ("both have none", "{port: 80}, {port: 81, protocol: UDP}", "{port: 80, name: a}", ""),
    ("both have one", "{port: 80, protocol: TCP}", "{port: 80, protocol: TCP, name: a}", ""),
    ("a new port", "{port: 80, protocol: TCP}", "{port: 81}", ""),
    ("a new protocol", "{port: 80, protocol: TCP}", "{port: 80, protocol: UDP}", ""),
]  # fmt: skip


@pytest.mark.parametrize("why, base, patch, words", PORTS, ids=[c[0] for c in PORTS])
def test_ports_are_paired_as_they_are_written(why: str, base: str, patch: str, words: str) -> None:
    found = as_kustomize(
        SERVICE + f"  ports: [{patch}]\n", resource=SERVICE + f"  ports: [{base}]\n"
    )
    assert [(f.id, f.severity, f.line) for f in found] == [("D21", "error", 6)] * bool(words)
    assert all(f.message.endswith(words) for f in found)
    assert as_kustomize(SERVICE + f"  ports: [{patch}]\n") == []  # nobody knows the base
    assert (
        as_kubectl(SERVICE + f"  ports: [{patch}]\n", target=SERVICE + f"  ports: [{base}]\n") == []
    )


def test_a_port_of_a_container() -> None:
    patch = (
        CONTAINERS
        + "      - name: web\n        ports:\n        - containerPort: 80\n          name: h\n"
    )
    assert places(as_kustomize(patch, resource=BASE)) == [("D21", 11, 11)]


def test_the_two_tools_disagree_about_two_protocols() -> None:
    whole = {
        "k-patch.yaml": SERVICE
        + "  ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]\n"
    }
    assert check(whole) == []  # it may be for kustomize
    [one] = as_kubectl(whole["k-patch.yaml"])
    assert one.message.startswith("two elements with port: 53; kubectl treats both as one")
    ports = "  ports: [{port: 53, name: a}, {port: 53, name: b}]\n"
    [two] = as_kustomize(SERVICE + ports)
    assert (two.id, two.severity) == ("D17", "error")
    patch = SERVICE + "  ports:\n  - port: 53\n    protocol: TCP\n  - port: 53\n    protocol: UDP\n"
    assert as_kustomize(patch) == []


def test_a_protocol_that_changes() -> None:
    old = "  - port: 80\n    protocol: TCP\n    $patch: delete\n"
    new = "  - port: 80\n    protocol: UDP\n"
    assert as_kustomize(SERVICE + "  ports:\n" + old + new) == []
    assert as_kubectl(SERVICE + "  ports:\n" + old + new) == []
    both = SERVICE + "  ports:\n" + old + new.replace("UDP", "TCP")
    assert places(as_kustomize(both)) == [("D18", 10, 5)]


def test_severities() -> None:
    twice = CONTAINERS + "      - name: a\n        image: x\n      - name: a\n"
    assert [f.severity for f in as_kubectl(twice)] == ["error"]
    same = as_kubectl(twice + "        image: x\n")
    assert [(f.id, f.severity) for f in same] == [("D17", "warning")]
    set_too = CONTAINERS + "      - name: a\n        $patch: delete\n      - name: a\n"
    assert [(f.id, f.severity) for f in as_kustomize(set_too)] == [("D18", "error")]


MIXED = [
    ("args are replaced as they are", CONTAINERS + "      - name: a\n        args: [b, null]\n"),
    ("the lists of a custom kind", CUSTOM + "spec:\n  a: [{b: c}, null, d]\n"),
]


@pytest.mark.parametrize("why, text", MIXED, ids=[c[0] for c in MIXED])
def test_elements_may_differ(why: str, text: str) -> None:
    assert as_kustomize(text) == []


def test_a_null_among_finalizers() -> None:
    assert places(as_kubectl(DEPLOYMENT + "  finalizers: [a, null]\n")) == [("D16", 5, 19)]


def test_messages_name_the_element() -> None:
    [one] = as_kubectl(CONTAINERS + "      - image: x\n")
    assert one.path == "spec.template.spec.containers[0]"
    assert (
        one.message
        == 'this element lacks "name"; kubectl refuses it, and kustomize loses the other elements'
    )
    [two] = as_kubectl(
        CONTAINERS + "      - name: a\n        envFrom:\n        - $patch: replace\n"
    )
    assert two.path == 'spec.template.spec.containers[name="a"].envFrom'


def test_replace_in_an_element_has_the_effect_of_the_tool() -> None:
    patch = CONTAINERS + "      - name: a\n        image: x\n        $patch: replace\n"
    [for_kubectl] = as_kubectl(patch)
    assert for_kubectl.message.startswith("kubectl replaces the whole list")
    [for_kustomize] = as_kustomize(patch)
    assert for_kustomize.message.startswith("kustomize ignores this whole element")
    [for_both] = check({"p.yaml": patch}, told="patch")
    assert "kubectl replaces the whole list" in for_both.message
    assert "kustomize ignores the element" in for_both.message


def test_replace_in_a_new_element_is_ignored_by_kustomize() -> None:
    patch = CONTAINERS + "      - name: new\n        image: x\n        $patch: replace\n"
    assert as_kustomize(patch, resource=BASE) == []
    assert places(as_kubectl(patch, target=BASE))[:1] == [("D12", 11, 9)]


def test_replace_in_an_element_hides_no_misspelt_key() -> None:
    beside = "      - name: a\n        $patch: replace\n        $pacth: delete\n"
    other = "      - name: b\n        $path: delete\n"
    below = "        env:\n        - name: A\n          $path: delete\n"
    wanted = [("D12", 10, 9), ("D50", 11, 9), ("D50", 13, 9)]
    assert places(as_kubectl(CONTAINERS + beside + other)) == wanted
    assert places(as_kustomize(CONTAINERS + beside + other)) == wanted
    found = as_kustomize(CONTAINERS + beside + below)
    assert places(found) == [*wanted[:2], ("D50", 14, 11)]
