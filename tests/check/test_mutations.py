"""Mutations of directives: what is found of them, in the right line and column."""

from __future__ import annotations

import re

import pytest
from mutations import FOUND, KNOWN_NOT_FOUND, PATCHES, Mutation
from tables import mapped

from kmerge_git.check.run import Run, check_files
from kmerge_git.finding import Finding

AT_LEAST = 92  # of a hundred
WORDS = re.compile(r"[^\s:\-\[\]{},]+|-(?=\s)")


def findings(name: str, tool: str, patch: str) -> list[Finding]:
    """What is found in a patch for a tool, with the object that it changes."""
    target, files = PATCHES[name][0], {"p.yaml": patch}
    files["r.yaml"] = target
    if tool == "Z":
        wanted = "  target: {kind: Deployment}\n" if name == "ops" else ""
        files["kustomization.yaml"] = f"resources: [r.yaml]\npatches:\n- path: p.yaml\n{wanted}"
    run = Run(
        mapped({path: text.encode() for path, text in files.items()}),
        told="patch" if tool == "K" and name == "ops" else "",
        script_with=lambda path: "deploy.sh" if (path, tool) == ("p.yaml", "K") else "",
        target="r.yaml" if tool == "K" else "",
    )
    return check_files(["p.yaml"], run)


def is_found(mutation: Mutation) -> bool:
    """Whether a finding stands at a word of the line that was changed."""
    name, tool, line, text, _ = mutation
    lines = PATCHES[name][1].split("\n")
    changed = "\n".join([*lines[: line - 1], text, *lines[line:]])
    starts = {match.start() + 1 for match in WORDS.finditer(text)}
    found = findings(name, tool, changed)
    return any(f.file == "p.yaml" and f.line == line and f.column in starts for f in found)


@pytest.mark.parametrize("tool", ["K", "Z"])
@pytest.mark.parametrize("name", PATCHES)
def test_nothing_before(name: str, tool: str) -> None:
    known = {row[1] for row in FOUND + KNOWN_NOT_FOUND if row[0] == name}
    assert findings(name, tool, PATCHES[name][1]) == [] or tool not in known


@pytest.mark.parametrize("mutation", FOUND, ids=lambda row: f"{row[0]}-{row[1]}-{row[3].strip()}")
def test_found(mutation: Mutation) -> None:
    assert is_found(mutation)


def test_nearly_all_are_found() -> None:
    assert 100 * len(FOUND) >= AT_LEAST * len(FOUND + KNOWN_NOT_FOUND)
    assert {row[4] for row in FOUND} == {"refused", "wrong"}


def test_what_is_known_not_to_be_found() -> None:
    """Whoever makes one of them found moves it."""
    assert [row for row in KNOWN_NOT_FOUND if is_found(row)] == []
