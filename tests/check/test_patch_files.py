"""D60-D69: files, documents, and what kustomizations say about patches."""

from __future__ import annotations

import pytest
from tables import CUSTOM, DEPLOYMENT, Place, as_kubectl, as_kustomize, check, places

WHOLE = (
    DEPLOYMENT
    + """\
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
"""
)
PATCH = DEPLOYMENT + "spec:\n  replicas: 2\n"

MANIFESTS: list[tuple[str, str, list[Place]]] = [
    ("a directive", WHOLE + "  strategy:\n    $patch: replace\n", [("D60", 10, 5)]),
    ("an order", WHOLE + "  $setElementOrder/x: []\n", [("D60", 9, 3)]),
    ("below data it is executed too", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  $patch: replace\n", [("D60", 5, 3)]),
    ("no directive", WHOLE + "  $ref: a\n  patch: delete\n", []),
    ("a custom kind that holds a patch", CUSTOM + "spec:\n  podPatch:\n    spec: {$patch: replace}\n", []),
    ("a custom kind", CUSTOM + "spec:\n  size: {$patch: replace}\n", [("D60", 6, 10)]),
    ("no object of Kubernetes", "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: {$patch: delete}\n", []),
    ("as a text", WHOLE + "  a: $patch\n", []),
]  # fmt: skip


@pytest.mark.parametrize("why, text, expected", MANIFESTS, ids=[c[0] for c in MANIFESTS])
def test_directives_in_manifests(why: str, text: str, expected: list[Place]) -> None:
    assert places(check({"web.yaml": text})) == expected


def test_custom_resources_for_kubectl() -> None:
    with_list = CUSTOM + "spec:\n  groups:\n  - a\n"
    [one] = as_kubectl(with_list)
    assert (one.id, one.line, one.column, one.severity) == ("D62", 6, 3, "error")
    assert as_kubectl(CUSTOM + "spec:\n  size: 1\n") == []
    both = [("D04", 7, 5), ("D62", 7, 5)]
    assert places(as_kubectl(CUSTOM + "spec:\n  a:\n    $patch: delete\n")) == both
    assert check({"p.yaml": with_list}, told="patch") == []  # it may be for kustomize


DATABASE = (
    CUSTOM
    + """\
spec:
  groups:
  - name: a
    size: 1
    labels: {x: v}
  - name: b
  tags: [p, q]
  hosts: [one.example.com]
  routes:
  - to: {port: 80, path: /a}
  - to: {port: 81}
"""
)
LOSING = [
    ("an element", "  groups:\n  - name: a\n    size: 2\n    labels: {x: z}\n", ['spec.groups[name="b"]']),
    ("a field of an element", "  groups:\n  - name: b\n  - name: a\n    size: 2\n    labels: {}\n", ['spec.groups[name="a"].labels.x']),
    ("all elements", "  groups:\n  - name: c\n", ['spec.groups[name="a"]', 'spec.groups[name="b"]']),
    ("a word", "  tags: [q, r]\n", ['"p" of spec.tags']),
    ("in elements without a name", "  routes:\n  - to: {port: 82}\n", ["spec.routes[0].to.path", "spec.routes[1]"]),
    ("of several lists", "  tags: [p]\n  groups:\n  - name: a\n    size: 1\n    labels: {x: v}\n", ['"q" of spec.tags', 'spec.groups[name="b"]']),
]  # fmt: skip
KEEPING = [
    ("more", "  groups:\n  - name: b\n  - name: c\n  - name: a\n    size: 2\n    labels: {x: z}\n"),
    ("an empty list says what it does", "  groups: []\n"),
    ("so does null", "  groups: null\n"),
    ("other words altogether", "  hosts: [two.example.com]\n"),
    ("another value in place of one", "  routes:\n  - to: {port: 82, path: /b}\n  - to: {port: 83}\n"),
    ("a new list", "  others: [{name: a}]\n"),
    ("no list", "  size: 3\n"),
]  # fmt: skip


@pytest.mark.parametrize("why, patch, lost", LOSING, ids=[c[0] for c in LOSING])
def test_what_a_custom_resource_loses(why: str, patch: str, lost: list[str]) -> None:
    [one] = as_kustomize(CUSTOM + "spec:\n" + patch, resource=DATABASE)
    assert (one.id, one.severity, one.line) == ("D62", "warning", 6)
    assert one.message.endswith("; lost: " + ", ".join(lost))
    with_schema = "openapi:\n  path: https://example.com/schema.json\n"
    assert as_kustomize(CUSTOM + "spec:\n" + patch, resource=DATABASE, more=with_schema) == []
    assert as_kustomize(CUSTOM + "spec:\n" + patch) == []  # nobody knows the target


@pytest.mark.parametrize("why, patch", KEEPING, ids=[c[0] for c in KEEPING])
def test_a_custom_resource_that_loses_nothing(why: str, patch: str) -> None:
    assert as_kustomize(CUSTOM + "spec:\n" + patch, resource=DATABASE) == []


def test_elements_that_no_name_tells_apart() -> None:
    two = CUSTOM + "spec:\n  rules:\n  - {name: a, to: 1, x: z}\n  - {name: a, from: 2}\n"
    assert as_kustomize(two, resource=two) == []
    more = two.replace("  rules:\n", "  rules:\n  - {name: a, to: 3}\n")
    assert as_kustomize(more, resource=two) == []
    [one] = as_kustomize(two, resource=more)
    assert one.message.endswith("; lost: spec.rules[0]")


def test_of_many_losses_some_are_named() -> None:
    tags = ", ".join(f"t{n}" for n in range(9))
    target = CUSTOM + f"spec:\n  tags: [{tags}]\n"
    [one] = as_kustomize(CUSTOM + "spec:\n  tags: [t0]\n", resource=target)
    assert one.message.endswith('"t5" of spec.tags and 3 more')


IDENTITY = [
    ("no kind", "apiVersion: v1\nmetadata: {name: a}\n", "without kind "),
    (
        "no apiVersion",
        "kind: ConfigMap\nmetadata: {name: a}\n",
        "without apiVersion kustomize finds no ",
    ),
    ("no name", "apiVersion: v1\nkind: ConfigMap\n", "without metadata.name "),
    ("nothing", "spec: {}\n", "without apiVersion and kind and metadata.name "),
]


@pytest.mark.parametrize("why, text, begin", IDENTITY, ids=[c[0] for c in IDENTITY])
def test_kustomize_wants_an_identity(why: str, text: str, begin: str) -> None:
    [one] = as_kustomize(text)
    assert (one.id, one.line, one.column) == ("D63", 1, 1)
    assert one.message.startswith(begin)


def test_with_a_target_the_api_version_may_be_missing() -> None:
    target = "  target: {kind: Deployment, name: web}\n"
    patch = "  patch: |\n    kind: Deployment\n    metadata: {name: any}\n"
    text = f"patches:\n-{target[1:]}{patch}resources: [https://x]\n"
    assert check({"kustomization.yaml": text}) == []


def test_a_target_does_not_replace_the_identity() -> None:
    text = "patches:\n- target: {kind: Deployment}\n  patch: |\n    spec:\n      replicas: 2\nresources: [https://x]\n"
    assert places(check({"kustomization.yaml": text})) == [("D63", 4, 5)]


REMOTE = "resources: [https://example.com/a]\n"
TARGET = "  target: {kind: Deployment, name: web}\n"
REFUSED = [
    ("empty", "patches:\n- path: p.yaml\n", "", "empty"),
    ("only comments", "patches:\n- path: p.yaml\n", "# nothing\n", "empty"),
    ("no operation", "patches:\n- path: p.yaml\n" + TARGET, "[]\n", "operations is empty"),
    ("several with a target", "patches:\n- path: p.yaml\n" + TARGET, PATCH + "---\n" + PATCH, "several documents"),
    ("a JSON patch without target", "patches:\n- path: p.yaml\n", "- op: remove\n  path: /a\n", "without a target"),
]  # fmt: skip


@pytest.mark.parametrize("why, kustomization, patch, words", REFUSED, ids=[c[0] for c in REFUSED])
def test_refused_patches(why: str, kustomization: str, patch: str, words: str) -> None:
    files = {"kustomization.yaml": kustomization + REMOTE, "p.yaml": patch}
    [one] = check(files)
    assert (one.id, one.file, one.line) == ("D64", "kustomization.yaml", 2)
    assert words in one.message
    [alone] = check(files, "p.yaml")
    assert (alone.id, alone.file, alone.line) == ("D64", "p.yaml", 1)


def test_both_path_and_patch() -> None:
    files = {
        "kustomization.yaml": "patches:\n- path: p.yaml\n  patch: |\n    " + REMOTE + REMOTE,
        "p.yaml": PATCH,
    }
    assert [f.id for f in check(files, "kustomization.yaml")][:1] == ["D64"]


def test_allowed_patches() -> None:
    for kustomization, patch in (
        ("patches:\n- path: p.yaml\n", PATCH + "---\n" + PATCH.replace("web", "b")),
        ("patches:\n- path: p.yaml\n" + TARGET, "- op: remove\n  path: /spec\n"),
        ("patches:\n- path: p.yaml\n" + TARGET, PATCH),
    ):
        files = {"kustomization.yaml": kustomization + REMOTE, "p.yaml": patch}
        assert check(files) == []


def test_several_documents_for_kubectl() -> None:
    text = "spec:\n  replicas: 1\n---\nspec:\n  replicas: 2\n"
    assert places(as_kubectl(text)) == [("D65", 4, 1)]
    assert [f.severity for f in as_kubectl(text)] == ["error"]
    assert as_kubectl("---\n" + PATCH) == []
    assert as_kubectl(PATCH + "---\n# nothing\n") == []
    assert places(as_kubectl("---\n# nothing\n---\n" + PATCH)) == [("D65", 4, 1)]
    assert check({"a-patch.yaml": PATCH + "---\n" + PATCH}) == []  # it may be for kustomize
    assert as_kustomize(PATCH + "---\n" + PATCH) == []


def test_repeated_keys() -> None:
    text = PATCH + "  replicas: 3\n"
    assert places(as_kubectl(text)) == [("D66", 7, 3)]
    assert places(check({"web.yaml": WHOLE + "  replicas: 3\n"})) == [("M02", 9, 3)]
    assert places(check({"web.yaml": WHOLE + "  replicas: 3\n"}, select_ids="D")) == [("D66", 9, 3)]
    assert places(check({"w-patch.yaml": text}, select_ids="M")) == [("M02", 7, 3)]


def test_keys_that_are_repeated_on_purpose() -> None:
    """Also where only checks of directives are chosen, as the hook kmerge-directives does."""
    text = "a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: *a\n  <<: *b\n"
    assert check({"tasks.yaml": text}) == []
    assert check({"tasks.yaml": text}, select_ids="D") == []


WORDS = [
    ("yes", 'kubectl reads true, kustomize "yes"; quote it'),
    ("n", 'kubectl reads false, kustomize "n"; quote it'),
    ("Off", 'kubectl reads false, kustomize "Off"; quote it'),
    ("2020-01-31", 'kubectl reads the string "2020-01-31", kustomize a time; quote it'),
]  # fmt: skip


@pytest.mark.parametrize("word, message", WORDS)
def test_words(word: str, message: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: " + word + "\n"
    [one] = check({"p.yaml": text}, told="patch")
    assert (one.id, one.line, one.column, one.severity) == ("D67", 5, 6, "warning")
    assert one.message == message
    resource = {"a.yaml": text, "kustomization.yaml": "resources: [a.yaml]\n"}
    assert [f.id for f in check(resource)] == ["D67"]
    assert check({"a.yaml": text}) == []  # no kustomization reads it
    assert check({"p.yaml": text.replace(word, f'"{word}"')}, told="patch") == []
    wrong = as_kustomize if "2020" in word else as_kubectl
    right = as_kubectl if "2020" in word else as_kustomize
    assert [(f.id, f.severity) for f in wrong(text)] == [("D67", "error")]
    assert right(text) == []


@pytest.mark.parametrize(
    "word",
    [
        "true",
        "null",
        "~",
        "0",
        "10",
        "1.5",
        "yesterday",
        "0o17",
        "v1",
        "2020-01",
        "10-20-30",
        "0777",
        "010",
        "2020-01-31T10:00:00Z",
        "2020-13-01",
        "2020-01-32",
    ],
)
def test_words_that_all_read_alike(word: str) -> None:
    assert as_kubectl(f"metadata: {{name: a}}\ndata:\n  a: {word}\n") == []


WRITTEN = ["a: yes", "a: [b, no]", "a: {b: on}", "a:\n  - off", "a: y # why", "- n",
           "? a\n: NO", "a: 2020-1-2", "a: [2020-01-01]"]  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_words_are_found_however_they_are_written(text: str) -> None:
    patch = "metadata: {name: a}\nspec:\n  x:\n" + "".join(f"    {x}\n" for x in text.split("\n"))
    assert "D67" in [f.id for f in check({"p.yaml": patch}, told="patch")]


def test_words_that_mean_the_same_where_they_stand() -> None:
    paused = DEPLOYMENT + "spec:\n  paused: yes\n"
    assert as_kubectl(paused) == []  # a boolean is what it takes
    assert [(f.id, f.severity) for f in as_kustomize(paused)] == [("D67", "error")]
    assert as_kustomize(DEPLOYMENT + "  annotations: {a: 2020-01-01}\n") == []
    assert [f.id for f in as_kustomize(DEPLOYMENT + "  labels: {a: 2020-01-01}\n")] == ["D67"]
    custom = CUSTOM + "spec: {a: yes}\n"
    assert [(f.id, f.severity) for f in as_kustomize(custom)] == [("D67", "warning")]
    volume = "spec:\n  template:\n    spec:\n      volumes:\n      - name: a\n        configMap: {defaultMode: 0644}\n"
    assert as_kustomize(DEPLOYMENT + volume) == []


def test_a_field_that_is_not_there_may_be_removed() -> None:
    odd = DEPLOYMENT + "spec: {size: 1}\n"
    assert as_kubectl("spec: {size: null}\n", target=odd) == []
    assert [f.id for f in as_kubectl("spec: {sizes: null}\n", target=odd)] == ["D68"]


def test_a_patch_may_change_the_version() -> None:
    old = "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {maxReplicas: 2}\n"
    assert as_kubectl("apiVersion: autoscaling/v2\nspec: {metrics: []}\n", target=old) == []
    assert [f.id for f in as_kubectl("spec: {metrics: []}\n", target=old)] == ["D68"]


def test_a_version_that_is_gone() -> None:
    ingress = (
        "kind: Ingress\nmetadata: {name: a}\nspec: {backend: {serviceName: a, servicePort: 80}}\n"
    )
    for version, ids in (("extensions/v1beta1", []), ("networking.k8s.io/v1", ["D68"])):
        assert [f.id for f in as_kubectl(f"apiVersion: {version}\n{ingress}")] == ids
    old = DEPLOYMENT.replace("apps/v1", "apps/v1beta2")
    spec = "spec:\n  template:\n    spec:\n      containers:\n      - image: a\n"
    assert [f.id for f in as_kubectl(old + spec)] == ["D15"]


def test_deprecated_fields() -> None:
    files = {"kustomization.yaml": REMOTE + "patchesStrategicMerge:\n- p.yaml\n", "p.yaml": PATCH}
    [one] = check(files)
    assert (one.id, one.severity, one.line) == ("D80", "info", 2)


BASE = {
    "kustomization.yaml": "resources: [web.yaml]\npatches:\n- path: p.yaml\n",
    "web.yaml": WHOLE,
}
LOST = [
    ("another name", BASE | {"p.yaml": PATCH.replace("web", "wep")}, ("D69", 4, 3)),
    ("another kind", BASE | {"p.yaml": PATCH.replace("Deployment", "StatefulSet")}, ("D69", 2, 1)),
    (
        "a target that selects nothing",
        BASE | {"p.yaml": PATCH, "kustomization.yaml": "resources: [web.yaml]\npatches:\n- path: p.yaml\n"
                "  target: {kind: Deployment, name: b.*}\n"},
        ("D69", 3, 3),
    ),
    (
        "in a base",
        {"a/web.yaml": WHOLE, "a/kustomization.yaml": "resources: [web.yaml]\n", "b/p.yaml": PATCH.replace("web", "x"),
         "b/kustomization.yaml": "resources: [../a]\npatches:\n- path: p.yaml\n"},
        ("D69", 4, 3),
    ),
]  # fmt: skip


@pytest.mark.parametrize("why, files, place", LOST, ids=[c[0] for c in LOST])
def test_a_patch_for_nothing(why: str, files: dict[str, str], place: Place) -> None:
    [one] = check(files)
    assert (one.id, one.line, one.column) == place
    assert one.message.startswith("no resource ")
    assert " in this kustomization" in one.message or " in " + one_of(files) in one.message


def one_of(files: dict[str, str]) -> str:
    """The kustomization that names the patch."""
    return next(name for name, text in files.items() if "path: p.yaml" in text)


FOUND = [
    ("by name", BASE | {"p.yaml": PATCH}),
    ("a namespace from a base", {
        "a/web.yaml": WHOLE, "a/kustomization.yaml": "namespace: a\nresources: [web.yaml]\n",
        "b/p.yaml": PATCH.replace("name: web", "name: web\n  namespace: a"),
        "b/kustomization.yaml": "resources: [../a]\npatches:\n- path: p.yaml\n"}),
    ("in the namespace that is meant without one", BASE | {"p.yaml": PATCH.replace("name: web", "name: web\n  namespace: default")}),
    ("by a pattern", BASE | {"p.yaml": PATCH, "kustomization.yaml": "resources: [web.yaml]\npatches:\n- path: p.yaml\n"
                             "  target: {kind: Deploy.*, name: w.b}\n"}),
    ("with the prefix of a base", {
        "a/web.yaml": WHOLE, "a/kustomization.yaml": "namePrefix: dev-\nresources: [web.yaml]\n",
        "b/p.yaml": PATCH.replace("web", "dev-web"),
        "b/kustomization.yaml": "resources: [../a]\npatches:\n- path: p.yaml\n"}),
    ("a generated one", {
        "kustomization.yaml": "configMapGenerator: [{name: c}]\npatches:\n- path: p.yaml\n",
        "p.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"}),
    ("something cannot be seen", BASE | {
        "kustomization.yaml": "resources: [web.yaml, https://x]\npatches:\n- path: p.yaml\n",
        "p.yaml": PATCH.replace("web", "x")}),
    ("a component patches what others have", BASE | {
        "kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: p.yaml\n",
        "p.yaml": PATCH}),
    ("a list of objects", BASE | {
        "web.yaml": "apiVersion: v1\nkind: List\nitems:\n- " + WHOLE.replace("\n", "\n  ").rstrip(" "),
        "p.yaml": PATCH}),
]  # fmt: skip


@pytest.mark.parametrize("why, files", FOUND, ids=[c[0] for c in FOUND])
def test_a_patch_that_fits(why: str, files: dict[str, str]) -> None:
    assert check(files) == []
