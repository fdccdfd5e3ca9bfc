"""How the tables of the checks are read: a text, and what is found where."""

from __future__ import annotations

from kmerge_git.check.checked_texts import World
from kmerge_git.check.registry import select
from kmerge_git.check.run import Run, check_files
from kmerge_git.finding import Finding

Place = tuple[str, int, int]

# Four lines: what follows in a table starts in line 5.
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
"""
POD_SPEC = (  # ten lines: what follows starts in line 8, indented by six
    DEPLOYMENT + "spec:\n  template:\n    spec:\n"
)
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
"""
CUSTOM = """\
apiVersion: example.com/v1
kind: Database
metadata:
  name: db
"""


def mapped(blobs: dict[str, bytes]) -> World:
    """Files in memory."""
    folders = {path.rpartition("/")[0] for path in blobs}
    return World(blobs.get, lambda path: path in folders)


def places(findings: list[Finding]) -> list[Place]:
    return [(f.id, f.line, f.column) for f in findings]


def check(
    files: dict[str, str],
    *paths: str,
    select_ids: str = "",
    told: str = "",
    target: str = "",
) -> list[Finding]:
    """Check some of the files of a small world, or all of them."""
    blobs = {path: text.encode() for path, text in files.items()}
    chosen = select([select_ids] if select_ids else [], [])
    run = Run(mapped(blobs), chosen, told=told, target=target)
    return check_files(paths or list(files), run)


def as_kubectl(text: str, *, target: str = "") -> list[Finding]:
    """The findings of a patch that a script gives to kubectl."""
    files = {"p.yaml": text}
    if target:
        files["target.yaml"] = target
    blobs = {path: content.encode() for path, content in files.items()}
    run = Run(
        mapped(blobs),
        script_with=lambda path: "deploy.sh" if path == "p.yaml" else "",
        target="target.yaml" if target else "",
    )
    return check_files(["p.yaml"], run)


def as_kustomize(text: str, *, resource: str = "", more: str = "") -> list[Finding]:
    """The findings of a patch that a kustomization names."""
    files = {"p.yaml": text, "kustomization.yaml": f"patches:\n- path: p.yaml\n{more}"}
    if resource:
        files["kustomization.yaml"] += "resources:\n- r.yaml\n"
        files["r.yaml"] = resource
    else:
        files["kustomization.yaml"] += "resources:\n- https://example.com/remote\n"
    return check(files, "p.yaml")
