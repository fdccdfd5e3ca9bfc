"""M01-M13: what a careless merge leaves behind."""

from __future__ import annotations

import pytest
from tables import DEPLOYMENT, SERVICE, Place, check, places

from kmerge_git.check.merges.git_versions import (
    GitVersions,
    MergeVersions,
    changed_without_mac,
)
from kmerge_git.check.page_values import Map, documents
from kmerge_git.check.run import check_text
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
"""  # what follows starts in line 6
CONTAINER = POD + "  containers:\n  - name: web\n    image: web:1\n"  # .. in line 9
ROLLOUT = """\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: web:1
"""  # .. in line 11


def conflict(size: int, middle: str = "") -> str:
    return f"data:\n{'<' * size} HEAD\n  a: 1\n{middle}{'=' * size}\n  a: 2\n{'>' * size} topic\n"


FOUND: list[tuple[str, str, str, list[Place]]] = [
    ("markers", "a.yaml", conflict(7), [("M01", 2, 1), ("M01", 4, 1), ("M01", 6, 1)]),
    ("long markers", "a.yaml", conflict(23), [("M01", 2, 1), ("M01", 4, 1), ("M01", 6, 1)]),
    ("short markers", "a.yaml", conflict(4), [("M01", 2, 1), ("M01", 4, 1), ("M01", 6, 1)]),
    ("with the base", "a.yaml", conflict(7, "||||||| base\n  a: 0\n"), [("M01", 2, 1), ("M01", 4, 1), ("M01", 6, 1), ("M01", 8, 1)]),
    ("one that was overlooked", "a.yaml", "a: 1\n>>>>>>> topic\n", [("M01", 2, 1)]),
    ("in JSON", "a.json", '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}\n', [("M01", 2, 1), ("M01", 4, 1), ("M01", 6, 1)]),
    ("in helpers", "c/templates/_a.tpl", "{{ define `x` }}\n<<<<<<< HEAD\n", [("M01", 2, 1)]),
    ("in notes", "templates/NOTES.txt", "Hello:\n\n<<<<<<< HEAD\n", [("M01", 3, 1)]),
    ("in a template", "templates/a.yaml", "a: {{ .Values.x }}\n<<<<<<< HEAD\n", [("M01", 2, 1)]),
    ("indented", "a.yaml", "a:\n  b: x\n    <<<<<<< HEAD\n    1\n    =======\n    2\n    >>>>>>> b\n", [("M01", 3, 5), ("M01", 5, 5), ("M01", 7, 5)]),
    ("with CRLF", "a.yaml", conflict(7).replace("\n", "\r\n"), [("M01", 2, 1), ("M01", 4, 1), ("M01", 6, 1)]),
    ("a repeated key", "a.yaml", "a: 1\nb: 2\na: 3\n", [("M02", 3, 1)]),
    ("a repeated key in JSON", "a.json", '{"a": {"b": 1, "b": 2}}\n', [("M02", 1, 16)]),
    ("a statement without its end", "a.yaml", "# {{ if .x }} is allowed in here\na: 1\na: 2\n", [("M02", 3, 1)]),
    ("a test of a shell", "kustomization.yaml", "resources:\n- [[ -d a ]] || b\n", [("M10", 2, 15)]),
    ("a template that parses", "templates/a.yaml", "a: {{ .Values.a }}\na: {{ .Values.b }}\n", [("M02", 2, 1)]),
    ("a merge key twice", "a.yaml", DEPLOYMENT + "spec:\n  <<: {a: 1}\n  <<: {b: 2}\n", [("M02", 7, 3)]),
    ("a number and a text of Kubernetes", "a.yaml", DEPLOYMENT + "data:\n  200: a\n  '200': b\n", [("M02", 7, 3)]),
    ("quoted or not, it is one key", "values.yaml", "a:\n  b: 1\n  'b': 2\n", [("M02", 3, 3)]),
    ("a resource twice", "a.yaml", DEPLOYMENT + "---\n" + DEPLOYMENT, [("M03", 6, 1)]),
    ("a resource twice, another version", "a.yaml", DEPLOYMENT + "---\n" + DEPLOYMENT.replace("v1", "v1beta1"), [("M03", 6, 1)]),
    (
        "a resource twice in a list",
        "a.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
        [("M03", 5, 3)],
    ),
    ("a container twice", "a.yaml", CONTAINER + "  - name: web\n    image: web:2\n", [("M05", 9, 5)]),
    ("env twice", "a.yaml", CONTAINER + "    env:\n    - name: A\n      value: x\n    - name: A\n      value: z\n", [("M05", 12, 7)]),
    ("a port twice", "a.yaml", CONTAINER + "    ports:\n    - containerPort: 80\n    - containerPort: 80\n      protocol: TCP\n", [("M05", 11, 7)]),
    ("a volume twice", "a.yaml", CONTAINER + "  volumes:\n  - name: v\n    emptyDir: {}\n  - name: v\n    emptyDir: {}\n", [("M05", 12, 5)]),
    ("a mount twice", "a.yaml", CONTAINER + "    volumeMounts:\n    - {name: a, mountPath: /a}\n    - {name: b, mountPath: /a}\n", [("M05", 11, 7)]),
    ("a service port twice", "a.yaml", SERVICE + "  ports:\n  - port: 80\n  - port: 80\n", [("M05", 8, 5)]),
    ("in a list of objects", "a.yaml", "apiVersion: v1\nkind: List\nitems:\n- " + CONTAINER.replace("\n", "\n  ") + "  - name: web\n", [("M05", 12, 7)]),
    ("in a kind that is not known", "a.yaml", ROLLOUT + "        env:\n        - name: A\n        - name: A\n", [("M05", 13, 11)]),
    ("a spread twice", "a.yaml", CONTAINER + "  topologySpreadConstraints:\n  - {topologyKey: a, whenUnsatisfiable: DoNotSchedule}\n  - {topologyKey: a, whenUnsatisfiable: DoNotSchedule}\n", [("M05", 11, 5)]),
    ("another list with keys", "a.yaml", CONTAINER + "  imagePullSecrets:\n  - name: a\n  - name: a\n", [("M06", 11, 5)]),
    ("an alias without anchor", "a.yaml", "a: 1\nb: *c\n", [("M07", 2, 4)]),
    (
        "value and valueFrom",
        "a.yaml",
        CONTAINER + "    env:\n    - name: A\n      value: x\n      valueFrom:\n        fieldRef: {fieldPath: a}\n",
        [("M08", 12, 7)],
    ),
    ("two sources", "a.yaml", CONTAINER + "  volumes:\n  - name: v\n    emptyDir: {}\n    hostPath:\n      path: /a\n", [("M09", 12, 5)]),
    ("bad indentation", "a.yaml", DEPLOYMENT + "spec:\n  a: 1\n   b: 2\n", [("M10", 7, 5)]),
    ("a tab", "a.yaml", DEPLOYMENT + "spec:\n\ta: 1\n", [("M10", 6, 1)]),
    ("broken JSON", "a.json", '{"apiVersion": "v1", "kind": }}\n', [("M10", 1, 31)]),
    ("a key twice behind a directive", "a.yaml", "a: 1\n...\n%YAML 1.1\n---\nb: 1\nb: 2\n", [("M02", 6, 1)]),
    ("a broken manifest with a placeholder", "a.yaml", DEPLOYMENT + "spec:\n  a: @VERSION@\n   b: 2\n", [("M10", 6, 6)]),
    ("broken by a backtick", "a.yaml", DEPLOYMENT + "spec:\n  a: `x`\n", [("M10", 6, 6)]),
    ("a manifest with comments of JSON", "a.json", '{"apiVersion": "v1"\n  // not for kubectl\n}\n', [("M10", 2, 3)]),
    ("a broken kustomization", "kustomization.yaml", "resources: [\n", [("M10", 1, 13)]),
    ("a resource of a kustomization twice", "kustomization.yaml", "resources:\n- a.yaml\n- b.yaml\n- ./a.yaml\n", [("M13", 4, 3)]),
    ("an image twice", "kustomization.yaml", "images:\n- name: a\n  newTag: x\n- name: a\n  newTag: z\n", [("M13", 4, 3)]),
]  # fmt: skip

NOTHING: list[tuple[str, str, str]] = [
    ("a heading", "a.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    Title\n    =======\n"),
    ("markers inside a text", "a.yaml", "data:\n  a: |\n    <<<<<<< HEAD\n    =======\n    >>>>>>> b\n"),
    ("arrows", "a.yaml", "a: '>>>>>>>'\nb: <<<\n"),
    ("a merge key", "a.yaml", "a: &a {x: 1}\nb:\n  <<: *a\n  x: 2\n"),
    ("the same key in two maps", "a.yaml", "a: {x: 1}\nb: {x: 1}\n"),
    ("another namespace", "a.yaml", DEPLOYMENT + "---\n" + DEPLOYMENT + "  namespace: b\n"),
    ("another group", "a.yaml", DEPLOYMENT + "---\n" + DEPLOYMENT.replace("apps/v1", "example.com/v1")),
    ("without a name", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n"),
    ("two protocols", "a.yaml", SERVICE + "  ports:\n  - {port: 53, protocol: TCP, name: a}\n  - {port: 53, protocol: UDP, name: b}\n"),
    ("an env and an init container", "a.yaml", CONTAINER + "  initContainers:\n  - name: web\n    image: a\n"),
    ("null and valueFrom", "a.yaml", CONTAINER + "    env:\n    - name: A\n      value:\n      valueFrom: {fieldRef: {fieldPath: a}}\n"),
    ("mounts of one volume", "a.yaml", CONTAINER + "    volumeMounts:\n    - {name: a, mountPath: /a}\n    - {name: a, mountPath: /b}\n"),
    ("a Helm template", "a.yaml", DEPLOYMENT + "{{- if .Values.x }}\nspec: {}\n{{- end }}\n"),
    ("helpers that look like YAML", "c/templates/_a.tpl", "a: 1\na: 2\n"),
    ("notes that look like YAML", "templates/NOTES.txt", "Name: a\nName: b\n"),
    ("notes that look like no YAML", "templates/NOTES.txt", "apiVersion: v1\nRun:\n\ta `b`: c: d\n"),
    ("a Helm template that parses", "templates/a.yaml", "a: {{ .Values.a }}\nb: {{ .Values.b }}\n"),
    ("a comment with an action", "a.yaml", "# {{ if .x }}\na: 1\n# {{ else }}\na: 2\n# {{ end }}\n"),
    ("a comment with a Jinja statement", "a.yaml", "# {% if x %}\na: 1\n# {% else %}\na: 2\n# {% endif %}\n"),
    ("ytt", "a.yaml", "#@ if data.values.x:\na: 1\n#@ else:\na: 2\n#@ end\n"),
    ("Velocity", "a.yaml", "#if($x)\na: 1\n#else\na: 2\n#end\n"),
    ("Jinja", "a.yaml", DEPLOYMENT + "{% if x %}\nspec: {}\n{% endif %}\n"),
    ("Jinja in a line", "a.yaml", DEPLOYMENT + "spec: {% if x %}{}{% else %}{a: b}{% endif %}\n"),
    ("ERB", "a.yaml", DEPLOYMENT + "<% if x %>\nspec: {}\n<% end %>\n"),
    ("at signs", "a.yaml", DEPLOYMENT + "spec:\n  a: @VERSION@\n"),
    ("percent signs", "a.yaml", DEPLOYMENT + "spec:\n  a: %VERSION%\n"),
    ("braces", "a.yaml", DEPLOYMENT + "spec:\n  ip: {IPv6}/64\n"),
    ("JSON with comments", "tsconfig.json", '{\n  // strict\n  "a": 1, /* "b": */\n}\n'),
    ("JSON with a comment about a URL", "a.json", '// see\n{"a": "https://example.com//x"}\n'),
    ("several JSON documents", "a.json", '{"apiVersion": "v1"}\n{"apiVersion": "v1"}\n'),
    ("JSON with half a character", "a.json", '{"apiVersion": "v1", "a": "\\ud83d\\ude00"}\n'),
    ("a broken fixture", "tests/fixtures/a.yaml", DEPLOYMENT + "spec:\n  a: 1\n   b: 2\n"),
    ("a fixture with steps", "testdata/a.yaml", DEPLOYMENT + "spec: {}\n---\n" + DEPLOYMENT),
    ("a name that is filled in", "a.yaml", DEPLOYMENT.replace("web", "${A}") + "---\n" + DEPLOYMENT.replace("web", "${A}")),
    ("a name to be written", "a.yaml", DEPLOYMENT.replace("web", "<your-app>") + "---\n" + DEPLOYMENT.replace("web", "<your-app>")),
    ("addresses of two networks", "a.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus:\n  addresses:\n  - {type: InternalIP, address: 10.0.0.1}\n  - {type: InternalIP, address: fd00::1}\n"),
    ("two requests of a claim", "a.yaml", CONTAINER + "    resources:\n      claims:\n      - {name: gpu, request: a}\n      - {name: gpu, request: b}\n"),
    ("an env name that is filled in", "a.yaml", CONTAINER + "    env:\n    - name: '{{ a }}'\n    - name: '{{ a }}'\n"),
    ("merge keys that Ansible takes", "a.yaml", "a: &a {x: 1}\nb: &b {y: 1}\nc:\n  <<: *a\n  <<: *b\n"),
    ("comments in JSON", "package.json", '{"//": "one", "//": "two"}\n'),
    ("a number and a text", "a.yaml", "200: a\n'200': b\n"),
    ("empty value and valueFrom", "a.yaml", CONTAINER + "    env:\n    - name: A\n      value: ''\n      valueFrom: {fieldRef: {fieldPath: a}}\n"),
    ("every source of a volume", "a.yaml", CONTAINER + "  volumes:\n  - {name: v, nfs: {a: b}, rbd: {a: b}, emptyDir: {a: b}, hostPath: {a: b}}\n"),
    ("every source of a value", "a.yaml", CONTAINER + "    env:\n    - name: A\n      value: x\n      valueFrom: {a: {a: b}, b: {a: b}, c: {a: b}, d: {a: b}}\n"),
    ("half of a conflict in a text", "a.yaml", "data:\n  a: >2-\n    <<<<<<< HEAD\n\n      =======\n    =======\n    >>>>>>> b\n"),
    ("an indented line of arrows", "a.yaml", "data:\n  a: b\n    <<<<<<< HEAD\n    >>>>>>> b\n    =======\n"),
    ("other YAML that cannot be parsed", "mkdocs.yml", "nav:\n\t- a\n"),
    ("no YAML", "a.json", "// a comment\n{a: [}\n"),
    ("bytes", "a.yaml", "\0\1"),
    ("nothing", "a.yaml", ""),
    ("a name in other lists", "a.yaml", "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec:\n  env:\n  - name: a\n  - name: a\n"),
    ("generators in two namespaces", "kustomization.yaml", "configMapGenerator:\n- {name: a, namespace: x}\n- {name: a, namespace: z}\n"),
]  # fmt: skip


@pytest.mark.parametrize("why, path, text, expected", FOUND, ids=[c[0] for c in FOUND])
def test_found(why: str, path: str, text: str, expected: list[Place]) -> None:
    assert places(check_text(text.encode(), path)) == expected


@pytest.mark.parametrize("why, path, text", NOTHING, ids=[c[0] for c in NOTHING])
def test_nothing(why: str, path: str, text: str) -> None:
    assert check_text(text.encode(), path) == []


@pytest.mark.parametrize(
    "data", [b"apiVersion: v1\n\xff: 1\n", "apiVersion: v1\n".encode("utf-16")]
)
def test_bytes_that_are_no_text(data: bytes) -> None:
    found = [f.id for f in check_text(data, "a.yaml")]
    assert found == (["M10"] if b"apiVersion" in data else [])


@pytest.mark.parametrize(
    "text",
    [
        '{"' + '\\"' * 100_000,
        "{" + "/*" * 100_000,
        "[[a" * 60_000,
        "{{" * 100_000,
        '{"a":1}\n' * 99_999 + "{",
    ],
    ids=["strings", "comments", "brackets", "braces", "documents"],
)
def test_what_never_ends_is_looked_through_once(text: str) -> None:
    """Such a file is no YAML, and saying so must not take minutes."""
    assert [f.id for f in check_text(text.encode(), "a.json")] == []


@pytest.mark.parametrize(
    "more, listed, severity",
    [("", False, "warning"), ("", True, "error"), ("spec: {}\n", False, "error")],
)
def test_a_resource_that_is_there_twice(more: str, listed: bool, severity: str) -> None:
    """Applied twice, the same thing twice does no harm; kustomize refuses it."""
    files = {"a/web.yaml": f"{DEPLOYMENT}---\n{DEPLOYMENT}{more}"}
    if listed:
        files["a/kustomization.yaml"] = "resources: [web.yaml]\n"
    assert [(f.id, f.severity) for f in check(files)] == [("M03", severity)]


TWICE_IN_JSON = '{"apiVersion": "v1", "kind": "ConfigMap", "a": [1], "a": [%s]}\n'


@pytest.mark.parametrize(
    "text, severity",
    [
        (TWICE_IN_JSON % "1", "info"),
        (TWICE_IN_JSON % "2", "error"),
        ("a: {b: 1}\na: {b: 1}\n", "error"),
    ],
)
def test_equal_values_in_json(text: str, severity: str) -> None:
    """Readers of JSON accept a key twice, and nothing is lost."""
    [one] = check_text(text.encode(), "a.json")
    assert (one.id, one.severity) == ("M02", severity)
    patch = '{"spec": {"replicas": 1}, "spec": {"replicas": 1}}'
    assert [(f.id, f.severity) for f in check({"p.json": patch}, told="patch")] == [("D66", "info")]


@pytest.mark.parametrize("folder", ["fixtures", "a/testdata/b"])
def test_errors_in_folders_of_test_data_are_warnings(folder: str) -> None:
    twice = CONTAINER + "    env:\n    - name: A\n    - name: A\n"
    files = {
        f"{folder}/a.yaml": "a: 1\na: 2\n",
        f"{folder}/b.yaml": twice,
        f"{folder}/c.yaml": f"{DEPLOYMENT}---\n{DEPLOYMENT}spec: {{}}\n",
        f"{folder}/kustomization.yaml": "resources: [b.yaml, c.yaml, c]\n",
        f"{folder}/c/kustomization.yaml": "kind: Component\n",
    }
    found = sorted((f.id, f.severity) for f in check(files))
    assert found == [(id, "warning") for id in ("M02", "M03", "M05", "M14")]
    files = {path.replace(folder, "real"): text for path, text in files.items()}
    found = sorted((f.id, f.severity) for f in check(files))
    assert found == [(id, "error") for id in ("M02", "M03", "M05", "M14")]
    assert check({f"{folder}/a.yaml": conflict(7)})[0].severity == "error"


def test_suites_of_other_tools_may_share_a_name() -> None:
    suite = "apiVersion: %s\nkind: %s\nmetadata: {name: a}\n"
    for api, kind in (
        ("cli.kyverno.io/v1alpha1", "Test"),
        ("chainsaw.kyverno.io/v1alpha1", "Test"),
        ("test.gatekeeper.sh/v1alpha1", "Suite"),
    ):
        one = suite % (api, kind)
        assert check({"a.yaml": f"{one}---\n{one}spec: 1\n"}) == []
    one = suite % ("tests.testkube.io/v3", "Test")
    assert [f.id for f in check({"a.yaml": f"{one}---\n{one}spec: 1\n"})] == ["M03"]


def test_a_port_under_two_names() -> None:
    """The API server takes it, with a warning of its own."""
    ports = "    ports:\n    - {containerPort: 80, name: a}\n    - {containerPort: 80, name: b}\n"
    [one] = check_text((CONTAINER + ports).encode(), "a.yaml")
    assert (one.id, one.severity, one.line) == ("M05", "warning", 11)
    assert one.message == (
        "two elements with containerPort: 80, protocol: TCP in ports and different names; "
        "patches change only one of them"
    )
    [one] = check_text((CONTAINER + ports.replace("b}", "a}")).encode(), "a.yaml")
    assert (one.id, one.severity) == ("M05", "error")


def test_what_a_repeated_key_does() -> None:
    """Where both values are equal nothing is lost."""
    for text, said in (
        ("a: 1\na: 2\n", "duplicate key a; only one of the two values is used"),
        ("a: {b: [1]}\na: {b: [1]}\n", "duplicate key a; many YAML parsers refuse the file"),
        ("a: 1\na: '1'\n", "duplicate key a; only one of the two values is used"),
    ):
        assert [f.message for f in check_text(text.encode(), "a.yaml")] == [said]


def test_both_of_two_merge_keys_count() -> None:
    """PyYAML takes both; the later wins."""
    text = "a: &a {x: 1, z: a}\nb: &b {x: 2}\nc:\n  <<: *a\n  <<: [*b]\n"
    [plain] = documents(YamlText(text.encode()))
    assert isinstance(plain.root, Map)
    merged = plain.root.map("c")
    assert merged is not None
    assert (merged.string("x"), merged.string("z")) == ("2", "a")


def test_the_same_resource_in_two_files() -> None:
    files = {
        "a.yaml": DEPLOYMENT,
        "b/c.yaml": "# moved\n" + DEPLOYMENT,
        "kustomization.yaml": "resources:\n- a.yaml\n- b/c.yaml\n",
    }
    for paths in (list(files), ["kustomization.yaml"], ["a.yaml"]):
        [one] = check(files, *paths)
        assert (one.id, one.file, one.line, one.column) == ("M04", "kustomization.yaml", 3, 3)
        assert (
            one.message
            == "duplicate resource: Deployment/web in line 2 of b/c.yaml is also in a.yaml"
        )
    files["b/c.yaml"] += "  namespace: other\n"
    assert check(files) == []


def test_two_overlays_may_have_the_same_resource() -> None:
    files = {
        f"{name}/{file}": text
        for name in "ab"
        for file, text in (("a.yaml", DEPLOYMENT), ("kustomization.yaml", "resources: [a.yaml]\n"))
    }
    assert check(files) == []


# -- versions in git -----------------------------------------------------------------------------


SOPS = "a: ENC[x]\nmeta:\n  b: 1\nsops:\n  mac: ENC[1]\n  lastmodified: x\n"
SEALED = [
    ("unchanged", SOPS, None),
    ("sealed again", SOPS.replace("b: 1", "b: 2").replace("ENC[1]", "ENC[2]"), None),
    ("a plain value", SOPS.replace("b: 1", "b: 2"), 18),
    ("a new key", SOPS.replace("sops", "c: 1\nsops"), 23),
    ("a key is gone", SOPS.replace("meta:\n  b: 1\n", ""), 0),
    ("only sops itself", SOPS.replace("lastmodified: x", "lastmodified: z"), None),
    ("a comment", "# c\n" + SOPS, None),
]


@pytest.mark.parametrize("why, text, at", SEALED, ids=[c[0] for c in SEALED])
def test_sops(why: str, text: str, at: int | None) -> None:
    found = changed_without_mac(text.encode(), GitVersions(SOPS.encode))
    assert [f.at for f in found] == ([] if at is None else [at])


PARTIAL = SOPS.replace("sops:\n", "sops:\n  mac_only_encrypted: true\n")
RESEALED = SOPS.replace("ENC[x]", "ENC[y]").replace("ENC[1]", "ENC[2]")
IN_MERGES = [
    ("the seal of theirs, as theirs has it", SOPS, RESEALED, RESEALED, False),
    ("the seal of theirs, a plain value of ours", SOPS, RESEALED, RESEALED.replace("b: 1", "b: 2"), True),
    ("a plain value of theirs, with its mac", SOPS, SOPS.replace("b: 1", "b: 2"), SOPS.replace("b: 1", "b: 2"), False),
    ("only encrypted values count", PARTIAL, PARTIAL, PARTIAL.replace("b: 1", "b: 2\nc: 1"), False),
    ("an encrypted value counts", PARTIAL, PARTIAL, PARTIAL.replace("ENC[x]", "ENC[y]"), True),
    ("another document", f"{SOPS}---\n{SOPS}", SOPS, f"{SOPS}---\n{SOPS}".replace("b: 1", "b: 2"), True),
    ("documents", f"{SOPS}---\n{SOPS}", SOPS, f"{SOPS}---\n{SOPS}", False),
    ("decrypted", SOPS, SOPS, "a: x\nmeta:\n  b: 2\n", False),
]  # fmt: skip


@pytest.mark.parametrize("why, ours, theirs, text, found", IN_MERGES, ids=[c[0] for c in IN_MERGES])
def test_sops_in_a_merge(why: str, ours: str, theirs: str, text: str, found: bool) -> None:
    sides = Three[bytes | None](SOPS.encode(), ours.encode(), theirs.encode())
    merge = MergeVersions(sides, text.encode())
    versions = GitVersions(ours.encode, lambda: merge)
    assert bool([*changed_without_mac(text.encode(), versions)]) is found


def test_a_sops_file_has_no_other_findings() -> None:
    assert (
        check_text((SOPS + "kind: A\napiVersion: v1\n$patch: x\n").encode(), "a-patch.yaml") == []
    )
