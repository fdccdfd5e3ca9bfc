"""The helpers and notes of a chart in a repository: every command takes them as it takes manifests."""

from __future__ import annotations

import json

import pytest
from world import Driven, Repo

from kmerge_git.merge.plan import Why

PATH = "web/templates/_helpers.tpl"
BASE = '{{- define "web.name" -}}\nweb\n{{- end }}\n'
OURS = BASE.replace("web\n", "ours\n")
THEIRS = BASE.replace("web\n", "theirs\n")


@pytest.fixture
def forked(repo: Repo) -> Repo:
    """One helper that both sides rename, and one each that they change alone."""
    notes, other = "web/templates/NOTES.txt", "web/_helpers.tpl"
    start = {PATH: BASE, notes: "a: 1\nb: 1\n", other: BASE}
    ours = {PATH: OURS, notes: "a: 2\nb: 1\n", other: OURS}
    theirs = {PATH: THEIRS, notes: "a: 1\nb: 2\n", other: THEIRS}
    repo.fork(start, ours, theirs)
    return repo


def paths(told: str) -> list[str]:
    return sorted(file["path"] for file in json.loads(told)["files"])


MINE = ["web/templates/NOTES.txt", PATH]


@pytest.mark.costly
def test_a_whole_merge_takes_them(forked: Repo) -> None:
    told = forked.kmerge("merge", "side", "--json", check=False).out
    assert paths(told) == MINE
    assert json.loads(told)["left"] == ["web/_helpers.tpl", *MINE]


WHY = f"a template: {Why.BOTH_CHANGED}"


def test_why_the_lines_stand_is_told(forked: Repo) -> None:
    done = forked.kmerge("merge", "side", check=False)
    assert f"conflict: {PATH}: both sides changed the same lines ({WHY})" in done.err
    explained = json.loads(forked.kmerge("explain", "--json").out)
    assert next(file["why"] for file in explained["files"] if file["path"] == PATH) == WHY


def test_the_driver_says_why_in_a_line(driven: Driven) -> None:
    driven.write(".git/info/attributes", "*.tpl merge=kmerge\n")
    driven.fork({PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    done = driven.merge()
    assert done.code == 1
    assert f"kmerge: {PATH}: {WHY}\n" in done.err


def test_solve_takes_them(forked: Repo) -> None:
    assert forked.merge().code == 1
    done = forked.kmerge("solve", "--json", check=False)
    assert paths(done.out) == MINE
    assert "web/_helpers.tpl" in done.out


def test_resolve_asks_about_them(forked: Repo) -> None:
    assert forked.merge().code == 1
    forked.kmerge("resolve", "--take", "theirs", "web/templates")
    assert forked.text(PATH) == THEIRS
    assert forked.git("diff", "--name-only", "--diff-filter=U").lines == ["web/_helpers.tpl"]


def test_explain_and_preview_take_them(forked: Repo) -> None:
    told = json.loads(forked.kmerge("preview", "side", "--json", check=False).out)
    assert {file["path"] for step in told["steps"] for file in step["files"]} >= {*MINE}
    assert forked.merge().code == 1
    assert paths(forked.kmerge("explain", "--json").out) == MINE


def test_replay_takes_them(forked: Repo) -> None:
    forked.merge()
    forked.write(PATH, OURS)
    forked.write("web/templates/NOTES.txt", "a: 2\nb: 2\n")
    forked.write("web/_helpers.tpl", OURS)
    forked.commit("merged by hand")
    told = forked.kmerge("replay", "--json").out
    assert all(f'"{path}"' in told for path in MINE)
    assert '"web/_helpers.tpl"' not in told


def test_diff_counts_their_lines(forked: Repo) -> None:
    lines = forked.kmerge("diff", "main", "side", "--json").out
    told = {file["path"]: file["changes"] for file in json.loads(lines)["files"]}
    assert {change["how"] for path in MINE for change in told[path]} == {"lines"}


# -- what is merged by its blocks -----------------------------------------------------------------

WEB = "web/templates/web.yaml"
LABELS = "metadata:\n  labels:\n    app: web\n"
INCLUDE = '    {{- include "web.labels" . | nindent 4 }}\n'
NEW = '\n{{{{- define "web.{0}" -}}}}\n{0}\n{{{{- end }}}}\n'
BY_BLOCKS = "a template, merged block by block"


@pytest.fixture
def resolved(repo: Repo) -> Repo:
    """A template and its helpers, to which both sides add something else in one place."""
    repo.fork(
        {WEB: LABELS, PATH: BASE},
        {WEB: LABELS + INCLUDE, PATH: BASE + NEW.format("ours")},
        {WEB: LABELS + "    tier: {{ .Values.tier }}\n", PATH: BASE + NEW.format("theirs")},
    )
    return repo


def is_whole(repo: Repo) -> bool:
    both = LABELS + INCLUDE + "    tier: {{ .Values.tier }}\n"
    helpers = BASE + NEW.format("ours") + NEW.format("theirs")
    return (repo.text(WEB), repo.text(PATH)) == (both, helpers)


def test_the_driver_merges_templates(resolved: Repo) -> None:
    resolved.kmerge("install")
    done = resolved.merge()
    assert (done.code, is_whole(resolved)) == (0, True)
    assert "kmerge:" not in done.err


def test_git_alone_does_not(resolved: Repo) -> None:
    assert resolved.merge().code == 1


def test_a_whole_merge_says_how(resolved: Repo) -> None:
    told = json.loads(resolved.kmerge("merge", "side", "--json").out)
    assert is_whole(resolved)
    assert [(f["result"], f["method"], f["why"]) for f in told["files"]] == [
        ("resolved", "structure", BY_BLOCKS)
    ] * 2


def test_solve_and_explain_say_how(resolved: Repo) -> None:
    resolved.merge()
    assert f"solved   {WEB} (both modified; {BY_BLOCKS})" in resolved.kmerge("solve").lines
    assert is_whole(resolved)
    resolved.commit("merged")
    head = f"{WEB}: merged block by block; git alone leaves a conflict"
    assert head in resolved.kmerge("explain", "HEAD").lines


@pytest.mark.costly
def test_preview_and_replay_make_the_same(resolved: Repo) -> None:
    told = json.loads(resolved.kmerge("preview", "side", "--json").out)
    assert [file["result"] for step in told["steps"] for file in step["files"]] == ["resolved"] * 2
    resolved.kmerge("merge", "-q", "side")
    report = json.loads(resolved.kmerge("replay", "--json").out)
    counts = report["counts"]
    assert (counts["resolved"], counts["resolved_same_bytes"]) == (2, 2)


def test_three_files_say_how(resolved: Repo) -> None:
    words = [f"{rev}:{WEB}" for rev in ("HEAD~1", "HEAD", "side")]
    *fields, how = resolved.kmerge("merge-file", *words, "--explain").err.splitlines()
    assert how == BY_BLOCKS
    assert any(line.startswith("metadata.labels.tier: added") for line in fields)
