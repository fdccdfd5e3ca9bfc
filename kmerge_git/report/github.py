"""Render findings as GitHub workflow commands, which become annotations of a pull request."""

from __future__ import annotations

from kmerge_git.finding import ERROR, WARNING, Finding
from kmerge_git.visible import visible

COMMANDS = {ERROR: "error", WARNING: "warning"}


def render(findings: list[Finding]) -> str:
    """Return one command per finding, with the start line only: GitHub mishandles end lines."""
    return "".join(_one(finding) + "\n" for finding in findings)


def _one(finding: Finding) -> str:
    command = COMMANDS.get(finding.severity, "notice")
    properties = f"file={_property(finding.file)},line={finding.line},col={finding.column}"
    title = _property(f"kmerge {finding.id}")
    field = f"{finding.path}: " if finding.path and finding.path not in finding.message else ""
    return f"::{command} {properties},title={title}::{_data(field + finding.message)}"


def _data(text: str) -> str:
    lines = "\n".join(map(visible, text.split("\n")))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
