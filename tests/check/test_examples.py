"""The examples of the documentation: each check speaks about its own, and lets the counter pass."""

from __future__ import annotations

import pytest
from check_examples import findings, versions_of

from kmerge_git.check import registry
from kmerge_git.check.registry import Check

ALL = registry.every()
ALONE = [check for check in ALL if not versions_of(check.example)]


@pytest.mark.parametrize("check", ALONE, ids=lambda c: c.id)
def test_what_it_finds(check: Check) -> None:
    for tool, found in findings(check, check.example):
        assert check.id in {f.id for f in found}, (tool, found)


@pytest.mark.parametrize("check", [c for c in ALONE if c.counter], ids=lambda c: c.id)
def test_what_it_lets_pass(check: Check) -> None:
    for tool, found in findings(check, check.counter):
        assert found == [], tool
