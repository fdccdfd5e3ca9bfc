"""What a CRD declares about its lists, and what the merge rules make of it."""

import pytest
import yaml

from kmerge_git.cli.main import main
from kmerge_git.kube import crds, keytable
from kmerge_git.kube.listkeys import start
from kmerge_git.patch.patch_schema import Schema
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.g.io}
spec:
  group: g.io
  names: {kind: Foo}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              ends: &ends
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol]
                items:
                  type: object
                  properties:
                    port: {type: integer}
                    protocol: {type: string, default: TCP}
                    paths: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              whole: {type: array, x-kubernetes-list-type: atomic, items: {type: object}}
              loose:
                type: array
                items: {type: object, properties: {ends: *ends}}
              byName:
                type: object
                additionalProperties: {type: object, properties: {ends: *ends}}
"""
FOO = "apiVersion: g.io/v1\nkind: Foo\nmetadata: {name: f}\n"


@pytest.fixture
def learned():
    assert crds.learn_definition(yaml.safe_load(CRD)) == ("g.io", "Foo")
    yield
    keytable.know({})


def test_the_tree_of_a_crd():
    paths = {"paths": {"list": True, "set": True}}
    keys = {"keys": ("port", "protocol"), "defaults": {"protocol": "TCP"}}
    ends = {"list": True, **keys, "below": paths}
    fields = {
        "ends": ends,
        "whole": {"list": True, "atomic": True},
        "loose": {"list": True, "below": {"ends": ends}},
        "byName": {"each": True, "below": {"ends": ends}},
    }
    crd = yaml.safe_load(CRD)
    assert crds.crd_list_keys(crd) == {("g.io", "Foo"): {"spec": {"below": fields}}}


def test_an_old_crd_has_one_schema_for_all_versions():
    crd = yaml.safe_load(CRD)
    schema = crd["spec"]["versions"].pop()["schema"]
    old = {**crd, "spec": {**crd["spec"], "validation": schema}}
    assert crds.crd_list_keys(old) == crds.crd_list_keys(yaml.safe_load(CRD))


@pytest.mark.parametrize("value", [{}, {"kind": "Pod"}, {"kind": "CustomResourceDefinition"}])
def test_what_is_no_crd_teaches_nothing(value):
    assert crds.learn_definition(value) is None


def where(path):
    at = start(split(Source(FOO.encode())).documents[0].root)
    for step in path.split("."):
        at = at.items() if step == "[]" else at.child(step)
    return at.list_rule()


@pytest.mark.parametrize(
    "path, kind, fields",
    [
        ("spec.ends", "keyed", ("port", "protocol")),
        ("spec.ends.[].paths", "set", ()),
        ("spec.ends.[].others", "infer", ()),
        ("spec.whole", "atomic", ()),
        ("spec.loose", "infer", ()),
        ("spec.loose.[].ends", "keyed", ("port", "protocol")),
        ("spec.byName.x.ends", "keyed", ("port", "protocol")),
        ("spec.unknown", "infer", ()),
        ("metadata.finalizers", "set", ()),
        ("metadata.ownerReferences", "keyed", ("uid",)),
    ],
)
def test_the_rules_know_the_lists(learned, path, kind, fields):
    rule = where(path)
    assert (rule.kind, rule.fields) == (kind, fields)


def test_a_crd_is_no_schema_for_strategic_merge_patches(learned):
    assert Schema.find("g.io/v1", "Foo") is None


def test_a_key_has_its_default(learned):
    assert where("spec.ends").defaults == {"protocol": "TCP"}


def test_without_the_crd_the_elements_decide():
    assert where("spec.ends").kind == "infer"


def test_merge_takes_a_crd(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def foo(*lines):
        return FOO + "spec:\n  ends:\n" + "".join(f"  - {{{line}}}\n" for line in lines)

    udp, tcp = "port: 53, protocol: UDP, w: {}", "port: 53, w: {}"
    texts = {
        "base.yaml": foo(udp.format(1), tcp.format(1)),
        "ours.yaml": foo(udp.format(2), tcp.format(1)),
        "theirs.yaml": foo(tcp.format(3), udp.format(1)),  # changed, and moved
        "crd.yaml": CRD,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    try:
        assert main(["merge", "base.yaml", "ours.yaml", "theirs.yaml", "--crd", "crd.yaml"]) == 0
    finally:
        keytable.know({})
    merged = yaml.safe_load(capsys.readouterr().out)["spec"]["ends"]
    assert sorted(end["w"] for end in merged) == [2, 3]
    assert main(["merge", "base.yaml", "ours.yaml", "theirs.yaml", "--crd", "base.yaml"]) == 2
    assert "the file has no CustomResourceDefinition" in capsys.readouterr().err


@pytest.mark.parametrize(
    "spec",
    [
        "x",
        {"group": "g", "names": ["Foo"]},
        {"group": "g", "names": {"kind": "Foo"}, "versions": "v1"},
        {"group": "g", "names": {"kind": "Foo"}, "versions": ["v1", {"schema": []}]},
        *(
            {
                "group": "g",
                "names": {"kind": "Foo"},
                "validation": {"openAPIV3Schema": {"properties": properties}},
            }
            for properties in (
                ["a"],
                {"a": "x"},
                {"a": {"type": "array", "items": "x"}},
                {"a": {"type": "array", "x-kubernetes-list-type": ["map"]}},
                {
                    "a": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": [{"b": 1}],
                        "items": {"properties": ["b"]},
                    }
                },
            )
        ),
    ],
)
def test_a_definition_that_is_none_does_no_harm(spec):
    crds.learn_definition({"kind": "CustomResourceDefinition", "spec": spec})
    keytable.know({})
