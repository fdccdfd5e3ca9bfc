"""The laws of packages as wholes, on every pair of edits and on random handfuls."""

from __future__ import annotations

import pytest
from depth import part
from hypothesis import given, settings
from hypothesis import strategies as st

from kmerge_git.merge.three import Three
from kmerge_git.packages.package_files import Package
from kmerge_git.packages.package_merge import Merged, merge_packages
from kmerge_git.packages.package_rules import ways
from tests.worlds.packages import BASE, EDITS, Edit, Tree, edited, package, read, truths

WORDS = ("original", "dest", "updated")
WAYS = {rules: ways(rules, labels=WORDS) for rules in ("kyaml", "git")}
few = st.lists(st.sampled_from(EDITS), max_size=4).map(tuple)
RULES = pytest.mark.parametrize("rules", WAYS)


def merged(rules: str, base: Package, updated: Package, dest: Package) -> Merged:
    return merge_packages(Three(base, dest, updated), WAYS[rules])


def result(of: Merged, local: Package | None = None) -> Package:
    """What lies in dest when the changes are written."""
    if local is None:
        return {r.path: r.after for r in of.files if r.after is not None}
    return {path: file for path, file in (local | of.changes).items() if file is not None}


def told(of: Merged) -> set[str]:
    """Every path and every resource of which something is told."""
    paths = {r.path for r in of.files if r.is_conflict or r.note}
    return paths | {d.resource for r in of.files for d in r.merged.lost}


def check(rules: str, upstream_edits: tuple[Edit, ...], dest_edits: tuple[Edit, ...]) -> None:
    """All laws of one world."""
    upstream, dest = (
        edited(BASE, "upstream", upstream_edits),
        edited(BASE, "dest", dest_edits),
    )
    base, updated, local = package(BASE), package(upstream), package(dest)
    found = merged(rules, base, updated, local)
    files = result(found, local)
    assert files == result(found), "what is written is what is told"
    assert files.keys() <= updated.keys() | local.keys(), "a path that neither side has"
    if updated in (base, local):
        assert files == local and not told(found), "nobody changed anything upstream"
    if local == base:
        assert files == updated and not told(found), "upstream alone"
    if not any(r.merged.conflicts for r in found.files):
        if rules == "kyaml" or not (is_filled_anew(upstream) or is_filled_anew(dest)):
            again = merged(rules, base, updated, files)
            assert result(again) == files, "the same update once more"
        check_things(upstream, dest, found)
        if not any(truth.clash for truth in truths(upstream, dest)):
            check_peace(upstream_edits, dest_edits, found)
    else:
        assert any(truth.clash for truth in truths(upstream, dest)) or is_tangled(
            upstream_edits, dest_edits
        ), "a conflict of nothing"


def check_things(upstream: Tree, dest: Tree, found: Merged) -> None:
    """Everything stands once, as the edits say; or dest's version stands and that is told."""
    standing: dict[str, list] = {}
    for path, name, thing in read(result(found)):
        standing.setdefault(name, []).append((path, thing))
    for truth in truths(upstream, dest):
        there = [thing for _, thing in standing.get(truth.name, [])]
        if there == ([truth.thing] if truth.thing else []) and not truth.clash:
            continue
        places = {path for path, _ in standing.get(truth.name, [])} | {f"ConfigMap/{truth.name}"}
        for tree in (BASE, upstream, dest):
            places |= {tree.place(n) for n in tree.things if shares_file(n, truth.name)}
        assert places & told(found), f"{truth}: {there}, and nothing is told"
        assert len(there) < 2, f"{truth}: it stands {len(there)} times"


def shares_file(one: str, other: str) -> bool:
    """Whether both stood in one file when it began, or are new: then a path tells of both."""
    return not BASE.place(one) or BASE.place(one) == BASE.place(other)


def is_filled_anew(tree: Tree) -> bool:
    """Whether a file holds nothing of what it held: what is there may be that under a new name."""
    return any(
        not set(tree.files.get(path, names)) & set(names) for path, names in BASE.files.items()
    )


def is_tangled(upstream: tuple[Edit, ...], dest: tuple[Edit, ...]) -> bool:
    """Whether both sides put other things under one path, or named one file differently."""
    kinds = {"rename", "move", "split", "join", "add"}
    both = [{e for e in edits if e[0] in kinds} for edits in (upstream, dest)]
    return bool(both[0] and both[1])


def check_peace(upstream: tuple[Edit, ...], dest: tuple[Edit, ...], found: Merged) -> None:
    if not is_tangled(upstream, dest):
        assert not told(found), "nothing clashes, and something is told"


@RULES
@pytest.mark.parametrize("upstream", [(), *((edit,) for edit in EDITS)], ids=str)
def test_every_pair_of_edits(rules, upstream):
    for dest in part([(), *((edit,) for edit in EDITS)]):
        check(rules, upstream, dest)


TOLD_APART = [  # each was wrong once
    ((("join", "x.yaml", "y.yaml"),), (("move", "b", "own.yaml"),)),
    ((("join", "x.yaml", "common.yaml"), ("delete", "a")), (("move", "a", "common.yaml"),)),
    ((("join", "y.yaml", "x.yaml"),), (("rename", "x.yaml", "common/"), ("delete", "b"))),
    (
        (("delete", "c"), ("move", "a", "z.yaml")),
        (("join", "x.yaml", "common.yaml"), ("change", "b"), ("join", "y.yaml", "x.yaml")),
    ),
    (
        (("delete", "a"), ("join", "y.yaml", "x.yaml"), ("join", "x.yaml", "y.yaml")),
        (("move", "c", "own.yaml"), ("move", "a", "own.yaml"), ("move", "b", "own.yaml")),
    ),
    (
        (
            ("rename", "x.yaml", "common/"),
            ("delete file", "z.yaml"),
            ("move", "b", "z.yaml"),
            ("move", "a", "common.yaml"),
        ),
        (("delete", "b"), ("add", "common.yaml"), ("delete", "c")),
    ),
    (
        (("change", "b"), ("join", "y.yaml", "x.yaml")),
        (("rename", "t.sh", "own/"), ("delete", "b"), ("add", "own.yaml")),
    ),
]


@RULES
@pytest.mark.parametrize("upstream, dest", TOLD_APART)
def test_what_was_wrong_once(rules, upstream, dest):
    check(rules, upstream, dest)


@RULES
@settings(max_examples=150, deadline=None)
@given(upstream=few, dest=few)
def test_handfuls_of_edits(rules, upstream, dest):
    check(rules, upstream, dest)
