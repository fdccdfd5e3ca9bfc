"""Render findings as text for people, as JSON, as GitHub annotations and as SARIF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmerge_git.bounds import SHOWN_SKIPPED
from kmerge_git.finding import ERROR, INFO, SEVERITIES, WARNING, Finding
from kmerge_git.report.results import SCHEMA, dumps
from kmerge_git.visible import counted, visible

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


NOTHING: Mapping[str, str] = {}
RESET, BOLD, DIM, RED, YELLOW, BLUE, GREEN = (
    f"\033[{n}m" for n in ("0", "1", "2", "31", "33", "34", "32")
)
COLORS = {ERROR: RED, WARNING: YELLOW, INFO: BLUE}
COMMANDS = {ERROR: "error", WARNING: "warning"}  # of GitHub
LEVELS = {ERROR: "error", WARNING: "warning", INFO: "note"}  # of SARIF
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
TEMPLATE = "a template"  # such reasons begin so: a repository may have hundreds of these files
_FIELDS = ("id", "severity", "file", "line", "column", "path", "message", "mend", "rule")


def as_text(
    findings: list[Finding],
    *,
    files: int,
    skipped: Mapping[str, str] = NOTHING,
    color: bool = False,
) -> str:
    """Return all findings, the files that were not checked, and a line with the counts.

    Templates that were not checked are only counted.
    """
    blocks = [_block(finding, color) for finding in findings]
    last = summary(findings, files, len(skipped), color)
    named = [(path, why) for path, why in sorted(skipped.items()) if not why.startswith(TEMPLATE)]
    lines = [f"not checked: {path}: {why}" for path, why in named[:SHOWN_SKIPPED]]
    if len(named) > SHOWN_SKIPPED:
        lines.append(f"... and {len(named) - SHOWN_SKIPPED} more (--format json lists all)")
    if len(named) < len(skipped):
        templates = counted(len(skipped) - len(named), "template")
        lines.append(f"not checked: {templates} (--format json lists all)")
    lines = [_paint(visible(line), DIM, color) for line in lines]
    return "\n".join([*blocks, *lines, last]) + "\n"


def summary(findings: list[Finding], files: int, skipped: int = 0, color: bool = False) -> str:
    """Return a line such as `2 errors, 1 warning in 2 of 7 files, 1 skipped`."""
    files = max(files - skipped, len({f.file for f in findings}))  # a deleted file also counts
    left = f", {skipped} skipped" if skipped else ""
    where = counted(files, "file")
    if not findings:
        return _paint(f"{where} checked, nothing found{left}", GREEN, color)
    concerned = len({f.file for f in findings})
    return _paint(f"{_numbers(findings)} in {concerned} of {where}{left}", BOLD, color)


def totals(findings: list[Finding]) -> str:
    """Return a phrase such as `2 warnings, 1 info in 3 files`."""
    files = len({f.file for f in findings})
    return f"{_numbers(findings)} in {counted(files, 'file')}"


def _numbers(findings: list[Finding]) -> str:
    counts = [(sum(f.severity == s for f in findings), s) for s in SEVERITIES]
    return ", ".join(f"{n} {s}" if s == INFO else counted(n, s) for n, s in counts if n)


def _block(finding: Finding, color: bool) -> str:
    place = visible(f"{finding.file}:{finding.line}:{finding.column}:")
    label = f"{finding.severity} {finding.id}"
    lines = [
        f"{_paint(place, BOLD, color)} {_paint(label, COLORS[finding.severity], color)} "
        f"{visible(_with_field(finding))}"
    ]
    if finding.excerpt.strip():
        before = visible(finding.excerpt[: finding.column - 1])
        pad = "".join("\t" if c == "\t" else " " for c in before)
        number = str(finding.line)
        bar = _paint("|", DIM, color)
        caret = _paint("^", COLORS[finding.severity], color)
        lines += [
            f" {number} {bar} {visible(finding.excerpt)}",
            f" {' ' * len(number)} {bar} {pad}{caret}",
        ]
    if finding.mend:
        lines.append(_paint(f"  fix: {visible(finding.mend)}", DIM, color))
    if finding.rule:
        lines.append(
            _paint(f"  checked as a patch, because of {visible(finding.rule)}", DIM, color)
        )
    return "\n".join(lines) + "\n"


def _with_field(finding: Finding) -> str:
    """Return the message of a finding, after the path of its field if it does not name it."""
    is_named = not finding.path or finding.path in finding.message
    return finding.message if is_named else f"{finding.path}: {finding.message}"


def _paint(text: str, code: str, color: bool) -> str:
    return f"{code}{text}{RESET}" if color else text


# -- for programs -------------------------------------------------------------------------------


def as_json(
    findings: list[Finding],
    skipped: Mapping[str, str],
    certificate: Mapping[str, object] = NOTHING,
) -> str:
    """Return one JSON object; `skipped` maps each skipped path to the reason."""
    fields: dict[str, object] = {
        "schema": SCHEMA,
        "findings": [{name: getattr(f, name) for name in _FIELDS} for f in findings],
        "skipped": sorted(skipped),
        "why_skipped": {path: skipped[path] for path in sorted(skipped)},
    }
    if certificate:  # of a merge
        fields["certificate"] = certificate
    return dumps(fields) + "\n"


# -- GitHub workflow commands, which become annotations of a pull request ------------------------


def as_github(findings: list[Finding], *, with_fixes: bool = False) -> str:
    """Return one command per finding, with the start line only: GitHub mishandles end lines."""
    lines = []
    for finding in findings:
        command = COMMANDS.get(finding.severity, "notice")
        properties = f"file={_property(finding.file)},line={finding.line},col={finding.column}"
        title = _property(f"kmerge {finding.id}")
        fix = f"\n{finding.mend}" if with_fixes and finding.mend else ""
        message = _data(_with_field(finding) + fix)
        lines.append(f"::{command} {properties},title={title}::{message}\n")
    return "".join(lines)


def _data(text: str) -> str:
    lines = "\n".join(map(visible, text.split("\n")))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# -- SARIF 2.1.0, the format of code scanning services ------------------------------------------


def as_sarif(
    findings: list[Finding], rules: Iterable[Rule], version: str, name: str = "kmerge check"
) -> str:
    """Return a SARIF file that holds the findings and describes the checks that found them."""
    used = {finding.id for finding in findings}
    known = [rule for rule in rules if rule.id in used]
    numbers = {rule.id: n for n, rule in enumerate(known)}
    described = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.what},
            "help": {"text": rule.mend},
            "defaultConfiguration": {"level": LEVELS[rule.severity]},
        }
        for rule in known
    ]
    run = {
        "tool": {"driver": {"name": name, "version": version, "rules": described}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers) for finding in findings],
    }
    return dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}) + "\n"


def _result(finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    from urllib.parse import quote  # only this format needs it

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
