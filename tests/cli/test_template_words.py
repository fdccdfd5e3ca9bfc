"""How a template that was merged by its blocks is told: as that, and not as one merged by fields."""

from __future__ import annotations

import pytest

from kmerge_git.cli.explaining import _file
from kmerge_git.cli.merge_file import _tell
from kmerge_git.cli.solve import _line
from kmerge_git.git.conflicts import Stages
from kmerge_git.git.sides import TreeEntry
from kmerge_git.outcome import BY_BLOCKS, Conflict, Options, Outcome
from kmerge_git.whole.beside import explained
from kmerge_git.whole.merging import Both
from kmerge_git.whole.settling import FileMerge, _Look, _merged

PATH = "web/templates/web.yaml"
LEFT = (Conflict("", "spec.replicas", "changed on both sides"),)
CLEAN = Outcome(b"a\n", True, "structure", reason=BY_BLOCKS)
OPEN = Outcome(b"a\n", False, "structure", conflicts=LEFT, reason=BY_BLOCKS)
BY_LINES = Outcome(b"a\n", False, "lines", conflicts=LEFT, reason="a template, no YAML")


def made(outcome: Outcome, *, git_clean: bool = False) -> FileMerge:
    base, ours, theirs = (TreeEntry(letter * 40, 0o100644) for letter in "abc")
    look = _Look(Stages(PATH, base, ours, theirs), Options(PATH))
    return _merged(look, Both(outcome, b"b\n", git_clean))


@pytest.mark.parametrize(
    "outcome, told",
    [
        (CLEAN, "a template, merged by its blocks\n"),
        (
            OPEN,
            "a template, merged by its blocks\nconflict: spec.replicas: changed on both sides\n",
        ),
        (BY_LINES, "git's line merge stands: a template, no YAML\n"),
    ],
)
def test_the_merge_of_three_files(
    outcome: Outcome, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _tell(outcome, explain=True)
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    "outcome, told",
    [
        (CLEAN, f"solved   {PATH} (both modified; a template, merged by its blocks)"),
        (
            OPEN,
            f"CONFLICT {PATH} (both modified; a template, merged by its blocks, 1 conflict left)",
        ),
        (BY_LINES, f"CONFLICT {PATH} (both modified; a template, no YAML, 1 conflict left)"),
    ],
)
def test_the_line_of_solve(outcome: Outcome, told: str) -> None:
    (mark, _), rest = _line(made(outcome))
    assert mark + rest == told


@pytest.mark.parametrize(
    "outcome, git_clean, told",
    [
        (CLEAN, False, "merged by the blocks of a template; git alone leaves a conflict"),
        (CLEAN, True, "merged by the blocks of a template; git alone is clean, but comes to "),
        (OPEN, False, "CONFLICT, 1 place left to a person (a template, merged by its blocks)"),
        (BY_LINES, False, "CONFLICT, 1 place left to a person (a template, no YAML)"),
    ],
)
def test_the_head_of_an_explanation(outcome: Outcome, git_clean: bool, told: str) -> None:
    merge = made(outcome, git_clean=git_clean)
    head = next(_file(explained(merge, merge.data), "the commit", everything=True))
    text = "".join(part if isinstance(part, str) else part[0] for part in head)
    assert text.startswith(f"{PATH}: {told}")
    assert text.endswith(told) or told.endswith("to ")


def test_json_has_it_as_the_reason() -> None:
    assert (made(CLEAN).method, made(CLEAN).why) == ("structure", BY_BLOCKS)
    assert made(Outcome(b"", True, "lines", reason="the line merge is clean")).why == ""
