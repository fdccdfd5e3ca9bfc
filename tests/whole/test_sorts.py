"""What kind of file it is, for the table of a replay."""

from __future__ import annotations

import pytest

from kmerge_git.replay.past_merges import sort_of

MANIFEST = b"apiVersion: v1\nkind: Service\n"


@pytest.mark.parametrize(
    ("path", "text", "sort"),
    [
        ("charts/web/Chart.yaml", b"apiVersion: v2\n", "Chart.yaml"),
        ("charts/web/values.yaml", b"a: 1\n", "values"),
        ("envs/prod-values.yaml", b"a: '{{ x }}'\n", "values"),
        ("kustomization.yaml", b"apiVersion: kustomize.config.k8s.io/v1beta1\n", "kustomizations"),
        ("a/Kustomization", b"", "kustomizations"),
        ("charts/web/templates/service.yaml", MANIFEST + b"a: {{ .x }}\n", "templates"),
        ("values/web.yaml", MANIFEST, "manifests"),
        ("mkdocs.yml", b"site_name: x\n", "other YAML"),
        ("gone.yaml", b"", "other YAML"),
    ],
)
def test_the_name_comes_before_the_text(path: str, text: bytes, sort: str) -> None:
    assert sort_of(path, text) == sort
