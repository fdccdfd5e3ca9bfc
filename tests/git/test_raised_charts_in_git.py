"""Check M29 and `preview` in the real git: two releases of a chart with the same version."""

from __future__ import annotations

import pytest
from world import Repo

WORDS = "both sides raised the version to 1.3.0 but differ in c/values.yaml"
BASE = {"c/Chart.yaml": "version: 1.2.0\n", "c/values.yaml": "a: 1\n", "x": "1\n"}
UP = {"c/Chart.yaml": "version: 1.3.0\n"}


@pytest.fixture
def forked(repo: Repo) -> Repo:
    repo.fork(BASE, {**BASE, **UP, "c/values.yaml": "a: 2\n"}, {**BASE, **UP, "x": "2\n"})
    return repo


@pytest.mark.costly
def test_a_merge_and_its_preview(forked: Repo) -> None:
    """What is found is a warning, and git's clean merge stays as it is."""
    told = forked.kmerge("preview", "side")
    assert f"warning: c/Chart.yaml: {WORDS}" in told.out
    page = forked.kmerge("preview", "side", "--format", "markdown").out
    assert "both sides raised the version to 1.3.0" in page
    assert f"warning: c/Chart.yaml: {WORDS}" in forked.kmerge("preview", "side", "--json").out
    assert WORDS in forked.kmerge("preview", "side", "--rebase").out
    forked.git("merge", "--no-commit", "side")
    for how in (["--merge"], ["--merge", "--staged"]):
        assert f"warning M29 {WORDS}" in forked.kmerge("check", *how).out
    assert "M29" not in forked.kmerge("check", "--merge", "--select", "M04", check=False).out
    forked.commit("merged")
    assert "::warning" in forked.kmerge("check", "--merge-of", "HEAD", "--format", "github").out
    assert forked.text("c/Chart.yaml") == "version: 1.3.0\n"


@pytest.mark.costly
def test_a_person_raised_it_again(forked: Repo) -> None:
    forked.git("merge", "--no-commit", "side")
    forked.commit("merged", {"c/Chart.yaml": "version: 1.3.1\n"})
    assert "M29" not in forked.kmerge("check", "--merge-of", "HEAD").out
