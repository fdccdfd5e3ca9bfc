"""Malformed and undefined input: one error with the path of the field, or one answer."""

from __future__ import annotations

import pytest

from kmerge_git import PatchError, apply_patch
from kmerge_git.patch.json_values import go_string, go_text, same

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "finalizers": ["a", "b", "c"]},
    "spec": {
        "containers": [{"name": "x", "image": "i"}, {"name": "y"}],
        "tolerations": [{"key": "k"}],
        "volumes": [],
    },
}


def metadata(**patch):
    return {"metadata": patch}


def spec(**patch):
    return {"spec": patch}


@pytest.mark.parametrize(
    "patch, field, why",
    [
        (spec(containers=[None]), "spec.containers", "list element types are not identical: [["),
        (spec(containers=["x"]), "spec.containers", "list element types are not identical: [["),
        (spec(containers=[[1]]), "spec.containers", "list element types are not identical: [["),
        (spec(containers=[{"name": {"a": 1}}]), "spec.containers[0]", "merge key must be a scalar"),
        (spec(containers=[{"name": "x"}, {}]), "spec.containers[1]", "declared merge key: name"),
        (
            spec(**{"$setElementOrder/tolerations": [{"key": "k"}]}),
            "spec[$setElementOrder/tolerations]",
            "the list has no merge key",
        ),
        (
            spec(volumes=[], **{"$setElementOrder/volumes": [{"name": "v"}]}),
            "spec.volumes",
            "no elements in any of the given slices",
        ),
        (
            spec(**{"$deleteFromPrimitiveList/tolerations": [{"key": "k"}]}),
            "spec[$deleteFromPrimitiveList/tolerations]",
            "cannot merge lists without merge key for struct",
        ),
        (
            spec(**{"$deleteFromPrimitiveList/tolerations": ["k"]}),
            "spec[$deleteFromPrimitiveList/tolerations]",
            "list element types are not identical: [[map[key:k]] [k]]",
        ),
        (
            metadata(**{"$deleteFromPrimitiveList": ["a"]}),
            "metadata.$deleteFromPrimitiveList",
            "invalid patch format of primitive list",
        ),
        (
            metadata(**{"$retainKeys": [["name"]]}),
            "metadata.$retainKeys",
            "invalid patch format of retainKeys",
        ),
        (
            metadata(**{"$setElementOrder/finalizers": "a"}),
            "metadata[$setElementOrder/finalizers]",
            "expected a []interface {}, but received a string",
        ),
        (
            {"spec": {"containers": [{"name": "x", "env": [{"name": "a", "$patch": "nope"}]}]}},
            None,  # a new field: nothing is executed
            None,
        ),
        (
            {"spec": {"containers": [{"name": "x", "resources": {"$patch": 5}}]}},
            None,
            None,
        ),
        ({"metadata": {"$patch": 5}}, "metadata", "unknown patch type: %!s(int64=5) in map: "),
    ],
)  # fmt: skip
def test_an_error_names_the_field_and_ends_with_the_text_of_kubectl(patch, field, why):
    if field is None:
        assert apply_patch(POD, patch)["kind"] == "Pod"
        return
    with pytest.raises(PatchError) as caught:
        apply_patch(POD, patch)
    assert caught.value.field == field
    assert why in caught.value.why
    assert str(caught.value) == f"{field}: {caught.value.why}"
    assert caught.value.steps[0] in patch


@pytest.mark.parametrize("patch", [None, [], "text", 5])
def test_what_is_no_map_is_no_patch(patch):
    with pytest.raises(PatchError, match=r"^invalid JSON document$"):
        apply_patch(POD, patch)


@pytest.mark.parametrize(
    "patch, finalizers",
    [
        # Go's answer is chance: b, a, c or a, c. Here the deletion comes first.
        ({"$deleteFromPrimitiveList/finalizers": ["b"], "finalizers": ["b"]}, ["b", "a", "c"]),
        ({"finalizers": ["b"], "$deleteFromPrimitiveList/finalizers": ["b"]}, ["b", "a", "c"]),
        ({"$deleteFromPrimitiveList/finalizers": "b"}, ["a", "b", "c"]),
        ({"$deleteFromPrimitiveList/finalizers": {"b": 1}}, ["a", "b", "c"]),
        ({"$deleteFromPrimitiveList/nope": ["b"]}, ["a", "b", "c"]),
        ({"$deleteFromPrimitiveList/finalizers": None}, None),
        # Upstream sorts by an empty order into the reverse.
        ({"$setElementOrder/finalizers": []}, ["a", "b", "c"]),
        ({"$setElementOrder/finalizers": [], "finalizers": ["d", "a"]}, ["d", "a", "b", "c"]),
    ],
)
def test_what_is_undefined_upstream_has_one_answer(patch, finalizers):
    assert apply_patch(POD, metadata(**patch))["metadata"].get("finalizers") == finalizers


