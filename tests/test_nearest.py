"""What somebody may have meant who made a slip."""

from __future__ import annotations

import pytest

from kmerge_git.nearest import did_you_mean, nearest

COMMANDS = ("merge", "merge2", "merge-file", "resolve", "solve", "replay", "refresh")
OPTIONS = ("--dry-run", "--json", "--with-json", "-o", "--output", "--ref")
FIELDS = ("spec.replicas", "spec.template.spec.containers[name=web].image", "metadata.name")


@pytest.mark.parametrize(
    "word, known, meant",
    [
        ("mrege", COMMANDS, "merge"),
        ("slove", COMMANDS, "solve"),
        ("RESOLVE", COMMANDS, "resolve"),
        ("rep", COMMANDS, "replay"),
        ("re", COMMANDS, ""),  # three of them
        ("frobnicate", COMMANDS, ""),
        ("--dryrun", OPTIONS, "--dry-run"),
        ("-json", OPTIONS, "--json"),
        ("--rf", OPTIONS, "--ref"),
        ("-x", OPTIONS, ""),
        ("spec.replcas", FIELDS, "spec.replicas"),
        ("x" * 500, ("x" * 501,), ""),
        ("", COMMANDS, ""),
    ],
)
def test_the_nearest_name(word: str, known: tuple[str, ...], meant: str) -> None:
    assert nearest(word, known) == meant


def test_the_question_goes_before_what_is_said_anyway() -> None:
    assert did_you_mean("mrege", COMMANDS, "see X") == "did you mean `merge`? see X"
    assert did_you_mean("frobnicate", COMMANDS, "see X") == "see X"
    assert did_you_mean("frobnicate", COMMANDS) == ""
