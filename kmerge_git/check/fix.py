"""Mends what is safe and mechanical: misspelt directives, `$patch: merge`, `$patch: delete`.

A fix is an edit of the text at the place of its finding. It is kept only if the finding is gone
afterwards and no other error came in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from kmerge_git.finding import ERROR, Finding

Edit = tuple[int, int, str]  # start, end, new text


def fixed(
    data: bytes, findings: list[Finding], again: Callable[[bytes], list[Finding]]
) -> tuple[bytes, list[Finding]]:
    """The mended bytes and the findings that were mended; `again` checks the new bytes."""
    done: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (f.line, f.column), reverse=True):
        if not finding.fix:
            continue
        text = data.decode("utf-8")
        edit = _edit(text, finding)
        if edit is None:
            continue
        start, end, new = edit
        changed = (text[:start] + new + text[end:]).encode()
        if _is_better(findings, again(changed), finding, len(done)):
            data = changed
            done.append(finding)
    return data, done[::-1]


def _is_better(before: list[Finding], after: list[Finding], one: Finding, done: int) -> bool:
    had, has = Counter(f.id for f in before), Counter(f.id for f in after)
    is_worse = any(f.severity == ERROR and has[f.id] > had[f.id] for f in after)
    return not is_worse and len(after) <= len(before) - done - 1 and has[one.id] < had[one.id]


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
    """The end of `$patch: word` at an offset."""
    colon = text.find(":", at)
    end = colon + 1
    while text[end : end + 1] == " ":
        end += 1
    while text[end : end + 1].isalpha() or text[end : end + 1] in ("'", '"'):
        end += bool(text[end : end + 1]) or len(text)
    return end if 0 < colon < at + 10 else None


def _drop(text: str, at: int) -> Edit | None:
    """Take out one entry of a mapping that has others."""
    end = _entry_end(text, at)
    if end is None:
        return None
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at) + 1 or len(text)
    before, after = text[line_start:at], text[end:line_end].strip()
    if not before.strip():
        return (line_start, line_end, "") if not after or after[0] == "#" else None
    if before.strip() == "-" and not after:
        next_start = line_end + len(before)
        same_column = text[line_end:next_start].strip(" ") == ""
        return (at, next_start, "") if same_column else None
    if after.startswith(","):
        end = text.index(",", end) + 1
        return at, end + (text[end : end + 1] == " "), ""
    comma = text.rfind(",", line_start, at)
    return (comma, end, "") if after.startswith("}") and comma > 0 else None


def _to_null(text: str, at: int) -> Edit | None:
    """`key: {$patch: delete}` or its block form becomes `key: null`."""
    end = _entry_end(text, at)
    if end is None:
        return None
    brace = text.rfind("{", 0, at)
    if brace >= 0 and not text[brace + 1 : at].strip():
        close = text.find("}", end)
        return (brace, close + 1, "null") if not text[end:close].strip() else None
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    head_end = line_start - 1
    head = text[text.rfind("\n", 0, head_end) + 1 : head_end].rstrip("\r")
    if text[line_start:at].strip() or text[end:line_end].strip() or not head.endswith(":"):
        return None
    return _before_return(text, head_end), _before_return(text, line_end), " null"


def _before_return(text: str, end: int) -> int:
    """The end of a line without the `\\r` of its line end."""
    return end - (text[end - 1 : end] == "\r")
