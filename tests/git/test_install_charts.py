"""`kmerge install --charts`: the policies that the past of a repository supports, with their rates."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import Repo

CHART = "charts/web/Chart.yaml"


def chart(version: str, app: str = "v1.0.0") -> str:
    return f"apiVersion: v2\nname: web\nversion: {version}\nappVersion: {app}\n"


def policies(repo: Repo, path: str = CHART) -> str:
    """What git takes as the policies of a file."""
    return repo.git("check-attr", "-z", "kmerge-policy", "--", path).out.split("\0")[2]


def past(repo: Repo, versions: list[tuple[str, str, str]]) -> None:
    """Merges in which both sides changed the version of the chart: ours, theirs, what people made."""
    for number, (ours, theirs, people) in enumerate(versions):
        repo.branch(f"topic{number}")
        repo.commit("theirs", {CHART: chart(theirs, f"v1.{number}.2")})
        repo.switch("main")
        repo.commit("ours", {CHART: chart(ours, f"v1.{number}.1")})
        repo.git("merge", f"topic{number}", check=False)
        author = {"GIT_AUTHOR_EMAIL": f"{number % 2}@example.org"}
        repo.write(CHART, chart(people, f"v1.{number}.2"))
        repo.git("commit", "-qam", "merge", env=author)


def test_install_names_it_where_there_are_charts(repo: Repo) -> None:
    named = "there are Helm charts; run `kmerge install --charts`"
    repo.commit("values", {"values.yaml": "a: 1\n"})
    assert named not in repo.kmerge("install").out
    repo.commit("chart", {CHART: chart("1.0.0")})
    assert repo.kmerge("install").lines[-1].startswith(named)
    assert named not in repo.kmerge("install", "--quiet").said
    repo.kmerge("install", "--charts")
    assert named not in repo.kmerge("install").out


@pytest.mark.parametrize("shared", [[], ["--shared"]])
def test_without_a_past_it_is_rebump_alone(repo: Repo, shared: list[str]) -> None:
    repo.commit("chart", {CHART: chart("1.0.0")})
    before = repo.git("status", "--porcelain").out
    done = repo.kmerge("install", "--charts", *shared)
    assert (
        "only version:rebump is written: too few past merges show whether the other policies fit"
        in done.out
    )
    assert policies(repo) == "version:rebump"
    assert repo.git("check-attr", "merge", "--", "charts/web/Chart.lock").out.endswith("kmerge\n")
    assert "nothing to do" in repo.kmerge("install", "--charts", *shared).out
    assert "nothing to do" in repo.kmerge("install", *shared).out
    repo.kmerge("uninstall", *shared)
    assert policies(repo) == "unspecified"
    assert repo.git("status", "--porcelain").out == before


@pytest.mark.costly
def test_what_the_past_supports_is_written(repo: Repo) -> None:
    """Five merges of two authors, all as `rebump` counts: safe here; each rate is told."""
    repo.commit("chart", {CHART: chart("1.0.0")})
    past(repo, [(f"1.{n}.5", f"1.{n}.1", f"1.{n}.5") for n in range(1, 6)])
    done = repo.kmerge("install", "--charts")
    assert (
        "safe here: policy `rebump` for `version`: resolves 5 conflicts in 5 of 5 files; 5 as committed"
        in done.out
    )
    assert policies(repo) == "version:rebump,appVersion:higher"


@pytest.mark.costly
def test_what_people_did_otherwise_is_not_written(repo: Repo) -> None:
    """They always took the lower version: nothing is written that would have been wrong."""
    repo.commit("chart", {CHART: chart("1.0.0")})
    past(repo, [(f"1.{n}.5", f"1.{n}.1", f"1.{n}.1") for n in range(1, 6)])
    done = repo.kmerge("install", "--charts")
    assert "not written: policy `rebump` for `version`: resolves 5 conflicts" in done.out
    assert policies(repo) == "appVersion:higher"


@pytest.mark.parametrize("scope", ["--global", "--system"])
def test_it_is_for_one_repository(repo: Repo, scope: str) -> None:
    done = repo.kmerge("install", "--charts", scope, check=False)
    assert (
        done.code,
        f"--charts is for one repository and cannot be used with {scope}" in done.err,
    ) == (2, True)


def test_a_line_that_counts_more_is_named(repo: Repo) -> None:
    """A committed line in the folder of a chart is stronger than the one at the top."""
    folder = str(Path(CHART).parent)
    repo.commit(
        "chart", {CHART: chart("1"), f"{folder}/.gitattributes": "* kmerge-policy=a:ours\n"}
    )
    done = repo.kmerge("install", "--charts", "--shared")
    assert (
        f"note: {CHART}: another attribute line has priority; see `kmerge status {CHART}`"
        in done.err
    )


def test_a_dry_run_writes_nothing(repo: Repo) -> None:
    repo.commit("chart", {CHART: chart("1.0.0")})
    done = repo.kmerge("install", "--charts", "--dry-run")
    assert "Chart.yaml kmerge-policy=version:rebump" in done.out
    assert policies(repo) == "unspecified"
