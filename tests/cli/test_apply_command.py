"""`kmerge apply` and `kmerge last-applied`: what the cluster would hold, in the files' own text."""

from __future__ import annotations

import json

import pytest

from kmerge_git.cli.main import main
from kmerge_git.patch.applied_annotation import LAST_APPLIED

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  namespace: prod
data:
  a: "1"   # ours
  b: "2"
"""
ANNOTATION = (
    '{"apiVersion":"v1","data":{"a":"1","b":"2"},"kind":"ConfigMap",'
    '"metadata":{"annotations":{},"name":"c","namespace":"prod"}}'
)
CREATED = f"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  namespace: prod
  annotations:
    {LAST_APPLIED}: |
      {ANNOTATION}
data:
  a: "1"   # ours
  b: "2"
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "KUBE_EDITOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    (tmp_path / "live.yaml").write_text(CREATED, "utf-8")
    return tmp_path


def write(world, name, text):
    (world / name).write_text(text, "utf-8")


def test_without_a_live_object_it_is_created(world, capsys):
    assert main(["apply", "config.yaml"]) == 0
    said = capsys.readouterr()
    assert said.out == CREATED
    assert said.err == "configmap/c created\n"


def test_an_unchanged_config_changes_no_byte(world, capsys):
    assert main(["apply", "config.yaml", "--live", "live.yaml"]) == 0
    said = capsys.readouterr()
    assert said.out == CREATED
    assert said.err == "configmap/c unchanged\n"


def test_fields_of_others_stay_and_removed_ones_go(world, capsys):
    write(world, "live.yaml", CREATED + '  c: "3"   # theirs\n')
    write(world, "config.yaml", CONFIG.replace('  b: "2"\n', "").replace('"1"', '"9"'))
    assert main(["apply", "config.yaml", "--live", "live.yaml", "--in-place"]) == 0
    text = (world / "live.yaml").read_text("utf-8")
    assert text.endswith('data:\n  a: "9"   # ours\n  c: "3"   # theirs\n')
    assert capsys.readouterr().err == "configmap/c configured\n"


def test_explain_tells_the_owner_of_every_field(world, capsys):
    write(world, "live.yaml", CREATED.replace('a: "1"   # ours', 'a: "5"') + '  c: "3"\n  m: "4"\n')
    write(world, "config.yaml", CONFIG.replace('  b: "2"\n', '  m: null\n  z: "0"\n'))
    assert main(["apply", "config.yaml", "--live", "live.yaml", "--explain", "--all"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert (
        'changed   data.a = "5" -> "1"  [config: the config sets it; somebody changed the live object after the last apply]'
        in said
    )
    assert (
        'removed   data.b = "2"  [last applied: applied last time, but no longer in the config]'
        in said
    )
    assert (
        'stays     data.c = "3"  [live: neither in the config nor applied last time: set by somebody else]'
        in said
    )
    assert 'removed   data.m = "4"  [config: null in the config]' in said
    assert 'added     data.z = "0"  [config: in the config, not in the live object]' in said


def test_explain_tells_what_changes_and_counts_the_rest(world, capsys):
    write(world, "live.yaml", CREATED.replace('a: "1"   # ours', 'a: "5"') + '  c: "3"\n')
    assert main(["apply", "config.yaml", "--live", "live.yaml", "--explain"]) == 0
    named, changed, rest = capsys.readouterr().err.splitlines()
    assert named == "configmap/c configured"
    assert changed.startswith('changed   data.a = "5" -> "1"  [config: the config sets it')
    count = int(rest.split()[0])
    assert rest == f"{count} fields are unchanged; --all shows them"
    assert main(["apply", "config.yaml", "--live", "live.yaml", "--all"]) == 0
    assert len(capsys.readouterr().err.splitlines()) == count + 2


def test_explain_goes_into_keyed_lists_and_sets(world, capsys):
    def pod(*containers, finalizers=("a",)):
        meta = {"name": "p", "finalizers": list(finalizers)}
        spec = {"containers": [dict(c) for c in containers]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}

    web, side = {"name": "web", "image": "1"}, {"name": "side", "image": "1"}
    files = {
        "config.json": pod({**web, "image": "2"}),
        "last.json": pod(web, finalizers=("a", "b")),
        "live.json": pod(web, side, finalizers=("a", "b", "c")),
    }
    for name, value in files.items():
        write(world, name, json.dumps(value))
    options = ["--live", "live.json", "--last-applied", "last.json", "--all", "-o", "json"]
    assert main(["apply", "config.json", *options]) == 0
    said = capsys.readouterr()
    assert 'changed   spec.containers[name=web].image = "1" -> "2"' in said.err
    assert 'stays     spec.containers[name=side].image = "1"' in said.err
    assert 'removed   metadata.finalizers[=b] = "b"' in said.err
    assert 'stays     metadata.finalizers[=c] = "c"' in said.err
    assert json.loads(said.out)["metadata"]["finalizers"] == ["a", "c"]


def test_show_patch_prints_what_would_be_sent(world, capsys):
    write(world, "config.yaml", CONFIG.replace('  b: "2"\n', ""))
    assert main(["apply", "config.yaml", "--live", "live.yaml", "--show-patch", "-o", "json"]) == 0
    patch = json.loads(capsys.readouterr().out)
    assert patch["data"] == {"b": None}
    assert LAST_APPLIED in patch["metadata"]["annotations"]


def test_a_conflict_under_no_overwrite(world, capsys):
    write(world, "live.yaml", CREATED.replace('a: "1"', 'a: "7"'))
    write(world, "config.yaml", CONFIG.replace('a: "1"', 'a: "8"'))
    assert (
        main(["apply", "config.yaml", "--live", "live.yaml", "--no-overwrite", "--in-place"]) == 1
    )
    said = capsys.readouterr()
    assert said.err.startswith(
        "kmerge: config.yaml:7:3: data.a: this field was changed differently"
    )
    assert 'a: "7"' in (world / "live.yaml").read_text("utf-8")


def test_many_objects_some_new(world, capsys):
    write(world, "config.yaml", CONFIG + "---\n" + CONFIG.replace("name: c", "name: new"))
    assert main(["apply", "config.yaml", "--live", "live.yaml"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(CREATED + "---\n")
    assert said.out.count(LAST_APPLIED) == 2
    assert said.err == "configmap/c unchanged\nconfigmap/new created\n"


def test_a_custom_resource_is_merged_as_json(world, capsys):
    foo = "apiVersion: g.io/v1\nkind: Foo\nmetadata: {name: f}\nspec: {list: [1]}\n"
    write(world, "foo.yaml", foo)
    write(world, "foo-live.yaml", foo.replace("[1]", "[1, 2]"))
    assert main(["apply", "foo.yaml", "--live", "foo-live.yaml"]) == 0
    said = capsys.readouterr()
    assert "spec: {list: [1]}" in said.out
    assert "foo.g.io/f configured" in said.err
    assert "is missing" in said.err


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_broken_annotation_is_shown_in_the_live_file(world, capsys, text):
    write(world, "live.yaml", CREATED.replace(ANNOTATION, text))
    assert main(["apply", "config.yaml", "--live", "live.yaml"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("kmerge: live.yaml:7:5: metadata.annotations[kubectl")
    assert "invalid JSON document" in said


@pytest.mark.parametrize(
    "options, why",
    [
        (["config.yaml", "--in-place"], "--in-place changes the live file; add --live"),
        (
            ["config.yaml", "--live", "other.yaml"],
            "is not in the file, but ConfigMap/other is; use the live object",
        ),
        (["generated.yaml"], "metadata.generateName: cannot use generate name with apply"),
        (["-", "--live", "-"], "only one of the files can be stdin"),
    ],
)
def test_wrong_usage_is_one_line(world, capsys, options, why):
    write(world, "other.yaml", CREATED.replace("name: c\n", "name: other\n"))
    write(world, "generated.yaml", CONFIG.replace("name: c\n", "generateName: c-\n"))
    assert main(["apply", *options]) == 2
    assert why in capsys.readouterr().err.splitlines()[0]


def test_view_prints_the_config(world, capsys):
    assert main(["last-applied", "view", "live.yaml", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(ANNOTATION)
    assert main(["last-applied", "view", "live.yaml"]) == 0
    assert capsys.readouterr().out.startswith('apiVersion: v1\ndata:\n  a: "1"\n')


@pytest.mark.parametrize("option", ["--in-place", "--dry-run"])
def test_view_ignores_no_option(world, capsys, option):
    assert main(["last-applied", "view", "live.yaml", option]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "`set` and `edit` accept --in-place" in said.err


def test_view_of_an_object_without_it_is_no_error(world, capsys):
    assert main(["last-applied", "view", "config.yaml"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "kmerge: ConfigMap/c has no last-applied annotation\n")


def test_set_writes_what_apply_would_write(world, capsys):
    assert main(["last-applied", "set", "config.yaml", "--config", "config.yaml"]) == 2
    assert "use --create-annotation to add it" in capsys.readouterr().err
    options = ["--config", "config.yaml", "--create-annotation", "--in-place"]
    assert main(["last-applied", "set", "config.yaml", *options]) == 0
    assert (world / "config.yaml").read_text("utf-8") == CREATED


def test_edit_runs_the_editor(world, capsys, monkeypatch):
    script = world / "editor.sh"
    script.write_text('#!/bin/sh\nsed -i \'s/b: "2"/b: "7"/\' "$1"\n', "utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    assert main(["last-applied", "edit", "live.yaml", "--in-place"]) == 0
    text = (world / "live.yaml").read_text("utf-8")
    assert text == CREATED.replace('"b":"2"', '"b":"7"')
    monkeypatch.setenv("EDITOR", "true")
    assert main(["last-applied", "edit", "live.yaml"]) == 0
    said = capsys.readouterr()
    assert said.out == text
    assert "edit cancelled" in said.err
    monkeypatch.setenv("EDITOR", "false")
    assert main(["last-applied", "edit", "live.yaml"]) == 2


@pytest.mark.parametrize(
    "options",
    [["set", "live.yaml"], ["view", "live.yaml", "--config", "x"], ["edit", "config.yaml"]],
)
def test_last_applied_wants_the_right_options(world, capsys, options):
    assert main(["last-applied", *options]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
