"""Findings for programs; `schema` grows by one when a field changes its meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kmerge_git.finding import Finding

NOTHING: Mapping[str, str] = {}
SCHEMA = 1
# `skipped` stays a list of paths: the reasons are beside it
FIELDS = ("id", "severity", "file", "line", "column", "path", "message", "mend", "rule")


def render(findings: list[Finding], skipped: Mapping[str, str] = NOTHING) -> str:
    """One object: `{"schema": 1, "findings": [..], "skipped": [..], "why_skipped": {..}}`."""
    report = {
        "schema": SCHEMA,
        "findings": [{name: getattr(f, name) for name in FIELDS} for f in findings],
        "skipped": sorted(skipped),
        "why_skipped": {path: skipped[path] for path in sorted(skipped)},
    }
    return dumps(report) + "\n"


def dumps(report: object) -> str:
    """The report in ASCII: what drives a terminal is an escape."""
    return json.dumps(report, indent=2)
