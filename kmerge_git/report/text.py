"""Render findings for people: the place, the message, the line with a caret, and the remedy."""

from __future__ import annotations

from collections.abc import Mapping

from kmerge_git.bounds import SHOWN_SKIPPED
from kmerge_git.finding import ERROR, INFO, SEVERITIES, WARNING, Finding
from kmerge_git.visible import counted, visible

NOTHING: Mapping[str, str] = {}
RESET, BOLD, DIM, RED, YELLOW, BLUE, GREEN = (
    f"\033[{n}m" for n in ("0", "1", "2", "31", "33", "34", "32")
)
COLORS = {ERROR: RED, WARNING: YELLOW, INFO: BLUE}


def render(
    findings: list[Finding],
    *,
    files: int,
    skipped: Mapping[str, str] = NOTHING,
    color: bool = False,
) -> str:
    """Return all findings, the files that were not checked, and a line with the counts."""
    shown: set[str] = set()
    blocks = []
    for finding in findings:
        blocks.append(_block(finding, color, with_mend=finding.id not in shown))
        shown.add(finding.id)
    last = summary(findings, files, len(skipped), color)
    return "\n".join([*blocks, *_skipped(skipped, color), last]) + "\n"


def _skipped(skipped: Mapping[str, str], color: bool) -> list[str]:
    """Return lines about the first files that were not checked, each with the reason."""
    lines = [f"not checked: {path}: {why}" for path, why in sorted(skipped.items())[:SHOWN_SKIPPED]]
    if len(skipped) > SHOWN_SKIPPED:
        lines.append(f"... and {len(skipped) - SHOWN_SKIPPED} more (--format json names all)")
    return [_paint(visible(line), DIM, color) for line in lines]


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


def _block(finding: Finding, color: bool, *, with_mend: bool) -> str:
    place = visible(f"{finding.file}:{finding.line}:{finding.column}:")
    label = f"{finding.severity} {finding.id}"
    field = f"{finding.path}: " if finding.path and finding.path not in finding.message else ""
    lines = [
        f"{_paint(place, BOLD, color)} {_paint(label, COLORS[finding.severity], color)} "
        f"{visible(field + finding.message)}"
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
    if with_mend and finding.mend:
        lines.append(_paint(f"  mend: {visible(finding.mend)}", DIM, color))
    if finding.rule:
        lines.append(_paint(f"  checked as a patch by {visible(finding.rule)}", DIM, color))
    return "\n".join(lines) + "\n"


def _paint(text: str, code: str, color: bool) -> str:
    return f"{code}{text}{RESET}" if color else text
