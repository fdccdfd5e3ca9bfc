"""How a template that was merged by its blocks is told: as that, and not as one merged by fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from git.world import living

from kmerge_git import api
from kmerge_git.cli.main import main
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import BY_BLOCKS, Conflict, Outcome
from kmerge_git.text.linemerge import Given
from kmerge_git.whole import both_merges
from kmerge_git.whole.both_merges import Both

PATH = "web/templates/web.yaml"
LEFT = (Conflict("", "spec.replicas", Why.BOTH_CHANGED),)
CLEAN = Outcome(b"a\n", True, "structure", reason=BY_BLOCKS)
OPEN = Outcome(b"a\n", False, "structure", conflicts=LEFT, reason=BY_BLOCKS)
BY_LINES = Outcome(b"a\n", False, "lines", conflicts=LEFT, reason="a template, not YAML")
BY_CLEAN_LINES = Outcome(b"", True, "lines", reason="the line merge is clean")

Told = Callable[..., str]


@pytest.fixture(scope="module")
def in_conflict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository in which git has left one template in conflict."""
    with living(tmp_path_factory.mktemp("world")) as world:
        repo = world.init()
        repo.fork({PATH: "a: {{ .a }}\n"}, {PATH: "a: {{ .b }}\n"}, {PATH: "a: {{ .c }}\n"})
        repo.merge()
        assert repo.unmerged() == [PATH]
        yield repo.path


@pytest.fixture
def told(
    in_conflict: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Told:
    """A function that runs a command there, as if the merge came to an outcome; what it prints."""
    monkeypatch.chdir(in_conflict)

    def run(outcome: Outcome, *argv: str, git_clean: bool = False) -> str:
        both = Both(outcome, Given(b"b\n", git_clean))
        monkeypatch.setattr(both_merges, "merge_both", lambda three, options, lines: both)
        assert main(list(argv)) in (0, 1)
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    "outcome, words",
    [
        (CLEAN, "a template, merged block by block\n"),
        (
            OPEN,
            f"a template, merged block by block\nconflict: spec.replicas: {Why.BOTH_CHANGED}\n",
        ),
        (BY_LINES, "merged with git's line merge: a template, not YAML\n"),
    ],
)
def test_the_merge_of_three_files(
    outcome: Outcome,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (file := tmp_path / "a.yaml").write_text("a: 1\n")
    monkeypatch.setattr(api, "merge_files", lambda *texts, **options: outcome)
    assert main(["merge-file", "--explain", *[str(file)] * 3]) == (0 if outcome.clean else 1)
    assert capsys.readouterr() == ("a\n", words)


@pytest.mark.parametrize(
    "outcome, line",
    [
        (CLEAN, f"solved   {PATH} (both modified; a template, merged block by block)"),
        (
            OPEN,
            f"CONFLICT {PATH} (both modified; a template, merged block by block; 1 conflict left)",
        ),
        (BY_LINES, f"CONFLICT {PATH} (both modified; a template, not YAML; 1 conflict left)"),
    ],
)
def test_the_line_of_solve(outcome: Outcome, line: str, told: Told) -> None:
    assert told(outcome, "solve", "--dry-run").splitlines()[0] == line


@pytest.mark.parametrize(
    "outcome, git_clean, words",
    [
        (CLEAN, False, "merged block by block; git alone leaves a conflict"),
        (CLEAN, True, "merged block by block; git alone has no conflict, but gives "),
        (OPEN, False, "CONFLICT in 1 place (a template, merged block by block)"),
        (BY_LINES, False, "CONFLICT in 1 place (a template, not YAML)"),
    ],
)
def test_the_head_of_an_explanation(
    outcome: Outcome, git_clean: bool, words: str, told: Told
) -> None:
    lines = told(outcome, "explain", "--all", git_clean=git_clean).splitlines()
    (head,) = [line for line in lines if line.startswith(f"{PATH}: ")]
    assert head.startswith(f"{PATH}: {words}")
    assert head.endswith(words) or words.endswith("gives ")


def test_json_has_it_as_the_reason(told: Told) -> None:
    for outcome, *wanted in ((CLEAN, "structure", BY_BLOCKS), (BY_CLEAN_LINES, "lines", "")):
        (file,) = json.loads(told(outcome, "solve", "--dry-run", "--json"))["files"]
        assert [file["method"], file["why"]] == wanted
