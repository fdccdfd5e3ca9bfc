"""The examples of the documentation: each check speaks about its own, and lets the counter pass."""

from __future__ import annotations

import pytest
from check_examples import findings, is_of_patch, versions_of

from kmerge_git.check import registry
from kmerge_git.check.registry import Check

ALL = registry.every()
ALONE = [check for check in ALL if not versions_of(check.example)]


@pytest.mark.parametrize("check", ALONE, ids=lambda c: c.id)
def test_what_it_finds(check: Check) -> None:
    for tool, found in findings(check, check.example):
        assert check.id in {f.id for f in found}, (tool, found)


@pytest.mark.parametrize("check", ALONE, ids=lambda c: c.id)
def test_what_it_lets_pass(check: Check) -> None:
    for tool, found in findings(check, check.counter):
        assert found == [], tool


OF_ONE_TOOL = [c for c in ALONE if len(c.tools) == 1 and is_of_patch(c, c.example)]


@pytest.mark.parametrize("check", OF_ONE_TOOL, ids=lambda c: c.id)
def test_it_speaks_for_its_tool_alone(check: Check) -> None:
    (other,) = set("KZ") - set(check.tools)
    for tool, found in findings(check, check.example, other):
        assert check.id not in {f.id for f in found}, tool
