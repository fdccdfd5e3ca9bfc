"""What makes a file a patch: rules 0 to 11, and the tools that count."""

from __future__ import annotations

import pytest
from tables import CUSTOM, DEPLOYMENT, SERVICE, check, mapped, places

from kmerge_git.check.checked_texts import Book, Page
from kmerge_git.check.patches.patch_verdict import Verdict
from kmerge_git.check.run import Run
from kmerge_git.tree.documents import YamlText

WHOLE = (
    DEPLOYMENT
    + """\
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
PARTIAL = DEPLOYMENT + "spec:\n  replicas: 2\n"
DIRECTIVE = WHOLE + "  strategy:\n    $patch: replace\n    type: Recreate\n"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
JOB = "{containers: [{name: a, image: b}], restartPolicy: Never}"
COMPLETE = [
    WHOLE,
    CONFIG + "data: {a: b}\n",
    SERVICE + "  selector: {app: web}\n  ports: [{port: 80}]\n",
    SERVICE + "  type: ExternalName\n  externalName: example.com\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n",
    f"apiVersion: batch/v1\nkind: Job\nmetadata: {{generateName: a}}\nspec: {{template: {{spec: {JOB}}}}}\n",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a}\n"
    "roleRef: {kind: Role, name: b}\nsubjects: [{kind: User, name: c}]\n",
    "apiVersion: v1\nkind: List\nitems: []\n",
]
JSON_PATCH = "- op: remove\n  path: /spec/replicas\n"


def verdict(files: dict[str, str], path: str, *, told: str = "", script: str = "") -> Verdict:
    run = Run(
        mapped({p: t.encode() for p, t in files.items()}), told=told, script_with=lambda p: script
    )
    run.kustomizations.expect(files)
    return run.verdict(Book(Page(YamlText(files[path].encode(), path))))


CASES: list[tuple[str, dict[str, str], str, tuple[str, int, str]]] = [
    (
        "1: a resource, whatever its name",
        {"web-patch.yaml": PARTIAL, "kustomization.yaml": "resources: [web-patch.yaml]\n"},
        "web-patch.yaml",
        ("manifest", 1, "KZ"),
    ),
    (
        "1: a resource of a kustomization further up",
        {"a/patches/web.yaml": WHOLE, "a/kustomization.yml": "resources: [patches/web.yaml]\n"},
        "a/patches/web.yaml",
        ("manifest", 1, "KZ"),
    ),
    (
        "2: patches with a path",
        {"web.yaml": WHOLE, "kustomization.yaml": "patches:\n- path: ./web.yaml\n"},
        "web.yaml",
        ("patch", 2, "Z"),
    ),
    (
        "2: patchesStrategicMerge with a path, in a Kustomization without suffix",
        {"x/web.yaml": WHOLE, "x/Kustomization": "patchesStrategicMerge:\n- web.yaml\n"},
        "x/web.yaml",
        ("patch", 2, "Z"),
    ),
    (
        "2: named from another folder",
        {"p/web.yaml": WHOLE, "x/kustomization.yaml": "patches:\n- path: ../p/web.yaml\n"},
        "p/web.yaml",
        ("patch", 2, "Z"),
    ),
    (
        "2: of a component",
        {
            "web.yaml": WHOLE,
            "kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
            "patches:\n- path: web.yaml\n",
        },
        "web.yaml",
        ("patch", 2, "Z"),
    ),
    (
        "3: a transformer",
        {
            "web.yaml": WHOLE,
            "t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: web.yaml\n",
            "kustomization.yaml": "transformers: [t.yaml]\n",
        },
        "web.yaml",
        ("patch", 3, "Z"),
    ),
    (
        "4: patchesJson6902",
        {"j.yaml": JSON_PATCH, "kustomization.yaml": "patchesJson6902:\n- path: j.yaml\n"},
        "j.yaml",
        ("JSON 6902", 4, "Z"),
    ),
    ("4: a list of operations", {"web-patch.yaml": JSON_PATCH}, "web-patch.yaml", ("JSON 6902", 4, "KZ")),
    ("6: kubeadm", {"k/etcd0+strategic.yaml": "spec: {}\n"}, "k/etcd0+strategic.yaml", ("patch", 6, "K")),
    ("6: kubeadm, another type", {"k/etcd+json.yaml": "spec: {}\n"}, "k/etcd+json.yaml", ("JSON 6902", 6, "K")),
    (
        "6: strategic is the default, in a folder of patches",
        {"kubeadm-patches/kube-apiserver.yaml": "spec: {}\n"},
        "kubeadm-patches/kube-apiserver.yaml",
        ("patch", 6, "K"),
    ),
    ("8: the name", {"web-patch.yaml": PARTIAL}, "web-patch.yaml", ("patch", 8, "KZ")),
    ("8: the folder", {"patches/web.yml": PARTIAL}, "patches/web.yml", ("patch", 8, "KZ")),
    (
        "8: a file of an overlay that is not listed",
        {"overlays/prod/web.yaml": PARTIAL, "overlays/prod/kustomization.yaml": "resources: [../../base]\n"},
        "overlays/prod/web.yaml",
        ("patch", 8, "KZ"),
    ),
    ("9: a directive in part of an object", {"web.yaml": DIRECTIVE.replace("  selector:\n    matchLabels: {app: web}\n", "")}, "web.yaml", ("patch", 9, "KZ")),
    ("9: a directive in a container without image", {"web.yaml": DIRECTIVE.replace("        image: web:1\n", "")}, "web.yaml", ("patch", 9, "KZ")),
    ("9: a directive in a whole object", {"web.yaml": DIRECTIVE}, "web.yaml", ("manifest", 11, "KZ")),
    ("10: fields of an object", {"web.yaml": "spec:\n  replicas: 2\n"}, "web.yaml", ("patch", 10, "K")),
    ("8: the word in camel case", {"webPatch.yaml": PARTIAL}, "webPatch.yaml", ("patch", 8, "KZ")),
    ("8: the word behind an acronym", {"HTTPPatch.yaml": PARTIAL}, "HTTPPatch.yaml", ("patch", 8, "KZ")),
    ("8: a whole object with a directive", {"web-patch.yaml": DIRECTIVE}, "web-patch.yaml", ("patch", 8, "KZ")),
    ("8: a custom kind with a directive", {"db-patch.yaml": CUSTOM + "spec:\n  $patch: replace\n"}, "db-patch.yaml", ("patch", 8, "KZ")),
    ("8: a null in a ConfigMap", {"patch.yaml": CONFIG + "data: {a: null}\n"}, "patch.yaml", ("patch", 8, "KZ")),
    ("9: a Service without its selector", {"web.yaml": SERVICE + "  ports:\n  - port: 80\n    $patch: delete\n"}, "web.yaml", ("patch", 9, "KZ")),
    ("9: without a kind", {"web.yaml": "spec:\n  $patch: replace\n  a: b\n"}, "web.yaml", ("patch", 9, "KZ")),
    ("11: another word", {"pod-not-patched.yaml": PARTIAL}, "pod-not-patched.yaml", ("manifest", 11, "KZ")),
    ("11: another word in camel case", {"patchedResource.yaml": PARTIAL}, "patchedResource.yaml", ("manifest", 11, "KZ")),
    ("11: a part of a word", {"despatch.yaml": PARTIAL}, "despatch.yaml", ("manifest", 11, "KZ")),
    *(("11: whole, whatever its name", {"a-patch.yaml": text}, "a-patch.yaml", ("manifest", 11, "KZ")) for text in COMPLETE),
    ("11: whole, in an overlay that does not list it", {
        "overlays/prod/web.yaml": WHOLE, "overlays/prod/kustomization.yaml": "resources: [../../base]\n",
    }, "overlays/prod/web.yaml", ("manifest", 11, "KZ")),
    ("11: a part beside a whole object", {"patch.yaml": WHOLE + "---\n" + PARTIAL}, "patch.yaml", ("manifest", 11, "KZ")),
    ("11: a custom kind", {"db-patch.yaml": CUSTOM + "spec: {a: 1}\n"}, "db-patch.yaml", ("manifest", 11, "KZ")),
    ("11: a schema that has directives", {"a.yaml": "spec: {properties: {$patch: {type: string}}}\n"}, "a.yaml", ("manifest", 11, "KZ")),
    ("11: the patches of another tool", {"talos.yaml": "machine:\n  sysctls: {$patch: delete}\n"}, "talos.yaml", ("manifest", 11, "KZ")),
    ("11: words of another program", {"a.yaml": "data: {title: yes}\n"}, "a.yaml", ("manifest", 11, "KZ")),
    ("11: a spec of another program", {"a.yaml": "metadata: {title: a}\nspec: {replicas: 1}\n"}, "a.yaml", ("manifest", 11, "KZ")),
    ("11: a manifest", {"web.yaml": WHOLE}, "web.yaml", ("manifest", 11, "KZ")),
    ("11: values in their folder", {"values/eu.yaml": "spec: {replicas: 1}\n"}, "values/eu.yaml", ("manifest", 11, "KZ")),
    ("11: values of a chart", {"values.yaml": "image: x\nspec: {a: 1}\n"}, "values.yaml", ("manifest", 11, "KZ")),
    ("11: a dispatcher is no patch", {"dispatcher.yaml": WHOLE}, "dispatcher.yaml", ("manifest", 11, "KZ")),
    ("11: a generator in an overlay", {
        "overlays/prod/app.yaml": "spec: {a: b}\n",
        "overlays/prod/kustomization.yaml": "configMapGenerator:\n- name: c\n  files: [conf=app.yaml]\n",
    }, "overlays/prod/app.yaml", ("manifest", 11, "KZ")),
    ("11: a kustomization", {"patches/kustomization.yaml": "resources: [a.yaml]\n"}, "patches/kustomization.yaml", ("manifest", 11, "KZ")),
    ("11: a JSON file with data", {"a.json": '{"data": {"list": [null, {}]}}\n'}, "a.json", ("manifest", 11, "KZ")),
    ("11: another file with patch in its name", {"patch-release.yml": "jobs: {build: {}}\n"}, "patch-release.yml", ("manifest", 11, "KZ")),
]  # fmt: skip


@pytest.mark.parametrize("why, files, path, expected", CASES, ids=[c[0] for c in CASES])
def test_rules(why: str, files: dict[str, str], path: str, expected: tuple[str, int, str]) -> None:
    found = verdict(files, path)
    assert (found.is_a, found.rule, found.tools) == expected


def test_rule_0_the_command_line() -> None:
    files = {"web.yaml": WHOLE, "kustomization.yaml": "resources: [web.yaml]\n"}
    assert verdict(files, "web.yaml", told="patch").is_patch
    assert verdict({"p-patch.yaml": PARTIAL}, "p-patch.yaml", told="manifest").rule == 0


def test_rule_7_a_script() -> None:
    found = verdict({"web.yaml": WHOLE}, "web.yaml", script="deploy.sh")
    assert (found.is_a, found.rule, found.tools) == ("patch", 7, "K")
    assert found.why == "rule 7: a script passes it to kubectl patch: deploy.sh"


INLINE = {
    "2: patches": "patches:\n- patch: |\n    {}\n",
    "2: patchesStrategicMerge": "patchesStrategicMerge:\n- |\n    {}\n",
    "3: a transformer": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npatch: |\n    {}\n",
    "5: Flux": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
    "spec:\n  patches:\n  - patch: |\n    {}\n",
    "5: HelmRelease": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
    "spec:\n  postRenderers:\n  - kustomize:\n      patches:\n      - patch: |\n    {}\n",
    "5: Argo CD": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"
    "spec:\n  source:\n    kustomize:\n      patches:\n      - patch: |\n    {}\n",
}


@pytest.mark.parametrize("name", INLINE)
def test_inline_patches_are_found_where_they_stand(name: str) -> None:
    indent = " " * 12
    patch = "".join(
        f"{indent}{line}\n" for line in (PARTIAL + "  strategy:\n    $path: x\n").splitlines()
    )
    text = INLINE[name].replace("    {}\n", patch)
    path = "kustomization.yaml" if name.startswith("2") else "a.yaml"
    found = [f for f in check({path: text}) if f.id not in ("D69", "D80")]
    line = text[: text.index("$path")].count("\n") + 1
    assert places(found) == [("D50", line, 12 + 4 + 1)]
    assert found[0].excerpt == indent + "    $path: x"
    assert found[0].rule.startswith(f"rule {name[0]}: ")


def test_a_kyverno_rule_has_anchors() -> None:
    text = """\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: a
spec:
  rules:
  - name: b
    mutate:
      patchStrategicMerge:
        spec:
          containers:
          - (name): "*"
            +(imagePullPolicy): Always
            $path: delete
"""
    assert places(check({"policy.yaml": text})) == [("D50", 14, 13)]


def test_patches_as_values_are_no_directives_of_their_holder() -> None:
    text = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1beta1\nkind: Kustomization\nmetadata: {name: a}\n"
        "spec:\n  patchesStrategicMerge:\n  - apiVersion: v1\n    kind: ConfigMap\n"
        "    metadata: {name: c}\n    data: {$patch: replace, a: b}\n"
    )
    assert check({"flux.yaml": text}) == []


def test_the_kind_comes_from_the_target() -> None:
    kustomization = (
        "patches:\n- target: {kind: Deployment, name: web}\n  patch: |\n"
        "    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: any}\n"
        "    spec: {template: {spec: {containers: [{image: x}]}}}\nresources: [https://example.com/a]\n"
    )
    assert places(check({"kustomization.yaml": kustomization})) == [("D15", 7, 43)]


def test_the_kind_comes_from_the_one_resource_of_the_name() -> None:
    files = {
        "web-patch.yaml": "metadata: {name: web}\nspec: {tempalte: {}}\n",
        "kustomization.yaml": "resources: [web.yaml]\n",
        "web.yaml": WHOLE,
    }
    assert places(check(files, "web-patch.yaml")) == [("D68", 2, 8)]
    del files["web.yaml"]
    assert check(files, "web-patch.yaml") == []


def test_kubeadm_patches_are_of_known_kinds() -> None:
    text = "spec:\n  containers:\n  - image: x\n"
    assert places(check({"etcd+strategic.yaml": text})) == [("D15", 3, 5)]
    assert CUSTOM.startswith("apiVersion: example.com")


HIVE = "apiVersion: hive.openshift.io/v1\nkind: %s\nmetadata: {name: s}\nspec:\n  patches:\n  - "
OF_HIVE = "apiVersion: apps/v1\n%skind: Deployment\n%sname: web\n%spatchType: %s\n%spatch: |\n%s"
STRATEGIC = "spec: {template: {spec: {containers: [{image: x}]}}}"
OPERATIONS = "[{op: Replace, path: /spec/replicas, value: 3}]"
HIVE_PATCHES = [
    ("strategic", STRATEGIC, [("D15", 39)]),
    ("strategic", "{spec: {replica: 1}}", [("D68", 9)]),
    ("merge", STRATEGIC, []),
    ("merge", "{spec: {strategy: {$patch: replace}}}", [("D60", 20)]),
    ("merge", "{spec: 1, spec: 2}", [("D66", 11)]),
    ("json", OPERATIONS, [("D75", 7)]),
    ("json", OPERATIONS.replace("Rep", "rep"), []),
    ("strategic", "{{ fromCDLabel `x` }}", []),
    ("merge", "{spec: [", [("D64", 0)]),
]


@pytest.mark.parametrize("kind", ["SyncSet", "SelectorSyncSet", ""])
@pytest.mark.parametrize("patch_type, patch, expected", HIVE_PATCHES)
def test_patches_of_hive(
    kind: str, patch_type: str, patch: str, expected: list[tuple[str, int]]
) -> None:
    """The object, or the entry in a file of its own, is no patch; its inner patch is checked."""
    indent = "    " if kind else ""
    entry = OF_HIVE % (indent, indent, indent, patch_type, indent, f"{indent}  {patch}\n")
    text = (HIVE % kind if kind else "") + entry
    for path in ("web-patch.yaml", "patches/a.yaml", "a.yaml"):
        found = check({path: text})
        line = text.count("\n")
        for one, (id, column) in zip(found, expected, strict=True):
            assert one.id == id
            assert one.rule == f"rule 5: an inline patch of {kind or 'Hive'}"
            assert not column or (one.line, one.column) == (line, len(indent) + 2 + column)
