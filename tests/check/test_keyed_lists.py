"""The lists that have keys: by the table, by a CRD that was learned, and in pods of unknown kinds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from tables import CUSTOM, check

from kmerge_git.kube import crds, keytable

DATABASE = """\
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Database}
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              env: &byName
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
              volumes: *byName
              servers:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [host, port]
                items: {properties: {port: {default: 5432}}}
              pools: {type: array, items: {properties: {ports: *byName}}}
              sites: {additionalProperties: {properties: {disks: *byName}}}
              tags: {type: array, x-kubernetes-list-type: set}
              notes: {type: array}
"""


@pytest.fixture
def learned() -> Iterator[None]:
    crds.learn_definition(yaml.safe_load(DATABASE))
    yield
    keytable.know({})


CASES = {
    "env": (
        "  env:\n  - {name: A, value: a}\n  - {name: A, value: b}\n",
        [("M05", 8, "spec.env")],
    ),
    "a value and a reference": (
        "  env:\n  - {name: A, value: a, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}\n",
        [("M08", 7, 'spec.env[name="A"]')],
    ),
    "two sources": (
        "  volumes:\n  - {name: data, emptyDir: {}, hostPath: {path: /data}}\n",
        [("M09", 7, 'spec.volumes[name="data"]')],
    ),
    "two keys, one with a default": (
        "  servers:\n  - {host: a}\n  - {host: a, port: 5432}\n  - {host: a, port: 1}\n",
        [("M06", 8, "spec.servers")],
    ),
    "in the elements of a list": (
        "  pools:\n  - {}\n  - ports: [{name: a}, {name: a}]\n",
        [("M05", 8, "spec.pools[1].ports")],
    ),
    "in the values of a map": (
        "  sites:\n    east:\n      disks: [{name: a}, {name: a}]\n",
        [("M06", 8, "spec.sites.east.disks")],
    ),
    "a set, and a list that declares nothing": ("  tags: [a, a]\n  notes: [{name: a}, {name: a}]\n", []),
}  # fmt: skip


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("why", CASES)
def test_a_learned_kind_has_keyed_lists(why: str) -> None:
    text, expected = CASES[why]
    found = check({"db.yaml": f"{CUSTOM}spec:\n{text}"})
    assert [(f.id, f.line, f.path) for f in found] == expected


def test_nothing_is_known_before() -> None:
    for text, _ in CASES.values():
        assert check({"db.yaml": f"{CUSTOM}spec:\n{text}"}) == []


POD = """\
  template:
    spec:
      containers:
      - name: web
        image: web:1
        env: [{name: A, value: a}, {name: A, value: b}]
"""


@pytest.mark.usefixtures("learned")
def test_a_pod_that_the_crd_does_not_describe_is_found_too() -> None:
    text = f"{CUSTOM}spec:\n  env: [{{name: A}}]\n{POD}"
    assert [(f.id, f.path) for f in check({"db.yaml": text})] == [("M05", "....containers[0].env")]


def test_a_pod_in_a_kind_that_nobody_knows() -> None:
    found = check({"db.yaml": f"{CUSTOM}spec:\n{POD}"})
    assert [(f.id, f.path) for f in found] == [("M05", "....containers[0].env")]
