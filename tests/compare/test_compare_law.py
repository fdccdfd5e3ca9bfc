"""The JSON of a comparison is complete: applied to one version it gives the other, both ways."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
import strategies
from compare.applying import apply, apply_lines, backwards
from hypothesis import given
from rendering import File

from kmerge_git.compare.file_changes import compare
from kmerge_git.errors import KmergeError
from kmerge_git.tree.plain_values import load

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = sorted({p.parent for p in CASES.rglob("*.yaml")})


def obey(old: bytes, new: bytes, path: str = "") -> str:
    """Put two versions through the law; how they were compared."""
    found = compare(old, new, path)
    assert bool(found) == (old != new)
    told = json.loads(json.dumps([change.as_json() for change in found]))
    back = backwards(told)
    ways = {change["how"] for change in told}
    if "binary" in ways:
        return "binary"
    if "lines" in ways:
        assert ways == {"lines"}
        assert apply_lines(old, told) == new
        assert apply_lines(new, back) == old
        return "lines"
    try:
        before, after = (json.dumps(load(data), sort_keys=True) for data in (old, new))
    except KmergeError:
        return "partly"  # a broken document that both have has no values
    assert json.dumps(apply(json.loads(before), told), sort_keys=True) == after
    assert json.dumps(apply(json.loads(after), back), sort_keys=True) == before
    assert (before == after) == (ways <= {"layout"})
    return "fields"


@pytest.mark.world
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_the_versions_of_all_cases(folder: Path) -> None:
    texts = sorted({path.read_bytes() for path in folder.glob("*.yaml")})
    for old, new in permutations(texts, 2):
        obey(old, new, "a.yaml")


@given(strategies.trios(most=6))
@pytest.mark.costly
def test_random_edits(trio: strategies.Trio) -> None:
    base, ours, theirs = trio
    for old, new in ((base, ours), (ours, theirs)):
        obey(old, new)


@given(strategies.files(), strategies.files())
def test_any_two_files(one: File, other: File) -> None:
    old, new = one.data, other.data
    obey(old, new)


@pytest.mark.rates
def test_most_random_edits_are_compared_by_fields() -> None:
    r = Random(14)
    found = [obey(base, ours) for base, ours, _ in (strategies.trio(r) for _ in range(200))]
    assert found.count("fields") > 150
