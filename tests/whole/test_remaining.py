"""How fields are named when many conflicts are counted together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kmerge_git.kube.fieldpath import matches, pattern
from kmerge_git.whole.remaining import Remaining, any_element, anywhere

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


@pytest.mark.parametrize(
    "path, form, name, called",
    [
        (("version",), "version", "**.version", "version of Chart.yaml"),
        (("spec", "replicas"), "spec.replicas", "**.replicas", "**.replicas"),
        (
            ("spec", "containers", (("name", "app"),), "image"),
            "spec.containers[*].image",
            "**.image",
            "**.image",
        ),
        (
            ("metadata", "labels", "helm.sh/chart"),
            "metadata.labels[helm.sh/chart]",
            "**[helm.sh/chart]",
            "**[helm.sh/chart]",
        ),
        (("spec", "args", 3), "spec.args", "**.args", "**.args"),
        (("spec", "rules", 3, "host"), "spec.rules[*].host", "**.host", "**.host"),
        (
            ("spec", "env", (("name", "A"),)),
            "spec.env[*]",
            "**.env[*]",
            "**.env[*]",
        ),
        (("images", (("name", "a"),)), "images[*]", "**.images[*]", "images[*] of Chart.yaml"),
        (((("name", "a"),),), "[*]", "", "[name=a]"),
        ((), "", "", ""),
    ],
)
def test_a_field_and_its_patterns(path: Path, form: str, name: str, called: str) -> None:
    assert (any_element(path), anywhere(path)) == (form, name)
    field = "[name=a]" if form == "[*]" else ""
    assert Remaining("", field, "changed", path).called("c/Chart.yaml") == called
    for text in filter(None, (form, name)):
        assert matches(pattern(text), path)
