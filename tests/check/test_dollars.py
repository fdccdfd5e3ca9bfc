"""D70: keys with a `$` that no tool knows; and where directives are at home, or no concern."""

from __future__ import annotations

import pytest
from tables import CUSTOM, DEPLOYMENT, POD_SPEC, Place, as_kubectl, as_kustomize, check, places

CONTAINER = POD_SPEC + "      containers:\n      - name: side\n"  # what follows starts in line 10

IN_PATCHES: list[tuple[str, str, list[Place]]] = [
    ("$delete", CONTAINER + "        $delete: true\n", [("D70", 10, 9)]),
    ("$action", CONTAINER + "        $action: delete\n", [("D70", 10, 9)]),
    ("whatever it is", CONTAINER + "        $foo: bar\n", [("D70", 10, 9)]),
    ("a map", POD_SPEC + "      $remove:\n        hostNetwork: true\n", [("D70", 8, 7)]),
    (
        "a directive misspelt among labels",
        DEPLOYMENT + "  labels:\n    $Patch: replace\n    a: b\n",
        [("D50", 6, 5)],
    ),
    ("an order among labels", DEPLOYMENT + "  labels:\n    $delete: true\n", [("D70", 6, 5)]),
]
NOTHING_IN_PATCHES = [
    ("a directive", CONTAINER + "        $patch: delete\n"),
    ("a user's key", DEPLOYMENT + "  annotations:\n    $foo: bar\n    $path: a\n"),
    ("a custom resource has what it likes", CUSTOM + "spec:\n  $delete: true\n  $match: a\n"),
]
DEPLOYED = (
    DEPLOYMENT
    + """\
  annotations: {$x: y}
spec:
  selector:
    matchLabels: {app: web}
  template:
    spec:
      containers:
      - name: web
        image: web:1
"""
)
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: a
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema: {$ref: b, $schema: c, type: object, default: {$delete: true}}
"""
MANIFESTS: list[tuple[str, str, str, list[Place]]] = [
    ("$path", "d.yaml", DEPLOYED + "        $path: delete\n", [("D70", 14, 9)]),
    ("$delete", "d.yaml", DEPLOYED + "        $delete: true\n", [("D70", 14, 9)]),
    ("an order in a custom resource", "c.yaml", CUSTOM + "spec:\n  a:\n    $path: delete\n", [("D70", 7, 5)]),
    ("values", "charts/web/values-prod.yaml", "web:\n  $patch: delete\n", [("D60", 2, 3)]),
    ("misspelt in values", "values.yaml", "web:\n  env: {$delete: true}\n", [("D70", 2, 9)]),
    ("values of an operator", "web.values.yml", "web:\n  $path: replace\n", [("D70", 2, 3)]),
    ("other words in values", "values.yaml", "$schema: a\ngrafana: {$datasource: b, $match: c, $path: /d}\n", []),
    ("values that are patches", "values.yaml", "extraPatches:\n- web: {$patch: delete}\nkustomize: {a: {$delete: true}}\n", []),
    ("a schema", "a.yaml", CRD, []),
    ("a query", "q.yaml", "find: {$delete: true, $match: {$path: delete}}\n", []),
    ("a custom resource", "c.yaml", CUSTOM + "spec: {$values: a, $match: {b: 1}}\n", []),
    ("patches in a custom resource", "c.yaml", CUSTOM + "spec:\n  overlays:\n  - patches: [{value: {$patch: delete}}]\n", []),
]  # fmt: skip


@pytest.mark.parametrize("why, text, expected", IN_PATCHES, ids=[c[0] for c in IN_PATCHES])
def test_in_patches(why: str, text: str, expected: list[Place]) -> None:
    assert places(as_kubectl(text)) == expected
    assert places(as_kustomize(text)) == expected


@pytest.mark.parametrize("why, text", NOTHING_IN_PATCHES, ids=[c[0] for c in NOTHING_IN_PATCHES])
def test_nothing_in_patches(why: str, text: str) -> None:
    assert as_kubectl(text) == []
    assert as_kustomize(text) == []


@pytest.mark.parametrize("why, path, text, expected", MANIFESTS, ids=[c[0] for c in MANIFESTS])
def test_in_other_files(why: str, path: str, text: str, expected: list[Place]) -> None:
    assert places(check({path: text})) == expected


def test_the_words() -> None:
    messages = [as_kubectl(text)[0].message for _, text, _ in IN_PATCHES[:3]]
    start = " is not a directive and is stored as a field; "
    assert messages == [
        f"$delete{start}did you mean $patch: delete?",
        f"$action{start}did you mean $patch: delete?",
        f"$foo{start}remove it",
    ]


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  sources:
  - helm:
      valueFiles: [$values/web.yaml]
      valuesObject:
        $schema: a
        containers: [{name: web, $datasource: b}]
        extraPatches: [{$patch: delete}]
  - kustomize:
      patches:
      - target: {kind: Deployment}
        patch: |-
          - op: Replace
            path: /spec/replicas
            value: 2
      - patch: |

          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: web}
          spec:
            strategy:
              $path: delete
"""
SET = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n  template:\n"
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web}
spec:
  postBuild: {substitute: {a: $b}}
  patches:
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec: {strategy: {$path: delete}}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  values: {$ref: a, containers: [{name: a, $x: b}], patches: [{$patch: delete}]}
  postRenderers:
  - kustomize:
      patchesJson6902:
      - target: {kind: Deployment}
        patch:
        - op: replace
          path: spec/replicas
          value: 1
      patches:
      - target: {kind: Deployment}
        patch: |
          - op: del
            path: /spec/paused
"""


@pytest.mark.parametrize(
    "text, expected",
    [
        (APPLICATION, [("D75", 16, 17), ("D50", 26, 15)]),
        (SET + APPLICATION.partition("}\n")[2].replace("\n", "\n    ").join(["    ", "\n"]), [("D75", 18, 21), ("D50", 28, 19)]),
        (FLUX, [("D50", 11, 25)]),
        (RELEASE, [("D75", 12, 17), ("D75", 17, 17)]),
    ],
    ids=["Application", "ApplicationSet", "Flux", "HelmRelease"],
)  # fmt: skip
def test_patches_beside_other_dollars(text: str, expected: list[Place]) -> None:
    assert places(check({"app.yaml": text})) == expected


def test_a_patch_that_holds_patches() -> None:
    files = {
        "kustomization.yaml": "resources: [https://x]\npatches:\n- path: p.yaml\n",
        "p.yaml": FLUX,
    }
    assert places(check(files, "p.yaml", select_ids="D50")) == [("D50", 11, 25)]
