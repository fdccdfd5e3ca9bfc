"""Two-way and three-way patches: what kubectl does on purpose, and its quirks."""

from __future__ import annotations

import pytest

from kmerge_git import PatchConflict, PatchError, make_json_patch3, make_patch, make_patch3
from kmerge_git.patch.applied_annotation import LAST_APPLIED
from kmerge_git.patch.apply_patch import apply_json_patch, merge_patches
from kmerge_git.patch.make_patch import (
    first_conflict,
    json_has_conflicts,
)
from kmerge_git.patch.patch_schema import Schema

POD = Schema.builtin("v1", "Pod")


def pod(**spec):
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec}


def meta(**metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def named(*names, **more):
    return [{"name": name, **more.get(name, {})} for name in names]


def clashes(left, right):
    return first_conflict(left, right, POD) is not None


def changes(original, modified):
    return make_patch(pod(**original), pod(**modified)).get("spec", {})


@pytest.mark.parametrize(
    "original, modified, patch",
    [
        ({"a": 1}, {"a": 2, "b": None}, {"a": 2, "b": None}),
        ({"a": 1}, {"a": "1"}, {"a": "1"}),
        ({"a": 1}, {"a": 1.0}, {"a": 1.0}),
        ({"a": 1, "b": {}}, {}, {"a": None, "b": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, {"a": {"b": None}}),
        ({"args": ["a"]}, {"args": ["a", "b"]}, {"args": ["a", "b"]}),
        # A keyed list: only what changed, the order with it, deletions last.
        ({"containers": []}, {"containers": named("x")}, {"containers": named("x")}),
        (
            {"containers": named("x", "y", "z")},
            {"containers": named("z", "w", "y", y={"image": "i"})},
            {
                "containers": [
                    {"name": "w"},
                    {"name": "y", "image": "i"},
                    {"name": "x", "$patch": "delete"},
                ],
                "$setElementOrder/containers": named("z", "w", "y"),
            },
        ),
        (
            {"containers": named("x", "y")},
            {"containers": named("y", "x")},
            {"$setElementOrder/containers": named("y", "x")},
        ),
        ({"containers": named("x")}, {"containers": []}, {"containers": [{"name": "x", "$patch": "delete"}]}),
        # retainKeys: a member of a union that changed.
        (
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
            {
                "volumes": [
                    {
                        "name": "v",
                        "emptyDir": None,
                        "hostPath": {"path": "/"},
                        "$retainKeys": ["hostPath", "name"],
                    }
                ],
                "$setElementOrder/volumes": named("v"),
            },
        ),
    ],
)  # fmt: skip
def test_a_two_way_patch(original, modified, patch):
    assert changes(original, modified) == patch


@pytest.mark.parametrize(
    "original, modified, patch",
    [
        # Brought into sorted order: upstream sees no difference.
        (["b", "a"], ["a", "b"], None),
        (["a", "b"], ["b", "a"], {"$setElementOrder/finalizers": ["b", "a"]}),
        (
            ["a", "b", "c"],
            ["d", "a"],
            {
                "finalizers": ["d"],
                "$deleteFromPrimitiveList/finalizers": ["b", "c"],
                "$setElementOrder/finalizers": ["d", "a"],
            },
        ),
    ],
)
def test_a_set_of_scalars(original, modified, patch):
    got = make_patch(meta(finalizers=original), meta(finalizers=modified))
    assert got.get("metadata") == patch


def test_ports_with_one_key_swap_places():
    def port(protocol):
        return {"containerPort": 53, "protocol": protocol}

    original = named("x", x={"ports": [port("TCP"), port("UDP")]})
    modified = named("x", x={"ports": [{**port("TCP"), "name": "a"}, {**port("UDP"), "name": "b"}]})
    patch = changes({"containers": original}, {"containers": modified})
    assert [one["name"] for one in patch["containers"][0]["ports"]] == ["b", "a"]


def test_a_replaced_field_is_always_sent():
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    budget["spec"] = {"selector": {"matchLabels": {"a": "1"}}}
    assert make_patch(budget, budget) == {"spec": {"selector": {"matchLabels": {"a": "1"}}}}


@pytest.mark.parametrize(
    "element, why",
    [
        ({}, "does not contain declared merge key: name"),
        ("x", "list element types are not identical"),
    ],
)
def test_a_list_that_cannot_be_compared_is_an_error(element, why):
    with pytest.raises(PatchError, match=why):
        changes({"containers": named("a")}, {"containers": [*named("a"), element]})


def test_a_three_way_patch_deletes_what_left_the_config_only():
    original = pod(a=1, b=2, keep=1)
    patch = make_patch3(original, pod(a=5, keep=1), pod(a=1, b=2, keep=2, live=1))
    assert patch == {"spec": {"a": 5, "b": None, "keep": 1}}


def test_a_removal_that_live_has_already_made_is_still_sent():
    assert make_patch3(pod(a=1), pod(), pod()) == {"spec": {"a": None}}


def test_an_explicit_null_is_sent():
    assert make_patch3(pod(), pod(a=None), pod()) == {"spec": {"a": None}}


def test_a_value_that_left_config_and_annotation_stays():
    assert make_patch3(pod(), pod(), pod(a=1)) == {}


def test_an_injected_element_makes_every_apply_send_the_order():
    config, live = pod(containers=named("a")), pod(containers=named("a", "sidecar"))
    assert make_patch3(config, config, live) == {
        "spec": {"$setElementOrder/containers": named("a")}
    }


def test_deletions_come_behind_additions():
    original, modified = pod(containers=named("a", "b")), pod(containers=named("b", "c"))
    assert make_patch3(original, modified, original)["spec"] == {
        "containers": [{"name": "c"}, {"name": "a", "$patch": "delete"}],
        "$setElementOrder/containers": named("b", "c"),
    }


def test_a_marker_in_the_config_is_eaten():
    modified = pod(securityContext={"$patch": "replace", "runAsUser": 1})
    patch = make_patch3(pod(securityContext={"runAsUser": 2, "x": 1}), modified, pod())
    assert patch == {"spec": {"securityContext": {"runAsUser": 1}}}


def test_two_patches_become_one():
    first = {"spec": {"a": None, "containers": [{"name": "x", "$patch": "delete"}]}}
    second = {"spec": {"b": 1, "containers": [{"name": "y"}]}}
    assert merge_patches(first, second, POD) == {
        "spec": {
            "a": None,
            "b": 1,
            "containers": [{"name": "y"}, {"name": "x", "$patch": "delete"}],
        }
    }


@pytest.mark.parametrize("directive", ["$setElementOrder/containers", "$retainKeys"])
def test_two_patches_with_different_directives_are_an_error(directive):
    first, second = {"spec": {directive: ["a"]}}, {"spec": {directive: ["b"]}}
    why = "retainKeys" if "retain" in directive else "setElementOrder list"
    with pytest.raises(PatchError, match=f"invalid patch format of {why}"):
        merge_patches(first, second, POD)


def test_no_overwrite_raises_what_both_changed():
    with pytest.raises(PatchConflict) as caught:
        make_patch3(pod(a=1), pod(a=2), pod(a=3), overwrite=False)
    assert caught.value.why == (
        "patch:\nspec:\n  a: 2\n\n"
        "conflicts with changes made from original to current:\nspec:\n  a: 3\n\n"
    )


@pytest.mark.parametrize(
    "modified, current",
    [
        ({"a": 2}, {"a": 2}),  # the same change
        ({"a": 2}, {"a": 1, "b": 5}),  # another field
        ({"a": 1}, {"a": 1}),
    ],
)
def test_no_overwrite_is_fine_with_changes_of_other_fields(modified, current):
    with_overwrite = make_patch3(pod(a=1), pod(**modified), pod(**current))
    assert make_patch3(pod(a=1), pod(**modified), pod(**current), overwrite=False) == with_overwrite


def test_the_annotation_is_no_conflict():
    def config(text, **spec):
        return {**pod(**spec), "metadata": {"annotations": {LAST_APPLIED: text}}}

    original, modified, current = pod(a=1), config("new", a=2), config("old", a=1)
    assert make_patch3(original, modified, current, overwrite=False)["spec"] == {"a": 2}


@pytest.mark.parametrize(
    "left, right, clash",
    [
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1}, False),
        ({"a": 1}, {"a": 2}, True),
        ({"a": {"b": 1}}, {"a": 1}, True),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, False),
        ({"a": {"$patch": "delete"}}, {"a": {"c": 1}}, True),
        ({"a": {"$patch": "delete"}}, {"a": {"$patch": "replace"}}, True),
        ({"a": {"$patch": "delete"}}, {"a": {"$patch": "delete"}}, False),
        ({"args": ["a", "b"]}, {"args": ["b", "a"]}, False),
        ({"args": ["a", "b"]}, {"args": ["b"]}, True),
        ({"args": ["a", "a"]}, {"args": ["a", "b"]}, True),  # upstream panics
        ({"args": []}, {"args": []}, False),  # upstream: an error
        ({"args": []}, {"args": {}}, True),
        ({"tolerations": [{"a": 1}]}, {"tolerations": [{"a": 2}]}, True),
        ({"tolerations": [{"a": 1}]}, {"tolerations": [{"b": 2}]}, False),
        ({"containers": named("a", a={"x": 1})}, {"containers": named("a", a={"x": 2})}, True),
        ({"containers": named("a", a={"x": 1})}, {"containers": named("b", b={"x": 2})}, False),
        ({"$retainKeys": ["a"]}, {"$retainKeys": ["b"]}, False),
        ({"$deleteFromPrimitiveList/f": ["a"]}, {"$deleteFromPrimitiveList/f": ["b"]}, False),
    ],
)
def test_whether_two_patches_clash(left, right, clash):
    assert clashes({"spec": left}, {"spec": right}) is clash
    assert clashes({"spec": right}, {"spec": left}) is clash


