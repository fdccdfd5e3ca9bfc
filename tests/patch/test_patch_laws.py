"""What must hold for any object and any patch."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from kmerge_git.errors import PatchError
from kmerge_git.patch.apply_config import apply_config, plan_apply
from kmerge_git.patch.apply_patch import apply_json_patch, apply_patch, merge_patches
from kmerge_git.patch.json_values import same
from kmerge_git.patch.make_patch import (
    first_conflict,
    make_json_patch,
    make_json_patch3,
    make_patch,
    make_patch3,
)
from kmerge_git.patch.patch_schema import Schema

from .generated import KINDS, make_object, make_patch_for
from .triples import make_triple

SEEDS = st.integers(0, 10**9)
laws = settings(max_examples=120, deadline=None)


def two_objects(seed, **options):
    rnd = Random(seed)
    kind = rnd.choice(list(KINDS))
    return make_object(rnd, kind, **options), make_object(rnd, kind, **options)


@laws
@given(SEEDS)
def test_a_patch_leads_to_what_it_was_made_for(seed):
    original, modified = two_objects(seed)
    assert unordered_as_kubectl(apply_patch(original, make_patch(original, modified))) == (
        unordered_as_kubectl(modified)
    )


def unordered_as_kubectl(value):
    """A scalar list brought into sorted order gives no patch, as in kubectl: sets are compared."""
    if isinstance(value, dict):
        return {
            key: sorted(item) if key == "finalizers" else unordered_as_kubectl(item)
            for key, item in value.items()
        }
    return [unordered_as_kubectl(item) for item in value] if isinstance(value, list) else value


@laws
@given(SEEDS)
def test_no_change_gives_no_patch_but_for_replaced_fields(seed):
    original, _ = two_objects(seed, repeats=True)
    if has_unsorted_finalizers(original):
        return
    patch = make_patch(original, deepcopy(original))
    if original["kind"] == "PodDisruptionBudget" and "selector" in original.get("spec", {}):
        assert patch == {"spec": {"selector": original["spec"]["selector"]}}
    else:
        assert patch == {}


def has_unsorted_finalizers(value):
    """Upstream compares the sorted original with the modified list: unsorted ones are "moved"."""
    if isinstance(value, dict):
        own = value.get("finalizers", [])
        return own != sorted(own) or any(map(has_unsorted_finalizers, value.values()))
    return False


@laws
@given(SEEDS)
def test_inputs_are_never_changed_and_never_shared(seed):
    rnd = Random(seed)
    kind = rnd.choice(list(KINDS))
    original, modified, current = (make_object(rnd, kind, repeats=True) for _ in range(3))
    patch, schema = make_patch_for(rnd, kind), Schema.builtin(KINDS[kind][0], kind)
    inputs = [original, modified, current, patch]
    before = json.dumps(inputs)
    calls = [
        lambda: apply_patch(original, patch),
        lambda: apply_patch(original, patch, flavor="kustomize"),
        lambda: apply_json_patch(original, patch),
        lambda: make_patch(original, modified),
        lambda: make_patch3(original, modified, current, overwrite=rnd.random() < 0.5),
        lambda: make_json_patch3(original, modified, current),
        lambda: merge_patches(patch, patch, schema),
        lambda: apply_config(modified, current, last_applied=original),
        lambda: apply_config(modified, {}),
        lambda: first_conflict(patch, original, schema),
    ]
    for call in calls:
        try:
            result = call()
        except PatchError:
            continue
        assert json.dumps(inputs) == before
        if isinstance(result, dict):
            scribble(result)
            assert json.dumps(inputs) == before, "the result shares a part with an input"


def scribble(value):
    """Change every map and list of a value."""
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            scribble(item)
    if isinstance(value, dict):
        value["scribbled"] = True
    else:
        value.append("scribbled")


@laws
@given(SEEDS)
def test_an_apply_again_changes_nothing_more(seed):
    _, config, live = make_triple(Random(seed))
    once = plan_apply(config, live).result
    twice = plan_apply(config, once).result
    assert same(twice, once)


@laws
@given(SEEDS)
def test_a_created_object_stays_as_it_is(seed):
    _, config, _ = make_triple(Random(seed))
    created = apply_config(config, {})
    assert same(apply_config(config, created), created)


@laws
@given(SEEDS)
def test_the_result_has_every_scalar_of_the_config(seed):
    _, config, live = make_triple(Random(seed))
    result = apply_config(config, live)
    assert missing(config, result) == []


def missing(config, result, path=""):
    """Where a scalar, or a scalar list without a strategy, of the config is not in the result."""
    lost = []
    for key, value in config.items():
        if isinstance(value, dict):
            below = result.get(key)
            lost += missing(value, below, f"{path}.{key}") if isinstance(below, dict) else [key]
        elif value is not None and not isinstance(value, list) and result.get(key) != value:
            lost.append(f"{path}.{key}")
    return lost


@laws
@given(SEEDS)
def test_a_json_merge_patch_leads_to_what_it_was_made_for(seed):
    original, modified = two_objects(seed, repeats=True)
    assert same(apply_json_patch(original, make_json_patch(original, modified)), modified)


@laws
@given(SEEDS)
def test_nothing_conflicts_with_a_live_object_that_nobody_changed(seed):
    original, modified = two_objects(seed)
    if original["kind"] == "PodDisruptionBudget":
        return  # its selector is always "changed", as in kubectl
    assert make_patch3(original, modified, original, overwrite=False) == (
        make_patch3(original, modified, original)
    )
