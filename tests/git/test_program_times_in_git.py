"""Timestamps that need no policy, in the real git: every use is reported, and no check objects."""

from __future__ import annotations

import sys

import pytest
from world import Driven

from kmerge_git.merge.plan import Why

OPERATOR = """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    containerImage: etcd:{}
    createdAt: "2022-07-0{}T18:19:20Z"
  name: etcd.v1
"""
LOCK = 'dependencies: []\ndigest: sha256:{}\ngenerated: "2022-07-0{}T18:19:20.123456789+02:00"\n'
RULE = f"{Why.BOTH_CHANGED}, theirs taken (rule 16 later time)"


@pytest.fixture
def forked(driven: Driven) -> Driven:
    driven.write(".git/info/attributes", "*.yaml merge=kmerge\n*.lock merge=kmerge\n")
    rows = ((1, 1, "a"), (2, 2, "b"), (1, 3, "c"))
    driven.fork(
        *(
            {"csv.yaml": OPERATOR.format(image, day), "c/Chart.lock": LOCK.format(digest, day)}
            for image, day, digest in rows
        )
    )
    return driven


@pytest.mark.costly
@pytest.mark.parametrize("is_ours", [False, True])
def test_a_merge(forked: Driven, is_ours: bool) -> None:
    """By the driver, or by kmerge itself."""
    place = "metadata.annotations.createdAt"
    assert f"{place}: {RULE}" in forked.kmerge("preview", "side", check=False).out
    done = forked.kmerge("merge", "side", check=False) if is_ours else forked.merge()
    assert f"csv.yaml: ClusterServiceVersion/etcd.v1 {place}: {RULE}" in done.said
    assert f"c/Chart.lock: generated: {RULE}" in done.said
    assert forked.text("csv.yaml") == OPERATOR.format(2, 3)
    assert forked.unmerged() == ["c/Chart.lock"]
    assert f"(digest: {Why.BOTH_CHANGED} (run `helm dependency update`))" in forked.text(
        "c/Chart.lock"
    )
    assert f"generated: {RULE.replace(', ', '; ').split(' (')[0]}" in forked.kmerge("explain").out
    forked.commit("merged", {"c/Chart.lock": LOCK.format("d", 3)})
    assert "nothing found" in forked.kmerge("check", "--merge-of", "HEAD").out
    assert "rule 16 later time" in forked.kmerge("explain", "HEAD").out


@pytest.mark.costly
def test_a_rebase(forked: Driven) -> None:
    forked.switch("side")
    forked.git("rebase", "main", check=False)
    assert forked.text("csv.yaml") == OPERATOR.format(2, 3)
    assert forked.text("c/Chart.lock").count('generated: "2022-07-03T') == 1
    assert "2022-07-02T" not in forked.text("c/Chart.lock")


ON_CORES = """
import sys
from kmerge_git.cli.main import main
from kmerge_git.whole import cores
cores.cores = lambda: {}
raise SystemExit(main(sys.argv[1:]))
"""


def test_many_files_tell_it_on_one_core_and_on_two(driven: Driven) -> None:
    """What a forked process has decided is told as well, by a preview and by the merge."""
    rows = ((1, 1), (2, 2), (1, 3))
    driven.fork(
        *({f"{n}.yaml": OPERATOR.format(image, day) for n in range(40)} for image, day in rows)
    )

    def told(words: str, cores: int) -> str:
        argv = [sys.executable, "-c", ON_CORES.format(cores), *words.split()]
        done = driven.world.run(*argv, cwd=driven.path, check=False)
        return done.out + done.err

    for words in ("preview side --json", "preview side", "merge --no-commit side"):
        alone = told(words, 1)
        assert alone.count("later time") > 2, words
        if "merge" in words:
            driven.git("merge", "--abort")
        assert told(words, 2) == alone, words
