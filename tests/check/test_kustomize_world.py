"""Random kustomize trees: what kustomize refuses has a finding, what it builds has no error."""

from __future__ import annotations

import json
import re

import pytest
from kustomize_world import Tree
from tables import check

from kmerge_git.finding import ERROR, Finding

# What `kubectl kustomize` 1.32.4 said of the trees with the seeds 0, 1, ..: `.` it builds it, `t`
# something is there twice, `n` a patch has no target, `m` a generator nothing to merge with, `f`
# a file is not there.
RECORDED = (
    "..m.m.f.nmn.f.f.t.ttm.n.f.tnmtm..ntnnmmt..t.m.m.m.mtn.ntmmnttnttf.t.n.ttt.m.t.tt"
    "m..tt.ftftfn.tn.t.ft.ft.f.nmm.mt..mnttn...nt...t.mnt..f.tfm.t.ttn.t..mmnf.n.tt.."
    "mnf.mfntmt.nmtftfnm.t.ftnnf...t.m.mt.nttntn.t.mtn.f.n..n.tm.tttnm.mt.n.tt.mmn.mt"
    "t.t.m.t.m.m.mtntf.fm.tf.mnn.f.nnttftt.nttn..fnm.mtm...mtf...tt..m.tntt.tf.ttmtn."
    "mf.mf.tn.tftt.f.f.n.t.ftftn.t..nt.mt.tm.t.n.ttt.ttn.tttt.t..m.m.t.m.n.mnn.ftmt.t"
    "t.t.t.ntm.tttnmtttttt.t.f.tnttmtm.t.mtm.t.mtt.n.mtntmtn...m.m.t.nfnntmntmtt.ntt."
)
SAYS = {"M03": "t", "M04": "t", "M13": "t", "D69": "n", "M15": "m", "M14": "f"}


def seen_from_the_top(files: dict[str, str]) -> set[str]:
    """The kustomizations that are in the build of the top."""
    found: set[str] = set()
    todo = [""]
    while todo:
        folder = todo.pop()
        path = f"{folder}/kustomization.yaml".lstrip("/")
        if path not in found and path in files:
            found.add(path)
            fields = json.loads(files[path])
            for entry in (*fields.get("resources", ()), *fields.get("components", ())):
                todo.append(_inside(folder, entry))
    return found


def _inside(folder: str, entry: str) -> str:
    parts = folder.split("/") if folder else []
    for part in entry.strip("/").split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def is_about(finding: Finding, kustomizations: set[str]) -> bool:
    """Whether it is told of one of them; of a patch without target it is told in the patch."""
    told = any(finding.message.find(f" in {path}") >= 0 for path in kustomizations)
    return finding.file in kustomizations or finding.id == "M03" or told


def does_nothing(finding: Finding, files: dict[str, str]) -> bool:
    """Whether it is about a `target:` that selects nothing: kustomize builds that."""
    entry = re.match(r"patches\[(\d+)\]", finding.path)
    return (
        finding.id == "D69"
        and bool(entry)
        and "target" in json.loads(files[finding.file])["patches"][int(entry[1])]
    )


@pytest.mark.costly
def test_random_trees() -> None:
    wrong = []
    for seed, said in enumerate(RECORDED):
        files = Tree(seed).files
        top = seen_from_the_top(files)
        found = [f for f in check(files) if f.id in SAYS and is_about(f, top)]
        found = [f for f in found if not does_nothing(f, files)]
        if said == ".":
            wrong += [(seed, f) for f in found if f.severity == ERROR]
        elif said not in {SAYS[f.id] for f in found}:
            wrong.append((seed, said))
    assert wrong == []


def test_the_record_is_of_use() -> None:
    assert all(RECORDED.count(letter) > 30 for letter in ".tnmf")
