"""Fix mistakes that are safe to fix: misspelt directives, `$patch: merge`, `$patch: delete`.

A fix edits the text at the place of its finding. A fix is kept only if the finding is then gone and
no new error has appeared; only then does the finding say that `--fix` does this.
"""

from __future__ import annotations

import re
from collections import Counter

from kmerge_git.finding import ERROR, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Edit = tuple[int, int, str]  # start, end, new text

# `$patch: word`, where the key and the word may be quoted
ENTRY = re.compile(r"""(?:['"]\$patch.|\$patch) *: *(?:[^\W\d_]|['"])+""", re.DOTALL)
PROMISE = " `--fix` does that."


def promised(
    data: bytes, findings: list[Finding], again: Callable[[bytes], list[Finding]]
) -> list[Finding]:
    """Try all fixes; drop those that fail, and mention `--fix` in the findings of the others."""
    _, done = fixed(data, findings, again)
    kept = {id(finding) for finding in done}
    return [one if not one.fix else _said(one, id(one) in kept) for one in findings]


def fixed(
    data: bytes, findings: list[Finding], again: Callable[[bytes], list[Finding]]
) -> tuple[bytes, list[Finding]]:
    """Apply the fixes that work; return the new bytes and the findings that are fixed.

    After each fix, `again` checks the new bytes.
    """
    done: list[Finding] = []
    left = findings
    for finding in sorted(findings, key=lambda f: (f.line, f.column), reverse=True):
        text = data.decode("utf-8")
        edit = _edit(text, finding) if finding.fix else None
        if edit is not None:
            start, end, new = edit
            changed = (text[:start] + new + text[end:]).encode()
            found = again(changed)
            had, has = Counter(f.id for f in left), Counter(f.id for f in found)
            is_worse = any(f.severity == ERROR and has[f.id] > had[f.id] for f in found)
            if not is_worse and has[finding.id] < had[finding.id]:
                data, left = changed, found
                done.append(finding)
    return data, done[::-1]


def _said(finding: Finding, is_mended: bool) -> Finding:
    return Finding(
        finding.id, finding.severity, finding.file, finding.line, finding.column, finding.message,
        path=finding.path, mend=finding.mend + PROMISE * is_mended, rule=finding.rule,
        excerpt=finding.excerpt, fix=finding.fix if is_mended else (),
    )  # fmt: skip


def _edit(text: str, finding: Finding) -> Edit | None:
    at = _offset(text, finding.line, finding.column)
    if finding.fix == ("drop",):
        return _drop(text, at)
    if finding.fix == ("null",):
        return _to_null(text, at)
    _, old, new = finding.fix
    at += text[at : at + 1] in ("'", '"')
    return (at, at + len(old), new) if text.startswith(old, at) else None


def _offset(text: str, line: int, column: int) -> int:
    start = 1 if text.startswith("\ufeff") else 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + column - 1


def _entry_end(text: str, at: int) -> int | None:
    """Return the end of the entry `$patch: word` at an offset, or None for any other text."""
    entry = ENTRY.match(text, at)
    return entry.end() if entry else None  # the value may be in the next line


def _drop(text: str, at: int) -> Edit | None:
    """Return the edit that removes an entry from a mapping with other entries, or None."""
    end = _entry_end(text, at)
    if end is None:
        return None
    before, after = text[:at].rstrip(), text[end:].lstrip()
    if before.endswith(("{", ",")) and after.startswith((",", "}")):
        return _drop_in_flow(text, at, end)
    line_start = max(text.rfind("\n", 0, at) + 1, int(text.startswith("\ufeff")))
    line_end = text.find("\n", at) + 1 or len(text)
    head, tail = text[line_start:at], text[end:line_end].strip()
    if tail and not tail.startswith("#"):
        return None
    if not head.strip():
        return line_start, line_end, ""
    next_start = line_end + len(head)
    is_alone = head.strip() == "-" and not text[line_end:next_start].strip(" ")
    return (at, next_start, "") if is_alone and next_start < len(text) else None


def _drop_in_flow(text: str, at: int, end: int) -> Edit | None:
    """Return the edit that removes an entry between braces, together with one comma."""
    after = end + len(text[end:]) - len(text[end:].lstrip())
    if text[after] == ",":
        line_start, line_end = text.rfind("\n", 0, at) + 1, text.find("\n", after) + 1
        if line_end and not text[line_start:at].strip() and not text[after + 1 : line_end].strip():
            return line_start, line_end, ""
        return at, after + 1 + (text[after + 1 : after + 2] == " "), ""
    before = len(text[:at].rstrip())
    return (before - 1, end, "") if text[before - 1] == "," else None


def _to_null(text: str, at: int) -> Edit | None:
    """Return the edit that turns `key: {$patch: delete}`, or its block form, into `key: null`."""
    end = _entry_end(text, at)
    if end is None:
        return None
    before, after = text[:at].rstrip(), text[end:].lstrip()
    if before.endswith("{"):
        close = len(text) - len(after) + 1
        return (len(before) - 1, close, "null") if after.startswith("}") else None
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    head_end = line_start - 1
    head = text[text.rfind("\n", 0, head_end) + 1 : head_end].rstrip()
    if text[line_start:at].strip() or text[end:line_end].strip() or not head.endswith(":"):
        return None
    return _before_return(text, head_end), _before_return(text, line_end), " null"


def _before_return(text: str, end: int) -> int:
    """Return the end of a line, without the carriage return if the line ends with one."""
    return end - (text[end - 1 : end] == "\r")
