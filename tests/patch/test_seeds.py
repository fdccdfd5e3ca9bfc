"""The examples of the two documents that this follows: merging fields in apply, and the patch
format. Where the server does something else than the text says, the test follows the server.
"""

from __future__ import annotations

import pytest

from kmerge_git.patch.applied_annotation import last_applied, with_last_applied
from kmerge_git.patch.apply_config import apply_config
from kmerge_git.patch.apply_patch import apply_patch


def deployment(pod_spec=None, **spec):
    template = {"metadata": {"labels": {"app": "nginx"}}, "spec": pod_spec or {}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nginx-deployment"},
        "spec": {"template": template, **spec},
    }


def applied(before, config, live):
    """The live object after an apply, without the annotation."""
    result = apply_config(config, with_last_applied(live, before))
    assert last_applied(result)["spec"] == config["spec"]
    del result["metadata"]["annotations"]
    return result


@pytest.mark.parametrize(
    "before, config, live, wanted",
    [
        ({}, {"minReadySeconds": 3}, {}, {"minReadySeconds": 3}),
        ({}, {"replicas": 2}, {"replicas": 1}, {"replicas": 2}),
        ({"replicas": 2}, {}, {"replicas": 2}, {}),
        ({}, {}, {"replicas": 5}, {"replicas": 5}),
        # A map: merged, set, removed, left alone.
        (
            {},
            {"selector": {"matchLabels": {"a": "1"}}},
            {},
            {"selector": {"matchLabels": {"a": "1"}}},
        ),
        (
            {"selector": {"matchLabels": {"a": "1"}}},
            {"selector": {"matchLabels": {"b": "2"}}},
            {"selector": {"matchLabels": {"a": "1", "c": "3"}}},
            {"selector": {"matchLabels": {"b": "2", "c": "3"}}},
        ),
        # The whole map leaves the config: what others put there goes with it.
        (
            {"selector": {"matchLabels": {"a": "1"}}},
            {},
            {"selector": {"matchLabels": {"c": "3"}}},
            {},
        ),
        # An explicit null deletes, whoever set the field.
        ({}, {"replicas": None}, {"replicas": 5}, {}),
    ],
)
def test_the_tables_of_apply(before, config, live, wanted):
    result = applied(deployment(**before), deployment(**config), deployment(**live))
    assert result == deployment(**wanted)


def test_fields_that_a_controller_set_stay_and_removed_ones_go():
    before = deployment(minReadySeconds=3, replicas=2)
    live = {**deployment(minReadySeconds=3, replicas=2), "status": {"replicas": 2}}
    result = applied(before, deployment(), live)
    assert result == {**deployment(), "status": {"replicas": 2}}


def test_args_have_no_strategy_so_the_config_replaces_them():
    # The text says [a, c, d].
    def args(*values):
        return deployment({"containers": [{"name": "c", "args": list(values)}]})

    assert applied(args("a", "b"), args("a", "c"), args("a", "b", "d")) == args("a", "c")


def test_containers_by_name_in_the_order_of_the_server():
    # The text has c before d; the freed place of a makes the new c known (trap 1).
    def containers(*names, **extra):
        return deployment(
            {"containers": [{"name": n, "image": "helper:1.3", **extra.get(n, {})} for n in names]}
        )

    run = {"args": ["run"]}
    before, config = containers("nginx", "a", "b"), containers("nginx", "b", "c")
    live = containers("nginx", "a", "b", "d", b=run)
    assert applied(before, config, live) == containers("nginx", "b", "d", "c", b=run)


def test_finalizers_are_an_ordered_set():
    def finalizers(*values):
        return {**deployment(), "metadata": {"name": "x", "finalizers": list(values)}}

    result = applied(finalizers("a", "b"), finalizers("a", "c"), finalizers("a", "b", "d"))
    assert set(result["metadata"]["finalizers"]) == {"a", "c", "d"}


def pod(*containers, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": list(containers), **spec}}


NGINX, TAILER = {"name": "nginx", "image": "nginx-1.0"}, {"name": "log-tailer", "image": "t-1.0"}


def patched(target, **spec):
    return apply_patch(target, {"spec": spec})["spec"]


def test_a_container_is_added_in_front_of_those_that_the_patch_does_not_name():
    assert patched(pod(NGINX), containers=[TAILER])["containers"] == [TAILER, NGINX]


def test_replace_a_map():
    target = deployment(strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}})
    result = patched(target, strategy={"$patch": "replace", "type": "Recreate"})
    assert result["strategy"] == {"type": "Recreate"}


def test_replace_a_list():
    result = patched(pod(TAILER), containers=[NGINX, {"$patch": "replace"}])
    assert result["containers"] == [NGINX]


def test_delete_an_element():
    gone = {"$patch": "delete", "name": "log-tailer"}
    result = patched(pod(NGINX, TAILER, TAILER), containers=[{**NGINX, "image": "2"}, gone])
    assert result["containers"] == [{"name": "nginx", "image": "2"}]


@pytest.mark.parametrize("patch, left", [({"$patch": "delete"}, {}), (None, None)])
def test_delete_a_map_leaves_an_empty_one_and_null_removes_it(patch, left):
    # The text says that both are the same.
    target = deployment(strategy={"rollingUpdate": {"maxSurge": 1}})
    assert (
        patched(target, strategy={"rollingUpdate": patch})["strategy"].get("rollingUpdate") == left
    )


def metadata(patch, *finalizers):
    target = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"finalizers": list(finalizers)}}
    return apply_patch(target, {"metadata": patch})["metadata"]["finalizers"]


def test_delete_from_a_primitive_list_takes_all_that_match():
    gone = {"$deleteFromPrimitiveList/finalizers": ["b", "c"]}
    assert metadata(gone, "a", "b", "c", "b") == ["a"]


def test_set_the_order_of_scalars():
    assert metadata({"$setElementOrder/finalizers": ["b", "c", "a"]}, "a", "b", "c") == [
        "b",
        "c",
        "a",
    ]


def test_set_the_order_of_maps():
    names = [{"name": name} for name in "bca"]
    target = pod(*({"name": name, "image": name} for name in "abc"))
    result = patched(target, **{"$setElementOrder/containers": names})
    assert [container["name"] for container in result["containers"]] == ["b", "c", "a"]


def test_retain_keys_clears_the_other_members_of_a_union():
    # The text writes retainKeys; without the $ it is a field like any other.
    target = deployment(strategy={"foo": "a", "other": "b"})
    patch = {"$retainKeys": ["another", "bar"], "another": "d", "bar": "c"}
    assert patched(target, strategy=patch)["strategy"] == {"another": "d", "bar": "c"}
    literal = {"retainKeys": ["bar"], "bar": "c"}
    assert patched(target, strategy=literal)["strategy"] == {"foo": "a", "other": "b", **literal}
