"""How lists merge: Kubernetes' kinds, known files, and keys that show themselves."""

import json
from pathlib import Path

import pytest

import kmerge_git.kube
from kmerge_git.kube import keytable
from kmerge_git.kube.listkeys import infer_key, start
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Sequence


def root(text):
    return split(Source(text.encode())).documents[0].root


def of(kind, api="v1", rest=""):
    return root(f"apiVersion: {api}\nkind: {kind}\n{rest}")


def place(where, path):
    for step in path.split("."):
        where = where.items() if step == "[]" else where.child(step)
    return where


def rule(node, path, file=""):
    found = place(start(node, file), path).list_rule()
    keys = ",".join(f"{f}={found.defaults[f]}" if f in found.defaults else f for f in found.fields)
    return f"{found.kind}{':' if keys else ''}{keys}{' ordered' if found.ordered else ''}"


CSV, OLM = "ClusterServiceVersion", "operators.coreos.com/v1alpha1"
POD = "spec.template.spec"
CONTAINER = f"{POD}.containers.[]"


@pytest.mark.parametrize(
    "path, expected",
    [
        (f"{POD}.containers", "keyed:name"),
        (f"{POD}.initContainers", "keyed:name ordered"),
        (f"{POD}.ephemeralContainers", "keyed:name"),
        (f"{POD}.volumes", "keyed:name"),
        (f"{POD}.imagePullSecrets", "keyed:name"),
        (f"{POD}.hostAliases", "keyed:ip"),
        (f"{POD}.tolerations", "atomic"),
        (f"{POD}.topologySpreadConstraints", "keyed:topologyKey,whenUnsatisfiable"),
        (f"{CONTAINER}.env", "keyed:name ordered"),
        (f"{CONTAINER}.envFrom", "atomic"),
        (f"{CONTAINER}.args", "atomic"),
        (f"{CONTAINER}.command", "atomic"),
        (f"{CONTAINER}.ports", "keyed:containerPort,protocol=TCP"),
        (f"{CONTAINER}.volumeMounts", "keyed:mountPath"),
        (f"{CONTAINER}.volumeDevices", "keyed:devicePath"),
        (f"{CONTAINER}.resources.claims", "keyed:name"),
        (f"{POD}.initContainers.[].env", "keyed:name ordered"),
        (f"{POD}.volumes.[].configMap.items", "atomic"),
        (f"{POD}.volumes.[].projected.sources", "atomic"),
        ("metadata.finalizers", "set"),
        ("metadata.ownerReferences", "keyed:uid"),
        ("spec.selector.matchExpressions", "atomic"),
        ("status.conditions", "keyed:type"),
        ("spec.nowhere", "atomic"),
        ("spec.nowhere.below", "atomic"),
    ],
)
@pytest.mark.parametrize("api", ["apps/v1", "apps/v1beta1", "extensions/v1beta1", "apps/v9"])
def test_a_deployment_of_any_version(api, path, expected):
    assert rule(of("Deployment", api), path) == expected


@pytest.mark.parametrize(
    "kind, api, path, expected",
    [
        ("Service", "v1", "spec.ports", "keyed:port,protocol=TCP"),
        ("ServiceAccount", "v1", "secrets", "keyed:name"),
        ("ServiceAccount", "v1", "imagePullSecrets", "atomic"),
        ("Pod", "v1", "spec.containers", "keyed:name"),
        ("CronJob", "batch/v1", f"spec.jobTemplate.{POD}.containers", "keyed:name"),
        ("CronJob", "batch/v1beta1", f"spec.jobTemplate.{CONTAINER}.env", "keyed:name ordered"),
        ("StatefulSet", "apps/v1", "spec.volumeClaimTemplates", "atomic"),
        ("StatefulSet", "apps/v1", "spec.volumeClaimTemplates.[].status.conditions", "keyed:type"),
        ("Ingress", "networking.k8s.io/v1", "spec.rules", "atomic"),
        ("Role", "rbac.authorization.k8s.io/v1", "rules", "atomic"),
        ("RoleBinding", "rbac.authorization.k8s.io/v1", "subjects", "atomic"),
        ("NetworkPolicy", "networking.k8s.io/v1", "spec.ingress", "atomic"),
        ("HorizontalPodAutoscaler", "autoscaling/v2", "spec.metrics", "atomic"),
        ("CustomResourceDefinition", "apiextensions.k8s.io/v1", "spec.versions", "keyed:name"),
        (
            "ValidatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            "webhooks",
            "keyed:name",
        ),
        ("Prometheus", "monitoring.coreos.com/v1", "spec.containers", "infer"),
        (CSV, OLM, "spec.install.spec.clusterPermissions", "keyed:serviceAccountName"),
        (CSV, OLM, "spec.install.spec.permissions", "keyed:serviceAccountName"),
        (CSV, OLM, "spec.install.spec.deployments", "infer"),
        (CSV, OLM, f"spec.install.spec.deployments.[].{CONTAINER}.env", "infer ordered"),
        (CSV, OLM, "spec.permissions", "infer"),
        ("Operator", OLM, "spec.install.spec.permissions", "infer"),
        ("Rollout", "argoproj.io/v1alpha1", f"{CONTAINER}.env", "infer ordered"),
        ("Deployment", "example.com/v1", f"{POD}.containers", "infer"),
        ("Kustomization", "kustomize.toolkit.fluxcd.io/v1", "spec.patches", "infer"),
    ],
)
def test_kinds(kind, api, path, expected):
    assert rule(of(kind, api), path) == expected


