"""`kmerge preview --format`: annotations on the lines of the side that comes in, SARIF, Markdown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from manifests import deployment, service, stream
from world import Repo

from kmerge_git.bounds import FOUND_PLACES
from kmerge_git.cli.main import main
from kmerge_git.merge.plan import Why

BASE = deployment()
ADDED = [deployment(env=("A=1", f"{name}=1")) for name in ("OURS", "THEIRS")]
TWICE = [deployment(env=names) for names in (("A=1", "Z=1"), ("D=1", "A=1", "Z=1"), ("A=1", "Z=1", "D=1"))]  # fmt: skip


@pytest.fixture
def preview(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """`kmerge preview side ...` in this process: what it printed, and its exit code."""
    monkeypatch.chdir(repo.path)

    def run(*args: str, code: int = 1) -> str:
        assert main(["preview", "side", *args]) == code
        return capsys.readouterr().out

    return run


def torn(repo: Repo, base: str, ours: str, theirs: str, name: str = "a.yaml") -> None:
    repo.fork({name: base}, {name: ours}, {name: theirs})


def spots(out: str) -> list[str]:
    return re.findall(r"^::\w+ file=([^,]*,line=\d+),col=\d+,", out, re.M)


def test_annotations_stand_on_the_lines_of_the_side_that_comes_in(repo: Repo, preview: Any) -> None:
    head = "# a comment\n# another one\n"
    texts = [stream(service(), deployment(n, f"app:{n}")) for n in (1, 2, 3)]
    torn(repo, texts[0], texts[1], head + texts[2])
    lines = (head + texts[2]).split("\n")
    assert spots(preview("--format", "github")) == [
        f"a.yaml,line={lines.index('  replicas: 3') + 1}",
        f"a.yaml,line={lines.index('        image: app:3') + 1}",
    ]
    # the other way round the lines are those of the other file
    repo.switch("side")
    repo.git("branch", "-m", "side", "other")
    repo.git("branch", "side", "main")
    lines = texts[1].split("\n")
    assert (
        spots(preview("--format", "github"))[0] == f"a.yaml,line={lines.index('  replicas: 2') + 1}"
    )


def test_what_an_annotation_says(repo: Repo, preview: Any) -> None:
    torn(repo, *(deployment(n) for n in (1, 2, 3)))
    assert preview("--format", "github") == (
        "::error file=a.yaml,line=6,col=3,title=kmerge conflict::"
        f"Deployment/web spec.replicas: {Why.BOTH_CHANGED}; in HEAD: replicas: 2\n"
    )


def test_what_is_gone_on_the_side_that_comes_in_is_pinned_to_what_is_around_it(
    repo: Repo, preview: Any
) -> None:
    gone = deployment().replace("        image: app:1\n", "")
    torn(repo, deployment(), deployment(image="app:2"), gone)
    line = gone.split("\n").index("      - name: app") + 1
    assert spots(preview("--format", "github")) == [f"a.yaml,line={line}"]


def test_git_merges_it_to_something_else(repo: Repo, preview: Any) -> None:
    torn(repo, *TWICE)
    out = preview("--format", "github", code=0)
    place = "Deployment/web spec.template.spec.containers[name=app].env"
    # the list: git's merge has four of its elements, this side three
    assert out.startswith("::warning file=a.yaml,line=12,col=9,title=kmerge improved::" + place)
    assert preview("--format", "json", code=0).count('"kmerge": ""') == out.count("::warning")
    assert "#### Git would give a different result" in preview("--format", "markdown", code=0)


def test_files_without_fields(repo: Repo, preview: Any) -> None:
    files = ("a.txt", "b.yaml", "c%,:.txt")
    repo.fork(*(dict.fromkeys(files, f"a: [{n}\n") for n in (1, 2, 3)))
    assert preview("--format", "github") == (
        "::error file=a.txt,line=1,col=1,title=kmerge conflict::changed by both\n"
        "::error file=b.yaml,line=1,col=1,title=kmerge conflict::changed by both; "
        "line 1: not YAML: did not find expected ',' or ']'; both sides changed the same lines\n"
        "::error file=c%25%2C%3A.txt,line=1,col=1,title=kmerge conflict::changed by both\n"
    )


def test_a_file_that_the_other_side_renamed_has_its_old_name_here(repo: Repo, preview: Any) -> None:
    repo.commit("base", {"old.yaml": BASE})
    repo.branch("side")
    repo.commit("theirs", {"old.yaml": deployment(3)})
    repo.switch("main")
    repo.git("mv", "old.yaml", "new.yaml")
    repo.commit("ours", {"new.yaml": deployment(2)})
    assert spots(preview("--format", "github")) == ["old.yaml,line=6"]


def test_many_conflicts_of_one_file_are_not_all_told(repo: Repo, preview: Any) -> None:
    texts = ["".join(f"k{n}: {side}\n" for n in range(FOUND_PLACES + 7)) for side in "abc"]
    torn(repo, *(f"apiVersion: v1\nkind: A\nmetadata: {{name: x}}\n{text}" for text in texts))
    out = preview("--format", "github").splitlines()
    assert len(out) == FOUND_PLACES + 1
    assert out[-1].endswith("::and 7 more conflicts in this file")


def test_a_finding_is_never_long(repo: Repo, preview: Any) -> None:
    deep = "".join(f"{' ' * n}{'k' * 900}:\n" for n in range(30))
    torn(repo, *(f"{deep}{' ' * 30}x: {side * 50_000}\n" for side in "abc"))
    assert 1000 < len(preview("--format", "github")) < 3000
    assert 1000 < len(preview("--format", "markdown")) < 3000


def test_sarif_has_the_same_findings(repo: Repo, preview: Any) -> None:
    torn(repo, *(deployment(n) for n in (1, 2, 3)))
    (run,) = json.loads(preview("--format", "sarif"))["runs"]
    assert run["tool"]["driver"]["name"] == "kmerge preview"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["conflict"]
    (found,) = run["results"]
    assert found["ruleId"] == "conflict"
    region = found["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 6, "startColumn": 3}


def test_a_rebase(repo: Repo, preview: Any) -> None:
    """Lines are those of the commit that is rebased, values those of what it comes onto."""
    torn(repo, *(deployment(n) for n in (1, 2, 3)))
    out = preview("--rebase", "--format", "github")
    assert out.endswith("in side: replicas: 3\n")
    made = preview("--rebase", "--format", "markdown")
    assert made.startswith("### Rebase of <code>HEAD</code> onto <code>side</code>\n")
    assert "| <code>side</code> | <code>the commit</code> |" in made


def test_one_run_writes_several_files(repo: Repo, preview: Any, tmp_path: Path) -> None:
    torn(repo, BASE, *ADDED)
    names = ("text", "json", "markdown", "github", "sarif")
    asked = [f"--format={name}={tmp_path / name}" for name in names]
    assert preview(*asked, code=0) == ""
    for name in names:
        assert (tmp_path / name).read_text() == preview("--format", name, code=0)
    assert preview("--json", code=0) == (tmp_path / "json").read_text()
    assert preview("--json", f"--format=text={tmp_path / 'text'}", code=0).startswith("{")


@pytest.mark.parametrize(
    "words, said",
    [
        (
            ["--format", "html"],
            "'html' is not a format; use text, json, markdown, github, sarif or FORMAT=FILE",
        ),
        (["--format", "json="], "'json=' is not a format"),
        (["--format", "text", "--json"], "only one format can be printed, not text and json"),
        (["--format", "sarif", "--write-tree"], "--write-tree prints only text or JSON"),
        (["--format", "json=no/such/folder"], "cannot write the file: No such file or directory"),
    ],
)
def test_what_cannot_be_asked_for(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:  # fmt: skip
    monkeypatch.chdir(repo.path)
    torn(repo, BASE, *ADDED)
    try:
        code = main(["preview", "side", *words])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    assert said in capsys.readouterr().err
