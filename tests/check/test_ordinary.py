"""No false alarms: ordinary manifests, kustomizations, charts and other files have no findings.

Each file says in its first comment what could be taken for damage in it; JSON has no comments.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.run import Run, check_files, check_text
from kmerge_git.cli.check_files import disk_world, is_manifest_name

FILES = Path(__file__).parent / "ordinary"
ALL = sorted(p.relative_to(FILES).as_posix() for p in FILES.rglob("*") if p.is_file())

WORKLOADS = (
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job",
    "CronJob", "Pod", "PodTemplate",
)  # fmt: skip
# The files that are not checked, and why: all others are looked through.
SKIPPED = {
    "api/events.json": "several JSON documents",
    "api/schema.json": "JSON that is not valid YAML",
    "chart/templates/simple.yaml": "a template with statements in its comments",
    "cloud/agent-config.yml": "a template with %NAME%",
    "cloud/install-config.yaml": "a template with @NAME@",
    "cloud/network-config.yaml": "a template with {NAME}",
    "cloud/user-data.yaml": "a template with %{ }",
    "helm/umbrella/templates/choice.yaml": "a template with statements in its comments",
    "salt/top.sls.yaml": "a template with {% %}",
    "templating/jinja-in-comments.yaml": "a template with statements in its comments",
    "templating/ytt.yml": "a template with statements in its comments",
    "tests/fixtures/broken.yaml": 'not YAML: a key is not allowed in this place; quote a text that contains ": ", '
    "or correct the indentation",
    "tsconfig.json": "JSON with comments",
    "web/.vscode/settings.json": "JSON with comments",
    "web/jsconfig.json": "JSON with comments",
    "web/database.yml": "a template with <% %>",
}


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 200
    text = "\n".join((FILES / name).read_text() for name in ALL)
    assert len(text) < 150_000
    for kind in (*WORKLOADS, "CustomResourceDefinition", "Kustomization", "Component"):
        assert f"kind: {kind}\n" in text
    assert "values.yaml" in {Path(name).name for name in ALL}


def test_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole folder in one run, each file named as pre-commit names them."""
    monkeypatch.chdir(FILES)
    world, _, files = disk_world(["."])
    assert set(files) >= {name for name in ALL if is_manifest_name(name) and name[:4] != ".git"}
    run = Run(world, named=frozenset(ALL))
    assert check_files(ALL, run) == []
    assert run.skipped == SKIPPED


@pytest.mark.parametrize("name", ALL)
def test_alone(name: str) -> None:
    """Without the other files."""
    data = (FILES / name).read_bytes()
    assert Run(nowhere(), named=frozenset([name])).file(name, data) == []


@pytest.mark.parametrize("name", ["deployment.yaml", "app/overlays/prod/web.yaml"])
def test_each_of_them_would_show_damage(name: str) -> None:
    """The tests above can fail: the same file with a repeated line has a finding."""
    text = (FILES / name).read_text()
    damaged = text.replace("  name: web\n", "  name: web\n  name: web\n", 1)
    assert [f.severity for f in check_text(damaged.encode(), name)] == ["error"]


def test_all_of_them_would_show_a_marker() -> None:
    """Templates too, though nothing else is looked for in them."""
    for name in ALL:
        damaged = (FILES / name).read_bytes() + b"\n>>>>>>> topic\n"
        assert [f.id for f in check_text(damaged, name)][-1:] == ["M01"], name
