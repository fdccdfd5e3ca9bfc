"""Findings for programs; `schema` grows by one when a field changes its meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable

from kmerge_git.finding import Finding

SCHEMA = 1
FIELDS = ("id", "severity", "file", "line", "column", "path", "message", "mend", "rule")


def render(findings: list[Finding], skipped: Iterable[str] = ()) -> str:
    """One object: `{"schema": 1, "findings": [..], "skipped": [..]}`, the last with paths."""
    report = {
        "schema": SCHEMA,
        "findings": [{name: getattr(f, name) for name in FIELDS} for f in findings],
        "skipped": sorted(skipped),
    }
    return json.dumps(report, indent=2) + "\n"
