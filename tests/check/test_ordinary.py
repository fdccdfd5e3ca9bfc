"""No false alarms: ordinary manifests, kustomizations, charts and other files have no findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmerge_git.check.run import Run, check_files, check_text
from kmerge_git.check.world import disk
from kmerge_git.cli.check_files import expand, is_manifest_name

FILES = Path(__file__).parent / "ordinary"
ALL = sorted(p.relative_to(FILES).as_posix() for p in FILES.rglob("*") if p.is_file())

WORKLOADS = (
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job",
    "CronJob", "Pod", "PodTemplate",
)  # fmt: skip


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 60
    text = "\n".join((FILES / name).read_text() for name in ALL)
    for kind in (*WORKLOADS, "CustomResourceDefinition", "Kustomization", "Component"):
        assert f"kind: {kind}\n" in text
    assert "values.yaml" in {Path(name).name for name in ALL}


def test_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FILES)
    files = expand(["."])
    assert set(files) >= {name for name in ALL if is_manifest_name(name) and name[:4] != ".git"}
    assert check_files(files, Run(disk())) == []


@pytest.mark.parametrize("name", ALL)
def test_alone(name: str) -> None:
    """Without the other files; only what an overlay would need its kustomization for may differ."""
    assert [f for f in check_text((FILES / name).read_bytes(), name) if f.severity == "error"] == []


@pytest.mark.parametrize("name", ["deployment.yaml", "app/overlays/prod/web.yaml"])
def test_each_of_them_would_show_damage(name: str) -> None:
    """The test above can fail: the same file with a repeated line has a finding."""
    text = (FILES / name).read_text()
    damaged = text.replace("  name: web\n", "  name: web\n  name: web\n", 1)
    assert [f.severity for f in check_text(damaged.encode(), name)] == ["error"]
