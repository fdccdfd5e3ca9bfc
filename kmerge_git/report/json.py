"""Findings for programs; `schema` grows by one when a field changes its meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable

from kmerge_git.finding import Finding

SCHEMA = 1


def render(findings: list[Finding], skipped: Iterable[str] = ()) -> str:
    """One object: `{"schema": 1, "findings": [..], "skipped": [..]}`, the last with paths."""
    report = {
        "schema": SCHEMA,
        "findings": list(map(_one, findings)),
        "skipped": sorted(skipped),
    }
    return json.dumps(report, indent=2) + "\n"


def _one(finding: Finding) -> dict[str, str | int]:
    return {
        "id": finding.id,
        "severity": finding.severity,
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "path": finding.path,
        "message": finding.message,
        "mend": finding.mend,
        "rule": finding.rule,
    }
