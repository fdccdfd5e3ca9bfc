"""D75, D76: operations of JSON 6902 patches; what kubectl 1.32 and kustomize 5.5 do with each."""

from __future__ import annotations

import pytest
from tables import DEPLOYMENT, Place, check, places

from kmerge_git.finding import Finding

TARGET = (
    DEPLOYMENT
    + """\
  labels: {app: web}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        image: web:1
      - name: side
        image: side:1
"""
)
ENTRY = "resources:\n- r.yaml\npatches:\n- path: p.yaml\n  target: {kind: Deployment, name: web}\n"
IMAGE = "path: /spec/template/spec/containers"
NOTES = "path: /metadata/annotations"


def by_kustomize(patch: str, entry: str = ENTRY) -> list[Finding]:
    return check({"kustomization.yaml": entry, "r.yaml": TARGET, "p.yaml": patch}, "p.yaml")


def by_kubectl(patch: str) -> list[Finding]:
    return check({"p.yaml": patch, "t.yaml": TARGET}, "p.yaml", told="patch", target="t.yaml")


MALFORMED: list[tuple[str, Place]] = [  # refused, but for those with another word behind
    ("- op: Replace\n  path: /spec/replicas\n  value: 1\n", ("D75", 1, 7)),
    ("- op: delete\n  path: /spec/replicas\n", ("D75", 1, 7)),
    ("- op:\n  path: /spec/replicas\n  value: 1\n", ("D75", 1, 3)),
    ("- path: /spec/replicas\n  value: 1\n", ("D75", 1, 3)),
    ("- Op: add\n  path: /spec/replicas\n  value: 1\n", ("D75", 1, 3)),
    ("- op: add\n  value: 1\n", ("D75", 1, 3)),
    ("- op: add\n  Path: /spec/replicas\n  value: 1\n", ("D75", 2, 3)),
    ("- op: add\n  path: [spec, replicas]\n  value: 1\n", ("D75", 2, 9)),
    ("- op: add\n  path: /spec/replicas\n", ("D75", 1, 3)),  # the field becomes null
    ("- op: replace\n  path: /spec/replicas\n  vaule: 1\n", ("D75", 3, 3)),  # the same
    ("- op: test\n  path: /spec/replicas\n", ("D75", 1, 3)),
    ("- op: move\n  path: /spec/replicas\n", ("D75", 1, 3)),
    ("- op: copy\n  form: /spec/replicas\n  path: /spec/paused\n", ("D75", 2, 3)),
    ("- op: add\n  path: spec/replicas\n  value: 1\n", ("D75", 2, 9)),  # lands beside spec
    ("- op: replace\n  path: spec.replicas\n  value: 1\n", ("D75", 2, 9)),
    ("- op: remove\n  path: ''\n", ("D75", 2, 9)),
    ("- op: replace\n  path: /spec/replicas/\n  value: 1\n", ("D75", 2, 9)),
    (f"- op: add\n  {NOTES}/a.b/c\n  value: d\n", ("D75", 2, 9)),
    (f"- op: replace\n  {IMAGE}/-/image\n  value: a\n", ("D75", 2, 9)),
    (f"- op: remove\n  {IMAGE}/-\n", ("D75", 2, 9)),
    ("- op: remove\n  path: /spec/replicas\n- add\n", ("D75", 3, 3)),
]
NOWHERE: list[tuple[str, Place]] = [
    (f"- op: replace\n  {IMAGE}/web/image\n  value: a\n", ("D76", 2, 9)),
    (f"- op: replace\n  {IMAGE}/2/image\n  value: a\n", ("D76", 2, 9)),
    (f"- op: add\n  {IMAGE}/3\n  value: {{name: a}}\n", ("D76", 2, 9)),
    ("- op: replace\n  path: /spec/replcias\n  value: 1\n", ("D76", 2, 9)),
    ("- op: remove\n  path: /spec/paused\n", ("D76", 2, 9)),
    ("- op: add\n  path: /spec/strategy/type\n  value: Recreate\n", ("D76", 2, 9)),
    ("- op: move\n  from: /spec/paused\n  path: /spec/replicas\n", ("D76", 2, 9)),
    ("- op: add\n  path: /spec/replicas/max\n  value: 1\n", ("D76", 2, 9)),
]
NOTHING = [
    "- op: replace\n  path: /spec/replicas\n  value: 3\n",
    "- op: replace\n  path: /spec/paused\n  value: true\n",  # a new field, for both tools
    "- op: remove\n  path: /metadata/labels/app\n",
    f"- op: add\n  {IMAGE}/2\n  value: {{name: a}}\n",
    f"- op: add\n  {IMAGE}/-\n  value: {{name: a}}\n",
    f"- op: replace\n  {IMAGE}/-1/image\n  value: a\n",
    "- op: test\n  path: /spec/replicas\n  value: null\n",
    "- op: test\n  path: /spec/paused\n  value: null\n",  # null is what is found there
    f"- op: add\n  {NOTES}\n  value: {{}}\n- op: add\n  {NOTES}/a.b~1c\n  value: d\n",
    f"- op: remove\n  {IMAGE}/0\n- op: replace\n  {IMAGE}/3/image\n  value: a\n",
    "- op: copy\n  from: /metadata/labels\n  path: /spec/template/metadata\n",
]