def test_values_of_a_map_have_a_definition_too():
    node = of("CustomResourceDefinition", "apiextensions.k8s.io/v1")
    schema = "spec.versions.[].schema.openAPIV3Schema"
    for path in (schema, f"{schema}.properties.spec", f"{schema}.properties.a.properties.b.not"):
        assert rule(node, f"{path}.x-kubernetes-validations") == "keyed:rule"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("properties: {a: {}}\nrequired: [a]\n", "set"),
        ("properties: {}\n", "set"),
        ("required: [a]\n", "infer"),
        ("properties: [a]\nrequired: [a]\n", "infer"),
        ("properties:\nrequired: [a]\n", "infer"),
    ],
)
def test_what_a_schema_requires_is_a_set(text, expected):
    where = start(root("a: 1\n")).child("below").at(root(text))
    assert where.child("required").list_rule().kind == expected
    assert where.child("enum").list_rule().kind == "infer"
    assert where.child("a").child("b").list_rule().kind == "infer"


def test_what_the_schema_of_a_definition_requires_is_a_set():
    node = of("CustomResourceDefinition", "apiextensions.k8s.io/v1")
    where = place(start(node), "spec.versions.[].schema.openAPIV3Schema")
    inner = where.at(root("properties: {a: {}}\n"))
    assert inner.child("required").list_rule().kind == "set"
    assert inner.child("x-kubernetes-validations").list_rule().kind == "keyed"
    assert where.child("required").list_rule().kind == "atomic"
    # a property that is called so
    named = inner.child("properties").at(root("properties: {type: array}\n"))
    assert named.child("required").list_rule().kind == "atomic"


KUSTOMIZATION = "kustomize.config.k8s.io/v1beta1"


@pytest.mark.parametrize(
    "node, file",
    [
        (of("Kustomization", KUSTOMIZATION), ""),
        (of("Component", "kustomize.config.k8s.io/v1alpha1"), "a/b.yaml"),
        (root("resources: [a]\n"), "kustomization.yaml"),
        (root("kind: Kustomization\n"), "deep/in/kustomization.yml"),
        (root("namePrefix: a-\n"), "x/Kustomization"),
    ],
)
def test_kustomizations(node, file):
    for field in [
        "configMapGenerator",
        "secretGenerator",
        "images",
        "replicas",
        "vars",
        "helmCharts",
    ]:
        assert rule(node, field, file) == "keyed:name"
    for field in [
        "resources",
        "components",
        "bases",
        "crds",
        "configurations",
        "patchesStrategicMerge",
    ]:
        assert rule(node, field, file) == "set"
    assert rule(node, "patches", file) == "keyed:path"
    assert rule(node, "configMapGenerator.[].literals", file) == "atomic"


@pytest.mark.parametrize(
    "node, file",
    [
        (root("resources: [a]\n"), "values.yaml"),
        (root("resources: [a]\n"), "my-kustomization.yaml"),
        (of("Thing", "a.io/v1"), "kustomization.yaml"),
        (root("- a\n"), "kustomization.yaml"),
        (None, "x"),
    ],
)
def test_other_files_are_unknown(node, file):
    assert rule(node, "resources", file) == "infer"
    assert rule(node, "a.[].b", file) == "infer"


def test_items_of_a_list_are_resources_of_their_own():
    node = of("List", rest="items:\n- apiVersion: apps/v1\n  kind: Deployment\n")
    assert rule(node, "items") == "resources"
    element = node.get("items").entries[0].value
    inner = place(start(node), "items.[]").at(element)
    assert place(inner, f"{POD}.containers").list_rule().fields == ("name",)


def test_items_of_a_typed_list_need_not_say_their_kind():
    node = of("ServiceList", rest="items: []\n")
    assert rule(node, "items") == "resources"
    assert rule(node, "items.[].spec.ports") == "keyed:port,protocol=TCP"
    assert rule(of("AllowList", "a.io/v1"), "spec.items") == "infer"


