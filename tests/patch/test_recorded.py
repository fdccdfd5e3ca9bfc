"""What kubectl sent once: three-way patches of `apply`, two-way patches of `edit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmerge_git.patch.apply_config import plan_apply
from kmerge_git.patch.make_patch import make_patch

FILE = Path(__file__).parent / "vectors" / "apply_probes.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))["cases"]}


def test_both_kinds_are_there():
    kinds = [name.partition("_")[0] for name in CASES]
    assert (kinds.count("apply"), kinds.count("edit")) == (50, 20)


@pytest.mark.parametrize("name", CASES)
def test_the_patch_is_what_kubectl_sent(name):
    case = CASES[name]
    if "config" in case:
        assert plan_apply(case["config"], case["live"]).patch == case["patch"]
    else:
        assert make_patch(case["original"], case["modified"]) == case["patch"]