NOWHERE += [
    ("- op: test\n  path: /spec/paused\n  value: true\n", ("D76", 2, 9)),
    ("- op: test\n  path: /spec/strategy/type\n  value: null\n", ("D76", 2, 9)),
    (f"- op: test\n  {IMAGE}/2\n  value: null\n", ("D76", 2, 9)),
]


@pytest.mark.parametrize("patch, place", MALFORMED + NOWHERE)
def test_found(patch: str, place: Place) -> None:
    assert places(by_kubectl(patch)) == [place]
    assert places(by_kustomize(patch)) == [place]


@pytest.mark.parametrize("patch", NOTHING)
def test_nothing(patch: str) -> None:
    assert by_kubectl(patch) == []
    assert by_kustomize(patch) == []


def test_kustomize_makes_annotations() -> None:
    patch = f"- op: add\n  {NOTES}/a\n  value: b\n"
    assert places(by_kubectl(patch)) == [("D76", 2, 9)]
    assert by_kustomize(patch) == []


def test_what_fields_of_kustomizations_make() -> None:
    """They act behind `patches`; in a base before them, and before `patchesJson6902`."""
    patch = "- op: add\n  path: /spec/template/metadata/annotations/a\n  value: b\n"
    target = TARGET.replace("template:\n", "template:\n    metadata: {labels: {app: web}}\n")
    files = {"kustomization.yaml": ENTRY, "r.yaml": target, "p.yaml": patch}
    assert places(check(files, "p.yaml")) == [("D76", 2, 9)]
    files["kustomization.yaml"] = ENTRY.replace("patches:", "patchesJson6902:")
    assert check(files, "p.yaml") == []
    base = {"b/kustomization.yaml": "resources: [r.yaml]\n", "b/r.yaml": target, "p.yaml": patch}
    assert check({"kustomization.yaml": ENTRY.replace("r.yaml", "b"), **base}, "p.yaml") == []


def test_inline() -> None:
    holder = "resources:\n- r.yaml\npatches:\n- target:\n    kind: Deployment\n  patch: |-\n"
    entry = holder + "    - op: replce\n      path: /spec/template/spec/containers/web/image\n"
    found = check({"kustomization.yaml": entry + "      value: a\n", "r.yaml": TARGET})
    assert places(found) == [("D75", 7, 11)]
    found = check({"kustomization.yaml": entry.replace("replce", "remove"), "r.yaml": TARGET})
    assert places(found) == [("D76", 8, 13)]


def test_another_patch_comes_first() -> None:
    """What it adds is there when this one is executed."""
    patch = "- op: replace\n  path: /spec/strategy/type\n  value: Recreate\n"
    assert places(by_kustomize(patch)) == [("D76", 2, 9)]
    more = "- target: {kind: Deployment}\n  patch: |\n    - {op: add, path: /spec/strategy, value: {}}\n"
    assert by_kustomize(patch, ENTRY + more) == []
    for_others = ENTRY + more.replace("Deployment", "Deployment, name: other")
    assert places(by_kustomize(patch, for_others)) == [("D69", 6, 3), ("D76", 2, 9)]


def test_a_list_that_nobody_calls_a_patch() -> None:
    assert places(check({"p.yaml": MALFORMED[0][0]})) == [("D75", 1, 7)]
    assert check({"x.yaml": "- op: get\n  name: a\n- op: put\n  name: b\n"}) == []
    assert check({"x.yaml": "- path: /a\n- path: /b\n"}) == []


def test_the_words() -> None:
    [one] = by_kubectl(MALFORMED[1][0])
    assert one.message == (
        '"delete" is not an operation, so the patch is refused; did you mean "remove"?'
    )
    [two] = by_kubectl(MALFORMED[9][0])
    assert (
        two.message
        == 'vaule is ignored, and replace lacks "value", so the field becomes null; write value'
    )


def test_operations_of_a_policy() -> None:
    """A rule of Kyverno says what it patches: no target is needed."""
    policy = (
        "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec:\n  rules:\n"
        "  - name: a\n    mutate:\n      patchesJson6902: |-\n        - op: add\n"
        "          path: /metadata/labels/a\n          value: b\n"
    )
    assert check({"a.yaml": policy}) == []
    assert places(check({"a.yaml": policy.replace("op: add", "op: Add")})) == [("D75", 9, 15)]
    # a variable may stand for anything
    variable = policy.replace("op: add", "op: '{{ x }}'")
    assert check({"a.yaml": variable}) == []
