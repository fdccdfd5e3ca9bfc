"""`kmerge patch` and `kmerge make-patch`: files in, files out, every error on one line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kmerge_git.cli.main import main

PROBES = Path(__file__).parent.parent / "patch" / "vectors" / "smp_probes.json"
CASES = {case["id"]: case for case in json.loads(PROBES.read_text("utf-8"))["cases"]}
# kubectl's error there needs to know every field; the built-in schema takes the field as plain.
PLAIN_HERE = {"seo_unknown_field", "unknown_field_existing_map", "unknown_field_existing_list"}

DEPLOYMENT = """\
# the web
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # its name
spec:
  replicas: 2
  template:
    spec:
      containers:
      # main
      - name: nginx
        image: "nginx:1"   # pinned
      - {name: side, image: side:1}
"""
HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
PATCH = """\
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: nginx
        image: nginx:2
      - name: side
        $patch: delete
"""
PATCHED = """\
# the web
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # its name
spec:
  replicas: 3
  template:
    spec:
      containers:
      # main
      - name: nginx
        image: "nginx:2"   # pinned
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: ClusterIP
"""
FOO = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: f}\nspec:\n  list: [1, 2]\n  a: 1\n"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder with files; the commands run inside."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, text in {"d.yaml": DEPLOYMENT, "p.yaml": PATCH, "foo.yaml": FOO}.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "all.yaml").write_text(DEPLOYMENT + "---\n# a service\n" + SERVICE, "utf-8")
    return tmp_path


def test_a_patch_changes_what_it_says_and_nothing_else(world, capsys):
    assert main(["patch", "d.yaml", "--patch", "p.yaml"]) == 0
    assert capsys.readouterr().out == PATCHED
    assert (world / "d.yaml").read_text("utf-8") == DEPLOYMENT


def test_in_place_and_to_a_file(world, capsys):
    assert main(["patch", "d.yaml", "--patch", "p.yaml", "-o", "out.yaml"]) == 0
    assert (world / "out.yaml").read_text("utf-8") == PATCHED
    assert main(["patch", "d.yaml", "--patch", "p.yaml", "--in-place"]) == 0
    assert (world / "d.yaml").read_text("utf-8") == PATCHED
    assert capsys.readouterr().out == ""


def test_line_ends_and_a_missing_last_newline_stay(world):
    before = DEPLOYMENT.rstrip("\n").replace("\n", "\r\n").encode()
    (world / "d.yaml").write_bytes(before)
    assert main(["patch", "d.yaml", "-p", '{"spec": {"replicas": 3}}', "--in-place"]) == 0
    assert (world / "d.yaml").read_bytes() == before.replace(b"replicas: 2", b"replicas: 3")


def test_a_patch_that_changes_nothing_changes_no_byte(world):
    assert (
        main(["patch", "all.yaml", "-p", '{"spec": {}}', "--object", "Service/web", "-o", "o"]) == 0
    )
    assert (world / "o").read_bytes() == (world / "all.yaml").read_bytes()


def test_dry_run_shows_a_diff_and_writes_nothing(world, capsys):
    assert main(["patch", "d.yaml", "-p", "p.yaml", "--in-place", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "\n-  replicas: 2\n+  replicas: 3\n" in shown
    assert "\x1b[" not in shown
    assert main(["patch", "d.yaml", "-p", "p.yaml", "--dry-run", "--color", "always"]) == 0
    assert "\x1b[31m-  replicas: 2\x1b[0m" in capsys.readouterr().out
    assert (world / "d.yaml").read_text("utf-8") == DEPLOYMENT


def test_json_is_printed_as_kubectl_prints_it(world, capsys):
    assert (
        main(["patch", "foo.yaml", "--type", "merge", "-p", '{"spec": {"a": null}}', "-o", "json"])
        == 0
    )
    shown = capsys.readouterr().out
    assert shown.startswith('{\n    "apiVersion": "example.com/v1",\n    "kind": "Foo",\n')
    assert json.loads(shown)["spec"] == {"list": [1, 2]}


def test_a_json_file_stays_json(world, capsys):
    text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}, indent=2)
    (world / "c.json").write_text(text + "\n", "utf-8")
    assert main(["patch", "c.json", "-p", '{"data": {"a": "2"}}']) == 0
    assert capsys.readouterr().out == text.replace('"1"', '"2"') + "\n"


def test_a_custom_resource_needs_the_type_merge(world, capsys):
    assert main(["patch", "foo.yaml", "-p", '{"spec": {"list": [3]}}', "--type", "merge"]) == 0
    assert "list: [3]" in capsys.readouterr().out
    assert main(["patch", "foo.yaml", "-p", "{}"]) == 2
    assert capsys.readouterr().err.splitlines()[0] == (
        "kmerge: foo.yaml:1:1: strategic merge patch is not supported for "
        "example.com/v1, Kind=Foo locally, try --type merge"
    )


def test_the_patch_names_its_object_among_many(world, capsys):
    named = "kind: Service\nmetadata: {name: web}\nspec: {type: NodePort}\n"
    (world / "s.yaml").write_text(
        named + "---\n" + named.replace("NodePort", "LoadBalancer"), "utf-8"
    )
    assert main(["patch", "all.yaml", "-p", "s.yaml"]) == 0
    assert capsys.readouterr().out == DEPLOYMENT + "---\n# a service\n" + SERVICE.replace(
        "ClusterIP", "LoadBalancer"
    )


@pytest.mark.parametrize(
    "options, why",
    [
        (["all.yaml", "-p", "p.yaml"], "the file has 2 objects, and the patch has no kind and name"),
        (["all.yaml", "-p", "p.yaml", "--object", "Pod/x"], "Pod/x matches no object in the file; the file has Deployment/web, Service/web"),
        (["all.yaml", "-p", "p.yaml", "--object", "x"], "--object x is not KIND/NAME"),
        (["d.yaml", "-p", '{"kind": "Deployment", "metadata": {"name": "z"}}'], "Deployment/z matches no object in the file"),
        (["d.yaml", "-p", "p.yaml", "-o", "x", "--in-place"], "--in-place and -o cannot be used together"),
        (["-", "-p", "-"], "only one of the files can be stdin"),
        (["d.yaml", "-p", '[{"op": "remove", "path": "/spec"}]'], "--patch: JSON 6902 patches are not supported; write a strategic"),
        (["d.yaml", "-p", "ops.yaml"], "ops.yaml: JSON 6902 patches are not supported; "),
        (["nope.yaml", "-p", "p.yaml"], "directory; check its name and permissions"),
        (["d.yaml", "-p", "p.yaml", "--schema", "d.yaml", "--type", "merge", "--tool", "kustomize"], "--tool needs a strategic"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(world, capsys, options, why):
    (world / "ops.yaml").write_text("- op: remove\n  path: /spec\n")
    assert main(["patch", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("kmerge: ")
    assert why in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(
    "patch, place, why",
    [
        ("spec:\n  $patch: nope\n", "1:1: spec", "unknown patch type: nope in map: map[$patch:nope]"),
        ("spec:\n  template:\n    spec:\n      containers:\n      - image: x\n", "5:9: spec.template.spec.containers[0]", "map: map[image:x] does not contain declared merge key: name"),
        ("spec:\n  template:\n    spec:\n      containers:\n      - name: [a]\n", "5:9: spec.template.spec.containers[0]", "the merge key must be a scalar, not [a]"),
        ("spec:\n  template:\n    spec:\n      containers: [null]\n", "4:7: spec.template.spec.containers", "list element types are not identical"),
        ("metadata:\n  $setElementOrder/x: 5\n", "2:3: metadata[$setElementOrder/x]", "expected a []interface {}, but received a int64"),
        ("metadata:\n  $retainKeys: a\n", "2:3: metadata.$retainKeys", "invalid patch format of retainKeys"),
        ("metadata:\n  $deleteFromPrimitiveListX: [a]\n", "2:3: metadata.$deleteFromPrimitiveListX", "invalid patch format of primitive list"),
        ("$patch: delete\n", "1:1", "Object 'Kind' is missing in '{}'; the patch must not remove the kind"),
        ("- a\n", "1:1", "invalid JSON document; a map is expected"),
        (
            "spec:\n  template:\n    spec:\n      $setElementOrder/containers:\n      - name: side\n"
            "      - name: nginx\n      containers:\n      - name: nginx\n        image: 2\n"
            "      - name: side\n        image: 2\n",
            "4:7: spec.template.spec[$setElementOrder/containers]",
            "The order in patch list: [map[image:2 name:nginx] map[image:2 name:side]] doesn't match $setElementOrder list: [map[name:side] map[name:nginx]]",
        ),
    ],
)  # fmt: skip
def test_a_bad_patch_is_one_line_with_its_place_and_nothing_is_written(
    world, capsys, patch, place, why
):
    (world / "bad.yaml").write_text(patch, "utf-8")
    assert main(["patch", "d.yaml", "-p", "bad.yaml", "--in-place"]) == 2
    said = capsys.readouterr()
    first, *caret = said.err.splitlines()
    assert first.startswith(f"kmerge: bad.yaml:{place}: {why}")
    assert not caret or caret[1].strip() == "^"
    assert (world / "d.yaml").read_text("utf-8") == DEPLOYMENT


@pytest.mark.parametrize("name", CASES)
def test_the_command_does_what_kubectl_did(name, tmp_path, capsys):
    case = CASES[name]
    target, patch = tmp_path / "t.json", tmp_path / "p.yaml"
    target.write_text(json.dumps(case["input"]), "utf-8")
    patch.write_text(case.get("patch_text") or json.dumps(case["patch"]), "utf-8")
    status = main(["patch", str(target), "-p", str(patch), "-o", "json"])
    said = capsys.readouterr()
    if "error" in case["kubectl"] and name not in PLAIN_HERE:
        assert status == 2
        assert said.err.startswith("kmerge: ")
        assert said.out == ""
    elif name in PLAIN_HERE:
        assert status == 0
    else:
        assert json.loads(said.out) == case["kubectl"]["result"]


def test_the_flavor_of_kustomize(world, capsys):
    patch = '{"spec": {"strategy": {"$patch": "delete"}, "replicas": null}}'
    assert main(["patch", "d.yaml", "-p", patch, "--tool", "kustomize"]) == 0
    assert "replicas" not in capsys.readouterr().out
    assert (
        main(
            [
                "patch",
                "all.yaml",
                "-p",
                '{"$patch": "delete"}',
                "--object",
                "Service/web",
                "--tool",
                "kustomize",
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert said.out == DEPLOYMENT
    assert said.err == "the patch removed Service/web\n"


def test_a_schema_file_knows_other_kinds(world, capsys):
    gvk = {"group": "example.com", "version": "v1", "kind": "Foo"}
    keyed = {"type": "array", "items": {"type": "integer"}, "x-kubernetes-patch-strategy": "merge"}
    spec = {"type": "object", "properties": {"list": keyed, "a": {"type": "integer"}}}
    definition = {"properties": {"spec": spec}, "x-kubernetes-group-version-kind": [gvk]}
    (world / "s.json").write_text(json.dumps({"definitions": {"Foo": definition}}), "utf-8")
    assert main(["patch", "foo.yaml", "-p", '{"spec": {"list": [3]}}', "--schema", "s.json"]) == 0
    assert "list: [3, 1, 2]" in capsys.readouterr().out


def test_make_patch_and_patch_are_a_circle(world, capsys):
    (world / "new.yaml").write_text(PATCHED, "utf-8")
    assert main(["make-patch", "d.yaml", "new.yaml", "-o", "made.yaml"]) == 0
    assert main(["patch", "d.yaml", "-p", "made.yaml"]) == 0
    assert capsys.readouterr().out == PATCHED


def test_make_patch_prints_the_patch(world, capsys):
    (world / "new.yaml").write_text(DEPLOYMENT.replace("side:1", "side:2"), "utf-8")
    assert main(["make-patch", "d.yaml", "new.yaml"]) == 0
    assert capsys.readouterr().out == (
        f"{HEAD}spec:\n  template:\n    spec:\n      containers:\n      - name: side\n        image: side:2\n"
        "      $setElementOrder/containers:\n      - name: nginx\n      - name: side\n"
    )
    assert main(["make-patch", "d.yaml", "d.yaml"]) == 0
    assert capsys.readouterr().out == "{}\n"


@pytest.mark.parametrize("kind", ["strategic", "merge"])
def test_a_patch_names_its_object(world, capsys, kind):
    """Its names come first and change nothing, and the patch finds its object among others."""
    before = DEPLOYMENT.replace("metadata:", "metadata:\n  namespace: shop")
    after = before.replace("replicas: 2", "replicas: 3").replace("shop", "shop\n  labels: {a: b}")
    (world / "old.yaml").write_text(f"{before}---\n{SERVICE}", "utf-8")
    (world / "one.yaml").write_text(before, "utf-8")
    (world / "new.yaml").write_text(after, "utf-8")
    assert main(["make-patch", "one.yaml", "new.yaml", "--type", kind, "-o", "made.yaml"]) == 0
    assert (world / "made.yaml").read_text("utf-8") == (
        f"{HEAD}  namespace: shop\n  labels:\n    a: b\nspec:\n  replicas: 3\n"
    )
    assert main(["patch", "old.yaml", "-p", "made.yaml", "--type", kind, "-o", "json"]) == 0
    deployment = json.JSONDecoder().raw_decode(capsys.readouterr().out)[0]
    assert deployment["metadata"] == {"name": "web", "namespace": "shop", "labels": {"a": "b"}}
    assert deployment["spec"]["replicas"] == 3


@pytest.mark.parametrize(
    "old, new",
    [
        ("  name: web ", "  name: new "),
        ("metadata:", "metadata:\n  namespace: shop"),
        ("apps/v1", "extensions/v1beta1"),
    ],
)
def test_a_patch_of_the_name_finds_the_object(world, capsys, old, new):
    """It names no object, because none has the new name."""
    (world / "new.yaml").write_text(DEPLOYMENT.replace(old, new), "utf-8")
    made = ["make-patch", "d.yaml", "new.yaml", "--type", "merge", "-o", "made.yaml"]
    assert main(made) == 0
    assert "kind:" not in (world / "made.yaml").read_text("utf-8")
    assert main(["patch", "d.yaml", "-p", "made.yaml", "--type", "merge"]) == 0
    assert new.rpartition("\n")[2] in capsys.readouterr().out


@pytest.mark.parametrize("metadata", ["", "metadata: {generateName: x-}", "metadata: odd"])
def test_a_patch_of_an_object_without_a_name(world, capsys, metadata):
    texts = (f"kind: Foo\n{metadata}\nspec: {n}\n" for n in (1, 2))
    for name, text in zip(("old.yaml", "new.yaml"), texts, strict=True):
        (world / name).write_text(text, "utf-8")
    assert main(["make-patch", "old.yaml", "new.yaml", "--type", "merge"]) == 0
    assert capsys.readouterr().out == "kind: Foo\nspec: 2\n"


@pytest.mark.skipif(not shutil.which("kubectl"), reason="no kubectl")
def test_kustomize_finds_the_object_of_a_patch(world):
    """A kustomization needs no target, for built-in kinds and for custom resources."""
    (world / "new.yaml").write_text(PATCHED, "utf-8")
    (world / "foo2.yaml").write_text(FOO.replace("a: 1", "a: 2"), "utf-8")
    assert main(["make-patch", "d.yaml", "new.yaml", "-o", "p.yaml"]) == 0
    assert main(["make-patch", "foo.yaml", "foo2.yaml", "--type=merge", "-o", "q.yaml"]) == 0
    (world / "kustomization.yaml").write_text(
        "resources: [all.yaml, foo.yaml]\npatches: [{path: p.yaml}, {path: q.yaml}]\n", "utf-8"
    )
    command = ["kubectl", "kustomize", str(world)]
    built = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "image: nginx:2" in built and "side" not in built
    assert "  a: 2\n" in built


def test_make_patch_of_many_objects_names_each(world, capsys):
    (world / "new.yaml").write_text(
        DEPLOYMENT + "---\n" + SERVICE.replace("ClusterIP", "NodePort"), "utf-8"
    )
    assert main(["make-patch", "all.yaml", "new.yaml", "-o", "made.yaml"]) == 0
    assert main(["patch", "all.yaml", "-p", "made.yaml"]) == 0
    assert "type: NodePort" in capsys.readouterr().out
    made = (world / "made.yaml").read_text("utf-8")
    assert (
        made == "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  type: NodePort\n"
    )


def test_make_patch_says_what_is_only_in_the_original(world, capsys):
    assert main(["make-patch", "all.yaml", "d.yaml"]) == 0
    said = capsys.readouterr()
    assert said.out == "{}\n"
    assert "Service/web is only in all.yaml" in said.err


def test_a_three_way_patch_and_its_conflict(world, capsys):
    (world / "new.yaml").write_text(DEPLOYMENT.replace("replicas: 2", "replicas: 3"), "utf-8")
    (world / "live.yaml").write_text(DEPLOYMENT.replace("replicas: 2", "replicas: 4"), "utf-8")
    three = ["make-patch", "d.yaml", "new.yaml", "--live", "live.yaml"]
    assert main(three) == 0
    assert capsys.readouterr().out == f"{HEAD}spec:\n  replicas: 3\n"
    assert main([*three, "--no-overwrite"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(
        "kmerge: new.yaml:7:3: spec.replicas: this field was changed differently"
    )


def test_a_json_merge_patch_is_made_too(world, capsys):
    (world / "new.yaml").write_text(FOO.replace("a: 1", "b: 1"), "utf-8")
    assert main(["make-patch", "foo.yaml", "new.yaml", "--type", "merge"]) == 0
    head = "apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: f\n"
    assert capsys.readouterr().out == f"{head}spec:\n  b: 1\n  a: null\n"
    three = ["make-patch", "foo.yaml", "new.yaml", "--type", "merge", "--live", "foo.yaml"]
    assert main(three) == 0
    assert capsys.readouterr().out == f"{head}spec:\n  a: null\n  b: 1\n"
    assert main(["make-patch", "foo.yaml", "new.yaml"]) == 2


def test_no_patch_leads_to_another_kind(world, capsys):
    (world / "s.yaml").write_text(SERVICE)
    for options in (["d.yaml", "s.yaml"], ["s.yaml", "s.yaml", "--live", "d.yaml"]):
        assert main(["make-patch", *options]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == (
            "kmerge: s.yaml: the object is a Service, but in d.yaml it is a Deployment; "
            "use two versions of one object, as a patch cannot change the kind\n"
        )


@pytest.mark.parametrize("number", [".nan", "-.inf"])
@pytest.mark.parametrize("command", ["patch", "make-patch", "apply", "last-applied"])
def test_a_number_that_json_has_not_is_refused_with_its_place(tmp_path, capsys, command, number):
    """As kubectl does; nothing that is no JSON is printed as JSON."""
    file = tmp_path / "x.yaml"
    file.write_text(f"kind: A\nmetadata: {{name: a}}\nspec:\n  b: [1, {number}]\n")
    name = str(file)
    more = {"patch": [name, "-p", "{}", "-o", "json"], "make-patch": [name, name],
            "apply": [name], "last-applied": ["view", name]}  # fmt: skip
    assert main([command, *more[command]]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        f"kmerge: {name}:4:10: JSON cannot hold this number; write it as a string\n"
    )
