"""The diff that `kmerge check --fix` shows."""

from __future__ import annotations

from difflib import unified_diff

GREEN, RED, RESET = "\033[32m", "\033[31m", "\033[0m"


def diff(path: str, old: bytes, new: bytes, *, color: bool) -> str:
    """A unified diff of two versions of a file; empty where they are equal."""
    before = old.decode("utf-8").splitlines(keepends=True)
    after = new.decode("utf-8").splitlines(keepends=True)
    lines = unified_diff(before, after, f"a/{path}", f"b/{path}")
    return "".join(_line(line, color) for line in lines)


def _line(line: str, color: bool) -> str:
    if not line.endswith("\n"):
        line += "\n\\ No newline at end of file\n"
    if color and line[0] in "+-":
        return f"{GREEN if line[0] == '+' else RED}{line.rstrip()}{RESET}\n"
    return line
