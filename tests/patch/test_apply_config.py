"""Apply without a cluster: the annotation, creation, custom resources, refusals."""

from __future__ import annotations

import json

import pytest

from kmerge_git import PatchConflict, PatchError, apply_config
from kmerge_git.patch.applied_annotation import (
    LAST_APPLIED,
    LIMIT,
    annotation_text,
    go_json,
    last_applied,
    with_last_applied,
)
from kmerge_git.patch.apply_config import plan_apply


def config_map(name="c", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def custom(**spec):
    return {"apiVersion": "g/v1", "kind": "Foo", "metadata": {"name": "f"}, "spec": spec}


def test_the_annotation_is_compact_sorted_and_ends_with_a_line_feed():
    config = config_map(b="<&>", a="é")
    config["metadata"]["annotations"] = {LAST_APPLIED: "old", "x": "y"}
    assert annotation_text(config) == (
        '{"apiVersion":"v1","data":{"a":"é","b":"\\u003c\\u0026\\u003e"},"kind":"ConfigMap",'
        '"metadata":{"annotations":{"x":"y"},"name":"c"}}\n'
    )


@pytest.mark.parametrize(
    "value, text",
    [
        (1.0, "1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (12345678901234567890123, "1.2345678901234568e+22"),
        (9223372036854775807, "9223372036854775807"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"),
        (-0.25, "-0.25"),
        (None, "null"),
        (True, "true"),
        ("\u2028\u2029\n\b\x01\x7f", '"\\u2028\\u2029\\n\\b\\u0001\x7f"'),
    ],
)
def test_values_are_encoded_as_go_encodes_them(value, text):
    assert go_json(value) == text


def test_a_created_object_has_the_annotation_and_no_nulls():
    config = config_map(a="1", b=None)
    created = apply_config(config, {})
    assert created["data"] == {"a": "1"}
    assert json.loads(created["metadata"]["annotations"][LAST_APPLIED])["data"] == {
        "a": "1",
        "b": None,
    }
    assert created["metadata"]["annotations"][LAST_APPLIED].endswith(
        '"metadata":{"annotations":{},"name":"c"}}\n'
    )


def test_the_namespace_of_the_live_object_is_filled_in():
    live = config_map(a="1")
    live["metadata"]["namespace"] = "prod"
    applied = plan_apply(config_map(a="1"), live)
    assert applied.modified["metadata"]["namespace"] == "prod"
    assert last_applied(applied.result)["metadata"]["namespace"] == "prod"


def test_a_live_object_without_the_annotation_keeps_everything_and_there_is_a_warning():
    applied = plan_apply(config_map(a="1"), config_map(b="2"))
    assert applied.result["data"] == {"a": "1", "b": "2"}
    assert "is missing" in applied.warnings[0]
    assert not plan_apply(config_map(a="1"), applied.result).warnings


def test_an_empty_annotation_deletes_nothing():
    live = config_map(b="2")
    live["metadata"]["annotations"] = {LAST_APPLIED: ""}
    applied = plan_apply(config_map(a="1"), live)
    assert (applied.result["data"], applied.warnings) == ({"a": "1", "b": "2"}, ())


@pytest.mark.parametrize("text", ["{", "[]", "null", "5"])
def test_an_annotation_that_is_no_object(text):
    live = config_map()
    live["metadata"]["annotations"] = {LAST_APPLIED: text}
    with pytest.raises(PatchError, match="invalid JSON document"):
        apply_config(config_map(), live)


def test_the_last_config_can_be_given():
    live = with_last_applied(config_map(a="1", b="2"), config_map(a="1"))
    result = apply_config(config_map(), live, last_applied=config_map(b="2"))
    assert result["data"] == {"a": "1"}


def test_unchanged_is_told_from_configured():
    once = plan_apply(config_map(a="1"), config_map(a="1"))
    assert once.changed
    assert not plan_apply(config_map(a="1"), once.result).changed


def test_too_large_an_annotation_is_refused():
    with pytest.raises(PatchError, match=f"must have at most {LIMIT} bytes") as caught:
        apply_config(config_map(a="x" * LIMIT), {})
    assert caught.value.field == "metadata.annotations"


def test_generate_name_cannot_be_applied():
    config = {**config_map(), "metadata": {"generateName": "c-"}}
    with pytest.raises(PatchError, match="cannot use generate name with apply"):
        apply_config(config, {})


def test_a_custom_resource_is_merged_as_json():
    live = with_last_applied(custom(a=1, gone=1, list=[1], live=1), custom(a=1, gone=1, list=[1]))
    applied = plan_apply(custom(a=2, list=[2]), live)
    assert not applied.strategic
    assert applied.result["spec"] == {"a": 2, "list": [2], "live": 1}


def test_a_custom_resource_keeps_its_name():
    live = with_last_applied(custom(a=1), custom(a=1))
    renamed = custom(a=1)
    renamed["metadata"]["name"] = "other"
    with pytest.raises(PatchError, match="At least one of apiVersion, kind and name was changed"):
        apply_config(renamed, live)


def test_a_directive_in_a_custom_resource_is_a_field():
    live = with_last_applied(custom(a={"x": 1}), custom(a={"x": 1}))
    assert apply_config(custom(a={"$patch": "delete"}), live)["spec"]["a"] == {"$patch": "delete"}


def test_no_overwrite_works_with_the_annotation_there():
    live = with_last_applied(config_map(a="live", b="1"), config_map(a="1", b="1"))
    assert apply_config(config_map(a="1", b="2"), live, overwrite=True)["data"] == {
        "a": "1",
        "b": "2",
    }
    with pytest.raises(PatchConflict):
        apply_config(config_map(a="2", b="1"), live, overwrite=False)


def test_directives_that_are_left_over_are_not_stored():
    def deployment(**spec):
        meta = {"name": "d"}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}

    before = deployment(strategy={"type": "RollingUpdate", "rollingUpdate": {}})
    live = with_last_applied(deployment(), before)
    result = apply_config(deployment(strategy={"type": "Recreate"}), live)
    assert result["spec"] == {"strategy": {"type": "Recreate"}}


def test_a_controller_revision_keeps_the_patch_it_holds():
    data = {"spec": {"template": {"$patch": "replace"}}}
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": data}
    revision["metadata"] = {"name": "r"}
    live = with_last_applied(revision, revision)
    assert apply_config({**revision, "revision": 2}, live)["data"] == data


def test_nulls_are_not_stored_but_those_of_the_live_object_stay():
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    config = {**budget, "spec": {"selector": {"matchLabels": None}}}
    live = {**budget, "spec": {"selector": {"x": {}}}, "status": None}
    live["metadata"] = {"name": "b", "creationTimestamp": None}
    result = apply_config(config, live)
    assert result["spec"] == {"selector": {}}
    assert result["status"] is result["metadata"]["creationTimestamp"] is None


ODD_METADATA = ["a", ["a"], 1, True, {"annotations": ["a"]}, {"annotations": "a"}]


@pytest.mark.parametrize("metadata", ODD_METADATA, ids=str)
def test_metadata_of_another_shape_is_refused_as_kubectl_does(metadata):
    odd = {**config_map(), "metadata": metadata}
    field = "metadata.annotations" if isinstance(metadata, dict) else "metadata"
    for call in (
        lambda: last_applied(odd),
        lambda: with_last_applied(odd, config_map()),
        lambda: annotation_text(odd),
        lambda: apply_config(config_map(), odd),
    ):
        with pytest.raises(PatchError, match="this must be a map") as caught:
            call()
        assert caught.value.field == field
    with pytest.raises(PatchError):
        apply_config(odd, {})


@pytest.mark.parametrize("live", ["", None, [], "a", 1], ids=repr)
def test_a_live_object_of_another_shape_is_refused(live):
    with pytest.raises(PatchError, match="the live object is not a Kubernetes object"):
        apply_config(config_map(), live)


def test_what_was_applied_before_may_be_nothing_but_no_text():
    live = with_last_applied(config_map(), config_map())
    assert apply_config(config_map(), live, last_applied="") == live
    with pytest.raises(PatchError, match="the last applied config is not a Kubernetes object"):
        apply_config(config_map(), live, last_applied="a")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_json_cannot_hold_is_no_number(number):
    with pytest.raises(PatchError, match="unsupported value"):
        annotation_text(config_map(a=[number]))
    live = config_map()
    live["metadata"]["annotations"] = {LAST_APPLIED: json.dumps({"spec": [{"a": number}]})}
    with pytest.raises(PatchError, match="invalid JSON document"):
        last_applied(live)


def test_nothing_in_the_place_of_a_map_is_an_empty_one():
    for metadata in (None, {}, {"annotations": None}):
        assert last_applied({"metadata": metadata}) is None
        assert annotation_text({"metadata": metadata}) == '{"metadata":{"annotations":{}}}\n'