def test_scalars_of_a_set_never_clash():
    left, right = {"metadata": {"finalizers": ["a"]}}, {"metadata": {"finalizers": ["b"]}}
    assert not clashes(left, right)


def test_a_conflict_counts_more_than_an_error_before_it():
    bad = {"spec": {"args": [1, "a"], "x": 1}}
    with pytest.raises(PatchError, match="not identical"):
        clashes(bad, {"spec": {"args": ["a"], "x": 1}})
    assert clashes(bad, {"spec": {"args": ["a"], "x": 2}})


def test_a_json_three_way_patch():
    original = {"spec": {"a": 1, "gone": 1, "list": [1]}}
    modified = {"spec": {"a": 2, "list": [1, 2], "empty": {}, "off": None}}
    current = {"spec": {"a": 1, "gone": 1, "list": [1, 9], "live": 1, "off": 3}}
    assert make_json_patch3(original, modified, current) == {
        "spec": {"a": 2, "gone": None, "list": [1, 2], "empty": {}, "off": None}
    }


def test_a_json_patch_replaces_lists_and_keeps_types_apart():
    target = {"a": {"b": 1}, "l": [1, 2], "n": 1}
    assert apply_json_patch(target, {"a": {"b": None, "c": 2}, "l": [3], "n": 1.0}) == {
        "a": {"c": 2},
        "l": [3],
        "n": 1.0,
    }


def test_nulls_in_a_new_list_are_taken_out_of_its_maps_as_the_server_does():
    assert apply_json_patch({}, {"l": [{"a": None}, None]}) == {"l": [{}, None]}


@pytest.mark.parametrize(
    "left, right, clash",
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": [1, 2]}, {"a": [1]}, True),
        ({"a": [1, {"b": 1}]}, {"a": [1, {"c": 1}]}, False),
        ({"a": {"b": 1}}, {"a": None}, True),
    ],
)
def test_whether_two_json_patches_clash(left, right, clash):
    assert json_has_conflicts(left, right) is clash