def test_an_empty_order_leaves_a_new_list_as_it_is():
    patch = metadata(labels={"a": "b"}, **{"$setElementOrder/x": [], "x": ["a", "b", "c", "d"]})
    assert apply_patch(POD, patch)["metadata"]["x"] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("unknown", ["$foo", "$path", "$retainKeysX"])
def test_an_unknown_directive_is_a_field(unknown):
    assert apply_patch(POD, metadata(**{unknown: ["a"]}))["metadata"][unknown] == ["a"]


def test_patch_wins_over_retain_keys_beside_it():
    patch = metadata(**{"$patch": "replace", "$retainKeys": ["x"], "name": "n"})
    assert apply_patch(POD, patch)["metadata"] == {"$retainKeys": ["x"], "name": "n"}


def test_the_first_error_in_the_document_is_the_one():
    bad = {"metadata": {"$patch": "one"}, "spec": {"$patch": "two"}}
    with pytest.raises(PatchError, match="unknown patch type: one"):
        apply_patch(POD, bad)
    with pytest.raises(PatchError, match="unknown patch type: two"):
        apply_patch(POD, dict(reversed(bad.items())))


def test_a_custom_resource_is_refused():
    with pytest.raises(PatchError, match=r"not supported for example\.com/v1, Kind=Foo locally"):
        apply_patch({"apiVersion": "example.com/v1", "kind": "Foo"}, {})


def test_an_object_keeps_its_kind():
    with pytest.raises(PatchError, match=r"Object 'Kind' is missing in '\{\}'") as caught:
        apply_patch(POD, {"$patch": "delete"})
    assert caught.value.hint


def test_a_long_list_with_few_changes_is_merged_once_each():
    ports = [{"containerPort": n, "protocol": "TCP"} for n in range(1, 2001)]
    target = {**POD, "spec": {"containers": [{"name": "x", "ports": ports}]}}
    changes = [{"containerPort": n, "name": f"p{n}"} for n in (3, 2000, 5000)]
    patch = spec(containers=[{"name": "x", "ports": changes}])
    result = apply_patch(target, patch)["spec"]["containers"][0]["ports"]
    assert len(result) == 2001
    assert [port for port in result if "name" in port] == [
        {"containerPort": 3, "protocol": "TCP", "name": "p3"},
        {"containerPort": 2000, "protocol": "TCP", "name": "p2000"},
        {"containerPort": 5000, "name": "p5000"},
    ]


@pytest.mark.parametrize(
    "left, right", [(1, 1.0), (1, True), (0, False), ("1", 1), (None, ""), ([1], [1.0])]
)
def test_types_are_kept_apart(left, right):
    assert not same(left, right)
    target = {"apiVersion": "v1", "kind": "ConfigMap", "x": left}
    result = apply_patch(target, {"x": right})["x"]
    assert same(result, right)


@pytest.mark.parametrize(
    "value, text",
    [
        (1000000.5, "1.0000005e+06"),
        (0.00001, "1e-05"),
        (0.0001, "0.0001"),
        (1e20, "1e+20"),
        (100000.5, "100000.5"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (0.0, "0"),
        (1.2345678901234568e29, "1.2345678901234568e+29"),
        ({"b": [True, None], "a": 1}, "map[a:1 b:[true <nil>]]"),
    ],
)
def test_values_are_printed_as_go_prints_them(value, text):
    assert go_text(value) == text


def test_what_is_no_text_is_complained_about_as_in_go():
    assert go_string({"a": [True, None, "x", 1.5]}) == (
        "map[a:[%!s(bool=true) %!s(<nil>) x %!s(float64=1.5)]]"
    )
