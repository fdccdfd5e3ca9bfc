"""Render findings as SARIF 2.1.0, the format of code scanning services."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from kmerge_git.finding import ERROR, INFO, WARNING, Finding
from kmerge_git.report.results import dumps
from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Rule(Protocol):
        """Describe a check with the facts that SARIF can hold."""

        @property
        def id(self) -> str: ...
        @property
        def severity(self) -> str: ...
        @property
        def what(self) -> str: ...
        @property
        def mend(self) -> str: ...


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {ERROR: "error", WARNING: "warning", INFO: "note"}


def render(
    findings: list[Finding], rules: Iterable[Rule], version: str, name: str = "kmerge check"
) -> str:
    """Return a SARIF file that holds the findings and describes the checks that found them."""
    used = {finding.id for finding in findings}
    known = [rule for rule in rules if rule.id in used]
    numbers = {rule.id: n for n, rule in enumerate(known)}
    driver = {
        "name": name,
        "version": version,
        "rules": list(map(_rule, known)),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers) for finding in findings],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.what},
        "help": {"text": rule.mend},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "level": LEVELS[finding.severity],
        "message": {"text": visible(finding.message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": quote(finding.file, errors="surrogateescape"),
                        "uriBaseId": "%SRCROOT%",
                    },
                    "region": {"startLine": finding.line, "startColumn": finding.column},
                }
            }
        ],
    }
    if finding.id in numbers:
        result["ruleIndex"] = numbers[finding.id]
    if finding.path:
        logical = {"fullyQualifiedName": visible(finding.path), "kind": "member"}
        result["locations"][0]["logicalLocations"] = [logical]
    return result
