"""Every recorded probe of kubectl 1.32 and kustomize 5.5 against both flavours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmerge_git.errors import PatchError
from kmerge_git.patch.apply_patch import apply_patch
from kmerge_git.patch.patch_schema import Schema

FILE = Path(__file__).parent / "vectors" / "smp_probes.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))["cases"]}

# Where kubectl is no model; the case's note says why.
OUR_ERROR = {"seo_on_atomic_list": "the list has no merge key, so its order cannot be set"}

KEYLESS = "kustomize loses the other elements, or ignores the patch, without a word: an error here"
WORDS = "kustomize reads the words of YAML 1.2 (y, n, on) as texts; values come in after reading"
KUSTOMIZE_DIFFERS = {
    "lom_delete_without_merge_key": KEYLESS,
    "lom_missing_merge_key": KEYLESS,
    "lom_null_element": KEYLESS,
    "lom_scalar_element": KEYLESS,
    "lom_delete_duplicates_in_original": KEYLESS,
    "lom_key_type_int_vs_string": KEYLESS,
    "svc_port_without_protocol": KEYLESS,
    "svc_port_without_protocol_ambiguous": KEYLESS,
    "container_port_without_protocol": KEYLESS,
    "lom_replace_marker_delete_without_key": "two directives of one list: an error here",
    "seed_duplicates_deleted": "kustomize drops repeats from a list that no patch names",
    "map_new_map_with_null_inside": WORDS,
    "crd_list": WORDS,
    "crd_map_null": WORDS,
    "crd_delete_element": WORDS,
    "crd_metadata_finalizers": WORDS,
    "crd_setelementorder": WORDS,
    "crd_retainkeys": WORDS,
    "yaml11_y_n_unquoted": WORDS,
}


def test_the_probes_are_there():
    assert len(CASES) == 167
    assert set(OUR_ERROR) | set(KUSTOMIZE_DIFFERS) <= set(CASES)


def outcome(case, flavor):
    target, patch = json.loads(json.dumps([case["input"], case["patch"]]))
    try:
        schema = None
        if flavor == "kubectl":
            complete = "complete" in case.get("note", "")
            schema = Schema.builtin(target["apiVersion"], target["kind"], complete=complete)
        result = {"result": apply_patch(target, patch, schema, flavor=flavor)}
    except PatchError as error:
        result = {"error": error.why}
    assert target == case["input"], "the input was changed"
    assert patch == case["patch"], "the patch was changed"
    return result


def wanted_of_kubectl(case):
    if case["id"] in OUR_ERROR:
        return {"error": OUR_ERROR[case["id"]]}
    wanted = dict(case["kubectl"])
    if "error" in wanted:
        wanted["error"] = wanted["error"].removeprefix("error: ")
    return wanted


@pytest.mark.parametrize("name", CASES)
def test_the_flavor_kubectl_does_what_kubectl_did(name):
    assert outcome(CASES[name], "kubectl") == wanted_of_kubectl(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_the_flavor_kustomize_does_what_kustomize_did(name):
    got, wanted = outcome(CASES[name], "kustomize"), dict(CASES[name]["kustomize"])
    if wanted.get("result", "") is None:
        wanted["result"] = {}  # the resource was removed
    if "error" in wanted and "error" in got:
        return
    if name in KUSTOMIZE_DIFFERS:
        assert got != wanted, "the reason is out of date"
    else:
        assert got == wanted


def test_the_counts(capsys):
    kubectl = [name for name, case in CASES.items() if outcome(case, "kubectl") == case["kubectl"]]
    errors = [
        name
        for name, case in CASES.items()
        if "error" in case["kubectl"] and "error" in outcome(case, "kubectl")
    ]
    alike = len(CASES) - len(KUSTOMIZE_DIFFERS)
    with capsys.disabled():
        print(
            f"\nsmp probes: {len(CASES)}; flavor kubectl: {len(kubectl)} same results, "
            f"{len(errors)} errors where kubectl has one; flavor kustomize: {alike} as kustomize, "
            f"{len(KUSTOMIZE_DIFFERS)} with a reason"
        )
    assert len(kubectl) + len(errors) == len(CASES)
