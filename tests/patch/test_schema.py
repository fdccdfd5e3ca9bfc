"""Where strategies and merge keys come from, and what an incomplete schema says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kmerge_git
from kmerge_git import PatchError, Schema, apply_patch
from kmerge_git.patch.field_shapes import object_type, root_shape
from kmerge_git.patch.patch_schema import definitions_of, schema_for

TABLE = Path(kmerge_git.__file__).parent / "kube" / "list_keys.json"

DEFINITIONS = {
    "example.Root": {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "Root"}],
        "properties": {
            "kind": {"type": "string"},
            "spec": {"$ref": "#/definitions/example.Spec"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "anything": {},
        },
    },
    "example.Spec": {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {"$ref": "#/definitions/example.Item"},
                "x-kubernetes-patch-strategy": "merge,retainKeys",
                "x-kubernetes-patch-merge-key": "id",
            },
            "wild": {
                "type": "array",
                "items": {"type": "string"},
                "x-kubernetes-patch-strategy": "merge,replace",
            },
        },
    },
    "example.Item": {"type": "object", "properties": {"id": {"type": "string"}}},
}


def walk(schema, *path):
    """The field at a path; every step but the last two goes through maps and list elements."""
    for name in path[:-1]:
        schema = schema.field(name, in_list=name.endswith("s")).below
    return schema.field(path[-1], in_list=True)


@pytest.mark.parametrize(
    "version, kind, path, strategy, key, retain",
    [
        ("v1", "Pod", ("spec", "containers"), "merge", "name", False),
        ("v1", "Pod", ("spec", "volumes"), "merge", "name", True),
        ("v1", "Pod", ("spec", "tolerations"), "", "", False),
        ("v1", "Pod", ("metadata", "finalizers"), "merge", "", False),
        ("v1", "Pod", ("spec", "containers", "ports"), "merge", "containerPort", False),
        ("v1", "Pod", ("spec", "topologySpreadConstraints"), "merge", "topologyKey", False),
        ("v1", "Service", ("spec", "ports"), "merge", "port", False),
        ("apps/v1", "Deployment", ("spec", "strategy"), "", "", True),
        ("policy/v1", "PodDisruptionBudget", ("spec", "selector"), "replace", "", False),
        # Gone before the oldest OpenAPI document of the table, and a version nobody knows.
        ("extensions/v1beta1", "Deployment", ("spec", "strategy"), "", "", True),
        ("apps/v9", "Deployment", ("spec", "strategy"), "", "", True),
    ],
)
def test_the_built_in_strategies(version, kind, path, strategy, key, retain):
    field = walk(Schema.builtin(version, kind), *path)
    assert (field.strategy, field.merge_key, field.retain_keys) == (strategy, key, retain)


def test_both_lookups_are_in_the_table():
    lines = json.loads(TABLE.read_text("utf-8"))
    fields = [f for line in lines if line[0].isdigit() for f in line.split(" ")[1:]]
    names = {f.split("|")[0] for f in fields if f.split("|")[1]}
    assert {"containers", "env", "ports", "finalizers", "hostIPs", "selector"} <= names
    ports = walk(Schema.builtin("v1", "Pod"), "spec", "containers", "ports")
    assert ports.list_keys == ("containerPort", "protocol")


def test_the_table_can_be_read_without_a_json_reader():
    text = TABLE.read_text("utf-8")
    assert [line.rstrip(",")[1:-1] for line in text.splitlines()[1:-1]] == json.loads(text)
    assert len(text) < 40_000


def test_a_custom_resource_has_no_schema():
    assert Schema.find("example.com/v1", "Foo") is None
    with pytest.raises(PatchError, match=r"example\.com/v1, Kind=Foo locally, try --type merge"):
        Schema.builtin("example.com/v1", "Foo")
    with pytest.raises(PatchError, match="not supported for /v1, Kind=Foo locally"):
        Schema.builtin("v1", "Foo")


def test_the_plain_schema_takes_an_unknown_field_as_plain():
    target = {"apiVersion": "v1", "kind": "Pod", "spec": {"x": {"a": 1}, "l": [1]}}
    patch = {"spec": {"x": {"b": 2}, "l": [2]}}
    assert apply_patch(target, patch)["spec"] == {"x": {"a": 1, "b": 2}, "l": [2]}


@pytest.mark.parametrize(
    "patch, why",
    [
        ({"spec": {"foo": {"b": 1}}}, 'unable to find api field in struct PodSpec for the json field "foo"'),
        ({"spec": {"foos": [1]}}, 'unable to find api field in struct PodSpec for the json field "foos"'),
        ({"metadata": {"labels": {"m": {"b": 1}}}}, "but data type is not struct, instead is: map"),
        ({"spec": {"dnsPolicy": {"m": {"b": 1}}}}, "but data type is not struct, instead is: string"),
        ({"metadata": {"$setElementOrder/labels": ["a"]}}, "expected slice or array type, but got: struct"),
    ],
)  # fmt: skip
def test_the_complete_schema_has_the_errors_of_kubectl(patch, why):
    target = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"m": {"a": 1}}},
        "spec": {"foo": {"a": 1}, "foos": [0], "dnsPolicy": {"m": {"a": 1}}},
    }
    if "$setElementOrder/labels" in patch.get("metadata", {}):
        del target["metadata"]["labels"]
    with pytest.raises(PatchError) as caught:
        apply_patch(target, patch, Schema.builtin("v1", "Pod", complete=True))
    assert caught.value.why.endswith(why)


def test_free_form_objects_are_structs_without_fields():
    target = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": {"a": {"b": 1}}}
    schema = Schema.builtin("apps/v1", "ControllerRevision", complete=True)
    with pytest.raises(PatchError, match='in struct RawExtension for the json field "a"'):
        apply_patch(target, {"data": {"a": {"c": 1}}}, schema)


def test_every_kind_of_the_key_table_has_its_shape():
    lines = [
        line.split(" ") for line in json.loads(TABLE.read_text("utf-8")) if line[0] not in "#0"
    ]
    kinds = [
        (words[0], word.partition("=")[0])
        for words in lines
        if not words[0].isdigit()
        for word in words[1:]
    ]
    older = {"apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"}
    without = {kind for kind in kinds if not root_shape(*kind) and kind[0] not in older}
    assert len(kinds) > 150
    assert not without
    name, fields = object_type(root_shape("v1", "Pod"))
    assert name == "Pod"
    assert object_type(fields["spec"])[0] == "PodSpec"


@pytest.mark.parametrize("document", [DEFINITIONS, {"definitions": DEFINITIONS}])
def test_a_schema_from_definitions(document):
    schema = Schema.from_definitions(document, "example.Root")
    field = walk(schema, "spec", "items")
    assert (field.strategy, field.merge_key, field.retain_keys) == ("merge", "id", True)
    target = {"spec": {"items": [{"id": "a", "x": 1}]}, "anything": {"a": {"b": 1}}}
    patch = {"spec": {"items": [{"id": "b"}]}, "anything": {"a": {"c": 1}}}
    assert apply_patch(target, patch, schema) == {
        "spec": {"items": [{"id": "b"}, {"id": "a", "x": 1}]},
        "anything": {"a": {"b": 1, "c": 1}},
    }


@pytest.mark.parametrize(
    "patch, why",
    [
        ({"foo": {"a": 2}}, 'unable to find api field "foo" in example.Root'),
        ({"spec": {"foo": {"a": 2}}}, 'unable to find api field "foo" in example.Spec'),
        ({"labels": {"m": {"a": 2}}}, "expected kind, but got map"),
        ({"$setElementOrder/labels": ["a"]}, "expected array, but got map"),
        ({"spec": {"wild": ["a"]}}, "unexpected patch strategy: [merge replace]"),
    ],
)
def test_definitions_are_complete(patch, why):
    target = {"foo": {"a": 1}, "spec": {"foo": {"a": 1}, "wild": ["b"]}, "labels": {"m": {"a": 1}}}
    if "$setElementOrder/labels" in patch:
        del target["labels"]
    with pytest.raises(PatchError) as caught:
        apply_patch(target, patch, Schema.from_definitions(DEFINITIONS, "example.Root"))
    assert caught.value.why == why


def test_a_definition_that_is_not_there():
    with pytest.raises(PatchError, match=r"the schema has no definition example\.Nope"):
        Schema.from_definitions(DEFINITIONS, "example.Nope")


def test_the_kind_finds_its_definition_in_v2_and_v3_documents():
    text = json.dumps(DEFINITIONS).replace("#/definitions/", "#/components/schemas/")
    v3 = {"components": {"schemas": json.loads(text)}}
    for document in ({"definitions": DEFINITIONS}, v3):
        schema = schema_for(document, "g/v1", "Root")
        assert schema is not None
        assert walk(schema, "spec", "items").merge_key == "id"
        assert schema_for(document, "g/v2", "Root") is None


@pytest.mark.parametrize(
    "document", [{"apiVersion": "v1", "spec": {}}, {"components": []}, {"definitions": ["x"]}]
)
def test_what_is_no_openapi_document_is_refused(document):
    with pytest.raises(PatchError, match="not an OpenAPI document"):
        definitions_of(document)