def test_objects_of_a_template_are_resources():
    assert rule(of("Template", "template.openshift.io/v1"), "objects") == "resources"


def test_a_resource_inside_a_resource_starts_at_its_own_root():
    node = of("Work", "a.io/v1", "spec:\n  manifest:\n    apiVersion: v1\n    kind: Service\n")
    inner = node.get("spec").get("manifest")
    where = place(start(node), "spec.manifest")
    assert where.child("spec").child("ports").list_rule().kind == "infer"
    assert where.at(inner).child("spec").child("ports").list_rule().kind == "keyed"
    assert where.at(None) is where
    assert where.at(node.get("kind")) is where
    assert where.at(root("kind: a\n")) is where


@pytest.mark.parametrize(
    "kind, path, group",
    [
        ("Deployment", f"{POD}.volumes.[]", {"emptyDir", "configMap"}),
        ("Deployment", f"{CONTAINER}.env.[]", {"value", "valueFrom"}),
        ("Deployment", f"{CONTAINER}.env.[].valueFrom", {"secretKeyRef", "fieldRef"}),
        ("Deployment", f"{CONTAINER}.livenessProbe", {"exec", "httpGet"}),
        ("Thing", "spec.env.[]", {"value", "valueFrom"}),
    ],
)
def test_fields_that_exclude_each_other(kind, path, group):
    (found,) = place(
        start(of(kind, "apps/v1" if kind == "Deployment" else "a.io/v1")), path
    ).exclusive()
    assert all(field in found for field in group)
    assert "name" not in found


def test_other_fields_stand_together():
    assert start(of("Deployment", "apps/v1")).exclusive() == ()
    assert place(start(of("Thing", "a.io/v1")), "spec.strategy").exclusive() == ()


def lists(*texts):
    found = [root(text + "\n") for text in texts]
    assert all(isinstance(node, Sequence) for node in found)
    return found


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["[{name: a}]"], "name"),
        (["[{type: A, name: x}]"], "type"),
        (["[{name: a}]", "[{name: a}, {image: b}]"], None),
        (["[{type: R, name: cpu}, {type: R, name: mem}]"], "name"),
        (["[]", "[{name: a}]", "[{name: b}]"], "name"),
        (["[]", "[]"], None),
        ([], None),
        (["[a, b]"], None),
        (["[{name: a}, b]"], None),
        (["[{name: }]"], None),
        (["[{name: ~}]"], None),
        (["[{name: [a]}]"], None),
        (["[{name: a}, {name: a}]"], None),
        (["[{containerPort: 80}, {containerPort: '80'}]"], None),
        (["[{containerPort: 80}]", "[{containerPort: '80'}]"], "containerPort"),
        (["[{topologyKey: a, name: b}]"], "topologyKey"),
        (["[{mountPath: /a, name: x}, {mountPath: /b, name: x}]"], "mountPath"),
        (["[{name: a}]", "[{ip: a}]"], None),
        (["[&x {name: a}, *x]"], None),
    ],
)
def test_infer_key(texts, expected):
    assert infer_key([made.entries for made in lists(*texts)]) == expected


def test_a_version_without_the_list_does_not_count():
    assert infer_key([(), *(made.entries for made in lists("[{name: a}]"))]) == "name"


def test_the_table_reads_as_json_too():
    path = Path(kmerge_git.kube.__file__).parent / "list_keys.json"
    lines = [line for line in json.loads(path.read_text("utf-8")) if not line.startswith("#")]
    kinds = [line for line in lines if not line[0].isdigit()]
    for version, *words in (line.split(" ") for line in kinds):
        for kind, _, number in (word.partition("=") for word in words):
            assert keytable.root(version, kind) == int(number)
    definitions = lines[len(kinds) :]
    assert min(len(kinds), len(definitions)) > 50
    with pytest.raises(IndexError):
        keytable.fields(len(definitions))
    for number, line in enumerate(definitions):
        told = [(word + "|||").split("|")[:4] for word in line.split(" ")[1:]]
        assert line.split(" ")[0] == str(number)
        assert keytable.fields(number) == {name: tuple(facts) for name, *facts in told}
        for *_, below in told:
            if below:
                assert keytable.fields(int(below.lstrip("[{")))


def test_the_newest_version_stands_in_for_one_that_is_not_listed():
    assert keytable.root("autoscaling/v3", "HorizontalPodAutoscaler") == keytable.root(
        "autoscaling/v2", "HorizontalPodAutoscaler"
    )
    assert keytable.root("v2", "Pod") == keytable.root("v1", "Pod") >= 0
    assert keytable.root("v1", "Po") == keytable.root("a/v1", "Pod") == keytable.root("", "") == -1
